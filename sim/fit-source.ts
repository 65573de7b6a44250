// A fitted model → a scenario: as TypeScript for people to read and change, and as the object that this text would
// export. One description makes both.
import { parseRules } from "../src/rules/parse.ts";
import { type Rules, type Scope, type SwitchName, scopes, switchValues } from "../src/rules/rules.ts";
import { burst } from "../src/scenario/behaviours/burst.ts";
import { pager } from "../src/scenario/behaviours/pager.ts";
import { poller } from "../src/scenario/behaviours/poller.ts";
import { queue } from "../src/scenario/behaviours/queue.ts";
import { worker } from "../src/scenario/behaviours/worker.ts";
import { graphql, pipelinesQuery, rest, status } from "../src/scenario/calls.ts";
import { defineScenario } from "../src/scenario/define.ts";
import { exponential } from "../src/scenario/retries/exponential.ts";
import { fixed } from "../src/scenario/retries/fixed.ts";
import { none } from "../src/scenario/retries/none.ts";
import { retryAfter } from "../src/scenario/retries/retry-after.ts";
import { waitReset } from "../src/scenario/retries/wait-reset.ts";
import type { Scenario } from "../src/scenario/scenario.ts";
import { defaultOrganization } from "../src/scenario/seats.ts";
import {
  commentText,
  type Expression,
  evaluated,
  json,
  list,
  literal,
  type Makers,
  make,
  makersOf,
  object,
  written,
} from "./fit-expression.ts";
import type { FittedArrivals, FittedCall, FittedModel, FittedPopulation, RulesFrom } from "./fit-model.ts";
import type { FittedRetry } from "./fit-policies.ts";
import type { FittedSpan, FittedSpread } from "./fit-spread.ts";
import { count, timeText } from "./fit-words.ts";

const makers: Makers = {
  burst,
  defineScenario,
  exponential,
  fixed,
  graphql,
  none,
  pager,
  pipelinesQuery,
  poller,
  queue,
  rest,
  retryAfter,
  status,
  waitReset,
  worker,
};

/** The scenario, to be simulated at once. */
export function fittedScenario(model: FittedModel): Scenario {
  return evaluated(describedBy(model), makers) as Scenario;
}

/** The scenario as a TypeScript module, which `spillway simulate` and `spillway load` take. */
export function fittedSource(model: FittedModel): string {
  const scenario = describedBy(model);
  const names = makersOf(scenario);
  const line = `import { ${names.join(", ")} } from "spillway/scenario";`;
  const imports =
    line.length <= 110
      ? line
      : `import {\n${names.map((name) => `  ${name},\n`).join("")}} from "spillway/scenario";`;
  return `${headText(model)}${imports}\n\nexport default ${written(scenario, 0, 15)};\n`;
}

function headText({ calls, callers, unexplained, uncounted, startAtMs, durationMs }: FittedModel): string {
  const from = instantText(startAtMs);
  const explained = calls === 0 ? 0 : Math.floor((1000 * (calls - unexplained)) / calls) / 10;
  const left = uncounted === 0 ? "" : ` ${count(uncounted, "call")} that no quota counts were left out.`;
  return commentText(
    `Fitted by spillway from ${count(calls, "call")} of ${count(callers, "caller")}, from ${from} on, ${timeText(durationMs)} long. The populations below make ${explained} % of these calls.${left} What was asked for was not recorded, only what it cost: the calls are stand-ins.`,
    0,
  );
}

const instantText = (ms: number): string => new Date(ms).toISOString().replace(".000Z", "Z");

const rulesReason: Readonly<Record<RulesFrom, string>> = {
  given: "As they were given.",
  trace: "As the trace's header says.",
  headers: "As the answers' headers showed: limits by the most frequent, windows by the longest reset.",
  defaults: "Nothing says what the rules were: these are the defaults.",
};

