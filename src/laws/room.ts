// The law remaining-agrees for limiters without fixed windows. A shown `remaining` must be there for the next call at
// the same instant, and does not fall by time alone. A caller whose calls are all forgotten has the whole limit left.
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
  /** Units that the latest answer said are left, less what was admitted since; `null` if unknown. */
  atLeast: number | null;
}

const unseen = (): Left => ({ atMs: Number.NaN, calledMs: null, told: null, exact: null, atLeast: null });

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
  return ({ sights }) => {
    const [sight, other] = sights;
    if (sight === undefined) return [];
    if (other !== undefined || !sight.isEnforced) {
      // Such calls are charged and not judged.
      for (const { name } of sights) {
        const left = keys.get(name);
        if (left !== undefined) left.atLeast = null;
      }
      return [];
    }
    const { event, limit } = sight;
    // For a clock that steps back, SPEC.md §2.8 has a rule for windows only.
    isBack ||= event.op.atMs < latestMs;
    latestMs = event.op.atMs;
    if (isBack) return [];
    const left = keys.get(sight.name) ?? unseen();
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
      fall(sight, shown, left, algorithm),
    ];
    if (shown !== null) left.atLeast = shown;
    return opinions.map((opinion) => [opinion, sight] as const);
  };
});

/** Adds an event to a key's facts. Returns the call that it decides; `null` if none. */
function take(left: Left, { event, rule }: Sight): QuotaCallEvent | null {
  if ("admitted" in event) {
    left.calledMs = left.atMs;
    if (event.admitted) {
      if (left.exact !== null) left.exact -= event.op.cost;
      if (left.atLeast !== null) left.atLeast -= event.op.cost;
    } else if (rule.charge.refused === "counted") left.exact = null;
    return event;
  }
  // A call that ends gives its place back, or is charged.
  if (event.op.do === "settle") Object.assign(left, { exact: null, atLeast: null });
  return null;
}

/** Judges that time alone takes nothing: what is left falls by what is admitted, unless refused calls take room later. */
function fall(
  { limit, rule }: Sight,
  shown: number | null,
  { atLeast }: Left,
  algorithm: Algorithm,
): Opinion {
  if (shown === null || atLeast === null || algorithm === "unknown") return null;
  if (rule.charge.refused === "counted") return null;
  const least = Math.min(atLeast, limit) - lessMost(algorithm);
  if (shown >= least) return null;
  return {
    expected: `remaining ${least} or more`,
    got: `remaining ${shown}`,
    arithmetic: `by the answer before and what was admitted since, ${atLeast} remain, and time alone takes nothing`,
  };
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
