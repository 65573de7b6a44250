// Doubts name all that a recording does not tell: beside it, in the scenario's head, and in the spread of its days.
// @module-tag long
import { describe, expect, test } from "vitest";
import { fitScenario } from "../../sim/fit/fit.ts";
import { fitMarkdown } from "../../sim/fit/report.ts";
import { fittedScenario, fittedSource } from "../../sim/fit/source.ts";
import { spreadOf, withMean } from "../../sim/fit/spread.ts";
import { plan } from "../../src/plan/plan.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import { fixed, rest, sessions, waitReset, worker } from "../../src/scenario/index.ts";
import { chanceOf } from "../worlds/chance.ts";
import { daysDiffer } from "../worlds/days-differ.ts";
import { offices } from "../worlds/offices.ts";
import { recordingOf, worldRules } from "../worlds/recorded.ts";
import { trains } from "../worlds/trains.ts";
import { hourMs, mondayMs, play, type Row } from "../worlds/world.ts";
import { logged, loggedCalls, world } from "./recordings.ts";

const call = rest("/v2/organizations/:org/pipelines");
const monday = "2026-01-05T00:00:00Z";

describe("a recording says what it does not tell", () => {
  test("where days differ, though hours do not: so many of them tell no mean", () => {
    const model = fitScenario(
      recordingOf(play(daysDiffer, { firstDay: 0, days: 7, seed: 1, agents: 2 }).rows),
      { rules: parseRules(worldRules) },
    );
    const [factors = []] = model.populations.map(({ behaviour }) =>
      behaviour.kind === "sessions" ? (behaviour.rhythm?.days ?? []) : [],
    );
    expect(factors).toHaveLength(7);
    expect(Math.max(...factors) - Math.min(...factors)).toBeGreaterThan(0.4);
    const [doubt = ""] = model.doubts;
    expect(doubt).toMatch(
      /^Days differ by \d+% from each other, for all callers together: 7 days tell their mean to \d+% at best\.$/,
    );
    const [days = 0, mean = 0] = (doubt.match(/\d+(?=%)/g) ?? []).map(Number);
    expect(Math.abs(mean - days / Math.sqrt(7))).toBeLessThan(1);
    expect(fittedSource(model).replace(/\n\/\/ /g, " ")).toContain(
      `What the recording does not tell: ${doubt}`,
    );
    expect(
      fitMarkdown({ format: "spillway-fit", version: 1, model, check: null, backtest: null, source: "" }),
    ).toContain(`- ${doubt}`);
  });

  test("where callers who stand for many make some calls at hours of their own", () => {
    const { rows } = play(trains, { firstDay: 0, days: 3, seed: 1, agents: 9 });
    const saidOf = (some: readonly Row[]): string =>
      fitScenario(recordingOf(some), { rules: parseRules(worldRules) }).doubts.join(" ");
    // A report of each evening by 730 points; jobs and failures come at the hours of builds.
    expect(saidOf(rows)).toMatch(
      /agent-\d.* makes? calls of one kind \(graphql 730\) at hours of their own: /,
    );
    expect(saidOf(rows.filter(({ points }) => points?.asked !== 730))).not.toContain("of one kind");
  });

  test("where one office had a day off: it is no day that differs, and no hours of the other's", () => {
    const { populations, doubts } = fitScenario(
      recordingOf(play(offices, { firstDay: 0, days: 7, seed: 1 }).rows),
    );
    const off = doubts.join(" ").match(/Next to none of (\d+) callers came on 2026-01-06, though they did/);
    // The eastern office's, but for those who are too few to tell.
    expect(Number(off?.[1])).toBeGreaterThan(20);
    expect(Number(off?.[1])).toBeLessThan(40);
    expect(doubts.join(" ")).not.toContain("Days differ");
    const rhythms = populations.flatMap(({ callers, behaviour }) =>
      behaviour.kind === "sessions" && behaviour.rhythm !== null ? [{ callers, ...behaviour.rhythm }] : [],
    );
    const most = Math.max(...rhythms.map(({ callers }) => callers));
    for (const { callers, hours, days } of rhythms) {
      for (const day of days) expect(Math.abs(day - 1)).toBeLessThan(0.2);
      const [morning = 0, evening = 0] = [hours.slice(9, 16), hours.slice(18)].map((some) =>
        some.reduce((sum, factor) => sum + factor, 0),
      );
      if (callers > most / 2)
        expect(Math.max(morning, evening) / Math.min(morning, evening)).toBeGreaterThan(10);
    }
  });

  test("where refusals depend on a few heavy sessions", () => {
    const heavy = sessions({
      of: worker({ calls: [{ call }], think: "100ms" }),
      calls: { least: 300, most: 600 },
      away: { median: "3h", p95: "9h" },
    });
    const scenario = world(
      {
        mirror: { clients: 1, behaviour: heavy, onRefused: waitReset({ of: "both" }) },
        calm: { clients: 3, behaviour: worker({ calls: [{ call }], think: { least: "20s", most: "40s" } }) },
      },
      { duration: "48h", startAt: monday },
    );
    const { doubts } = fitScenario(logged(scenario));
    expect(doubts.join("\n")).toMatch(
      /mirror\S* has \d+% of the refusals, in \d+ sessions alone: how often they come is known to \d+% at best\./,
    );
    expect(doubts.join("\n")).not.toContain("calm");
    expect(doubts).toContain("No weekend was recorded: it is taken to be as the other days.");
  });

  test("of a steady load that is short, what a refusal would do alone", () => {
    const scenario = world({
      calm: { clients: 3, behaviour: worker({ calls: [{ call }], think: { least: "2s", most: "4s" } }) },
    });
    const model = fitScenario(logged(scenario));
    expect(model.doubts).toEqual([
      "No call was refused: what callers do when they are refused is not known, and the scenario tries none again.",
    ]);
    expect(model.untold).toEqual(["reactions"]);
  });

  test("where no status was recorded: which calls were refused, and no reaction to failures either", () => {
    const { doubts, populations } = fitScenario(
      loggedCalls(Array.from({ length: 60 }, (_, place) => [place * 500, Number.NaN, 0])),
    );
    expect(doubts.join()).toContain(
      "No status tells which calls were refused: what callers do when they are refused is not known, and the scenario tries none again.",
    );
    expect(populations.map(({ onRefused: { kind } }) => kind)).toEqual(["unknown"]);
  });

  test("where failures alone tell what callers do: the scenario assumes it", () => {
    const calls = Array.from({ length: 60 }, (_, place) => [place * 5_000, 100, 200] as const);
    const failed = calls.flatMap((one, place) =>
      place % 5 === 0 ? [[one[0], 100, 503] as const, [one[0] + 600, 100, 200] as const] : [one],
    );
    expect(fitScenario(loggedCalls(failed)).doubts.join()).toContain(
      "No call was refused: what callers do when they are refused is not known, and what the scenario does then is assumed.",
    );
  });

  test("where one call in twenty was refused: the demand behind the limits", () => {
    const told = (refused: number) =>
      fitScenario(
        loggedCalls(
          Array.from({ length: 200 }, (_, place) => [place * 700, 100, place < refused ? 429 : 200]),
        ),
      );
    expect(told(9).untold).not.toContain("demand");
    expect(told(10).untold).toContain("demand");
    expect(told(10).doubts.join()).toContain(
      "5% of the calls were refused: the limits held callers back, who may have wanted more than they sent. Demand is a lower bound.",
    );
  });

  test("one caller of most refusals", () => {
    const often = worker({ calls: [{ call }], think: "100ms" });
    const seldom = worker({ calls: [{ call }], think: { least: "2s", most: "4s" } });
    const onRefused = fixed({ wait: "1s" });
    const scenario = world({
      loop: { clients: 1, behaviour: often, onRefused },
      calm: { clients: 3, behaviour: seldom, onRefused },
    });
    const { doubts, untold } = fitScenario(logged(scenario));
    expect(doubts.join()).toMatch(
      /loop\S* has \d+% of the refusals: what is refused next depends on this one caller\./,
    );
    expect(untold).toEqual(["demand", "attempts", "caller"]);
  });
});

