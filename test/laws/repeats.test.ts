// Limiters that draw random numbers: their findings are told as not repeatable, and a bug that repeats is still accused.
// @module-tag long
import { describe, expect, test } from "vitest";
import { describeCheck } from "../../src/cli/check-text.ts";
import { uncolored } from "../../src/cli/colors.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { seededRandom } from "../../src/faults/random.ts";
import {
  checkInterleavings,
  checkLaws,
  describeLimiter,
  type KeyedAnswer,
  keyedLimiter,
  type LimiterFactory,
  type LimiterLawName,
  parseKnown,
  renderCounterexample,
  renderInterleaving,
} from "../../src/laws/index.ts";
import { only } from "./expectations.ts";

interface Kind {
  /** True if answers show their window. */
  readonly shows?: boolean;
  /** True if a key's windows follow one another from a random time on; else each opens with its first call. */
  readonly isRandom?: boolean;
  /** Number of calls above the limit that are admitted. */
  readonly extra?: number;
  /** Greatest number of ms by which a told wait is longer than needed. */
  readonly jitterMs?: number;
  readonly claims?: readonly LimiterLawName[];
}

/** Makes limiters of fixed windows. As in life, each goes on in the random numbers where the last one stopped. */
function drawing({ shows = true, isRandom = true, extra = 0, jitterMs = 0, claims }: Kind) {
  const random = seededRandom(11);
  return keyedLimiter({
    name: "by chance",
    algorithm: "fixed-window",
    anchor: "first-request",
    ...(claims && { claims }),
    create({ limit, windowMs }) {
      const windows = new Map<string, { startMs: number; count: number }>();
      return {
        consume(key, _cost, nowMs): boolean | KeyedAnswer {
          const known = windows.get(key) ?? { startMs: nowMs - Math.floor(random() * windowMs), count: 0 };
          const passed = Math.floor((nowMs - known.startMs) / windowMs);
          const isFirst = !windows.has(key) || passed > 0;
          const opensMs = isRandom ? known.startMs + passed * windowMs : nowMs;
          const from = isFirst ? opensMs : known.startMs;
          const count = isFirst ? 0 : known.count;
          const allowed = count < limit + extra;
          const current = count + (allowed ? 1 : 0);
          windows.set(key, { startMs: from, count: current });
          if (!shows) return allowed;
          const resetAt = from + windowMs;
          const waitMs = resetAt - nowMs + Math.ceil(random() * jitterMs);
          const remaining = Math.max(0, limit - current);
          return { allowed, limit, current, remaining, resetAt, retryAfterMs: waitMs };
        },
      };
    },
  });
}

const steady = { isRandom: false };

describe("windows that begin at random", () => {
  test.each([
    ["that answers show", true, 1],
    ["that no answer shows", false, 2],
  ])("are accused of nothing: windows %s", async (_, shows, seed) => {
    const { ok, laws } = await checkLaws(drawing({ shows }), { seed, runs: 30 });
    const found = laws.filter(({ counterexample }) => counterexample !== undefined);
    expect(found.length).toBeGreaterThan(3);
    expect(new Set(found.map(({ outcome }) => outcome))).toEqual(new Set(["not-repeatable"]));
    expect(ok).toBe(false);
  });

  test("are told with the plays that broke the law, and without a line that would not repeat it", async () => {
    const report = only(await checkLaws(drawing({}), { seed: 1, laws: ["all-or-nothing"] }));
    const { plays } = report;
    expect(plays?.all).toBe(10);
    expect(plays?.broken).toBeGreaterThanOrEqual(1);
    const lines = renderCounterexample(report);
    expect(lines[0]).toBe(
      `all-or-nothing cannot be judged: ${plays?.broken} of 10 plays of these calls broke the law, each on a fresh limiter`,
    );
    expect(lines.at(-1)).toMatch(/^note: the limiter depends on more than its calls and their times\. /);
    expect(lines.join("\n")).not.toContain("repeat: ");
  });

  test("are known by their law alone, and are no entry of a list", async () => {
    const options = { seed: 1, laws: ["all-or-nothing"] as const };
    const report = await checkLaws(drawing({}), options);
    expect(parseKnown(report)).toEqual([]);
    const listed = await checkLaws(drawing({}), { ...options, known: [{ law: "all-or-nothing" }] });
    expect(only(listed)).toMatchObject({ outcome: "known" });
    expect(only(listed).plays).toBeUndefined();
    expect(listed.ok).toBe(true);
  });

  test("give overlapping calls no order to be held to", async () => {
    const report = await checkInterleavings(drawing({ shows: false }), { seed: 1 });
    expect(report).toMatchObject({ outcome: "not-repeatable", ok: false });
    expect(renderInterleaving(report)[0]).toMatch(/^overlapping calls cannot be judged: /);
    expect(renderInterleaving({ ...report, repeat: "again" }).join("\n")).not.toContain("again");
  });
});

