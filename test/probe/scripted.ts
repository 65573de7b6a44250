// A probe's session against answers that are set, in virtual time: each call takes 10 ms.
import type { Ask, Got } from "../../src/connect/send.ts";
import type { Allowance, ProbeProgress } from "../../src/probe/hand.ts";
import { ProbeSession } from "../../src/probe/session.ts";
import type { Scope } from "../../src/rules/rules.ts";
import { statusBody } from "../../src/wire/bodies.ts";

/** REST windows of an answer: the limit of each, and the units that are left. */
export interface Shown {
  readonly status?: number;
  readonly organization?: readonly [limit: number, left: number];
  /** `null`: no headers of the user. */
  readonly user?: readonly [limit: number, left: number] | null;
  /** Of both windows, in seconds. */
  readonly reset?: number;
  readonly resetAtMs?: number;
  readonly enforced?: boolean;
  readonly retryAfter?: number | string;
  readonly body?: unknown;
  /** GraphQL's windows, as a status and the answers of queries show them. */
  readonly graphql?: ShownGraphql;
}

export interface ShownGraphql {
  readonly organization?: readonly [limit: number, left: number];
  /** `null`: no headers of the user. */
  readonly user?: readonly [limit: number, left: number] | null;
  readonly enforced?: boolean;
  /** Points that came back. */
  readonly actual?: number;
}

export type Answers = (ask: Ask, number: number, nowMs: number) => Shown;

export const isStatus = ({ url, method }: Ask): boolean => method === "GET" && url.endsWith("/rate_limit");

const endMs = Date.UTC(2026, 0, 2, 3, 4);

function headersOf(
  scope: Scope,
  [limit, left]: readonly [number, number],
  user: readonly [number, number] | null,
  reset: number,
): string[][] {
  const own = { limit, remaining: Math.max(0, left), reset, scope };
  const users =
    user === null
      ? {}
      : {
          ...{ "user-limit": user[0], "user-remaining": user[1] },
          ...{ "user-reset": reset, "user-scope": `${scope}_user` },
        };
  return Object.entries({ ...own, ...users }).map(([name, value]) => [`ratelimit-${name}`, String(value)]);
}

function gotOf(ask: Ask, shown: Shown): Got {
  const { status = 200, organization = [100, 100], user = [50, 50], reset = 30, enforced = true } = shown;
  const resetAtMs = shown.resetAtMs ?? endMs;
  const windowOf = ([limit, left]: readonly [number, number], seconds: number, isEnforced: boolean) => ({
    ...{ limit, current: limit - left, reset: seconds, resetAtMs, enforced: isEnforced },
  });
  const { organization: points = [900, 900], ...queries } = shown.graphql ?? {};
  const rest = windowOf(organization, reset, enforced);
  const graphql = windowOf(points, 200, queries.enforced ?? enforced);
  const headers = ask.url.endsWith("/graphql")
    ? headersOf("graphql", points, queries.user ?? null, 200)
    : headersOf("rest", organization, user, reset);
  if (queries.actual !== undefined) headers.push(["ratelimit-complexity-actual", String(queries.actual)]);
  if (shown.retryAfter !== undefined) headers.push(["retry-after", String(shown.retryAfter)]);
  const body = shown.body ?? (isStatus(ask) ? statusBody({ rest, graphql }) : {});
  return { status, headers: Object.fromEntries(headers), body: JSON.stringify(body) };
}

export interface Scripted {
  readonly session: ProbeSession;
  readonly asked: readonly Ask[];
  readonly waited: readonly number[];
  readonly said: readonly ProbeProgress[];
}

/** Duration of a call in ms, by its number. */
type TripOf = (number: number) => number;

export function scripted(
  answers: Answers,
  { tripMs = 10, ...allowance }: Partial<Allowance> & { readonly tripMs?: number | TripOf } = {},
): Scripted {
  let nowMs = endMs - 30_000;
  const asked: Ask[] = [];
  const waited: number[] = [];
  const said: ProbeProgress[] = [];
  const session = new ProbeSession({
    ...{ base: "http://127.0.0.1:1", graphqlUrl: "http://127.0.0.1:1/v1/graphql", organization: "acme" },
    ...{ token: "token-of-prober", user: "prober" },
    allowance: { calls: 80, points: 1000, statusCalls: 200, waitMs: 90_000, ...allowance },
    now: () => nowMs,
    sleep: async (ms) => {
      waited.push(ms);
      nowMs += ms;
    },
    send: async (ask) => {
      asked.push(ask);
      nowMs += typeof tripMs === "number" ? tripMs : tripMs(asked.length);
      return gotOf(ask, answers(ask, asked.length, nowMs));
    },
    onProgress: (progress) => said.push(progress),
  });
  return { session, asked, waited, said };
}

/** The body of a refusal of REST by a window, with its count where that is told. */
export const refusal = (by: "rest" | "rest_user", limit?: number, current?: number) => ({
  ...{ message: "no", scope: by, reset: 30 },
  ...(limit !== undefined && { limit, current }),
});
