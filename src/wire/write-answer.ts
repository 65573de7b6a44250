// Writes answers by a wire format as data (POLICY.md §8), from what a limiter says.
import { type BareItem, type Item, serializeDictionary, serializeList } from "structured-headers";
import type { Quota } from "../policy/policy.ts";
import {
  type AnswerKind,
  mayShow,
  type StructuredForm,
  type Template,
  type WireData,
  type WireOutcome,
  type WireReading,
} from "../policy/wire-data.ts";
import type { HttpAnswer } from "./answer.ts";
import { REFUSED } from "./outcome.ts";
import { isPlural, put } from "./pointer.ts";
import { fill, isStructured, type TemplateValues } from "./template.ts";
import { writeTime } from "./times.ts";

/** One quota for one caller, as a limiter reads it. */
export interface ReadingToWrite {
  readonly quota: string;
  readonly limit: number;
  readonly remaining: number;
  readonly used: number;
  /** End of the window, or instant at which a bucket is full; ms since the epoch. */
  readonly resetAtMs: number;
  /** Time of the reading by a count whose clock is ahead, ms since the epoch. Default: the time of the answer. */
  readonly clockMs?: number;
}

export interface AnswerToWrite {
  readonly kind: AnswerKind;
  readonly readings: readonly ReadingToWrite[];
  /** Quota that refused; `null` if none did. */
  readonly refusedBy: string | null;
  /** Instant at which to come back, ms since the epoch; `null` if unknown. */
  readonly retryAtMs: number | null;
  readonly cost: number;
}

type Quotas = Readonly<Record<string, Quota>>;

/** Returns the time at which an answer is made: that of the counting clock if it is ahead. */
export function shownAt({ readings }: Pick<AnswerToWrite, "readings">, nowMs: number): number {
  return Math.max(nowMs, readings[0]?.clockMs ?? nowMs);
}

/** Writes an answer, whose body holds only what the format says. */
export function writeAnswer(wire: WireData, quotas: Quotas, told: AnswerToWrite, nowMs: number): HttpAnswer {
  const headers: Record<string, string | number> = {};
  let body: unknown;
  const rule = told.kind === "refused" ? ruleOf(wire, told) : undefined;
  const rows = rule?.readings === false ? [] : wire.readings.filter(({ on }) => on.includes(told.kind));
  for (const row of rows) {
    const shown = shownIn(row, told).map((reading) => valuesOf(row, quotas, reading, told, nowMs));
    for (const [name, form] of Object.entries(row.headers)) {
      const text = headerOf(form, shown);
      if (text !== null) headers[name] = together(headers[name], text);
    }
    for (const [at, template] of Object.entries(row.body))
      for (const [index, values] of shown.entries())
        body = putFilled(body, at, template, values, { quota: String(values["quota"]), index });
  }
  if (told.kind !== "refused") return { status: 200, headers, ...(body === undefined ? {} : { body }) };
  return refusal(wire, rule, quotas, told, nowMs, { headers, body });
}

/**
 * Joins the numbers of two quotas in one header: `600,*` of one row and `*,30000` of another are `600,30000`. A `*`
 * that nothing fills stays.
 */
function together(earlier: string | number | undefined, text: string | number): string | number {
  const [one, other] = [String(earlier ?? ""), String(text)];
  if (!one.endsWith("*") || !other.startsWith("*")) return text;
  const [before, after] = [one.slice(0, -1), other.slice(1)];
  return before.endsWith(after.charAt(0)) ? before + after.slice(1) : before + after;
}

/** Returns the format's first rule for a refusal by the quota. */
const ruleOf = ({ outcomes }: WireData, { refusedBy }: AnswerToWrite): WireOutcome | undefined =>
  outcomes.find(
    ({ outcome, by }) => outcome === "refused" && (by === undefined || by === "{quota}" || by === refusedBy),
  );

/** Texts that a body holds as JSON values, if no placeholder makes them. */
const literal = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?)$/;

/** Puts a template's text where a pointer leads. @returns the body, unchanged if a value is missing */
function putFilled(
  body: unknown,
  at: string,
  template: Template,
  values: TemplateValues,
  place: { readonly quota: string; readonly index?: number },
): unknown {
  const value = fill(template, values);
  if (value === null) return body;
  const [line = ""] = [template].flat();
  return put(body, at, literal.test(line) ? JSON.parse(line) : value, place);
}

/**
 * Returns the readings that a row shows: all, if it has room for several. Otherwise the refusing one; else the first
 * for a status, and the scarcest for a call.
 */
function shownIn(row: WireReading, { kind, readings, refusedBy }: AnswerToWrite): readonly ReadingToWrite[] {
  const possible = readings.filter(({ quota }) => mayShow(row, quota));
  const isList = Object.values(row.headers).some((form) => typeof form === "object" && "list" in form);
  if (isList || Object.keys(row.body).some(isPlural)) return possible;
  const refusing = possible.find(({ quota }) => quota === refusedBy);
  const [first] = possible;
  const chosen = refusing ?? (kind === "status" ? first : scarcestOf(possible));
  return chosen === undefined ? [] : [chosen];
}

