// A log's own refusals: what was tried again is one wish, wanted when it was first sent; what cannot be told is said.
import { describe, expect, test } from "vitest";
import { ReplayCallers } from "../../sim/replay/callers.ts";
import { ReplayCalls } from "../../sim/replay/calls.ts";
import { demandRowsMost, replay } from "../../sim/replay/replay.ts";
import { wishesIn } from "../../sim/replay/wishes.ts";
import { type LogBatch, REST_CALL } from "../../src/logs/rows.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { fixed } from "../../src/scenario/retries/fixed.ts";
import { none } from "../../src/scenario/retries/none.ts";
import { waitReset } from "../../src/scenario/retries/wait-reset.ts";
import { logOf, noon, type Row } from "./rows.ts";

const minute = 60_000;
const limited = parseRules({ user: { rest: { limit: 10 } } });

/**
 * The log of a caller with so many jobs a minute under a limit of ten, which waits for the reset when it is refused:
 * what was wanted at second 50 is admitted in the next minute.
 */
function waiting(minutes: number, jobs: number, user = "ann"): Row[] {
  const rows: Row[] = [];
  let readyMs = noon;
  for (let number = 0; number < minutes; number++) {
    const startMs = Math.max(readyMs, noon + number * minute);
    let atMs = startMs;
    for (let job = 0; job < jobs; job++) {
      const window = Math.floor(atMs / minute);
      const used = rows.filter(
        (row) => row.status === 200 && Math.floor(row.atMs / minute) === window,
      ).length;
      if (used >= 10) {
        rows.push({ atMs, user, durationMs: 5, status: 429 });
        atMs = (window + 1) * minute + 20 + (job % 3) * 7;
      }
      rows.push({ atMs, user, durationMs: 40, status: 200 });
      atMs += 40 + 2_500 + 137 * (job % 5);
    }
    readyMs = atMs;
  }
  return rows;
}

describe("a refusal and its retry", () => {
  const rows = waiting(40, 14);
  const refused = rows.filter(({ status }) => status === 429).length;

  test("are one call, wanted when it was first sent", async () => {
    const { reaction } = await replay(logOf(rows), limited, {
      reaction: { onRefused: waitReset({ of: "both" }) },
    });
    expect(refused).toBeGreaterThan(20);
    expect(reaction).toMatchObject({ calls: rows.length - refused, retries: refused, leftOut: 0 });
    // It waits as it did, about as often.
    expect(reaction?.admittedLater).toBeGreaterThan(0.8 * refused);
    expect(reaction?.waits.max).toBeLessThan(minute);
  });

  test("are two calls where each refused one is to be kept", async () => {
    const reaction = { onRefused: none(), keepRefused: true };
    const kept = await replay(logOf(rows), limited, { reaction });
    expect(kept.reaction).toMatchObject({ calls: rows.length, retries: 0, leftOut: 0 });
  });

  test("put back, need more than the rows as they came", async () => {
    const { demand, smallestLimits } = await replay(logOf(rows), limited);
    const [came] = smallestLimits.filter(({ owner }) => owner === "user");
    const [needed] = (demand?.limits ?? []).filter(({ owner }) => owner === "user");
    expect(demand).toMatchObject({
      wishes: rows.length - refused,
      retries: refused,
      untold: 0,
      untoldUsers: 0,
    });
    expect(needed?.limit).toBe(10);
    // Fourteen jobs a minute were wanted; at their pace some twenty of them fit into one.
    expect(needed?.high).toBeGreaterThanOrEqual(14);
    expect(needed?.high).toBeLessThanOrEqual(24);
    expect(needed?.low).toBeLessThanOrEqual(needed?.high ?? 0);
    expect(came?.smallest).toBeLessThan(needed?.high ?? 0);
  });

  test("is the rule for those of few refusals, where it is for most", async () => {
    const few: Row[] = [
      { atMs: noon + 3, user: "bob", durationMs: 5, status: 429 },
      { atMs: noon + minute + 30, user: "bob", durationMs: 40, status: 200 },
    ];
    const all = [...rows, ...few].sort((a, b) => a.atMs - b.atMs);
    const { reaction } = await replay(logOf(all), limited, { reaction: { onRefused: none() } });
    expect(reaction).toMatchObject({ calls: rows.length - refused + 1, retries: refused + 1, leftOut: 0 });
  });
});

test("callers that go on as if nothing were are not taken to try again: each refused call is one of its own", async () => {
  const rows = Array.from({ length: 900 }, (_, place): Row => {
    const atMs = noon + place * 4_000;
    return { atMs, user: "ann", durationMs: 30, status: (place * 4_000) % minute < 40_000 ? 200 : 429 };
  });
  const { reaction, demand } = await replay(logOf(rows), limited, {
    reaction: { onRefused: fixed({ wait: "1s", attempts: 1 }) },
  });
  expect(reaction).toMatchObject({ calls: 900, retries: 0, leftOut: 0 });
  expect(demand).toMatchObject({ wishes: 900, retries: 0, untold: 0 });
});

