// The windows of one quota as a probe's calls saw them: when each ended, and which call opened it. From two or three of
// them follow the length and the grid of all.

import type { Anchor, Policy, Quota } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import { mayShow } from "../policy/wire-data.ts";
import type { QuotaCall, QuotaReading } from "../trace/quota-record.ts";

/** Bounds of a time or a span, ms. */
export interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** One window that was seen with something used. */
export interface ProbedWindow {
  readonly calls: readonly QuotaCall[];
  /** The end, by the clock that tells it. */
  readonly end: Bounds;
  /** Sending and answering of the call that opened it; `null` where others may have. */
  readonly opened: Bounds | null;
}

/** A call's reading of a quota; `undefined` where it shows none. */
export const readingOf = ({ readings }: QuotaCall, quota: string): QuotaReading | undefined =>
  readings.find((reading) => reading.quota === quota);

/** Units used, as a reading shows them; `null` where it does not. */
export const usedIn = (reading: QuotaReading | undefined): number | null => {
  if (reading === undefined) return null;
  const { used, limit, remaining } = reading;
  return used ?? (limit === null || remaining === null ? null : limit - remaining);
};

/** The rounding of a quota's times: parts of a unit by which the end may be sooner, and later, than it is told. */
export interface Rounding {
  readonly sooner: number;
  readonly later: number;
}

const roundings: Readonly<Record<Quota["shown"]["reset"], Rounding>> = {
  ceil: { sooner: 1, later: 0 },
  floor: { sooner: 0, later: 1 },
  round: { sooner: 0.5, later: 0.5 },
};

/** Returns the rounding that a policy says of a quota's resets. */
export function roundingOf(policy: Policy, quota: string): Rounding {
  const row = wireOf(policy).readings.find((reading) => mayShow(reading, quota));
  return roundings[row?.reset?.round ?? policy.quotas[quota]?.shown.reset ?? "ceil"];
}

/** The end that a reading tells: of a span by the caller's clock, of an instant by the target's. */
export function endIn(call: QuotaCall, reading: QuotaReading | undefined, rounding: Rounding): Bounds | null {
  const reset = reading?.reset;
  if (reset == null) return null;
  const { afterMs, atMs, gridMs } = reset;
  const { sooner, later } = { sooner: rounding.sooner * gridMs, later: rounding.later * gridMs };
  if (afterMs !== null) return { least: call.sent + afterMs - sooner, most: call.received + afterMs + later };
  return atMs === null ? null : { least: atMs - sooner, most: atMs + later };
}

export const overlap = (one: Bounds, other: Bounds): Bounds | null => {
  const both = { least: Math.max(one.least, other.least), most: Math.min(one.most, other.most) };
  return both.least <= both.most ? both : null;
};

/** The windows of a quota, in the order in which they were seen. */
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

/** The target's clock minus the caller's, by `Date` headers of whole seconds. `null`: there are none. */
export function skewOf(calls: readonly QuotaCall[]): Bounds | null {
  let skew: Bounds | null = null;
  for (const { date, sent, received } of calls) {
    if (date === undefined) continue;
    const one = { least: date - received, most: date + 1000 - sent };
    skew = skew === null ? one : (overlap(skew, one) ?? one);
  }
  return skew;
}

/** A window may open at the whole second, before its first call. */
const secondMs = 1000;

const minus = (one: Bounds, other: Bounds): Bounds => ({
  least: one.least - other.most,
  most: one.most - other.least,
});

/** Length and grid of windows. */
export interface ProbedGrid {
  readonly windowSeconds: number;
  readonly anchor: Anchor | null;
  readonly confidence: "certain" | "likely";
  readonly evidence: string;
  readonly calls: readonly QuotaCall[];
}

