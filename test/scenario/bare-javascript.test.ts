// k6's JavaScript has the language and little else: no URL, no TextEncoder, no structuredClone, no node: module.
// The scenario room must run in it. An empty vm context stands for it here; the load tests run the real one.
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { expect, test } from "vitest";

const program = `
import { defineScenario, waitReset } from "./src/scenario/index.ts";
import { worker, rest, pipelinesQuery } from "./src/scenario/index.ts";
import { ClientOut, createEvent, startRecord, step } from "./src/scenario/client.ts";
import { seatingOf, seatsOf } from "./src/scenario/seats.ts";
import { clientsMost } from "./src/scenario/scenario.ts";
const scenario = defineScenario({
  name: "bare",
  duration: "1m30s",
  rules: { user: { rest: { limit: 5 } } },
  populations: {
    agents: {
      clients: 2,
      behaviour: worker({ calls: [{ call: rest("/v2/user") }, { call: pipelinesQuery(5) }], think: "1s" }),
      onRefused: waitReset({ of: "both", jitter: { least: 1, most: 9 } }),
    },
    open: {
      arrivals: { executor: "ramping-arrival-rate", stages: [{ target: 2, duration: "9s" }], preAllocatedVUs: 1 },
      behaviour: worker({ calls: [{ call: rest("/v2/user") }] }),
    },
    chance: {
      arrivals: { executor: "poisson-arrival-rate", rate: 1, preAllocatedVUs: 1 },
      behaviour: worker({ calls: [{ call: rest("/v2/user") }] }),
    },
  },
  expect: { refusedShare: "<5%" },
});
const [agents] = scenario.populations;
const out = new ClientOut();
const event = createEvent();
event.nowMs = 5;
step(agents.behaviour, agents.onRefused, startRecord(agents.behaviour, 1, 0, 0), event, out);
let mistakes = 0;
try { defineScenario({ name: "a b" }); } catch (error) { mistakes = error.problems.length; }
globalThis.result = JSON.stringify({
  sends: out.calls.slice(0, out.count).map(({ atMs }) => atMs),
  seats: seatsOf(scenario, seatingOf(scenario, null)).flat().length,
  arrivals: [clientsMost(scenario, 1), clientsMost(scenario, 2) > 60],
  mistakes,
});
`;

test("scenarios are defined, seated and stepped with nothing but the language", async () => {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: fileURLToPath(new URL("../..", import.meta.url)), loader: "ts" },
    bundle: true,
    write: false,
    format: "iife",
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "es2022",
    metafile: true,
    absWorkingDir: fileURLToPath(new URL("../..", import.meta.url)),
  });
  const text = outputFiles[0]?.text ?? "";
  const outside = Object.keys(metafile.inputs).filter(
    (path) => !/^(?:<stdin>|src\/(?:scenario|rules|policy|wire)\/)/.test(path),
  );
  // Both are plain JavaScript: the one reads what is no scenario of ours, the other's logarithm is the same everywhere.
  expect(outside.filter((path) => !/^node_modules\/(?:valibot|@stdlib)\//.test(path))).toEqual([]);
  // Named groups and look-behind are not in k6's regular expressions.
  expect(text).not.toMatch(/\(\?<[\w=!]/);
  const context = createContext({});
  runInContext("delete Object.groupBy; delete Map.groupBy;", context);
  runInContext(text, context);
  expect(JSON.parse(context["result"])).toEqual({ sends: [5], seats: 4, arrivals: [9, true], mistakes: 3 });
});
