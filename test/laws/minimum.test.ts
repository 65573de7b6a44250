// The runs of one law, and a counterexample's last look: every operation goes without which the law is broken as well,
// the last one, too.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LimiterFailure } from "../../src/engine/limiter-failure.ts";
import type { History } from "../../src/laws/history.ts";
import type { Judgement, RulesKind } from "../../src/laws/law.ts";
import { PlayFailure } from "../../src/laws/player.ts";
import type { Counterexample } from "../../src/laws/report.ts";
import type { Script } from "../../src/laws/script.ts";
import { Failed, LawBroken, minimal, Trials } from "../../src/laws/trials.ts";

/** A counterexample in which the operation at `at` breaks the law, by default the last one. */
const found = (ops: readonly number[], at = ops.length - 1): Counterexample =>
  ({ script: { ops }, history: ops.map((op) => ({ op })), violation: { at } }) as unknown as Counterexample;
const opsOf = ({ script }: { readonly script: Script }): readonly number[] =>
  script.ops as unknown as readonly number[];

/** Breaks the law where all that it needs is there; counts how often it is asked. */
function needing(...needed: readonly number[]) {
  const asked: (readonly number[])[] = [];
  const broken = async (script: Script): Promise<Counterexample | null> => {
    const ops = opsOf({ script });
    asked.push(ops);
    return needed.every((one) => ops.includes(one)) ? found(ops) : null;
  };
  return { asked, broken };
}

test.each([
  [[1, 2, 3, 4], [2], [2]],
  [
    [1, 2, 3, 4],
    [1, 4],
    [1, 4],
  ],
  [
    [1, 2, 3, 4],
    [1, 2, 3],
    [1, 2, 3],
  ],
  [[1, 2, 3, 4], [], []],
])("of %j, the law is broken by %j: %j is left", async (ops, needed, left) => {
  expect(opsOf(await minimal(found(ops), needing(...needed).broken))).toEqual(left);
});

test("each operation is left out once, the last one first", async () => {
  const { asked, broken } = needing(1, 2, 3);
  await minimal(found([1, 2, 3]), broken);
  expect(asked).toEqual([
    [1, 2],
    [1, 3],
    [2, 3],
  ]);
});

describe("a long script", () => {
  const ops = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

  test("loses at once what follows the accused operation", async () => {
    const { asked, broken } = needing(3);
    expect(opsOf(await minimal(found(ops(230), 3), broken))).toEqual([3]);
    expect(asked[0]).toEqual([0, 1, 2, 3]);
  });

  test.each([
    [230, [0]],
    [230, [17, 115, 229]],
    [61, [60]],
    [1_000, [0, 999]],
  ])("of %d loses its parts, and then each operation, but for %j", async (count, needed) => {
    const { asked, broken } = needing(...needed);
    expect(opsOf(await minimal(found(ops(count)), broken))).toEqual(needed);
    expect(asked.length).toBeLessThan(150);
  });

  // Each try counts as many operations as the script has, and all tries 15,000 at most.
  test.each([
    [230, 65],
    [150, 100],
  ])("of %d that needs all of them is left as it is after %d tries", async (count, tries) => {
    const all = ops(count);
    const { asked, broken } = needing(...all);
    expect(opsOf(await minimal(found(all), broken))).toEqual(all);
    expect(asked).toHaveLength(tries);
  });
});

test("calls that a law played in the script's place become the script, and lose their parts", async () => {
  /** Judges a script, and if that lacks 12 or 13, others in its place. */
  const judge = async (script: Script): Promise<Judgement<RulesKind>> => {
    const ops = opsOf({ script });
    const isOwn = ops.includes(12) && ops.includes(13);
    const { history, violation } = isOwn ? found(ops) : found([21, 22, 23, 24], 2);
    return { judged: 1, history, violation };
  };
  const law = { note: () => {}, isVoid: () => false, judge };
  const trials = new Trials<RulesKind>(law, undefined, () => {});
  const script = { ops: [1, 2] } as unknown as Script;
  const first = { ...found([11, 12, 13, 14], 2), script };
  expect(opsOf(await trials.smallest(first))).toEqual([12, 13]);
});

