// The result of a fit, as plain data: populations, and the reason for each of their numbers. `source.ts` makes both the
// scenario and its source text of this data.
import type { Policy } from "../../src/policy/policy.ts";
import type { Rules } from "../../src/rules/rules.ts";
import type { AdaptInput } from "../../src/scenario/behaviours/adapt.ts";
import type { Outage } from "../../src/scenario/network.ts";
import type { Untold } from "../../src/scenario/scenario.ts";
import type { FittedPaces } from "./paces.ts";
import type { FittedRetry } from "./policies.ts";
import type { CallTraits } from "./recorded-call.ts";
import type { FittedRhythm } from "./rhythm.ts";
import type { FittedSpread } from "./spread.ts";

/** A kind of call with how often it comes. */
export interface FittedCall extends Omit<CallTraits, "key"> {
  /** Mean number of points charged in the end. */
  readonly actual: number;
  /** Weight: the call's share is its weight over the sum of the population's weights. */
  readonly weight: number;
}

/** A pace that refusals slow down, with the numbers of `AdaptInput`. */
export interface FittedAdapt extends Required<AdaptInput> {
  /** True if refused calls are made again after the longer pause. */
  readonly waits: boolean;
}

/** Behaviour of one client that has no end of its own; its kinds of calls are kept elsewhere. */
export type FittedLoop =
  | { readonly kind: "poller"; readonly everyMs: number }
  | {
      readonly kind: "worker";
      readonly think: FittedSpread | FittedPaces;
      /** Number of calls at once; of the first calls alone if paces give it for the others. `null`: one. */
      readonly atOnce: FittedSpread | null;
      readonly jobs: number | null;
      /** Pace that refusals slow down; absent: a fixed one. */
      readonly adapt?: FittedAdapt | undefined;
    };

/** Behaviour of one client that makes its calls at once, and again every `everyMs` unless that is `null`. */
export type FittedRun =
  | { readonly kind: "burst"; readonly size: number; readonly everyMs: number | null }
  | {
      readonly kind: "queue";
      readonly jobs: number;
      readonly workers: number;
      readonly everyMs: number | null;
    }
  | {
      readonly kind: "pager";
      readonly pages: number;
      /** The page that has no next one; `null` if no page is the last. */
      readonly last: number | null;
      readonly parallel: number;
      readonly everyMs: number | null;
    };

/** Behaviour of one client in sessions. */
export type FittedComings =
  | {
      readonly kind: "sessions";
      readonly of: FittedLoop;
      /** Length of absences, in busy time of the rhythm. */
      readonly away: FittedSpread;
      /** `null`: all hours are alike. */
      readonly rhythm: FittedRhythm | null;
      /** Calls of a session; `null`: no bound. */
      readonly calls: FittedSpread | null;
      /** Time that a session lasts; `null`: no bound. */
      readonly length: FittedSpread | null;
    }
  | {
      readonly kind: "timetable";
      readonly of: FittedLoop | FittedRun;
      /** A line of cron, UTC. */
      readonly at: string;
      readonly withinMs: number;
      readonly calls: FittedSpread | null;
      /** Time that a session lasts; `null`: no bound. */
      readonly length: FittedSpread | null;
    }
  | {
      readonly kind: "woken";
      readonly of: FittedLoop;
      /** Calls of a client that was woken; `null`: no bound. */
      readonly calls: FittedSpread | null;
      readonly events: FittedEvents;
      /** Time from an event until a client wakes. */
      readonly within: FittedSpread;
      /** Time from an event until all clients that it woke end; `null`: each ends by itself. */
      readonly lasts: FittedSpread | null;
      /** Share of clients that an event wakes. */
      readonly share: number;
      /** Clients of one group wake by the same events. */
      readonly group: number;
      /** Each user has events of its own. */
      readonly byUser: boolean;
    };

