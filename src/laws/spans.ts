// The laws on spans of time: twice-at-most and rate-bound. Both add up the costs of admitted calls, so they need
// decisions only, and no readings.
import type { Quota } from "../policy/policy.ts";
import { counted } from "../rules/words.ts";
import { lacksRoom } from "./decisions.ts";
import { alsoGreedy } from "./greedy.ts";
import type { Breach, Opinion, Trial } from "./law.ts";
import { OpinionTally, played, type QuotaJudge, statedOf } from "./looks.ts";
import type { QuotaCallOp, QuotaScript } from "./quotas/script.ts";
import { isOfCalendar, isWindow, type Look, type QuotasKind, type Sight } from "./sight.ts";

/** One charge of an admitted call, or the points that it gave back. */
interface Admitted {
  readonly at: number;
  readonly clockMs: number;
  /** Points; below 0 if given back. */
  charge: number;
  window: number | null;
  /** True if the window had room for the call: if any room admits a call, its overshoot is legal. */
  readonly excused: boolean;
}

/** Charges to one count by admitted calls, in the whole run. */
interface Track {
  readonly key: Sight;
  isEnforced: boolean;
  readonly charges: Admitted[];
  readonly calls: Map<number, Admitted>;
}

/** Returns the tracks of counts that were enforced all the time. */
function tracksOf(looks: readonly Look[]): readonly Track[] {
  const tracks = new Map<string, Track>();
  for (const { event, sights } of looks)
    for (const sight of sights) {
      const track = tracks.get(sight.name) ?? { key: sight, isEnforced: true, charges: [], calls: new Map() };
      tracks.set(sight.name, track);
      if ("admitted" in event) track.isEnforced &&= sight.isEnforced;
      if ("admitted" in event && event.admitted) admit(track, sight, event.op.id);
      else if (event.op.do === "settle") complete(track, sight, event.op.id);
    }
  return [...tracks.values()].filter(({ isEnforced }) => isEnforced);
}

function admit({ charges, calls }: Track, sight: Sight, id: number): void {
  const { at, clockMs, window, charge, before } = sight;
  const excused = lacksRoom(sight, true, before) !== true;
  const admitted = { at, clockMs, charge: charge?.least ?? 0, window, excused };
  charges.push(admitted);
  calls.set(id, admitted);
}

/** Adds a completed call's late charge at the place of its admission, and its points given back at this operation. */
function complete({ charges, calls }: Track, sight: Sight, id: number): void {
  const { at, clockMs, window, charge, givenBack } = sight;
  const call = calls.get(id);
  if (call === undefined) return;
  call.charge += charge?.least ?? 0;
  call.window ??= window;
  if (givenBack > 0) charges.push({ at, clockMs, charge: -givenBack, window, excused: false });
}

const mayOvershoot = ({ charge: { when, fits } }: Quota): boolean =>
  when === "completion" || fits === "any-left";

/** Makes a law of a judge of tracks. */
const overTracks =
  (
    begin: (
      trial: Trial<QuotasKind>,
      tracks: readonly Track[],
    ) => Promise<(track: Track) => Iterable<readonly [number, Opinion]>>,
  ): QuotaJudge =>
  async (trial) => {
    const { history, looks } = await played(trial);
    const tracks = tracksOf(looks);
    const judge = await begin(trial, tracks);
    const tally = new OpinionTally();
    for (const track of tracks) for (const [at, opinion] of judge(track)) tally.add(opinion, at, track.key);
    return tally.of(history);
  };

/** Judges that any span of a window's length, by the count's own clock, admits at most twice the limit. */
export const twiceAtMost = overTracks(async () => (track) => {
  const { rule } = track.key;
  return isWindow(rule) && !isOfCalendar(rule) ? widestSpans(track) : [];
});