describe("what repeats", () => {
  test("is violated, though told waits are drawn", async () => {
    const claims: LimiterLawName[] = ["bounded", "honest-wait"];
    const { laws } = await checkLaws(drawing({ ...steady, jitterMs: 50, extra: 1, claims }), { seed: 1 });
    const outcomes = laws.flatMap(({ law, outcome }) => (claims.includes(law) ? [[law, outcome]] : []));
    expect(outcomes).toEqual([
      ["bounded", "violated"],
      ["honest-wait", "no-counterexample"],
    ]);
  });

  test("is violated by each play, of whatever answer", async () => {
    const report = only(await checkLaws(drawing({ ...steady, extra: 1 }), { seed: 1, laws: ["bounded"] }));
    expect(report.outcome).toBe("violated");
    expect(report.plays).toBeUndefined();
  });

  test("is not a refusal by chance", async () => {
    const rare = drawing(steady);
    const random = seededRandom(3);
    const forgets: LimiterFactory = {
      ...rare,
      async create(rules) {
        const limiter = await rare.create(rules);
        let calls = 0;
        return {
          ...limiter,
          // One call in twenty is refused by chance, but not the first ones.
          async decide(call, nowMs) {
            calls += 1;
            if (calls > 3 && random() < 0.05) return { admitted: false, refusedBy: "user" };
            return limiter.decide(call, nowMs);
          },
        };
      },
    };
    const report = only(await checkLaws(forgets, { seed: 1, laws: ["refusal-justified"] }));
    expect(report.outcome).toBe("not-repeatable");
    expect(report.plays?.broken).toBeLessThan(10);
  });
});

type Body = () => Promise<void>;

test.each([true, false])("a case of a runner fails or, if not strict, skips: %s", async (strict) => {
  const bodies: (Body & ((context: object) => Promise<void>))[] = [];
  const skipped: string[] = [];
  describeLimiter((_name, body) => bodies.push(body), drawing({}), {
    seed: 1,
    laws: ["all-or-nothing"],
    strict,
  });
  const run = async (): Promise<void> => bodies[0]?.({ skip: (why: string) => skipped.push(why) });
  if (strict) await expect(run()).rejects.toThrow("all-or-nothing cannot be judged: ");
  else await run();
  expect(skipped).toEqual(strict ? [] : [expect.stringContaining("all-or-nothing cannot be judged: ")]);
});

test("the terminal tells a law that was not judged, and that none was violated", async () => {
  const report = await checkLaws(drawing({}), { seed: 1, laws: ["all-or-nothing", "isolated"] });
  const lines: string[] = [];
  const terminal = { say: (...more: string[]) => lines.push(...more.map(uncolored)) };
  await describeCheck(report, 0, { adapter: "mine.ts" }, terminal as unknown as Terminal);
  expect(lines[1]).toMatch(
    /^ {2}all-or-nothing +not repeatable in run \d+: broken in \d+ of 10 plays of the same calls, so not judged$/,
  );
  expect(lines.filter((line) => line.includes("cannot be judged"))).toHaveLength(1);
  expect(lines.at(-1)).toMatch(/^no law violated, and 2 not judged, as answers do not repeat: 2 laws, /);
});
