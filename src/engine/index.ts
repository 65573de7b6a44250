// The entry `spillway/engine`: the pure limiter and its answers.
export { parseRules } from "../rules/parse.ts";
export { presets } from "../rules/presets.ts";
export type { Owner, Rules, RulesInput, Scope } from "../rules/rules.ts";
export { headers } from "../wire/answer.ts";
export { refusalBody, type StatusBody, statusBody } from "../wire/bodies.ts";
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
export * from "./core.ts";
export { Limiter } from "./limiter.ts";
export type { LimiterSnapshot } from "./snapshot.ts";
