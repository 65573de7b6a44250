// Faults in what answers tell, each on its own: readings before and after, by the quota, the time and the kind of answer.
import { describe, expect, test } from "vitest";
import { injectQuotaFault, parseFault } from "../../src/faults/choice.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { AnswerToWrite } from "../../src/wire/write-answer.ts";

const windowOf = (windowSeconds: number) => ({
  algorithm: { kind: "fixed-window", limit: 10, windowSeconds, anchor: "epoch" },
  key: ["user"],
});
const names = ["minute", "second", "bucket"] as const;
const policy = parsePolicy({
  version: 2,
  name: "told",
  quotas: {
    minute: windowOf(60),
    second: windowOf(1),
    bucket: {
      algorithm: { kind: "token-bucket", capacity: 10, refill: { amount: 1, everyMs: 1_000 } },
      key: ["user"],
    },
  },
  operations: { call: { uses: { minute: 1, second: 1, bucket: 1 } } },
  routes: [
    { path: "/limits", operation: "status" },
    { path: "/**", operation: "call" },
  ],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
  wire: {
    revision: "1",
    readings: names.map((name) => ({
      quotas: [name],
      on: ["admitted", "refused", "status"],
      headers: { [`X-${name}`]: "{remaining}/{limit}", [`X-${name}-Reset`]: "{reset}" },
      reset: { form: "delta-s", means: "window-end" },
    })),
    retryAfter: [{ header: "Retry-After", form: "delta-s" }],
  },
} as never);

const nowMs = 1_000_000;
interface Shown {
  readonly kind?: AnswerToWrite["kind"];
  readonly refusedBy?: string;
  readonly retryMs?: number | null;
  /** Ms from the answer to each quota's reset, in the order of `names`. */
  readonly resets?: readonly number[];
  /** Ms that the clock of the count is ahead. */
  readonly aheadMs?: number;
}

function answerOf({ kind = "admitted", refusedBy, retryMs = null, resets = [], aheadMs }: Shown) {
  return {
    ...{ kind, cost: 1, refusedBy: refusedBy ?? null, retryAtMs: retryMs === null ? null : nowMs + retryMs },
    readings: names.map((quota, place) => ({
      ...{ quota, limit: 10, remaining: 4, used: 6, resetAtMs: nowMs + (resets[place] ?? 9_000) },
      ...(aheadMs !== undefined && { clockMs: nowMs + aheadMs }),
    })),
  };
}

/** Injects a fault. @returns what tells an answer at so many ms */
function telling(fault: string) {
  const { tell } = injectQuotaFault(parseFault(fault), policy, () => 0);
  return (shown: Shown, user = "ann", atMs = nowMs) =>
    tell?.(answerOf(shown), { user } as never, atMs) ?? answerOf(shown);
}
const resetsOf = ({ readings }: Pick<AnswerToWrite, "readings">): number[] =>
  readings.map(({ resetAtMs }) => resetAtMs - nowMs);

test("reset-negative takes a window's length from its reset, and nothing from a bucket's", () => {
  expect(resetsOf(telling("reset-negative")({}))).toEqual([-51_000, 8_000, 9_000]);
});

test("reset-zero tells 0 in the last second, by the clock of the count", () => {
  const told = telling("reset-zero");
  expect(resetsOf(told({ resets: [1_000, 1_001, -5] }))).toEqual([0, 1_001, -5]);
  expect(resetsOf(told({ resets: [3_000, 3_001, 1_000], aheadMs: 2_000 }))).toEqual([2_000, 3_001, 1_000]);
});

