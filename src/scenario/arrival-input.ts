// Arrivals as people write them, and their checks. The words are k6's where k6 has some.
import { dayMs } from "../rules/duration.ts";
import type { Stage } from "./arrival-rates.ts";
import type { ArrivalSchedule, Readied } from "./arrivals.ts";
import { parseCron } from "./cron.ts";
import type { Duration, Mistakes } from "./mistakes.ts";

/** `rate` arrivals every `timeUnit` for the whole scenario, evenly spaced; the first comes at once. */
export interface ConstantArrivals {
  readonly executor: "constant-arrival-rate";
  readonly rate: number;
  /** Default: one second. */
  readonly timeUnit?: Duration;
  /** Number of clients that k6 keeps ready. The simulator always has enough. */
  readonly preAllocatedVUs: number;
  readonly maxVUs?: number;
}

/** Rate in straight lines from `startRate` to each stage's `target`. Nobody arrives after the last stage. */
export interface RampingArrivals {
  readonly executor: "ramping-arrival-rate";
  /** Default: 0. */
  readonly startRate?: number;
  readonly stages: readonly { readonly target: number; readonly duration: Duration }[];
  readonly timeUnit?: Duration;
  readonly preAllocatedVUs: number;
  readonly maxVUs?: number;
}

/**
 * `rate` arrivals every `timeUnit` on average, at random and independent of each other: their gaps are exponentially
 * distributed. The scenario's seed decides them, so that simulator and k6 have the same arrivals.
 */
export interface PoissonArrivals {
  readonly executor: "poisson-arrival-rate";
  readonly rate: number;
  /** Default: one second. */
  readonly timeUnit?: Duration;
  /** Greatest number of clients of k6. An arrival that is due while all are busy comes late. */
  readonly preAllocatedVUs: number;
}

/** `clients` clients at each minute that a line of cron names, such as every full hour or every five minutes. */
export interface CronArrivals {
  readonly executor: "cron";
  /** Minute, hour, day, month, weekday, UTC: `"0 * * * *"`. The clock begins at `startAt`; k6 has the real one. */
  readonly schedule: string;
  /** Number of clients that come each time. */
  readonly clients: number;
  /** Greatest delay of each client after its minute, drawn at random. Default: none. */
  readonly spread?: Duration;
  /** Greatest number of clients of k6, as for `poisson-arrival-rate`. */
  readonly preAllocatedVUs: number;
}

/** Random arrivals at a rate that depends on the hour, as on a business day. */
export interface DayArrivals {
  readonly executor: "business-day";
  /**
   * 24 rates, one for each hour from midnight UTC: mean arrivals every `timeUnit`. The clock begins at `startAt`; in k6
   * it is the real one.
   */
  readonly rates: readonly number[];
  /** Default: one hour, so that the rates are arrivals an hour. */
  readonly timeUnit?: Duration;
  /** `steps` keeps a rate for its hour; `lines` goes to the next hour's rate in a straight line. Default: `steps`. */
  readonly shape?: "steps" | "lines";
  /** Greatest number of clients of k6, as for `poisson-arrival-rate`. */
  readonly preAllocatedVUs: number;
}

/**
 * A fleet that scales up and down: the stages say how many clients there are at a time, in straight lines. The client
 * that was added last is removed first. It then sends nothing more, and waits for its open answers. Nobody is there
 * after the last stage. Each client has a user of its own unless `user` says otherwise.
 */
export interface FleetArrivals {
  readonly executor: "ramping-vus";
  /** Number of clients at the start. Default: 1. */
  readonly startVUs?: number;
  readonly stages: readonly { readonly target: number; readonly duration: Duration }[];
}

export type Arrivals =
  | ConstantArrivals
  | RampingArrivals
  | PoissonArrivals
  | CronArrivals
  | DayArrivals
  | FleetArrivals;

/** Greatest number of arrivals in a unit of time. */
export const rateMost = 1_000_000;
const clientsMost = 1_000_000;
/** Longest unit of time of a rate, ms. */
export const timeUnitMostMs = dayMs;

const executors = [
  "constant-arrival-rate",
  "ramping-arrival-rate",
  "poisson-arrival-rate",
  "cron",
  "business-day",
  "ramping-vus",
] as const;

/** Members of each executor beside `executor`. */
const membersOf: Readonly<Record<(typeof executors)[number], readonly string[]>> = {
  "constant-arrival-rate": ["rate", "timeUnit", "preAllocatedVUs", "maxVUs"],
  "ramping-arrival-rate": ["startRate", "stages", "timeUnit", "preAllocatedVUs", "maxVUs"],
  "poisson-arrival-rate": ["rate", "timeUnit", "preAllocatedVUs"],
  cron: ["schedule", "clients", "spread", "preAllocatedVUs"],
  "business-day": ["rates", "timeUnit", "shape", "preAllocatedVUs"],
  "ramping-vus": ["startVUs", "stages"],
};