/**
 * Returns the length and the anchor of windows; `null` where too few were seen.
 * @param saidMs the length that the policy says, which decides where one window alone was seen
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
  const lengths = windows.flatMap(({ end, opened }) => {
    if (opened === null) return [];
    const own = isInstant ? { least: end.least - clock.most, most: end.most - clock.least } : end;
    return [minus(own, opened)];
  });
  const calls = windows.flatMap((window) =>
    [window.calls[0], window.calls.at(-1)].filter((one) => one !== undefined),
  );
  const common = (spans: readonly Bounds[]): Bounds | null =>
    spans.length === 0
      ? null
      : spans
          .slice(1)
          .reduce<Bounds | null>((sofar, one) => sofar && overlap(sofar, one), spans[0] as Bounds);
  const gap = common(gaps);
  const openingBy = (ms: number): Bounds | null =>
    lengths.length < 2 ? null : common(lengths.map(({ least, most }) => ({ least, most: most + ms })));
  const bySecond = openingBy(secondMs);
  const asSaid = openingBy(openingMs);
  // A window of another length looks like one that opened up to a second before its first call.
  const isBySecond =
    gap === null && !contains(asSaid, saidMs) && (asSaid === null || contains(bySecond, saidMs));
  const length = isBySecond ? bySecond : asSaid;
  const isOpened = isOpenedBy(gap, length, saidMs);
  if (length !== null && isOpened === true)
    return {
      ...{ windowSeconds: secondsIn(length, saidMs), anchor: "first-request", calls },
      confidence:
        gap === null && !isBySecond && isExact(contains(length, saidMs) ? length : bySecond, saidMs)
          ? "certain"
          : "likely",
      evidence: `${lengths.length} windows lasted ${spanText(length)} from ${isBySecond ? "the second of " : ""}their first call`,
    };
  if (gap !== null && isOpened === false) {
    const windowSeconds = secondsIn(gap, saidMs);
    const ends = windows.map(({ end }) => toTarget(end));
    const trust = skew === null && !isInstant ? "; their clock is taken on trust: no Date" : "";
    return {
      ...{ windowSeconds, anchor: anchorOf(ends, windowSeconds * 1000), calls },
      confidence:
        trust === "" && length === null && gaps.length > 1 && isExact(gap, saidMs) ? "certain" : "likely",
      evidence: `${windows.length} windows in a row ended ${spanText(gap)} apart${trust}`,
    };
  }
  const [only] = windows;
  if (only === undefined || windows.length > 1 || saidMs === null) return null;
  return byOne(only, toTarget(only.end), lengths[0], saidMs);
}

/**
 * Tells whether windows open with their first call: `true` where only that explains them, or what the policy says fits that
 * alone; `null` where both do.
 */
function isOpenedBy(gap: Bounds | null, length: Bounds | null, saidMs: number | null): boolean | null {
  if (length === null || gap === null) return length !== null ? true : gap !== null ? false : null;
  if (contains(length, saidMs) === contains(gap, saidMs)) return null;
  return contains(length, saidMs);
}

/** One window tells neither its length nor its grid; it fits the length that the policy says, by one of the two. */
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
    confidence: "likely",
  };
}

const contains = (bounds: Bounds | null, value: number | null): boolean =>
  bounds !== null && value !== null && bounds.least <= value && value <= bounds.most;

/** The policy's length where it fits, else the whole second in the middle. */
const secondsIn = (span: Bounds, saidMs: number | null): number =>
  saidMs !== null && contains(span, saidMs)
    ? saidMs / 1000
    : Math.max(1, Math.round((span.least + span.most) / 2000));

/** Tells whether one whole second alone fits, or the policy's length does. */
const isExact = (span: Bounds | null, saidMs: number | null): boolean =>
  contains(span, saidMs) || span === null || Math.floor(span.most / 1000) - Math.ceil(span.least / 1000) < 1;

const spanText = ({ least, most }: Bounds): string =>
  `${(least / 1000).toFixed(1)} to ${(most / 1000).toFixed(1)} s`;

/** The multiple of a length that bounds hold; `null` where there is none, or they hold any. */
function nearGrid({ least, most }: Bounds, lengthMs: number): number | null {
  if (most - least >= lengthMs / 2) return null;
  const multiple = Math.ceil(least / lengthMs) * lengthMs;
  return multiple <= most ? multiple : null;
}

function anchorOf(ends: readonly Bounds[], lengthMs: number): Anchor | null {
  const [first] = ends;
  if (first === undefined || ends.some(({ least, most }) => most - least >= lengthMs / 2)) return null;
  if (ends.every((end) => nearGrid(end, lengthMs) !== null)) return "epoch";
  const middle = (first.least + first.most) / 2;
  const second = Math.round(middle / 1000) * 1000;
  return { offsetMs: (contains(first, second) ? second : Math.round(middle)) % lengthMs };
}
