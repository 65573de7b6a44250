// A plan and a run on the terminal: the answer first, then small tables that are pictures, too.
import { describe, expect, test } from "vitest";
import { uncolored } from "../../src/cli/colors.ts";
import { sayPlan } from "../../src/cli/say-plan.ts";
import { sayMeasured } from "../../src/cli/say-run.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { saidBy } from "../support/recorded.ts";

function linesOf(say: (terminal: Terminal) => void): string[] {
  const lines: string[] = [];
  say({ say: (...more: string[]) => lines.push(...more.map(uncolored)) } as unknown as Terminal);
  return lines;
}

const figure = (name: string, mean: number | null) => ({ figure: name, mean });
const axis = (path: string, unit = "count") => ({ path, unit, range: "", from: 1, to: 9, values: 9 });
const point = (values: unknown[], figures: object[], members: object = {}) => ({
  ...{ values, figures, state: null, held: null, replications: 8, heldShare: null },
  ...members,
});

interface Members {
  readonly question?: object;
  readonly [member: string]: unknown;
}

const planned = (members: Members): string[] => linesOf((terminal) => plannedTo(terminal, members));

function plannedTo(terminal: Terminal, { question, ...members }: Members): void {
  const result = {
    question: { scenario: "herd", seed: 3, vary: [], goals: [], find: null, ...question },
    ...{ points: [], heatMap: null, storm: null, comparison: null, sentences: [], notes: [], simulations: 1 },
    ...members,
  };
  sayPlan(terminal, result as never, "out");
}

/** The same with colours as tags, without the first line and the last. */
const picture = (members: Members): string[] =>
  saidBy((terminal) => plannedTo(terminal, members)).slice(1, -1);

