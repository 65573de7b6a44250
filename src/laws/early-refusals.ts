// The law refusal-justified for limiters whose counts are not known: a refusal needs earlier calls that can have left
// no room. The law rate-bound judges that nobody passes a limit.
import { counted } from "../rules/words.ts";
import { triedAgain } from "./again.ts";
import type { Judgement, Opinion, Trial } from "./law.ts";
import { overLooks, type QuotaJudge, statedOf } from "./looks.ts";
import type { QuotaCallEvent, QuotaScript } from "./quotas/script.ts";
import type { QuotaKey, QuotasKind, Sight } from "./sight.ts";

/** A call that may have taken points of a limit. */
interface Taken {
  readonly atMs: number;
  readonly points: number;
}

/** Most points that can be taken when a call comes, and words that say by which calls. */
interface MostTaken {
  readonly points: number;
  readonly by: string;
}

/**
 * Judges that no call is refused that fits beside the most points that earlier calls can have taken. A bucket that adds
 * up fractions may refill 1 ms late.
 */
export const refusedEarly: QuotaJudge = async (trial) => {
  const found = await refusals(trial);
  const isLate = found.violation !== null && statedOf(trial.script) === "token-bucket";
  return isLate && (await fitsSoon(trial, found)) ? { ...found, violation: null } : found;
};

/** Tells whether the refused call would be admitted if it came 1 ms later: the refusal itself may count. */
async function fitsSoon(
  { play, isRecorded }: Trial<QuotasKind>,
  { history, violation }: Judgement<QuotasKind>,
): Promise<boolean> {
  // A recorded history cannot be played again.
  if (isRecorded || violation === null) return true;
  const again = await triedAgain(play, history, violation.at, 1, false);
  return again?.last.admitted === true;
}

const refusals = overLooks((script) => {
  const pasts = new Map<string, Map<number, Taken>>();
  let latestMs = Number.NEGATIVE_INFINITY;
  let isBack = false;
  return ({ event, sights }) => {
    if (event.op.do === "settle" && statedOf(script) === "concurrency")
      for (const sight of sights) pasts.get(sight.name)?.delete(event.op.id);
    if (!("admitted" in event) || sights.length === 0) return [];
    // For a clock that steps back, SPEC.md §2.8 has a rule for windows only.
    isBack ||= event.op.atMs < latestMs;
    latestMs = event.op.atMs;
    const opinion = event.admitted || isBack ? null : opinionOf(event, sights, pasts, script);
    for (const sight of sights) take(pasts, sight, event);
    return [opinion ?? [null, null]];
  };
});

function take(pasts: Map<string, Map<number, Taken>>, sight: Sight, { op, admitted }: QuotaCallEvent): void {
  const { refused, refusedByOther } = sight.rule.charge;
  if (!admitted && refused !== "counted" && refusedByOther !== "charged") return;
  const past = pasts.get(sight.name) ?? new Map<number, Taken>();
  pasts.set(sight.name, past);
  // A counted refusal may be put off: nothing shows when it takes its points, or how far from other calls.
  const unseen = Number.POSITIVE_INFINITY;
  const [atMs, points] = admitted ? [op.atMs, op.cost] : [unseen, unseen];
  past.set(op.id, { atMs, points });
}

function opinionOf(
  { op }: QuotaCallEvent,
  sights: readonly Sight[],
  pasts: ReadonlyMap<string, ReadonlyMap<number, Taken>>,
  script: QuotaScript,
): readonly [Opinion, QuotaKey] | null {
  const enforced = sights.filter((sight) => sight.isEnforced);
  const [first] = enforced;
  const taken = enforced.map((sight) => {
    const past = [...(pasts.get(sight.name)?.values() ?? [])];
    return { ...mostTaken(past, op.atMs, sight, script), sight };
  });
  if (first === undefined || taken.some(({ points }) => points === Number.POSITIVE_INFINITY)) return null;
  const full = taken.find(({ points, sight }) => points + op.cost > sight.limit + 1e-9);
  if (full !== undefined) return ["kept", full.sight];
  const of = taken.map(({ points, by, sight }) => `at most ${points} of ${sight.limit} are ${by}`);
  const arithmetic = `${of.join("; ")}, and the call costs ${op.cost}`;
  return [{ expected: "admitted", got: "a refusal", arithmetic }, first];
}

/** Returns the most points that any limiter of the declared algorithm can have taken. */
function mostTaken(
  past: readonly Taken[],
  nowMs: number,
  { lengthMs, limit, lateMs }: Sight,
  script: QuotaScript,
): MostTaken {
  // The limiter may keep times in whole seconds.
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

/** Returns the most points that a bucket can lack if it refills in steps of up to `stepMs`: the worst span up to now. */
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
