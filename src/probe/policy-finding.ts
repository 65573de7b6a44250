// The findings of a probe by a policy: one for each member of a quota that it looked for, beside the policy's value.
import { parsePolicy } from "../policy/parse.ts";
import type { Policy } from "../policy/policy.ts";
import type { Sighting } from "./finding.ts";

/** Everything that the probe looks for of a quota, in the report's order, with its name in words. */
export const quotaFindingNames = {
  limit: "limit",
  windowSeconds: "window, seconds",
  anchor: "windows are anchored at",
  cost: "a call is charged",
  refused: "refused calls are",
  retryAfter: "a refusal tells to come back",
  status: "status calls are",
} as const;

export type QuotaFindingName = keyof typeof quotaFindingNames;

export interface QuotaFinding extends Sighting<string | number> {
  readonly quota: string;
  readonly name: QuotaFindingName;
  /** Operation that is charged, for a finding on a cost. */
  readonly operation?: string | undefined;
  /** Value in the policy; `null` if the policy has none. */
  readonly said: string | number | null;
}

/** Tells whether the value seen differs from the policy's. */
export const differs = ({ value, said }: QuotaFinding): boolean =>
  value !== null && said !== null && value !== said;

/** Returns the policy with the values seen in place of its own. */
export function seenPolicy(policy: Policy, findings: readonly QuotaFinding[]): Policy {
  const changed = findings.filter(differs);
  const of = (quota: string, name: QuotaFindingName) =>
    changed.find((finding) => finding.quota === quota && finding.name === name)?.value;
  const quotas = Object.entries(policy.quotas).map(([name, { algorithm, charge, ...quota }]) => {
    const limits = Object.entries({
      [algorithm.kind === "token-bucket" ? "capacity" : "limit"]: of(name, "limit"),
      windowSeconds: of(name, "windowSeconds"),
      anchor: anchorIn(of(name, "anchor")),
    }).filter(([, value]) => value !== undefined);
    const refused = of(name, "refused") === undefined ? {} : { refused: of(name, "refused") };
    const seenLimits = { ...algorithm, ...Object.fromEntries(limits) };
    return [name, { ...quota, algorithm: seenLimits, charge: { ...charge, ...refused } }];
  });
  const operations = Object.entries(policy.operations).map(([name, operation]) => {
    const costs = changed.flatMap((one) => (one.operation === name ? [[one.quota, one.value]] : []));
    return [name, { ...operation, uses: { ...operation.uses, ...Object.fromEntries(costs) } }];
  });
  return parsePolicy({
    ...policy,
    quotas: Object.fromEntries(quotas),
    operations: Object.fromEntries(operations),
  });
}

const anchorIn = (value: string | number | null | undefined) =>
  typeof value === "string" && value.startsWith("offset ")
    ? { offsetMs: Number(value.split(" ")[1]) }
    : (value ?? undefined);
