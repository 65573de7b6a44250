// The entry `spillway/engine`: the pure limiter and its answers.
export { parsePolicy } from "../policy/parse.ts";
export type { Policy } from "../policy/policy.ts";
export { policyOf, rulesOf } from "../policy/shorthand.ts";
export { parseRules } from "../rules/parse.ts";
export { presets } from "../rules/presets.ts";
export type { Owner, Rules, RulesInput, Scope } from "../rules/rules.ts";
export { headers } from "../wire/answer.ts";
export {
  type GraphqlRefusal,
  type RestRefusal,
  refusalBody,
  type ShownWindow,
  type StatusBody,
  statusBody,
} from "../wire/bodies.ts";
export type {
  Call,
  Decision,
  LimiterAdapter,
  LimiterFactory,
  PartialDecision,
  PartialReadings,
  Readings,
  Reservation,
  Seam,
  Status,
  WindowReading,
} from "./adapter.ts";
export { type CountReading, emptyCountReading } from "./count-reading.ts";
export type { PolicyCall, PolicyDecision, PolicyReservation, Reading } from "./decision.ts";
export { Limiter } from "./limiter.ts";
export { NONE_REFUSED, PolicyCore } from "./policy-core.ts";
export { PolicyLimiter } from "./policy-limiter.ts";
export type { PolicySnapshot } from "./policy-snapshot.ts";
export { ReferenceLimiter } from "./reference.ts";
