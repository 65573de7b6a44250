// ScenarioInput → Scenario: the one place where a scenario is checked and its defaults are filled in. It runs in Node
// and in k6 alike.
import { type Expectation, parseExpectations } from "../rules/figures.ts";
import { readIsoDate } from "../wire/times.ts";
import { parseArrivals } from "./arrival-input.ts";
import { arrivalsMost, roughArrivals } from "./arrivals.ts";
import type { RefusalPolicy } from "./client.ts";
import { Mistakes } from "./mistakes.ts";
import { parseClocks, parseNetwork, parseOutages, parseService } from "./network.ts";
import { none } from "./retries/none.ts";
import { type FitError, type Population, type Scenario, type ScenarioInput, untolds } from "./scenario.ts";

const slug = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;
const slugAllowed = "letters, digits, dashes, underscores, at most 64";
const organizationSlug = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const zonedTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;
const clientsMost = 1_000_000;

/**
 * Checks a scenario and fills in what it leaves out.
 * @throws SpillwayError `SCENARIO_INVALID`, naming every field that is wrong
 *
 * @example
 * export default defineScenario({
 *   name: "two-agents",
 *   duration: "2m",
 *   populations: {
 *     agents: { clients: 2, behaviour: poller({ every: "5s", call: rest("/v2/user") }) },
 *   },
 *   expect: { refused: "==0" },
 * });
 */
export function defineScenario(input: ScenarioInput): Scenario {
  const mistakes = new Mistakes();
  const names = [
    "name",
    "description",
    "seed",
    "duration",
    "startAt",
    "rules",
    "populations",
    "network",
    "service",
    "outages",
    "clocks",
    "expect",
    "fitError",
  ];
  const given: unknown = input;
  const fields = mistakes.members("", given, names) ? given : {};
  const own = {
    name: parseName("name", fields["name"], mistakes),
    description: mistakes.text("description", fields["description"] ?? "", /^/, "text"),
    seed: mistakes.whole("seed", fields["seed"] ?? 1, 0, Number.MAX_SAFE_INTEGER),
    durationMs: mistakes.duration("duration", fields["duration"], 1),
    startAtMs: parseStart(fields["startAt"], mistakes),
    rules: fields["rules"] === undefined ? null : mistakes.rules("rules", fields["rules"]),
  };
  const populations = parsePopulations(fields["populations"], own, mistakes);
  const scenario: Scenario = {
    format: "spillway-scenario",
    ...own,
    populations,
    network: parseNetwork(fields["network"], mistakes),
    service: parseService(fields["service"], mistakes),
    outages: parseOutages(fields["outages"], mistakes),
    clocks: parseClocks(fields["clocks"], mistakes),
    expect: parseExpect(fields["expect"], populations, mistakes),
    fitError: fields["fitError"] === undefined ? null : parseFitError(fields["fitError"], mistakes),
  };
  mistakes.finish("this scenario cannot be used");
  return scenario;
}

function parseName(path: string, value: unknown, mistakes: Mistakes): string {
  const name = mistakes.text(path, value, slug, slugAllowed);
  if (name.length > 64) mistakes.add(path, name, slugAllowed);
  return name;
}

function parseStart(value: unknown, mistakes: Mistakes): number {
  const text = value ?? "2026-01-01T00:00:00Z";
  const ms = typeof text === "string" && zonedTime.test(text) ? readIsoDate(text) : Number.NaN;
  if (ms >= 0) return ms;
  mistakes.add("startAt", value, "a time since 1970 with its zone, such as 2026-01-01T00:00:00Z");
  return 0;
}

function parseFitError(value: unknown, mistakes: Mistakes): FitError {
  const names = ["calls", "refused", "waitP95Ms"] as const;
  const fields: Record<string, unknown> = mistakes.members("fitError", value, [...names, "untold"])
    ? value
    : {};
  const untold = fields["untold"] === undefined ? [] : fields["untold"];
  if (!(Array.isArray(untold) && untold.every((one) => untolds.includes(one))))
    mistakes.add("fitError.untold", untold, `a list of ${untolds.join(", ")}`);
  const share = (name: (typeof names)[number]): number =>
    mistakes.number(
      `fitError.${name}`,
      fields[name] ?? 0,
      (number) => number >= -1 && number <= 1,
      "a number from -1 to 1",
    );
  const waitP95Ms = fields["waitP95Ms"] === null ? null : share("waitP95Ms");
  const error = { calls: share("calls"), refused: share("refused"), waitP95Ms };
  return Array.isArray(untold) && untold.length > 0 ? { ...error, untold } : error;
}

