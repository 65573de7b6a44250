// A fit's check of itself: it is silent where the scenario says what was recorded, and speaks where it does not.
import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkSteps } from "../../sim/fit/check.ts";
import type { FitCheck } from "../../sim/fit/check-result.ts";
import { checkTable, checkText } from "../../sim/fit/check-text.ts";
import { fitTo } from "../../sim/fit/fit.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { fitMarkdown } from "../../sim/fit/report.ts";
import { fittedSource } from "../../sim/fit/source.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { poller } from "../../src/scenario/behaviours/poller.ts";
import { rest } from "../../src/scenario/calls.ts";
import { waitReset } from "../../src/scenario/retries/wait-reset.ts";
import { spillwayHere } from "../support/command.ts";
import { resultOf } from "../support/result-of.ts";
import { csvOf, recordingOf, worldRules } from "../worlds/recorded.ts";
import { releases } from "../worlds/releases.ts";
import { minuteMs, play, type Row } from "../worlds/world.ts";
import { loggedCalls, traced, world } from "./recordings.ts";

/** A day on which releases wake everybody at once; of one alone no fit can tell how often such come. */
const day = play(releases, { firstDay: 0, days: 1, seed: 1 }).rows;
const woken = aroundRelease(day);
const wokenRules = parseRules(worldRules);

/** An hour in the middle of which calls are refused first. */
function aroundRelease(rows: readonly Row[]): Row[] {
  const refused = rows.find(({ status }) => status === 429);
  return rows.filter(({ atMs }) => Math.abs(atMs - (refused?.atMs ?? 0)) < 30 * minuteMs);
}

const checked = (recording: Recording, seeds: number): FitCheck =>
  resultOf(checkSteps(fitTo(recording, { rules: recording.rules ?? wokenRules }), seeds));

test("a scenario that was fitted to its like has no figure off", () => {
  const polling = world({
    agents: {
      clients: 30,
      startWithin: "5s",
      behaviour: poller({ every: "5s", call: rest("/v2/user") }),
      onRefused: waitReset({ of: "both" }),
    },
  });
  const recording = traced(polling);
  const check = checked(recording, 5);
  expect(check.seeds).toBe(5);
  expect(check).toMatchObject({ findings: [], why: null });
  expect(checkText(check)).toBe("check: 5 simulations of the scenario are as the recording, within chance");
  const refused = check.rows.find(({ population, figure }) => population === null && figure === "refused");
  expect(refused?.recorded).toBeGreaterThan(100);
  expect(Math.abs(check.error.refused)).toBeLessThan(0.1);
  expect(recordedIn(check)).toEqual(countedIn(recording));
});

test("waits that a log without durations lacks are not recorded, and no error", () => {
  const recording = loggedCalls(Array.from({ length: 60 }, (_, place) => [place * 20_000, Number.NaN, 200]));
  const check = checked(recording, 5);
  const waits = check.rows.filter(({ figure }) => figure.startsWith("wait"));
  expect(waits.map(({ recorded, off }) => [recorded, off])).toEqual(waits.map(() => [null, false]));
  expect(waits.length).toBeGreaterThan(3);
  expect(check.error).toEqual({ calls: expect.any(Number), refused: 0, waitP95Ms: null });
  const lines = checkTable(check).filter((line) => line.includes(" wait"));
  expect(lines).toHaveLength(waits.length);
  for (const line of lines) expect(line).toMatch(/ not recorded {2}/);
  const fit = fitTo(recording, { rules: wokenRules });
  expect(fittedSource(fit.model, check.error)).toContain("waitP95Ms: null");
  expect(
    fitMarkdown({ format: "spillway-fit", version: 1, model: fit.model, check, backtest: null, source: "" }),
  ).toMatch(/\| p95 wait, ms \| not recorded \|/);
});

const recordedIn = ({ rows }: FitCheck) =>
  Object.fromEntries(
    rows
      .filter(({ population, figure }) => population === null && !figure.startsWith("wait"))
      .map(({ figure, recorded }) => [figure, recorded]),
  );

/** The same counted here, in windows of a minute. */
function countedIn({ callers, startedAtMs, endedAtMs }: Recording) {
  const windows = Math.ceil((endedAtMs - startedAtMs) / minuteMs);
  const [offered, admitted] = [new Array<number>(windows).fill(0), new Array<number>(windows).fill(0)];
  for (const { atMs, status } of callers.flatMap(({ calls }) => calls)) {
    const window = Math.floor((atMs - startedAtMs) / minuteMs);
    offered[window] = (offered[window] ?? 0) + 1;
    if (status !== 429) admitted[window] = (admitted[window] ?? 0) + 1;
  }
  const sum = (counts: number[]): number => counts.reduce((all, each) => all + each, 0);
  const sorted = admitted.toSorted((a, b) => a - b);
  const rank = (share: number): number => sorted[Math.ceil(share * windows) - 1] ?? Number.NaN;
  return {
    ...{ calls: sum(offered), refused: sum(offered) - sum(admitted), busiest: Math.max(...offered) },
    ...{ admittedP50: rank(0.5), admittedP95: rank(0.95), admittedMost: rank(1) },
  };
}

test("what no fit can learn is off, by name, in the first line and as the scenario's error", () => {
  const check = checked(recordingOf(woken), 5);
  expect(checkText(check)).toMatch(/^check: off by more than chance: /);
  expect(check.findings.join("\n")).toMatch(/^all: refused: \d+ recorded, \d+( to \d+)? simulated$/m);
  expect(check.error.refused).toBeGreaterThan(0.5);
  // One event, of which a recording of an hour cannot tell how often it comes.
  expect(check.why).toContain("callers called together");
  expect(checkTable(check).join("\n")).toMatch(/ all: refused +\d+ +\d+ .*!$/m);
  expect(checked(recordingOf(woken), 5)).toEqual(check);
});

test("a day of several releases is learned: it is as full as it was", () => {
  const { rows, why } = checked(recordingOf(day), 4);
  expect(why).toBeNull();
  const busiest = rows.find(({ population, figure }) => population === null && figure === "busiest");
  expect(busiest?.recorded).toBeGreaterThan(110);
  expect(Math.abs((busiest?.middle ?? 0) - (busiest?.recorded ?? 0))).toBeLessThan(20);
});

test("the verb says it, writes it, and ends by it where it is asked to", async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-check-")));
  try {
    await writeFile(join(folder, "day.csv"), csvOf(woken));
    await writeFile(join(folder, "rules.json"), JSON.stringify(worldRules));
    const words = ["fit", "day.csv", "--rules", "rules.json", "--no-backtest", "--force", "-o", "day.ts"];
    const strict = await spillwayHere([...words, "--strict"], { cwd: folder });
    expect(strict.code).toBe(1);
    expect(strict.stdout).toMatch(/^check: off by more than chance: /);
    expect(await readFile(join(folder, "day.ts"), "utf8")).toMatch(
      /fitError: \{ calls: .*, refused: (?:0\.\d+|1),/,
    );
    const silent = await spillwayHere([...words, "--strict", "--no-check"], { cwd: folder });
    expect(silent.code).toBe(0);
    expect(silent.stdout).not.toContain("check:");
    expect(await readFile(join(folder, "day.ts"), "utf8")).not.toMatch(
      /fitError: \{ (calls|refused|waitP95Ms)/,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
