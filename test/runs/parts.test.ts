import { mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { PlacedModule } from "../../src/load/user-module.ts";
import { placeResult } from "../../src/report/result-writer.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { acceptedBy } from "../../src/runs/accepted.ts";
import { progressText } from "../../src/runs/load-into.ts";
import { openPlace } from "../../src/runs/open-place.ts";
import { Pace } from "../../src/runs/pace.ts";
import { planTable } from "../../src/runs/plan-table.ts";
import { headerOf } from "../../src/runs/points-file.ts";
import { shellCommand } from "../../src/runs/run-place.ts";
import { dataOf, scenarioOf } from "../../src/runs/scenario-data.ts";
import { errorOf, received, sent } from "../../src/runs/sent-error.ts";
import { endedBy, type ThreadEnd } from "../../src/runs/thread-end.ts";
import { inTurns, Turns } from "../../src/runs/turns.ts";
import { defineScenario, fixed, none, poller, rest } from "../../src/scenario/index.ts";
import type { PlanFigure, PlanQuestion, PlanResult } from "../../src/summary/plan-result.ts";

describe("a pace", () => {
  test("is that of the last three seconds", () => {
    let nowMs = 1_000;
    const pace = new Pace(() => nowMs);
    const at = (ms: number, done: number | null, count: number) => {
      nowMs = ms;
      return pace.at(done, count);
    };
    expect(at(1_000, 0.1, 10)).toBeNull();
    expect(at(2_000, 0.1, 10)).toEqual({ perSecond: 10, leftMs: 9_000 });
    expect(at(3_000, 0.4, 40)).toEqual({ perSecond: 20, leftMs: expect.closeTo(3_000, 9) });
    // Files of 3 s ago count, and none before them.
    expect(at(5_000, 0.5, 50)).toEqual({
      perSecond: expect.closeTo(40 / 3, 9),
      leftMs: expect.closeTo(3_750, 9),
    });
    expect(at(8_000, 0.5, 50)).toBeNull();
    expect(at(8_500, 0.5, 60)).toBeNull();
  });
});

describe("a load's progress", () => {
  const told = (changes: object): string => {
    let nowMs = 0;
    const pace = new Pace(() => nowMs);
    const more = {
      elapsedMs: 30_000,
      durationMs: 60_000,
      refused: 0,
      tightest: null,
      lateMs: null,
      ...changes,
    };
    progressText({ ...more, calls: 0 }, pace);
    nowMs = 2_000;
    return progressText({ calls: 2_469, ...more }, pace);
  };
  const tightest = { org: "acme", user: "ann", scope: "rest", limit: 5_000, remaining: 1_200 } as const;

  test("is its time, its requests and their pace, and what is refused, tight or late", () => {
    expect(told({})).toBe("30 s of 1 min, 2,469 requests, 1,235/s, 0% refused");
    expect(told({ elapsedMs: 59_999 })).toBe("1 min of 1 min, 2,469 requests, 1,235/s, 0% refused");
    expect(told({ elapsedMs: 60_000 })).toBe("1 min ending, 2,469 requests, 1,235/s, 0% refused");
    expect(told({ refused: 823, tightest, lateMs: 1_500 })).toBe(
      "30 s of 1 min, 2,469 requests, 1,235/s, 33.3% refused, 1,200 of 5,000 left for acme/ann, REST, 1.5 s late",
    );
    expect(told({ lateMs: 0, calls: 0 })).toBe("30 s of 1 min, 0 requests, 0/s, 0 ms late");
    expect(progressText({ doing: "getting k6" }, new Pace(() => 0))).toBe("getting k6");
  });
});

test("a result without a folder of its own gets one by its name and the second in UTC", async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-open-")));
  const cwd = process.cwd();
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 2, 3, 4, 5, 678), toFake: ["Date"] });
  process.chdir(folder);
  try {
    const writer = await openPlace({ name: "herd" }, "run");
    await writer.write("a.txt", "a");
    await placeResult(writer);
    await writer.close();
    expect(await readdir("reports")).toEqual(["herd-20260102-030405"]);
  } finally {
    vi.useRealTimers();
    process.chdir(cwd);
    await rm(folder, { recursive: true, force: true });
  }
});

