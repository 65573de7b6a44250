// Tests of the worlds themselves: they keep the rules, repeat by their seed, and are recorded alike in every form.
// @module-tag long
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { spillwayHere } from "../support/command.ts";
import { campaigns } from "./campaigns.ts";
import { classrooms } from "./classrooms.ts";
import { gateways } from "./gateways.ts";
import { helpdesk } from "./helpdesk.ts";
import { infrastructure } from "./infrastructure.ts";
import { projects } from "./projects.ts";
import { queries } from "./queries.ts";
import { accessLogOf, csvOf, worldRules } from "./recorded.ts";
import { settlement } from "./settlement.ts";
import { throttled } from "./throttled.ts";
import { tills } from "./tills.ts";
import { trains } from "./trains.ts";
import {
  dayMs,
  hourMs,
  limitsOf,
  minuteMs,
  mondayMs,
  play,
  pointLimits,
  pointsMs,
  type Row,
} from "./world.ts";
import { worlds } from "./worlds.ts";

const aDay = { firstDay: 0, days: 1, seed: 1 };

/** Returns the most calls of REST that were admitted in one minute of any group. */
function mostAdmitted(rows: readonly Row[], groupOf: (row: Row) => string): number {
  const counts = new Map<string, number>();
  for (const row of rows) {
    if (row.status === 429 || row.points !== undefined) continue;
    const key = `${Math.floor(row.atMs / minuteMs)} ${groupOf(row)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Math.max(...counts.values());
}

/** Returns the most points that were held or charged in one window of any group, as each query was admitted. */
function mostPoints(rows: readonly Row[], groupOf: (row: Row) => string): number {
  const admitted = new Map<string, Row[]>();
  let most = 0;
  for (const row of rows) {
    if (row.status === 429 || row.points === undefined) continue;
    const key = `${Math.floor(row.atMs / pointsMs)} ${groupOf(row)}`;
    const own = admitted.get(key) ?? [];
    admitted.set(key, [...own, row]);
    const units = own.map(({ atMs, durationMs, points }) =>
      atMs + durationMs <= row.atMs ? points?.actual : points?.asked,
    );
    most = Math.max(most, row.points.asked + units.reduce<number>((sum, one) => sum + (one ?? 0), 0));
  }
  return most;
}

const hourOf = (atMs: number): number => Math.floor((atMs % dayMs) / hourMs);

test.each(worlds)("$name: a day keeps the rules, and its seed repeats it", (world) => {
  const { rows } = play(world, aDay);
  const limits = limitsOf(world);
  expect(rows.some(({ status }) => status === 429)).toBe(true);
  expect(mostAdmitted(rows, () => "")).toBeLessThanOrEqual(limits.organization);
  expect(mostAdmitted(rows, ({ user }) => user)).toBeLessThanOrEqual(limits.user);
  expect(mostPoints(rows, () => "")).toBeLessThanOrEqual(pointLimits.organization);
  expect(mostPoints(rows, ({ user }) => user)).toBeLessThanOrEqual(pointLimits.user);
  const again = play(world, aDay).rows;
  expect(again.length).toBe(rows.length);
  expect(again.at(-1)).toEqual(rows.at(-1));
});

test("a sync of the world throttled waits for twice its gap after a refusal", () => {
  const own = play(throttled, aDay).rows.filter(({ user }) => user === "agent-0");
  const waitsMs = own.flatMap(({ atMs, durationMs, status }, place) => {
    const next = own[place + 1];
    return status === 429 && next !== undefined ? [next.atMs - atMs - durationMs] : [];
  });
  expect(waitsMs.length).toBeGreaterThan(5);
  // The least gap is a second. Times since the epoch are rounded to some ten thousandths of a millisecond.
  expect(Math.min(...waitsMs)).toBeGreaterThan(2_000 - 0.01);
});

test("a gateway of the world gateways sends nothing for a minute after a refusal", () => {
  const refusedMs = new Map<string, number>();
  const waitsMs: number[] = [];
  for (const { atMs, durationMs, user, status } of play(gateways, aDay).rows) {
    const endMs = refusedMs.get(user);
    if (endMs !== undefined) waitsMs.push(atMs - endMs);
    if (status === 429) refusedMs.set(user, atMs + durationMs);
    else refusedMs.delete(user);
  }
  expect(waitsMs.length).toBeGreaterThan(100);
  expect(Math.min(...waitsMs)).toBeGreaterThan(minuteMs - 0.01);
});

test("both shifts of the world helpdesk share their tokens from 14 to 15 o'clock", () => {
  const { rows } = play(helpdesk, aDay);
  const [early, both, late] = [10, 14, 18].map(
    (hour) => rows.filter(({ status, atMs }) => status === 200 && hourOf(atMs) === hour).length,
  ) as [number, number, number];
  expect(both).toBeGreaterThan(1.4 * Math.max(early, late));
});

test("tills of a restaurant of the world tills send their journals together, after closing", () => {
  const { rows } = play(tills, { ...aDay, days: 2 });
  const users = [...new Set(rows.map(({ user }) => user))];
  const atClosing = users.filter((user) => {
    const calls = new Map<number, number>();
    for (const { atMs } of rows.filter((row) => row.user === user)) {
      const startMs = atMs - (atMs % (5 * minuteMs));
      calls.set(startMs, (calls.get(startMs) ?? 0) + 1);
    }
    const [busiestMs] = [...calls].sort(([, a], [, b]) => b - a)[0] ?? [0];
    return busiestMs % hourMs === 0 && [21, 22, 23, 0].includes(hourOf(busiestMs));
  });
  expect(atClosing.length / users.length).toBeGreaterThan(0.7);
});

test("teams of the world infrastructure are refused by their own limit, too: two buckets exceed it", () => {
  const { rows } = play(infrastructure, aDay);
  const admitted = new Map<string, number>();
  const keyOf = ({ atMs, user }: Row): string => `${Math.floor(atMs / minuteMs)} ${user}`;
  for (const row of rows)
    if (row.status === 200) admitted.set(keyOf(row), (admitted.get(keyOf(row)) ?? 0) + 1);
  const refused = rows.filter(({ status }) => status === 429);
  const byOwn = refused.filter((row) => admitted.get(keyOf(row)) === limitsOf(infrastructure).user);
  expect(byOwn.length / refused.length).toBeGreaterThan(0.3);
});

test("sites of the world projects mostly do on a weekday what they did on the one before: they work or rest", () => {
  const { rows } = play(projects, { ...aDay, days: 5 });
  const works = new Set<string>();
  const counts = new Map<string, number>();
  for (const { atMs, user } of rows) {
    const key = `${user} ${Math.floor((atMs - mondayMs) / dayMs)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    // Looks alone are two calls an hour.
    if ((counts.get(key) ?? 0) > 100) works.add(key);
  }
  const users = [...new Set(rows.map(({ user }) => user))];
  expect(works.size).toBeGreaterThan(0.15 * 5 * users.length);
  expect(works.size).toBeLessThan(0.5 * 5 * users.length);
  const pairs = users.flatMap((user) =>
    [1, 2, 3, 4].map((day) => works.has(`${user} ${day}`) === works.has(`${user} ${day - 1}`)),
  );
  expect(pairs.filter(Boolean).length).toBeGreaterThan(0.75 * pairs.length);
});

