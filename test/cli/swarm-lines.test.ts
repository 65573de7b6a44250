// A swarm in lines: what was drawn and judged, worlds that fail with the commands that repeat them, and states.

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stateNames } from "../../sim/swarm/states.ts";
import type { FailingWorld, SwarmResult } from "../../sim/swarm/swarm.ts";
import { exitOf, progressOf, saySwarm, write } from "../../src/cli/swarm.ts";
import { recorded, saidBy } from "../support/recorded.ts";
import { TypedIn } from "./typed.ts";

const states = (counts: Partial<SwarmResult["states"]>): SwarmResult["states"] => ({
  ...(Object.fromEntries(stateNames.map((name) => [name, 0])) as SwarmResult["states"]),
  ...counts,
});
const result: SwarmResult = {
  ...{ format: "spillway-swarm", version: 1, seed: 7, worlds: 1, calls: 1, windows: 1 },
  ...{ states: states({}), unreached: [], failures: [], interrupted: false },
};
const failure: FailingWorld = {
  ...{ world: "7/13", law: "bounded", suspects: [], explanation: "6 of 5", calls: 1_200, populations: 1 },
  shrunk: { calls: 6, populations: 1, tried: 1, explanation: "6 of 5 again", source: "// 13" },
};
const said = (more: Partial<SwarmResult>, { seconds = 0.5, files = [] as string[], target = "" } = {}) =>
  saidBy((terminal) => saySwarm(terminal, { ...result, ...more }, { seconds, files, target }));

test("a swarm without a failure says what it reached, and what it did not", () => {
  const head = "<bold>swarm</>: 1 world of seed 7, 1 call, 1 window judged";
  const none = "  <green>No law is broken</> in any of them.";
  expect(said({})).toEqual([`${head}, 0.5 s (2.0 worlds/s)`, none]);
  expect(said({}, { seconds: 0 })[0]).toBe(`${head}, 0.0 s (1000.0 worlds/s)`);
  expect(said({ worlds: 1_500, calls: 2_000, windows: 30 }, { seconds: 60 })[0]).toBe(
    "<bold>swarm</>: 1,500 worlds of seed 7, 2,000 calls, 30 windows judged, 60.0 s (25.0 worlds/s)",
  );
  const reached = states({ "refused-by-both": 1, "no-answer": 1_234 });
  const unreached = ["overloaded", "filled-exactly"] as const;
  expect(said({ states: reached, unreached, interrupted: true }).slice(2)).toEqual([
    "  reached, so many times:",
    "        1 a refusal where both windows lacked room",
    "    1,234 a call without an answer",
    "  <yellow>never reached</>: a 503 of what stands before the limiter; a call that filled a window exactly to its limit. More worlds may.",
    "  <yellow>Interrupted</>: what was done is kept.",
  ]);
});

test("each failing world is said with the commands that repeat it and its smaller one", () => {
  const suspects = ["a", "b", "c", "d"];
  const shrunk = { ...failure.shrunk, calls: 1_000, populations: 2, tried: 12 };
  const failures = [failure, { ...failure, world: "7/14", law: null, suspects, populations: 3, shrunk }];
  const target = "--fault one-extra";
  expect(said({ failures, unreached: ["overloaded"] }, { files: ["out/a b.ts"], target }).slice(1)).toEqual([
    "  <red>World 7/13: bounded is broken</>: 6 of 5",
    "  repeat it: npx spillway simulate --world 7/13 --fault one-extra",
    "  made smaller in 1 try: from 1 population and 1,200 calls to 1 and 6",
    "    6 of 5 again",
    "  repeat that: npx spillway simulate 'out/a b.ts' --fault one-extra",
    "  <red>World 7/14: the limiter fails</>: 6 of 5",
    "  suspects: a, b, c",
    "  repeat it: npx spillway simulate --world 7/14 --fault one-extra",
    "  made smaller in 12 tries: from 3 populations and 1,200 calls to 2 and 1,000",
    "    6 of 5 again",
    "  repeat that: npx spillway simulate '' --fault one-extra",
  ]);
  expect(
    said({ failures: [failure] }, { files: ["a.ts"] }).filter((line) => line.includes("repeat")),
  ).toEqual(["  repeat it: npx spillway simulate --world 7/13", "  repeat that: npx spillway simulate a.ts"]);
});

test.each<[Partial<SwarmResult>, boolean, number]>([
  [{}, false, 0],
  [{}, true, 0],
  [{ unreached: ["overloaded"] }, false, 0],
  [{ unreached: ["overloaded"] }, true, 1],
  [{ unreached: ["overloaded"], interrupted: true }, true, 130],
  [{ interrupted: true }, false, 130],
  [{ failures: [failure], interrupted: true }, false, 1],
])("%j, with states needed: %s, ends with %i", (more, needsStates, status) => {
  expect(exitOf({ ...result, ...more }, needsStates)).toBe(status);
});

test("progress is worlds, calls and speed, or the world that is made smaller", () => {
  let nowMs = 0;
  const { terminal, progress } = recorded();
  const tell = progressOf(2, terminal, () => nowMs);
  tell({ worlds: 0, calls: 0, shrinking: null });
  nowMs = 2_000;
  tell({ worlds: 1, calls: 1_500, shrinking: null });
  tell({ worlds: 1, calls: 1_500, shrinking: "7/13" });
  expect(progress).toEqual([
    "0 of 2 worlds, 0 calls",
    "1 of 2 worlds, 1,500 calls, 0.5 worlds/s, about 2 s left",
    "world 7/13 fails: making it smaller",
  ]);
});

test("a result is kept in --out, and a failing one in any case, with a scenario for each world", async () => {
  const out = join(await mkdtemp(join(tmpdir(), "spillway-swarm-kept-")), "kept");
  expect(await write(result, {})).toEqual([]);
  expect(await write(result, { out })).toEqual([]);
  expect(JSON.parse(await readFile(join(out, "swarm.json"), "utf8"))).toEqual(result);
  const failing = { ...result, failures: [failure, { ...failure, world: "7/2" }] };
  const files = [join(out, "world-7-13.ts"), join(out, "world-7-2.ts")];
  expect(await write(failing, { out })).toEqual(files);
  expect(await readFile(files[0] ?? "", "utf8")).toBe("// 13");
  expect((await readdir(out)).sort()).toEqual(["swarm.json", "world-7-13.ts", "world-7-2.ts"]);
  await rm(join(out, ".."), { recursive: true });
});

describe("as it is typed, a swarm", () => {
  let here: TypedIn;
  beforeAll(async () => {
    here = await TypedIn.of({});
  });
  afterAll(() => here.remove());
  const ran = (command: string) => here.run(command);

  test("says its worlds, and its result", async () => {
    const { code, said } = await ran("swarm 1 --seed 5");
    expect([code, said[0], said[1]]).toEqual([
      0,
      expect.stringMatching(/^swarm: 1 world of seed 5, [\d,]+ calls, \d+ windows? judged, N s$/),
      "  No law is broken in any of them.",
    ]);
    const all = await ran("swarm 1 --json --require-states --out swarm");
    expect(all.json()).toMatchObject({ seed: 1, worlds: 1, failures: [], files: [], interrupted: false });
    expect([all.code, all.aside.length > 2]).toEqual([1, true]);
    expect((await ran("swarm --fault list")).said[0]).toMatch(/^NAME +NETS/);
  });
});
