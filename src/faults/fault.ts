// A fault: a deployment that is wrong in one way, made of right parts. Deployments that are right know nothing of
// faults: a store does all the counting, and an answer may be changed on its way.
import type { LimiterFactory } from "../engine/adapter.ts";
import type { QuotaStore, SlowQuotaStore, SlowStore } from "../engine/store.ts";
import type { Policy } from "../policy/policy.ts";
import type { WireData } from "../policy/wire-data.ts";
import type { Problem } from "../rules/errors.ts";
import type { Scope } from "../rules/rules.ts";
import type { HttpAnswer } from "../wire/answer.ts";
import type { AnswerToWrite, ReadingToWrite } from "../wire/write-answer.ts";
import type { CountedCaller } from "./counter.ts";

/** Net that may catch a fault: the property run, the oracle over a trace, the live checks inside k6, the audit alone. */
export type Net = "P" | "V" | "L" | "A";

/** Further input of a fault, beside rules and calls. */
export interface FaultWorld {
  /** A number in [0, 1), from whoever has the seed. */
  readonly random: () => number;
  /** Frequency or amount, as the fault defines it (`Fault.rate`). */
  readonly rate: number;
}

/** The call that an answer is to, for faults that are in the answer alone. */
export interface Answered {
  readonly kind: "call" | "status" | "other";
  readonly organization: string;
  readonly user: string;
  readonly scope: Scope;
  /** When the answer is made, ms since the epoch: a query's when it completes. */
  readonly nowMs: number;
}

/** A reading as an answer tells it. */
export interface ChangedReading extends ReadingToWrite {
  /** The window's end, where a status tells another one beside its reset, as the default API's does. */
  readonly endsAtMs?: number;
}

/** An answer whose readings may be others than the counters say. */
type ToldAnswer = AnswerToWrite & { readonly readings: readonly ChangedReading[] };

/** A deployment by a policy with one fault among its parts. What is left out is right. */
export interface FaultyQuotas {
  readonly store: SlowQuotaStore;
  /** The policy whose way of showing its quotas answers have. */
  readonly shownBy?: Policy;
  /** The format in which answers are written. */
  readonly wire?: WireData;
  /** Values that are told, before they are written. */
  readonly tell?: (told: AnswerToWrite, caller: CountedCaller, nowMs: number) => ToldAnswer;
  /** The answer as it is sent in place of the right one. */
  readonly change?: (answer: HttpAnswer) => HttpAnswer;
  /** The same of the default API's answers, which tell more than its format: in place of `tell` and `change`. */
  readonly changeOwn?: (answer: HttpAnswer, about: Answered) => HttpAnswer;
  /** Whose quota a call uses, by its request's headers (names in lower case), in place of the token's user. */
  readonly userOf?: (user: string, headers: Readonly<Record<string, string | undefined>>) => string;
}

/** A deployment of the default API with one fault among its parts. */
export interface Faulty extends Pick<FaultyQuotas, "userOf"> {
  readonly store: SlowStore;
  /** The answer as it is sent in place of the right one. */
  readonly change?: (answer: HttpAnswer, about: Answered) => HttpAnswer;
  /** Switches refusing on or off while it runs (SPEC.md §2.5). */
  readonly setEnforced: (organization: string, scope: Scope, enforced: boolean) => void;
}

/** The degrees of a fault: what `NAME=RATE` sets. */
export interface FaultRate {
  readonly default: number;
  readonly least: number;
  readonly most: number;
  /** Only whole numbers. */
  readonly whole?: true;
  /** `share of the windows`, `seconds between the clocks`. */
  readonly meaning: string;
}

/**
 * Way in which a deployment is made of several processes that do not agree. A function gives the shared counters as each
 * of them sees them, in turn.
 */
export type Processes =
  | "one"
  | "counters-apart"
  | "replicas-lag"
  | ((policy: Policy, rate: number) => readonly QuotaStore[]);

export interface Fault {
  readonly name: string;
  /** Description of the error, in one line. */
  readonly wrong: string;
  /** Its look from outside, in one line. */
  readonly shows: string;
  /** Places where it was shipped: `OWNER/REPOSITORY#NUMBER`, or as the catalogue has it. */
  readonly seenIn: readonly string[];
  /** The nets that must catch it. */
  readonly nets: readonly Net[];
  /** `null` where the fault has no degrees. */
  readonly rate: FaultRate | null;
  /** Its processes in a real deployment. `inject` gives each of them within one process, too. */
  readonly processes: Processes;
  /** The switch values under which it is a fault, and the only one; a switch left out may have any. */
  readonly semantics?: NonNullable<LimiterFactory["semantics"]>;
  /** Names the first member under which a policy cannot have this fault; `null` where it can. */
  unfit(policy: Policy): Problem | null;
  /** To be called through `injectFault` and `injectQuotaFault`, which look at rules and policies first. */
  inject(policy: Policy, world: FaultWorld): FaultyQuotas;
}

/** Members of most faults. */
export const usual = { seenIn: [], rate: null, processes: "one", unfit: () => null } as const;

/** A fault as the catalogue lists it: what is left out is as usual. */
export type FaultEntry = Omit<Fault, keyof typeof usual> & Partial<Pick<Fault, keyof typeof usual>>;

/** A fault that is in the counting alone. */
export const counted = (
  make: (policy: Policy, world: FaultWorld) => SlowQuotaStore,
  unfit: Fault["unfit"] = usual.unfit,
): Pick<Fault, "unfit" | "inject"> => ({
  unfit,
  inject: (policy, world) => ({ store: make(policy, world) }),
});
