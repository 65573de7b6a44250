// A script is one concrete sequence of operations under one set of rules. A property plays it against a limiter;
// a counterexample contains it. It is plain JSON with absolute times, so it can be kept, shown and played again
// without the random numbers that made it.
import type { LimiterFactory } from "../engine/adapter.ts";
import type { Algorithm } from "../rules/algorithms.ts";
import type { Rules, Scope } from "../rules/rules.ts";

/** A call. Its `id` is not its place, so that references hold when other operations are left out. */
export interface CallOp {
  readonly do: "call";
  readonly atMs: number;
  readonly id: number;
  readonly organization: string;
  readonly user: string;
  readonly scope: Scope;
  readonly cost: number;
}

/** Completion of the GraphQL call `id`. Nothing happens if that call was refused. */
export interface SettleOp {
  readonly do: "settle";
  readonly atMs: number;
  readonly id: number;
  readonly actual: number;
}

/** A status reading. `user` asks for it; the answer's headers show this user's windows. */
export interface StatusOp {
  readonly do: "status";
  readonly atMs: number;
  readonly organization: string;
  readonly user: string;
}

export interface EnforceOp {
  readonly do: "enforce";
  readonly atMs: number;
  readonly organization: string;
  readonly scope: Scope;
  readonly enforced: boolean;
}

export interface SweepOp {
  readonly do: "sweep";
  readonly atMs: number;
}

/** A restart: the limiter is stored, and a restored one takes its place. */
export interface SnapshotOp {
  readonly do: "snapshot";
  readonly atMs: number;
}

export type Op = CallOp | SettleOp | StatusOp | EnforceOp | SweepOp | SnapshotOp;

/** Key of a window by rules: an organization's (`user` is `null`) or one user's, of one scope. */
export interface WindowKey {
  readonly organization: string;
  readonly user: string | null;
  readonly scope: Scope;
}

/** Returns the key of a caller, for a limiter by key: `acme/ann`, or `ann` of no organization. */
export const keyOf = ({ organization, user }: Pick<CallOp, "organization" | "user">): string =>
  organization === "" ? user : `${organization}/${user}`;

/** Facts of a limiter that a ledger needs, beside the limiter's answers. Default algorithm: `fixed-window`. */
export interface LedgerTerms
  extends Partial<Pick<LimiterFactory, "algorithm" | "endsLate" | "fromStart" | "keyed" | "opensToMs">> {
  readonly rules: Rules;
}

export const algorithmOf = ({ algorithm = "fixed-window" }: LedgerTerms): Algorithm => algorithm;

export interface Script extends LedgerTerms {
  /** Time before the first operation's move, ms since the epoch. A timeline calls it 0. */
  readonly startMs: number;
  readonly ops: readonly Op[];
  /** Number from which a law takes its choices: which refusals it tests, how far it shifts times. */
  readonly pick: number;
}

/** Types that a law works on: scripts, histories and counts, either by rules or by a policy. */
export interface LawKind {
  readonly script: {
    readonly startMs: number;
    readonly pick: number;
    readonly ops: readonly LawKind["op"][];
  };
  readonly op: { readonly do: string; readonly atMs: number };
  readonly history: readonly { readonly op: LawKind["op"] }[];
  readonly window: object;
  /** A call; `answered` is the call with its answer. */
  readonly call: { readonly do: "call"; readonly atMs: number; readonly id: number; readonly cost: number };
  readonly answered: { readonly op: LawKind["call"] };
}
