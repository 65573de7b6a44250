// The words of a fit's Markdown, of models that are set.
import { describe, expect, test } from "vitest";
import type { BacktestResult, FitResult, Prediction } from "../../sim/fit/backtest-result.ts";
import type { FittedArrivals, FittedBehaviour, FittedModel, FittedPopulation } from "../../sim/fit/model.ts";
import { fitMarkdown, foundText, populationText } from "../../sim/fit/report.ts";

const worker = { kind: "worker", jobs: null } as FittedBehaviour;
const comings = { of: worker } as object;
const closed: FittedArrivals = { kind: "closed", clients: 2, startWithinMs: 0 };

describe("a population in a few words", () => {
  const of = (behaviour: object, arrivals: FittedArrivals = closed, kinds = 1): string =>
    populationText({ behaviour, arrivals, mix: new Array(kinds).fill({}) } as unknown as FittedPopulation);
  test.each<[object, string]>([
    [{ kind: "poller", everyMs: 5_000 }, "poller, every 5s"],
    [worker, "worker"],
    [{ ...worker, jobs: 1 }, "worker, 1 job each"],
    [{ ...worker, adapt: {} } as FittedBehaviour, "worker that slows down after refusals"],
    [{ kind: "burst", size: 7, everyMs: null }, "burst, 7 at once"],
    [{ kind: "queue", jobs: 9, workers: 2, everyMs: 60_000 }, "queue, 9 jobs, 2 at a time, every 1m"],
    [{ kind: "pager", pages: 1, everyMs: null }, "pager, 1 page"],
    [{ ...comings, kind: "sessions", rhythm: null }, "sessions of a worker"],
    [{ ...comings, kind: "sessions", rhythm: {} }, "sessions by hour and weekday of a worker"],
    [{ ...comings, kind: "timetable", at: "0 2 * * *" }, "worker, by cron, 0 2 * * *"],
    [
      { ...comings, kind: "woken", byUser: false, events: { kind: "chance", perDay: 2.5 } },
      "worker, woken together 2.5 times a day",
    ],
    [
      { ...comings, kind: "woken", byUser: true, events: { kind: "clock", at: "0 10 * * *" } },
      "worker, woken together by events of each user, by cron, 0 10 * * *",
    ],
    [
      {
        kind: "together",
        inTurn: false,
        parts: [{ behaviour: worker }, { behaviour: { ...worker, jobs: 3 } }],
      },
      "worker + worker, 3 jobs each",
    ],
    [{ kind: "together", inTurn: true, parts: [{ behaviour: worker }] }, "worker, in turn"],
  ])("%#: %s", (behaviour, text) => {
    expect(of(behaviour)).toBe(text);
  });

  test("with its kinds of calls, if it works, and how its clients come", () => {
    expect(of(worker, closed, 2)).toBe("worker, 2 kinds of call");
    expect(of({ kind: "poller", everyMs: 1_000 }, closed, 2)).toBe("poller, every 1s");
    expect(of(worker, { kind: "hours", perHour: [] })).toBe("worker, arriving by the hour of the day");
    expect(of(worker, { kind: "steady", perHour: 1_234.5, even: true })).toBe(
      "worker, arriving evenly, 1,235 an hour",
    );
    expect(of(worker, { kind: "steady", perHour: 2, even: false })).toBe(
      "worker, arriving by chance, 2 an hour",
    );
  });
});

test.each<[Partial<FittedModel>, string]>([
  [{ unexplained: 0, uncounted: 0 }, "1 population of 3 callers; every call is of one of them."],
  [{ unexplained: 1_000, uncounted: 0 }, "1 population of 3 callers; 25% of the calls (1,000) are of none."],
  [
    { unexplained: 0, uncounted: 1 },
    "1 population of 3 callers; every call is of one of them. 1 call that no quota counts were left out.",
  ],
])("how much is explained: %j", (more, text) => {
  expect(foundText({ populations: [{}], callers: 3, calls: 4_000, ...more } as unknown as FittedModel)).toBe(
    text,
  );
});

