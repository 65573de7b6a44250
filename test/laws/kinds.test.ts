// Limiters of every algorithm: right ones are accused of nothing under the claims that they have unless told, and each
// wrong one is found by the law that speaks of its bug.
// @module-tag long
import { describe, expect, test } from "vitest";
import {
  type CheckReport,
  checkLaws,
  type KeyedAnswer,
  keyedLaws,
  keyedLimiter,
  type LimiterLawName,
  renderCounterexample,
} from "../../src/laws/index.ts";
import { type Algorithm, algorithms, lawsOf } from "../../src/rules/algorithms.ts";
import {
  countedLog,
  idle,
  leakyBucket,
  nothings,
  queue,
  reserving,
  roundedCounter,
  secondWindow,
  wholeGcra,
  wholeTokens,
} from "./careful-kinds.ts";
import { entry } from "./expectations.ts";
import {
  both,
  clearedTogether,
  concurrency,
  fixedWindow,
  gcra,
  griddedByKey,
  type KindOfLimiter,
  partedCounter,
  slidingCounter,
  slidingLog,
  tokenBucket,
} from "./kinds.ts";

const seed = 6;
const check = (name: string, kind: KindOfLimiter, runs: number): Promise<CheckReport> =>
  checkLaws(keyedLimiter({ name, ...kind }), { seed, runs });

/** One that leaves out where its windows lie, and shows nothing. */
const silent = (options: Parameters<typeof fixedWindow>[0]): KindOfLimiter => {
  const { anchor: _, ...kind } = fixedWindow(options);
  const create: KindOfLimiter["create"] = (settings) => {
    const { consume } = kind.create(settings);
    return { consume: async (...call) => ((await consume(...call)) as { allowed: boolean }).allowed };
  };
  return { ...kind, create };
};

/** The same, which shows less or more than it has left; in some answers, if told. */
function showing(kind: KindOfLimiter, shownOf: (left: number, allowed: boolean) => number): KindOfLimiter {
  const create: KindOfLimiter["create"] = (settings) => {
    const { consume, ...limiter } = kind.create(settings);
    return {
      ...limiter,
      consume: async (...call) => {
        const { current: _, ...answer } = (await consume(...call)) as KeyedAnswer;
        return { ...answer, remaining: shownOf(answer.remaining ?? 0, answer.allowed) };
      },
    };
  };
  return { ...kind, create };
}

const right: readonly [string, KindOfLimiter][] = [
  ["windows of the epoch", fixedWindow({ anchor: "epoch" })],
  ["windows from the first call", fixedWindow()],
  ["windows of the epoch that say and show nothing", silent({ anchor: "epoch" })],
  ["windows from the first call that say and show nothing", silent({})],
  ["windows that a call which can never fit opens", fixedWindow({ weighted: true })],
  ["windows that count refused calls", fixedWindow({ counted: true, weighted: true })],
  ["windows that end late", fixedWindow({ inclusive: true })],
  ["windows whose refusals all say to wait for a whole one", fixedWindow({ waitWindows: 1 })],
  ["windows that begin when the limiter is made", clearedTogether()],
  ["windows that say that they begin with the limiter", clearedTogether({ anchor: "start" })],
  ["windows of each key's own grid", griddedByKey()],
  ["a bucket of fractions", tokenBucket()],
  ["a bucket of fractions, weighted", tokenBucket({ weighted: true })],
  ["a bucket that is filled once a window", tokenBucket({ parts: 1 })],
  ["a bucket that is filled on the epoch's grid", tokenBucket({ parts: 2, grid: true })],
  ["a bucket in many steps", tokenBucket({ parts: 10, grid: true })],
  ["a bucket that reads whole seconds", tokenBucket({ seconds: true })],
  ["GCRA", gcra()],
  ["a log", slidingLog()],
  ["a log, weighted", slidingLog({ weighted: true })],
  ["a log that ends late", slidingLog({ inclusive: true })],
  ["a counter on the epoch's grid", slidingCounter()],
  ["a counter that compares before", slidingCounter({ before: true })],
  ["a counter from the first call", slidingCounter({ phase: "first" })],
  ["a counter of two parts", partedCounter(2)],
  ["a counter of ten parts", partedCounter(10)],
  ["places", concurrency()],
  ["places with leases", concurrency({ leased: true })],
  ["a bucket and a window in a row", both],
  ["windows of the epoch in seconds, rounded up", secondWindow("ceil", { anchor: "epoch" })],
  ["windows in seconds, rounded down", secondWindow("floor")],
  ["windows in seconds, rounded", secondWindow("round")],
  ["windows that open at whole seconds", secondWindow("ceil", { opensTo: "second" })],
  ["a bucket of whole tokens", wholeTokens("seconds")],
  ["a bucket of whole tokens, weighted", wholeTokens("ms", true)],
  ["a leaky bucket", leakyBucket("seconds")],
  ["GCRA in whole ms, rounded down", wholeGcra("floor", "ms")],
  ["GCRA in whole ms, rounded up, weighted", wholeGcra("ceil", "seconds", true)],
  ["GCRA that takes a turn for refused calls, too", reserving],
  ["a bucket that shows nothing, as null", nothings],
  ["windows of which an idle one is over now", idle],
  ["a log that keeps refused calls", countedLog("ms")],
  ["a log that keeps refused calls and ends late", countedLog("seconds", true)],
  ["a log that puts calls off", queue],
  ["a counter that rounds down", roundedCounter("floor", { weighted: true })],
  ["a counter that rounds up", roundedCounter("ceil")],
  ["a counter that rounds and counts refused calls", roundedCounter("round", { refused: "counted" })],
];

