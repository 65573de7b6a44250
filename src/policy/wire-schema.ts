// The form of a wire format in a policy file (POLICY.md §8): by one table, answers are read and written. The types of it
// (`wire-data.ts`) are made of this.
import * as v from "valibot";
import { byName, object, oneOf, text, whole } from "./forms.ts";
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
 * Text with placeholders: `{limit}`, `{remaining}`, `{used}`, `{reset}`, `{window}` (seconds), `{windowMs}`, `{quota}` (a name),
 * `{retry}` and `{cost}`; `*` stands for any text. Of several, the first is written, and all are read.
 */
export const template = v.union(
  [line, v.pipe(v.array(line), v.minLength(1))],
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
/** Headers, and what stands in them. */
const headers = v.optional(byName("templates", v.union([template, structured], headerWords), header), {});
/** JSON pointers into the body, and what stands there. A segment `*` is each member, `{quota}` each by its name. */
const body = v.optional(byName("templates", template, pointer), {});
const round = oneOf(["ceil", "floor", "round"]);
const form = oneOf(timeForms);

export const reset = object({
  form,
  /**
   * The instant that it tells: the window's end; when all is back if nothing more is sent; when one more unit fits; or an
   * estimate, which promises nothing.
   */
  means: oneOf(["window-end", "full", "next", "estimate"]),
  /** Rounding to the form's unit; left out: as the quota says. */
  round: v.optional(round),
  /** Times are multiples of so many ms; left out: of the form's unit. */
  gridMs: v.optional(whole("ms")),
});

/** One reading of an answer, or one for each member of a list. */
export const reading = object({
  /** The quotas that it may show. Left out: any. Which one it is tell `{quota}`, a single name here, or the call. */
  quotas: v.optional(v.pipe(v.array(v.string(), "names of quotas"), v.minLength(1, "at least one quota"))),
  on: v.optional(
    v.pipe(v.array(oneOf(["admitted", "refused", "status"])), v.minLength(1, "at least one kind")),
    ["admitted", "refused"],
  ),
  headers,
  body,
  reset: v.optional(reset),
  /** `remaining` and `used` are rounded to multiples of it. */
  grain: v.optional(whole("units")),
  /** The limit is shown as it would be for a window of so many seconds, rounded up. */
  limitPerSeconds: v.optional(whole("seconds")),
  /** Numbers that are 0 are left out. */
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

/** Answers of one kind: all that is named must be as it says. */
export const outcome = object({
  outcome: oneOf(outcomes),
  /** The quota that refused, or a word for what did; with `{quota}`, the answer tells. Left out: the call's own. */
  by: v.optional(text("a quota, or a word")),
  /** The first is written, all are read. */
  status: v.optional(
    v.pipe(v.array(whole("an HTTP status", 100, 599)), v.minLength(1, "at least one status")),
  ),
  headers: v.optional(byName("templates", template, header), {}),
  /** Headers that must be absent. */
  lacks: v.optional(v.array(header), []),
  body,
  /** False: such an answer shows no readings, whatever its headers say. */
  readings: v.optional(v.boolean("true or false"), true),
});

export const wireSchema = object({
  /** Of the format that is described. */
  revision: text("a date or version"),
  readings: v.optional(v.array(reading, "a list of readings"), []),
  /** Places of the advice when to come back; the first that can be read counts, and all are written. */
  retryAfter: v.optional(v.array(retry, "a list of places"), []),
  /** Kinds of answer; the first that matches. Then 429 is a refusal, 0 and 5xx are unknown, the rest is admitted. */
  outcomes: v.optional(v.array(outcome, "a list of outcomes"), []),
  /** Headers that a cache adds: an answer with one of them shows nothing of now. */
  cached: v.optional(v.array(header), []),
});

export type WireInput = v.InferInput<typeof wireSchema>;