/** Judges, for each charge, the span of a window's length that ends with it. */
function* widestSpans({ key, charges }: Track): Generator<[number, Opinion]> {
  const { limit, lengthMs, rule } = key;
  let first = 0;
  let total = 0;
  for (const [index, last] of charges.entries()) {
    total += last.charge;
    while ((charges[first]?.clockMs ?? last.clockMs) <= last.clockMs - lengthMs) {
      total -= (charges[first] as typeof last).charge;
      first += 1;
    }
    const over = mayOvershoot(rule) ? overshoots(charges, charges.slice(first, index + 1), limit) : 0;
    const most = 2 * limit + over;
    yield [last.at, total <= most ? "kept" : tooMuch(key, total, most, over)];
  }
}

const tooMuch = ({ limit, lengthMs }: Sight, total: number, most: number, over: number): Breach => ({
  expected: `at most ${most} admitted in any ${lengthMs / 1000} s`,
  got: `${total} admitted in the ${lengthMs / 1000} s up to this call`,
  arithmetic: `2 x ${limit}${over > 0 ? ` + ${over} of overshoots` : ""} = ${most}`,
});

/** Returns by how many points a span's windows passed their limits through calls that were admitted with room left. */
function overshoots(charges: readonly Admitted[], span: readonly Admitted[], limit: number): number {
  let over = 0;
  for (const window of new Set(span.map((charge) => charge.window))) {
    const held = charges.filter((charge) => charge.window === window && charge.excused);
    over += Math.max(0, held.reduce((sum, { charge }) => sum + charge, 0) - limit);
  }
  return over;
}

/** Most points that a limiter may admit in a span, and the sum in words. */
interface Envelope {
  readonly most: number;
  readonly sum: string;
}

/**
 * Judges that no span admits more than capacity and rate allow. If only the algorithm is known, the bound is the loosest
 * of that algorithm: for windows of any phase, buckets that refill in steps, and counters of few parts. Fixed windows
 * by key are also judged one by one, where their anchor puts them.
 */
const ofRate = overTracks(async (trial, tracks) => {
  const { script } = trial;
  const spansOf = (track: Track, stepMs: number | null) =>
    allSpans(track, (spanMs) => envelope(script, track.key, spanMs, stepMs));
  const isByKey = script.terms?.keyed === true;
  const unitOf = ({ key: { lengthMs, limit } }: Track) =>
    isByKey && statedOf(script) === "token-bucket" ? lengthMs / limit : null;
  const inSteps = new Set<Track>();
  for (const track of tracks) {
    const unitMs = unitOf(track);
    // Only a bucket that refills in longer steps may pass the bound of single units.
    const isPassed = unitMs !== null && [...spansOf(track, unitMs)].some(([, opinion]) => opinion !== "kept");
    if (isPassed && !(await refillsByUnits(trial, track, unitMs))) inSteps.add(track);
  }
  return (track) => {
    const { rule } = track.key;
    if (mayOvershoot(rule) || isOfCalendar(rule)) return [];
    const spans = spansOf(track, inSteps.has(track) ? null : unitOf(track));
    const isWindows = isByKey && statedOf(script) === "fixed-window";
    return isWindows ? [...spans, ...ownWindows(track)] : spans;
  };
});

export const rateBound = alsoGreedy((trial) =>
  statedOf(trial.script) === "concurrency" ? atOnce(trial) : ofRate(trial),
);

/** Judges, for each charge, the spans that end with it, up to the first that is too full. */
function* allSpans({ charges }: Track, bound: (spanMs: number) => Envelope): Generator<[number, Opinion]> {
  for (const [index, last] of charges.entries()) {
    let total = 0;
    let breach: Breach | null = null;
    for (let first = index; first >= 0 && breach === null; first -= 1) {
      const { charge, clockMs } = charges[first] ?? last;
      total += charge;
      const spanMs = last.clockMs - clockMs;
      const { most, sum } = bound(spanMs);
      if (total > most + 1e-9) breach = beyond(total, spanMs, sum, most);
    }
    yield [last.at, breach ?? "kept"];
  }
}

