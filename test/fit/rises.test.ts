// Events that bring more calls of callers who call all day, callers who come once a day, and parts that are done in turn:
// each is told in logs of worlds that share no code with the simulator, and of scenarios.
// @module-tag long
import { describe, expect, test } from "vitest";
import { fitScenario, fitTo } from "../../sim/fit/fit.ts";
import type { FittedBehaviour, FittedModel } from "../../sim/fit/model.ts";
import { fittedScenario, fittedSource } from "../../sim/fit/source.ts";
import { simulateNumbers } from "../../sim/simulate.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Behaviour } from "../../src/scenario/client.ts";
import { rest, sessions, together, waitReset, worker } from "../../src/scenario/index.ts";
import { chanceOf } from "../worlds/chance.ts";
import { dashboards } from "../worlds/dashboards.ts";
import { recordingOf, worldRules } from "../worlds/recorded.ts";
import { releases } from "../worlds/releases.ts";
import { dayMs, hourMs, minuteMs, mondayMs, play } from "../worlds/world.ts";
import { logged, world } from "./recordings.ts";

const call = rest("/v2/organizations/:org/pipelines");
const monday = "2026-01-05T00:00:00Z";
const rules = parseRules(worldRules);

const partsOf = ({ populations }: FittedModel): readonly FittedBehaviour[] =>
  populations.flatMap(({ behaviour }) =>
    behaviour.kind === "together" ? behaviour.parts.map((part) => part.behaviour) : [behaviour],
  );

describe("dashboards that show an incident beside what they show all day", () => {
  // As the world draws them: the third week has five, of which none comes while another lasts.
  const seed = 3;
  const truth = [0, 1, 2, 3, 4].flatMap((day) => {
    const chance = chanceOf(seed, 7, day);
    return Array.from({ length: chance.poisson(1) }, () => ({
      atMs: mondayMs + day * dayMs + chance.between(9, 17) * hourMs,
      lastsMs: chance.lognormal(40 * minuteMs, 0.4),
    }));
  });
  const { rows } = play(dashboards, { firstDay: 0, days: 7, seed });
  const { model, members } = fitTo(recordingOf(rows), { rules });
  const woken = partsOf(model).flatMap((part) => (part.kind === "woken" ? [part] : []));

  test("are woken by as many events as there were, each of which lasts as long as it did", () => {
    expect(truth).toHaveLength(5);
    const found = members.flat().flatMap(({ apart }) => apart?.wakes ?? []);
    for (const { eventsMs, lastsMs } of found) {
      expect(eventsMs).toHaveLength(truth.length);
      for (const event of truth) {
        const place = eventsMs.findIndex((ms) => Math.abs(ms - event.atMs) < 3 * minuteMs);
        const endMs = (eventsMs[place] ?? 0) + (lastsMs?.[place] ?? 0);
        expect(Math.abs(endMs - event.atMs - event.lastsMs)).toBeLessThan(5 * minuteMs);
      }
    }
    expect(woken.length).toBeGreaterThan(5);
    for (const { events, lasts, share, calls } of woken) {
      // Of the five days that were recorded: nobody calls at weekends.
      expect(events).toMatchObject({ kind: "chance" });
      if (events.kind === "chance") expect(Math.abs(events.perDay - truth.length / 5)).toBeLessThan(0.2);
      expect(calls).toBe(null);
      expect(lasts).not.toBe(null);
      expect(share).toBeGreaterThan(0.15);
      expect(share).toBeLessThan(0.95);
    }
  });

  test("begin with work and end with it: at night hardly anybody calls", () => {
    const days = partsOf(model).filter((part) => part.kind === "timetable");
    expect(days.length).toBeGreaterThanOrEqual(5);
    for (const day of days)
      if (day.kind === "timetable") {
        expect(day.at).toMatch(/^\d+ [789] \* \* 1-5$/);
        expect(day.withinMs).toBeLessThanOrEqual(2 * hourMs);
        expect(day.length).not.toBe(null);
      }
    expect(fittedSource(model)).toMatch(/length: .*\n.*at: "\d+ [789] \* \* 1-5"/);
  });
});

test("callers who each have busy times of their own were woken by nothing", () => {
  const idle = worker({ calls: [{ call }], think: { median: "20s", p95: "40s" } });
  const busy = sessions({
    of: worker({ calls: [{ call }], think: { least: "2s", most: "4s" } }),
    length: { least: "20m", most: "40m" },
    away: { median: "3h", p95: "8h" },
  });
  const scenario = world(
    { agents: { clients: 6, behaviour: together([idle, busy], { inTurn: true }) } },
    { duration: "24h", startAt: monday },
  );
  for (const seed of [1, 2]) {
    const kinds = partsOf(fitScenario(logged(scenario, { seed }))).map(({ kind }) => kind);
    expect(kinds).not.toContain("woken");
  }
});

describe("parts of a caller who makes one call at a time", () => {
  const idle = worker({ calls: [{ call }], think: { median: "30s", p95: "90s" } });
  const job = worker({ calls: [{ call }], think: { least: 200, most: 500 } });
  const woken = sessions({ of: job, calls: { least: 30, most: 50 }, wakes: { perDay: 6, within: "8s" } });
  const fitted = (behaviour: Behaviour) =>
    fitScenario(
      logged(
        world(
          { agents: { clients: 8, behaviour, onRefused: waitReset({ of: "both" }) } },
          { duration: "24h", startAt: monday, seed: 2, rules: worldRules },
        ),
        { seed: 2 },
      ),
      { rules },
    );
  const inTurn = ({ populations }: FittedModel): boolean[] =>
    populations.flatMap(({ behaviour }) => (behaviour.kind === "together" ? [behaviour.inTurn] : []));

  test("are done in turn, and the scenario says so; else each is for itself", () => {
    const one = fitted(together([idle, woken], { inTurn: true }));
    expect(inTurn(one).length).toBeGreaterThan(0);
    expect(inTurn(one)).not.toContain(false);
    expect(fittedSource(one)).toContain("inTurn: true");
    const each = fitted(together([idle, woken]));
    expect(inTurn(each)).not.toContain(true);
    expect(fittedSource(each)).not.toContain("inTurn");
  });

  test("wait for a session that an event began: few calls are refused, and who was busy wakes late", () => {
    const { rows } = play(releases, { firstDay: 0, days: 7, seed: 2, agents: 8 });
    const model = fitScenario(recordingOf(rows), { rules });
    const shares = partsOf(model).flatMap((part) => (part.kind === "woken" ? [part.share] : []));
    expect(shares.length).toBeGreaterThan(0);
    for (const share of shares) expect(share).toBeGreaterThan(0.85);
    expect(inTurn(model)).not.toContain(false);
    const refusedOf = (statuses: readonly number[]): number => statuses.filter((each) => each === 429).length;
    const recorded = refusedOf(rows.map(({ status }) => status));
    const simulated = [1, 2].map((seed) => {
      let refused = 0;
      simulateNumbers(fittedScenario(model), { seed }, ({ status }) => (refused += Number(status === 429)));
      return refused;
    });
    const mean = simulated.reduce((sum, each) => sum + each, 0) / simulated.length;
    expect(Math.abs(mean / recorded - 1)).toBeLessThan(0.4);
  });
});
