// A report's source, and the words that its parts share.
import type { Policy } from "../policy/policy.ts";
import { duration } from "../rules/duration.ts";
import { type FigureReference, parseFigure } from "../rules/figures.ts";
import { shortName } from "../rules/printable.ts";
import type { Scope } from "../rules/rules.ts";
import { count, counted } from "../rules/words.ts";
import { judgeExpectations } from "../summary/expectations.ts";
import type { Series } from "../summary/series.ts";
import type { ExpectationResult, Summary } from "../summary/summary.ts";
import type { Whose } from "../trace/whose.ts";
import type { Verdict } from "../verify/verdict.ts";
import { figureText, ownerName } from "./format.ts";
import type { ResultTone } from "./parts.ts";
import type { Run, RunRecord } from "./run.ts";
import { evidenceGaps } from "./verdict-words.ts";

/** A run, and the series that its pictures show. */
export interface ReportSource {
  readonly run: Run;
  readonly series: Series;
}

export const scopeWords: Readonly<Record<Scope, string>> = { rest: "REST", graphql: "GraphQL" };
export const scopeUnits: Readonly<Record<Scope, string>> = { rest: "requests", graphql: "points" };

/** Returns the unit of a quota, plural; `units` without its policy. */
export const quotaUnits = (quota: string, policy: Policy | undefined): string =>
  policy?.quotas[quota]?.unit ?? "units";

/** Returns the units of a window's count. @param policy policy that names the window's quota */
export const unitsOf = (whose: Whose, policy: Policy | undefined): string =>
  "quota" in whose ? quotaUnits(whose.quota, policy) : scopeUnits[whose.scope];

/** Returns `acme, REST`, `acme/agent-17, REST`; for a policy's quota `core, ann`. */
export function ownerWords(whose: Whose): string {
  if (!("quota" in whose)) return `${ownerName(whose.org, whose.user)}, ${scopeWords[whose.scope]}`;
  return [whose.quota, ...Object.values(whose.key)].map(shortName).join(", ");
}

export const driverWords = {
  k6: "measured by k6",
  node: "measured by Node",
  simulator: "simulated",
} as const satisfies Record<Run["record"]["driver"], string>;

/** Says how late the generator was: `half of them 0 ms, 99% 3 ms, at most 14 ms`. */
export function latenessWords({ p50Ms, p99Ms, maxMs }: NonNullable<RunRecord["lateness"]>): string {
  return `half of them ${duration(p50Ms)}, 99% ${duration(p99Ms)}, at most ${duration(maxMs)}`;
}

/** Returns the figure's own name without its population. An unknown figure gives `calls`, but never gets this far. */
export function figureOf(written: string): FigureReference["name"] {
  const found = parseFigure(written);
  return "path" in found ? "calls" : found.name;
}

export function expectationsOf({ record, summary, verdict }: Run): ExpectationResult[] {
  return judgeExpectations(record.expect, summary, verdict?.amounts ?? null);
}

/** Returns `refusedShare is 9.9%, expected <5%`. */
export const missedWords = ({ figure, bound, actual }: ExpectationResult): string =>
  `${figure} is ${figureText(figureOf(figure), actual)}, expected ${bound}`;

/** Counts the laws that a verdict found held, broken, or could not judge. */
export function lawCounts(verdict: Verdict): { held: number; violated: readonly string[]; skipped: number } {
  const laws = Object.entries(verdict.laws);
  return {
    held: laws.filter(([, state]) => state === "held").length,
    violated: laws.filter(([, state]) => state === "violated").map(([name]) => shortName(name)),
    skipped: laws.filter(([, state]) => typeof state === "object").length,
  };
}

/** Greatest number of laws to name. It exceeds the laws that there are; another program's verdict may have more. */
const namesMost = 30;

const namesWords = (names: readonly string[]): string =>
  [
    ...names.slice(0, namesMost),
    ...(names.length > namesMost ? [`${names.length - namesMost} more`] : []),
  ].join(", ");

/** Returns `: a token bucket's level is not judged`; nothing if no quota is left out by its kind. */
function unjudgedWords({ notJudged = [] }: Verdict): string {
  const reasons = [...new Set(notJudged.map(({ why }) => why))];
  return reasons.length === 0 ? "" : `: ${reasons.slice(0, 3).join("; ")}`;
}

/** Returns the verdict in a few words. A trace shows at most that nothing in it contradicts the laws. */
export function verdictWords(verdict: Verdict | null): string {
  if (verdict === null) return "This run was not judged";
  const { violated } = lawCounts(verdict);
  if (verdict.verdict === "violated")
    return `${counted(violated.length, "law is", "laws are")} broken: ${namesWords(violated)}`;
  if (verdict.verdict === "unknown") return `Nothing in this trace could be judged${unjudgedWords(verdict)}`;
  const gaps = evidenceGaps(verdict);
  return gaps.length === 0 ? "No law is broken" : `No law is broken, on little evidence: ${gaps.join("; ")}`;
}

/** Returns the outcome in a few words. Broken laws come before missed expectations. */
export function headline(run: Run): string {
  const expectations = expectationsOf(run);
  const missed = expectations.filter(({ held }) => !held).length;
  if (missed === 0 || run.verdict?.verdict === "violated") return verdictWords(run.verdict);
  return `${count(missed)} of ${counted(expectations.length, "expectation")} missed`;
}

/** Tones of a verdict alone. */
export const verdictTones = { ok: "good", violated: "bad", unknown: "none" } as const;

/** Returns the overall outcome: `none` if nothing was judged and nothing was missed. */
export function outcomeOf(run: Run): ResultTone {
  const missed = expectationsOf(run).some(({ held }) => !held);
  return missed ? "bad" : verdictTones[run.verdict?.verdict ?? "unknown"];
}

/** Returns `: 118 by core, 25 by search`; nothing if no quota refused. */
function quotasWords(refusedBy: Readonly<Record<string, number>>): string {
  const parts = Object.entries(refusedBy)
    .filter(([, refused]) => refused > 0)
    .toSorted(([, one], [, other]) => other - one)
    .map(([quota, refused]) => `${count(refused)} by ${shortName(quota)}`);
  return parts.length === 0 ? "" : `: ${parts.join(", ")}`;
}

/** Returns `143 of 2,412 answered calls were refused: 118 by a user's own window, 25 by the organization's.` */
export function refusalWords({ figures, refusedBy }: Pick<Summary, "figures" | "refusedBy">): string {
  const { refused, refusedByUser: byUser, refusedByOrganization: byOrganization } = figures;
  const answered = refused + figures.admitted;
  if (answered === 0) return "No call that counts was answered.";
  if (refused === 0) return `None of ${counted(answered, "answered call")} was refused.`;
  const verb = refused === 1 ? "was" : "were";
  const said = `${count(refused)} of ${counted(answered, "answered call")} ${verb} refused`;
  if (refusedBy !== undefined) return `${said}${quotasWords(refusedBy)}.`;
  // Under a policy no figure names a window.
  if (byUser === null || byOrganization === null) return `${said}.`;
  const reasons: [number, string][] = [
    [byUser, "by a user's own window"],
    [byOrganization, "by the organization's"],
    [refused - byUser - byOrganization, "without saying by which window"],
  ];
  const parts = reasons
    .filter(([amount]) => amount > 0)
    .map(([amount, reason]) => (amount === refused ? `all ${reason}` : `${count(amount)} ${reason}`));
  return `${said}: ${parts.join(", ")}.`;
}
