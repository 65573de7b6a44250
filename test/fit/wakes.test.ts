// Jobs by the clock, and events that wake callers together, are told from each caller's own calls.
// @module-tag long
import { describe, expect, test } from "vitest";
import { fitScenario, fitTo } from "../../sim/fit/fit.ts";
import type { FittedBehaviour, FittedEvents } from "../../sim/fit/model.ts";
import { fittedScenario, fittedSource } from "../../sim/fit/source.ts";
import { simulateNumbers } from "../../sim/simulate.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { poller, rest, sessions, together, waitReset, worker } from "../../src/scenario/index.ts";
import { builds } from "../worlds/builds.ts";
import { incidents } from "../worlds/incidents.ts";
import { monorepo } from "../worlds/monorepo.ts";
import { office } from "../worlds/office.ts";
import { recordingOf, worldRules } from "../worlds/recorded.ts";
import { play } from "../worlds/world.ts";
import { logged, world } from "./recordings.ts";

const call = rest("/v2/organizations/:org/pipelines");
const monday = "2026-01-05T00:00:00Z";
const idle = worker({ calls: [{ call }], think: { median: "1m", p95: "4m" } });
const job = worker({ calls: [{ call }], think: { least: 200, most: 500 } });

function byChance(events: FittedEvents | undefined) {
  if (events?.kind !== "chance") throw new RangeError("these events come by the clock");
  return events;
}

const partsOf = (behaviour: FittedBehaviour): readonly FittedBehaviour[] =>
  behaviour.kind === "together" ? behaviour.parts.map((part) => part.behaviour) : [behaviour];

describe("events that wake all callers", () => {
  const wakes = {
    perDay: 4,
    rhythm: { hours: Array.from({ length: 24 }, (_, hour) => (hour >= 8 && hour < 20 ? 2 : 0)) },
    within: "8s",
  };
  const woken = sessions({ of: job, calls: { least: 15, most: 25 }, wakes });
  const scenario = world(
    { agents: { clients: 8, behaviour: together([idle, woken]), onRefused: waitReset({ of: "both" }) } },
    { duration: "96h", startAt: monday, seed: 5 },
  );
  const model = fitScenario(logged(scenario, { seed: 5 }));

  test("are found, with how often they come, in which hours, and what is done then", () => {
    const behaviours = model.populations.flatMap(({ behaviour }) => partsOf(behaviour));
    const found = behaviours.filter((behaviour) => behaviour.kind === "woken");
    expect(found.length).toBe(model.populations.length);
    for (const { events, within, share, calls } of found) {
      const { perDay, rhythm } = byChance(events);
      expect(perDay).toBeGreaterThan(2.5);
      expect(perDay).toBeLessThan(5.5);
      expect(within).toMatchObject({ kind: "uniform", least: 0 });
      expect(Math.abs((within as { most: number }).most - 8_000)).toBeLessThan(4_000);
      expect(share).toBeGreaterThan(0.85);
      expect(rhythm.hours[2]).toBeLessThan(0.1);
      const byDay = rhythm.hours.slice(8, 20).reduce((sum, factor) => sum + factor, 0);
      expect(byDay).toBeGreaterThan(20);
      expect(calls).toMatchObject({ kind: expect.toBeOneOf(["uniform", "quantiles", "lognormal"]) });
    }
  });

  test("are in the scenario, as its text says: windows are as full as they were", () => {
    expect(fittedSource(model)).toContain("wakes: {");
    const fullest = (of: ReturnType<typeof world>, seed: number): number => {
      const minutes = new Map<number, number>();
      simulateNumbers(of, { seed }, ({ sentMs }) => {
        const minute = Math.floor(sentMs / 60_000);
        minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
      });
      return Math.max(...minutes.values());
    };
    const [recorded, simulated] = [fullest(scenario, 5), fullest(fittedScenario(model), 1)];
    expect(recorded).toBeGreaterThan(100);
    expect(Math.abs(simulated - recorded)).toBeLessThan(0.35 * recorded);
  });

  test("are none where callers are each for themselves, however busy some hours are", () => {
    const rhythm = { hours: Array.from({ length: 24 }, (_, hour) => (hour >= 9 && hour < 17 ? 3 : 0.1)) };
    const own = sessions({
      of: job,
      calls: { least: 1, most: 30 },
      away: { median: "10m", p95: "1h" },
      rhythm,
    });
    for (const seed of [1, 2]) {
      const alone = world(
        { agents: { clients: 8, behaviour: own } },
        { duration: "48h", startAt: monday, seed },
      );
      const kinds = fitScenario(logged(alone, { seed })).populations.flatMap(({ behaviour }) =>
        partsOf(behaviour).map(({ kind }) => kind),
      );
      expect(kinds).not.toContain("woken");
      expect(kinds).not.toContain("timetable");
    }
  });
});

