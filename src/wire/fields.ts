// The fields of an answer that tell of limits (SPEC.md §5): one table of their headers, by which answers are read and
// written.
import type { Owner } from "../rules/rules.ts";

/** Header of each field, as it is sent. A trace's line keeps the field in the member of that name (FORMAT.md). */
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

type Field = keyof typeof headerNames;

const spelt = (spell: (name: string) => string): Readonly<Record<Field, string>> =>
  Object.fromEntries(Object.entries(headerNames).map(([field, name]) => [field, spell(name)])) as Record<
    Field,
    string
  >;

/** The same as Node spells them, whatever came. */
export const nodeHeaders = spelt((name) => name.toLowerCase());

/** The same as Go, and so k6, spells them, whatever came. */
export const goHeaders = spelt((name) =>
  name.replace(/[^-]+/g, (word) => word.charAt(0) + word.slice(1).toLowerCase()),
);

/** A header as it came: an integer, the raw text where it is none, `null` where it did not come. */
export type HeaderValue = number | string | null;

/** Fields of one window. */
export const windowFields = ["scopeName", "limit", "remaining", "reset"] as const;

/** Values of the four headers of one window. */
export interface WindowHeaders {
  scopeName: HeaderValue;
  limit: HeaderValue;
  remaining: HeaderValue;
  reset: HeaderValue;
}

/** Values of the eight headers. */
export interface ShownHeaders extends WindowHeaders {
  userScopeName: HeaderValue;
  userLimit: HeaderValue;
  userRemaining: HeaderValue;
  userReset: HeaderValue;
}

/** The headers of each owner's window. */
export const windowHeaderNames: Readonly<Record<Owner, Readonly<Record<keyof WindowHeaders, string>>>> = {
  organization: headerNames,
  user: {
    scopeName: headerNames.userScopeName,
    limit: headerNames.userLimit,
    remaining: headerNames.userRemaining,
    reset: headerNames.userReset,
  },
};

/** Returns the headers of an owner's window. */
export function headersOf(shown: ShownHeaders, owner: Owner): WindowHeaders {
  return owner === "organization"
    ? shown
    : {
        scopeName: shown.userScopeName,
        limit: shown.userLimit,
        remaining: shown.userRemaining,
        reset: shown.userReset,
      };
}

/** Tells whether any of the eight headers came. */
export function hasHeaders(shown: ShownHeaders): boolean {
  return (
    shown.scopeName !== null ||
    shown.limit !== null ||
    shown.remaining !== null ||
    shown.reset !== null ||
    shown.userScopeName !== null ||
    shown.userLimit !== null ||
    shown.userRemaining !== null ||
    shown.userReset !== null
  );
}

const integer = /^-?\d{1,15}$/;
/** More of a text is not kept. */
export const textMost = 1_000;

/** Headers seen before: looking one up costs k6 a fifth of reading it. */
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

/** Reads a header by its name, in whatever case it came; one that is spelt alike is found at once. */
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

/** Returns a header's integer; `null` if it is none. */
export const integerOf = (value: HeaderValue): number | null => (typeof value === "number" ? value : null);
