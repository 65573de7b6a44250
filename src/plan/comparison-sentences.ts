// A comparison in sentences: the effect of jitter, the policy with the fewest refusals, the effect of larger limits.

import { count, counted, listText } from "../rules/words.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { PlanAlternative, PlanComparison, PlanFigure, PlanGoal } from "../summary/plan-result.ts";
import { goalsText } from "../summary/plan-values.ts";
import { policyMeaning } from "./policies.ts";
import { meanText } from "./words.ts";

/** Returns the sentences of a comparison, for each population that is refused. */
export function comparisonSentences(
  comparison: PlanComparison,
  scenario: Scenario,
  goals: readonly PlanGoal[],
): string[] {
  if (comparison.populations.length === 0)
    return ["Nobody is refused as things stand: there is nothing to change."];
  return [
    ...goalSentences(comparison, goals),
    ...comparison.populations.flatMap((population) => {
      const clients = scenario.populations.find(({ name }) => name === population)?.clients ?? null;
      return populationSentences(comparison, population, clients);
    }),
  ];
}

/** Returns the changes with which the goals held in every run that was made. */
function goalSentences({ alternatives }: PlanComparison, goals: readonly PlanGoal[]): string[] {
  const [asIs] = alternatives;
  if (asIs === undefined || asIs.held === null || goals.length === 0) return [];
  const [hold, holding] = goals.length === 1 ? ["holds", "it holds"] : ["hold", "they hold"];
  const runs = counted(asIs.replications, "run");
  const changed = alternatives.filter(({ asIs }) => !asIs);
  const always = changed.filter(({ held, replications }) => held === replications);
  const changes =
    always.length === 0
      ? "none of the changes tried"
      : always.length === changed.length
        ? `each of the ${counted(changed.length, "change")} tried`
        : changesText(always);
  return [
    `${goalsText(goals)} ${hold} in ${count(asIs.held)} of ${runs} as things stand; ${holding} in all of them with ${changes}.`,
  ];
}

/** Number of changes that are named; the table has the others. */
const namedMost = 3;

function changesText(changes: readonly PlanAlternative[]): string {
  const names = changes
    .slice(0, namedMost)
    .map(({ population, policy, limits }) =>
      [`${policy} for ${population}`, ...(limits === asTheyAre ? [] : [`limits ${limits}`])].join(" and "),
    );
  const others = changes.length - names.length;
  return listText(others === 0 ? names : [...names, counted(others, "other change")]);
}

const named = (alternative: PlanAlternative | undefined, figure: string): PlanFigure | undefined =>
  alternative?.figures.find((one) => one.figure === figure);
const asTheyAre = "as they are";

function populationSentences(
  { alternatives }: PlanComparison,
  population: string,
  clients: number | null,
): string[] {
  const mine = alternatives.filter((one) => one.population === population);
  const asIs = alternatives.find((one) => one.asIs) as PlanAlternative;
  const who = clients === null ? population : `${clients} ${population}`;
  const share = `${population}.refusedShare`;
  const text = (one: PlanAlternative | undefined, figure: string): string => {
    const found = named(one, figure);
    return found === undefined ? "–" : meanText(found);
  };
  const at = (policy: string): PlanAlternative | undefined =>
    mine.find((one) => one.policy === policy && one.limits === asTheyAre);
  const [alone, jittered] = [at("waitReset"), at("waitReset+0..5s")];
  const first = `${population}.refusedFirstSecondShare`;
  const waiting = `${who}: ${policyMeaning("waitReset")} refuses`;
  const withJitter = policyMeaning("waitReset+0..5s").replace("waiting for the reset ", "");
  const asNow = `as things stand ${text(asIs, share)}`;
  // Runs under a policy, and those without a reset, have no first second after it.
  const isSeen = [alone, jittered].every((one) => (named(one, first)?.mean ?? null) !== null);
  const sentences = [
    isSeen
      ? `${waiting} ${text(alone, first)} in the first second after it; ${withJitter} ${text(jittered, first)}. ` +
        `Over the whole run: ${text(alone, share)} and ${text(jittered, share)}; ${asNow}.`
      : `${waiting} ${text(alone, share)}; ${withJitter} ${text(jittered, share)}; ${asNow}.`,
  ];
  const asNowText = `as things stand ${text(asIs, share)}, ${text(asIs, `${population}.waitP95Ms`)}`;
  const least = leastRefused(mine, asIs, population);
  if (least.length > 0) {
    const meanings = listText(least.map(({ policy }) => policyMeaning(policy)));
    const [verb, apart] =
      least.length === 1 ? ["refuses", ""] : ["refuse", ", and the runs do not tell which of them least"];
    const refusals = listText(least.map((one) => text(one, share)));
    const waits = listText(least.map((one) => text(one, `${population}.waitP95Ms`)));
    sentences.push(
      `With the limits as they are, ${meanings} ${verb} ${population} least without losing more${apart}: ` +
        `${refusals} of calls, 95% of jobs within ${waits} (${asNowText}).`,
    );
  } else if (mine.some(isPolicyAlone))
    sentences.push(
      `With the limits as they are, no policy that was tried surely refuses ${population} less than now without losing more (${asNowText}).`,
    );
  const larger = mine.filter(({ policy }) => policy.startsWith("own"));
  if (larger.length > 0) {
    const words = larger.map((one) => `${text(one, share)} at ${one.limits}`);
    sentences.push(
      `Larger limits alone refuse ${population} ${listText(words)}, in place of ${text(asIs, share)}.`,
    );
  }
  return sentences;
}

/** Tells whether an alternative changes what clients do, and no limits. */
const isPolicyAlone = ({ limits, asIs }: PlanAlternative): boolean => !asIs && limits === asTheyAre;

/**
 * Returns the policies that surely refuse less than the present one and do not surely lose more jobs: the one that
 * refuses least, and those that the runs do not tell from it.
 */
function leastRefused(
  alternatives: readonly PlanAlternative[],
  asIs: PlanAlternative,
  population: string,
): readonly PlanAlternative[] {
  const share = (one: PlanAlternative) => named(one, `${population}.refusedShare`);
  const lost = (one: PlanAlternative) => named(one, `${population}.gaveUp`);
  const better = alternatives
    .filter(isPolicyAlone)
    .filter((one) => surelyMore(share(asIs), share(one)) && !surelyMore(lost(one), lost(asIs)))
    .sort((a, b) => (share(a)?.mean ?? 0) - (share(b)?.mean ?? 0));
  const [least] = better;
  return better.filter((one) => least !== undefined && !surelyMore(share(one), share(least)));
}

/** Tells whether a figure is more than another by more than chance. One run alone tells no chance. */
const surelyMore = (one: PlanFigure | undefined, other: PlanFigure | undefined): boolean =>
  (one?.interval?.low ?? Number.NaN) > (other?.interval?.high ?? Number.NaN);
