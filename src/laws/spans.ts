// The laws on spans of time: twice-at-most and rate-bound. Both add up what was admitted, and need to be shown nothing
// but who was.

import type { Algorithm } from "../rules/algorithms.ts";
import { voidReason } from "../rules/laws.ts";
import { userLimit } from "../rules/rules.ts";
import { counted } from "../rules/words.ts";
import type { History } from "./history.ts";
import { type Breach, type Judge, type Opinion, OpinionTally, type Trial } from "./law.ts";
import { sightsOf } from "./ledger.ts";
import { algorithmOf, type CallOp, type Op, type Script, without } from "./script.ts";
import { type Admitted, enforcedTracks, type Track } from "./tracks.ts";

/** Any span of length W, by the window's own clock, holds at most 2 x limit admitted. */
export const twiceAtMost: Judge = async ({ script, play }) => {
  const history = await play(without(script.ops, "snapshot"));
  const tally = new OpinionTally();
  for (const track of enforcedTracks(sightsOf(script, history)))
    for (const [at, opinion] of widestSpans(track)) tally.add(opinion, at, track.key);
  return { history, judged: tally.judged, violation: tally.violation };
};

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

/** The most that a limiter may admit within a span, and how that comes about. */
interface Envelope {
  readonly most: number;
  readonly sum: string;
}

/**
 * No span admits more than capacity and rate allow. The bound is the loosest of all limiters of the declared kind, so
 * that it holds for windows of any phase, buckets that refill in steps, and counters of few parts. A fixed window by key
 * is held to its limit, too, where its anchor puts it.
 */
export const rateBound: Judge = async (trial) => {
  const { script, play } = trial;
  const history = await play(without(script.ops, "snapshot"));
  const algorithm = algorithmOf(script);
  if (algorithm === "concurrency") return atOnce(script, history);
  const stepMs = algorithm === "token-bucket" ? await refillStepMs(trial) : null;
  const tally = new OpinionTally();
  for (const track of enforcedTracks(sightsOf(script, history))) {
    if (voidReason("rate-bound", script.rules, track.key.scope) !== null) continue;
    const bound = (spanMs: number): Envelope => envelope(algorithm, track, spanMs, stepMs);
    for (const [at, opinion] of allSpans(track, bound)) tally.add(opinion, at, track.key);
    if (algorithm === "fixed-window" && script.keyed === true)
      for (const [at, opinion] of ownWindows(track)) tally.add(opinion, at, track.key);
  }
  return { history, judged: tally.judged, violation: tally.violation };
};

/** For each admitted call, the worst of the spans that end with it. */
function* allSpans(track: Track, bound: (spanMs: number) => Envelope): Generator<[number, Opinion]> {
  const calls = [...track.calls.values()];
  for (const [index, last] of calls.entries()) {
    let total = 0;
    let breach: Breach | null = null;
    for (let first = index; first >= 0 && breach === null; first -= 1) {
      const { charge, clockMs } = calls[first] ?? last;
      total += charge;
      const spanMs = last.clockMs - clockMs;
      const { most, sum } = bound(spanMs);
      if (total > most + 1e-9) breach = beyond(total, spanMs, sum, most);
    }
    yield [last.at, breach ?? "kept"];
  }
}

/** For each admitted call of a fixed window, what that window has admitted with it. */
function* ownWindows({ calls, limit }: Track): Generator<[number, Opinion]> {
  const totals = new Map<number, number>();
  for (const { at, window, charge } of calls.values()) {
    if (window === null) continue;
    const total = (totals.get(window) ?? 0) + charge;
    totals.set(window, total);
    yield [at, total <= limit ? "kept" : beyondWindow(total, limit)];
  }
}

const beyondWindow = (total: number, limit: number): Breach => ({
  expected: `at most ${limit} admitted in a window`,
  got: `${total} admitted in this one, up to this call`,
  arithmetic: `the limit is ${limit}`,
});

function beyond(total: number, spanMs: number, sum: string, most: number): Breach {
  const span = spanMs === 0 ? "at one instant" : `within ${spanMs / 1000} s`;
  return {
    expected: `at most ${Math.floor(most + 1e-9)} admitted ${span}`,
    got: `${total} admitted ${span}, up to this call`,
    arithmetic: sum,
  };
}

