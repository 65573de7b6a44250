// The law remaining-agrees for limiters without fixed windows: what is left must be there for whoever comes at the same
// instant, and a caller of whom every call is forgotten has the whole limit left.
import type { Algorithm } from "../rules/algorithms.ts";
import { idleWindows } from "./decisions.ts";
import type { Breach, Opinion } from "./law.ts";
import { overLooks, statedOf } from "./looks.ts";
import type { Sight } from "./sight.ts";

/** Facts of one key at its latest instant. */
interface Left {
  atMs: number;
  /** When it called last. `null` if it never did. */
  calledMs: number | null;
  /** Units left, as the latest answer of this instant said; `null` if none said it. */
  told: number | null;
  /** Units that are left for certain; `null` if that depends on how the limiter forgets. */
  exact: number | null;
}

/** A bucket that adds up fractions, and a counter that weighs, may show one unit less than they have. */
const lessMost = (algorithm: Algorithm): number =>
  algorithm === "token-bucket" || algorithm === "sliding-counter" ? 1 : 0;

/** Tells whether nothing of a key's calls can count any more. Refused calls that count may have been put off. */
function isForgotten({ calledMs }: Left, nowMs: number, algorithm: Algorithm, sight: Sight): boolean {
  if (calledMs === null) return true;
  const isTimed = algorithm !== "concurrency" && sight.rule.charge.refused !== "counted";
  return isTimed && nowMs - calledMs >= idleWindows * sight.lengthMs;
}

/** The units that answers say are left are there: no fewer than 0, no more than the limit. */
export const remainingIsThere = overLooks((script) => {
  const algorithm = statedOf(script) ?? "unknown";
  const keys = new Map<string, Left>();
  let latestMs = Number.NEGATIVE_INFINITY;
  let isBack = false;
  return ({ sights: [sight, other] }) => {
    if (sight === undefined || other !== undefined || !sight.isEnforced) return [];
    const { event, limit } = sight;
    // SPEC.md §2.8 says what a clock that steps back means to windows, and to nothing else.
    isBack ||= event.op.atMs < latestMs;
    latestMs = event.op.atMs;
    if (isBack) return [];
    const key = sight.name;
    const left = keys.get(key) ?? { atMs: Number.NaN, calledMs: null, told: null, exact: null };
    keys.set(key, left);
    if (left.atMs !== latestMs)
      Object.assign(left, {
        atMs: latestMs,
        told: null,
        exact: isForgotten(left, latestMs, algorithm, sight) ? limit : null,
      });
    const promised = left.told;
    const refusal = take(left, sight);
    const shown = sight.shown[0]?.remaining ?? null;
    left.told = shown;
    const opinions = [
      refusal && promise(refusal.cost, promised, refusal.admitted),
      range(sight, shown, left, algorithm),
    ];
    return opinions.map((opinion) => [opinion, sight] as const);
  };
});

/** Takes an event into account; returns the call that it decides. */
function take(
  left: Left,
  { event, rule }: Sight,
): { readonly cost: number; readonly admitted: boolean } | null {
  if ("admitted" in event) {
    const { cost } = event.op;
    const { admitted } = event;
    left.calledMs = left.atMs;
    if (left.exact !== null) left.exact = admitted ? left.exact - cost : left.exact;
    if (!admitted && rule.charge.refused === "counted") left.exact = null;
    return { cost, admitted };
  }
  // A call that ends gives its place back.
  if (event.op.do === "settle") left.exact = null;
  return null;
}

/** Who costs no more than was left at this very instant is admitted. */
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
