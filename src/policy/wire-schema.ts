// The form of a wire format in a policy file (POLICY.md §8).
import * as v from "valibot";
import { byName, object, oneOf, text, whole } from "./forms.ts";
import { answerKinds, outcomes, resetMeanings, timeForms } from "./wire-data.ts";

const placeholders = ["limit", "remaining", "used", "reset", "window", "windowMs", "quota", "retry", "cost"];
const templateWords = `text with placeholders of {${placeholders.join("}, {")}}`;
const line = v.pipe(
  v.string(templateWords),
  v.check(
    (template) => [...template.matchAll(/\{(.*?)\}/g)].every(([, name = ""]) => placeholders.includes(name)),
    templateWords,
  ),
);
const template = v.union(
  [line, v.pipe(v.array(line), v.minLength(1))],
  `${templateWords}, or a list of such`,
);

const tokenWords = "names of headers";
const header = v.pipe(v.string(tokenWords), v.regex(/^[\w!#$%&'*+.^`|~-]+$/, tokenWords));
const pointerWords = 'JSON pointers, as "/data/limit"';
const pointer = v.pipe(v.string(pointerWords), v.regex(/^(\/.*)?$/, pointerWords));

const structured = v.union([
  object({ list: byName("templates", line, v.string()) }),
  object({ dictionary: byName("templates", line, v.string()) }),
]);
const headerWords = `${templateWords}, {"list": ...} or {"dictionary": ...}`;
const headers = v.optional(byName("templates", v.union([template, structured], headerWords), header), {});
const body = v.optional(byName("templates", template, pointer), {});
const round = oneOf(["ceil", "floor", "round"]);
const form = oneOf(timeForms);

const reading = object({
  quotas: v.optional(v.pipe(v.array(v.string(), "names of quotas"), v.minLength(1, "at least one quota"))),
  on: v.optional(v.pipe(v.array(oneOf(answerKinds)), v.minLength(1, "at least one kind")), [
    "admitted",
    "refused",
  ]),
  headers,
  body,
  reset: v.optional(
    object({ form, means: oneOf(resetMeanings), round: v.optional(round), gridMs: v.optional(whole("ms")) }),
  ),
  grain: v.optional(whole("units")),
  limitPerSeconds: v.optional(whole("seconds")),
  omitsZero: v.optional(v.boolean("true or false")),
});

const retry = v.union(
  [
    object({ header, form, round: v.optional(round, "ceil") }),
    object({ pointer, form, round: v.optional(round, "ceil") }),
  ],
  `an object of header or pointer, and form: one of ${timeForms.join(", ")}`,
);

const outcome = object({
  outcome: oneOf(outcomes),
  by: v.optional(text("a quota, or a word")),
  status: v.optional(
    v.pipe(v.array(whole("an HTTP status", 100, 599)), v.minLength(1, "at least one status")),
  ),
  headers: v.optional(byName("templates", template, header), {}),
  lacks: v.optional(v.array(header), []),
  body,
  readings: v.optional(v.boolean("true or false"), true),
});

export const wireSchema = object({
  revision: text("a date or version"),
  readings: v.optional(v.array(reading, "a list of readings"), []),
  retryAfter: v.optional(v.array(retry, "a list of places"), []),
  outcomes: v.optional(v.array(outcome, "a list of outcomes"), []),
  cached: v.optional(v.array(header), []),
});

export type WireInput = v.InferInput<typeof wireSchema>;
