// The oracle's verdict on an audit's trace: judged by quotas, and for the API of SPEC.md by rules as well.
import type { LimiterLawName } from "../rules/laws.ts";
import type { Rules } from "../rules/rules.ts";
import type { AuditResult, ShownBroken } from "../summary/audit-result.ts";
import type { TraceHeader } from "../trace/record.ts";
import { judge } from "../verify/judge.ts";
import { judgeQuotas } from "../verify/policy-judge.ts";
import type { AuditRecord } from "./record.ts";

/** An accusation of the oracle, with lines of the trace. */
export interface OracleAccusation {
  readonly law: LimiterLawName;
  readonly suspects: readonly string[];
  readonly explanation: string;
  readonly lines: readonly number[];
}

export interface Agreement {
  readonly accusations: readonly OracleAccusation[];
  readonly shown: AuditResult["verdict"];
  /** Reason why nothing was judged; `null` if something was. */
  readonly unjudged: string | null;
}

const shownMost = 20;

/**
 * Judges an audit's trace.
 * @param rules the rules that the target claims, if rules of version 1 can express them
 * @param unsettled reason why the audit may not judge by the policy
 */
export async function agreement(
  record: AuditRecord,
  rules: Rules | null,
  unsettled?: string | undefined,
): Promise<Agreement> {
  const { header, calls } = record;
  if (unsettled !== undefined)
    return {
      accusations: [],
      unjudged: unsettled,
      shown: { verdict: "unknown", records: calls.length, windows: 0, violations: [] },
    };
  const byLine = calls
    .map((call, at) => ({ line: at + 2, call }))
    .toSorted((one, other) => one.call.received - other.call.received);
  const verdict = await judgeQuotas(header, byLine);
  const accusations: OracleAccusation[] = verdict.violations.map(({ law, suspects, explanation, lines }) => ({
    law,
    suspects,
    explanation,
    lines,
  }));
  if (rules !== null) {
    const { policy: _, ...rest } = header;
    // Calls of an earlier part are not among these lines.
    const complete = header.complete && !record.goesOn;
    const plain: TraceHeader = { ...rest, version: 1, rules, complete };
    const lines = record.plain
      .map((call) => ({ line: call.call + 2, call }))
      .toSorted((one, other) => one.call.received - other.call.received);
    for (const { law, suspects, explanation, lines: of } of (await judge(plain, lines)).violations)
      accusations.push({ law, suspects, explanation, lines: of });
  }
  return {
    accusations,
    unjudged:
      verdict.verdict === "unknown" && accusations.length === 0
        ? "nothing in the trace could be judged"
        : null,
    shown: {
      verdict: accusations.length > 0 ? "violated" : verdict.verdict,
      records: verdict.records,
      windows: verdict.windows,
      violations: accusations
        .slice(0, shownMost)
        .map(({ law, suspects, explanation }) => ({ law, suspects, explanation })),
    },
  };
}

/** Tells whether the oracle accuses the same law, or one of the contradiction's answers. */
export function oracleOn(
  { accusations }: Agreement,
  law: string,
  lines: readonly number[],
): ShownBroken["oracle"] {
  const agrees = accusations.some(
    (each) => each.law === law || each.lines.some((line) => lines.includes(line)),
  );
  return agrees ? "agrees" : "does not see it";
}
