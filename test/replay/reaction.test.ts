// A log with callers that do something about a refusal: what waits, what moves, and what never comes through.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Reaction } from "../../sim/replay/reaction.ts";
import { replay } from "../../sim/replay/replay.ts";
import { reactionWords } from "../../src/report/replay-reaction-section.ts";
import { replayView } from "../../src/report/replay-view.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules } from "../../src/rules/rules.ts";
import type { RefusalPolicy } from "../../src/scenario/client.ts";
import { exponential } from "../../src/scenario/retries/exponential.ts";
import { fixed } from "../../src/scenario/retries/fixed.ts";
import { none } from "../../src/scenario/retries/none.ts";
import { retryAfter } from "../../src/scenario/retries/retry-after.ts";
import { waitReset } from "../../src/scenario/retries/wait-reset.ts";
import type { ReplayReaction } from "../../src/summary/replay-result.ts";
import { property } from "../support/property.ts";
import { logOf, noon, type Row } from "./rows.ts";

const minute = 60_000;
const twoAMinute = parseRules({ user: { rest: { limit: 2 } } });

async function react(rows: readonly Row[], rules: Rules, reaction: Reaction): Promise<ReplayReaction> {
  const { reaction: reacted } = await replay(logOf(rows), rules, { reaction });
  if (reacted === null) throw new RangeError("callers were to react");
  return reacted;
}

/** Returns what is said of callers that react. */
async function said(rows: readonly Row[], rules: Rules, reaction: Reaction): Promise<string> {
  const { reaction: reacted } = replayView(await replay(logOf(rows), rules, { reaction }));
  return reacted === null ? "" : reactionWords(reacted);
}

/** Calls of one user so many ms after noon, each of 100 ms. */
const calls = (...atMs: number[]): Row[] =>
  atMs.map((ms) => ({ atMs: noon + ms, user: "ann", durationMs: 100 }));

