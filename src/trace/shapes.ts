// Forms that results on disk share. Each is written once, as a schema that reads it back; its type is made of that.
import * as v from "valibot";
import { scopes } from "../rules/rules.ts";

export const text = v.string("text");
export const amount = v.number("a number");
export const maybe = v.nullable(amount);
export const whole = v.pipe(amount, v.safeInteger("a whole number"));
/** Instant, ms since the epoch, within the range of a Date. */
export const ms = v.pipe(
  v.number("milliseconds since the epoch"),
  v.check((value) => Math.abs(value) <= 8.64e15, "milliseconds since the epoch"),
);
export const yes = v.boolean("true or false");
export const version = v.literal(1, "1, the version that this spillway reads");

export const scope = v.picklist(scopes, '"rest" or "graphql"');

/** Owner of a window by the rules of version 1; the user is `null` for an organization's. */
export const rulesOwner = v.object({ org: text, user: v.nullable(text), scope });
/** Owner of a window by a policy: the quota's name, and the values of its key. */
export const quotaOwner = v.object({ quota: text, key: v.record(text, text) });

/** Returns a form with a window's owner in it, by rules or by a policy. */
export const ofOwner = <E extends v.ObjectEntries>(entries: E) =>
  v.union([v.object({ ...rulesOwner.entries, ...entries }), v.object({ ...quotaOwner.entries, ...entries })]);
