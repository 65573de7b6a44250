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

/** A window's quota by the rules of version 1; the user is `null` of an organization's. */
export const rulesOwner = v.object({ org: text, user: v.nullable(text), scope });
/** A window's quota by a policy: its name, and the values of its key. */
export const quotaOwner = v.object({ quota: text, key: v.record(text, text) });

/** Words on a window, by organization, user and scope, or by a policy's quota. */
export const ofOwner = <E extends v.ObjectEntries>(entries: E) =>
  v.union([v.object({ ...rulesOwner.entries, ...entries }), v.object({ ...quotaOwner.entries, ...entries })]);
