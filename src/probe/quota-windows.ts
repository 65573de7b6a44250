// The windows of one quota as a probe's calls saw them: the end of each, and the call that opened it. Two or three
// windows show the length and the grid of all.

import type { Anchor, Policy, Quota } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import { mayShow } from "../policy/wire-data.ts";
import { counted } from "../rules/words.ts";
import type { QuotaCall, QuotaReading } from "../trace/quota-record.ts";

/** Bounds of a time or a span, ms. */
export interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** A window that was seen with something used. */
export interface ProbedWindow {
  readonly calls: readonly QuotaCall[];
  /** Bounds of the end, by the clock that tells it. */
  readonly end: Bounds;
  /** Sending and answering of the call that opened it; `null` if others may have opened it. */
  readonly opened: Bounds | null;
}

/** Returns a call's reading of a quota; `undefined` if it shows none. */
export const readingOf = ({ readings }: QuotaCall, quota: string): QuotaReading | undefined =>
  readings.find((reading) => reading.quota === quota);

/** Returns the used units that a reading shows; `null` if it does not show them. */
export const usedIn = (reading: QuotaReading | undefined): number | null => {
  if (reading === undefined) return null;
  const { used, limit, remaining } = reading;
  return used ?? (limit === null || remaining === null ? null : limit - remaining);
};

/** Rounding of a quota's times: units by which the end may be sooner, and later, than told. */
export interface Rounding {
  readonly sooner: number;
  readonly later: number;
}

const roundings: Readonly<Record<Quota["shown"]["reset"], Rounding>> = {
  ceil: { sooner: 1, later: 0 },
  floor: { sooner: 0, later: 1 },
  round: { sooner: 0.5, later: 0.5 },
};

/** Returns the rounding that a policy states for a quota's resets. */
export function roundingOf(policy: Policy, quota: string): Rounding {
  const row = wireOf(policy).readings.find((reading) => mayShow(reading, quota));
  return roundings[row?.reset?.round ?? policy.quotas[quota]?.shown.reset ?? "ceil"];
}

/** Returns the end that a reading tells: a span counts by the caller's clock, an instant by the target's. */
export function endIn(call: QuotaCall, reading: QuotaReading | undefined, rounding: Rounding): Bounds | null {
  const reset = reading?.reset;
  if (reset == null) return null;
  const { afterMs, atMs, gridMs } = reset;
  const { sooner, later } = { sooner: rounding.sooner * gridMs, later: rounding.later * gridMs };
  if (afterMs !== null) return { least: call.sent + afterMs - sooner, most: call.received + afterMs + later };
  // An instant that is rounded up or down is off by less than a step, and times are whole ms.
  const within = (by: number): number => (by === gridMs ? by - 1 : by);
  return atMs === null ? null : { least: atMs - within(sooner), most: atMs + within(later) };
}

/** Returns what all bounds have in common; `null` if that is nothing. */
export const overlap = (...all: readonly Bounds[]): Bounds | null => {
  const least = Math.max(...all.map((one) => one.least));
  const most = Math.min(...all.map((one) => one.most));
  return least <= most ? { least, most } : null;
};

/** Returns the windows of a quota, in the order in which they were seen. */
export function windowsOf(
  calls: readonly QuotaCall[],
  quota: string,
  rounding: Rounding,
  charged: (operation: string) => number | null,
): ProbedWindow[] {
  const windows: ProbedWindow[] = [];
  let before: number | null = null;
  for (const call of calls) {
    const reading = readingOf(call, quota);
    const used = usedIn(reading);
    const end = endIn(call, reading, rounding);
    if (used === null || end === null) continue;
    const last = windows.at(-1);
    const same = last === undefined || (before !== null && used < before) ? null : overlap(last.end, end);
    before = used;
    // An idle window reads as one that would open now.
    if (used === 0) continue;
    if (last !== undefined && same !== null)
      windows[windows.length - 1] = { ...last, calls: [...last.calls, call], end: same };
    else {
      const isOpening = call.operation !== "status" && used === charged(call.operation);
      windows.push({
        calls: [call],
        end,
        opened: isOpening ? { least: call.sent, most: call.received } : null,
      });
    }
  }
  return windows;
}

/** Returns the target's clock minus the caller's, by `Date` headers of whole seconds; `null` if there are none. */
export function skewOf(calls: readonly QuotaCall[]): Bounds | null {
  let skew: Bounds | null = null;
  for (const { date, sent, received } of calls) {
    if (date === undefined) continue;
    const one = { least: date - received, most: date + 1000 - sent };
    skew = skew === null ? one : (overlap(skew, one) ?? one);
  }
  return skew;
}

const minus = (one: Bounds, other: Bounds): Bounds => ({
  least: one.least - other.most,
  most: one.most - other.least,
});

