// A scenario as data: plain values, and calls of the functions that a scenario's file calls. A world can thus be drawn,
// made smaller member by member, run, and written as a file that runs again.
import * as entry from "../../src/scenario/index.ts";
import type { Scenario, ScenarioInput } from "../../src/scenario/scenario.ts";

/** Functions of `spillway/scenario` that worlds are made of: behaviours, policies, calls and known clients. */
const makers = {
  aimd: entry.aimd,
  burst: entry.burst,
  looker: entry.looker,
  paced: entry.paced,
  pager: entry.pager,
  poller: entry.poller,
  queue: entry.queue,
  worker: entry.worker,
  exponential: entry.exponential,
  fixed: entry.fixed,
  none: entry.none,
  retryAfter: entry.retryAfter,
  waitReset: entry.waitReset,
  graphql: entry.graphql,
  pipelinesQuery: entry.pipelinesQuery,
  rest: entry.rest,
  status: entry.status,
  agentStackK8s: entry.agentStackK8s,
  autoscalerMetrics: entry.autoscalerMetrics,
  bkBuildWatch: entry.bkBuildWatch,
  bkJobList: entry.bkJobList,
  bkPreflight: entry.bkPreflight,
  ciCommentBot: entry.ciCommentBot,
  dashboardPerViewer: entry.dashboardPerViewer,
  goBuildkiteNext: entry.goBuildkiteNext,
  goBuildkiteV423: entry.goBuildkiteV423,
  herd: entry.herd,
  logFetcher: entry.logFetcher,
  mcpBuildWait: entry.mcpBuildWait,
  terraformApply: entry.terraformApply,
  vscodeExtension: entry.vscodeExtension,
} as const;

export type MakerName = keyof typeof makers;

/** One call of a function: `{ make: "rest", with: ["/v2/user"] }` is `rest("/v2/user")`. */
export interface Recipe {
  readonly make: MakerName;
  readonly with: readonly Plain[];
}

/** Plain JSON, with recipes in it. */
export type Plain = string | number | boolean | readonly Plain[] | Recipe | PlainObject;
export interface PlainObject {
  readonly [member: string]: Plain;
}

/** Input of `defineScenario`, as data. A population's `preset` stands for a known client's members. */
export interface WorldRecipe extends PlainObject {
  readonly name: string;
  readonly seed: number;
  /** Length of the run, ms. */
  readonly duration: number;
  readonly populations: PlainObject;
}

export const recipe = (make: MakerName, ...args: readonly Plain[]): Recipe => ({ make, with: args });

export function isRecipe(value: Plain): value is Recipe {
  return typeof value === "object" && !Array.isArray(value) && Object.hasOwn(value, "make");
}

/** Member of a population whose value is spread into it. */
const spread = "preset";

function made(value: Plain): unknown {
  if (typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(made);
  if (isRecipe(value)) {
    const maker = makers[value.make] as (...args: readonly unknown[]) => unknown;
    return maker(...value.with.map(made));
  }
  const members = Object.entries(value as PlainObject).map(([name, member]) =>
    name === spread ? (made(member) as object) : { [name]: made(member) },
  );
  return Object.assign({}, ...members);
}

/** @throws SpillwayError `SCENARIO_INVALID` if it is no scenario */
export function scenarioOf(world: WorldRecipe): Scenario {
  return entry.defineScenario(made(world) as ScenarioInput);
}

/** Returns a world as the file of a scenario, which `simulate` takes like any other. */
export function sourceOf(world: WorldRecipe, comment: string): string {
  const used = new Set(["defineScenario", ...makersIn(world)]);
  const imports = [...used].sort().join(", ");
  return `// ${comment}\nimport { ${imports} } from "spillway/scenario";\n\nexport default defineScenario(${written(world, "")});\n`;
}

function makersIn(value: Plain): MakerName[] {
  if (typeof value !== "object") return [];
  if (Array.isArray(value)) return value.flatMap(makersIn);
  if (isRecipe(value)) return [value.make, ...value.with.flatMap(makersIn)];
  return Object.values(value as PlainObject).flatMap(makersIn);
}

const widest = 100;

/** Returns a value as TypeScript, on one line if it fits. */
function written(value: Plain, indent: string): string {
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}  `;
  if (isRecipe(value)) return `${value.make}(${value.with.map((arg) => written(arg, indent)).join(", ")})`;
  const isList = Array.isArray(value);
  const parts = isList
    ? (value as readonly Plain[]).map((each) => written(each, inner))
    : Object.entries(value as PlainObject).map(([name, member]) =>
        name === spread ? `...${written(member, inner)}` : `${memberName(name)}: ${written(member, inner)}`,
      );
  const [open, close] = isList ? "[]" : "{}";
  const space = isList || parts.length === 0 ? "" : " ";
  const line = `${open}${space}${parts.join(", ")}${space}${close}`;
  if (indent.length + line.length <= widest && !line.includes("\n") && indent !== "") return line;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join("")}${indent}${close}`;
}

const memberName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