function envelope(
  algorithm: Algorithm,
  { limit, lengthMs }: Track,
  spanMs: number,
  stepMs: number | null,
): Envelope {
  if (spanMs === 0) return { most: limit, sum: `the capacity is ${limit}` };
  const rate = `${limit} per ${lengthMs / 1000} s`;
  const span = `${spanMs / 1000} s`;
  switch (algorithm) {
    case "token-bucket": {
      const step = stepMs ?? lengthMs;
      const most = limit + (limit * (spanMs + step)) / lengthMs;
      return { most, sum: `the capacity ${limit}, ${rate} in ${span}, and a refill of ${step / 1000} s` };
    }
    case "sliding-counter": {
      // A counter of two parts or more forgets calls of half a window ago; one unit is rounded.
      const most = limit + (limit * (spanMs + lengthMs / 2)) / lengthMs + 1;
      return { most, sum: `the limit ${limit}, ${rate} in ${span} and half a window, and 1 by rounding` };
    }
    case "sliding-log":
      return windows(limit, Math.floor(spanMs / lengthMs) + 1, span);
    default:
      return windows(limit, Math.ceil(spanMs / lengthMs) + 1, span);
  }
}

const windows = (limit: number, count: number, span: string): Envelope => ({
  most: limit * count,
  sum: `${span} touch ${counted(count, "window")}: ${count} x ${limit}`,
});

/** No more buckets than this are emptied to see how they refill. */
const emptiedMost = 200;

/**
 * The longest step in which a bucket refills, seen by a caller who empties a fresh one and comes back for each unit
 * when it is due. Who then finds one every time sees steps of at most a unit; else they may be as long as the window.
 * The bucket is emptied 1 ms after an edge of the epoch's grid, so that no step on such a grid passes for a short one.
 */
async function refillStepMs({ script, play, isRecorded }: Trial): Promise<number | null> {
  const call = script.ops.find((op): op is CallOp => op.do === "call");
  if (call === undefined || script.keyed !== true || isRecorded) return null;
  const { organization, user, scope } = call;
  const { limit, windowSeconds } = userLimit(script.rules, organization, user, scope);
  if (limit > emptiedMost) return null;
  const lengthMs = windowSeconds * 1000;
  const unitMs = lengthMs / limit;
  const startMs = Math.ceil(script.startMs / lengthMs) * lengthMs + 1;
  const ops = Array.from({ length: 2 * limit }, (_, n): Op => {
    const wait = Math.max(0, n - limit + 1) * (Math.ceil(unitMs) + 1);
    return { ...call, cost: 1, id: n, atMs: startMs + wait };
  });
  const history = await play(ops);
  return history.every((event) => "decision" in event && event.decision.admitted) ? unitMs : null;
}

/** No lease of a place that was not given back is taken to be shorter, ms. */
const leaseMsLeast = 1000;

/** Calls of one key that are under way at once: admitted within a second, and not given back. */
function atOnce(script: Script, history: History) {
  const tally = new OpinionTally();
  const held = new Map<string, Map<number, { readonly atMs: number; readonly cost: number }>>();
  for (const [at, event] of history.entries()) {
    if ("readings" in event && event.call !== null) held.get(keyOf(event.call))?.delete(event.call.id);
    if (!("decision" in event) || !event.decision.admitted) continue;
    const { organization, user, scope, id, atMs, cost } = event.op;
    const mine = held.get(keyOf(event.op)) ?? new Map();
    held.set(keyOf(event.op), mine.set(id, { atMs, cost }));
    const { limit } = userLimit(script.rules, organization, user, scope);
    const now = [...mine.values()].filter((call) => atMs - call.atMs < leaseMsLeast);
    const total = now.reduce((sum, call) => sum + call.cost, 0);
    tally.add(total <= limit ? "kept" : crowded(total, limit), at, { organization, user, scope });
  }
  return { history, judged: tally.judged, violation: tally.violation };
}

const crowded = (total: number, limit: number): Breach => ({
  expected: `at most ${limit} under way at once`,
  got: `${total} under way with this call`,
  arithmetic: "those that were admitted within the last second and have not ended",
});

const keyOf = ({ organization, user, scope }: CallOp): string => JSON.stringify([organization, user, scope]);
