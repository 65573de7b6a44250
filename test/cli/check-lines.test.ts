// A check's findings on the terminal: a line a law with its outcome, and what the rules did to it.
import { describe, expect, test } from "vitest";
import { requireAnswers } from "../../src/cli/check.ts";
import { describeCheck, describeInterleavings } from "../../src/cli/check-text.ts";
import { uncolored } from "../../src/cli/colors.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { checkLaws } from "../../src/laws/check.ts";
import { limiterLawNames } from "../../src/rules/laws.ts";
import { brokenLimiters } from "../laws/broken-limiters.ts";
import { tinyFactory } from "../laws/tiny-limiter.ts";
import { recorded } from "../support/recorded.ts";

type Said = (terminal: Terminal) => Promise<void>;

async function linesOf(said: Said): Promise<string[]> {
  const lines: string[] = [];
  await said({ say: (...more: string[]) => lines.push(...more.map(uncolored)) } as unknown as Terminal);
  return lines;
}

const widest = Math.max(...limiterLawNames.map((law) => law.length));
const noted = { voidRuns: {}, changedRuns: {}, known: 0, judged: 0, runs: 0 };

async function checked(laws: object[], args: object = {}, report: object = {}): Promise<string[]> {
  const all = laws.map((law) => ({ law: "bounded", ...noted, ...law }));
  const whole = { limiter: "mine", runs: 200, seed: 7, laws: all, known: [], ok: true, ...report };
  return linesOf((terminal) => describeCheck(whole as never, 1.25, args, terminal));
}

describe("a law", () => {
  test.each([
    [
      { outcome: "no-counterexample", runs: 200, judged: 1 },
      "no counterexample in 200 runs, 1 answer judged",
    ],
    [{ outcome: "known", runs: 2, known: 3 }, "known: 3, and no other counterexample in 2 runs"],
    [{ outcome: "skipped" }, "skipped: void under these rules"],
    [{ outcome: "skipped", reason: "no window" }, "skipped: no window"],
    [{ outcome: "not-claimed" }, "not claimed by this limiter"],
    [{ outcome: "not-observed", runs: 1 }, "not observed: nothing in 1 run that it could judge"],
    [{ outcome: "interrupted", runs: 4, judged: 9 }, "interrupted after 4 runs, 9 answers judged"],
    [{ outcome: "not-run" }, "not run"],
    [{ outcome: "violated", runs: 3 }, "violated in run 3"],
    [{ outcome: "violated", runs: 3, known: 1 }, "violated in run 3, beside known counterexamples: 1"],
    [
      { outcome: "not-repeatable", runs: 4, plays: { all: 8, broken: 1 } },
      "not repeatable in run 4: broken in 1 of 8 plays of the same calls, so not judged",
    ],
    [{ outcome: "failed", runs: 3 }, "failed in run 3: the limiter, not the law"],
  ])("%j", async (law, words) => {
    const [, line] = await checked([law]);
    expect(line).toBe(`  ${"bounded".padEnd(widest)}  ${words}`);
  });

  test("of which nothing was judged does not pass for one that is kept", async () => {
    const lines = await checked([{ outcome: "not-claimed" }], {}, { ok: false });
    expect(lines.at(-1)).toBe("nothing was judged: 0 laws, 0 runs, 1.3 s");
  });

  test("that a known bug still breaks has the bug's note", async () => {
    const known = [{ law: "bounded", note: "issue 7", state: "broken" }];
    const lines = await checked([{ outcome: "known", runs: 2, known: 3 }], {}, { known });
    expect(lines).toContain("note a known counterexample still breaks bounded: issue 7");
  });

  test("tells on what it rests, and in the first line what all of them lack", async () => {
    const evidence = { readings: 30, refusals: 0, windows: 2, resets: 1 };
    const law = { outcome: "no-counterexample", runs: 1, judged: 30, evidence };
    const [first, line] = await checked([law]);
    expect(first).toBe(
      "mine under rules of all kinds, seed 7, 200 runs a law, on little evidence: no refusal was seen, so load more",
    );
    expect(line).toContain("30 answers judged: 30 readings, 2 windows, 1 reset");
    const [broken] = await checked([law], {}, { ok: false });
    expect(broken).toBe("mine under rules of all kinds, seed 7, 200 runs a law");
  });

  test("says under which switches it was void, or stood in another form", async () => {
    const law = { outcome: "no-counterexample", voidRuns: { x: 1, y: 2 }, changedRuns: { z: 3 } };
    const notes = async (args: object) =>
      (await checked([law], args)).slice(2, -2).map((line) => line.trim());
    expect(await notes({})).toEqual(["void for x, 1 time", "void for y, 2 times"]);
    expect(await notes({ rules: "r.json" })).toEqual(["void for x", "void for y", "as z"]);
  });
});