test("a turn is due each 50 ms; news between turns are passed over", async () => {
  let nowMs = 0;
  const turns = new Turns(() => nowMs);
  const due = (ms: number): boolean => {
    nowMs = ms;
    return turns.areDue;
  };
  expect([due(49), due(50)]).toEqual([false, true]);
  turns.took();
  expect([due(99), due(100)]).toEqual([false, true]);
  const told: number[] = [];
  vi.useFakeTimers({ toFake: ["Date"], now: 0 });
  try {
    const tell = inTurns(async (news: number) => {
      told.push(news);
    });
    expect(tell(1)).toBeUndefined();
    vi.setSystemTime(50);
    await tell(2);
    expect(tell(3)).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
  expect(told).toEqual([2]);
});

test.each([
  [["npx", "spillway", "a-b_c@%+=:,./1"], "npx spillway a-b_c@%+=:,./1"],
  [["x", undefined, "two words", ""], "x 'two words' ''"],
  [["it's", "$HOME", "a*"], "'it'\\''s' '$HOME' 'a*'"],
])("%j as a command: %s", (words, command) => {
  expect(shellCommand(words)).toBe(command);
});

test.each([
  [{}, {}],
  [{ overAdmission: "<5%" }, { accept: { overAdmission: 0.05 } }],
  [{ overAdmission: "<=0.1" }, { accept: { overAdmission: 0.1 } }],
  [{ overAdmission: "==0.2" }, { accept: { overAdmission: 0.2 } }],
  [{ overAdmission: ">1%" }, {}],
  [{ overAdmission: ">=1%" }, {}],
  [{ overAdmission: "a few" }, {}],
])("what %j accepts: %j", (expected, accepted) => {
  expect(acceptedBy(expected as Record<string, string>)).toEqual(accepted);
});

describe("an error between threads", () => {
  test("stays what it is, with its cause, its words and its stack", () => {
    const system = Object.assign(new Error("no"), {
      code: "EACCES",
      syscall: "open",
      path: "/x",
      errno: -13,
    });
    const coded = new SpillwayError("USAGE", "this cannot be used", {
      ...{ problems: [{ path: "a", got: "b", allowed: "c" }], hint: "do that", cause: system },
    });
    const error = received(JSON.parse(JSON.stringify(sent(coded)))) as SpillwayError;
    expect(error).toBeInstanceOf(SpillwayError);
    expect(error).toMatchObject({
      code: "USAGE",
      message: coded.message,
      hint: "do that",
      problems: coded.problems,
      stack: coded.stack,
    });
    expect(error.cause).toMatchObject({ message: "no", code: "EACCES", syscall: "open", path: "/x" });
    const plain = received(sent(new TypeError("odd\nand more")));
    expect([plain instanceof SpillwayError, plain.message, "code" in plain]).toEqual([
      false,
      "odd\nand more",
      false,
    ]);
    expect(sent(new SpillwayError("USAGE", "no hint", { problems: [] }))).toMatchObject({
      hint: undefined,
      cause: null,
      system: null,
    });
  });

  test("whatever was thrown is one", () => {
    expect(errorOf("x").message).toBe('"x" was thrown');
    const own = new RangeError("own");
    expect(errorOf(own)).toBe(own);
  });
});

describe("a thread that ended", () => {
  const placed = (path: string, more: object = {}): PlacedModule =>
    ({
      path,
      kind: { name: "adapter", invalid: "ADAPTER_INVALID", failed: "ADAPTER_FAILED" },
      isBuiltIn: false,
      ...more,
    }) as PlacedModule;
  const mine = placed("/home/me/limiter.js");
  const ended = (
    end: ThreadEnd,
    all: readonly PlacedModule[] = [mine],
    importing: PlacedModule | null = null,
  ) => {
    const error = endedBy(end, all, importing);
    return error instanceof SpillwayError
      ? [error.code, error.problems[0]?.got ?? error.message, error.hint]
      : error.message;
  };
  const uncaught = new TypeError("no limit");
  uncaught.stack = "TypeError: no limit\n    at node:internal";

  test.each<[string, ThreadEnd, boolean, unknown]>([
    ["idle", { kind: "idle" }, false, ["ADAPTER_FAILED", "a promise that never settles", undefined]],
    [
      "idle",
      { kind: "idle" },
      true,
      ["ADAPTER_INVALID", "an await at its top level that never ends", undefined],
    ],
    ["exit", { kind: "exit", code: "3", stack: "" }, false, ["ADAPTER_FAILED", "process.exit(3)", undefined]],
    [
      "uncaught",
      { kind: "uncaught", error: uncaught },
      false,
      ["ADAPTER_FAILED", "TypeError: no limit", undefined],
    ],
    [
      "late",
      { kind: "late", importMs: 1_500 },
      true,
      ["ADAPTER_INVALID", "no end of its loading within 1.5 s", expect.stringContaining("--import-timeout")],
    ],
    [
      "stopped",
      { kind: "stopped", isNative: false },
      false,
      [
        "INTERRUPTED",
        expect.stringContaining("limiter.js did not return within 2 s, and was ended"),
        undefined,
      ],
    ],
    [
      "stopped",
      { kind: "stopped", isNative: true },
      false,
      ["INTERRUPTED", expect.stringContaining("native, so the whole process ends"), undefined],
    ],
    [
      "stopped",
      { kind: "stopped", isNative: true },
      true,
      ["INTERRUPTED", expect.stringMatching(/^interrupted while .*limiter\.js was loaded$/), undefined],
    ],
  ])("%s: %#", (_, end, isImport, words) => {
    expect(ended(end, [mine], isImport ? mine : null)).toEqual(words);
  });

  test("names the work where no code of the user's ran, and our own failure as it is", () => {
    const own = placed("/lib/built-in.js", { isBuiltIn: true });
    expect(ended({ kind: "stopped", isNative: false }, [own])).toEqual([
      "INTERRUPTED",
      expect.stringContaining("the work did not return"),
      undefined,
    ]);
    expect(ended({ kind: "idle" }, [own])).toBe("a thread ended: idle");
    expect(endedBy({ kind: "uncaught", error: uncaught }, [own], null)).toBe(uncaught);
    expect(endedBy({ kind: "unstarted", error: uncaught }, [mine], null)).toBe(uncaught);
    const memory = Object.assign(new Error("heap"), { code: "ERR_WORKER_OUT_OF_MEMORY" });
    expect(ended({ kind: "uncaught", error: memory })).toEqual([
      "SYSTEM_REFUSED",
      "no more memory",
      undefined,
    ]);
  });
});

test("a scenario as data has all but its functions, which tell where they are", () => {
  const scenario = defineScenario({
    name: "own",
    duration: "1s",
    populations: {
      a: {
        clients: 1,
        behaviour: poller({ every: "1s", call: rest("/") }),
        onRefused: fixed({ wait: 1, unanswered: true }),
      },
      b: { clients: 1, behaviour: poller({ every: "1s", call: rest("/") }), onRefused: none() },
    },
  });
  const data = dataOf(scenario);
  expect(JSON.parse(JSON.stringify(data))).toEqual(data);
  expect(data.populations.map(({ onRefused }) => onRefused)).toEqual([
    { name: "fixed", unanswered: true },
    { name: "none" },
  ]);
  expect(data.populations[0]?.behaviour).toEqual({ name: "poller", calls: [rest("/")], inFlightMost: 1 });
  const again = scenarioOf(data);
  for (const act of [
    again.populations[0]?.behaviour.start,
    again.populations[0]?.behaviour.next,
    again.populations[0]?.onRefused.retryAt,
  ])
    expect(act as () => never).toThrow(
      new RangeError("the clients of own can run only in the thread that imported them"),
    );
});

describe("a plan as a table", () => {
  const figure = (mean: number, low: number | null = null): PlanFigure =>
    ({ figure: "refusedShare", mean, interval: low === null ? null : { low, high: 1 } }) as PlanFigure;
  const result = (more: Partial<PlanResult>): PlanResult =>
    ({ points: [], storm: null, comparison: null, question: { vary: [] }, ...more }) as unknown as PlanResult;

  test("of points, in the units of what is varied", () => {
    const vary = [
      { path: "network.latency", unit: "ms" },
      { path: "a.clients", unit: "count" },
    ];
    const points = [
      {
        values: [5, 10],
        replications: 8,
        held: 3,
        heldShare: { low: 0.1, high: 0.9 },
        state: "unclear",
        figures: [figure(0.5, 0.2)],
      },
      { values: [6, 10], replications: 8, held: null, heldShare: null, state: null, figures: [figure(0.5)] },
    ];
    expect(planTable(result({ question: { vary }, points } as unknown as Partial<PlanResult>))).toEqual({
      columns: [
        ...[
          "network.latency_ms",
          "a.clients",
          "replications",
          "held",
          "held_share_low",
          "held_share_high",
          "state",
        ],
        ...["refusedShare", "refusedShare_low", "refusedShare_high"],
      ],
      rows: [
        [5, 10, 8, 3, 0.1, 0.9, "unclear", 0.5, 0.2, 1],
        [6, 10, 8, null, null, null, null, 0.5, null, null],
      ],
    });
  });

  test.each([
    ["outage", "ms", "outage_ms"],
    ["burst", "count", "burst_calls"],
  ])("of triggers: %s", (trigger, unit, column) => {
    const one = (size: number, state: string) => ({
      ...{
        size,
        replications: 8,
        recovered: 7,
        recoveredShare: { low: 0.5, high: 0.99 },
        state,
        windowsToRecover: 1.5,
      },
    });
    const storm = { trigger, unit, triggers: [one(10, "holds"), one(20, "fails"), one(30, "unclear")] };
    const table = planTable(result({ storm } as unknown as Partial<PlanResult>));
    expect(table.columns).toEqual([
      ...[
        column,
        "replications",
        "recovered",
        "recovered_share_low",
        "recovered_share_high",
        "state",
        "windows_to_recover",
      ],
    ]);
    expect(table.rows.map((row) => [row[0], row[5]])).toEqual([
      [10, "recovers"],
      [20, "does not"],
      [30, "unclear"],
    ]);
    expect(table.rows[0]).toEqual([10, 8, 7, 0.5, 0.99, "recovers", 1.5]);
  });

  test("of alternatives, and of nothing", () => {
    const alternatives = [
      { population: "a", policy: "none", limits: "x2", replications: 8, figures: [figure(0.5, 0.2)] },
    ];
    expect(
      planTable(
        result({ comparison: { populations: ["a"], alternatives } } as unknown as Partial<PlanResult>),
      ),
    ).toEqual({
      columns: [
        "population",
        "policy",
        "limits",
        "replications",
        "refusedShare",
        "refusedShare_low",
        "refusedShare_high",
      ],
      rows: [["a", "none", "x2", 8, 0.5, 0.2, 1]],
    });
    expect(planTable(result({})).rows).toEqual([]);
  });

  test("its question's header has what must be the same", () => {
    const question = {
      ...{ scenario: "own", seed: 7, durationMs: 1_000, vary: [{ path: "a.clients", range: "1..2" }] },
      goals: [{ figure: "refused", bound: "<1" }],
    } as unknown as PlanQuestion;
    expect(
      headerOf(question, { spillway: "1", digest: "d", rules: null, storm: "burst", compare: true }),
    ).toEqual({
      ...{
        format: "spillway-plan-points",
        version: 1,
        spillway: "1",
        scenario: "own",
        digest: "d",
        seed: 7,
        durationMs: 1_000,
      },
      ...{ rules: null, vary: ["a.clients=1..2"], until: ["refused<1"], storm: "burst", compare: true },
    });
  });
});