describe("a week of which one weekday differs", () => {
  /** Five callers, every weekday from 8 to 18 o'clock; by so much more on the Monday. */
  const week = (monday: number): readonly Row[] => {
    const chance = chanceOf(7);
    return [0, 1, 2, 3, 4, 5, 6]
      .flatMap((day) =>
        Array.from({ length: day > 4 ? 20 : Math.round((day === 0 ? monday : 1) * 2_000) }, (_, index) => ({
          atMs: mondayMs + (day * 24 + chance.between(8, 18)) * hourMs,
          durationMs: 50,
          user: `agent-${index % 5}`,
          status: 200,
        })),
      )
      .sort((a, b) => a.atMs - b.atMs);
  };
  const once =
    "No weekday was recorded twice: whether one is busier every week is not told, and the scenario takes all alike.";

  test("is said, with the day; the scenario keeps it, and a plan repeats it", () => {
    const model = fitScenario(recordingOf(week(2)));
    expect(model.doubts).toContain(
      `${once.replace(".", ", but has callers come more often on each Monday.")} Monday (2026-01-05) had 2.0 times the calls of the other weekdays.`,
    );
    expect(model.untold).toEqual(["weekdays", "reactions"]);
    expect(fittedSource(model)).toContain('untold: ["weekdays", "reactions"]');
    const day = adjustScenario(fittedScenario(model), {
      startAtMs: mondayMs + 7 * 24 * hourMs,
      durationMs: hourMs,
    });
    const { notes } = plan(day, { vary: ["rules.organization.rest.limit=1,1000"], replications: 8 });
    expect(notes.join("\n")).toMatch(/^this run begins on a Monday, and no weekday was recorded twice: /m);
  });

  test("is not, where weekdays were alike", () => {
    expect(fitScenario(recordingOf(week(1))).doubts.join()).not.toContain("weekday");
  });
});

test("absences keep their mean, however few explain their shape", () => {
  const lengths = [1, 2, 3, 5, 8, 9, 12, 20, 60].map((hours) => hours * 3_600_000);
  const mean = lengths.reduce((sum, ms) => sum + ms, 0) / lengths.length;
  const spread = spreadOf(lengths, 0, 1000);
  expect(spread.kind).toBe("lognormal");
  const kept = withMean(spread, mean);
  const { median = 0, p95 = 0 } = kept as { median?: number; p95?: number };
  const sigma = Math.log(p95 / median) / 1.6449;
  expect((median * Math.exp((sigma * sigma) / 2)) / mean).toBeCloseTo(1, 2);
  expect(withMean({ kind: "uniform", least: 0, most: 10 }, 10)).toEqual({
    kind: "uniform",
    least: 0,
    most: 20,
  });
  expect(withMean({ kind: "constant", ms: 7 }, 9)).toEqual({ kind: "constant", ms: 7 });
});
