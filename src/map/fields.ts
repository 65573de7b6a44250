// Limits as headers and bodies show them: their places, the form of each, and every value that was seen.

import type { Template } from "../policy/wire-data.ts";
import { isPlainObject } from "../rules/plain-object.ts";
import { match } from "../wire/template.ts";
import { type FieldRole, limitLikeAmong, type NamedField, namedField, periodOf } from "./header-names.ts";
import type { SeenAnswers } from "./seen.ts";

/** A place of answers, with its values by the answer's index. */
export interface AnswerPlace extends NamedField {
  /** A header's name, or a JSON pointer. */
  readonly at: string;
  readonly isHeader: boolean;
  readonly values: ReadonlyMap<number, string>;
  /** The header's whole text, if the values are a part of it: `total={limit}; remaining={remaining}`. */
  readonly whole?: string;
}

/** Word of a header's name that looks like nobody's secret: `requests`, `24hour`. */
const word = /^(?=.{1,24}$)[a-z]*\d{0,4}[a-z]*$/;

/** Returns the limit-like headers of answers, by name in lower case, without those that are read already. */
export function headerPlaces(
  seen: readonly SeenAnswers[],
  read: readonly string[],
): { places: AnswerPlace[]; strange: string[] } {
  const values = new Map<string, Map<number, string>>();
  const limitLike = limitLikeAmong(new Set(seen.flatMap(({ headers }) => Object.keys(headers))));
  for (const [index, { headers }] of seen.entries())
    for (const [name, value] of Object.entries(headers))
      if (limitLike.has(name) && !read.includes(name) && name.split(/[-_]/).every((each) => word.test(each)))
        add(values, name, index, value);
  const places: AnswerPlace[] = [];
  const strange: string[] = [];
  for (const [at, shown] of values) {
    const field = namedField(at);
    const parts = partsOf(at, shown);
    if (parts.length > 0) places.push(...parts);
    else if (field === null) strange.push(at);
    else places.push({ ...field, at, isHeader: true, values: shown });
  }
  return { places: withoutShared(withTimes(places)), strange };
}

const pair = /([A-Za-z][\w-]*)=(\d{1,15})/g;
const pairs = new RegExp(`^${pair.source}(?:[;,]\\s*${pair.source})+$`);

/** Returns the numbers of a header that names each: `total=100; remaining=99; resets=41`. Empty for other headers. */
function partsOf(at: string, values: ReadonlyMap<number, string>): AnswerPlace[] {
  const [first = ""] = values.values();
  const roles = [...first.matchAll(pair)].map(([, key = ""]) => namedField(key)?.role);
  const whole = first.replace(pair, (_, key: string) => `${key}={${namedField(key)?.role}}`);
  const isSame = (text: string): boolean => text.replace(/\d+/g, "") === first.replace(/\d+/g, "");
  const isRead = pairs.test(first) && new Set(roles).size === roles.length && roles.every(isPart);
  if (!isRead || ![...values.values()].every(isSame)) return [];
  const words = at.split(/[-_]/).filter((word) => !["x", "rate", "limit", "ratelimit"].includes(word));
  return roles.filter(isPart).map((role, place) => ({
    ...{ role, label: words.join("_"), at, isHeader: true, whole },
    values: new Map([...values].map(([index, text]) => [index, [...text.matchAll(pair)][place]?.[2] ?? ""])),
  }));
}

/** Tells whether a place shows a count, or its limit. */
export const isCount = (role: FieldRole | undefined): boolean =>
  role === "limit" || role === "remaining" || role === "used";

const isPart = (role: FieldRole | undefined): role is FieldRole => isCount(role) || role === "reset";

const add = (values: Map<string, Map<number, string>>, at: string, index: number, value: string): void => {
  const known = values.get(at) ?? new Map<number, string>();
  values.set(at, known.set(index, value));
};

/** Gives a time without a label to the only quota, if there is just one. */
function withTimes(places: readonly AnswerPlace[]): AnswerPlace[] {
  const [label, ...others] = new Set(places.filter(({ role }) => isCount(role)).map((place) => place.label));
  if (label === undefined || others.length > 0) return [...places];
  return places.map((place) => (place.label === "" ? { ...place, label } : place));
}