test("callers who were refused, and go on a while later, were not woken", () => {
  const { rows } = play(office, { firstDay: 0, days: 7, seed: 2, agents: 16 });
  const { populations } = fitTo(recordingOf(rows), { name: "week", rules: parseRules(worldRules) }).model;
  expect(populations.length).toBeGreaterThan(0);
  const parts = populations.flatMap(({ behaviour }) => partsOf(behaviour));
  expect(parts.map(({ kind }) => kind)).not.toContain("woken");
  // Two Saturday workers more or less do not make the week's days differ.
  for (const part of parts)
    if (part.kind === "sessions")
      for (const day of part.rhythm?.days ?? []) expect(Math.abs(day - 1)).toBeLessThan(0.5);
});

describe("events by the clock of weekdays", () => {
  const { model } = fitTo(recordingOf(play(builds, { firstDay: 0, days: 7, seed: 1 }).rows), {
    name: "week",
    rules: parseRules(worldRules),
  });

  test("are found where half of the callers follow each", () => {
    const { populations, doubts } = model;
    const woken = populations
      .flatMap(({ behaviour }) => partsOf(behaviour))
      .flatMap((part) => (part.kind === "woken" ? [part] : []));
    const lines = woken.flatMap(({ events }) => (events.kind === "clock" ? [events.at] : []));
    expect(lines.length).toBe(woken.length);
    expect(new Set(lines)).toEqual(new Set(["0 10 * * 1-5", "0 15 * * 1-5"]));
    for (const { events } of woken)
      expect(events).toMatchObject({
        lateMs: expect.toSatisfy((ms: number) => ms > 30_000 && ms <= 180_000),
      });
    const share = woken.reduce((sum, part) => sum + part.share, 0) / woken.length;
    expect(share).toBeGreaterThan(0.25);
    expect(share).toBeLessThan(0.65);
    expect(doubts.join(" ")).not.toContain("nobody knows when");
  });

  test("are in the scenario's text, and wake at that minute alone", () => {
    expect(fittedSource(model)).toContain('at: "0 10 * * 1-5"');
    const atTen = new Map<number, number>();
    simulateNumbers(fittedScenario(model), { seed: 1 }, ({ sentMs }) => {
      const minute = Math.floor(sentMs / 60_000) % 1440;
      atTen.set(minute, (atTen.get(minute) ?? 0) + 1);
    });
    const callsIn = (from: number): number =>
      Array.from({ length: 5 }, (_, index) => atTen.get(from + index) ?? 0).reduce(
        (sum, each) => sum + each,
        0,
      );
    expect(callsIn(602)).toBeGreaterThan(1.5 * callsIn(595));
  });
});

describe("events by the clock of all days", () => {
  const woken = (at: string, calls: number) =>
    sessions({ of: job, calls, wakes: { at, within: "1m", share: 0.7 } });
  const fitted = (weekendCalls: number) => {
    const report = [woken("0 10 * * 1-5", 40), woken("0 10 * * 0,6", weekendCalls)];
    const agents = { clients: 12, behaviour: together([idle, ...report]) };
    const { populations } = fitScenario(
      logged(world({ agents }, { duration: "168h", startAt: monday, seed: 6 }), { seed: 6 }),
    );
    return populations.flatMap(({ behaviour }) =>
      partsOf(behaviour).flatMap((part) =>
        part.kind === "woken" && part.events.kind === "clock" ? [part.events.at] : [],
      ),
    );
  };

  test("are lines of their own at weekends if their callers do less then", () => {
    expect(new Set(fitted(6))).toEqual(new Set(["0 10 * * 1-5", "0 10 * * 0,6"]));
  });

  test("are one line if they do as much", () => {
    expect(new Set(fitted(40))).toEqual(new Set(["0 10 * * *"]));
  });
});

describe("events that wake a team alone", () => {
  // Nobody is silent for long: only how long the calls keep coming shows an event.
  const monitor = sessions({ of: job, calls: 1, away: { least: "25s", most: "35s" } });
  const team = (group: number) => ({
    clients: 5,
    behaviour: together([
      monitor,
      sessions({ of: job, calls: { least: 60, most: 90 }, wakes: { perDay: 2.5, within: "8s", group } }),
    ]),
  });
  const scenario = world({ red: team(1), blue: team(2) }, { duration: "48h", startAt: monday, seed: 4 });
  const model = fitScenario(logged(scenario, { seed: 4 }));
  const { populations } = model;

  test("are told apart from those that wake another", () => {
    const groups = populations.map(({ users, behaviour }) => {
      const woken = partsOf(behaviour).filter((part) => part.kind === "woken");
      expect(woken).toHaveLength(1);
      return { users, group: woken[0]?.group, perDay: byChance(woken[0]?.events).perDay };
    });
    expect(new Set(groups.map(({ group }) => group))).toEqual(new Set([0, 1]));
    for (const { users, perDay } of groups) {
      expect(new Set(users.map((user) => user.replace(/-?\d+$/, ""))).size).toBe(1);
      expect(perDay).toBeGreaterThan(0.9);
      expect(perDay).toBeLessThan(4.5);
    }
  });

  test("are in the scenario's text", () => {
    expect(fittedSource(model)).toContain("group: 1");
  });
});

