// Scripts and histories under a policy; `../script.ts` and `../history.ts` have those under rules.
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
  /** Policy that the limiter is made with. */
  readonly policy: Policy;
  /** True if the limiter counts buckets in whole numbers. */
  readonly isExact: boolean;
  readonly startMs: number;
  readonly ops: readonly QuotaOp[];
  /** Number from which a law that compares two runs takes its choices. */
  readonly pick: number;
  /** Facts of a limiter by rules; absent under a policy. The limiter's word settles what they leave open. */
  readonly terms?: LedgerTerms;
}

/** A reading that a limiter said. Under rules it may also have `reset`, in whole seconds, and `enforced`. */
export interface SaidReading extends PartialQuotaReading {
  readonly reset?: number | null | undefined;
  readonly enforced?: boolean | undefined;
}

/** The answer of a limiter to one operation. */
interface Heard {
  readonly said: Omit<QuotaSaid, "readings"> & { readonly readings?: readonly SaidReading[] | undefined };
  /** The HTTP answer, read by the policy's wire; `null` if none was sent. */
  readonly read: ReadAnswer | null;
}

export interface QuotaCallEvent extends Heard {
  readonly op: QuotaCallOp;
  readonly admitted: boolean;
  /** Quota that refused; `undefined` if neither decision nor answer names one. */
  readonly refusedBy: string | null | undefined;
  readonly retryAtMs: number | null;
  /** True if the HTTP answer tells another outcome than the decision. */
  readonly isAtOdds: boolean;
}

interface QuotaSettleEvent extends Heard {
  readonly op: SettleOp;
  /** Call that was completed; `null` if it had been refused, so that nothing happened. */
  readonly call: QuotaCallOp | null;
}

interface QuotaStatusEvent extends Heard {
  readonly op: QuotaStatusOp;
}

/** One operation with the limiter's answer. */
export type QuotaEvent =
  | QuotaCallEvent
  | QuotaSettleEvent
  | QuotaStatusEvent
  | { readonly op: QuotaEnforceOp | SweepOp | SnapshotOp };

export type QuotaHistory = readonly QuotaEvent[];