/** Length and grid of windows. */
export interface ProbedGrid {
  readonly windowSeconds: number;
  readonly anchor: Anchor | null;
  readonly confidence: "certain" | "likely";
  /** Confidence in the anchor: ends of windows may tell their length, and leave several grids. */
  readonly anchorConfidence: "certain" | "likely";
  readonly evidence: string;
  readonly calls: readonly QuotaCall[];
}

/**
 * Returns the length and the anchor of windows; `null` if too few were seen.
 * @param saidMs the policy's length, which decides if only one window was seen
 * @param openingMs time before its first call at which a window may open: that of a whole second
 */
export function gridOf(
  windows: readonly ProbedWindow[],
  saidMs: number | null,
  openingMs: number,
  skew: Bounds | null,
): ProbedGrid | null {
  const clock = skew ?? { least: 0, most: 0 };
  const isInstant = windows[0]?.calls.some((call) => call.readings.some(({ reset }) => reset?.atMs != null));
  const toTarget = (end: Bounds): Bounds =>
    isInstant ? end : { least: end.least + clock.least, most: end.most + clock.most };
  const gaps = windows.slice(1).map(({ end }, at) => minus(end, (windows[at] as ProbedWindow).end));
  const toOwn = (end: Bounds): Bounds =>
    isInstant ? { least: end.least - clock.most, most: end.most - clock.least } : end;
  const lengths = windows.flatMap(({ end, opened }) => (opened === null ? [] : [minus(toOwn(end), opened)]));
  const calls = windows.flatMap(({ calls: own }) => [...own.slice(0, 1), ...own.slice(-1)]);
  const common = (spans: readonly Bounds[]): Bounds | null => (spans.length === 0 ? null : overlap(...spans));
  const gap = common(gaps);
  // Windows of a grid end whole seconds apart. Where these did not, one of the policy's length is enough.
  const isOffGrid = gap !== null && !contains(gap, saidMs) && Math.ceil(gap.least / 1000) * 1000 > gap.most;
  const openingBy = (ms: number): Bounds | null =>
    lengths.length < (isOffGrid ? 1 : 2)
      ? null
      : common(lengths.map(({ least, most }) => ({ least, most: most + ms })));
  const bySecond = openingBy(1000);
  const asSaid = openingBy(openingMs);
  // A window of another length looks like one that opened up to a second before its first call.
  const isBySecond =
    (gap === null || isOffGrid) &&
    !contains(asSaid, saidMs) &&
    (asSaid === null || contains(bySecond, saidMs));
  const length = isBySecond ? bySecond : asSaid;
  const isOpened = isOffGrid ? contains(length, saidMs) || null : isOpenedBy(gap, length, saidMs);
  if (length !== null && isOpened === true) {
    const windowSeconds = secondsIn(length, saidMs);
    // Gaps have nothing in common, too, if windows of a grid were not seen.
    const isOffAnyGrid =
      gap === null &&
      phaseOf(
        windows.map(({ end }) => end),
        windowSeconds * 1000,
      ) === null;
    const isSure =
      isOffAnyGrid && !isBySecond && isExact(contains(length, saidMs) ? length : bySecond, saidMs);
    const confidence = isSure ? "certain" : "likely";
    return {
      ...{ windowSeconds, anchor: "first-request", calls },
      ...{ confidence, anchorConfidence: confidence },
      evidence: `${counted(lengths.length, "window")} lasted ${spanText(length)} from ${isBySecond ? "the second of " : ""}${lengths.length === 1 ? "its" : "their"} first call`,
    };
  }
  if (gap !== null && isOpened === false) {
    const step = stepOf(gaps, gap, leftMost(windows, toOwn), saidMs);
    if (step === null) return null;
    const { one, isNext } = step;
    const windowSeconds = secondsIn(one, saidMs);
    const ends = windows.map(({ end }) => toTarget(end));
    const trust = skew === null && !isInstant ? "; their clock is taken on trust: no Date" : "";
    const isSure = trust === "" && isNext && length === null && gaps.length > 1 && isExact(gap, saidMs);
    const found = anchorOf(ends, windowSeconds * 1000);
    return {
      ...{ windowSeconds, anchor: found?.anchor ?? null, calls },
      confidence: isSure ? "certain" : "likely",
      anchorConfidence: isSure && found?.isSure === true ? "certain" : "likely",
      evidence: `${windows.length} windows ${isNext ? "in a row ended" : "ended whole lengths of"} ${spanText(one)} apart${trust}`,
    };
  }
  const [only] = windows;
  if (only === undefined || windows.length > 1 || saidMs === null) return null;
  if (leftMost(windows, toOwn) > saidMs) return null;
  return byOne(only, toTarget(only.end), lengths[0], saidMs);
}

/** Returns the longest time to an end that an answer surely told, ms: no window is shorter. */
const leftMost = (windows: readonly ProbedWindow[], toOwn: (end: Bounds) => Bounds): number =>
  Math.max(
    0,
    ...windows.flatMap(({ calls, end }) => calls.map(({ received }) => toOwn(end).least - received)),
  );