describe(`a right limiter, seed ${seed}`, () => {
  test.each(right)("%s is accused of nothing", async (name, kind) => {
    // Of the wrong ones below all but six show in 5 runs of their law.
    const report = await check(name, kind, 5);
    const text = report.laws.flatMap(renderCounterexample).join("\n");
    expect(text, text).toBe("");
    expect(report.ok).toBe(true);
    for (const law of ["isolated", "rate-bound"] as const)
      expect(entry(report, law).outcome).toBe("no-counterexample");
  });

  test("that counts refused calls is judged by no law of free ones", () => {
    const laws = keyedLaws({ algorithm: "sliding-log", refused: "counted" });
    expect(laws).not.toContain("give-back");
    expect(laws).toContain("honest-wait");
  });
});

const wrong: readonly [string, LimiterLawName, KindOfLimiter][] = [
  ["a window that admits one more", "rate-bound", fixedWindow({ extra: 1 })],
  [
    "a window of the epoch that admits one more, and shows nothing",
    "rate-bound",
    silent({ anchor: "epoch", extra: 1 }),
  ],
  [
    "a window from the limiter's start that admits one more",
    "refusal-justified",
    clearedTogether({ anchor: "start", extra: 1 }),
  ],
  [
    "windows from the limiter's start that are too long",
    "reset-agrees",
    clearedTogether({ anchor: "start", length: 1.1 }),
  ],
  ["windows that are said to begin with the limiter", "reset-agrees", { ...fixedWindow(), anchor: "start" }],
  ["a window that never ends once it is full", "honest-wait", fixedWindow({ never: true })],
  ["windows that lie beside the grid that they claim", "reset-agrees", { ...fixedWindow(), anchor: "epoch" }],
  ["a window whose refusals say a second too little", "honest-wait", fixedWindow({ short: true })],
  ["a window whose refusals tell ms for seconds", "honest-wait", fixedWindow({ waitWindows: 1000 })],
  ["windows of each key's own grid that admit one more", "rate-bound", griddedByKey(1)],
  ["a bucket that holds one more", "rate-bound", tokenBucket({ extra: 1 })],
  ["a bucket that refills too fast", "rate-bound", tokenBucket({ faster: 2 })],
  ["a bucket that refills a little too fast", "rate-bound", tokenBucket({ faster: 1.1 })],
  ["a counter that forgets its oldest part of six", "rate-bound", partedCounter(6, 1)],
  ["a bucket that refills too slowly", "refusal-justified", tokenBucket({ faster: 0.5 })],
  ["a bucket that holds one less", "refusal-justified", tokenBucket({ extra: -1 })],
  ["a bucket that charges refused calls", "give-back", tokenBucket({ chargesRefused: true })],
  ["a bucket that charges for looking", "status-free", tokenBucket({ peekCharges: true })],
  ["a bucket for everybody", "isolated", tokenBucket({ shared: true })],
  ["a bucket whose wait is a unit short", "honest-wait", tokenBucket({ hasty: 1 })],
  ["a bucket whose wait is rounded down", "honest-wait", tokenBucket({ floors: true })],
  ["GCRA with one more of burst", "rate-bound", gcra({ bursts: 1 })],
  ["GCRA that moves on for refused calls", "give-back", gcra({ refusedMoves: true })],
  ["a log that admits one more", "rate-bound", slidingLog({ extra: 1 })],
  ["a log that forgets too early", "rate-bound", slidingLog({ shorter: 0.8 })],
  ["a log that forgets too late", "refusal-justified", slidingLog({ shorter: 1.5 })],
  ["a log that keeps refused calls", "give-back", slidingLog({ logsRefused: true })],
  ["a log that forgets nothing", "recovers", slidingLog({ never: true })],
  ["a log whose reset is rounded down", "honest-wait", slidingLog({ floors: true })],
  ["a counter that admits one more", "rate-bound", slidingCounter({ extra: 1 })],
  ["a counter that forgets the window before", "rate-bound", slidingCounter({ forgets: true })],
  ["a counter that weighs the window before twice", "refusal-justified", slidingCounter({ times: 2 })],
  ["one place more", "rate-bound", concurrency({ extra: 1 })],
  ["places that are all given back at once", "rate-bound", concurrency({ releasesAll: true })],
  ["places that nobody gets back", "refusal-justified", concurrency({ releasesNone: true })],
  ["one place less", "refusal-justified", concurrency({ extra: -1 })],
  ["places that refused calls hold", "give-back", concurrency({ refusedHolds: true })],
  ["a bucket that shows one unit more", "remaining-agrees", showing(tokenBucket(), (left) => left + 1)],
  [
    "a bucket that shows two units less",
    "remaining-agrees",
    showing(tokenBucket(), (left) => Math.max(0, left - 2)),
  ],
  [
    "a bucket that shows less than nothing",
    "remaining-agrees",
    showing(tokenBucket(), (left, allowed) => (allowed ? left : -1)),
  ],
  [
    "a log that shows one call less",
    "remaining-agrees",
    showing(slidingLog(), (left) => Math.max(0, left - 1)),
  ],
  [
    "a log that has one left when it refuses",
    "remaining-agrees",
    showing(slidingLog(), (left, allowed) => (allowed ? left : 1)),
  ],
  [
    "a counter that shows one more than its limit",
    "remaining-agrees",
    showing(slidingCounter(), (left) => left + 2),
  ],
  ["places of which one more is shown", "remaining-agrees", showing(concurrency(), (left) => left + 1)],
  [
    "a window that shows less than nothing, and no count",
    "remaining-agrees",
    showing(fixedWindow(), (left, allowed) => (allowed ? left : -1)),
  ],
];

