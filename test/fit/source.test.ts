// The scenario as it is written: readable, formatted, loadable, and the very scenario that the backtest simulates.
// @module-tag long
import { spawnSync } from "node:child_process";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { literal, written } from "../../sim/fit/expression.ts";
import { fitScenario } from "../../sim/fit/fit.ts";
import type { FittedModel } from "../../sim/fit/model.ts";
import { fittedScenario, fittedSource } from "../../sim/fit/source.ts";
import { simulate } from "../../sim/simulate.ts";
import { builtInScenarios, loadScenarioFile } from "../../src/load/scenario-file.ts";
import {
  burst,
  exponential,
  fixed,
  graphql,
  pipelinesQuery,
  rest,
  retryAfter,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";
import { encodeCall } from "../../src/trace/write.ts";
import { logged, traced, world } from "./recordings.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-fit-")));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const pipelines = rest("/v2/organizations/:org/pipelines");
const crowded = worker({ calls: [{ call: pipelines }], think: { least: "300ms", most: "900ms" } });

/** Everything that a fitted scenario can say, in a few worlds. */
const worlds: Readonly<Record<string, () => FittedModel>> = {
  "policies and a log's names": () =>
    fitScenario(
      logged(
        world({
          resets: { clients: 6, behaviour: crowded, onRefused: waitReset({ of: "both", jitter: "1s" }) },
          waits: { clients: 6, behaviour: crowded, onRefused: fixed({ wait: { least: "1s", most: "2s" } }) },
        }),
      ),
    ),
  "growing waits, attempts, other rules": () =>
    fitScenario(
      traced(
        world(
          {
            grows: {
              clients: 12,
              organization: "globex",
              behaviour: crowded,
              onRefused: exponential({ first: "1s", most: "20s", factor: 3, jitter: "equal", attempts: 5 }),
            },
          },
          {
            rules: { semantics: { refused: "counted", reset: { rest: "floor" } }, users: { "globex/a": {} } },
          },
        ),
      ),
    ),
  "Retry-After, points, arrivals": () =>
    fitScenario(
      traced(
        world(
          {
            visitors: {
              arrivals: { executor: "poisson-arrival-rate", rate: 5, preAllocatedVUs: 10 },
              user: 7,
              behaviour: worker({
                calls: [
                  { call: pipelines },
                  { call: graphql("{ viewer { id } }", { cost: 700, actual: 400 }) },
                  { call: pipelinesQuery(20, 20) },
                ],
                jobs: 1,
              }),
              onRefused: retryAfter(),
            },
            cron: {
              arrivals: { executor: "cron", schedule: "* * * * *", clients: 3, preAllocatedVUs: 3 },
              user: 3,
              behaviour: burst({ call: pipelines, size: 4 }),
            },
          },
          { rules: { organization: { rest: { limit: 150, windowSeconds: 50 } } } },
        ),
      ),
    ),
};

function linesOf(scenario: Scenario, seed: number): string[] {
  const { calls } = simulate(scenario, { seed, durationMs: Math.min(scenario.durationMs, 120_000) });
  return Array.from(calls, encodeCall);
}

/** As this repository's own formatter has it. */
function formatted(text: string): string {
  const words = ["format", `--config-path=${join(root, ".biome.json")}`, "--stdin-file-path=fitted.ts"];
  const { stdout, stderr, status } = spawnSync(join(root, "node_modules/.bin/biome"), words, {
    cwd: root,
    input: text,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

async function allModels(): Promise<[string, FittedModel][]> {
  const built = await Promise.all(
    (await builtInScenarios()).map(async (name): Promise<[string, FittedModel]> => {
      const { scenario } = await loadScenarioFile(name);
      return [name, fitScenario(traced(scenario))];
    }),
  );
  return [...built, ...Object.entries(worlds).map(([name, make]): [string, FittedModel] => [name, make()])];
}

describe("a fitted scenario's source", () => {
  test("is the scenario that is simulated from memory, call by call", async () => {
    for (const [name, model] of await allModels()) {
      const path = join(folder, "fitted.ts");
      await writeFile(path, fittedSource(model));
      const { scenario } = await loadScenarioFile(path);
      expect(linesOf(scenario, 3), name).toEqual(linesOf(fittedScenario(model), 3));
    }
  });

  test("is formatted as the formatter would", async () => {
    for (const [name, model] of await allModels()) {
      const source = fittedSource(model);
      expect(formatted(source), name).toBe(source);
    }
  });

  test.each([
    ['say "so"', `'say "so"'`],
    ["it's", `"it's"`],
    [`it's "so"`, String.raw`'it\'s "so"'`],
    [`"it's"'s`, String.raw`"\"it's\"'s"`],
    ['a \\ "b"\n', String.raw`'a \\ "b"\n'`],
  ])("quotes %j by what needs fewer backslashes", (value, text) => {
    expect(written(literal(value))).toBe(text);
    expect(formatted(`x = ${text};\n`)).toBe(`x = ${text};\n`);
  });

  test("says from what its numbers were fitted", () => {
    const source = fittedSource(
      fitScenario(
        traced(world({ herd: { clients: 20, behaviour: crowded, onRefused: waitReset({ of: "both" }) } })),
      ),
    );
    expect(source).toMatch(/^\/\/ Fitted by spillway from [\d,]+ calls of 20 callers/);
    expect(source).toMatch(/\/\/ 20 clients, 20 users, [\d,]+ calls, [\d,]+ refused\./);
    expect(source).toMatch(/\/\/ [\d,]+ pauses after an answer: median \d+ms/);
    expect(source).toMatch(/\/\/ \d+ of \d+ attempts after a refusal came at the reset/);
    expect(source).toMatch(/\/\/ As the trace's header says\.\n {2}rules: \{/);
  });

  test("has the rules that it was fitted under", () => {
    const model = (worlds["growing waits, attempts, other rules"] as () => FittedModel)();
    expect(fittedScenario(model).rules).toEqual(model.rules);
    expect(model.rules.semantics.reset).toEqual({ rest: "floor", graphql: "ceil" });
    expect(model).toMatchObject({
      rulesFrom: "trace",
      populations: [{ attempts: 5, organization: "globex" }],
    });
  });

  test("is the same each time", () => {
    for (const make of Object.values(worlds)) expect(fittedSource(make())).toBe(fittedSource(make()));
  });
});