describe("stale-cached-reset", () => {
  const refused = { kind: "refused", refusedBy: "minute" } as const;

  test("tells the first refusal's reset as long as its window lasts, to each caller", () => {
    const told = telling("stale-cached-reset");
    const reset = (endMs: number, atMs: number, user = "ann") =>
      (told({ ...refused, resets: [endMs] }, user, nowMs + atMs).readings[0]?.resetAtMs ?? 0) - nowMs - atMs;
    expect([reset(9_000, 0), reset(9_000, 400), reset(9_000, 8_000)]).toEqual([9_000, 9_000, 9_000]);
    expect(reset(9_000, 8_000, "bob")).toBe(1_000);
    // The next window, whose first refusal comes later.
    expect([reset(69_000, 20_000), reset(69_000, 30_000)]).toEqual([49_000, 49_000]);
  });

  test("changes the reset of the quota that refuses alone", () => {
    const told = telling("stale-cached-reset");
    told(refused);
    expect(resetsOf(told(refused, "ann", nowMs + 400))).toEqual([9_400, 9_000, 9_000]);
    expect(resetsOf(told({}, "ann", nowMs + 400))).toEqual([9_000, 9_000, 9_000]);
  });

  test("counts by the clock of the count", () => {
    const told = telling("stale-cached-reset");
    told({ ...refused, aheadMs: 500 });
    expect(resetsOf(told({ ...refused, aheadMs: 700 }))).toEqual([9_200, 9_000, 9_000]);
  });
});

test("retry-too-soon tells a second at most, and nothing where nothing was told", () => {
  const told = telling("retry-too-soon");
  const retries = [null, 400, 1_000, 1_001, 60_000].map((retryMs) => told({ retryMs }).retryAtMs);
  expect(retries.map((atMs) => atMs && atMs - nowMs)).toEqual([null, 400, 1_000, 1_000, 1_000]);
});

test("status-pristine shows each quota unused, in a status alone", () => {
  const counts = (kind: AnswerToWrite["kind"]) =>
    telling("status-pristine")({ kind }).readings.map(({ used, remaining }) => [used, remaining]);
  expect(counts("status")).toEqual(names.map(() => [0, 10]));
  for (const kind of ["admitted", "refused"] as const) expect(counts(kind)).toEqual(names.map(() => [6, 4]));
});

test("remaining-of-laxer-window shows the last quota with twice its limit, in no status", () => {
  const counts = (kind: AnswerToWrite["kind"]) =>
    telling("remaining-of-laxer-window")({ kind }).readings.map(({ limit, remaining, used }) => [
      ...[limit, remaining, used],
    ]);
  const right = [10, 4, 6];
  expect(counts("status")).toEqual([right, right, right]);
  for (const kind of ["admitted", "refused"] as const)
    expect(counts(kind)).toEqual([right, right, [20, 14, 6]]);
});

test.each([
  ["reset-in-ms", "delta-ms"],
  ["reset-epoch", "epoch-s"],
])("%s writes each reset as %s", (fault, form) => {
  const { wire } = injectQuotaFault(parseFault(fault), policy, () => 0);
  expect(wire?.readings.map(({ reset }) => reset)).toMatchObject(
    names.map(() => ({ form, means: "window-end" })),
  );
});

test("reset-truncated rounds each quota's reset down, and changes nothing else", () => {
  const { shownBy } = injectQuotaFault(parseFault("reset-truncated"), policy, () => 0);
  for (const name of names) {
    const right = policy.quotas[name];
    expect(shownBy?.quotas[name]).toEqual({ ...right, shown: { ...right?.shown, reset: "floor" } });
  }
  expect(shownBy?.operations).toEqual(policy.operations);
});

test.each([
  ["headers-missing-on-429", ["admitted", "status"]],
  ["headers-missing-on-status", ["admitted", "refused"]],
])("%s shows readings on %j alone", (fault, on) => {
  const { wire } = injectQuotaFault(parseFault(fault), policy, () => 0);
  expect(wire?.readings.map((row) => row.on)).toEqual(names.map(() => on));
});

test("headers-doubled joins each header of a reading with itself, and no other", () => {
  const { change } = injectQuotaFault(parseFault("headers-doubled"), policy, () => 0);
  const headers = { "x-minute": "4/10", "X-Second-Reset": 9, "Retry-After": 3 };
  expect(change?.({ status: 429, headers, body: {} })).toEqual({
    ...{ status: 429, body: {} },
    headers: { "x-minute": "4/10, 4/10", "X-Second-Reset": "9, 9", "Retry-After": 3 },
  });
});