/** Removes words that every label begins with: they name the API, and no quota. */
function withoutShared(places: readonly AnswerPlace[]): AnswerPlace[] {
  const labels = [...new Set(places.filter(({ role }) => role !== "retry").map(({ label }) => label))];
  const first = labels[0]?.split("_")[0] ?? "";
  const isShared =
    labels.length > 1 &&
    first !== "" &&
    labels.every((label) => label === first || label.startsWith(`${first}_`));
  if (labels.length === 1 && periodOf(first) === null)
    return places.map((place) => ({ ...place, label: "" }));
  if (!isShared) return [...places];
  return withoutShared(places.map((place) => ({ ...place, label: place.label.slice(first.length + 1) })));
}

const depthMost = 6;
const membersMost = 200;

/** Returns the objects of a body that show a limit beside what is left of it. */
export function bodyPlaces(seen: readonly SeenAnswers[]): AnswerPlace[] {
  const values = new Map<string, Map<number, string>>();
  const visit = (value: unknown, pointer: string, index: number, depth: number): void => {
    if (!isPlainObject(value) || depth > depthMost) return;
    const members = Object.entries(value).slice(0, membersMost);
    const fields = members.filter(([key, member]) => isScalar(member) && roleOfKey(key) !== null);
    const roles = fields.map(([key]) => roleOfKey(key));
    if (roles.includes("remaining") && (roles.includes("limit") || roles.includes("reset")))
      for (const [key, member] of fields) add(values, `${pointer}/${key}`, index, String(member));
    for (const [key, member] of members)
      if (/^[A-Za-z_][\w-]{0,63}$/.test(key)) visit(member, `${pointer}/${key}`, index, depth + 1);
  };
  for (const [index, { body }] of seen.entries()) visit(body, "", index, 0);
  return [...values].map(([at, shown]) => {
    const parts = at.split("/");
    const role = roleOfKey(parts.at(-1) ?? "") ?? "limit";
    return { at, isHeader: false, role, label: parts.at(-2) ?? "", values: shown };
  });
}

const isScalar = (value: unknown): boolean => typeof value === "number" || typeof value === "string";

/** Returns a member's role: `resetAt` and `reset_at` → `reset`. Other members of two words have none. */
function roleOfKey(key: string): NamedField["role"] | null {
  const words = key
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
  const role = namedField(words)?.role ?? null;
  return role !== null && /^(?:limit|remaining|used|reset(?:s|-at|-after)?|max|left)$/.test(words)
    ? role
    : null;
}

/** Matches a whole number, which some write as `596.0`. */
const number = "-?\\d{1,15}(?:\\.0+)?";
/** Texts with a number in them. A place's text is the first one that fits all of its values. */
const templates: readonly (readonly [pattern: RegExp, template: (role: string) => string | string[]])[] = [
  [new RegExp(`^${number}$`), (role) => `{${role}}`],
  [new RegExp(`^${number}s$`), (role) => `{${role}}s`],
  [new RegExp(`^${number};\\s*w=\\d{1,15}$`), (role) => `{${role}};w={window}`],
  [new RegExp(`^${number}/${number}$`), () => "{used}/{limit}"],
  [new RegExp(`^${number}(?:\\s*[,;].*)?$`, "s"), (role) => [`{${role}}`, `{${role}}, *`, `{${role}};*`]],
];

/** Returns the text around the numbers in a place's values; `null` if their form is unknown. */
export function templateOf({ at, role, values, whole }: AnswerPlace): string | string[] | null {
  if (whole !== undefined) return whole.replace("{reset}", "*");
  const all = [...values.values()].map((value) => value.trim());
  const part = role === "window" && /-m(?:s|illis|illiseconds)$/.test(at) ? "windowMs" : role;
  return templates.find(([pattern]) => all.every((value) => pattern.test(value)))?.[1](part) ?? null;
}

/** Returns the number that an answer shows in a place; `null` if it shows none. */
export function numberAt(place: AnswerPlace, template: Template, index: number, part: string): number | null {
  const text = place.values.get(index);
  if (place.whole !== undefined) return text === undefined ? null : Number(text);
  const found = text === undefined ? undefined : match(template, text)?.[part];
  return found === undefined ? null : Number(found);
}
