// Forms that results on disk share: each is written once, as what reads it back, and its type is made of that.
import * as v from "valibot";
import { scopes } from "../rules/rules.ts";

export const text = v.string("text");
export const amount = v.number("a number");
export const maybe = v.nullable(amount);
export const whole = v.pipe(amount, v.safeInteger("a whole number"));
/** An instant, ms since the epoch, in the span that a Date can have. */
export const ms = v.pipe(
  v.number("milliseconds since the epoch"),
  v.check((value) => Math.abs(value) <= 8.64e15, "milliseconds since the epoch"),
);
export const yes = v.boolean("true or false");
export const version = v.literal(1, "1, the version that this spillway reads");

export const scope = v.picklist(scopes, '"rest" or "graphql"');
const rulesOwner = { org: text, user: v.nullable(text), scope };
export const quotaOwner = { quota: text, key: v.record(text, text) };

/** Words on a window, by organization, user and scope, or by a policy's quota. */
export const ofOwner = <E extends v.ObjectEntries>(entries: E) =>
  v.union([v.object({ ...rulesOwner, ...entries }), v.object({ ...quotaOwner, ...entries })]);

/** The result of one expectation of the scenario. */
export const expectation = v.object({
  figure: text,
  /** As the scenario has it, `<5%`. */
  bound: text,
  /** In the figure's unit; `null` where there was nothing to measure, which holds nothing. */
  actual: maybe,
  held: yes,
});
