// A verdict's facts beside its violations, in sentences: how it was judged, how far off the windows were, what was
// inferred and accepted. The terminal, the page and the pull request say the same.

import { duration } from "../rules/duration.ts";
import { shortName } from "../rules/printable.ts";
import { count, counted, countOf } from "../rules/words.ts";
import {
  type Amounts,
  type Evidence,
  type Inferred,
  noCounts,
  type OtherQuota,
  type Verdict,
  type WindowAmounts,
} from "../verify/verdict.ts";
import { share } from "./format.ts";

const isOff = ({ overAdmitted, wronglyRefused, stalenessMs }: Amounts): boolean =>
  overAdmitted > 0 || wronglyRefused > 0 || stalenessMs !== null;

/**
 * Returns `12 windows judged by places, 3 by bounds; 812 of 1,020 readings could have had one value alone.` Returns
 * nothing if no window was judged.
 */
export function methodWords({ methods }: Verdict): string {
  if (methods === undefined || methods.places + methods.bounds === 0) return "";
  const { places, bounds, readings, pinned } = methods;
  const by = [
    ...(places > 0 ? [`${counted(places, "window")} judged by places`] : []),
    ...(bounds > 0 ? [`${counted(bounds, "window")} by bounds`] : []),
  ];
  return `${by.join(", ")}; ${count(pinned)} of ${counted(readings, "reading")} could have had one value alone.`;
}

/** Returns `1,204 readings, 32 refusals, 12 windows, 9 resets`, without those that are 0. */
export function evidenceWords({ readings, refusals, windows, resets }: Evidence): string {
  const counts: readonly (readonly [number, string])[] = [
    [readings, "reading"],
    [refusals, "refusal"],
    [windows, "window"],
    [resets, "reset"],
  ];
  return counts
    .filter(([amount]) => amount > 0)
    .map(([amount, noun]) => counted(amount, noun))
    .join(", ");
}

/** Least number of readings that say much, whichever windows they are of. */
const readingsLeast = 20;

/** Parts of a verdict that show how much evidence it has. */
interface Testimony {
  readonly verdict: Verdict["verdict"];
  readonly evidence?: Readonly<Record<string, Evidence>> | undefined;
  readonly amounts?: Verdict["amounts"];
  readonly laws?: Partial<Verdict["laws"]> | undefined;
}

/**
 * Returns what an `ok` lacks, and what would give it: `no refusal was seen, so load more`. Empty if there is enough
 * evidence, for other verdicts, and for verdicts without evidence.
 */
export function evidenceGaps({ verdict, evidence, amounts, laws }: Testimony): readonly string[] {
  if (verdict !== "ok" || evidence === undefined) return [];
  const refused = amounts?.refused ?? Math.max(...Object.values(evidence).map(({ refusals }) => refusals));
  const noRefusal = refused === 0 ? ["no refusal was seen, so load more"] : [];
  // No other load would show counts.
  const conserved = laws?.conserved;
  if (typeof conserved === "object" && conserved.skipped === noCounts)
    return [noCounts, ...(typeof laws?.bounded === "string" ? noRefusal : [])];
  const most = (member: keyof Evidence): number =>
    Math.max(...Object.values(evidence).map((each) => each[member]));
  const readings = most("readings");
  const isWindowless = most("windows") === 0 && most("resets") === 0;
  // Counts that were judged without a window are levels of buckets.
  const isLevel = isWindowless && (evidence["conserved"]?.readings ?? 0) > 0;
  // A longer run of the same answers would tell no more.
  if (laws !== undefined && readings > 0 && isWindowless && !isLevel)
    return [
      [laws["limit-agrees"], laws["remaining-agrees"]].every((law) => typeof law === "object")
        ? "no answer showed a quota by a name of the policy, in a form of its wire"
        : "no answer told which window its counts are of",
    ];
  return [
    ...(readings < readingsLeast
      ? [`only ${counted(readings, "reading was", "readings were")} judged, so call more`]
      : []),
    ...noRefusal,
    ...(most("resets") === 0 && !isLevel ? ["no window ended before another was seen, so run longer"] : []),
  ];
}

