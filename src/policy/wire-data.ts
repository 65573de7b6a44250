// The wire format of an API as data (POLICY.md §8): its types, made of the schema in `wire-schema.ts`.
import type { Shape } from "./forms.ts";
import type * as form from "./wire-schema.ts";

export type Template = Shape<typeof form.template>;
export type StructuredForm = Shape<typeof form.structured>;
export type WireData = Shape<typeof form.wireSchema>;
export type WireReading = Shape<typeof form.reading>;
export type WireReset = Shape<typeof form.reset>;
export type WireOutcome = Shape<typeof form.outcome>;
export type AnswerKind = WireReading["on"][number];
export type TimeForm = WireReset["form"];
export type ResetMeaning = WireReset["means"];
export type WireOutcomeKind = WireOutcome["outcome"];

/** Tells whether a reading may show a quota: one that it names, or any if it names none. */
export const mayShow = ({ quotas }: Pick<WireReading, "quotas">, quota: string): boolean =>
  quotas?.includes(quota) ?? true;
