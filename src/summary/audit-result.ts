// The result of an audit: plain JSON, kept as audit.json.
import type { LimiterLawName } from "../rules/laws.ts";

export type State = "kept" | "broken" | "not exercised";

/** One call of a contradiction, in words. */
export interface ShownCall {
  readonly line: number;
  /** Request and caller: `GET /v2/user by ann of acme`. */
  readonly what: string;
  readonly status: number;
  /** Outcome and readings: `refused by rest_user; rest 12 of 200 left`. */
  readonly said: string;
}

/** Returns a shown call's answer in words: `200; rest 12 of 200 left`. */
export const answerWords = ({ status, said }: ShownCall): string =>
  [...(status === 0 ? [] : [String(status)]), ...(said === "" ? [] : [said])].join("; ");

export interface ShownBroken {
  readonly law: LimiterLawName;
  readonly operation: string;
  readonly expected: string;
  readonly got: string;
  readonly calls: readonly ShownCall[];
  /** True if a repetition broke the law again. */
  readonly isRepeated: boolean;
  /** The oracle's view of the same trace. */
  readonly oracle: "agrees" | "does not see it";
  /** Name of an earlier failed experiment that explains this one; `null` if none does. */
  readonly follows: string | null;
  /** Command that repeats the experiment. */
  readonly repeat: string;
}

/** Result of one experiment. */
export interface Row {
  readonly name: string;
  readonly law: LimiterLawName;
  readonly section: string;
  readonly promise: string;
  readonly state: State;
  /** Reason why the law was not exercised, or not with every operation; else `null`. */
  readonly why: string | null;
  /** Operations with which the law was kept. */
  readonly operations: readonly string[];
  readonly broken: readonly ShownBroken[];
}

export interface AuditResult {
  readonly format: "spillway-audit";
  readonly version: 1;
  readonly target: string;
  readonly policy: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly calls: number;
  readonly alone: boolean;
  readonly assumptions: readonly string[];
  /** Reason why the audit did not check limits and lengths of windows: they are unknown. */
  readonly unsettled?: string | undefined;
  readonly ended: "whole" | "interrupted" | { readonly stopped: string };
  readonly rows: readonly Row[];
  readonly verdict: {
    readonly verdict: "ok" | "violated" | "unknown";
    readonly records: number;
    readonly windows: number;
    readonly violations: readonly {
      readonly law: string;
      readonly suspects: readonly string[];
      readonly explanation: string;
    }[];
  };
}

export const countsOf = ({ rows }: Pick<AuditResult, "rows">): Readonly<Record<State, number>> => ({
  kept: rows.filter(({ state }) => state === "kept").length,
  broken: rows.filter(({ state }) => state === "broken").length,
  "not exercised": rows.filter(({ state }) => state === "not exercised").length,
});

/** Name of the row with the oracle's own judgement. */
export const agreementName = "agreement";
/** Reason in rows of experiments that an early end left out. */
export const interruptedWhy = "interrupted";

/** Returns the rows that a resumed audit need not repeat. */
export const settledRows = ({ rows }: Pick<AuditResult, "rows">): Row[] =>
  rows.filter(
    ({ name, state, why }) =>
      name !== agreementName && state !== "not exercised" && why?.includes(interruptedWhy) !== true,
  );
