// The wire format of an API as data (POLICY.md §8): by one table, answers are read and written.

/**
 * Text with placeholders: `{limit}`, `{remaining}`, `{used}`, `{reset}`, `{window}` (seconds), `{windowMs}`, `{quota}` (a name),
 * `{retry}` and `{cost}`; `*` stands for any text. Of several, the first is written, and all are read.
 */
export type Template = string | readonly string[];

/** A structured field (RFC 9651): templates of an item (`.`) and of its parameters, or of a dictionary's members. */
export type StructuredForm =
  | { readonly list: Readonly<Record<string, string>> }
  | { readonly dictionary: Readonly<Record<string, string>> };

/**
 * Forms of time. `delta`: from the answer on; `epoch`: since 1970. `float` may have decimals. `go-duration` is
 * `1h2m3.5s`, `120ms`.
 */
export const timeForms = [
  "delta-s",
  "delta-s-float",
  "delta-ms",
  "epoch-s",
  "epoch-s-float",
  "epoch-ms",
  "http-date",
  "rfc3339",
  "go-duration",
] as const;
export type TimeForm = (typeof timeForms)[number];

/**
 * The instant that a reset tells: the window's end; when all is back if nothing more is sent; when one more unit fits;
 * or an estimate, which promises nothing.
 */
export const resetMeanings = ["window-end", "full", "next", "estimate"] as const;
export type ResetMeaning = (typeof resetMeanings)[number];

export interface WireData {
  /** Date or version of the format that is described. */
  readonly revision: string;
  readonly readings: readonly WireReading[];
  /** Places of the advice when to come back; the first that can be read counts, and all are written. */
  readonly retryAfter: readonly WireRetry[];
  /** Kinds of answer; the first that matches. Then 429 is a refusal, 0 and 5xx are unknown, the rest is admitted. */
  readonly outcomes: readonly WireOutcome[];
  /** Headers that a cache adds: an answer with one of them shows nothing of now. */
  readonly cached: readonly string[];
}

export const answerKinds = ["admitted", "refused", "status"] as const;
export type AnswerKind = (typeof answerKinds)[number];

/** One reading of an answer, or one for each member of a list. */
export interface WireReading {
  /** The quotas that it may show. Left out: any. Which one it is tell `{quota}`, a single name here, or the call. */
  readonly quotas?: readonly string[];
  readonly on: readonly AnswerKind[];
  /** Headers, and what stands in them. */
  readonly headers: Readonly<Record<string, Template | StructuredForm>>;
  /** JSON pointers into the body, and what stands there. A segment `*` is each member, `{quota}` each by its name. */
  readonly body: Readonly<Record<string, Template>>;
  readonly reset?: WireReset;
  /** `remaining` and `used` are rounded to multiples of it. */
  readonly grain?: number;
  /** The limit is shown as it would be for a window of so many seconds, rounded up. */
  readonly limitPerSeconds?: number;
  /** Numbers that are 0 are left out. */
  readonly omitsZero?: boolean;
}

/** Tells whether a reading may be of a quota: of those that it names, or of any where it names none. */
export const mayShow = ({ quotas }: Pick<WireReading, "quotas">, quota: string): boolean =>
  quotas?.includes(quota) ?? true;

export interface WireReset {
  readonly form: TimeForm;
  readonly means: ResetMeaning;
  /** Rounding to the form's unit; left out: as the quota says. */
  readonly round?: "ceil" | "floor" | "round";
  /** Times are multiples of so many ms; left out: of the form's unit. */
  readonly gridMs?: number;
}

/** A header, or a JSON pointer into the body. */
export type WirePlace = { readonly header: string } | { readonly pointer: string };

export type WireRetry = WirePlace & {
  readonly form: TimeForm;
  readonly round: "ceil" | "floor" | "round";
};

export const outcomes = ["admitted", "refused", "exempt", "unknown"] as const;
export type WireOutcomeKind = (typeof outcomes)[number];

/** Answers of one kind: all that is named must be as it says. */
export interface WireOutcome {
  readonly outcome: WireOutcomeKind;
  /** The quota that refused, or a word for what did; with `{quota}`, the answer tells. Left out: the call's own. */
  readonly by?: string;
  /** The first is written, all are read. */
  readonly status?: readonly number[];
  readonly headers: Readonly<Record<string, Template>>;
  /** Headers that must be absent. */
  readonly lacks: readonly string[];
  readonly body: Readonly<Record<string, Template>>;
  /** False: such an answer shows no readings, whatever its headers say. */
  readonly readings: boolean;
}
