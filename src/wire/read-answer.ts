// Reads answers by a wire format as data (POLICY.md §8): the outcome of the call, and readings by quota.
import { type Dictionary, type Item, parseDictionary, parseList } from "structured-headers";
import type { RefusalFacts } from "../policy/effective.ts";
import type {
  AnswerKind,
  ResetMeaning,
  StructuredForm,
  Template,
  WireData,
  WireOutcome,
  WireOutcomeKind,
  WireReading,
} from "../policy/wire-data.ts";
import type { HttpAnswer } from "./answer.ts";
import { textMost } from "./fields.ts";
import { isFailure, isRedirect, isRefusal, REFUSED } from "./outcome.ts";
import { pointed } from "./pointer.ts";
import { isStructured, match } from "./template.ts";
import { type ReadTime, readTime } from "./times.ts";

/** One quota as an answer shows it; `null` for what it does not show. */
export interface AnswerReading {
  readonly quota: string | null;
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly used: number | null;
  readonly windowSeconds: number | null;
  readonly reset: (ReadTime & { readonly means: ResetMeaning }) | null;
}

/** A place whose value has none of the documented forms. */
export interface Unread {
  /** Name of a header, or a JSON pointer. */
  readonly at: string;
  readonly text: string;
}

export interface ReadAnswer {
  readonly outcome: WireOutcomeKind;
  /** Quota that refused, or a word for what refused; `null` if the call is admitted, or if nothing tells. */
  readonly by: string | null;
  readonly readings: readonly AnswerReading[];
  readonly retryAfter: ReadTime | null;
  /** True if a cache answered; then there are no readings. */
  readonly isCached: boolean;
  readonly unread: readonly Unread[];
}

export interface AskedCall {
  /** Quotas that the call uses, or that a status shows. */
  readonly quotas: readonly string[];
  readonly isStatus: boolean;
  /** Method of the request. Answers to HEAD have no body, whatever a GET would be answered. */
  readonly method?: string;
  /** Returns the facts by which a refusal that names no quota tells which one refused. Default: none are known. */
  readonly refusal?: () => RefusalFacts;
}

type Texts = ReadonlyMap<string, string>;
type Parts = Readonly<Record<string, string>>;

export function readAnswer(wire: WireData, answer: HttpAnswer, asked: AskedCall): ReadAnswer {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(answer.headers))
    if (value !== undefined) headers.set(name.toLowerCase(), String(value));
  const {
    outcome: told,
    by: named,
    hasReadings,
    isPlain,
  } = outcomeOf(wire.outcomes, answer, headers, asked.method !== "HEAD");
  const kind: AnswerKind = asked.isStatus ? "status" : told === "refused" ? "refused" : "admitted";
  const isCached = wire.cached.some((name) => headers.has(name.toLowerCase()));
  const unread: Unread[] = [];
  const rows = isCached || !hasReadings ? [] : wire.readings.filter(({ on }) => on.includes(kind));
  const readings = rows.flatMap((row) => readingsOf(row, headers, answer.body, asked.quotas, unread));
  const isBare = isPlain && asked.quotas.length > 0 && readings.length === 0;
  const outcome = isBare && mayBeElsewhere(answer.status, rows.length > 0) ? "unknown" : told;
  const by = outcome === "refused" ? (named ?? refuserAmong(readings, asked, rows)) : null;
  return { outcome, by, readings, retryAfter: retryOf(wire, headers, answer.body, unread), isCached, unread };
}

/**
 * Tells whether an answer without readings may be of something before the limiter: a redirect, or an error beside other
 * answers that show readings.
 */
const mayBeElsewhere = (status: number, showsReadings: boolean): boolean =>
  isRedirect(status) || (status >= 400 && showsReadings);

/**
 * Returns the quota of a refusal that names none: the only one with nothing left, the call's only one, or the only one
 * that lacks room for the call while all others show room. One that refuses nobody is meant where all others show room.
 */
function refuserAmong(
  readings: readonly AnswerReading[],
  { quotas, refusal }: AskedCall,
  rows: readonly WireReading[],
): string | null {
  const left = new Map<string, number>();
  for (const { quota, limit, used, remaining } of readings) {
    const shown = remaining ?? (limit === null || used === null ? null : limit - used);
    if (quota !== null && shown !== null) left.set(quota, Math.min(shown, left.get(quota) ?? shown));
  }
  const { needs, isCharged } = refusal?.() ?? {
    needs: Object.fromEntries(quotas.map((quota) => [quota, null])),
    isCharged: false,
  };
  const isIdle = (quota: string): boolean => quotas.includes(quota) && needs[quota] === undefined;
  const empty = [...left].flatMap(([quota, shown]) => (shown <= 0 ? [quota] : []));
  const full = empty.filter((quota) => !isIdle(quota));
  const hasRoom = ([quota, least]: [string, number | null]): boolean | null => {
    const shown = left.get(quota);
    return shown === undefined || (least === null && shown > 0) ? null : shown >= (least ?? 1);
  };
  const all = Object.entries(needs);
  const lacking = all.filter((each) => hasRoom(each) === false);
  const possible = all.filter((each) => hasRoom(each) !== true);
  const others = isCharged ? possible : lacking;
  if (full.length === 1 && others.every(([quota]) => quota === full[0])) return full[0] ?? null;
  if (quotas.length === 1) return quotas[0] ?? null;
  // A rounded count does not tell which of two quotas lacks room.
  if (full.length > 0 || rows.some(({ grain }) => grain !== undefined)) return null;
  if (possible.length === 0) return empty.length === 1 ? (empty[0] ?? null) : null;
  return possible.length === 1 && (lacking.length === 1 || all.length === 1)
    ? (possible[0]?.[0] ?? null)
    : null;
}

