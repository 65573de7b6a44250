// The form of a wire format in a policy file (POLICY.md §8): one table by which answers are read and written. Its types
// (`wire-data.ts`) are made of this.
import * as v from "valibot";
import { byName, listOf, object, oneOf, text, whole } from "./forms.ts";
import { outcomes, timeForms } from "./wire-words.ts";

const placeholders = ["limit", "remaining", "used", "reset", "window", "windowMs", "quota", "retry", "cost"];
const templateWords = `text with placeholders of {${placeholders.join("}, {")}}`;
const line = v.pipe(
  v.string(templateWords),
  v.check(
    (template) => [...template.matchAll(/\{(.*?)\}/g)].every(([, name = ""]) => placeholders.includes(name)),
    templateWords,
  ),
);
/**
 * Text with placeholders: `{limit}`, `{remaining}`, `{used}`, `{reset}`, `{window}` (s), `{windowMs}`, `{quota}` (a
 * name), `{retry}` and `{cost}`; `*` matches any text. Of several templates, the first is written, and all are read.
 */
export const template = v.union(
  [line, listOf(line, "a list of texts")],
  `${templateWords}, or a list of such`,
);

const tokenWords = "names of headers";
const header = v.pipe(v.string(tokenWords), v.regex(/^[\w!#$%&'*+.^`|~-]+$/, tokenWords));
const pointerWords = 'JSON pointers, as "/data/limit"';
const pointer = v.pipe(v.string(pointerWords), v.regex(/^(\/.*)?$/, pointerWords));

/** A structured field (RFC 9651): templates of an item (`.`) and of its parameters, or of a dictionary's members. */
export const structured = v.union([
  object({ list: byName("templates", line, v.string()) }),
  object({ dictionary: byName("templates", line, v.string()) }),
]);
const headerWords = `${templateWords}, {"list": ...} or {"dictionary": ...}`;
/** Templates by header name. */
const headers = v.optional(byName("templates", v.union([template, structured], headerWords), header), {});
/** Templates by JSON pointer into the body. A segment `*` is each member, `{quota}` each member by its name. */
const body = v.optional(byName("templates", template, pointer), {});
const round = oneOf(["ceil", "floor", "round"]);
const form = oneOf(timeForms);

export const reset = object({
  form,
  /**
   * Meaning of the instant: the window's end; when all is back if nothing more is sent; when one more unit fits; or an
   * estimate, which promises nothing.
   */
  means: oneOf(["window-end", "full", "next", "estimate"]),
  /** Rounding to the form's unit. Default: as the quota says. */
  round: v.optional(round),
  /** Number of ms that times are multiples of. Default: the form's unit. */
  gridMs: v.optional(whole("ms")),
});

/** One reading of an answer, or one for each member of a list. */
export const reading = object({
  /** Quotas that it may show. Default: any. `{quota}`, a single name here, or the call tells which one it is. */
  quotas: v.optional(listOf(v.string("the name of a quota"), "a list of quotas' names")),
  on: v.optional(listOf(oneOf(["admitted", "refused", "status"]), "a list of kinds of answer"), [
    "admitted",
    "refused",
  ]),
  headers,
  body,
  reset: v.optional(reset),
  /** Number of units that `remaining` and `used` are rounded to multiples of. */
  grain: v.optional(whole("units")),
  /** Length, s, of the window that the shown limit is for; the limit is converted and rounded up. */
  limitPerSeconds: v.optional(whole("seconds")),
  /** True if numbers that are 0 are left out. */
  omitsZero: v.optional(v.boolean("true or false")),
});

/** A header, or a JSON pointer into the body. */
const retry = v.union(
  [
    object({ header, form, round: v.optional(round, "ceil") }),
    object({ pointer, form, round: v.optional(round, "ceil") }),
  ],
  `an object of header or pointer, and form: one of ${timeForms.join(", ")}`,
);

/** A kind of answer: all members that are named must fit. */
export const outcome = object({
  outcome: oneOf(outcomes),
  /** Quota that refused, or a word for what refused; `{quota}`: the answer tells. Default: the call's own quota. */
  by: v.optional(text("a quota, or a word")),
  /** Statuses of such answers: the first is written, all are read. */
  status: v.optional(listOf(whole("an HTTP status", 100, 599), "a list of HTTP statuses")),
  headers: v.optional(byName("templates", template, header), {}),
  /** Headers that must be absent. */
  lacks: v.optional(v.array(header, "a list of headers' names"), []),
  body,
  /** False if such an answer shows no readings, whatever its headers say. */
  readings: v.optional(v.boolean("true or false"), true),
});

export const wireSchema = object({
  /** Revision of the described format. */
  revision: text("a date or version"),
  readings: v.optional(v.array(reading, "a list of readings"), []),
  /** Places of the advice when to come back: all are written, and the first that can be read counts. */
  retryAfter: v.optional(v.array(retry, "a list of places"), []),
  /** Kinds of answer; the first that matches counts. Otherwise 429 is refused, 0 and 5xx unknown, the rest admitted. */
  outcomes: v.optional(v.array(outcome, "a list of outcomes"), []),
  /** Headers that a cache adds: an answer with one of them shows nothing of the present. */
  cached: v.optional(v.array(header, "a list of headers' names"), []),
});

export type WireInput = v.InferInput<typeof wireSchema>;