/**
 * Returns the length of windows that end so far apart. Unseen ones may lie between them, unless an answer told more than
 * half of that time to be left: then the policy's length counts if it fits, and otherwise `null`.
 * @param gap what all gaps have in common
 */
function stepOf(
  gaps: readonly Bounds[],
  gap: Bounds,
  leastMs: number,
  saidMs: number | null,
): { readonly one: Bounds; readonly isNext: boolean } | null {
  if (gap.most <= 0) return null;
  if (gaps.every(({ most }) => most < 2 * leastMs)) return { one: gap, isNext: true };
  const times = Math.max(1, Math.round((gap.least + gap.most) / 2 / (saidMs ?? gap.most)));
  const one = { least: gap.least / times, most: gap.most / times };
  return one.most >= leastMs && contains(one, saidMs) ? { one, isNext: false } : null;
}

/**
 * Tells whether windows open with their first call: `true` if only that explains them, or alone fits the policy's
 * length; `null` if both explanations do.
 */
function isOpenedBy(gap: Bounds | null, length: Bounds | null, saidMs: number | null): boolean | null {
  if (length === null || gap === null) return length !== null ? true : gap !== null ? false : null;
  if (contains(length, saidMs) === contains(gap, saidMs)) return null;
  return contains(length, saidMs);
}

/** Returns the grid by one window: exactly one of its length and its grid must fit the policy's length. */
function byOne(
  { calls }: ProbedWindow,
  end: Bounds,
  length: Bounds | undefined,
  saidMs: number,
): ProbedGrid | null {
  const isOpened = length !== undefined && contains(length, saidMs);
  const isOnGrid = nearGrid(end, saidMs) !== null;
  if (isOpened === isOnGrid) return null;
  const windowSeconds = saidMs / 1000;
  const evidence = isOpened
    ? "one window, seen from its first call: it ends so long after that"
    : "one window: it ends on the grid of such windows";
  return {
    ...{ windowSeconds, evidence, calls },
    anchor: isOpened ? "first-request" : "epoch",
    ...{ confidence: "likely", anchorConfidence: "likely" },
  };
}

const contains = (bounds: Bounds | null, value: number | null): boolean =>
  bounds !== null && value !== null && bounds.least <= value && value <= bounds.most;

/** Returns the policy's length if it fits, otherwise the whole second in the middle. */
const secondsIn = (span: Bounds, saidMs: number | null): number =>
  saidMs !== null && contains(span, saidMs)
    ? saidMs / 1000
    : Math.max(1, Math.round((span.least + span.most) / 2000));

/** Tells whether the policy's length fits, or only one whole second does. */
const isExact = (span: Bounds | null, saidMs: number | null): boolean =>
  contains(span, saidMs) || span === null || Math.floor(span.most / 1000) - Math.ceil(span.least / 1000) < 1;

const spanText = ({ least, most }: Bounds): string =>
  `${(least / 1000).toFixed(1)} to ${(most / 1000).toFixed(1)} s`;

/** Returns the multiple of a length within bounds; `null` if there is none, or the bounds are too wide to tell. */
function nearGrid({ least, most }: Bounds, lengthMs: number): number | null {
  if (most - least >= lengthMs / 2) return null;
  const multiple = Math.ceil(least / lengthMs) * lengthMs;
  return multiple <= most ? multiple : null;
}

/** Returns where the first of some ends lies if all are whole lengths apart; `null` if they are not. */
function phaseOf(ends: readonly Bounds[], lengthMs: number): Bounds | null {
  const [first = { least: 0, most: 0 }] = ends;
  const moved = ends.map(({ least, most }) => {
    const byMs = Math.round((least + most - first.least - first.most) / 2 / lengthMs) * lengthMs;
    return { least: least - byMs, most: most - byMs };
  });
  return overlap(...moved);
}

/**
 * Returns the grid of windows of a length by their ends, which all lie on whole seconds if they can; `null` if the bounds
 * are too wide. It is sure if one whole second alone fits all ends.
 */
function anchorOf(
  ends: readonly Bounds[],
  lengthMs: number,
): { readonly anchor: Anchor; readonly isSure: boolean } | null {
  const [first] = ends;
  if (first === undefined || ends.some(({ least, most }) => most - least >= lengthMs / 2)) return null;
  const { least, most } = phaseOf(ends, lengthMs) ?? first;
  const second = Math.ceil(least / 1000) * 1000;
  const isSure = second <= most && second + 1000 > most;
  if (ends.every((end) => nearGrid(end, lengthMs) !== null)) return { anchor: "epoch", isSure };
  const middle = (least + most) / 2;
  const nearest = Math.round(middle / 1000) * 1000;
  const offsetMs = isSure ? second : contains({ least, most }, nearest) ? nearest : Math.round(middle);
  return { anchor: { offsetMs: offsetMs % lengthMs }, isSure };
}