describe("what a refusal moves", () => {
  test("the caller waits for the reset, and its next call keeps its distance to the answer", async () => {
    // The third call is refused at 2 s, told 58 s to the reset 1 ms later, and sent at 60.001 s; the fourth was
    // wanted 900 ms after the third's answer, so at 60.001 + 0.1 + 0.9 s, which is 58.001 s later than in the log.
    const reaction = { onRefused: waitReset({ of: "both" }) };
    const reacted = await react(calls(0, 1000, 2000, 3000), twoAMinute, reaction);
    expect(reacted).toMatchObject({
      calls: 4,
      byClock: 0,
      attempts: 5,
      refusals: 1,
      refusedByUser: 1,
      admittedAtOnce: 3,
      admittedLater: 1,
      gaveUp: 0,
      unfinished: 0,
      waitedMs: 58_001,
      endsLaterMs: 58_001,
      waits: { p50: 0, p95: 58_001, p99: 58_001, max: 58_001 },
      waitsOfRefused: { p50: 58_001, p95: 58_001, p99: 58_001, max: 58_001 },
    });
    expect(reacted.users).toEqual([
      {
        org: "acme",
        user: "ann",
        calls: 4,
        refusals: 1,
        gaveUp: 0,
        unfinished: 0,
        waitMaxMs: 58_001,
        endsLaterMs: 58_001,
      },
    ]);
  });

  test("a caller whom the organization refuses waits for the organization's reset", async () => {
    // Refused at 2 s, told 1 ms later of 28 s to the end of the organization's half minute.
    const organization = { rest: { limit: 2, windowSeconds: 30 } };
    const rules = parseRules({ organization, user: { rest: { limit: 50, windowSeconds: 60 } } });
    for (const of of ["organization", "both"] as const)
      expect(await react(calls(0, 1000, 2000), rules, { onRefused: waitReset({ of }) })).toMatchObject({
        refusedByOrganization: 1,
        refusedByUser: 0,
        admittedLater: 1,
        waitedMs: 28_001,
      });
  });

  test("independent callers send each call when the log has it", async () => {
    const reaction = { onRefused: waitReset({ of: "both" }), independent: true };
    const reacted = await react(calls(0, 1000, 2000, 3000), twoAMinute, reaction);
    // Both the third and the fourth are refused, and both are sent at the reset.
    expect(reacted).toMatchObject({ attempts: 6, refusals: 2, admittedLater: 2, waitedMs: 58_001 + 57_001 });
    expect(reacted.byClock).toBe(0);
  });

  test("a completed query gives back to both windows that it was charged to", async () => {
    // Each uses one point of five. The second comes before the first is over, the third after both.
    const query = { user: "ann", kind: "graphql", durationMs: 1_000, cost: 5, actual: 1 } as const;
    const rows: Row[] = [0, 500, 2_500].map((ms) => ({ ...query, atMs: noon + ms }));
    const limits = (organization: number, user: number) =>
      parseRules({
        organization: { graphql: { limit: organization, windowSeconds: 60 } },
        user: { graphql: { limit: user, windowSeconds: 60 } },
        semantics: { graphqlCharge: "reserved" },
      });
    const reaction = { onRefused: none(), independent: true };
    for (const [organization, user] of [
      [50, 6],
      [6, 50],
    ] as const)
      expect(await react(rows, limits(organization, user), reaction)).toMatchObject({
        admittedAtOnce: 2,
        refusals: 1,
      });
  });

  test("calls that overlap do not wait for one another", async () => {
    // The second begins before the first is over: refused or not, the first does not hold it back.
    const rows: Row[] = [
      { atMs: noon, user: "ann", durationMs: 10 },
      { atMs: noon + 20, user: "ann", durationMs: 10 },
      { atMs: noon + 1000, user: "ann", durationMs: 5000 },
      { atMs: noon + 2000, user: "ann", durationMs: 10 },
      { atMs: noon + 7000, user: "ann", durationMs: 10 },
    ];
    const { slots } = await react(rows, twoAMinute, { onRefused: waitReset({ of: "both" }) });
    const triedAt = slots.filter((slot) => slot.calls > 0).map(({ atMs, calls }) => [atMs - noon, calls]);
    // The last follows the long one, one second after its answer: 60.001 + 5 + 1 s, and finds no room.
    expect(triedAt).toEqual([
      [0, 2],
      [1000, 1],
      [2000, 1],
      [60_000, 2],
      [66_000, 1],
      [120_000, 1],
    ]);
  });

  test("a call that begins when the one before is over has waited for it", async () => {
    // Two back to back: the second is wanted when the first, sent at the reset, is over.
    const reaction = { onRefused: waitReset({ of: "both" }) };
    const reacted = await react(calls(0, 100, 2000, 2100), twoAMinute, reaction);
    expect(reacted).toMatchObject({ attempts: 5, refusals: 1, admittedAtOnce: 3, waitedMs: 58_001 });
  });

  test("waits behind the caller's earlier calls show in the delays", async () => {
    // The fourth call is admitted at its first try, but 58.001 s later than in the log.
    const reaction = { onRefused: waitReset({ of: "both" }) };
    const reacted = await react(calls(0, 1000, 2000, 3000), twoAMinute, reaction);
    expect(reacted.waits).toMatchObject({ p50: 0, max: 58_001 });
    expect(reacted.delays).toEqual({ p50: 0, p95: 58_001, p99: 58_001, max: 58_001 });
    // All that come after the third call are that late, though they are never refused.
    const after = Array.from(
      { length: 30 },
      (_, place) => 62_000 + place * 90_000 + ((place * 7919) % 83_000),
    );
    expect(await said(calls(0, 1000, 2000, ...after), twoAMinute, reaction)).toContain(
      "With waits behind the caller's earlier calls, 95% get through at most 58 s later than in the log",
    );
  });

  describe("calls that a clock begins", () => {
    // Each job makes three calls, the third of which is refused and waits for the reset.
    const jobs = (everyMs: number, lateMs: (job: number) => number): Row[] =>
      calls(
        ...Array.from({ length: 20 }, (_, job) =>
          [0, 1000, 2000].map((ms) => job * everyMs + lateMs(job) + ms),
        ).flat(),
      );

    test.each([
      ["each five minutes, as cron's", 5 * minute],
      ["each seven minutes", 7 * minute],
    ])("%s, wait for no earlier call", async (_, everyMs) => {
      const reacted = await react(
        jobs(everyMs, () => 0),
        twoAMinute,
        { onRefused: waitReset({ of: "both" }) },
      );
      expect(reacted).toMatchObject({ byClock: 20, refusals: 20, admittedLater: 20, endsLaterMs: 58_001 });
    });

    test("jobs of any number of calls", async () => {
      const rows = jobs(5 * minute, () => 0).filter((_, place) => place % 4 !== 1);
      expect(await react(rows, twoAMinute, { onRefused: waitReset({ of: "both" }) })).toMatchObject({
        byClock: 20,
      });
    });

    test("pauses after answers are no clock", async () => {
      // Each job begins five minutes after the one before, give or take: what it is late by adds up.
      let late = 0;
      const rows = jobs(5 * minute, (job) => (late += (job * 7919) % 20_000));
      expect(await react(rows, twoAMinute, { onRefused: waitReset({ of: "both" }) })).toMatchObject({
        byClock: 0,
      });
    });
  });

  describe("a policy is told of each refusal", () => {
    const spaced = async (onRefused: RefusalPolicy) => {
      const { slots } = await react(calls(0, 1, 2), twoAMinute, { onRefused, independent: true });
      return slots.filter((slot) => slot.calls > 0).map(({ atMs }) => (atMs - noon) / 1000);
    };

    test("which try it was: waits grow, and attempts end", async () => {
      // Each wait counts from the answer, 1 ms after the refusal.
      const onRefused = exponential({ first: "2s", most: "1h", attempts: 5 });
      expect(await spaced(onRefused)).toEqual([0, 2, 6, 14, 30]);
    });

    test("what it waited last", async () => {
      const seen: number[] = [];
      const onRefused: RefusalPolicy = {
        name: "doubling",
        retryAt(_, { delayMs, nowMs }) {
          seen.push(delayMs);
          return nowMs + Math.max(1000, 2 * delayMs);
        },
      };
      expect(await spaced(onRefused)).toEqual([0, 1, 3, 7, 15, 31, 63]);
      expect(seen).toEqual([0, 1000, 2000, 4000, 8000, 16_000]);
    });

    test("when the call was first due", async () => {
      expect(await spaced(fixed({ wait: "10s", deadline: "25s" }))).toEqual([0, 10, 20]);
    });
  });

  test("who gives up goes on with the next call", async () => {
    const reacted = await react(calls(0, 1000, 2000, 61_000), twoAMinute, { onRefused: none() });
    expect(reacted).toMatchObject({ attempts: 4, refusals: 1, gaveUp: 1, admittedAtOnce: 3, waitedMs: 0 });
    // The refusal is told 1 ms after the call, which took 100 ms in the log: the next call is wanted 99 ms earlier.
    for (const [atMs, gaveUp] of [
      [60_099, 1],
      [60_098, 2],
    ] as const)
      expect(await react(calls(0, 1000, 2000, atMs), twoAMinute, { onRefused: none() })).toMatchObject({
        gaveUp,
      });
    // A log without durations says nothing that could move them.
    const instants = calls(0, 0, 0, 61_000).map((row) => ({ ...row, durationMs: 0 }));
    expect(await react(instants, twoAMinute, { onRefused: none() })).toMatchObject({
      gaveUp: 1,
      endsLaterMs: 0,
    });
  });

  test("a log's own refusals are tries, not wishes, unless they are said to be", async () => {
    const rows: Row[] = [...calls(0, 1000), { atMs: noon + 2000, user: "ann", status: 429 }];
    const reacted = await react(rows, twoAMinute, { onRefused: none() });
    expect(reacted).toMatchObject({ calls: 2, leftOut: 1, refusals: 0 });
    const kept = await react(rows, twoAMinute, { onRefused: none(), keepRefused: true });
    expect(kept).toMatchObject({ calls: 3, leftOut: 0, refusals: 1 });
  });

  test("Retry-After is what the window that refused says, where the rules send one", async () => {
    const onRefused = retryAfter({});
    const sent = await react(calls(0, 1, 2), twoAMinute, { onRefused });
    // Refused at 2 ms, told 60 s (rounded up) 1 ms later.
    expect(sent).toMatchObject({ admittedLater: 1, gaveUp: 0, waitedMs: 60_001 });
    // The organization's window is the longer one, and has room.
    const organization = { rest: { limit: 200, windowSeconds: 3_600 } };
    const apart = parseRules({ organization, user: { rest: { limit: 2 } } });
    expect(await react(calls(0, 1, 2), apart, { onRefused })).toMatchObject({ waitedMs: 60_001 });
    const silent = parseRules({ user: { rest: { limit: 2 } }, semantics: { retryAfter: false } });
    expect(await react(calls(0, 1, 2), silent, { onRefused })).toMatchObject({ admittedLater: 0, gaveUp: 1 });
  });

  test("what can never be admitted ends, whatever the policy", async () => {
    const rows: Row[] = [{ atMs: noon, user: "ann", kind: "graphql", cost: 6_000 }];
    const reacted = await react(rows, parseRules({}), { onRefused: fixed({ wait: "10s" }) });
    expect(reacted).toMatchObject({ gaveUp: 0, unfinished: 1 });
    expect(reacted.attempts).toBeLessThan(400);
    expect(await react(rows, parseRules({}), { onRefused: waitReset({ of: "both" }) })).toMatchObject({
      gaveUp: 1,
    });
  });

  test("a policy that asks for no time is named, with its caller", async () => {
    const broken: RefusalPolicy = { name: "broken", retryAt: () => Number.NaN };
    await expect(react(calls(0, 1, 2), twoAMinute, { onRefused: broken })).rejects.toMatchObject({
      code: "SCENARIO_FAILED",
      problems: [{ path: "acme/ann (broken)", got: "a retry at NaN" }],
    });
  });
});

