// The law refusal-justified for limiters of which no counts are known: a refusal needs a past that can have left no room.
// That nobody passes a limit is the business of rate-bound.
import { counted } from "../rules/words.ts";
import { triedAgain } from "./again.ts";
import type { Judgement, Opinion, Trial } from "./law.ts";
import { overLooks, type QuotaJudge, statedOf } from "./looks.ts";
import type { QuotaCallEvent, QuotaScript } from "./quotas/script.ts";
import type { QuotaKey, QuotasKind, Sight } from "./sight.ts";

/** A call that may have taken something of a limit. */
interface Taken {
  readonly id: number;
  readonly atMs: number;
  readonly points: number;
}

/** The most that may be taken when a call comes, and by which calls. */
interface MostTaken {
  readonly points: number;
  readonly by: string;
}

/**
 * Nobody is refused whose cost fits beside the most that calls before can have left taken. A bucket that adds up fractions
 * may be a moment late.
 */
export const refusedEarly: QuotaJudge = async (trial) => {
  const found = await refusals(trial);
  const isLate = found.violation !== null && statedOf(trial.script) === "token-bucket";
  return isLate && (await fitsSoon(trial, found)) ? { ...found, violation: null } : found;
};

/** Tells whether the call that was refused may be admitted 1 ms later. */
async function fitsSoon(
  { play, isRecorded }: Trial<QuotasKind>,
  { history, violation }: Judgement<QuotasKind>,
): Promise<boolean> {
  // Nobody can be asked.
  if (isRecorded || violation === null) return true;
  const again = await triedAgain(play, history, violation.at, 1);
  return again?.last.admitted === true;
}

const refusals = overLooks((script) => {
  const pasts = new Map<string, Taken[]>();
  let latestMs = Number.NEGATIVE_INFINITY;
  let isBack = false;
  return ({ event, sights }) => {
    if (event.op.do === "settle" && statedOf(script) === "concurrency")
      for (const sight of sights) release(pasts.get(sight.name), event.op.id);
    if (!("admitted" in event) || sights.length === 0) return [];
    // SPEC.md §2.8 says what a clock that steps back means to windows, and to nothing else.
    isBack ||= event.op.atMs < latestMs;
    latestMs = event.op.atMs;
    const opinion = event.admitted || isBack ? null : opinionOf(event, sights, pasts, script);
    for (const sight of sights) take(pasts, sight, event);
    return [opinion ?? [null, null]];
  };
});

function release(past: Taken[] | undefined, id: number): void {
  const index = past?.findIndex((call) => call.id === id) ?? -1;
  if (index >= 0) past?.splice(index, 1);
}

function take(pasts: Map<string, Taken[]>, sight: Sight, { op, admitted }: QuotaCallEvent): void {
  const { refused, refusedByOther } = sight.rule.charge;
  if (!admitted && refused !== "counted" && refusedByOther !== "charged") return;
  const past = pasts.get(sight.name) ?? [];
  pasts.set(sight.name, past);
  // A refused call that counts may be put off: nobody sees when it takes its place, and how far from others.
  const unseen = Number.POSITIVE_INFINITY;
  const [atMs, points] = admitted ? [op.atMs, op.cost] : [unseen, unseen];
  past.push({ id: op.id, atMs, points });
}

function opinionOf(
  { op }: QuotaCallEvent,
  sights: readonly Sight[],
  pasts: ReadonlyMap<string, readonly Taken[]>,
  script: QuotaScript,
): readonly [Opinion, QuotaKey] | null {
  const enforced = sights.filter((sight) => sight.isEnforced);
  const taken = enforced.map((sight) => mostTaken(pasts.get(sight.name) ?? [], op.atMs, sight, script));
  if (taken.some(({ points }) => points === Number.POSITIVE_INFINITY)) return null;
  const full = enforced.find(({ limit }, index) => (taken[index]?.points ?? 0) + op.cost > limit + 1e-9);
  const [first] = enforced;
  if (first === undefined || full !== undefined) return first === undefined ? null : ["kept", full ?? first];
  const of = enforced.map(
    ({ limit }, index) => `at most ${taken[index]?.points} of ${limit} are ${taken[index]?.by}`,
  );
  const arithmetic = `${of.join("; ")}, and the call costs ${op.cost}`;
  return [{ expected: "admitted", got: "a refusal", arithmetic }, first];
}

/** The loosest of all limiters of a declared kind, as rate-bound has it. */
function mostTaken(
  past: readonly Taken[],
  nowMs: number,
  { lengthMs, limit, lateMs }: Sight,
  script: QuotaScript,
): MostTaken {
  // Times may be kept in whole seconds.
  const late = lateMs + (script.terms?.opensToMs === 1 ? 0 : 999);
  const within = (ms: number): MostTaken => ({
    points: sum(past.filter(({ atMs }) => atMs >= nowMs - ms - late)),
    by: `taken by calls of the last ${ms / 1000} s`,
  });
  switch (statedOf(script)) {
    case "concurrency":
      return { points: sum(past), by: "under way" };
    case "sliding-log":
      return within(lengthMs);
    case "sliding-counter":
      return within(2 * lengthMs);
    default:
      return drained(past, nowMs, limit / lengthMs, lengthMs);
  }
}

/** The most that a bucket lacks that refills in steps of up to a window: the worst of all spans that end now. */
function drained(past: readonly Taken[], nowMs: number, perMs: number, stepMs: number): MostTaken {
  let worst: MostTaken = { points: 0, by: "taken" };
  let total = 0;
  for (const { atMs, points } of past.toReversed()) {
    total += points;
    const spanMs = nowMs - atMs;
    const left = total - perMs * Math.max(0, spanMs - stepMs);
    if (left > worst.points)
      worst = {
        points: Math.ceil(left - 1e-9),
        by: `taken: ${counted(total, "unit")} in the last ${spanMs / 1000} s`,
      };
  }
  return worst;
}

const sum = (calls: readonly Taken[]): number => calls.reduce((total, { points }) => total + points, 0);