/** Says in a sentence by how much the run was off; nothing if it was not. */
export function amountWords({ amounts, laws }: Verdict): string {
  if (amounts === undefined || !isOff(amounts)) return "";
  return `At least ${offWords(amounts)}.${amounts.overAdmitted > 0 ? unboundedWords(laws.bounded) : ""}`;
}

/** Says why the law bounded does not accuse the calls above a limit. */
function unboundedWords(bounded: Verdict["laws"]["bounded"]): string {
  if (bounded === "violated") return "";
  return bounded === "held"
    ? " The law bounded held all the same: no answer showed a count above its limit, so the counts shown were too low."
    : ` The law bounded could not judge that: ${bounded.skipped}.`;
}

function offWords({ overAdmitted, overAdmission, wronglyRefused, stalenessMs }: Amounts): string {
  const parts = [
    ...(overAdmitted > 0
      ? [`${count(overAdmitted)} (${share(overAdmission)} of what was admitted) went in above a limit`]
      : []),
    ...(wronglyRefused > 0
      ? [`${counted(wronglyRefused, "call was", "calls were")} refused although there was room`]
      : []),
    ...(stalenessMs !== null ? [`one reading was ${duration(stalenessMs)} old when it was shown`] : []),
  ];
  return parts.join("; ");
}

/** Says the same of one window: `12 requests over its limit of 200`. @param units units of its count, plural */
export function windowOffWords(window: WindowAmounts, units: string): string {
  const { overAdmitted, wronglyRefused, stalenessMs, limit } = window;
  return [
    ...(overAdmitted > 0 ? [`${countOf(overAdmitted, units)} over its limit of ${count(limit)}`] : []),
    ...(wronglyRefused > 0 ? [`${counted(wronglyRefused, "call")} wrongly refused`] : []),
    ...(stalenessMs !== null ? [`a reading ${duration(stalenessMs)} old`] : []),
  ].join(", ");
}

/** Returns `rest.reset is floor: ...`, for a switch that the trace told. */
export const inferredWords = ({
  scope,
  switch: name,
  value,
  candidates = [],
  explanation,
}: Inferred): string =>
  value === null
    ? `${scope}.${name} is not told, ${candidates.join(" or ")}: ${explanation}`
    : `${scope}.${name} is ${value}: ${explanation}`;

/** Returns `12 answers of rest named the quota "search" …, which is not judged (first in line 14).`, or nothing. */
export function otherQuotaWords({ otherQuotas = [] }: Verdict): string {
  return otherQuotas.map(namedWords).join(" ");
}

function namedWords({ name, owner, scope, answers, line }: OtherQuota): string {
  const whose = owner === "organization" ? "for the organization's" : "for the user's";
  const named = name === null ? "further quotas of other names" : `the quota ${JSON.stringify(name)}`;
  return `${counted(answers, "answer")} of ${scope} named ${named} ${whose}, which is not judged (first in line ${line}).`;
}

/** Returns `REST: Refused calls are ... Is that meant?`, one for each question, with its scopes or quotas. */
export function questionWords({ questions = [] }: Verdict): readonly string[] {
  const namesOf = new Map<string, string[]>();
  for (const asked of questions) {
    const name = "quota" in asked ? shortName(asked.quota) : asked.scope === "rest" ? "REST" : "GraphQL";
    namesOf.set(asked.question, [...(namesOf.get(asked.question) ?? []), name]);
  }
  return [...namesOf].map(([question, names]) => `${names.join(" and ")}: ${question}`);
}

/** Returns `tenant_tokens, burst: a token bucket's level is not judged.`, one for each reason. */
export function notJudgedWords({ notJudged = [] }: Verdict): readonly string[] {
  const quotasOf = new Map<string, string[]>();
  for (const { quota, why } of notJudged) quotasOf.set(why, [...(quotasOf.get(why) ?? []), shortName(quota)]);
  return [...quotasOf].map(([why, quotas]) => `${quotas.join(", ")}: ${why}.`);
}

/** Returns the number of violations beyond those that the verdict kept. */
export const leftOut = ({ violations, violationsFound = violations.length }: Verdict): number =>
  violationsFound - violations.length;