/** Seed that comes to the wrong ones in three fifths of the time that seed 6 takes. */
const wrongSeed = 2;

describe(`a wrong limiter, seed ${wrongSeed}`, () => {
  test.each(wrong)("%s breaks %s", async (name, law, kind) => {
    const limiter = keyedLimiter({ name, ...kind });
    const report = entry(await checkLaws(limiter, { seed: wrongSeed, laws: [law] }), law);
    expect(report.outcome).toBe("violated");
    const calls = report.counterexample?.history.filter(({ op }) => op.do === "call").length ?? 0;
    expect(calls).toBeLessThanOrEqual(16);
  });
});

describe("an algorithm", () => {
  const create = () => ({ consume: () => true });

  test.each(algorithms)(
    "%s claims no law that it does not promise, and is held to none",
    async (algorithm) => {
      const limiter = keyedLimiter({ name: "all", algorithm, create });
      for (const law of limiter.claims === "all" ? [] : limiter.claims)
        expect(lawsOf(algorithm)).toContain(law);
      const { laws } = await checkLaws({ ...limiter, claims: "all" }, { seed, runs: 1 });
      const checked = laws.filter(({ outcome }) => outcome !== "not-claimed").map(({ law }) => law);
      expect(checked).toEqual(lawsOf(algorithm));
    },
  );

  test.each([
    [undefined, "nothing"],
    ["window", '"window"'],
  ])("%j is refused, with the choices", (algorithm, got) => {
    const make = () => keyedLimiter({ name: "mine", algorithm: algorithm as Algorithm, create });
    expect(make).toThrow(
      `algorithm: got ${got}, allowed: one of "fixed-window", "token-bucket", "sliding-log", "sliding-counter", "concurrency", "unknown"`,
    );
  });

  test("refuses the claim of a law that it does not promise", () => {
    const make = () =>
      keyedLimiter({ name: "mine", algorithm: "token-bucket", claims: ["conserved"], create });
    expect(make).toThrow('claims[0]: got "conserved", no law of a token-bucket');
  });

  test("that a factory written by hand leaves out is refused before any law", async () => {
    const bare = {
      name: "mine",
      claims: "all" as const,
      create: () => ({ decide: () => ({ admitted: true }) }),
    };
    await expect(checkLaws(bare as never, { seed })).rejects.toMatchObject({
      code: "ADAPTER_INVALID",
      problems: [{ path: "algorithm", got: "nothing" }],
    });
  });
});

test.each([1, 2])("a counter of two parts may forget half a window at once, seed %i", async (seedOf) => {
  const counter = keyedLimiter({ name: "two parts", ...partedCounter(2) });
  const rules = { user: { rest: { limit: 20, windowSeconds: 1 } } };
  const report = await checkLaws(counter, { seed: seedOf, runs: 60, laws: ["rate-bound"], rules });
  expect(report.laws).toMatchObject([{ law: "rate-bound", outcome: "no-counterexample" }]);
});