describe("a fleet by the clock", () => {
  const hourly = sessions({ of: job, calls: { least: 6, most: 10 }, at: "20 * * * *", within: "3s" });

  test("is one population: its callers begin with the same minute", () => {
    const scenario = world(
      { fleet: { clients: 9, behaviour: hourly } },
      { duration: "30h", startAt: monday },
    );
    const { populations } = fitScenario(logged(scenario));
    expect(populations).toHaveLength(1);
    expect(populations[0]).toMatchObject({
      callers: 9,
      user: "each",
      behaviour: { kind: "timetable", at: "20 * * * *", calls: { kind: "quantiles" } },
      arrivals: { kind: "closed", clients: 9 },
    });
  });

  test("is two where its callers begin with two minutes", () => {
    const later = sessions({ of: job, calls: { least: 6, most: 10 }, at: "50 * * * *", within: "3s" });
    const scenario = world(
      { early: { clients: 3, behaviour: hourly }, late: { clients: 4, behaviour: later } },
      { duration: "30h", startAt: monday },
    );
    const { populations } = fitScenario(logged(scenario));
    expect(populations.map(({ behaviour, callers }) => [callers, "at" in behaviour && behaviour.at])).toEqual(
      [
        [4, "50 * * * *"],
        [3, "20 * * * *"],
      ],
    );
  });

  test("has a nightly job beside its hourly one", () => {
    const nightly = sessions({ of: job, calls: 60, at: "20 2 * * *" });
    const scenario = world(
      { fleet: { clients: 1, behaviour: together([hourly, nightly]) } },
      { duration: "120h", startAt: monday },
    );
    const [population] = fitScenario(logged(scenario)).populations;
    const parts = population === undefined ? [] : partsOf(population.behaviour);
    expect(parts.map((part) => "at" in part && part.at)).toEqual(["20 * * * *", "20 2 * * *"]);
    const [, night] = parts;
    const {
      ms = 0,
      least = ms,
      most = ms,
    } = (night as { calls: { ms?: number; least?: number; most?: number } }).calls;
    expect(Math.abs((least + most) / 2 - 60)).toBeLessThan(4);
  });

  test("keeps to weekdays where it did", () => {
    const seldom = worker({ calls: [{ call }], think: { median: "10m", p95: "40m" } });
    const working = sessions({ of: job, calls: 5, at: "20 6 * * 1-5", within: "3s" });
    const scenario = world(
      { fleet: { clients: 2, behaviour: together([working, seldom]) } },
      { duration: "336h", startAt: monday },
    );
    for (const { behaviour } of fitScenario(logged(scenario)).populations)
      expect(partsOf(behaviour)[0]).toMatchObject({ kind: "timetable", at: "20 6 * * 1-5" });
  });

  test("is found where its callers look every half minute, too", () => {
    const look = sessions({ of: job, calls: 1, away: { least: "30s", most: "40s" } });
    const report = sessions({ of: job, calls: 40, at: "30 6 * * 1-5", within: "3s" });
    const scenario = world(
      { fleet: { clients: 2, behaviour: together([report, look]) } },
      { duration: "168h", startAt: monday },
    );
    const { populations } = fitScenario(logged(scenario));
    expect(populations.length).toBeGreaterThan(0);
    for (const { behaviour } of populations)
      expect(partsOf(behaviour)[0]).toMatchObject({ kind: "timetable", at: "30 6 * * 1-5" });
  });
});

test("callers whom nobody refused are taken to do as most of those who were", () => {
  const greedy = worker({ calls: [{ call }], think: { least: 300, most: 900 } });
  const scenario = world(
    {
      greedy: { clients: 1, behaviour: greedy, onRefused: waitReset({ of: "both" }) },
      calm: { clients: 1, behaviour: worker({ calls: [{ call }], think: { least: "20s", most: "40s" } }) },
    },
    { duration: "1h" },
  );
  const { populations } = fitScenario(logged(scenario));
  const [first, second] = populations;
  expect(first?.onRefused).toMatchObject({ kind: "waitReset" });
  expect(second).toMatchObject({ refused: 0, onRefused: first?.onRefused });
  expect(second?.reasons.onRefused).toBe(`none was refused: they are taken to do as ${first?.name} do`);
});