function describedBy(model: FittedModel): Expression {
  const { name, startAtMs, durationMs, rules, network, populations } = model;
  const { roundTrip, execution } = network;
  const scenario = object(
    {
      name,
      description: `Fitted from ${count(model.calls, "recorded call")}`,
      seed: 1,
      duration: timeText(durationMs),
      startAt: instantText(startAtMs),
      rules: rulesExpression(rules),
      network:
        roundTrip === null && execution === null
          ? null
          : object({
              roundTrip: roundTrip === null ? null : spreadExpression(roundTrip),
              execution: execution === null ? null : spreadExpression(execution),
            }),
      populations: {
        kind: "object",
        members: populations.map((population) => ({
          key: population.name,
          value: populationExpression(population),
          comment: `${population.reasons.population}.`,
        })),
      },
    },
    { rules: rulesReason[model.rulesFrom], network: `${network.reason}.` },
  );
  return make("defineScenario", scenario);
}

/** Limits as they are, switches where they are not the default. */
function rulesExpression({ organization, user, semantics, organizations, users }: Rules): Expression {
  const defaults = parseRules({}).semantics;
  const switched = (Object.keys(switchValues) as SwitchName[]).flatMap((name) => {
    const own: Readonly<Record<Scope, string | boolean>> = semantics[name];
    const isDefault = scopes.every((scope) => own[scope] === defaults[name][scope]);
    return isDefault ? [] : [[name, own.rest === own.graphql ? own.rest : own] as const];
  });
  const optional = (value: object): Expression | null =>
    Object.keys(value).length === 0 ? null : json(value);
  return object({
    organization: json(organization),
    user: json(user),
    semantics: optional(Object.fromEntries(switched)),
    organizations: optional(organizations),
    users: optional(users),
  });
}

