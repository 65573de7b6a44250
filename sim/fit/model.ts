// The result of a fit, as plain data: populations, and the reason for each of their numbers. A scenario's source and
// the scenario itself are both made of it (`source.ts`).
import type { Policy } from "../../src/policy/policy.ts";
import type { Rules } from "../../src/rules/rules.ts";
import type { Untold } from "../../src/scenario/scenario.ts";
import type { FittedOutage } from "./outages.ts";
import type { FittedPaces } from "./paces.ts";
import type { FittedRetry } from "./policies.ts";
import type { CallTraits } from "./recorded-call.ts";
import type { FittedRhythm } from "./rhythm.ts";
import type { FittedSpread } from "./spread.ts";

/** A kind of call with how often it comes. */
export interface FittedCall extends Omit<CallTraits, "key"> {
  /** Points charged in the end, on average. */
  readonly actual: number;
  /** Of the sum of all weights of its population. */
  readonly weight: number;
}

/** Behaviour of one client that has no end of its own, without its calls. */
export type FittedLoop =
  | { readonly kind: "poller"; readonly everyMs: number }
  | {
      readonly kind: "worker";
      readonly think: FittedSpread | FittedPaces;
      /** Number of calls at once, the first ones where paces say it of the others; `null`: one. */
      readonly atOnce: FittedSpread | null;
      readonly jobs: number | null;
    };

/** Behaviour of one client that makes its calls at once, and again each `everyMs`, if that is there. */
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
      /** The page that has no next one; `null`: none is. */
      readonly last: number | null;
      readonly parallel: number;
      readonly everyMs: number | null;
    };

/** Behaviour of one client in sessions. */
export type FittedComings =
  | {
      readonly kind: "sessions";
      readonly of: FittedLoop;
      /** In busy time of the rhythm. */
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
      /** `null`: no bound. */
      readonly calls: FittedSpread | null;
      readonly events: FittedEvents;
      /** Time from an event until a client wakes. */
      readonly within: FittedSpread;
      /** Time from an event until all whom it woke end; `null`: each ends for itself. */
      readonly lasts: FittedSpread | null;
      /** Share of clients that an event wakes. */
      readonly share: number;
      /** Clients of one group wake by the same events. */
      readonly group: number;
      /** Each user has events of its own. */
      readonly byUser: boolean;
    };

/** When events come. */
export type FittedEvents =
  /** By chance, so many on a mean day. */
  | { readonly kind: "chance"; readonly perDay: number; readonly rhythm: FittedRhythm }
  /** By a line of cron, UTC, each within so long after its minute. */
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
      /** One call at a time of all of them. */
      readonly inTurn: boolean;
    };

/** When clients come: all are there from the start, or each arrives for itself. */
export type FittedArrivals =
  | { readonly kind: "closed"; readonly clients: number; readonly startWithinMs: number }
  /** So many an hour, evenly or as chance has it. */
  | { readonly kind: "steady"; readonly perHour: number; readonly even: boolean }
  /** By hour of the day (UTC), 24 numbers. */
  | { readonly kind: "hours"; readonly perHour: readonly number[] };

/** A sentence each: what a number was fitted from. */
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
  /** Number of callers that were seen: clients of a trace, users of a log. */
  readonly callers: number;
  /** Names of their users, the busiest first, each once. */
  readonly users: readonly string[];
  readonly calls: number;
  readonly refused: number;
  /** Calls of these callers that the behaviour cannot make: of another kind than its own. */
  readonly unexplained: number;
  readonly behaviour: FittedBehaviour;
  /** The most frequent first. */
  readonly mix: readonly FittedCall[];
  readonly arrivals: FittedArrivals;
  readonly onRefused: FittedRetry;
  /** The share of attempts after refusals that came where `onRefused` says; `null` where there were none. */
  readonly retriesExplained: number | null;
  /** The most attempts a call was given, where that is what ended them. */
  readonly attempts: number | null;
  /** Wait after a failure, ms, where most of those are tried again; `null` else. */
  readonly failedWaitMs: number | null;
  readonly reasons: FittedReasons;
}

/** Source of the rules. */
export type RulesFrom = "given" | "trace" | "headers" | "defaults";

export interface FittedModel {
  readonly name: string;
  /** Ms since the epoch, and ms. */
  readonly startAtMs: number;
  readonly durationMs: number;
  /** When the last caller had joined: from then on the recording is as the scenario. Ms since the epoch. */
  readonly settledAtMs: number;
  readonly rules: Rules;
  readonly rulesFrom: RulesFrom;
  /** In place of the rules, which say nothing then. */
  readonly policy?: Policy | undefined;
  readonly network: {
    readonly roundTrip: FittedSpread | null;
    readonly execution: FittedSpread | null;
    /** Time from the planned instant to the sending. `null`: none, or unknown. */
    readonly lateness: FittedSpread | null;
    readonly reason: string;
  };
  readonly outages: readonly FittedOutage[];
  readonly populations: readonly FittedPopulation[];
  /** Calls that were read, those that no quota counts left out. */
  readonly calls: number;
  readonly callers: number;
  /** Calls that no population makes: of callers outside of any, or of kinds that their behaviour has not. */
  readonly unexplained: number;
  /** Calls that no quota counts (SPEC.md §2.6): left out. */
  readonly uncounted: number;
  /** Sentences on what the recording does not tell, however well it is fitted. */
  readonly doubts: readonly string[];
  /** Those of them that a plan repeats. */
  readonly untold: readonly Untold[];
}