test("callers of an organization in which nobody was refused are taken to do as those of others who behave alike", () => {
  const loop = (least: number, most: number) => worker({ calls: [{ call }], think: { least, most } });
  const acme = { clients: 1, organization: "acme", onRefused: waitReset({ of: "both" }) } as const;
  const calm = { clients: 1, organization: "calm" } as const;
  const scenario = world(
    {
      greedy: { ...acme, behaviour: loop(300, 900) },
      workers: { ...calm, behaviour: loop(20_000, 40_000) },
      watchers: { ...calm, behaviour: poller({ call, every: "45s" }) },
    },
    { duration: "1h" },
  );
  const { populations } = fitScenario(logged(scenario));
  const told = populations.map(({ organization, behaviour, onRefused }) => [
    ...[organization, behaviour.kind, onRefused.kind],
  ]);
  expect(told).toEqual([
    ["acme", "worker", "waitReset"],
    ["calm", "worker", "waitReset"],
    ["calm", "poller", "unknown"],
  ]);
});

test("events whose callers end together last a time, however many calls that brings", () => {
  const model = fitScenario(
    recordingOf(play(incidents, { firstDay: 0, days: 4, seed: 1, agents: 16 }).rows),
    {
      rules: parseRules(worldRules),
    },
  );
  const woken = model.populations
    .flatMap(({ behaviour }) => partsOf(behaviour))
    .flatMap((part) => (part.kind === "woken" ? [part] : []));
  expect(woken.length).toBeGreaterThan(3);
  for (const { lasts, calls } of woken) {
    expect(calls).toBe(null);
    // Half an hour on the median, three hours at most.
    const longest =
      lasts === null
        ? 0
        : lasts.kind === "uniform"
          ? lasts.most
          : lasts.kind === "lognormal"
            ? lasts.median
            : 0;
    expect(longest).toBeGreaterThan(10 * 60_000);
    expect(longest).toBeLessThan(180 * 60_000);
  }
  // Nearly all of eight are found: those of a team of four, too, whose monitors begin half a minute apart.
  const perDay = new Map(woken.map(({ group, events }) => [group, byChance(events).perDay]));
  expect(4 * [...perDay.values()].reduce((sum, each) => sum + each, 0)).toBeGreaterThan(6.5);
  // All populations of a group share the events, and so their ends.
  const byGroup = new Map(woken.map(({ group, lasts }) => [group, lasts]));
  for (const { group, lasts } of woken) expect(lasts).toEqual(byGroup.get(group));
  expect(fittedSource(model)).toMatch(/\blasts: \{/);
});

describe("events that wake now some callers, now others, beside jobs of a minute each", () => {
  const { rows } = play(monorepo, { firstDay: 0, days: 7, seed: 1 });
  const model = fitScenario(recordingOf(rows), { rules: parseRules(worldRules) });
  const all = model.populations.map(({ behaviour }) => partsOf(behaviour));

  test("wake all of them, a share each time; a day on which none came is a day off", () => {
    const woken = all.map((parts) => parts.find((part) => part.kind === "woken"));
    expect(new Set(woken.map((part) => part?.kind === "woken" && part.group))).toEqual(new Set([0]));
    for (const part of woken) {
      if (part?.kind !== "woken") throw new RangeError("an event wakes them");
      expect(part.share).toBeGreaterThan(0.28);
      expect(part.share).toBeLessThan(0.45);
      // 81 on four weekdays that are no days off. Some follow each other too soon to be told, or find callers busy.
      const { perDay, rhythm } = byChance(part.events);
      expect(Math.abs(perDay * (rhythm.weekdays?.[1] ?? 1) - 81 / 4)).toBeLessThan(1.5);
      expect(rhythm.weekdays?.[0]).toBe(0);
      // Within four seconds: builds of branches that begin by chance some minutes later are none of theirs.
      expect(part.within).toMatchObject({ kind: "uniform", least: 0 });
      expect((part.within as { most: number }).most).toBeLessThanOrEqual(4_400);
    }
    expect(model.doubts.join(" ")).toContain("Next to none came on 2026-01-08: it is taken for a day off");
  });

  test("nightly jobs are by the clock at any second, and callers of different minutes are alike", () => {
    expect(all.length).toBeLessThan(10);
    for (const parts of all) {
      const nightly = parts.find((part) => part.kind === "timetable");
      if (nightly?.kind !== "timetable") throw new RangeError("a clock starts it");
      expect(nightly.at).toMatch(/^\d+ 2 \* \* \*$/);
      expect(Number.parseInt(nightly.at, 10) * 60_000 + nightly.withinMs).toBeLessThan(20 * 60_000);
    }
  });
});
