// A script under a policy: one concrete sequence of operations, as `../script.ts` has it under rules.
import type { PartialQuotaReading, QuotaSaid } from "../../engine/quota-limiter.ts";
import type { Policy } from "../../policy/policy.ts";
import type { ReadAnswer } from "../../wire/read-answer.ts";
import type { LedgerTerms, SettleOp, SnapshotOp, SweepOp } from "../script.ts";

export type CallerAttributes = Readonly<Record<string, string>>;

export interface QuotaCallOp {
  readonly do: "call";
  readonly atMs: number;
  readonly id: number;
  readonly caller: CallerAttributes;
  readonly operation: string;
  readonly cost: number;
}

export interface QuotaStatusOp {
  readonly do: "status";
  readonly atMs: number;
  readonly caller: CallerAttributes;
}

export interface QuotaEnforceOp {
  readonly do: "enforce";
  readonly atMs: number;
  readonly quota: string;
  readonly caller: CallerAttributes;
  readonly enforced: boolean;
}

export type QuotaOp = QuotaCallOp | SettleOp | QuotaStatusOp | QuotaEnforceOp | SweepOp | SnapshotOp;

export interface QuotaScript {
  /** The policy that the limiter was made with. */
  readonly policy: Policy;
  /** Buckets are counted in whole numbers. */
  readonly isExact: boolean;
  readonly startMs: number;
  readonly ops: readonly QuotaOp[];
  /** Choices of a law that compares two runs. */
  readonly pick: number;
  /** Facts of a limiter by rules. What these leave open is as the limiter says. */
  readonly terms?: LedgerTerms;
}

/** A reading that a limiter said; by rules it says whole seconds, and whether it is enforced, too. */
export interface SaidReading extends PartialQuotaReading {
  readonly reset?: number | null | undefined;
  readonly enforced?: boolean | undefined;
}

/** The answer of a limiter to one operation. */
interface Heard {
  readonly said: Omit<QuotaSaid, "readings"> & { readonly readings?: readonly SaidReading[] | undefined };
  /** Its answer, read by the policy's wire; `null` where none was sent. */
  readonly read: ReadAnswer | null;
}

export interface QuotaCallEvent extends Heard {
  readonly op: QuotaCallOp;
  readonly admitted: boolean;
  /** `undefined` where nobody tells. */
  readonly refusedBy: string | null | undefined;
  readonly retryAtMs: number | null;
  /** The answer tells another outcome than the decision. */
  readonly isAtOdds: boolean;
}

interface QuotaSettleEvent extends Heard {
  readonly op: SettleOp;
  /** The call that was completed; `null` where it had been refused, and nothing happened. */
  readonly call: QuotaCallOp | null;
}

interface QuotaStatusEvent extends Heard {
  readonly op: QuotaStatusOp;
}

/** One operation with what the limiter answered. */
export type QuotaEvent =
  | QuotaCallEvent
  | QuotaSettleEvent
  | QuotaStatusEvent
  | { readonly op: QuotaEnforceOp | SweepOp | SnapshotOp };

export type QuotaHistory = readonly QuotaEvent[];