describe("a plan in colours", () => {
  test("has a line a point, painted by its state, with the figures of at most four goals", () => {
    const names = ["calls", "refused", "admitted", "gaveUp", "refusedShare"];
    const figures = names.map((name, at) => figure(name, 10 * at));
    const goals = names.map((name) => ({ figure: name, bound: "<1" }));
    const points = [
      point([10], [figure("calls", 9.4), figure("refused", 9.6), ...figures.slice(2)], {
        state: "holds",
        held: 8,
      }),
      point([200], figures, { state: "fails", held: 0 }),
      point([3_000], [figure("calls", 4.7), ...figures.slice(1)], { state: "unclear", held: 3 }),
    ];
    expect(picture({ question: { vary: [axis("a.b")], goals }, points })).toEqual([
      "  ",
      `  <dim>a.b</>${" ".repeat(30)}<dim>calls</>  <dim>refused</>  <dim>admitted</>  <dim>gaveUp</>`,
      `  10     <green>${"█".repeat(24)}</>  9.4    9.6      20        30      <green>holds (8 of 8 runs)</>`,
      `  200    <red>▏</>${" ".repeat(25)}0      10       20        30      <red>fails (0 of 8 runs)</>`,
      `  3,000  <yellow>${"█".repeat(12)}</>${" ".repeat(14)}4.7    10       20        30      <yellow>unclear (3 of 8 runs)</>`,
    ]);
    const bare = [
      point([1], [figure("calls", null)]),
      point([2], [figure("calls", 1.5)]),
      point([3], [figure("calls", 0)]),
    ];
    expect(picture({ question: { vary: [axis("a")] }, points: bare })).toEqual([
      "  ",
      `  <dim>a</>${" ".repeat(28)}<dim>calls</>`,
      `  1  <cyan>▏</>${" ".repeat(25)}–      <cyan>8 runs</>`,
      `  2  <cyan>${"█".repeat(24)}</>  1.5    <cyan>8 runs</>`,
      `  3  <cyan>▏</>${" ".repeat(25)}0      <cyan>8 runs</>`,
    ]);
  });

  test("has no lines of points without an axis, and none without points", () => {
    expect(picture({ points: [point([1], [figure("calls", 1)])] })).toEqual([]);
    expect(picture({ question: { vary: [axis("a")] } })).toEqual([]);
    const heatMap = { xs: [1], ys: [1], cells: [[0]], figures: [], frontier: [] };
    expect(picture({ question: { vary: [axis("a")] }, heatMap })).toEqual([]);
  });

  test("in two directions is a map whose key names the first figure of the first point", () => {
    const points = [
      point([], [figure("calls", 5), figure("refused", 6)], { state: "holds" }),
      point([], [figure("refused", 7), figure("calls", 8)], { state: "fails" }),
      point([], [], { state: "unclear" }),
    ];
    const heatMap = { xs: [10, 200], ys: [3, 4], cells: [[0, 1], [2]], figures: [], frontier: [] };
    const vary = [axis("x"), axis("y")];
    expect(picture({ question: { vary }, heatMap, points })).toEqual([
      "  ",
      "  4        <yellow>? </>",
      "  3        <green>■ 5</>  <red>· 7</>",
      "  <dim>y ↑ x →</>  10   200",
      "  <dim>calls</>",
    ]);
    expect(picture({ question: { vary }, heatMap, points: [] }).at(-1)).toBe("  ");
  });

  test("of a storm draws at least 24 characters, and a window in each where there are more", () => {
    const storm = {
      ...{ unit: "ms", windowMs: 1_000, trigger: "outage", answer: { kind: "all" } },
      series: [
        { size: 0, shares: [0, 1] },
        { size: 5, shares: [null, 0.5] },
        { size: 6, shares: [1, 1] },
        { size: 7, shares: [0.5, 0] },
      ],
      triggers: [
        { size: 5, state: "holds" },
        { size: 6, state: "fails" },
        { size: 7, state: "unclear" },
      ],
    };
    const [none, half, full] = [" ", "▄", "█"].map((mark) => mark.repeat(12));
    expect(picture({ storm })).toEqual([
      "  ",
      "  <dim>share of calls refused or not answered, by windows of 1 s:</>",
      `  without         <dim>${none}${full}</>`,
      `  outage of 5 ms  <green>${none}${half}</>  <green>recovers</>`,
      `  outage of 6 ms  <red>${full}${full}</>  <red>does not recover</>`,
      `  outage of 7 ms  <yellow>${half}</>${none}  <yellow>unclear</>`,
    ]);
    const long = { size: 0, shares: Array.from({ length: 30 }, (_, at) => at % 2) };
    expect(picture({ storm: { ...storm, series: [long] } })[2]).toBe(`  without  <dim>${" █".repeat(15)}</>`);
  });

  test("of alternatives has the present one in bold", () => {
    const alternatives = [
      {
        population: "bots",
        policy: "waitReset",
        limits: "x2",
        asIs: false,
        figures: [figure("bots.refusedFirstSecondShare", null), figure("bots.gaveUp", 0)],
      },
      { population: null, policy: "its own", limits: "as they are", asIs: true, figures: [] },
    ];
    expect(picture({ comparison: { populations: ["bots"], alternatives } })).toEqual([
      "  ",
      "  <dim>bots</>       <dim>limits</>       <dim>never through</>",
      "  <bold>its own</>    as they are  –",
      "  waitReset  x2           0",
    ]);
  });
});