/** Judges, for each charge of a fixed window, the window's sum up to it. */
function* ownWindows({ charges, key: { limit } }: Track): Generator<[number, Opinion]> {
  const totals = new Map<number, number>();
  for (const { at, window, charge } of charges) {
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
  script: QuotaScript,
  { limit, lengthMs, rule }: Sight,
  spanMs: number,
  stepMs: number | null,
): Envelope {
  const { algorithm } = rule;
  const span = `${spanMs / 1000} s`;
  const rounded = isWindow(rule) || script.isExact ? 0 : 1;
  if (spanMs === 0) return { most: limit + rounded, sum: `the capacity is ${limit}` };
  if (algorithm.kind === "token-bucket") {
    const { amount, everyMs } = algorithm.refill;
    const most = limit + (amount * spanMs) / everyMs + rounded;
    return { most, sum: `the capacity ${limit}, and ${amount} per ${everyMs / 1000} s in ${span}` };
  }
  const rate = `${limit} per ${lengthMs / 1000} s`;
  switch (statedOf(script)) {
    case "token-bucket": {
      const step = stepMs ?? lengthMs;
      const most = limit + (limit * (spanMs + step)) / lengthMs;
      return { most, sum: `the capacity ${limit}, ${rate} in ${span}, and a refill of ${step / 1000} s` };
    }
    case "sliding-counter": {
      // A counter of two parts or more may forget calls half a window too early; one unit is for rounding.
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

/** Greatest capacity, units, of a bucket that is emptied to see how it refills. */
const emptiedMost = 200;

/**
 * Parts of a window after an edge of the epoch's grid at which a bucket is emptied. Whatever grid its steps of two units
 * or more lie on, one to six in a window, one of these times is not shortly before a step.
 */
const emptiedAt = [0, 0.29, 0.43, 0.57] as const;

/**
 * Tells whether a bucket refills in steps of at most one unit. A caller empties a fresh bucket and comes back for each unit
 * when it is due: each call must find one. A limiter may have buckets of many sizes.
 */
async function refillsByUnits(
  { script, play, isRecorded }: Trial<QuotasKind>,
  { key: { limit, lengthMs }, calls }: Track,
  unitMs: number,
): Promise<boolean> {
  const call = script.ops.find((op): op is QuotaCallOp => op.do === "call" && calls.has(op.id));
  if (call === undefined || isRecorded) return false;
  if (limit > emptiedMost) return false;
  const edgeMs = Math.ceil(script.startMs / lengthMs) * lengthMs + 1;
  for (const part of emptiedAt) {
    const ops = Array.from({ length: 2 * limit }, (_, n) => {
      const wait = Math.max(0, n - limit + 1) * (Math.ceil(unitMs) + 1);
      return { ...call, cost: 1, id: n, atMs: edgeMs + Math.round(part * lengthMs) + wait };
    });
    const history = await play(ops);
    if (!history.every((event) => "admitted" in event && event.admitted)) return false;
  }
  return true;
}

/** Shortest lease that a limiter may give a call under way, ms; afterwards its place may be free again. */
const leaseMsLeast = 1000;

/** Judges the calls of one key under way at once: admitted within the last second, and not completed. */
const atOnce: QuotaJudge = async (trial) => {
  const { history, looks } = await played(trial);
  const tally = new OpinionTally();
  const held = new Map<string, Map<number, QuotaCallOp>>();
  for (const { event, sights, at } of looks)
    for (const sight of sights.slice(-1)) {
      const mine = held.get(sight.name) ?? new Map<number, QuotaCallOp>();
      held.set(sight.name, mine);
      if (event.op.do === "settle") mine.delete(event.op.id);
      if (!("admitted" in event) || !event.admitted) continue;
      mine.set(event.op.id, event.op);
      const now = [...mine.values()].filter(({ atMs }) => event.op.atMs - atMs < leaseMsLeast);
      const total = now.reduce((sum, { cost }) => sum + cost, 0);
      tally.add(total <= sight.limit ? "kept" : crowded(total, sight.limit), at, sight);
    }
  return tally.of(history);
};

const crowded = (total: number, limit: number): Breach => ({
  expected: `at most ${limit} under way at once`,
  got: `${total} under way with this call`,
  arithmetic: "those that were admitted within the last second and have not ended",
});
