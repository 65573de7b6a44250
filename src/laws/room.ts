// The law remaining-agrees for limiters without fixed windows. A shown `remaining` must be there for the next call at
// the same instant, and a caller whose calls are all forgotten has the whole limit left.
import type { Algorithm } from "../rules/algorithms.ts";
import { idleWindows } from "./decisions.ts";
import type { Breach, Opinion } from "./law.ts";
import { overLooks, statedOf } from "./looks.ts";
import type { QuotaCallEvent } from "./quotas/script.ts";
import type { Sight } from "./sight.ts";

/** Facts of one key at its latest instant. */
interface Left {
  atMs: number;
  /** Time of its last call, ms; `null` if it never called. */
  calledMs: number | null;
  /** Units left by the latest answer at this instant; `null` if it did not say. */
  told: number | null;
  /** Units certainly left; `null` if they depend on how the limiter forgets. */
  exact: number | null;
}

/** Returns how many units less than it has a limiter may show: 1 for fractions of a bucket or a sliding counter. */
const lessMost = (algorithm: Algorithm): number =>
  algorithm === "token-bucket" || algorithm === "sliding-counter" ? 1 : 0;

/** Tells whether surely none of a key's calls counts any more; never if refusals count, since they may be put off. */
function isForgotten({ calledMs }: Left, nowMs: number, algorithm: Algorithm, sight: Sight): boolean {
  if (calledMs === null) return true;
  const isTimed = algorithm !== "concurrency" && sight.rule.charge.refused !== "counted";
  return isTimed && nowMs - calledMs >= idleWindows * sight.lengthMs;
}

/** Judges that the units that answers say are left are there, and that they are from 0 to the limit. */
export const remainingIsThere = overLooks((script) => {
  const algorithm = statedOf(script) ?? "unknown";
  const keys = new Map<string, Left>();
  let latestMs = Number.NEGATIVE_INFINITY;
  let isBack = false;
  return ({ sights: [sight, other] }) => {
    if (sight === undefined || other !== undefined || !sight.isEnforced) return [];
    const { event, limit } = sight;
    // For a clock that steps back, SPEC.md §2.8 has a rule for windows only.
    isBack ||= event.op.atMs < latestMs;
    latestMs = event.op.atMs;
    if (isBack) return [];
    const left = keys.get(sight.name) ?? { atMs: Number.NaN, calledMs: null, told: null, exact: null };
    keys.set(sight.name, left);
    if (left.atMs !== latestMs)
      Object.assign(left, {
        atMs: latestMs,
        told: null,
        exact: isForgotten(left, latestMs, algorithm, sight) ? limit : null,
      });
    const promised = left.told;
    const call = take(left, sight);
    const shown = sight.shown[0]?.remaining ?? null;
    left.told = shown;
    const opinions = [
      call && promise(call.op.cost, promised, call.admitted),
      range(sight, shown, left, algorithm),
    ];
    return opinions.map((opinion) => [opinion, sight] as const);
  };
});

/** Adds an event to a key's facts. Returns the call that it decides; `null` if none. */
function take(left: Left, { event, rule }: Sight): QuotaCallEvent | null {
  if ("admitted" in event) {
    left.calledMs = left.atMs;
    if (event.admitted && left.exact !== null) left.exact -= event.op.cost;
    if (!event.admitted && rule.charge.refused === "counted") left.exact = null;
    return event;
  }
  // A call that ends gives its place back.
  if (event.op.do === "settle") left.exact = null;
  return null;
}

/** Judges that a call is admitted if it costs no more than an answer of the same instant said was left. */
function promise(cost: number, told: number | null, admitted: boolean): Opinion {
  if (told === null || cost > told) return null;
  if (admitted) return "kept";
  return {
    expected: "admitted",
    got: "a refusal",
    arithmetic: `the answer before, at this very instant, said that ${told} remain, and the call costs ${cost}`,
  };
}

function range({ rule, limit }: Sight, shown: number | null, { exact }: Left, algorithm: Algorithm): Opinion {
  if (shown === null) return null;
  const least = rule.shown.remaining === "signed" ? Number.NEGATIVE_INFINITY : 0;
  const breach = (expected: string, arithmetic: string): Breach => ({
    expected,
    got: `remaining ${shown}`,
    arithmetic,
  });
  if (shown < least) return breach("remaining 0 or more", "what is left is never less than nothing");
  if (shown > limit) return breach(`remaining ${limit} or less`, `the limit is ${limit}`);
  if (exact === null) return "kept";
  const [from, to] = [Math.max(least, exact - lessMost(algorithm)), Math.max(least, exact)];
  if (from <= shown && shown <= to) return "kept";
  return breach(
    `remaining ${from === to ? to : `${from} to ${to}`}`,
    `every call before this instant is forgotten, and ${limit - exact} of ${limit} were admitted at it`,
  );
}