interface Outcome {
  readonly outcome: WireOutcomeKind;
  readonly by: string | null;
  readonly hasReadings: boolean;
  readonly isPlain: boolean;
}

/** @param hasBody false if no answer to the request has a body: an outcome that only a body tells is unknown */
function outcomeOf(
  outcomes: readonly WireOutcome[],
  answer: HttpAnswer,
  headers: Texts,
  hasBody: boolean,
): Outcome {
  const { status, body } = answer;
  for (const [index, rule] of outcomes.entries()) {
    if (rule.status !== undefined && !rule.status.includes(status)) continue;
    if (rule.lacks.some((name) => headers.has(name.toLowerCase()))) continue;
    const isTold = hasBody || Object.keys(rule.body).length === 0;
    const parts = partsOfRule(isTold ? rule : { ...rule, body: {} }, headers, body);
    if (parts === null) continue;
    if (!isTold) {
      const otherwise = outcomeOf(outcomes.slice(index + 1), answer, headers, hasBody);
      if (otherwise.outcome === rule.outcome) return otherwise;
      return { outcome: "unknown", by: null, hasReadings: rule.readings, isPlain: false };
    }
    const { quota } = parts;
    const by = rule.by === "{quota}" ? (quota ?? null) : (rule.by ?? null);
    return { outcome: rule.outcome, by, hasReadings: rule.readings, isPlain: false };
  }
  if (isRefusal(status)) return { outcome: "refused", by: null, hasReadings: true, isPlain: false };
  const outcome = isFailure(status) ? "unknown" : "admitted";
  return { outcome, by: null, hasReadings: true, isPlain: outcome === "admitted" };
}

/** Returns the parts of all texts of a rule together; `null` if one of them is not in the answer. */
function partsOfRule(rule: WireOutcome, headers: Texts, body: unknown): Parts | null {
  const all: Record<string, string> = {};
  for (const [name, template] of Object.entries(rule.headers)) {
    const parts = matchIn(template, headers.get(name.toLowerCase()));
    if (parts === null) return null;
    Object.assign(all, parts);
  }
  for (const [at, template] of Object.entries(rule.body)) {
    const parts = matchAny(template, body, at);
    if (parts === null) return null;
    Object.assign(all, parts);
  }
  return all;
}

/** Returns the statuses of refusals, in ascending order. */
export function refusalStatuses({ outcomes }: WireData): number[] {
  const statuses = outcomes.flatMap(({ outcome, status = [REFUSED] }) =>
    outcome === "refused" ? status : [],
  );
  return [...new Set(statuses.length === 0 ? [REFUSED] : statuses)].toSorted((one, other) => one - other);
}

const matchIn = (template: Template, text: string | undefined): Parts | null =>
  text === undefined ? null : match(template, text);

/** Returns the text of a value in a body; `undefined` for an object. */
const textOf = (value: unknown): string | undefined =>
  typeof value === "object" || value === undefined ? undefined : String(value);

function matchAny(template: Template, body: unknown, pointer: string): Parts | null {
  for (const { value } of pointed(body, pointer)) {
    const parts = matchIn(template, textOf(value));
    if (parts !== null) return parts;
  }
  return null;
}

function readingsOf(
  row: WireReading,
  headers: Texts,
  body: unknown,
  quotas: readonly string[],
  unread: Unread[],
): AnswerReading[] {
  /** Parts of each reading, by the key that tells readings apart. */
  const byKey = new Map<string, Parts>();
  const add = (key: string, parts: Parts) => byKey.set(key, Object.assign(byKey.get(key) ?? {}, parts));
  for (const [name, form] of Object.entries(row.headers)) {
    const text = headers.get(name.toLowerCase());
    if (text === undefined) continue;
    const found = isStructured(form) ? structuredParts(form, text) : [match(form, text)];
    if (found === null || !found.every((parts) => parts !== null) || (isStructured(form) && isVague(found)))
      unread.push({ at: name, text: text.slice(0, textMost) });
    else
      for (const [index, parts] of found.entries())
        add(isStructured(form) ? (parts["quota"] ?? String(index)) : "", parts);
  }
  for (const [at, template] of Object.entries(row.body))
    for (const { value, key, quota } of pointed(body, at)) {
      const text = textOf(value);
      // An object or null tells nothing.
      if (text === undefined) continue;
      const parts = match(template, text);
      if (parts === null) unread.push({ at, text: text.slice(0, textMost) });
      else add(key.split("/", 2).join("/"), quota === undefined ? parts : Object.assign(parts, { quota }));
    }
  // Several members without names do not tell which one is the call's.
  const possible = byKey.size > 1 && row.quotas?.length !== 1 ? [] : quotas;
  return [...byKey.values()].flatMap((parts) => reading(row, parts, possible, unread) ?? []);
}