const arbitraryRows: fc.Arbitrary<Row[]> = fc
  .array(
    fc.record({
      atMs: fc.nat(20_000).map((ms) => noon + ms),
      user: fc.constantFrom("ann", "bob", "cat"),
      kind: fc.constantFrom("rest" as const, "graphql" as const),
      durationMs: fc.constantFrom(0, 3, 400, 2_000),
    }),
    { maxLength: 80 },
  )
  .map((rows) =>
    rows
      .map((row) => (row.kind === "rest" ? row : { ...row, cost: 7, actual: 3 }))
      .sort((a, b) => a.atMs - b.atMs),
  );

const tight = parseRules({
  organization: { rest: { limit: 8, windowSeconds: 4 }, graphql: { limit: 30, windowSeconds: 5 } },
  user: { rest: { limit: 4, windowSeconds: 4 }, graphql: { limit: 20, windowSeconds: 5 } },
});
const wide = parseRules({
  organization: { rest: { limit: 1_000 }, graphql: { limit: 10_000 } },
  user: { rest: { limit: 1_000 }, graphql: { limit: 10_000 } },
});

const policies: readonly RefusalPolicy[] = [
  waitReset({ of: "both", jitter: { least: 0, most: "2s" } }),
  waitReset({ of: "organization" }),
  retryAfter({ jitter: { least: 0, most: 500 } }),
  exponential({ first: 100, most: "10s", jitter: "full" }),
  fixed({ wait: 700, attempts: 3 }),
  none(),
];

