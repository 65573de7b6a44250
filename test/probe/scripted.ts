// A probe's session against answers that are set, in virtual time: each call takes 10 ms.
import type { Ask, Got } from "../../src/connect/send.ts";
import type { Allowance, ProbeProgress } from "../../src/probe/hand.ts";
import { ProbeSession } from "../../src/probe/session.ts";
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
  readonly retryAfter?: number;
  readonly body?: unknown;
}

export type Answers = (ask: Ask, number: number, nowMs: number) => Shown;

export const isStatus = ({ url, method }: Ask): boolean => method === "GET" && url.endsWith("/rate_limit");

const endMs = Date.UTC(2026, 0, 2, 3, 4);

function gotOf(ask: Ask, shown: Shown): Got {
  const { status = 200, organization = [100, 100], user = [50, 50], reset = 30, enforced = true } = shown;
  const [limit, left] = organization;
  const resetAtMs = shown.resetAtMs ?? endMs;
  const window = { limit, current: limit - left, reset, resetAtMs, enforced };
  const graphql = { limit: 900, current: 0, reset: 200, resetAtMs, enforced };
  const own = { limit, remaining: Math.max(0, left), reset, scope: "rest" };
  const users =
    user === null
      ? {}
      : { "user-limit": user[0], "user-remaining": user[1], "user-reset": reset, "user-scope": "rest_user" };
  const headers = Object.entries({ ...own, ...users }).map(([name, value]) => [
    `ratelimit-${name}`,
    String(value),
  ]);
  if (shown.retryAfter !== undefined) headers.push(["retry-after", String(shown.retryAfter)]);
  const body = shown.body ?? (isStatus(ask) ? statusBody({ rest: window, graphql }) : {});
  return { status, headers: Object.fromEntries(headers), body: JSON.stringify(body) };
}

export interface Scripted {
  readonly session: ProbeSession;
  readonly asked: readonly Ask[];
  readonly waited: readonly number[];
  readonly said: readonly ProbeProgress[];
}

export function scripted(
  answers: Answers,
  { tripMs = 10, ...allowance }: Partial<Allowance> & { readonly tripMs?: number } = {},
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
      nowMs += tripMs;
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