/** Times of events. */
export type FittedEvents =
  /** By chance, `perDay` of them on a mean day. */
  | { readonly kind: "chance"; readonly perDay: number; readonly rhythm: FittedRhythm }
  /** By a line of cron in UTC, each at most `lateMs` after its minute. */
  | { readonly kind: "clock"; readonly at: string; readonly lateMs: number };

/** One of several things that a client does at the same time. */
export interface FittedPart {
  readonly behaviour: FittedLoop | FittedRun | FittedComings;
  readonly mix: readonly FittedCall[];
}

export type FittedBehaviour =
  | FittedLoop
  | FittedRun
  | FittedComings
  | {
      readonly kind: "together";
      readonly parts: readonly FittedPart[];
      /** True if all parts together make one call at a time. */
      readonly inTurn: boolean;
    };

/** Arrivals of clients: all are there from the start, or each arrives by itself. */
export type FittedArrivals =
  | { readonly kind: "closed"; readonly clients: number; readonly startWithinMs: number }
  /** `perHour` clients an hour, evenly or by chance. */
  | { readonly kind: "steady"; readonly perHour: number; readonly even: boolean }
  /** Clients an hour by hour of the day (UTC), 24 numbers. */
  | { readonly kind: "hours"; readonly perHour: readonly number[] };

/** Sentences that say what the numbers were fitted from. */
export interface FittedReasons {
  readonly population: string;
  readonly behaviour: string;
  readonly arrivals: string;
  readonly onRefused: string;
}

export interface FittedPopulation {
  readonly name: string;
  readonly organization: string;
  readonly user: "each" | "shared" | number;
  /** Number of callers seen: clients of a trace, users of a log. */
  readonly callers: number;
  /** Names of their users, the busiest first, each once. */
  readonly users: readonly string[];
  readonly calls: number;
  readonly refused: number;
  /** Number of these callers' calls that the behaviour cannot make, as they are of other kinds than its own. */
  readonly unexplained: number;
  readonly behaviour: FittedBehaviour;
  /** Kinds of calls, the most frequent first. */
  readonly mix: readonly FittedCall[];
  readonly arrivals: FittedArrivals;
  readonly onRefused: FittedRetry;
  /** Share of attempts after refusals that came when `onRefused` says; `null` if there were none. */
  readonly retriesExplained: number | null;
  /** Most attempts of a call, if this bound ended them; otherwise `null`. */
  readonly attempts: number | null;
  /** Wait after a failure, ms, if most failed calls are tried again; otherwise `null`. */
  readonly failedWaitMs: number | null;
  readonly reasons: FittedReasons;
}

/** Source of the rules. */
export type RulesFrom = "given" | "trace" | "headers" | "defaults";

export interface FittedModel {
  readonly name: string;
  /** Start, ms since the epoch, and length, ms. */
  readonly startAtMs: number;
  readonly durationMs: number;
  /** Instant when the last caller had joined, ms since the epoch. From then on, the recording is as the scenario. */
  readonly settledAtMs: number;
  readonly rules: Rules;
  readonly rulesFrom: RulesFrom;
  /** Policy in place of the rules, which then say nothing. */
  readonly policy?: Policy | undefined;
  readonly network: {
    readonly roundTrip: FittedSpread | null;
    readonly execution: FittedSpread | null;
    /** Time from the planned instant to the sending. `null`: none, or unknown. */
    readonly lateness: FittedSpread | null;
    readonly reason: string;
  };
  readonly outages: readonly Outage[];
  readonly populations: readonly FittedPopulation[];
  /** Number of calls that were read, without those that no quota counts. */
  readonly calls: number;
  readonly callers: number;
  /** Number of calls that no population makes, as they are of kinds that its behaviour lacks. */
  readonly unexplained: number;
  /** Number of calls that were left out, as no quota counts them (SPEC.md §2.6). */
  readonly uncounted: number;
  /** Sentences on what the recording does not tell, however well it is fitted. */
  readonly doubts: readonly string[];
  /** Kinds of the doubts that a plan repeats. */
  readonly untold: readonly Untold[];
}
