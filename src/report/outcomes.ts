// The outcomes of calls, in the words and colours of every picture that counts them.
import { count } from "../rules/words.ts";
import { type CallOutcome, callOutcomes } from "../summary/timeline.ts";
import type { LegendEntry } from "./picture.ts";
import type { Column } from "./table.ts";

export const outcomeColors: Readonly<Record<CallOutcome, string>> = {
  admitted: "var(--admitted)",
  refusedByUser: "var(--refused-user)",
  refusedByOrganization: "var(--refused)",
  refusedByQuota: "var(--refused)",
  refusedByUnknown: "var(--refused-unknown)",
  unanswered: "var(--unanswered)",
};

export const outcomeWords: Readonly<Record<CallOutcome, string>> = {
  admitted: "admitted",
  refusedByUser: "refused by the user's own window",
  refusedByOrganization: "refused by the organization's window",
  refusedByQuota: "refused",
  refusedByUnknown: "refused, not said by which",
  unanswered: "unanswered",
};

/** Names of columns in files. */
export const outcomeKeys: Readonly<Record<CallOutcome, string>> = {
  admitted: "admitted",
  refusedByUser: "refused_by_user",
  refusedByOrganization: "refused_by_organization",
  refusedByQuota: "refused",
  refusedByUnknown: "refused_by_unknown",
  unanswered: "unanswered",
};

export type OutcomeCounts = Readonly<Record<CallOutcome, number>>;

/** Returns the outcomes that occurred, in their order. */
export const outcomesOf = (counts: readonly OutcomeCounts[]): CallOutcome[] =>
  callOutcomes.filter((outcome) => counts.some((one) => one[outcome] > 0));

export const refusedOf = (counts: OutcomeCounts): number =>
  counts.refusedByUser + counts.refusedByOrganization + counts.refusedByQuota + counts.refusedByUnknown;

export const callsOf = (counts: OutcomeCounts): number =>
  callOutcomes.reduce((sum, outcome) => sum + counts[outcome], 0);

export const outcomeLegend = (outcomes: readonly CallOutcome[]): LegendEntry[] =>
  outcomes.map((outcome) => ({
    name: outcomeWords[outcome],
    swatch: "area",
    color: outcomeColors[outcome],
  }));

/** Returns the columns of refusals: one under a policy, else one for each owner, and one for those that name neither. */
export function refusalColumns<Row>(
  rows: readonly Row[],
  countsOf: (row: Row) => OutcomeCounts,
  isByQuota: boolean,
): Column<Row>[] {
  const column = (title: string, outcome: CallOutcome): Column<Row> => ({
    title,
    number: true,
    cell: (row) => count(countsOf(row)[outcome]),
  });
  if (isByQuota) return [column("Refused", "refusedByQuota")];
  const isUnknown = rows.some((row) => countsOf(row).refusedByUnknown > 0);
  return [
    column("Refused by user's", "refusedByUser"),
    column("by organization's", "refusedByOrganization"),
    ...(isUnknown ? [column("not said by which", "refusedByUnknown")] : []),
  ];
}
