// Jobs in real threads: what they tell is what the same job tells here, and how the user's code ends them is told.
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadScenarioFile } from "../../src/load/scenario-file.ts";
import { startJobs } from "../../src/runs/job-thread.ts";
import { simulateJob } from "../../src/runs/simulate-job.ts";
import { codedErrorOf } from "../support/coded-error.ts";

let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-jobs-")));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const options = { importMs: 10_000, signal: new AbortController().signal };
const scenario = (
  behaviour: string,
): string => `import { defineScenario, poller, rest } from "spillway/scenario";
export default defineScenario({ name: "some", duration: "20s", seed: 3, startAt: "2026-01-01T00:00:00Z",
  populations: { all: { clients: 4, behaviour: ${behaviour} } } });\n`;
const polling = `poller({ every: "500ms", call: rest("/v2/user") })`;
const own = (next: string): string =>
  `{ name: "own", calls: [rest("/v2/user")], inFlightMost: 1, start: () => ({}), next(record, event, out) { ${next} } }`;

async function written(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

test("a thread tells the scenario as data, and each part of its run, however slowly they are taken", async () => {
  const path = await written("some.ts", scenario(polling));
  const { scenario: loaded, limiter, thread, close } = await startJobs({ scenario: path }, options);
  try {
    const here = await loadScenarioFile(path);
    expect([loaded.path, loaded.digest, limiter]).toEqual([here.path, here.digest, null]);
    expect(loaded.scenario).toMatchObject({ name: "some", seed: 3, durationMs: 20_000 });
    const wanted: unknown[] = [];
    const context = { scenario: here.scenario, limiter: null, signal: { aborted: false } };
    for await (const part of simulateJob({ changes: {} }, context, () => 0)) wanted.push(part);
    const text = (parts: readonly unknown[]) =>
      (parts as { lines?: string }[]).flatMap(({ lines }) => lines?.split("\n") ?? []);
    for (let times = 0; times < 2; times++) {
      const told: unknown[] = [];
      for await (const part of thread.run("simulate", { changes: {} })) {
        told.push(part);
        if (told.length % 4 === 0) await new Promise(setImmediate);
      }
      // More events than may be on their way, and the same lines.
      expect(told.length).toBeGreaterThan(20);
      expect(told[0]).toEqual(JSON.parse(JSON.stringify(wanted[0])));
      expect(text(told)).toEqual(text(wanted));
    }
    await expect(thread.run("simulate", { changes: {}, fault: "none-such" }).next()).rejects.toMatchObject({
      code: "FAULT_INVALID",
    });
  } finally {
    await close();
  }
});

describe("code of the user's", () => {
  test.each([
    ["exits while it is loaded", "process.exit(3);", "SCENARIO_INVALID", "process.exit(3)"],
    ["exits without a status", "process.exit();", "SCENARIO_INVALID", "process.exit()"],
    [
      "never ends",
      "await new Promise(() => {});",
      "SCENARIO_INVALID",
      "an await at its top level that never ends",
    ],
    [
      "throws behind our back",
      "setTimeout(() => { throw new TypeError('later'); }); await new Promise(() => setInterval(() => {}, 9e8));",
      "SCENARIO_INVALID",
      "TypeError: later",
    ],
  ])("that %s", async (_, code, error, got) => {
    const path = await written(`bad${got.length}.ts`, `${code}\n${scenario(polling)}`);
    expect(await codedErrorOf(startJobs({ scenario: path }, options))).toMatchObject({
      code: error,
      problems: [{ path: expect.stringContaining(path), got }],
    });
  });

  test("that ends a run is told by its file", async () => {
    const path = await written("ending.ts", scenario(own("process.exit(0);")));
    const { thread, close } = await startJobs({ scenario: path }, options);
    const job = thread.run("simulate", { changes: {} });
    const ended = (async () => {
      for await (const _ of job);
    })();
    expect(await codedErrorOf(ended)).toMatchObject({
      code: "SCENARIO_FAILED",
      problems: [{ got: "process.exit(0)" }],
    });
    await close();
  });
});
