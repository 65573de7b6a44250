// A fitted model → a scenario: as TypeScript for people to read and change, and as the object that this text exports.
// Both are made from one description.
import type { Policy } from "../../src/policy/policy.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { type Rules, type Scope, scopes } from "../../src/rules/rules.ts";
import { switchNames } from "../../src/rules/switches.ts";
import { capitalized, counted } from "../../src/rules/words.ts";
import { burst } from "../../src/scenario/behaviours/burst.ts";
import { pager } from "../../src/scenario/behaviours/pager.ts";
import { poller } from "../../src/scenario/behaviours/poller.ts";
import { queue } from "../../src/scenario/behaviours/queue.ts";
import { sessions } from "../../src/scenario/behaviours/sessions.ts";
import { together } from "../../src/scenario/behaviours/together.ts";
import { worker } from "../../src/scenario/behaviours/worker.ts";
import { graphql, pipelinesQuery, rest, status } from "../../src/scenario/calls.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import type { Outage } from "../../src/scenario/network.ts";
import { exponential } from "../../src/scenario/retries/exponential.ts";
import { fixed } from "../../src/scenario/retries/fixed.ts";
import { none } from "../../src/scenario/retries/none.ts";
import { retryAfter } from "../../src/scenario/retries/retry-after.ts";
import { waitReset } from "../../src/scenario/retries/wait-reset.ts";
import type { FitError, Scenario } from "../../src/scenario/scenario.ts";
import { defaultOrganization } from "../../src/scenario/seats.ts";
import {
  commentText,
  type Expression,
  evaluated,
  json,
  list,
  type Makers,
  make,
  makersOf,
  object,
  written,
} from "./expression.ts";
import type { FittedBehaviour, FittedCall, FittedModel, FittedPopulation, RulesFrom } from "./model.ts";
import {
  adaptExpression,
  arrivalsExpression,
  callExpression,
  countExpression,
  retryExpression,
  rhythmExpression,
  spreadExpression,
  thinkExpression,
  withinExpression,
} from "./pieces.ts";
import { timeText } from "./words.ts";

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
  sessions,
  status,
  together,
  waitReset,
  worker,
};

/** Returns the scenario as an object, ready to be simulated. */
export function fittedScenario(model: FittedModel): Scenario {
  return evaluated(describedBy(model), makers) as Scenario;
}

/** Returns the scenario as a TypeScript module for `spillway simulate` and `spillway load`. */
export function fittedSource(model: FittedModel, error?: FitError): string {
  const scenario = describedBy(model, error);
  const names = makersOf(scenario);
  const line = `import { ${names.join(", ")} } from "spillway/scenario";`;
  const imports =
    line.length <= 110
      ? line
      : `import {\n${names.map((name) => `  ${name},\n`).join("")}} from "spillway/scenario";`;
  return `${headText(model)}${imports}\n\nexport default ${written(scenario, 0, 15)};\n`;
}

