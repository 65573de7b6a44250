// A fault: a deployment with one error, made of correct parts. Correct deployments know nothing of faults: a store does
// all the counting, and an answer may be changed on its way.
import type { LimiterFactory } from "../engine/adapter.ts";
import type { EnforcementSwitch, QuotaStore, SlowQuotaStore, SlowStore } from "../engine/store.ts";
import type { Policy } from "../policy/policy.ts";
import type { WireData } from "../policy/wire-data.ts";
import type { Problem } from "../rules/errors.ts";
import type { Scope } from "../rules/rules.ts";
import type { HttpAnswer } from "../wire/answer.ts";
import type { AnswerToWrite, ReadingToWrite } from "../wire/write-answer.ts";
import type { CountedCaller } from "./counter.ts";

/** Net that may catch a fault: P the properties, V the oracle over a trace, L the live checks inside k6, A the audit. */
export type Net = "P" | "V" | "L" | "A";

/** Input of a fault besides rules and calls. */
export interface FaultWorld {
  /** Returns a number in [0, 1), from a seeded generator. */
  readonly random: () => number;
  /** Frequency or amount, as the fault defines it (`Fault.rate`). */
  readonly rate: number;
}

/** The call behind an answer, for faults in the answer alone. */
export interface Answered {
  readonly kind: "call" | "status" | "other";
  readonly organization: string;
  readonly user: string;
  readonly scope: Scope;
  /** Time of the answer, ms since the epoch; a query's is its completion. */
  readonly nowMs: number;
}

/** A reading as an answer tells it. */
export interface ChangedReading extends ReadingToWrite {
  /** End of the window, ms since the epoch, if a status tells an end besides the reset. The default API's does. */
  readonly endsAtMs?: number;
}

/** An answer whose readings may differ from the counters. */
type ToldAnswer = AnswerToWrite & { readonly readings: readonly ChangedReading[] };

/** A deployment by a policy, with one faulty part. Absent parts are correct. */
export interface FaultyQuotas {
  readonly store: SlowQuotaStore;
  /** Policy by which answers show its quotas. */
  readonly shownBy?: Policy;
  /** Format in which answers are written. */
  readonly wire?: WireData;
  /** Changes the told values before they are written. */
  readonly tell?: (told: AnswerToWrite, caller: CountedCaller, nowMs: number) => ToldAnswer;
  /** Changes the correct answer before it is sent. */
  readonly change?: (answer: HttpAnswer) => HttpAnswer;
  /** Changes an answer of the default API, which tells more than its format: in place of `tell` and `change`. */
  readonly changeOwn?: (answer: HttpAnswer, about: Answered) => HttpAnswer;
  /** Returns the user whose quota a call uses, by its headers (lower-case names), instead of the token's user. */
  readonly userOf?: (user: string, headers: Readonly<Record<string, string | undefined>>) => string;
}

/** A deployment of the default API with one faulty part. */
export interface Faulty extends Pick<FaultyQuotas, "userOf"> {
  readonly store: SlowStore & EnforcementSwitch;
  /** Changes the correct answer before it is sent. */
  readonly change?: (answer: HttpAnswer, about: Answered) => HttpAnswer;
}

/** Degrees of a fault, which `NAME=RATE` sets. */
export interface FaultRate {
  readonly default: number;
  readonly least: number;
  readonly most: number;
  /** True if only whole numbers are allowed. */
  readonly whole?: true;
  /** Meaning of the rate: `share of the windows`, `seconds between the clocks`. */
  readonly meaning: string;
}

/**
 * Returns the counters as each of several processes sees them, in turn.
 * @param count number of processes, if it is given
 */
export type Processes = (policy: Policy, rate: number, count?: number) => readonly QuotaStore[];

export interface Fault {
  readonly name: string;
  /** Description of the error, in one line. */
  readonly wrong: string;
  /** Its effect as seen from outside, in one line. */
  readonly shows: string;
  /** Places that shipped it: `OWNER/REPOSITORY#NUMBER`, or as the catalogue names them. */
  readonly seenIn: readonly string[];
  /** Nets that must catch it. */
  readonly nets: readonly Net[];
  /** Its rate; `null` if it has no degrees. */
  readonly rate: FaultRate | null;
  /** Its processes in a real deployment; `null` if one will do. `inject` runs all of them within one process. */
  readonly processes: Processes | null;
  /** Switch values under which it is a fault, and the only one. Absent switches may have any value. */
  readonly semantics?: NonNullable<LimiterFactory["semantics"]>;
  /** Returns the first member that keeps a policy from having this fault; `null` if it can have it. */
  unfit(policy: Policy): Problem | null;
  /** Injects the fault. Callers use `injectFault` and `injectQuotaFault`, which check rules and policies first. */
  inject(policy: Policy, world: FaultWorld): FaultyQuotas;
}

/** Members of most faults. */
export const usual = { seenIn: [], rate: null, processes: null, unfit: () => null } as const;

/** A fault as the catalogue lists it. Default of absent members: `usual`. */
export type FaultEntry = Omit<Fault, keyof typeof usual> & Partial<Pick<Fault, keyof typeof usual>>;

/** Returns a fault in the counting alone. */
export const counted = (
  make: (policy: Policy, world: FaultWorld) => SlowQuotaStore,
  unfit: Fault["unfit"] = usual.unfit,
): Pick<Fault, "unfit" | "inject"> => ({
  unfit,
  inject: (policy, world) => ({ store: make(policy, world) }),
});
