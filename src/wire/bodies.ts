// The bodies that tell of limits (SPEC.md §4, §6), written and read: of a status, and of a refusal.

import { quotaNames } from "../policy/names.ts";
import { isDeep } from "../rules/depth.ts";
import type { Owner, Scope } from "../rules/rules.ts";
import { ownerNamed, textMost } from "./fields.ts";

type Window = Readonly<Record<"limit" | "current" | "reset", number>>;
/** Numbers of a window as they were read; `null` for those that a body does not show. */
type ReadWindow = { readonly [M in keyof Window]: number | null };

/** One scope of the status body, member for member as the API documents it. */
export interface StatusScope extends Window {
  /** Reset as ISO 8601 UTC, to the second. */
  readonly reset_at: string;
  readonly enforced: boolean;
}

/** Body of `GET /v2/organizations/{slug}/rate_limit`. */
export interface StatusBody {
  readonly scopes: { readonly rest: StatusScope; readonly graphql: StatusScope };
}

/** A window that a status shows. */
export type ShownWindow = Window & { readonly resetAtMs: number; readonly enforced: boolean };

/** Returns an instant as `2026-01-02T03:04:00Z`. */
export function isoSecond(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -5)}Z`;
}

/** Returns the ms since the Unix epoch of a text like `2026-01-02T03:04:00Z`; `null` if it has another form. */
export function secondOf(text: string): number | null {
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

const statusScope = ({ limit, current, reset, resetAtMs, enforced }: ShownWindow): StatusScope => ({
  limit,
  current,
  reset,
  reset_at: isoSecond(resetAtMs),
  enforced,
});

/** Returns the status body, exactly as in SPEC.md §4. */
export function statusBody(status: Readonly<Record<Scope, ShownWindow>>): StatusBody {
  return { scopes: { rest: statusScope(status.rest), graphql: statusScope(status.graphql) } };
}

/** Returns a value's own member; `undefined` if the value is no object. */
function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** Returns a value's own member if it is a number, otherwise `null`. */
function numberIn(value: unknown, name: string): number | null {
  const found = member(value, name);
  return typeof found === "number" ? found : null;
}

/** Reads a body: its JSON, or the beginning of its text if it is no JSON. */
export function readBody(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (!isDeep(value)) return value;
  } catch {
    // The body is text.
  }
  return text.slice(0, textMost);
}

/** Returns the `scopes` object of a status body, which traces keep. */
export const scopesIn = (body: unknown): unknown => member(body, "scopes");

/** One scope of a status body as it came. A member that is missing, or of another type, is `null`. */
export interface ReadStatus extends ReadWindow {
  readonly resetAt: string | null;
  readonly enforced: boolean | null;
}

/** Reads one scope of a status. @param scopes `scopes` object of its body */
export function readStatus(scopes: unknown, scope: Scope): ReadStatus {
  const shown = member(scopes, scope);
  const resetAt = member(shown, "reset_at");
  const enforced = member(shown, "enforced");
  return {
    limit: numberIn(shown, "limit"),
    current: numberIn(shown, "current"),
    reset: numberIn(shown, "reset"),
    resetAt: typeof resetAt === "string" ? resetAt : null,
    enforced: typeof enforced === "boolean" ? enforced : null,
  };
}

export interface RestRefusal extends Window {
  readonly message: string;
  readonly scope: string;
}

export interface GraphqlRefusal {
  readonly errors: readonly [{ readonly message: string }];
}

const graphqlRefusal = (message: string): GraphqlRefusal => ({ errors: [{ message }] });

/** Beginnings of the sentence in which GraphQL refuses. */
const beginnings: Readonly<Record<Owner, string>> = {
  organization: "Your organization has exceeded",
  user: "You have exceeded your per-user",
};

/** Returns the body of a 429; all of it is of the window that refused (SPEC.md §6). */
export function refusalBody(
  scope: Scope,
  refusedBy: Owner,
  readings: Readonly<Record<Owner, Window>>,
): RestRefusal | GraphqlRefusal {
  const { limit, current, reset } = readings[refusedBy];
  const isBroad = refusedBy === "organization";
  const again = `Please try again in ${reset} seconds.`;
  if (scope === "graphql") {
    const begin = `${beginnings[refusedBy]}${isBroad ? " the" : ""}`;
    return graphqlRefusal(`${begin} limit of ${limit} complexity points. ${again}`);
  }
  const message = `${isBroad ? "Your organization has" : "You have"} exceeded the limit of ${limit} requests. ${again}`;
  return { message, scope: quotaNames.rest[refusedBy], limit, current, reset };
}

/** Returns the body of a 429 with the numbers that are known of its window; it always names the window. */
export function partialRefusal(
  scope: Scope,
  refusedBy: Owner,
  { limit, current, reset }: ReadWindow,
): object {
  if (limit !== null && current !== null && reset !== null) {
    const window = { limit, current, reset };
    return refusalBody(scope, refusedBy, { organization: window, user: window });
  }
  return scope === "rest"
    ? { scope: quotaNames.rest[refusedBy], limit, current, reset }
    : graphqlRefusal(`${beginnings[refusedBy]} limit.`);
}

export function messageIn(body: unknown): string | null {
  const errors = member(body, "errors");
  const message: unknown = Array.isArray(errors) ? member(errors[0], "message") : undefined;
  return typeof message === "string" ? message : null;
}

const sentence = new RegExp(
  `^(${beginnings.organization} the|${beginnings.user}) limit of (\\d+) complexity points\\. .*in (-?\\d+) sec`,
);

/** Reads the sentence in which GraphQL refuses; returns `null` if a message is no such sentence. */
export function readSentence(message: string | null): { owner: Owner; limit: number; reset: number } | null {
  const [, begin, limit, reset] = sentence.exec(message ?? "") ?? [];
  if (begin === undefined) return null;
  const owner = begin === beginnings.user ? "user" : "organization";
  return { owner, limit: Number(limit), reset: Number(reset) };
}

/** Returns the owner whose window the body of a 429 names (SPEC.md §6); `null` if it does not say. */
export function refuserIn(body: unknown): Owner | null {
  const named = ownerNamed(member(body, "scope"));
  if (named !== null) return named;
  const message = messageIn(body);
  if (message?.startsWith(beginnings.organization)) return "organization";
  return message?.startsWith(beginnings.user) ? "user" : null;
}

/** Content of the body of a 429, as far as it could be read (SPEC.md §6). */
export interface ReadRefusal extends ReadWindow {
  readonly by: Owner | null;
  readonly scope: unknown;
}

/** Reads the body of a 429; for GraphQL, its sentence tells the numbers. */
export function readRefusal(body: unknown): ReadRefusal {
  const told = readSentence(messageIn(body));
  return {
    by: refuserIn(body),
    scope: member(body, "scope"),
    limit: told?.limit ?? numberIn(body, "limit"),
    current: numberIn(body, "current"),
    reset: told?.reset ?? numberIn(body, "reset"),
  };
}