describe("a plan", () => {
  test("is said by its sentences and notes, and where the rest is", () => {
    expect(planned({ sentences: ["One.", "Two."], notes: ["Three."], simulations: 1_200 })).toEqual([
      "herd: 1,200 runs simulated, seed 3",
      "  One.",
      "  Two.",
      "  note Three.",
      "  out/report.html",
    ]);
  });

  test("has a line a point: at most four figures, those of goals where there are any", () => {
    const figures = ["calls", "refusedShare", "waitP95Ms", "gaveUp", "admitted"].map((name, place) =>
      figure(name, [12_345.6, 0.25, 1_500, 9.5, 3][place] as number),
    );
    const half = [figure("calls", 6_172.8), ...figures.slice(1)];
    const none = [figure("calls", 0), ...figures.slice(1, 4).map((one) => ({ ...one, mean: null }))];
    const points = [point([1], figures), point([2], half), point([3], none, { replications: 1 })];
    const lines = planned({ question: { vary: [axis("agents.clients")] }, points });
    expect(lines.slice(2, -1).map((line) => line.trim().split(/ {2,}/))).toEqual([
      ["agents.clients", "calls", "refusedShare", "waitP95Ms", "gaveUp"],
      ["1", "█".repeat(24), "12,346", "25%", "1.5 s", "9.5", "8 runs"],
      ["2", "█".repeat(12), "6,173", "25%", "1.5 s", "9.5", "8 runs"],
      ["3", "▏", "0", "–", "–", "–", "1 run"],
    ]);
    const goals = [{ figure: "refusedShare", bound: "<30%" }];
    const judged = [
      point([1], figures, { state: "holds", held: 8 }),
      point([2], figures, { state: "unclear", held: 8 }),
      point([3], figures, { state: "fails", held: 0 }),
    ];
    const said = planned({ question: { vary: [axis("a", "ms")], goals }, points: judged });
    expect(said.slice(2, -1).map((line) => line.trim().split(/ {2,}/))).toEqual([
      ["a", "refusedShare"],
      ["1 ms", "█".repeat(24), "25%", "holds (8 of 8 runs)"],
      ["2 ms", "█".repeat(24), "25%", "held so far (8 of 8 runs)"],
      ["3 ms", "█".repeat(24), "25%", "fails (0 of 8 runs)"],
    ]);
  });

  test("in two directions is a map, the second axis upwards", () => {
    const states = ["holds", "fails", "unclear", null] as const;
    const points = states.map((state, place) => point([], [figure("refusedShare", place / 10)], { state }));
    const vary = [axis("x"), axis("y", "share")];
    const heatMap = {
      xs: [1, 2],
      ys: [0.1, 0.2],
      cells: [
        [0, 1],
        [2, 3],
      ],
      figures: [],
      frontier: [],
    };
    const goals = [{ figure: "refusedShare", bound: "<1%" }];
    expect(planned({ question: { vary, goals }, heatMap, points }).slice(1, -1)).toEqual([
      "  ",
      "  20%      ? 20%  30%",
      "  10%      ■ 0%   · 10%",
      "  y ↑ x →  1      2",
      "  refusedShare; ■ holds, · fails, ? unclear",
    ]);
    expect(planned({ question: { vary }, heatMap, points }).at(-2)).toBe("  refusedShare");
  });

  test("of a storm draws windows without the trigger and with it", () => {
    const series = [
      { size: 0, shares: [0, null, 0.5] },
      { size: 2_000, shares: [0, 1, 0] },
      { size: 4_000, shares: [0, 1, 1] },
      { size: 6_000, shares: [1, 1, 1] },
    ];
    const triggers = [
      { size: 2_000, state: "holds" },
      { size: 4_000, state: "fails" },
      { size: 6_000, state: "unclear" },
    ];
    const storm = {
      series,
      triggers,
      unit: "ms",
      windowMs: 60_000,
      trigger: "outage",
      answer: { kind: "value" },
    };
    const lines = planned({ storm }).slice(2, -1);
    expect(lines[0]).toBe(
      "  share of calls refused or not answered, by windows of 1 min, both sides of the edge:",
    );
    expect(lines.slice(1).map((line) => line.replace(/[▁-█ ]{3,}/u, " | ").trim())).toEqual([
      "without |",
      "outage of 2 s | recovers",
      "outage of 4 s | does not recover",
      "outage of 6 s | unclear",
    ]);
    const long = [{ size: 0, shares: new Array<number>(600).fill(1) }];
    expect(planned({ storm: { ...storm, series: long } })[3]).toBe(`  without  ${"█".repeat(60)}`);
    expect(planned({ storm: { ...storm, answer: { kind: "all" } } })[2]).toBe(
      "  share of calls refused or not answered, by windows of 1 min:",
    );
  });

  test("of alternatives has a table for each population, as things stand first", () => {
    const figures = [
      figure("bots.refusedShare", 0.5),
      figure("bots.waitP95Ms", 90_000),
      figure("bots.gaveUp", 11.7),
    ];
    const alternatives = [
      { population: "bots", policy: "waitReset", limits: "x2", asIs: false, figures: [] },
      { population: null, policy: "its own", limits: "as they are", asIs: true, figures },
      { population: "others", policy: "none", limits: "+50%", asIs: false, figures: [] },
    ];
    const lines = planned({ comparison: { populations: ["bots"], alternatives } }).slice(2, -1);
    expect(lines.map((line) => line.trim().split(/ {2,}/))).toEqual([
      ["bots", "limits", "refused", "p95 wait", "never through"],
      ["its own", "as they are", "50%", "1 min 30 s", "12"],
      ["waitReset", "x2", "–", "–", "–"],
    ]);
    const early = [figure("bots.refusedFirstSecondShare", 0.25), ...figures];
    const all = alternatives.map((one) => (one.asIs ? one : { ...one, figures: early }));
    expect(planned({ comparison: { populations: ["bots"], alternatives: all } })[2]).toMatch(
      /refused +in the first second +p95 wait +never through$/,
    );
  });

  test("keeps its columns where a name has letters that are twice as wide", () => {
    const alternatives = [
      { population: null, policy: "as it is", limits: "as they are", asIs: true, figures: [] },
      { population: "組織", policy: "none", limits: "x2", asIs: false, figures: [] },
    ];
    const lines = planned({ comparison: { populations: ["組織"], alternatives } }).slice(2, -1);
    expect(lines.slice(-3).map((line) => /^.*?(limits|as they|x2)/.exec(line)?.[0])).toEqual([
      "  組織      limits",
      "  as it is  as they",
      "  none      x2",
    ]);
  });
});