/** Returns the first reading with the least remaining. */
const scarcestOf = ([first, ...others]: readonly ReadingToWrite[]): ReadingToWrite | undefined =>
  others.reduce(
    (least, one) => (least !== undefined && one.remaining < least.remaining ? one : least),
    first,
  );

type RowForm = Pick<WireReading, "reset" | "grain" | "limitPerSeconds" | "omitsZero">;

function valuesOf(
  { reset, grain = 1, limitPerSeconds, omitsZero = false }: RowForm,
  quotas: Quotas,
  { quota, limit, remaining, used, resetAtMs }: ReadingToWrite,
  { cost, retryAtMs }: AnswerToWrite,
  nowMs: number,
): TemplateValues {
  const { algorithm, shown } = quotas[quota] as Quota;
  const windowSeconds = "windowSeconds" in algorithm ? algorithm.windowSeconds : undefined;
  const perSeconds =
    limitPerSeconds === undefined || windowSeconds === undefined ? 1 : limitPerSeconds / windowSeconds;
  const next = remaining > 0 ? nowMs : (retryAtMs ?? resetAtMs);
  const shownAs = (number: number): number | undefined => (omitsZero && number === 0 ? undefined : number);
  return {
    quota,
    limit: Math.ceil(limit * perSeconds),
    remaining: shownAs(Math.round(remaining / grain) * grain),
    used: shownAs(Math.round(used / grain) * grain),
    window: windowSeconds,
    windowMs: windowSeconds === undefined ? undefined : windowSeconds * 1000,
    reset:
      reset && writeTime(reset, reset.means === "next" ? next : resetAtMs, nowMs, reset.round ?? shown.reset),
    cost,
  };
}

function headerOf(form: Template | StructuredForm, shown: readonly TemplateValues[]): string | number | null {
  const [first] = shown;
  if (first === undefined) return null;
  if (!isStructured(form)) return fill(form, first);
  if ("dictionary" in form) return serializeDictionary(filled(form.dictionary, first));
  return serializeList(
    shown.flatMap((values): Item[] => {
      const parameters = filled(form.list, values);
      const item = parameters.get(".");
      parameters.delete(".");
      return item === undefined
        ? []
        : [[item[0] as BareItem, new Map([...parameters].map(([k, [v]]) => [k, v as BareItem]))]];
    }),
  );
}

const filled = (templates: Readonly<Record<string, string>>, values: TemplateValues): Map<string, Item> =>
  new Map(
    Object.entries(templates).flatMap(([name, template]) => {
      const value = fill(template, values);
      return value === null ? [] : [[name, [value, new Map()]] as const];
    }),
  );

/** Returns the row by which a refusal's own numbers are written. */
const rowOf = (rows: readonly WireReading[], name: string): RowForm =>
  rows.find((row) => row.reset !== undefined && mayShow(row, name)) ?? {};

/** Adds to an answer all that a refusal tells by its rule, beside readings. */
function refusal(
  { readings: rows, retryAfter }: WireData,
  rule: WireOutcome | undefined,
  quotas: Quotas,
  told: AnswerToWrite,
  nowMs: number,
  { headers, body: shown }: { headers: HttpAnswer["headers"]; body: unknown },
): HttpAnswer {
  const { readings, refusedBy, retryAtMs } = told;
  const reading = readings.find(({ quota }) => quota === refusedBy);
  const advice = reading === undefined || quotas[reading.quota]?.shown.retryAfter !== true ? null : retryAtMs;
  const advised =
    advice === null
      ? []
      : retryAfter.map((place) => ({ place, text: writeTime(place, advice, nowMs, place.round) }));
  const [first] = advised;
  const values: TemplateValues = {
    ...(reading === undefined
      ? { quota: refusedBy ?? "" }
      : valuesOf(rowOf(rows, reading.quota), quotas, reading, told, nowMs)),
    retry: first?.text,
    cost: told.cost,
  };
  const all: Record<string, string | number | undefined> = {};
  let body = shown;
  for (const [name, template] of Object.entries(rule?.headers ?? {}))
    all[name] = fill(template, values) ?? undefined;
  for (const [at, template] of Object.entries(rule?.body ?? {}))
    body = putFilled(body, at, template, values, { quota: refusedBy ?? "" });
  // A place with several forms keeps the first one, which is written last.
  for (const { place, text } of advised.toReversed())
    if ("header" in place) all[place.header] = text;
    else body = put(body, place.pointer, text);
  return {
    status: rule?.status?.[0] ?? REFUSED,
    headers: { ...all, ...headers },
    ...(body === undefined ? {} : { body }),
  };
}