describe("a check", () => {
  test("names the rules or the policy, and the path of a repeated run", async () => {
    const first = async (args: object) => (await checked([{ outcome: "not-run" }], args))[0];
    expect(await first({ rules: "r" })).toBe("mine under the rules r, seed 7, 200 runs a law");
    expect(await first({ rules: "r", byPolicy: true })).toBe(
      "mine under the policy r, seed 7, 200 runs a law",
    );
    expect(await first({ path: "0:1" })).toBe("mine under rules of all kinds, seed 7, path 0:1");
  });

  test("counts in its last line the laws that were tried, and all runs", async () => {
    const laws = [
      { outcome: "no-counterexample", runs: 200 },
      { outcome: "interrupted", runs: 50 },
      { outcome: "not-run" },
    ];
    expect((await checked(laws)).at(-1)).toBe("no law violated: 2 laws, 250 runs, 1.3 s");
    expect((await checked(laws, {}, { interrupted: true })).at(-1)).toBe(
      "no law violated, interrupted: 2 laws, 250 runs, 1.3 s",
    );
  });

  test("says in its last line what it found, by its colour", async () => {
    const last = async (outcomes: string[], args: object = {}, report: object = {}) => {
      const { terminal, tagged } = recorded();
      const laws = outcomes.map((outcome) => ({ law: "bounded", ...noted, outcome, runs: 2 }));
      const whole = { limiter: "mine", runs: 2, seed: 7, laws, known: [], ok: true, ...report };
      await describeCheck(whole as never, 61.04, args, terminal);
      return tagged.slice(1 + laws.length);
    };
    const held = "no-counterexample";
    expect(await last([held])).toEqual(["", "<green>no law violated</>: 1 law, 2 runs, 61.0 s"]);
    expect(await last([held, "not-observed"], { interleavings: true })).toEqual([
      "",
      "<green>no law violated by one call after the other</>: 1 law and 1 that judged nothing, 4 runs, 61.0 s",
    ]);
    expect(await last(["not-repeatable", "not-repeatable"], {}, { interrupted: true })).toEqual([
      "",
      "",
      "<yellow>no law violated, and 2 not judged, as answers do not repeat</>, <yellow>interrupted</>: 2 laws, 4 runs, 61.0 s",
    ]);
    expect(await last(["failed", "not-repeatable"])).toEqual([
      ...["", "", ""],
      "<red>the limiter failed</>: 2 laws, 4 runs, 61.0 s",
    ]);
    expect(await last(["violated", "violated", "failed", "failed"])).toEqual([
      ...["", "", "", ""],
      "<red>2 laws violated</>: 4 laws, 8 runs, 61.0 s",
    ]);
    const known = [{ law: "bounded", state: "mended" }];
    expect(await last([held], {}, { known })).toEqual([
      "",
      "<cyan>note</> a known counterexample to bounded breaks it no longer: take it off the list",
      "",
      "<green>no law violated</>: 1 law, 2 runs, 61.0 s",
    ]);
  });

  test("advises to name the rules where some of all kinds were drawn, unless the limiter has one kind", async () => {
    const advised = async (counterexample: object | undefined, args: object) => {
      const law = { outcome: "violated", runs: 1, ...(counterexample && { counterexample }) };
      const lines = await checked([law], args).catch(() => null);
      return lines?.some((line) => line.startsWith("note Rules of all kinds were drawn.")) ?? null;
    };
    expect(await advised(undefined, { adapter: "a.ts" })).toBe(true);
    expect(await advised(undefined, {})).toBe(false);
    expect(await advised(undefined, { adapter: "a.ts", rules: "r" })).toBe(false);
  });

  test("says which known counterexamples break no longer", async () => {
    const known = [
      { law: "bounded", state: "mended", note: "issue 4" },
      { law: "monotone", state: "met" },
    ];
    const lines = await checked([{ outcome: "not-run" }], {}, { known });
    expect(lines.filter((line) => line.startsWith("note"))).toEqual([
      "note a known counterexample to bounded breaks it no longer (issue 4): take it off the list",
    ]);
  });

  test("says whose the known counterexamples are, and which matched nothing in a law that was checked", async () => {
    const known = ["bounded", "monotone", "recovers"].map((law) => ({
      law,
      state: "unseen",
      limiter: "old",
    }));
    const laws = [{ outcome: "no-counterexample" }, { law: "monotone", outcome: "interrupted" }];
    const lines = await checked(laws, {}, { known });
    expect(lines.filter((line) => line.startsWith("note"))).toEqual([
      'note known counterexamples were found in "old": this limiter is "mine"',
      "note a known counterexample to bounded matched nothing: no run broke this law",
    ]);
  });
});

