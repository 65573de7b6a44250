// A finished run in lines: who drove it and how late, its windows, refusals, waits, expectations and verdict.
import { expect, test } from "vitest";
import { sayLoad, sayMeasured, saySimulation } from "../../src/cli/say-run.ts";
import { saidBy } from "../support/recorded.ts";

const quota = (name: string, more: object = {}) => ({
  ...{ quota: name, key: {}, limits: [[0, 10]], counts: [[0, 5]], windows: [] },
  ...more,
});
const figures = {
  ...{ calls: 1, admitted: 1, refused: 0, refusedByUser: null, refusedByOrganization: null, refusedShare: 0 },
  ...{ waitP50Ms: 1, waitP95Ms: 2, waitMaxMs: null, gaveUp: 0 },
};
const verdict = {
  ...{ verdict: "ok", records: 1, windows: 2, laws: { bounded: "held", monotone: { skipped: "no" } } },
  violations: [],
};
const run = {
  ...{ folder: "out", verdict, expectations: [], interrupted: false, held: true, notes: [] },
  summary: { scenario: "herd", startedAt: 1_000, endedAt: 61_000, figures, populations: [] },
  series: { lengthMs: 1_000, windows: [] },
};

const simulated = (more: object, notes: readonly string[] = []) =>
  saidBy((terminal) => saySimulation(terminal, { ...run, ...more } as never, 7, notes));

test("a run in virtual time is said from its headline to its report", () => {
  expect(simulated({})).toEqual([
    "<bold>herd</>: 1 call in 1 min of virtual time, seed 7",
    "  None of 1 answered call was refused.",
    "  Waits from wanting to having: half 1 ms, 95% 2 ms, the worst –.",
    "  <green>No law is broken</>: 1 law held over 1 line and 2 windows.",
    "  out/report.html",
  ]);
  const nameless = simulated({ summary: { ...run.summary, scenario: null }, interrupted: true }, ["Short."]);
  expect([nameless[0], nameless[1], nameless.at(-2)]).toEqual([
    "<bold>a run</>: 1 call in 1 min of virtual time, seed 7",
    "  <dim>note</> Short.",
    "  <yellow>Interrupted</>: what was done is kept.",
  ]);
});

test("a verdict is green, red or yellow", () => {
  const said = (more: object) => simulated({ verdict: { ...verdict, ...more } }).at(-2);
  expect(said({ verdict: "unknown", laws: {} })).toBe(
    "  <yellow>Nothing in this trace could be judged</>: 0 laws held over 1 line and 2 windows.",
  );
  const laws = { bounded: "violated", monotone: "held", conserved: "held" };
  expect(said({ verdict: "violated", laws, records: 2_000, windows: 1 })).toBe(
    "  <red>1 law is broken: bounded</>. 2 laws held over 2,000 lines and 1 window.",
  );
});

test("six windows are drawn, with the highest count, the limit and the refusals", () => {
  const windows = [
    quota("calls", {
      limits: [
        [0, 10],
        [500, 20],
      ],
      counts: [
        [0, 5],
        [500, 1_500],
      ],
      windows: [{ refused: 2 }, { refused: 1 }],
    }),
    quota("a long name", { counts: [], limits: [] }),
    ...[3, 4, 5, 6, 7].map((at) => quota(`q${at}`)),
  ];
  const lines = simulated({ series: { lengthMs: 1_000, windows } }).slice(1, -4);
  expect(lines.slice(0, 3)).toEqual([
    `  calls       <cyan>${"▂".repeat(24)}${"█".repeat(24)}</> 1,500 of 20, <red>3 refused</>`,
    `  a long name <cyan>${" ".repeat(48)}</> 0 of 1`,
    `  q3          <cyan>${"▄".repeat(48)}</> 5 of 10`,
  ]);
  expect(lines).toHaveLength(6);
});

const population = (name: string, refused: number, gaveUp = 0) => ({
  ...{ name, figures: { refused, refusedShare: refused / 100, gaveUp } },
});

