// The laws on what a limiter decides: refusal-justified, recovers, unenforced-never-refuses,
// never-rolls-back and twice-at-most.
import { type Breach, type Judge, type Opinion, overEvents, spanText, Tally } from "./law.ts";
import { nameOf, type Sight, sightsOf, type WindowKey } from "./ledger.ts";
import { without } from "./script.ts";
import type { Span } from "./window-book.ts";

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
function countBefore({ current, charge, before, sure }: Sight): Span | null {
  if (current === null) return sure ? before : null;
  const { least, most } = charge ?? { least: 0, most: 0 };
  return { least: current - most, most: current - least };
}

/** Whether a window lacks room for a cost; `null` where that cannot be known. Postpaid: has none left. */
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
      return `${sight.owner} ${count === null ? "?" : spanText(count)} of ${limit}${state}`;
    })
    .join(", ");
}

/** Refused if and only if some enforced window lacks room for the cost. */
export const refusalJustified: Judge = overEvents("refusal-justified", () => (sights) => {
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

const culprit = (sights: readonly Sight[], lacking: readonly (boolean | null)[]): WindowKey | null =>
  sights[lacking.indexOf(true)] ?? null;

/** A window that has ended and in which nothing was charged since cannot refuse what fits its limit. */
export const recovers: Judge = overEvents("recovers", () => (sights) => {
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
    got: refuser === undefined ? "refused" : `refused by the ${guilty.owner}'s window`,
    arithmetic: `that window ended, nothing was charged since, and ${cost} <= ${guilty.limit}`,
  };
  return [[breach, guilty]];
});

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

/** One admitted call in one window. */
interface Admitted {
  readonly at: number;
  readonly clockMs: number;
  /** What it is charged in the end. */
  charge: number;
  window: number | null;
  /** The window had room when it was admitted: under postpaid its overshoot is legal. */
  readonly excused: boolean;
}

/** What one window's owner was admitted in the whole run. */
interface Track {
  readonly key: WindowKey;
  readonly limit: number;
  readonly lengthMs: number;
  readonly postpaid: boolean;
  enforced: boolean;
  readonly calls: Map<number, Admitted>;
}

/** Any span of length W, by the window's own clock, holds at most 2 x limit admitted. */
export const twiceAtMost: Judge = async ({ script, play }) => {
  const history = await play(without(script.ops, "snapshot"));
  const tracks = tracksOf(sightsOf(script, history));
  const tally = new Tally();
  for (const track of tracks.values())
    if (track.enforced) for (const [at, opinion] of widestSpans(track)) tally.add(opinion, at, track.key);
  return { history, judged: tally.judged, violation: tally.violation };
};

function tracksOf(sights: Iterable<Sight>): Map<string, Track> {
  const tracks = new Map<string, Track>();
  for (const sight of sights) {
    const { event } = sight;
    const track = trackOf(tracks, sight);
    if ("decision" in event) {
      track.enforced &&= sight.enforced;
      if (!event.decision.admitted) continue;
      const excused = lacksRoom(sight, event.op.cost, sight.before) !== true;
      const charge = sight.charge?.least ?? 0;
      track.calls.set(event.op.id, {
        at: sight.at,
        clockMs: sight.clockMs,
        charge,
        window: sight.window,
        excused,
      });
    } else if ("readings" in event) {
      const call = track.calls.get(event.op.id);
      if (call === undefined) continue;
      call.charge += (sight.charge?.least ?? 0) - sight.givenBack;
      call.window ??= sight.window;
    }
  }
  return tracks;
}

function trackOf(tracks: Map<string, Track>, sight: Sight): Track {
  const key = nameOf(sight);
  let track = tracks.get(key);
  if (track === undefined) {
    const postpaid = sight.scope === "graphql" && sight.semantics.graphqlCharge === "postpaid";
    const { limit, lengthMs } = sight;
    track = { key: sight, limit, lengthMs, postpaid, enforced: true, calls: new Map() };
    tracks.set(key, track);
  }
  return track;
}

/** For each admitted call, the span of length W that ends with it. */
function* widestSpans(track: Track): Generator<[number, Opinion]> {
  const calls = [...track.calls.values()];
  let first = 0;
  let total = 0;
  for (const last of calls) {
    total += last.charge;
    while ((calls[first]?.clockMs ?? last.clockMs) <= last.clockMs - track.lengthMs) {
      total -= calls[first]?.charge ?? 0;
      first += 1;
    }
    const over = track.postpaid ? overshoots(track, calls, first, last) : 0;
    const most = 2 * track.limit + over;
    yield [last.at, total <= most ? "kept" : tooMuch(track, total, most, over)];
  }
}

const tooMuch = ({ limit, lengthMs }: Track, total: number, most: number, over: number): Breach => ({
  expected: `at most ${most} admitted in any ${lengthMs / 1000} s`,
  got: `${total} admitted in the ${lengthMs / 1000} s up to this call`,
  arithmetic: `2 x ${limit}${over > 0 ? ` + ${over} of overshoots` : ""} = ${most}`,
});

/** By how much the windows of a span passed their limit through calls that were admitted with room left. */
function overshoots(track: Track, calls: readonly Admitted[], first: number, last: Admitted): number {
  const windows = new Set(calls.slice(first, calls.indexOf(last) + 1).map(({ window }) => window));
  let over = 0;
  for (const window of windows) {
    const held = calls.filter((call) => call.window === window && call.excused);
    over += Math.max(0, held.reduce((sum, { charge }) => sum + charge, 0) - track.limit);
  }
  return over;
}
