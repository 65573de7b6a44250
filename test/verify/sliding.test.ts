// Limiters whose windows slide, under a policy of fixed windows: they are accused, and the first name says so. A fixed
// window beside them is not accused, and one that each call arms again has a name of its own.
import { expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { QuotaCall, QuotaTraceHeader } from "../../src/trace/quota-record.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";

const limit = 20;
const windowMs = 10_000;
const start = Date.UTC(2026, 0, 5, 10, 0, 3);

interface Decided {
  readonly fits: boolean;
  readonly left: number;
  readonly endsAt: number;
}
type Decide = (nowMs: number) => Decided;

/** Shows when its oldest call is out of the window. */
function slidingLog(): Decide {
  let log: number[] = [];
  return (nowMs) => {
    log = log.filter((at) => at > nowMs - windowMs);
    const fits = log.length < limit;
    if (fits) log.push(nowMs);
    return { fits, left: limit - log.length, endsAt: (log[0] ?? nowMs) + windowMs };
  };
}

/** Counts in windows of a grid. @param share share of the last window's count that is counted at the edge, and falls to 0 */
const counter = (share: number) => (): Decide => {
  let [window, count, before] = [-1, 0, 0];
  return (nowMs) => {
    const now = Math.floor(nowMs / windowMs);
    if (now !== window) [window, count, before] = [now, 0, now === window + 1 ? count : 0];
    const used = Math.floor(before * share * (1 - (nowMs % windowMs) / windowMs)) + count;
    const fits = used < limit;
    if (fits) count += 1;
    return { fits, left: Math.max(0, limit - used - (fits ? 1 : 0)), endsAt: (now + 1) * windowMs };
  };
};

/** Opens its window anew with each call. */
function armedAgain(): Decide {
  let [endsAt, count] = [0, 0];
  return (nowMs) => {
    if (nowMs >= endsAt) count = 0;
    endsAt = nowMs + windowMs;
    const fits = count < limit;
    if (fits) count += 1;
    return { fits, left: limit - count, endsAt };
  };
}

const policy = parsePolicy({
  version: 2,
  name: "fixed",
  quotas: {
    calls: {
      algorithm: { kind: "fixed-window", limit, windowSeconds: windowMs / 1000, anchor: "epoch" },
      key: ["user"],
    },
  },
  operations: { call: { uses: { calls: 1 } } },
  routes: [{ path: "/**", operation: "call" }],
  auth: { attributes: ["user"] },
  wire: { revision: "1", readings: [] },
});
const header: QuotaTraceHeader = {
  ...{ format: "spillway-trace", version: 2, source: "other", scenario: null, seed: null, target: null },
  ...{ clock: { kind: "wall", resolutionMs: 1, errorMs: 0 }, complete: true, lost: 0 },
  startedAt: start - 20_000,
  policy,
};

/** A user calls for 90 s, about every 0.8 s. */
function callsOf(user: string, decide: Decide): QuotaCall[] {
  const calls: QuotaCall[] = [];
  let sent = start + 700 * user.length;
  for (let at = 0; sent < start + 90_000; at++) {
    const decidedAt = sent + ((at * 7) % 20);
    const { fits, left, endsAt } = decide(decidedAt);
    const afterMs = Math.ceil((endsAt - decidedAt) / 1000) * 1000;
    calls.push({
      ...{
        sent,
        received: sent + 25,
        client: `${user}/0`,
        call: at,
        caller: { user },
        operation: "call",
        cost: 1,
      },
      ...(fits ? { status: 200, outcome: "admitted" } : { status: 429, outcome: "refused", by: "calls" }),
      readings: [
        { quota: "calls", limit, remaining: left, used: null, reset: { afterMs, atMs: null, gridMs: 1000 } },
      ],
    } as QuotaCall);
    sent += 30 + ((at * 389) % 1500);
  }
  return calls;
}

test.each([
  ["a log", slidingLog, ["reset-agrees", "window-slides"]],
  ["a counter", counter(1), ["conserved", "window-slides"]],
  ["a window that each call arms again", armedAgain, ["reset-agrees", "rearmed-per-hit"]],
  ["a fixed window", counter(0), []],
] as const)("%s", async (_name, limiter, expected) => {
  const calls = ["a", "bb", "ccc"].flatMap((user) => callsOf(user, limiter()));
  const lines = calls.toSorted((a, b) => a.received - b.received).map((call, at) => ({ line: at + 2, call }));
  const { violations } = await judgeQuotas(header, lines);
  const [first] = violations;
  expect(first === undefined ? [] : [first.law, first.suspects[0]]).toEqual(expected);
});
