// The limits of an API as data (POLICY.md): its quotas, which of them a call uses, how requests are routed, and how
// answers show the quotas. `Policy` is complete, plain JSON; `PolicyInput` is what people write. `schema.ts` defines
// each member's meaning and values, once.
import type { Shape } from "./forms.ts";
import type * as form from "./schema.ts";
import type { WireData } from "./wire-data.ts";

/** Header in which a request declares its cost to a stand-in, which cannot measure it. */
export const costHeader = "spillway-cost";
/** Header in which a request tells a stand-in what it is charged in the end, where that is not what it declares. */
export const actualHeader = "spillway-actual";

export type Anchor = Shape<typeof form.anchor>;
export interface FixedWindow extends Shape<typeof form.fixedWindow> {
  readonly windowSeconds: number;
}
export type TokenBucket = Shape<typeof form.tokenBucket>;
export type QuotaAlgorithm = FixedWindow | TokenBucket | Shape<(typeof form.described)[number]>;
export type Charge = Shape<typeof form.charge>;
export type Shown = Shape<typeof form.shown>;
export interface Quota extends Omit<Shape<typeof form.quota>, "algorithm"> {
  readonly algorithm: QuotaAlgorithm;
}
export type Cost = Shape<typeof form.cost>;
export type Operation = Shape<typeof form.operation>;
export type Relation = Operation["relation"];
export type RequestSample = Shape<typeof form.requestSample>;
export type CallSample = Shape<typeof form.callSample>;
export type Route = Shape<typeof form.route>;
export type AttributeSource = Shape<typeof form.attribute>;
export interface Auth extends Shape<typeof form.auth> {
  readonly attributes: readonly string[];
}
export type QuotaOverride = Shape<typeof form.quotaOverride>;
export type Override = Shape<typeof form.override>;

/** A complete policy. */
export interface Policy extends Omit<Shape<typeof form.policySchema>, "$schema"> {
  readonly quotas: Readonly<Record<string, Quota>>;
  readonly wire: string | WireData;
  readonly auth: Auth;
}