const numbers = ["limit", "remaining", "used", "reset", "window", "windowMs"] as const;
const tells = (parts: Parts): boolean => numbers.some((name) => parts[name] !== undefined);

/** Tells whether a member of a structured field shows no number, or two of one name show different numbers. */
function isVague(members: readonly Parts[]): boolean {
  const seen = new Map<string, string>();
  return members.some((parts) => {
    const { quota } = parts;
    const text = JSON.stringify(parts);
    const isOther = quota !== undefined && (seen.get(quota) ?? text) !== text;
    if (quota !== undefined) seen.set(quota, text);
    return isOther || !tells(parts);
  });
}

/** Returns the parts of each member of a list, or of a dictionary as a whole; `null` if it is no structured field. */
function structuredParts(form: StructuredForm, text: string): (Parts | null)[] | null {
  try {
    if ("dictionary" in form) {
      const members: Dictionary = parseDictionary(text);
      const values = new Map([...members].map(([name, [value]]) => [name, value]));
      return [partsOf(form.dictionary, values)];
    }
    return parseList(text).map(([value, parameters]) =>
      partsOf(form.list, new Map<string, unknown>([[".", value], ...(parameters as Item[1])])),
    );
  } catch {
    return null;
  }
}

/** Returns the parts of a member. A missing parameter tells nothing; one of another form makes the member unreadable. */
function partsOf(
  templates: Readonly<Record<string, string>>,
  values: ReadonlyMap<string, unknown>,
): Parts | null {
  const parts: Record<string, string> = {};
  for (const [name, template] of Object.entries(templates)) {
    const value = values.get(name);
    if (value === undefined) continue;
    const found = match(template, String(value));
    if (found === null) return null;
    Object.assign(parts, found);
  }
  return parts;
}

function reading(
  row: WireReading,
  parts: Parts,
  quotas: readonly string[],
  unread: Unread[],
): AnswerReading | null {
  if (!tells(parts)) return null;
  const number = (name: (typeof numbers)[number]): number | null => {
    if (parts[name] !== undefined) return Number(parts[name]);
    return row.omitsZero && placeOf(row, `{${name}}`) !== undefined ? 0 : null;
  };
  const { reset: text } = parts;
  let reset: AnswerReading["reset"] = null;
  if (row.reset !== undefined && text !== undefined) {
    const { form, means, gridMs } = row.reset;
    const time = readTime(form, text, gridMs);
    if (time !== null) reset = Object.assign(time, { means });
    else unread.push({ at: placeOf(row, "{reset}") ?? "", text: text.slice(0, textMost) });
  }
  return {
    quota: parts["quota"] ?? onlyOf(row.quotas, quotas),
    limit: row.limitPerSeconds === undefined ? number("limit") : null,
    remaining: number("remaining"),
    used: number("used"),
    windowSeconds: number("window") ?? secondsOf(number("windowMs")),
    reset,
  };
}

const secondsOf = (ms: number | null): number | null => (ms === null ? null : ms / 1000);

/** Returns the header or pointer whose template has a placeholder. */
function placeOf({ headers, body }: WireReading, placeholder: string): string | undefined {
  const found = [...Object.entries(headers), ...Object.entries(body)].find(([, form]) =>
    JSON.stringify(form).includes(placeholder),
  );
  return found?.[0];
}

/** Returns the one quota of a call that a row may show; `null` if there are several. */
function onlyOf(shown: readonly string[] | undefined, quotas: readonly string[]): string | null {
  if (shown?.length === 1) return shown[0] ?? null;
  const possible = shown === undefined ? quotas : quotas.filter((name) => shown.includes(name));
  return possible.length === 1 ? (possible[0] ?? null) : null;
}

function retryOf({ retryAfter }: WireData, headers: Texts, body: unknown, unread: Unread[]): ReadTime | null {
  const strange = new Map<string, string>();
  for (const place of retryAfter) {
    const at = "header" in place ? place.header : place.pointer;
    const text =
      "header" in place
        ? headers.get(at.toLowerCase())
        : textOf(pointed(body, at).map(({ value }) => value)[0]);
    if (text === undefined) continue;
    const time = readTime(place.form, text.trim());
    if (time !== null) return time;
    strange.set(at, text);
  }
  for (const [at, text] of strange) unread.push({ at, text: text.slice(0, textMost) });
  return null;
}