test("classes of the world classrooms learn on weekdays alone, and not on Wednesday afternoons", () => {
  const { rows } = play(classrooms, { ...aDay, days: 6 });
  const callsOn = (day: number, fromHour: number, untilHour: number): number =>
    rows.filter(({ atMs }) => {
      const hour = (atMs - mondayMs) / hourMs - 24 * day;
      return hour >= fromHour && hour < untilHour;
    }).length;
  // Lessons after noon have ended at 15:10, and the office's export follows at 15:30.
  const [tuesday, wednesday, saturday] = [callsOn(1, 13, 15), callsOn(2, 13, 15), callsOn(5, 8, 16)];
  expect(tuesday).toBeGreaterThan(10 * wednesday);
  expect(saturday).toBe(0);
});

test("queries of the world queries meet both limits of points", () => {
  const { rows } = play(queries, { ...aDay, days: 2 });
  expect(mostPoints(rows, () => "")).toBeGreaterThan(0.95 * pointLimits.organization);
  expect(mostPoints(rows, ({ user }) => user)).toBeGreaterThan(0.95 * pointLimits.user);
  const refused = rows.filter(({ status }) => status === 429);
  expect(refused.every(({ points }) => points !== undefined)).toBe(true);
});

test("branches of the world settlement begin in the evening, and stop two hours later", () => {
  const { rows } = play(settlement, aDay);
  const evening = rows.filter(({ atMs }) => hourOf(atMs) >= 19);
  expect(evening.length).toBeGreaterThan(0.8 * rows.length);
  const spans = new Map<string, { fromMs: number; untilMs: number }>();
  for (const { atMs, user } of evening)
    spans.set(user, { fromMs: spans.get(user)?.fromMs ?? atMs, untilMs: atMs });
  for (const { fromMs, untilMs } of spans.values()) {
    expect(fromMs % (15 * minuteMs)).toBeLessThan(minuteMs);
    // A batch that was begun in time may take a quarter of an hour more.
    expect(untilMs - fromMs).toBeLessThan(135 * minuteMs);
  }
});