/** Checks arrivals and adds what is wrong to `mistakes`. */
export function parseArrivals(path: string, value: unknown, mistakes: Mistakes): ArrivalSchedule | null {
  const executor = (value as { executor?: unknown } | null | undefined)?.executor;
  const known = executors.find((one) => one === executor);
  const every = [...new Set(Object.values(membersOf).flat())];
  if (!mistakes.members(path, value, ["executor", ...(known === undefined ? every : membersOf[known])]))
    return null;
  if (known === undefined) {
    mistakes.oneOf(`${path}.executor`, executor, executors);
    return null;
  }
  return parsers[known](path, value, mistakes);
}

type Parser = (path: string, value: Record<string, unknown>, mistakes: Mistakes) => ArrivalSchedule | null;

const parsers: Readonly<Record<(typeof executors)[number], Parser>> = {
  "constant-arrival-rate": (path, value, mistakes) => ({
    executor: "constant-arrival-rate",
    ...parseReadied(path, value, mistakes),
    timeUnitMs: mistakes.duration(`${path}.timeUnit`, value["timeUnit"] ?? 1000, 1, timeUnitMostMs),
    rate: mistakes.whole(`${path}.rate`, value["rate"], 1, rateMost),
  }),
  "ramping-arrival-rate": (path, value, mistakes) => ({
    executor: "ramping-arrival-rate",
    ...parseReadied(path, value, mistakes),
    timeUnitMs: mistakes.duration(`${path}.timeUnit`, value["timeUnit"] ?? 1000, 1, timeUnitMostMs),
    startRate: mistakes.whole(`${path}.startRate`, value["startRate"] ?? 0, 0, rateMost),
    stages: parseStages(`${path}.stages`, value["stages"], rateMost, mistakes),
  }),
  "poisson-arrival-rate": (path, value, mistakes) => ({
    executor: "poisson-arrival-rate",
    ...parseReadied(path, value, mistakes),
    timeUnitMs: mistakes.duration(`${path}.timeUnit`, value["timeUnit"] ?? 1000, 1, timeUnitMostMs),
    rate: parseRate(`${path}.rate`, value["rate"], mistakes, "above 0"),
  }),
  cron: (path, value, mistakes) => {
    const cron = parseCron(`${path}.schedule`, value["schedule"], mistakes);
    const checked = {
      executor: "cron" as const,
      ...parseReadied(path, value, mistakes),
      clients: mistakes.whole(`${path}.clients`, value["clients"], 1, clientsMost),
      spreadMs: mistakes.duration(`${path}.spread`, value["spread"] ?? 0, 0, dayMs),
    };
    return cron === null ? null : { ...checked, cron };
  },
  "business-day": (path, value, mistakes) => ({
    executor: "business-day",
    ...parseReadied(path, value, mistakes),
    timeUnitMs: mistakes.duration(`${path}.timeUnit`, value["timeUnit"] ?? "1h", 1, timeUnitMostMs),
    rates: parseDay(`${path}.rates`, value["rates"], mistakes),
    shape: mistakes.oneOf(`${path}.shape`, value["shape"] ?? "steps", ["steps", "lines"]) ?? "steps",
  }),
  "ramping-vus": (path, value, mistakes) => ({
    executor: "ramping-vus",
    startVUs: mistakes.whole(`${path}.startVUs`, value["startVUs"] ?? 1, 0, clientsMost),
    stages: parseStages(`${path}.stages`, value["stages"], clientsMost, mistakes),
  }),
};

function parseReadied(path: string, value: Record<string, unknown>, mistakes: Mistakes): Readied {
  const preAllocatedVUs = mistakes.whole(`${path}.preAllocatedVUs`, value["preAllocatedVUs"], 1, 1_000_000);
  const maxVUs = mistakes.whole(
    `${path}.maxVUs`,
    value["maxVUs"] ?? preAllocatedVUs,
    preAllocatedVUs,
    1_000_000,
  );
  return { preAllocatedVUs, maxVUs };
}

function parseRate(path: string, value: unknown, mistakes: Mistakes, least: "above 0" | "0 or more"): number {
  const fits =
    typeof value === "number" && value >= 0 && value <= rateMost && (value > 0 || least !== "above 0");
  if (fits) return value;
  mistakes.add(path, value, `a number ${least}, at most ${rateMost}`);
  return 1;
}

function parseDay(path: string, value: unknown, mistakes: Mistakes): number[] {
  if (!Array.isArray(value) || value.length !== 24) {
    mistakes.add(path, value, "24 rates, one for each hour of the day (UTC)");
    return [];
  }
  return value.map((rate: unknown, hour) => parseRate(`${path}.${hour}`, rate, mistakes, "0 or more"));
}

function parseStages(path: string, value: unknown, most: number, mistakes: Mistakes): Stage[] {
  if (!Array.isArray(value) || value.length === 0) {
    mistakes.add(path, value, "a list of {target, duration}, at least one");
    return [];
  }
  return value.flatMap((stage: unknown, index) => {
    const at = `${path}.${index}`;
    if (!mistakes.members(at, stage, ["target", "duration"])) return [];
    const target = mistakes.whole(`${at}.target`, stage["target"], 0, most);
    return [{ target, durationMs: mistakes.duration(`${at}.duration`, stage["duration"], 0) }];
  });
}
