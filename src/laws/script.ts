// A script is one concrete sequence of operations under one set of rules: what a property plays against a
// limiter, and what a counterexample is made of. Plain JSON with absolute times, so that it can be kept,
// shown and played again without the random numbers that it came from.
import type { Algorithm } from "../rules/algorithms.ts";
import type { Rules, Scope } from "../rules/rules.ts";

/** A call, named by a number of its own so that a script with some operations left out still refers to it. */
export interface CallOp {
  readonly do: "call";
  readonly atMs: number;
  readonly id: number;
  readonly organization: string;
  readonly user: string;
  readonly scope: Scope;
  readonly cost: number;
}

/** Completes the GraphQL call `id`; nothing happens where that call was refused. */
export interface SettleOp {
  readonly do: "settle";
  readonly atMs: number;
  readonly id: number;
  readonly actual: number;
}

/** A status reading; `user` is who asks, whose windows the answer's headers show. */
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

/** The limiter is stored and a restored one goes on in its place. */
export interface SnapshotOp {
  readonly do: "snapshot";
  readonly atMs: number;
}

export type Op = CallOp | SettleOp | StatusOp | EnforceOp | SweepOp | SnapshotOp;

/** Which window: an organization's (`user` null) or one user's, of one scope. */
export interface WindowKey {
  readonly organization: string;
  readonly user: string | null;
  readonly scope: Scope;
}

/** Facts of a limiter that a ledger needs beside its answers. */
export interface LedgerTerms {
  readonly rules: Rules;
  /** Of what a first-request window opens at a whole multiple, ms; 1000 unless told. */
  readonly opensToMs?: 1 | 1000;
  /** Only users have windows. */
  readonly keyed?: boolean;
  /** Algorithm that the limiter states. Default: `fixed-window`. */
  readonly algorithm?: Algorithm;
  /** The instant at which a window ends still belongs to it. */
  readonly endsLate?: boolean;
}

export const algorithmOf = ({ algorithm = "fixed-window" }: LedgerTerms): Algorithm => algorithm;

export interface Script extends LedgerTerms {
  /** The time of the first operation, before any step; what a timeline calls 0. */
  readonly startMs: number;
  readonly ops: readonly Op[];
  /** Choices of a law that compares two runs: whose calls are kept, how far times are shifted. */
  readonly pick: number;
}

/** The names that occur in the scripts of one check. */
export interface ScriptNames {
  readonly organizations: readonly string[];
  readonly users: readonly string[];
  /** True if each organization has users of its own. */
  readonly usersOf?: Readonly<Record<string, readonly string[]>>;
}

/** Things that a law speaks of: scripts, what limiters answered to them, and counts, each by rules or by a policy. */
export interface LawKind {
  readonly script: {
    readonly startMs: number;
    readonly pick: number;
    readonly ops: readonly LawKind["op"][];
  };
  readonly op: { readonly do: string; readonly atMs: number };
  readonly history: readonly { readonly op: LawKind["op"] }[];
  readonly window: object;
  /** A call, and what was answered to it. */
  readonly call: { readonly do: "call"; readonly atMs: number; readonly id: number; readonly cost: number };
  readonly answered: { readonly op: LawKind["call"] };
}