test("bots of the world trains are refused requests by day, and points in the evening", () => {
  const refused = play(trains, { ...aDay, days: 5 }).rows.filter(({ status }) => status === 429);
  const [requests, queries] = [
    refused.filter(({ points }) => points === undefined),
    refused.filter(({ points }) => points !== undefined),
  ] as const;
  expect(requests.filter(({ atMs }) => hourOf(atMs) < 18).length).toBeGreaterThan(0.9 * requests.length);
  expect(queries.filter(({ atMs }) => hourOf(atMs) >= 18).length).toBeGreaterThan(0.9 * queries.length);
  expect(Math.min(requests.length, queries.length)).toBeGreaterThan(100);
});

test("teams of the world campaigns are refused in bursts at full and half hours for the most part, and rest at weekends", () => {
  const { rows } = play(campaigns, { ...aDay, days: 5 });
  const refused = rows.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(100);
  const scheduled = refused.filter(({ atMs }) => atMs % (30 * minuteMs) < 5 * minuteMs);
  expect(scheduled.length).toBeGreaterThan(0.5 * refused.length);
  const weekend = play(campaigns, { ...aDay, firstDay: 5 }).rows;
  expect(weekend.length).toBeLessThan(0.05 * rows.length);
});

test("a CSV and an access log of a world become the same callers and calls", async () => {
  const folder = await mkdtemp(join(tmpdir(), "spillway-worlds-"));
  try {
    const [world] = worlds;
    if (world === undefined) throw new RangeError("there is a world");
    const { rows } = play(world, aDay);
    const ofHour = rows.filter(({ atMs }) => atMs < (rows[0]?.atMs ?? 0) + 60 * minuteMs);
    await writeFile(join(folder, "day.csv"), csvOf(ofHour));
    await writeFile(join(folder, "day.log"), accessLogOf(ofHour));
    await writeFile(join(folder, "rules.json"), JSON.stringify(worldRules));
    for (const file of ["day.csv", "day.log"]) {
      const { code, stdout } = await spillwayHere(["fit", file, "--rules", "rules.json", "--json"], {
        cwd: folder,
      });
      expect(code).toBe(0);
      const { model } = JSON.parse(stdout) as {
        model: { calls: number; callers: number; populations: { users: string[] }[] };
      };
      expect(model.calls).toBe(ofHour.length);
      expect(new Set(model.populations.flatMap(({ users }) => users))).toEqual(
        new Set(ofHour.map(({ user }) => user)),
      );
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