function parseExpect(
  value: unknown,
  populations: readonly Population[],
  mistakes: Mistakes,
): readonly Expectation[] {
  if (value === undefined) return [];
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    mistakes.add("expect", value, 'an object of bounds by figure, such as {refusedShare: "<5%"}');
    return [];
  }
  const { expectations, problems } = parseExpectations(
    value as Record<string, unknown>,
    populations.map(({ name }) => name),
  );
  mistakes.include(problems);
  return expectations;
}

/** Parts of a run that the number of arrivals depends on. */
type Run = Pick<Scenario, "startAtMs" | "durationMs">;

function parsePopulations(value: unknown, run: Run, mistakes: Mistakes): Population[] {
  if (
    typeof value !== "object" ||
    value === null ||
    Array.isArray(value) ||
    Object.keys(value).length === 0
  ) {
    mistakes.add("populations", value, "an object of populations by name, at least one");
    return [];
  }
  return Object.entries(value).flatMap(([name, population]) => {
    const parsed = parsePopulation(name, population, run, mistakes);
    return parsed === null ? [] : [parsed];
  });
}

const populationMembers = [
  "clients",
  "arrivals",
  "organization",
  "user",
  "behaviour",
  "onRefused",
  "startWithin",
];

function parsePopulation(name: string, value: unknown, run: Run, mistakes: Mistakes): Population | null {
  const path = `populations.${name}`;
  parseName(path, name, mistakes);
  if (!mistakes.members(path, value, populationMembers)) return null;
  const { clients, arrivals, organization, user, startWithin } = value;
  const common = {
    name,
    organization:
      organization === undefined
        ? null
        : mistakes.text(`${path}.organization`, organization, organizationSlug, "a slug"),
    user: parseUser(`${path}.user`, user ?? defaultUser(arrivals), mistakes),
    behaviour: mistakes.behaviour(`${path}.behaviour`, value["behaviour"]),
    onRefused: parsePolicy(`${path}.onRefused`, value["onRefused"] ?? none(), mistakes),
  };
  if (arrivals === undefined)
    return {
      ...common,
      clients: mistakes.whole(`${path}.clients`, clients, 1, clientsMost),
      arrivals: null,
      startWithinMs: mistakes.duration(`${path}.startWithin`, startWithin ?? 0, 0),
    };
  for (const field of ["clients", "startWithin"] as const)
    if (value[field] !== undefined) mistakes.add(`${path}.${field}`, value[field], "nothing beside arrivals");
  const schedule = parseArrivals(`${path}.arrivals`, arrivals, mistakes);
  if (schedule === null) return null;
  if (roughArrivals(schedule, run) > arrivalsMost)
    mistakes.add(`${path}.arrivals`, arrivals, `at most ${arrivalsMost} arrivals in all`);
  return { ...common, clients: null, arrivals: schedule };
}

/** Returns the default of `user`. Clients of a fleet stay for a while, as those of a closed population do. */
function defaultUser(arrivals: unknown): "each" | "shared" {
  const executor = (arrivals as { executor?: unknown } | null | undefined)?.executor;
  return arrivals === undefined || executor === "ramping-vus" ? "each" : "shared";
}

function parseUser(path: string, value: unknown, mistakes: Mistakes): "each" | "shared" | number {
  if (value === "each" || value === "shared") return value;
  if (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= clientsMost)
    return value as number;
  mistakes.add(path, value, '"each", "shared" or a number of users from 1');
  return "shared";
}

const isFunction = (value: unknown): boolean => typeof value === "function";

function parsePolicy(path: string, value: unknown, mistakes: Mistakes): RefusalPolicy {
  const shape = value as Partial<RefusalPolicy> | null;
  if (typeof shape !== "object" || shape === null || !isFunction(shape.retryAt))
    mistakes.add(path, value, "what none, waitReset or exponential make, or a RefusalPolicy of your own");
  return shape as RefusalPolicy;
}
