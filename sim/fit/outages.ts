// Finds outages in a recording: spells in which calls of several callers failed. A call that fails now and then is none.
import { ln } from "../../src/scenario/elementary.ts";
import type { Outage } from "../../src/scenario/network.ts";
import { isFailure } from "../../src/wire/outcome.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { Recording } from "./recording.ts";
import { SortedSample } from "./statistics.ts";

/** Least probability that a call fails in an outage. */
const shareOfOutage = 0.5;
/** Share of failed calls above which no outage of a recording stands out. */
const failuresMost = 0.2;
/** Least number of failures of an outage. If there are several callers, two or more must have failures in it. */
const failuresLeast = 5;
/** Logarithm of the number of recordings among which chance makes one show a false outage. */
const evidence = ln(5_000);
/** Greatest number of outages: the likeliest spells are kept. */
const outagesMost = 50;
/** Least share of failures that is taken for all calls: the rest were already on the way. */
const nearlyAll = 0.9;
/** Length of a failed call above which nobody answered it, ms. */
const silentMs = 1_000;

interface Failure {
  readonly call: RecordedCall;
  readonly caller: number;
  /** Number of calls of all callers that were sent before it. */
  readonly place: number;
}

/** Returns the outages, in the order of time; none for a log that shows no status. */
export function outagesIn({ callers, calls, startedAtMs }: Recording): readonly Outage[] {
  const failed = callers.flatMap((caller, index) =>
    caller.calls.filter(({ status }) => isFailure(status)).map((call) => ({ call, caller: index })),
  );
  if (failed.length < failuresLeast || failed.length > failuresMost * calls) return [];
  const sentMs = new Float64Array(calls);
  let count = 0;
  for (const caller of callers) for (const { atMs } of caller.calls) sentMs[count++] = atMs;
  sentMs.sort();
  let place = 0;
  const failures = failed
    .sort((a, b) => a.call.atMs - b.call.atMs)
    .map((failure): Failure => {
      while ((sentMs[place] as number) < failure.call.atMs) place += 1;
      return { ...failure, place };
    });
  return spellsOf(failures, failed.length / calls, calls)
    .filter((spell) => new Set(spell.map(({ caller }) => caller)).size >= Math.min(2, callers.length))
    .slice(0, outagesMost)
    .map((spell) => outageOf(spell, startedAtMs))
    .sort((a, b) => a.atMs - b.atMs);
}

/** Returns runs of failures that are far likelier in an outage than outside one, the likeliest first. */
function spellsOf(failures: readonly Failure[], usual: number, calls: number): readonly Failure[][] {
  const [hit, miss] = [ln(shareOfOutage / usual), ln((1 - shareOfOutage) / (1 - usual))];
  const spells: { readonly failures: Failure[]; readonly score: number }[] = [];
  let score = 0;
  let [from, best, most] = [0, 0, 0];
  const keep = (): void => {
    if (best - from + 1 >= failuresLeast && most > ln(calls) + evidence)
      spells.push({ failures: failures.slice(from, best + 1), score: most });
  };
  for (const [index, { place }] of failures.entries()) {
    const between = index === 0 ? 0 : Math.max(0, place - (failures[index - 1] as Failure).place - 1);
    score += between * miss;
    if (score <= 0) {
      keep();
      [from, best, score, most] = [index, index, 0, 0];
    }
    score += hit;
    if (score > most) [best, most] = [index, score];
  }
  keep();
  return spells.toSorted((a, b) => b.score - a.score).map((spell) => spell.failures);
}

function outageOf(spell: readonly Failure[], startedAtMs: number): Outage {
  const [first, last] = [spell[0], spell.at(-1)] as [Failure, Failure];
  const share = spell.length / (last.place - first.place + 1);
  const fromMs = Math.floor((first.call.atMs - startedAtMs) / 1000) * 1000;
  const untilMs = Math.ceil((last.call.atMs - startedAtMs + 1) / 1000) * 1000;
  const tookMs = new SortedSample(spell.map(({ call }) => call.endMs - call.atMs)).median;
  return {
    atMs: fromMs,
    forMs: untilMs - fromMs,
    answer: tookMs > silentMs ? "none" : 503,
    share: share >= nearlyAll ? 1 : Math.round(100 * share) / 100,
  };
}