describe("the runs of one law", () => {
  type Judged = Judgement<RulesKind>;
  const scriptOf = (name: string, ...ops: readonly number[]): Script => ({ name, ops }) as unknown as Script;
  const kept: Judged = { judged: 2, history: [], violation: null } as unknown as Judged;
  const broken = { ...kept, judged: 3, violation: { at: 0 } } as unknown as Judged;
  const missing = (name: string): LimiterFailure =>
    new LimiterFailure("decide(1)", "nothing", "an answer", Object.assign(new Error("late"), { name }));

  /** Runs of scripts that are judged in this order, and what each run ends with. */
  function trialsOf(outcomes: readonly (Judged | Error)[], more: object = {}, signal?: { aborted: boolean }) {
    const told: unknown[] = [];
    let next = 0;
    const trials = new Trials<RulesKind>(
      {
        note: (script, voids, changes) => {
          voids(`void ${(script as unknown as { name: string }).name}`);
          changes("changed");
        },
        isVoid: (script) => (script as unknown as { name: string }).name === "void",
        judge: async () => {
          const outcome = outcomes[next++] ?? kept;
          if (outcome instanceof Error) throw outcome;
          return outcome;
        },
        ...more,
      },
      signal,
      (run, shrinking) => void told.push([run, shrinking]),
    );
    const run = (name = "a", ...ops: readonly number[]): Promise<unknown> =>
      trials.run(scriptOf(name, ...ops)).then(
        () => "fine",
        (error: unknown) =>
          error instanceof LawBroken
            ? ["broken", (error.found as { script: { name: string } }).script.name]
            : error instanceof Failed
              ? ["failed", error.failure]
              : fc.PreconditionFailure.isFailure(error as Error)
                ? "left out"
                : error,
      );
    return { trials, run, told };
  }

  test("count what was judged and why scripts say nothing, until one fails", async () => {
    const { trials, run, told } = trialsOf([kept, kept, broken]);
    expect([await run(), await run("void"), await run("b"), await run("c"), await run("d")]).toEqual([
      ...["fine", "left out", "fine", ["broken", "c"], "fine"],
    ]);
    expect(told).toEqual([
      [0, false],
      [1, false],
      [1, false],
      [2, false],
      [3, true],
    ]);
    expect([trials.judged, trials.evidence]).toEqual([7, undefined]);
    expect(trials.voidRuns).toEqual({ "void a": 1, "void void": 1, "void b": 1, "void c": 1 });
    expect(trials.changedRuns).toEqual({ changed: 4 });
    trials.begin();
    await run("a");
    expect([trials.judged, trials.voidRuns["void a"], told.at(-1)]).toEqual([9, 2, [3, false]]);
  });

  test("add up evidence where something was judged", async () => {
    const evidenceOf = () => ({ readings: 1, refusals: 2, windows: 3, resets: 4 });
    const { trials, run } = trialsOf([kept, { ...kept, judged: 0 }, kept], { evidenceOf });
    expect(trials.evidence).toEqual({ readings: 0, refusals: 0, windows: 0, resets: 0 });
    for (let time = 0; time < 3; time++) await run();
    expect(trials.evidence).toEqual({ readings: 2, refusals: 4, windows: 6, resets: 8 });
  });

  test("are left out once they are aborted", async () => {
    const signal = { aborted: false };
    const { run, told } = trialsOf([], {}, signal);
    await run();
    signal.aborted = true;
    expect([await run(), told]).toEqual([
      "left out",
      [
        [0, false],
        [1, false],
      ],
    ]);
  });

  test("keep a counterexample of its kind while it is made smaller", async () => {
    const failure = missing("Error");
    const first = trialsOf([broken, failure, broken]);
    expect([await first.run("a"), await first.run("b"), await first.run("c")]).toEqual([
      ...[["broken", "a"], "fine", ["broken", "c"]],
    ]);
    const other = trialsOf([failure, broken, failure]);
    expect(await other.run("a", 1, 2)).toMatchObject([
      "failed",
      { got: "nothing", script: { name: "a", ops: [] } },
    ]);
    expect([await other.run("b"), other.trials.judged]).toEqual(["fine", 0]);
    expect(await other.run("c")).toMatchObject(["failed", { call: "decide(1)", allowed: "an answer" }]);
  });

  test("tell of a failure the operations that were played, and the one that failed", async () => {
    const op = { do: "sweep", atMs: 2 } as const;
    const played = [{ op: { do: "sweep", atMs: 1 } }] as unknown as History;
    const { run } = trialsOf([new PlayFailure(missing("Error"), played, op)]);
    expect(await run("a", 7, 8, 9)).toMatchObject([
      "failed",
      { history: played, script: { ops: [{ atMs: 1 }, { atMs: 2 }] } },
    ]);
  });

  test("end where the limiter may not be asked again, or gave no answer thirty times", async () => {
    const ended = trialsOf([missing("AbortError")]);
    expect(await ended.run()).toBe("left out");
    const hung = trialsOf(new Array(31).fill(missing("TimeoutError")));
    for (let time = 0; time < 30; time++) expect(await hung.run()).toMatchObject(["failed", {}]);
    expect([await hung.run(), hung.trials.hung]).toEqual(["left out", 31]);
    expect(await trialsOf([new TypeError("mine")]).run()).toMatchObject({ message: "mine" });
  });
});