test("populations that were refused are said, the most refused first", () => {
  const populations = [
    population("calm", 0),
    population("few", 1),
    population("many", 20, 2),
    population("one", 5, 1),
  ];
  const summary = { ...run.summary, figures: { ...figures, refused: 26 }, populations };
  expect(simulated({ summary }).slice(1, 5)).toEqual([
    "  26 of 27 answered calls were refused.",
    "    many: 20% of its calls, 2 jobs never got through",
    "    one: 5% of its calls, 1 job never got through",
    "    few: 1% of its calls",
  ]);
});

test("expectations that were missed are said, and how many were met", () => {
  const held = { figure: "calls", bound: ">0", actual: 1, held: true };
  const missed = [
    { figure: "refusedShare", bound: "<1%", actual: 0.5, held: false },
    { figure: "bots.waitP95Ms", bound: "<1s", actual: null, held: false },
  ];
  expect(simulated({ expectations: [held, ...missed] }).slice(3, 6)).toEqual([
    "  <red>missed</> refusedShare <1%: it was 50%",
    "  <red>missed</> bots.waitP95Ms <1s: nothing of it was seen",
    "  1 of 3 expectations met.",
  ]);
  expect(simulated({ expectations: [held] })[3]).toBe("  1 of 1 expectation met.");
});

test("a real run says who drove it, and how late it was", () => {
  const load = (more: object) =>
    saidBy((terminal) => {
      const header = { startedAt: 1_000, target: "http://x", seed: 3 };
      const own = {
        driver: "k6",
        k6: { version: "1.8" },
        header,
        endedAt: 3_000,
        interrupted: false,
        ...more,
      };
      sayLoad(terminal, { ...run, load: own, notes: ["Short."] } as never);
    });
  const byK6 = load({});
  expect(byK6.slice(0, 2)).toEqual([
    "<bold>herd</>: 1 call to http://x in 1 min, by k6 1.8, seed 3",
    "  <dim>note</> Short.",
  ]);
  expect(byK6).toHaveLength(6);
  const lateness = { calls: 1, p50Ms: 0, p99Ms: 1, maxMs: 2 };
  const byNode = load({ driver: "node", lateness, interrupted: true });
  expect(byNode[0]).toBe(
    `<bold>herd</>: 1 call to http://x in 1 min, by Node ${process.versions.node}, seed 3`,
  );
  expect(byNode.slice(4)).toEqual([
    "  Calls left late: half of them 0 ms, 99% 1 ms, at most 2 ms.",
    "  <green>No law is broken</>: 1 law held over 1 line and 2 windows.",
    "  <yellow>Interrupted</>: what was done is kept.",
    "  out/report.html",
  ]);
  expect(
    load({ driver: "node", lateness: { ...lateness, p50Ms: 60_000, p99Ms: 90_000, maxMs: 90_000 } })[0],
  ).toBe(
    `<bold>herd</>: 1 call to http://x in 1 min, by Node ${process.versions.node}, seed 3; <yellow>the generator was too slow</>`,
  );
  expect(load({ lateness: { ...lateness, p50Ms: 60_000, p99Ms: 90_000 } })[0]).not.toContain("too slow");
});

test("a run without a trace says its refusals by quota, in their order", () => {
  const measured = { figures: { ...figures, refused: 6 }, populations: [], refusedBy: { a: 0, b: 1, c: 5 } };
  const said = (more: object) =>
    saidBy((terminal) => {
      const base = { name: "herd", seed: 3, durationMs: 60_000, measured, expectations: [], notes: [] };
      sayMeasured(terminal, { ...base, interrupted: false, ...more } as never);
    });
  expect(said({ notes: ["Short."] }).slice(1)).toEqual([
    "  <dim>note</> Short.",
    "  6 of 7 answered calls were refused: 5 by c, 1 by b.",
    "    by c: 5",
    "    by b: 1",
    "  Waits from wanting to having: half 1 ms, 95% 2 ms, the worst –.",
    "  No trace was kept, so no law was judged.",
  ]);
  expect(said({ interrupted: true }).at(-2)).toBe(
    "  <yellow>Interrupted</>: these are the figures until then.",
  );
  const { refusedBy: _, ...byRules } = measured;
  expect(said({ measured: byRules }).filter((line) => line.includes("by "))).toEqual([]);
});
