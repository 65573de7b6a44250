// Logs whose refusals were filtered out beforehand: a replay that finds nobody refused says that it is a lower bound.
// @module-tag long
import { describe, expect, test } from "vitest";
import { replay } from "../../sim/replay/replay.ts";
import { replayView } from "../../src/report/replay-view.ts";
import { filteredWords, replayOutcome } from "../../src/report/replay-words.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { worldRules } from "../worlds/recorded.ts";
import { play, type World } from "../worlds/world.ts";
import { worlds } from "../worlds/worlds.ts";
import { logOf, noon, type Row } from "./rows.ts";

const minute = 60_000;

async function replayed(rows: readonly Row[], limit?: number) {
  const user = { rest: { limit: limit ?? 50, windowSeconds: 60 } };
  const result = await replay(logOf(rows, 1_000), parseRules({ ...worldRules, user }));
  return { result, view: replayView(result), words: filteredWords(replayView(result)) };
}

/** Minutes of one user with so many calls each. */
const minutesOf = (counts: readonly number[], status = 200): Row[] =>
  counts.flatMap((calls, place) =>
    Array.from({ length: calls }, () => ({ atMs: noon + place * minute, user: "ann", status })),
  );
const times = (calls: number, minutes: number): number[] => new Array<number>(minutes).fill(calls);

test("six full windows and no refusal are told, by window, limit and count", async () => {
  const { result, view, words } = await replayed(minutesOf([...times(50, 6), ...times(20, 30)]));
  expect(result.recorded?.seemsFiltered).toBe(true);
  expect(result.headroom.map(({ windowsFull }) => windowsFull)).toEqual([0, 6]);
  expect(words).toBe(
    "Refused rows seem to be left out of this log: 6 windows are filled to the limit (user, REST), and no row is a refusal. What follows is a lower bound, unless callers stop at the limit by themselves.",
  );
  expect(replayOutcome(view)).toBe("none");
});

test.each([
  ["four full windows alone", minutesOf(times(50, 4))],
  ["a log without statuses", minutesOf(times(50, 6), 0)],
  [
    "a log with a refusal",
    [...minutesOf(times(50, 6)), ...minutesOf([1], 429)].sort((a, b) => a.atMs - b.atMs),
  ],
  ["windows beyond the limit", minutesOf([...times(50, 6), ...times(60, 4)])],
  ["as many windows a little below", minutesOf([...times(50, 6), ...times(48, 3)])],
])("%s: nothing is told", async (_, rows) => {
  const { result, words } = await replayed(rows);
  expect([result.recorded?.seemsFiltered ?? false, words]).toEqual([false, ""]);
});

test("a limit below ten is reached by chance", async () => {
  expect((await replayed(minutesOf(times(9, 6)), 9)).words).toBe("");
  expect((await replayed(minutesOf(times(10, 6)), 10)).words).not.toBe("");
});

describe("worlds, each third of them", () => {
  const some = worlds.filter((_, place) => place % 3 === 0);
  /** Returns a day's requests: queries have limits of their own. */
  const dayOf = (world: World, agents: number) =>
    play(world, { firstDay: 0, days: 1, seed: 3, agents: Math.ceil(agents) }).rows.flatMap((row) =>
      row.points === undefined ? [{ ...row, atMs: Math.floor(row.atMs) }] : [],
    );

  test.each(some)("$name, with twice the agents", async (world) => {
    const rows = dayOf(world, 2 * world.agents);
    // With these refusals nothing is told, as of any log that has one.
    expect(rows.some(({ status }) => status === 429)).toBe(true);
    const { result, words } = await replayed(rows.filter(({ status }) => status !== 429));
    expect(result.totals.refused).toBe(0);
    // Windows next to the limit are as usual there as full ones.
    expect(words === "").toBe(world.name === "incidents");
  });

  test.each(some)("$name, with so few agents that nobody is refused", async (world) => {
    const rows = dayOf(world, world.agents / 6).filter(({ user }) => user.startsWith("agent"));
    const most = Math.max(
      ...(await replayed(rows, 50)).result.headroom.map(({ smallestLimit }) => smallestLimit),
    );
    const isRefused = rows.some(({ status }) => status === 429);
    for (const limit of [0.7, 0.8, 0.9, 1])
      if (!isRefused) expect((await replayed(rows, Math.max(1, Math.round(limit * most)))).words).toBe("");
  });
});