const value = (measured: number | null, wide: [number, number] | null): Prediction => ({
  ...{ measured, middle: measured, narrow: wide, wide },
});
const backtest = (more: Partial<BacktestResult>): BacktestResult =>
  ({
    ...{ share: 0.75, splitAt: 0, predicted: "weekdays", seeds: 39, levels: { narrow: 0.8, wide: 0.95 } },
    coverage: [{ figure: "waitP95Ms", class: "near", windows: 8, insideNarrow: 6, insideWide: 7 }],
    totals: { offered: value(1_234.4, [1_000, 1_500]), refused: value(null, null) },
    ...{ findings: [], windows: [], windowsSeen: 1, ...more },
  }) as unknown as BacktestResult;
const model = {
  ...{ name: "app", calls: 4_000, callers: 3, unexplained: 0, uncounted: 0, doubts: ["one", "two"] },
  populations: [
    {
      ...{
        name: "a|b",
        callers: 1_000,
        calls: 4_000,
        refused: 0,
        behaviour: worker,
        mix: [{}],
        arrivals: closed,
      },
      reasons: { onRefused: "none was refused" },
    },
  ],
} as unknown as FittedModel;
const markdown = (more: object): string =>
  fitMarkdown({ model, check: null, backtest: null, ...more } as FitResult);

const head = `# app: a scenario fitted to 4,000 calls

1 population of 3 callers; every call is of one of them.

What this recording does not tell:

- one
- two

| population | callers | calls | refused | what they do | after a refusal |
| --- | --- | --- | --- | --- | --- |
| a\\|b | 1,000 | 4,000 | 0 | worker | none was refused |
`;

test("what was found, and what a recording does not tell", () => {
  expect(markdown({})).toBe(head);
  expect(markdown({ model: { ...model, doubts: [] } })).toBe(head.replace(/What this .*- two\n\n/s, ""));
});

test("its check, each figure beside its simulations", () => {
  const row = {
    population: null,
    figure: "waitP95Ms",
    recorded: 1_234.5,
    middle: 5,
    least: 4,
    most: 6,
    off: true,
  };
  const check = {
    seeds: 3,
    rows: [row, { ...row, population: "app", figure: "calls", off: false }],
    findings: [],
  };
  const text = (why: string): string => `${head}
## Check: the scenario simulates what it was fitted to

check: 3 simulations of the scenario are as the recording, within chance.${why}

| population | figure | recorded | simulated | of all simulations | off |
| --- | --- | --- | --- | --- | --- |
| all | p95 wait, ms | 1,235 | 5 | 4 to 6 | **yes** |
| app | calls | 1,235 | 5 | 4 to 6 |  |
`;
  expect(markdown({ check: { ...check, why: null } })).toBe(text(""));
  expect(markdown({ check: { ...check, why: "an event" } })).toBe(text(" Why: an event."));
});

test("its backtest, and the first sixty windows", () => {
  const window = {
    opensAt: 90_000,
    scope: "rest",
    figures: { offered: value(3, [1, 5]), refused: value(0, [0, 0]), waitP95Ms: value(null, null) },
  };
  const row = "| 1970-01-01T00:01:30Z | rest | 3 (1 to 5) | 0 (0 to 0) | – (–) |";
  const text = (findings: string, title: string, rows: number): string => `${head}
## Backtest: the first 75% of the time predicts the rest but its weekend, which the first part lacks

${findings}

| figure per window | of | windows | inside 80% | inside 95% |
| --- | --- | --- | --- | --- |
| p95 wait, ms | windows expected to be nearly full | 8 | 75% | 88% |

| in all | measured | predicted | 80% interval | 95% interval |
| --- | --- | --- | --- | --- |
| calls | 1,234 | 1,234 | 1,000 to 1,500 | 1,000 to 1,500 |
| refused | – | – | – | – |

### Windows${title}

| opens at | scope | calls | refused | p95 wait, ms |
| --- | --- | --- | --- | --- |
${new Array(rows).fill(row).join("\n")}

Measured value, and the 95% interval of 39 simulations. Intervals are of chance alone: what was fitted is taken for certain.
`;
  const windows = (count: number) => ({ windows: new Array(count).fill(window), windowsSeen: count });
  expect(markdown({ backtest: backtest(windows(60)) } as object)).toBe(
    text(
      "Every figure lay within its intervals about as often as it should (60 windows, 39 simulations).",
      "",
      60,
    ),
  );
  expect(markdown({ backtest: backtest({ ...windows(61), findings: ["a", "b"] } as object) })).toBe(
    text("- a\n- b", ", the first 60 of 61", 60),
  );
});