describe("a law that does not hold", () => {
  async function reportOf(decide?: () => never) {
    const Kind = brokenLimiters.find(({ fault }) => fault === "one-extra")?.Kind;
    const factory = tinyFactory("mine", Kind);
    const options = { seed: 2, laws: ["bounded"], runs: 30, timers: { setTimeout, clearTimeout } } as const;
    return checkLaws(decide === undefined ? factory : { ...factory, create: () => ({ decide }) }, options);
  }
  async function found(decide?: () => never): Promise<string[]> {
    const report = await reportOf(decide);
    return linesOf((terminal) => describeCheck(report, 0, { adapter: "mine.ts" }, terminal));
  }

  test("by overlapping calls is drawn below its line", async () => {
    const [{ counterexample } = {}] = (await reportOf()).laws.filter(({ outcome }) => outcome === "violated");
    const failure = {
      ...counterexample,
      call: "decide()",
      got: "nothing",
      allowed: "an answer",
      hung: false,
    };
    const report = { outcome: "failed", runs: 2, overlapped: 0, failure } as never;
    const lines = await linesOf((terminal) => describeInterleavings(report, false, terminal));
    expect(lines.slice(0, 4)).toEqual([
      "overlapping calls: failed in run 2: the limiter, not a law",
      "",
      "the limiter failed in a check of overlapping calls",
      "",
    ]);
    expect(lines[4]).toMatch(/^rule: /);
  });

  test("is violated, with its counterexample and what rules would change", async () => {
    const lines = await found();
    expect(lines[1]).toMatch(/^ {2}bounded +violated in run \d+$/);
    expect(lines).toContainEqual(expect.stringMatching(/^bounded is violated: /));
    expect(lines.join("\n")).toContain("note Rules of all kinds were drawn.");
    expect(lines.at(-1)).toMatch(/^1 law violated: 1 law, \d+ runs?, 0\.0 s$/);
  });

  test("failed where the limiter gave no answer: the call is numbered, and nothing was interrupted", async () => {
    const { laws, ...report } = await reportOf(() => {
      throw Object.assign(new Error("no answer within 5 s"), { name: "TimeoutError" });
    });
    const lines = await linesOf((terminal) => describeCheck({ ...report, laws }, 0, {}, terminal));
    expect(lines[1]).toMatch(/^ {2}bounded +failed in run 1: the limiter gave no answer$/);
    expect(lines.join("\n")).toContain("got      TimeoutError: no answer within 5 s");
    expect(lines.at(-1)).toBe("the limiter did not answer call 1: 1 law, 1 run, 0.0 s");
    expect(() => requireAnswers({ ...report, laws })).toThrow(
      expect.objectContaining({
        code: "ADAPTER_SILENT",
        message: expect.stringMatching(/^the limiter "mine" did not answer call 1$/m),
        hint: expect.stringMatching(/^within a call the script.s clock stands still, .* repeats it$/),
      }),
    );
  });

  test("failed where the limiter did", async () => {
    const lines = await found(() => {
      throw new Error("no store");
    });
    expect(lines[1]).toMatch(/^ {2}bounded +failed in run \d+: the limiter, not the law$/);
    expect(lines.join("\n")).toContain("no store");
    expect(lines.join("\n")).not.toContain("note Rules of all kinds were drawn.");
    expect(lines.at(-1)).toMatch(/^the limiter failed: 1 law, \d+ runs?, 0\.0 s$/);
  });
});

test.each([
  [
    { outcome: "no-counterexample", runs: 30, overlapped: 12 },
    "no counterexample in 30 runs, 12 overlaps explained",
  ],
  [{ outcome: "no-counterexample", runs: 30 }, "none in 30 runs: the limiter decides each call at once"],
  [{ outcome: "not-claimed" }, "no law is claimed by which orders are told apart"],
  [{ outcome: "interrupted", runs: 1 }, "interrupted after 1 run"],
  [{ outcome: "violated", runs: 2 }, "violated in run 2: some calls are explained by no order"],
  [{ outcome: "failed", runs: 2 }, "failed in run 2: the limiter, not a law"],
  [
    { outcome: "not-repeatable", runs: 2 },
    "not repeatable in run 2: the same calls are answered otherwise when played again",
  ],
])("overlapping calls: %j", async (report, words) => {
  for (const byPolicy of [false, true]) {
    const whole = { runs: 0, overlapped: 0, ...report } as never;
    expect(await linesOf((terminal) => describeInterleavings(whole, byPolicy, terminal))).toEqual([
      `overlapping calls: ${words}`,
    ]);
  }
});