test("a run without a trace is said by its figures: who was refused, by which quotas, what was missed", () => {
  const waits = { waitP50Ms: 0, waitP95Ms: 1_500, waitMaxMs: null };
  const figures = { calls: 1_000, refused: 100, refusedShare: 0.1, ...waits };
  const populations = [
    { name: "calm", figures: { refused: 0, refusedShare: 0 } },
    { name: "few", figures: { refused: 10, refusedShare: 0.05, gaveUp: 0 } },
    { name: "many", figures: { refused: 90, refusedShare: 0.2, gaveUp: 1 } },
  ];
  const expectations = [
    { figure: "refusedShare", bound: "<5%", actual: 0.1, held: false },
    { figure: "calls", bound: ">10", actual: 1_000, held: true },
  ];
  const run = {
    ...{ name: "herd", seed: 3, durationMs: 60_000, notes: ["Short."], interrupted: true, expectations },
    measured: { figures, populations, refusedBy: { a: 0, b: 40, c: 60 } },
  };
  const lines = linesOf((terminal) => sayMeasured(terminal, run as never)).map((line) => line.trim());
  expect(lines[0]).toBe("herd: 1,000 calls in 1 min of virtual time, seed 3");
  expect(lines[1]).toBe("note Short.");
  expect(lines.slice(3)).toEqual([
    "many: 20% of its calls, 1 job never got through",
    "few: 5% of its calls",
    "by c: 60",
    "by b: 40",
    "Waits from wanting to having: half 0 ms, 95% 1.5 s, the worst –.",
    "missed refusedShare <5%: it was 10%",
    "1 of 2 expectations met.",
    "Interrupted: these are the figures until then.",
    "No trace was kept, so no law was judged.",
  ]);
});
