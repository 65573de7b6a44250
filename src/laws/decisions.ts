// The laws on what a limiter decides: refusal-justified, recovers, unenforced-never-refuses and never-rolls-back.
import { refusedEarly } from "./early-refusals.ts";
import { type Breach, type Judge, type Opinion, overEvents, spanText } from "./law.ts";
import { nameOf, type Sight, type WindowKey } from "./ledger.ts";
import { algorithmOf } from "./script.ts";
import type { CountSpan } from "./window-book.ts";

/** The windows of a decided call with its answer, or `null` for any other operation. */
function decided(sights: readonly Sight[]) {
  const event = sights[0]?.event;
  if (event === undefined || !("decision" in event)) return null;
  return { sights, call: event.op, decision: event.decision };
}

/** The window that refused, if the answer names it. */
const named = (sights: readonly Sight[], refusedBy: string | null | undefined): Sight | undefined =>
  sights.find(({ owner }) => owner === refusedBy);

/** A window's count before a call: by its own reading where that shows it, else by the ledger. */
function countBefore({ current, charge, before, sure }: Sight): CountSpan | null {
  if (current === null) return sure ? before : null;
  const { least, most } = charge ?? { least: 0, most: 0 };
  return { least: current - most, most: current - least };
}

/** Tells whether a window lacks room for a cost; `null` where that cannot be known. Postpaid: has none left. */
export function lacksRoom(sight: Sight, cost: number, count = countBefore(sight)): boolean | null {
  if (count === null) return null;
  const limit = sight.reading.limit ?? sight.limit;
  const postpaid = sight.scope === "graphql" && sight.semantics.graphqlCharge === "postpaid";
  const least = postpaid ? count.least >= limit : count.least + cost > limit;
  const most = postpaid ? count.most >= limit : count.most + cost > limit;
  return least === most ? least : null;
}

/** `organization 3 of 5, user 2 of 2`: what a call found. */
function found(sights: readonly Sight[]): string {
  return sights
    .map((sight) => {
      const count = countBefore(sight);
      const state = sight.enforced ? "" : " (not enforced)";
      const limit = sight.reading.limit ?? sight.limit;
      const owner = sights.length === 1 ? "" : `${sight.owner} `;
      return `${owner}${count === null ? "?" : spanText(count)} of ${limit}${state}`;
    })
    .join(", ");
}

/** Refused if and only if some enforced window lacks room for the cost. */
const refusedRightly: Judge = overEvents("refusal-justified", () => (sights) => {
  const call = decided(sights);
  if (call === null) return [];
  const enforced = sights.filter((sight) => sight.enforced);
  const lacking = enforced.map((sight) => lacksRoom(sight, call.call.cost));
  const { cost } = call.call;
  const arithmetic = `the call found ${found(sights)}, and costs ${cost}`;
  const opinion = (): Opinion => {
    if (call.decision.admitted) {
      if (!lacking.includes(true)) return lacking.includes(null) ? null : "kept";
      return { expected: "a refusal", got: "admitted", arithmetic };
    }
    if (lacking.includes(true)) return "kept";
    return lacking.includes(null) ? null : { expected: "admitted", got: "a refusal", arithmetic };
  };
  return [[opinion(), culprit(enforced, lacking)]];
});

/** Who is refused lacks room, and with fixed windows the other way round, too. */
export const refusalJustified: Judge = (trial) =>
  algorithmOf(trial.script) === "fixed-window" ? refusedRightly(trial) : refusedEarly(trial);

const culprit = (sights: readonly Sight[], lacking: readonly (boolean | null)[]): WindowKey | null =>
  sights[lacking.indexOf(true)] ?? null;

/** A window that has ended and in which nothing was charged since cannot refuse what fits its limit. */
const renews: Judge = overEvents("recovers", () => (sights) => {
  const call = decided(sights);
  if (call === null) return [];
  const { cost } = call.call;
  const renewed = (sight: Sight): boolean =>
    sight.sure && sight.fresh && sight.ended > 0 && cost <= sight.limit;
  if (call.decision.admitted) return sights.filter(renewed).map((sight) => ["kept", sight]);
  const refuser = named(sights, call.decision.refusedBy);
  if (refuser === undefined && !sights.every((sight) => sight.sure && sight.fresh && cost <= sight.limit))
    return [];
  const guilty = refuser ?? sights.find(renewed);
  if (guilty === undefined || !renewed(guilty)) return [];
  const breach: Breach = {
    expected: "admitted",
    got: refuser === undefined || sights.length === 1 ? "refused" : `refused by the ${guilty.owner}'s window`,
    arithmetic: `that window ended, nothing was charged since, and ${cost} <= ${guilty.limit}`,
  };
  return [[breach, guilty]];
});

/** Number of window lengths after which nothing of a caller's calls can count any more. */
export const idleWindows = 2;

