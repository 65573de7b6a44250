// Refusals that are counted, behind a remaining that is clamped at 0: each passes the limit by its own charge. So one is
// needless where all calls that can have reached its window, itself among them, come to no more than the limit.
import { expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { QuotaCall, QuotaTraceHeader } from "../../src/trace/quota-record.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";

const limit = 5;
const policyOf = (charge: object) =>
  parsePolicy({
    version: 2,
    name: "hits",
    quotas: {
      hits: {
        algorithm: { kind: "fixed-window", limit, windowSeconds: 60, anchor: "first-request" },
        key: ["ip"],
        charge,
      },
    },
    operations: { call: { uses: { hits: 1 } } },
    routes: [{ path: "/**", operation: "call" }],
    auth: { attributes: ["ip"] },
    wire: { revision: "1", readings: [] },
  });

const start = Date.UTC(2026, 0, 5, 10);
/** The call number `at`, a second after the one before; it shows the window that opened with call 0. */
function hit(at: number, remaining: number, changes: Partial<QuotaCall> = {}): QuotaCall {
  const sent = start + 5000 + 1000 * at;
  return {
    ...{
      sent,
      received: sent + 20,
      client: "a/0",
      call: at,
      caller: { ip: "::1" },
      operation: "call",
      cost: 1,
    },
    ...{ status: 200, outcome: "admitted" },
    readings: [
      {
        ...{ quota: "hits", limit, remaining, used: null },
        reset: { afterMs: 60_000 - 1000 * at, atMs: null, gridMs: 1000 },
      },
    ],
    ...changes,
  };
}
const refused = { status: 429, outcome: "refused", by: "hits" } as const;

async function broken(calls: readonly QuotaCall[], changes: Partial<QuotaTraceHeader> = {}, charge = {}) {
  const header: QuotaTraceHeader = {
    ...{ format: "spillway-trace", version: 2, source: "other", scenario: null, seed: null, target: null },
    ...{ startedAt: start, clock: { kind: "wall", resolutionMs: 1, errorMs: 0 }, complete: true, lost: 0 },
    policy: policyOf({ refused: "counted", ...charge }),
    ...changes,
  };
  const lines = calls.map((call, at) => ({ line: at + 2, call }));
  const { violations, amounts } = await judgeQuotas(header, lines);
  expect(amounts?.wronglyRefused).toBe(violations.length);
  return violations.map(({ law, suspects, lines }) => [law, suspects[0], ...lines]);
}

const short = [hit(0, 4), hit(1, 3), hit(2, 2), hit(3, 1), hit(4, 0, refused)];
const fine = [...short.slice(0, 4), hit(4, 0), hit(5, 0, refused)];

test("the last call that fits is refused: the limit is one lower than told", async () => {
  expect(await broken(short)).toEqual([["refusal-justified", "one-short", 6]]);
  expect(await broken(fine)).toEqual([]);
});

test("calls that came at the same time may have been counted before it", async () => {
  const { sent, received } = hit(4, 0);
  expect(await broken([...short, hit(5, 0, { sent: received, received: received + 9 })])).toEqual([]);
  expect(await broken([...short, hit(5, 0, { sent: received + 2, received: received + 9 })])).toEqual([
    ["refusal-justified", "one-short", 6],
  ]);
  expect(await broken([...short, hit(5, 0, { ...refused, sent, received })])).toEqual([]);
});

test("a call without an answer may have been counted before it, and a lost one, too", async () => {
  const silent = hit(5, 0, { sent: start + 6500, status: 0, outcome: "unknown", readings: [] });
  expect(await broken([...short, silent])).toEqual([]);
  expect(await broken(short, { lost: 1 })).toEqual([]);
  expect(await broken([...short, { ...silent, caller: {} }])).toEqual([]);
});

test("a call without an answer that explains the counts explains the refusal, too", async () => {
  const silent = hit(0, 4, { status: 0, outcome: "unknown", readings: [] });
  expect(await broken([silent, ...fine.slice(1)])).toEqual([]);
});

test("calls from before the trace, or of others, may have been counted before it", async () => {
  expect(await broken(short.slice(1), { startedAt: start + 5500 })).toEqual([]);
  expect(await broken(short, { complete: false })).toEqual([]);
});

test("something else than the quota may have refused it", async () => {
  expect(await broken(short.with(4, hit(4, 0, { ...refused, by: "concurrency" })))).toEqual([]);
});

test("where refusals are free, a remaining of 0 shows that the call itself was let through", async () => {
  const free = { refused: "nothing" };
  expect(await broken([...fine.slice(0, 5), hit(5, 0, refused)], {}, free)).toEqual([]);
  expect((await broken(short, {}, free)).length).toBe(1);
});
