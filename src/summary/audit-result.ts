// The result of an audit: plain JSON, kept as audit.json.
import type { LimiterLawName } from "../rules/laws.ts";

export type State = "kept" | "broken" | "not exercised";

/** One call of a contradiction. */
export interface ShownCall {
  readonly line: number;
  /** `GET /v2/user by ann of acme`. */
  readonly what: string;
  readonly status: number;
  /** `refused by rest_user; rest 12 of 200 left`. */
  readonly said: string;
}

/** The answer of a shown call in words: `200; rest 12 of 200 left`. */
export const answerWords = ({ status, said }: ShownCall): string =>
  [...(status === 0 ? [] : [String(status)]), ...(said === "" ? [] : [said])].join("; ");

export interface ShownBroken {
  readonly law: LimiterLawName;
  readonly operation: string;
  readonly expected: string;
  readonly got: string;
  readonly calls: readonly ShownCall[];
  /** True if it was seen again when it was repeated. */
  readonly isRepeated: boolean;
  /** The oracle on the same trace. */
  readonly oracle: "agrees" | "does not see it";
  /** An experiment that failed before, and is enough to explain this one. */
  readonly follows: string | null;
  /** A command that repeats it. */
  readonly repeat: string;
}

/** One experiment's line. */
export interface Row {
  readonly name: string;
  readonly law: LimiterLawName;
  readonly section: string;
  readonly promise: string;
  readonly state: State;
  /** Reason where it was not exercised, or not with every operation. */
  readonly why: string | null;
  /** Operations with which it was kept. */
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
  /** Reason why nothing was held to limits and lengths of windows: nobody knows them. */
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

/** Row of the oracle's own judgement. */
export const agreementName = "agreement";
/** Reason of experiments that an early end left out. */
export const interruptedWhy = "interrupted";

/** Rows that an audit which goes on need not make again. */
export const settledRows = ({ rows }: Pick<AuditResult, "rows">): Row[] =>
  rows.filter(
    ({ name, state, why }) =>
      name !== agreementName && state !== "not exercised" && why?.includes(interruptedWhy) !== true,
  );