test("what cannot be told is left out, counted, and an end of the interval", async () => {
  // Calls overlap and keep to no clock: none is known to be the retry of another.
  let state = 7;
  const draw = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const rows: Row[] = [];
  for (let atMs = noon; rows.length < 600; atMs += Math.floor(6_000 * draw() * draw()))
    rows.push({
      atMs,
      user: "ann",
      durationMs: 3_000 + Math.floor(3_000 * draw()),
      status: draw() < 0.1 ? 429 : 200,
    });
  const refused = rows.filter(({ status }) => status === 429).length;
  const { reaction, demand } = await replay(logOf(rows), limited, { reaction: { onRefused: none() } });
  expect(reaction).toMatchObject({ calls: 600 - refused, retries: 0, leftOut: refused });
  expect(demand).toMatchObject({ wishes: 600 - refused, untold: refused, untoldUsers: 1 });
  const [user] = (demand?.limits ?? []).filter(({ owner }) => owner === "user");
  expect(user?.high).toBeGreaterThan(user?.low ?? 0);
});

describe("a loop that retries after a second, in a log of whole seconds without durations", async () => {
  // Eight calls in a minute of room, then a try each second until the minute is over.
  const rows = Array.from({ length: 1_200 }, (_, second): Row => {
    const isFull = second % 60 >= 10;
    return { atMs: noon + 1_000 * second, user: "ann", status: isFull ? 429 : 200 };
  }).filter(({ atMs }) => (atMs / 1_000) % 7 !== 3);
  const refused = rows.filter(({ status }) => status === 429).length;
  const { demand, reaction } = await replay(logOf(rows), limited, { reaction: { onRefused: none() } });

  test("does not show whether a refused call came again", () => {
    expect(demand).toMatchObject({ wishes: rows.length - refused, retries: 0, untold: refused });
    expect(reaction).toMatchObject({ calls: rows.length - refused, retries: 0, leftOut: refused });
  });

  test("has a demand from that of its admitted calls to that of all its rows, or of tries put back", () => {
    const [user] = (demand?.limits ?? []).filter(({ owner }) => owner === "user");
    const busiest = Math.max(...perMinute(rows).values());
    expect(user?.low).toBeLessThanOrEqual(10);
    expect(user?.high).toBeGreaterThanOrEqual(busiest);
  });
});

function perMinute(rows: readonly Row[]): Map<number, number> {
  const minutes = new Map<number, number>();
  for (const { atMs } of rows) {
    const number = Math.floor(atMs / minute);
    minutes.set(number, (minutes.get(number) ?? 0) + 1);
  }
  return minutes;
}

test.each(["wanted", "handle", "operation", "cost"] as const)(
  "numbered attempts are of one call where all is alike, its %s too",
  (differing) => {
    const rows = new ReplayCalls();
    const push = (atMs: number, which: number, attempt: number, durationMs: number): void => {
      const of = (name: string): number => (name === differing ? which : 1);
      const [handle, operation, cost, wantedMs] = [of("handle"), of("operation"), of("cost"), of("wanted")];
      rows.push(atMs, durationMs, 0, handle, operation, cost, -1, attempt === 0, attempt, wantedMs);
    };
    push(10, 1, 0, 5);
    push(11, 2, 0, 5);
    push(100, 2, 1, 70);
    push(200, 1, 1, 80);
    const { calls, retries } = wishesIn(rows, new ReplayCallers(policyOf(limited), []))("none");
    expect([calls.count, retries]).toEqual([2, 2]);
    const [first, second] = [0, 1].map((call) => [calls.atMs[call], calls.durationMs[call]]);
    expect([first, second]).toEqual([
      [10, 80],
      [11, 70],
    ]);
  },
);

test("a log of very many rows is replayed without them in memory: its demand is not put back", async () => {
  const base = { ...logOf([]), callers: [{ organization: "acme", user: "ann" }] };
  const count = 8_192;
  async function* batches(): AsyncGenerator<LogBatch, void> {
    for (let from = 0; from <= demandRowsMost; from += count)
      yield {
        count,
        atMs: Float64Array.from({ length: count }, (_, row) => noon + 10 * (from + row)),
        durationMs: new Float64Array(count).fill(1),
        caller: new Int32Array(count),
        kind: new Uint8Array(count).fill(REST_CALL),
        cost: new Int32Array(count).fill(1),
        actual: new Int32Array(count).fill(-1),
        status: new Int16Array(count).fill(429),
      };
  }
  const { demand, recorded, totals } = await replay({ ...base, batches: batches() }, limited);
  expect(totals.calls).toBeGreaterThan(demandRowsMost);
  expect(recorded?.refused).toBe(totals.calls);
  expect(demand).toBeNull();
});

test("a log without refusals has no demand that was put off", async () => {
  const rows = Array.from(
    { length: 30 },
    (_, place): Row => ({ atMs: noon + place, user: "ann", status: 200 }),
  );
  expect((await replay(logOf(rows), limited)).demand).toBeNull();
});