function headText(model: FittedModel): string {
  const { calls, callers, unexplained, uncounted, startAtMs, durationMs, policy, doubts } = model;
  const under =
    policy === undefined
      ? ""
      : ` Its limits are those of the policy ${policy.name}: simulate it with --policy.`;
  const from = instantText(startAtMs);
  const explained = Math.floor((1000 * (calls - unexplained)) / calls) / 10;
  const left = uncounted === 0 ? "" : ` ${counted(uncounted, "call")} that no quota counts were left out.`;
  return commentText(
    `Fitted by spillway from ${counted(calls, "call")} of ${counted(callers, "caller")}, from ${from} on, ${timeText(durationMs)} long. The populations below make ${explained} % of these calls.${left} Of each call its ${policy === undefined ? "kind" : "operation"} and its cost are kept, not the request: the calls are stand-ins.${under}${doubts.length === 0 ? "" : ` What the recording does not tell: ${doubts.join(" ")}`}`,
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

function describedBy(model: FittedModel, error?: FitError): Expression {
  const { name, startAtMs, durationMs, rules, policy, network, outages, populations } = model;
  const { roundTrip, execution, lateness } = network;
  const scenario = object(
    {
      name,
      description: `Fitted from ${counted(model.calls, "recorded call")}`,
      seed: 1,
      duration: timeText(durationMs),
      startAt: instantText(startAtMs),
      rules: policy === undefined ? rulesExpression(rules) : null,
      network:
        roundTrip === null && execution === null
          ? null
          : object({
              roundTrip: roundTrip === null ? null : spreadExpression(roundTrip),
              execution: execution === null ? null : spreadExpression(execution),
              lateness: lateness === null ? null : spreadExpression(lateness),
            }),
      outages: outages.length === 0 ? null : list(outages.map(outageExpression)),
      fitError: errorExpression(model, error),
      populations: {
        kind: "object",
        members: populations.map((population) => ({
          key: population.name,
          value: populationExpression(population, policy),
          comment: `${population.reasons.population}.`,
        })),
      },
    },
    {
      rules: rulesReason[model.rulesFrom],
      network: `${network.reason}.`,
      outages: "As they were recorded, from the start of a run: take them out to ask for days without.",
      fitError: "Recorded less simulated, as shares of the greater; and what the recording does not tell.",
    },
  );
  return make("defineScenario", scenario);
}

const errorExpression = ({ untold }: FittedModel, error?: FitError): Expression | null =>
  error === undefined && untold.length === 0
    ? null
    : json(untold.length === 0 ? error : { ...error, untold });

const outageExpression = ({ atMs, forMs, answer, share }: Outage): Expression =>
  object({
    at: timeText(atMs),
    for: timeText(forMs),
    answer: json(answer),
    share: share === 1 ? null : share,
  });

/** Writes rules: all limits, and the switches that differ from the default. */
function rulesExpression({ organization, user, semantics, organizations, users }: Rules): Expression {
  const defaults = parseRules({}).semantics;
  const switched = switchNames.flatMap((name) => {
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

function populationExpression(population: FittedPopulation, policy: Policy | undefined): Expression {
  const { organization, user, arrivals, onRefused, attempts, failedWaitMs, reasons } = population;
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
      behaviour: behaviourExpression(population.behaviour, population.mix, policy),
      onRefused: retryExpression(onRefused, attempts, failedWaitMs),
    },
    {
      [isClosed ? "startWithin" : "arrivals"]: `${capitalized(reasons.arrivals)}.`,
      behaviour: `${capitalized(reasons.behaviour)}.`,
      onRefused: `${capitalized(reasons.onRefused)}.`,
    },
  );
}

function behaviourExpression(
  behaviour: FittedBehaviour,
  mix: readonly FittedCall[],
  policy: Policy | undefined,
): Expression {
  const [first] = mix;
  if (behaviour.kind === "together")
    return make(
      "together",
      list(behaviour.parts.map((part) => behaviourExpression(part.behaviour, part.mix, policy))),
      ...(behaviour.inTurn ? [object({ inTurn: true })] : []),
    );
  const call = callExpression(first as FittedCall, policy);
  const sessions = (
    { of, calls, length }: Pick<Extract<FittedBehaviour, { kind: "timetable" }>, "of" | "calls" | "length">,
    when: Parameters<typeof object>[0],
  ): Expression =>
    make(
      "sessions",
      object({
        of: behaviourExpression(of, mix, policy),
        calls: calls === null ? null : countExpression(calls),
        length: length === null ? null : spreadExpression(length),
        ...when,
      }),
    );
  switch (behaviour.kind) {
    case "sessions": {
      const { away, rhythm } = behaviour;
      return sessions(behaviour, {
        away: spreadExpression(away),
        rhythm: rhythm === null ? null : rhythmExpression(rhythm),
      });
    }
    case "timetable": {
      const { at, withinMs } = behaviour;
      return sessions(behaviour, { at, within: withinMs === 0 ? null : timeText(withinMs) });
    }
    case "woken": {
      const { events, within, lasts, share, group, byUser } = behaviour;
      const wakes = object({
        ...(events.kind === "clock"
          ? { at: events.at, late: events.lateMs === 0 ? null : timeText(events.lateMs) }
          : { perDay: events.perDay, rhythm: rhythmExpression(events.rhythm) }),
        within: withinExpression(within),
        lasts: lasts === null ? null : spreadExpression(lasts),
        share: share === 1 ? null : share,
        group: group === 0 ? null : group,
        by: byUser ? "user" : null,
      });
      return sessions({ ...behaviour, length: null }, { wakes });
    }
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
          calls: list(mix.map((each) => callWithWeight(each, mix.length, policy))),
          think: thinkExpression(behaviour.think),
          atOnce: behaviour.atOnce === null ? null : countExpression(behaviour.atOnce),
          jobs: behaviour.jobs,
          adapt: behaviour.adapt === undefined ? null : adaptExpression(behaviour.adapt),
        }),
      );
  }
}

/** Default number of entries on a pager's page. */
const usualPerPage = 30;

const everyText = (everyMs: number | null): string | null => (everyMs === null ? null : timeText(everyMs));
const callWithWeight = (call: FittedCall, kinds: number, policy: Policy | undefined): Expression =>
  object({ call: callExpression(call, policy), weight: kinds === 1 ? null : call.weight });
