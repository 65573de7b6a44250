// Spells in which calls of many callers failed: the outages of a recording. A call that fails now and then is none.
import { ln } from "../../src/scenario/elementary.ts";
import { isFailure } from "../../src/wire/outcome.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { Recording } from "./recording.ts";
import { SortedSample } from "./statistics.ts";

/** An outage that was recorded. */
export interface FittedOutage {
  /** Ms from the recording's start, and ms; whole seconds. */
  readonly atMs: number;
  readonly forMs: number;
  readonly answer: 503 | "none";
  /** Of the calls that were sent meanwhile. */
  readonly share: number;
}

/** In an outage a call is as likely to fail as not, or more. */
const shareOfOutage = 0.5;
/** A recording where more calls fail has none that stands out. */
const failuresMost = 0.2;
/** Fewer failures, or those of one caller among others, are none. */
const failuresLeast = 5;
/** By chance one recording in some thousands shows an outage that is none. */
const evidence = ln(5_000);
/** More spells are told by the share of failures. */
const outagesMost = 50;
/** Where more fail, all do: the rest were on the way. */
const nearlyAll = 0.9;
/** A failure that took longer was none that anybody answered, ms. */
const silentMs = 1_000;

interface Failure {
  readonly call: RecordedCall;
  readonly caller: number;
  /** Calls that were sent before it, of all callers. */
  readonly place: number;
}

/** Finds the outages, in the order of time; none in a log that shows no status. */
export function outagesIn({ callers, calls, startedAtMs }: Recording): readonly FittedOutage[] {
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

/** Runs of failures that are far likelier in an outage than beside one, the likeliest first. */
function spellsOf(failures: readonly Failure[], usual: number, calls: number): readonly Failure[][] {
  const [hit, miss] = [ln(shareOfOutage / usual), ln((1 - shareOfOutage) / (1 - usual))];
  const spells: { readonly failures: Failure[]; readonly score: number }[] = [];
  let [from, best, score, most] = [0, 0, 0, 0];
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

function outageOf(spell: readonly Failure[], startedAtMs: number): FittedOutage {
  const [first, last] = [spell[0], spell.at(-1)] as [Failure, Failure];
  const share = spell.length / (last.place - first.place + 1);
  const fromMs = Math.floor((first.call.atMs - startedAtMs) / 1000) * 1000;
  const untilMs = Math.ceil((last.call.atMs - startedAtMs + 1) / 1000) * 1000;
  const tookMs = new SortedSample(spell.map(({ call }) => call.endMs - call.atMs)).median;
  return {
    atMs: Math.max(0, fromMs),
    forMs: untilMs - Math.max(0, fromMs),
    answer: tookMs > silentMs ? "none" : 503,
    share: share >= nearlyAll ? 1 : Math.round(100 * share) / 100,
  };
}
