// An answer as a transcript shows it, with what is known of its request. It has no credential.
import { looksSecret } from "../logs/secrets.ts";
import { type GraphqlKind, graphqlKind } from "../policy/graphql-kind.ts";

/** A request's credential, as far as a policy names it. */
export interface SeenAuth {
  /** The header's name, as it was spelt. */
  readonly header: string;
  /** The header's value with `{token}` in the token's place. */
  readonly form: string;
}

export interface SeenAnswers {
  readonly method: string;
  /** Segments of the path, without the query; `null` if the request is not shown. */
  readonly segments: readonly string[] | null;
  readonly graphql: GraphqlKind | null;
  readonly auth: SeenAuth | null;
  /** Text that alone tells callers apart; it is never written. */
  readonly caller: string;
  readonly status: number;
  /** Names in lower case; doubled ones joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON; `undefined` if there is none. */
  readonly body: unknown;
  /** Time of the answer, ms since the epoch; `null` if unknown. */
  readonly atMs: number | null;
}

/** Parts of an exchange before secrets are dropped. */
export interface RawExchange {
  readonly method: string;
  /** A URL or a target; empty if unknown. */
  readonly url: string;
  readonly requestHeaders: readonly (readonly [name: string, value: string])[];
  readonly requestBody: string;
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** Time by the caller's clock, ms since the epoch. `null` leaves it to the `Date` header. */
  readonly atMs: number | null;
  /** Name of the caller, if no credential tells callers apart. */
  readonly caller?: string | undefined;
}

/** Greatest length of a body that is parsed, characters. */
const bodyMost = 1 << 20;
const sensitive = /^(?:proxy-)?authorization$|^cookie$|api-?key|token|secret|signature|session|^x-auth/i;
const notSensitive = /csrf|idempotency/i;
const schemes = /^(bearer|token|basic|apikey|api-key|key|bot|genie-?key|digest)\s+/i;

/** Drops the possible secrets of an exchange, and adds them to `secrets`. */
export function seenOf(raw: RawExchange, secrets: Set<string>): SeenAnswers {
  const headers: Record<string, string> = {};
  for (const [name, value] of raw.headers) {
    const key = name.toLowerCase();
    headers[key] = Object.hasOwn(headers, key) ? `${headers[key]}, ${value}` : value;
  }
  for (const [name, value] of raw.headers) if (/^set-cookie$/i.test(name)) keep(value, secrets);
  const credentials = raw.requestHeaders.filter(([name]) => sensitive.test(name) && !notSensitive.test(name));
  for (const [, value] of credentials) keep(value, secrets);
  const { segments, query, userInfo } = partsOf(raw.url);
  keep(userInfo, secrets);
  for (const [name, value] of query) if (sensitive.test(name) || !word.test(value)) keep(value, secrets);
  const first =
    credentials.find(([name]) => /^authorization$/i.test(name)) ??
    credentials.find(([name]) => !/cookie/i.test(name));
  const dateMs = Date.parse(headers["date"] ?? "");
  return {
    method: raw.method.toUpperCase(),
    segments,
    graphql: graphqlOf(raw.requestBody, segments),
    auth: first === undefined ? null : authOf(first),
    caller: first?.[1] ?? raw.caller ?? "",
    status: raw.status,
    headers,
    body: parsed(raw.body),
    atMs: raw.atMs ?? (Number.isNaN(dateMs) ? null : dateMs),
  };
}

/** Keeps a value and its parts (of `Bearer abc`, `a=1; b=2`, `user:secret`) as secrets that may not be written. */
function keep(value: string, secrets: Set<string>): void {
  for (const text of [value, ...value.split(/[\s;,=:&]+/)]) if (text.length >= 4) secrets.add(text);
}

function authOf([header, value]: readonly [string, string]): SeenAuth {
  const scheme = schemes.exec(value.trim())?.[1];
  return { header, form: scheme === undefined ? "{token}" : `${scheme} {token}` };
}

function partsOf(url: string): {
  segments: string[] | null;
  query: (readonly [name: string, value: string])[];
  userInfo: string;
} {
  if (url === "") return { segments: null, query: [], userInfo: "" };
  const found = /^(?:https?:\/\/(?:([^/?#@]*)@)?[^/?#]*)?([^?#]*)(?:\?([^#]*))?/i.exec(url);
  const [, userInfo = "", path = "", query = ""] = found ?? [];
  return {
    segments: path.split("/").slice(1).map(decoded),
    query: query.split("&").map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [name, decoded(value.join("="))] as const;
    }),
    userInfo: decoded(userInfo),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function graphqlOf(body: string, segments: readonly string[] | null): SeenAnswers["graphql"] {
  if (segments?.at(-1) !== "graphql" && segments?.at(-1) !== "graphql.json") return null;
  return graphqlKind(body) ?? "query";
}

/** Returns the JSON of a text; `undefined` if it is none, is cut off or is too large. */
function parsed(text: string): unknown {
  if (text === "" || text.length > bodyMost) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const word = /^[A-Za-z][a-z]*(?:[._-]?[A-Za-z][a-z]*)*$/;
const version = /^v?\d{1,4}(?:\.\d{1,3})?$/;

/** Tells whether a path's segment, or a name in an answer, is a plain word that may be written. */
export function isPlainWord(text: string, secrets: ReadonlySet<string>): boolean {
  if (text.length > 32 || looksSecret(text)) return false;
  if (!word.test(text.replace(/\.json$/, "")) && !version.test(text)) return false;
  return ![...secrets].some((secret) => secret.includes(text) && text.length * 2 > secret.length);
}