function populationExpression(population: FittedPopulation): Expression {
  const { organization, user, arrivals, onRefused, attempts, reasons } = population;
  const isClosed = arrivals.kind === "closed";
  const usual = isClosed ? "each" : "shared";
  return object(
    {
      ...(isClosed
        ? {
            clients: arrivals.clients,
            startWithin: arrivals.startWithinMs === 0 ? null : timeText(arrivals.startWithinMs),
          }
        : { arrivals: arrivalsExpression(arrivals) }),
      organization: organization === defaultOrganization ? null : organization,
      user: user === usual ? null : user,
      behaviour: behaviourExpression(population),
      onRefused: retryExpression(onRefused, attempts),
    },
    {
      [isClosed ? "startWithin" : "arrivals"]: `${capital(reasons.arrivals)}.`,
      behaviour: `${capital(reasons.behaviour)}.`,
      onRefused: `${capital(reasons.onRefused)}.`,
    },
  );
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

function behaviourExpression({ behaviour, mix }: FittedPopulation): Expression {
  const [first] = mix;
  if (first === undefined) throw new RangeError("a population makes calls");
  const call = callExpression(first);
  switch (behaviour.kind) {
    case "poller":
      return make("poller", object({ every: timeText(behaviour.everyMs), call }));
    case "burst":
      return make("burst", object({ call, size: behaviour.size, every: everyText(behaviour.everyMs) }));
    case "queue": {
      const { jobs, workers, everyMs } = behaviour;
      return make("queue", object({ call, every: everyText(everyMs), jobs, workers }));
    }
    case "pager": {
      const { pages, last, parallel, everyMs } = behaviour;
      return make(
        "pager",
        object({
          call,
          pages,
          parallel: parallel === 1 ? null : parallel,
          every: everyText(everyMs),
          entries: last === null ? null : last * usualPerPage,
        }),
      );
    }
    case "worker":
      return make(
        "worker",
        object({
          calls: list(mix.map((each) => callWithWeight(each, mix.length))),
          think: isNothing(behaviour.think) ? null : spreadExpression(behaviour.think),
          jobs: behaviour.jobs,
        }),
      );
  }
}

/** Entries on a page, where a pager does not say. */
const usualPerPage = 30;

const everyText = (everyMs: number | null): string | null => (everyMs === null ? null : timeText(everyMs));
const isNothing = (spread: FittedSpread): boolean => spread.kind === "constant" && spread.ms === 0;

const callWithWeight = (call: FittedCall, kinds: number): Expression =>
  object({ call: callExpression(call), weight: kinds === 1 ? null : call.weight });

/** The most pipelines that one query asks for, and the points that it costs beside them (SPEC.md §1). */
const pipelinesMost = 500;
const frame = 3;
const samplePipelines = 10;

/** A call that costs the same. */
function callExpression({ scope, free, cost, actual }: FittedCall): Expression {
  if (free) return make("status");
  if (scope === "rest") return make("rest", literal("/v2/organizations/:org/pipelines"));
  const first = cost - frame;
  if (first < 1 || first > pipelinesMost || actual < frame)
    return make(
      "graphql",
      literal('{ organization(slug: ":org") { slug } }'),
      object({ cost, actual: actual === cost ? null : actual, name: `points-${cost}` }),
    );
  const existing = actual - frame;
  return existing === Math.min(first, samplePipelines)
    ? make("pipelinesQuery", literal(first))
    : make("pipelinesQuery", literal(first), literal(existing));
}

function spreadExpression(spread: FittedSpread): Expression {
  switch (spread.kind) {
    case "constant":
      return literal(timeText(spread.ms));
    case "uniform":
      return spanExpression(spread);
    case "lognormal":
      return object({ median: timeText(spread.median), p95: timeText(spread.p95) });
    case "quantiles":
      return object({ quantiles: list(spread.quantiles.map(literal)) });
  }
}

const spanExpression = ({ least, most }: FittedSpan): Expression =>
  least === most
    ? literal(timeText(least))
    : object({ least: least === 0 ? 0 : timeText(least), most: timeText(most) });

const jitterExpression = (jitter: FittedSpan): Expression | null =>
  jitter.most === 0 ? null : spanExpression(jitter);

function retryExpression(retry: FittedRetry, attempts: number | null): Expression {
  switch (retry.kind) {
    case "unknown":
    case "none":
      return make("none");
    case "waitReset": {
      const from = retry.from === "answer" ? null : retry.from;
      return make(
        "waitReset",
        object({ of: retry.of, from, jitter: jitterExpression(retry.jitter), attempts }),
      );
    }
    case "retryAfter": {
      const jitter = jitterExpression(retry.jitter);
      return jitter === null && attempts === null
        ? make("retryAfter")
        : make("retryAfter", object({ jitter, attempts }));
    }
    case "fixed":
      return make("fixed", object({ wait: spanExpression(retry.wait), attempts }));
    case "exponential": {
      const { first, factor, most, jitter } = retry;
      return make(
        "exponential",
        object({
          first: timeText(first),
          factor: factor === 2 ? null : factor,
          most: timeText(most),
          jitter: jitter === "none" ? null : jitter,
          attempts,
        }),
      );
    }
  }
}

const hourMs = 3_600_000;
/** Units of time in which a rate may be said, in ms: the smallest in which it has two digits. */
const units = [1_000, 60_000, hourMs, 24 * hourMs];

function rateOf(perHour: number): { readonly rate: number; readonly unitMs: number } {
  const unitMs = units.find((ms) => (perHour * ms) / hourMs >= 30) ?? 24 * hourMs;
  return { rate: Math.max(1, Math.round((perHour * unitMs) / hourMs)), unitMs };
}

/** How many clients k6 keeps ready: those of a minute. */
const readied = (perHour: number): number => Math.min(1000, Math.max(10, Math.ceil(perHour / 60)));

function arrivalsExpression(arrivals: Exclude<FittedArrivals, { kind: "closed" }>): Expression {
  if (arrivals.kind === "cron") {
    const { schedule, clients, spreadMs } = arrivals;
    const spread = spreadMs === 0 ? null : timeText(spreadMs);
    return object({ executor: "cron", schedule, clients, spread, preAllocatedVUs: Math.max(10, clients) });
  }
  if (arrivals.kind === "hours") {
    const most = Math.max(...arrivals.perHour);
    return object({
      executor: "business-day",
      rates: list(arrivals.perHour.map((perHour) => literal(Math.round(perHour)))),
      preAllocatedVUs: readied(most),
    });
  }
  const { rate, unitMs } = rateOf(arrivals.perHour);
  return object({
    executor: arrivals.even ? "constant-arrival-rate" : "poisson-arrival-rate",
    rate,
    timeUnit: unitMs === 1000 ? null : timeText(unitMs),
    preAllocatedVUs: readied(arrivals.perHour),
  });
}
