// Callers who joined on a later day: a scenario has them as they were since, and the check holds it to that time.
import { expect, test } from "vitest";
import { checkSteps } from "../../sim/fit/check.ts";
import { fitTo } from "../../sim/fit/fit.ts";
import { joinedMs } from "../../sim/fit/sessions.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { resultOf } from "../support/result-of.ts";
import { newcomer } from "../worlds/newcomer.ts";
import { recordingOf, worldRules } from "../worlds/recorded.ts";
import { dayMs, hourMs, mondayMs, play } from "../worlds/world.ts";

type Jobs = Parameters<typeof joinedMs>[0];
const hourly = (firstMs: number, count: number): Jobs =>
  Array.from({ length: count }, (_, index) => {
    const startMs = firstMs + index * hourMs;
    return { startMs, endMs: startMs } as Jobs[number];
  });
const week = { startedAtMs: mondayMs, endedAtMs: mondayMs + 7 * dayMs };

test.each([
  ["who calls from the start on", hourly(mondayMs + hourMs, 100), 0],
  ["who was silent for three days, and never so long again", hourly(mondayMs + 3 * dayMs, 60), 3],
  ["who comes on a Saturday: no weekend was there before", hourly(mondayMs + 5 * dayMs, 40), 0],
  ["who made a few calls alone", hourly(mondayMs + 3 * dayMs, 5), 0],
])("%s", (_name, jobs, day) => {
  expect(joinedMs(jobs, week)).toBe(mondayMs + day * dayMs);
});

test("a token of the fifth day is named, and counts from then on", () => {
  const { rows } = play(newcomer, { firstDay: 0, days: 7, seed: 1, agents: 2 });
  const fit = fitTo(recordingOf(rows), { rules: parseRules(worldRules) });
  expect(fit.model.doubts.join("\n")).toMatch(/^reader joined on a later day \(2026-01-09\): /m);
  const { rows: checked } = resultOf(checkSteps(fit, 4));
  const calls = checked.find(({ population, figure }) => population === null && figure === "calls");
  const since = rows.filter(({ atMs }) => Math.floor(atMs) >= fit.model.settledAtMs);
  expect(calls?.recorded).toBe(since.length);
  expect(Math.abs((calls?.middle ?? 0) / since.length - 1)).toBeLessThan(0.15);
});

test("hourly jobs of one who joined late are by the clock, and so is the nightly one that begins with an hourly one", () => {
  const minuteMs = hourMs / 60;
  const row = (user: string, atMs: number) => ({ user, atMs, durationMs: 50, status: 200 });
  const watcher = Array.from({ length: 7 * 24 * 30 }, (_, tick) =>
    row("watcher", mondayMs + 2 * tick * minuteMs),
  );
  const late = Array.from({ length: 5 * 24 }, (_, hour) => {
    const atMs = mondayMs + 2 * dayMs + hour * hourMs + 20 * minuteMs;
    const pages = (from: number, count: number) =>
      Array.from({ length: count }, (_, page) => row("late", from + 150 * page));
    return [...pages(atMs, 2 + (hour % 3)), ...(hour % 24 === 2 ? pages(atMs + 3_000, 80 + hour) : [])];
  });
  const rows = [...watcher, ...late.flat()].sort((a, b) => a.atMs - b.atMs);
  const { populations } = fitTo(recordingOf(rows), { rules: parseRules(worldRules) }).model;
  const behaviour = populations.find(({ users }) => users.includes("late"))?.behaviour;
  const parts = behaviour?.kind === "together" ? behaviour.parts.map((part) => part.behaviour) : [];
  const schedules = parts.map((part) => (part.kind === "timetable" ? part.at : part.kind));
  expect(schedules).toEqual(["20 * * * *", "20 2 * * *"]);
});