/**
 * Who made no call for two window lengths is admitted: whatever counts calls per time has forgotten it by then. Refused
 * calls that count may have been put off, as many in a window as it lets through.
 */
const forgets: Judge = overEvents("recovers", () => {
  const latest = new Map<string, number>();
  const putOff = new Map<string, number>();
  return (sights) => {
    const call = decided(sights);
    return sights.flatMap((sight): [Opinion, WindowKey][] => {
      const key = nameOf(sight);
      const { atMs } = sight.event.op;
      const idleMs = atMs - (latest.get(key) ?? Number.POSITIVE_INFINITY);
      latest.set(key, atMs);
      if (call === null) return [];
      const late = putOff.get(key) ?? 0;
      const waits = !call.decision.admitted && sight.semantics.refused === "counted";
      putOff.set(key, late + (waits ? call.call.cost : 0));
      const windows = idleWindows + Math.ceil(late / sight.limit);
      if (idleMs < windows * sight.lengthMs || call.call.cost > sight.limit) return [];
      if (call.decision.admitted) return [["kept", sight]];
      const { refusedBy } = call.decision;
      if (refusedBy && refusedBy !== sight.owner) return [];
      const arithmetic = `nobody called for ${idleMs / 1000} s, and ${call.call.cost} <= ${sight.limit}`;
      return [[{ expected: "admitted", got: "refused", arithmetic }, sight]];
    });
  };
});

/** After its window, or after two windows without a call, a caller is admitted again. */
export const recovers: Judge = (trial) =>
  algorithmOf(trial.script) === "fixed-window" ? renews(trial) : forgets(trial);

/** While `enforced` is false nothing is refused, and counting goes on. */
export const unenforcedNeverRefuses: Judge = overEvents("unenforced-never-refuses", () => (sights) => {
  const call = decided(sights);
  const organization = sights.find(({ owner }) => owner === "organization");
  if (call === null || organization === undefined || organization.enforced) return [];
  if (!call.decision.admitted) return [[unenforcedRefusal(sights, call.decision.refusedBy), organization]];
  return [["kept", organization], ...sights.map((sight) => [stillCounts(sight), sight] as const)];
});

function unenforcedRefusal(sights: readonly Sight[], refusedBy: string | null | undefined): Opinion {
  const user = sights.find(({ owner, enforced }) => owner === "user" && enforced);
  if (user !== undefined && refusedBy !== "organization") return null;
  return {
    expected: "admitted",
    got: `refused${refusedBy ? ` by the ${refusedBy}'s window` : ""}`,
    arithmetic: `enforced is false; the call found ${found(sights)}`,
  };
}

function stillCounts({ current, after, before, charge, sure }: Sight): Opinion {
  if (current === null || !sure) return null;
  if (after.least <= current && current <= after.most) return "kept";
  return {
    expected: `current ${spanText(after)}`,
    got: `current ${current}`,
    arithmetic: `counting goes on while unenforced: ${spanText(before)} + ${charge === null ? 0 : spanText(charge)}`,
  };
}

/** At a time that steps back no window reopens, and nothing is admitted for which the later time has no room. */
export const neverRollsBack: Judge = overEvents("never-rolls-back", () => {
  const latest = new Map<string, number>();
  return (sights) => sights.map((sight) => [reopened(sight, latest) ?? extra(sight), sight]);
});

/** Judges `reset_at`, and remembers the latest that calls were told; a status reading moves no clock. */
function reopened(sight: Sight, latest: Map<string, number>): Breach | null {
  const told = sight.reading.resetAtMs ?? null;
  if (told === null) return null;
  const key = nameOf(sight);
  const known = latest.get(key) ?? 0;
  if (!("status" in sight.event)) latest.set(key, Math.max(known, told));
  if (!sight.steppedBack || told >= known) return null;
  return {
    expected: `reset_at ${known - sight.event.op.atMs} ms after this call or later`,
    got: `reset_at ${told - sight.event.op.atMs} ms after this call`,
    arithmetic: `the clock stepped back by ${sight.clockMs - sight.event.op.atMs} ms, and a window that was over is open again`,
  };
}

function extra(sight: Sight): Opinion {
  if (!sight.steppedBack) return null;
  if (!("decision" in sight.event)) return (sight.reading.resetAtMs ?? null) === null ? null : "kept";
  const { op, decision } = sight.event;
  if (!decision.admitted || !sight.enforced) return "kept";
  const lacks = lacksRoom(sight, op.cost, sight.sure ? sight.before : null);
  if (lacks !== true) return lacks === null ? null : "kept";
  return {
    expected: "a refusal",
    got: "admitted",
    arithmetic: `at the later time this window had ${spanText(sight.before)} of ${sight.limit}, and the call costs ${op.cost}`,
  };
}