describe("over any log", () => {
  property([arbitraryRows, fc.constantFrom(...policies), fc.boolean()])(
    "every call has one fate, and the numbers add up",
    async (rows, onRefused, independent) => {
      const reacted = await react(rows, tight, { onRefused, independent, seed: 5 });
      const { calls, admittedAtOnce, admittedLater, gaveUp, unfinished, attempts, refusals, slots, users } =
        reacted;
      expect(calls).toBe(rows.length);
      expect(admittedAtOnce + admittedLater + gaveUp + unfinished).toBe(calls);
      expect(attempts - refusals).toBe(admittedAtOnce + admittedLater);
      expect(slots.reduce((sum, slot) => sum + slot.calls, 0)).toBe(attempts);
      const sum = (member: "calls" | "refusals" | "gaveUp" | "unfinished") =>
        users.reduce((total, user) => total + user[member], 0);
      expect([sum("calls"), sum("refusals"), sum("gaveUp"), sum("unfinished")]).toEqual([
        calls,
        refusals,
        gaveUp,
        unfinished,
      ]);
    },
  );

  property([arbitraryRows, fc.boolean()])(
    "nothing moves where nothing is refused",
    async (rows, independent) => {
      const { reaction, slots } = await replay(logOf(rows), wide, {
        reaction: { onRefused: waitReset({ of: "both" }), independent },
      });
      expect(reaction).toMatchObject({ attempts: rows.length, refusals: 0, waitedMs: 0, endsLaterMs: 0 });
      expect(reaction?.slots).toEqual(slots);
    },
  );

  property([arbitraryRows])("independent callers that never retry are the plain replay", async (rows) => {
    // Instants without ties: of two calls at one instant the log alone knows which was first, and a query that ends
    // when another begins is settled before it in either case only if both are told in that order.
    const apart = rows.map((row, place) => ({
      ...row,
      atMs: row.atMs * 2 - noon + place * 7,
      durationMs: 0,
    }));
    const { reaction, totals } = await replay(logOf(apart), tight, {
      reaction: { onRefused: none(), independent: true },
    });
    expect(reaction).toMatchObject({
      attempts: totals.calls,
      refusedByOrganization: totals.refusedByOrganization,
      refusedByUser: totals.refusedByUser,
    });
  });

  property([arbitraryRows, fc.constantFrom(...policies), fc.nat(1000)])(
    "the same seed gives the same result",
    async (rows, onRefused, seed) => {
      const reaction = { onRefused, seed };
      expect(await react(rows, tight, reaction)).toEqual(await react(rows, tight, reaction));
    },
  );

  test("another seed gives other draws", async () => {
    const rows = calls(...Array.from({ length: 30 }, (_, place) => place * 100));
    const onRefused = waitReset({ of: "both", jitter: { least: 0, most: "30s" } });
    const waited = async (seed: number) => (await react(rows, twoAMinute, { onRefused, seed })).waitedMs;
    expect(await waited(1)).not.toBe(await waited(2));
  });

  test("a log without an end of its own drains within its span once more, an hour at least", async () => {
    // 100 calls at 2 a minute take 50 minutes; 200 take longer than the hour.
    const burst = (count: number) =>
      calls(...Array.from({ length: count }, () => 0)).map((row) => ({ ...row, durationMs: 0 }));
    const onRefused = waitReset({ of: "both" });
    expect(await react(burst(100), twoAMinute, { onRefused })).toMatchObject({ unfinished: 0 });
    const { unfinished, endsLaterMs } = await react(burst(200), twoAMinute, { onRefused });
    expect(unfinished).toBeGreaterThan(70);
    expect(endsLaterMs).toBeLessThanOrEqual(60 * minute);
  });
});
