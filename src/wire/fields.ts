// The fields of an answer that tell of limits (SPEC.md §1, §5): one table of their headers, by which answers are read
// and written, and the names of the windows that they show.
import { quotaNames } from "../policy/names.ts";
import type { Owner } from "../rules/rules.ts";

/** Header of each field, as it is sent. A trace's line keeps a field in the member of its name (FORMAT.md). */
export const headerNames = {
  scopeName: "RateLimit-Scope",
  limit: "RateLimit-Limit",
  remaining: "RateLimit-Remaining",
  reset: "RateLimit-Reset",
  userScopeName: "RateLimit-User-Scope",
  userLimit: "RateLimit-User-Limit",
  userRemaining: "RateLimit-User-Remaining",
  userReset: "RateLimit-User-Reset",
  warning: "RateLimit-Warning",
  userWarning: "RateLimit-User-Warning",
  requested: "RateLimit-Complexity-Requested",
  actual: "RateLimit-Complexity-Actual",
  retryAfter: "Retry-After",
} as const;

export type Field = keyof typeof headerNames;

const fields = Object.keys(headerNames) as Field[];

/** Fields of the eight headers. */
export const shownFields = fields.slice(0, 8) as readonly (keyof ShownHeaders)[];

const spelt = (spell: (name: string) => string): Readonly<Record<Field, string>> =>
  Object.assign({}, ...fields.map((field) => ({ [field]: spell(headerNames[field]) })));

/** Header names as Node spells them, whatever was sent. */
export const nodeHeaders = spelt((name) => name.toLowerCase());

/** Header names as Go, and so k6, spells them, whatever was sent. */
export const goHeaders = spelt((name) =>
  name.replace(/[^-]+/g, (word) => word.charAt(0) + word.slice(1).toLowerCase()),
);

/** A header as it came: an integer; the raw text if it is none; `null` if it did not come. */
export type HeaderValue = number | string | null;

/** The four headers of a window: their values, or their names. */
export interface WindowHeaders<Value = HeaderValue> {
  scopeName: Value;
  limit: Value;
  remaining: Value;
  reset: Value;
}

/** The eight headers: their values, or their names. */
export interface ShownHeaders<Value = HeaderValue> extends WindowHeaders<Value> {
  userScopeName: Value;
  userLimit: Value;
  userRemaining: Value;
  userReset: Value;
}

/** Returns the headers of an owner's window. @param shown values, or `headerNames` */
export function headersOf<Value>(shown: ShownHeaders<Value>, owner: Owner): WindowHeaders<Value> {
  if (owner === "organization") return shown;
  const { userScopeName, userLimit, userRemaining, userReset } = shown;
  return { scopeName: userScopeName, limit: userLimit, remaining: userRemaining, reset: userReset };
}

/** Reads each of the eight headers. @returns the members in the trace's order */
export function readShown(read: (field: keyof ShownHeaders) => HeaderValue): ShownHeaders {
  const shown: Partial<ShownHeaders> = {};
  for (const field of shownFields) shown[field] = read(field);
  return shown as ShownHeaders;
}

/** Tells whether any of the eight headers came. */
export const hasHeaders = (shown: ShownHeaders): boolean =>
  shownFields.some((field) => shown[field] !== null);

const integer = /^-?\d{1,15}$/;
/** Greatest number of characters of a text that are kept. */
export const textMost = 1_000;

/** Headers seen before: to look one up costs k6 a fifth of reading it. */
const known = new Map<string | number | undefined, HeaderValue>([[undefined, null]]);
const knownMost = 10_000;

/** Reads a header's value (FORMAT.md). A doubled one (`5, 5`) is no integer. */
export function headerValue(raw: string | number | undefined): HeaderValue {
  const value = known.get(raw);
  return value === undefined ? newValue(raw ?? "") : value;
}

function newValue(raw: string | number): HeaderValue {
  const text = String(raw);
  const value = integer.test(text) ? Number(text) : text.slice(0, textMost);
  if (known.size < knownMost) known.set(raw, value);
  return value;
}

/** Returns the text of a header. A header that came twice is `5, 5`, as HTTP joins the values of one name. */
export const headerText = <Raw>(value: Raw): Exclude<Raw, readonly string[]> | string =>
  Array.isArray(value) ? value.join(", ") : (value as Exclude<Raw, readonly string[]>);

/** Returns headers by lower-case name, each as one text. */
export const headerTexts = <Raw>(headers: Readonly<Record<string, Raw>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), headerText(value)]));

/** Reads a header by its name, in any case; one in the same case is found at once. */
export function readHeader(
  headers: Readonly<Record<string, string | number | undefined>>,
  name: string,
): HeaderValue {
  const value = headers[name];
  if (value !== undefined) return headerValue(value);
  for (const other in headers)
    if (other.length === name.length && other.toLowerCase() === name.toLowerCase())
      return headerValue(headers[other]);
  return null;
}

/** Reads the eight headers of an answer. */
export const readHeaders = (headers: Parameters<typeof readHeader>[0]): ShownHeaders =>
  readShown((field) => readHeader(headers, headerNames[field]));

/** Returns a header's integer; `null` if it is none. */
export const integerOf = (value: HeaderValue): number | null => (typeof value === "number" ? value : null);

const named = new Map<unknown, Owner>(
  Object.values(quotaNames).flatMap(({ organization, user }) => [
    [organization, "organization"],
    [user, "user"],
  ]),
);

/** Returns the owner of the window that a name means; `null` if it is none of the four names. */
export const ownerNamed = (name: unknown): Owner | null => named.get(name) ?? null;

/** One token of RFC 9110. A list, as from a doubled header, is no token. */
const token = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Tells whether a scope header names a quota that is none of the four, and so unknown (SPEC.md §5). One of the four in
 * other letters is no other quota; a text that is not one token is no name.
 */
export function namesOtherQuota(name: string | number): boolean {
  const text = String(name);
  return token.test(text) && !named.has(text.toLowerCase());
}
