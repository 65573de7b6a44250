// Forms of a time, told by how two readings move. One value never tells: 37 may be seconds or ms, a span or an instant.
import type { ResetMeaning, TimeForm } from "../policy/wire-data.ts";
import { timeForms } from "../policy/wire-words.ts";
import { type ReadTime, readTime } from "../wire/times.ts";

/** A reset as it was shown, and what stood beside it. */
export interface ShownReset {
  readonly text: string;
  /** The answer's time, ms since the epoch; `null` where nothing tells. */
  readonly atMs: number | null;
  /** Readings of one caller's quota are compared with each other alone. */
  readonly of: string;
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Ms from the answer on, by its `Retry-After`; `null` where it has none. */
  readonly retryMs?: number | null;
}

/** Forms that no other form's texts look like. */
const unlike = new Set<TimeForm>(["http-date", "rfc3339", "go-duration"]);
/** Readings closer than this tell nothing: `Date` and most forms count whole seconds. */
const apartMs = 2_000;
const toleranceMs = 1_000;
/** A window's end lies not long before its answer, and within a year or so. */
const pastMostMs = 300_000;
const aheadMostMs = 400 * 86_400_000;

export interface FoundForm {
  readonly form: TimeForm;
  /** `null` where nothing tells what the instant means. */
  readonly means: ResetMeaning | null;
  /** Ms in which one unit comes back, of a bucket that tells when it is full. */
  readonly everyMs: number | null;
  /** The longest span to a reset, ms. */
  readonly longestMs: number;
}

/**
 * Returns the form that all readings have, and those that are possible where they are several. `isFar`: each is a time, but
 * one that is past, or more than a year ahead.
 */
export function resetForm(
  shown: readonly ShownReset[],
): FoundForm | { readonly possible: readonly TimeForm[]; readonly isFar: boolean } {
  const read = timeForms.filter((form) => shown.every(({ text }) => readTime(form, text.trim()) !== null));
  const readable = read.filter((form) =>
    shown.every(({ text, atMs }) => {
      const time = readTime(form, text.trim());
      return time !== null && isLikely(time, atMs);
    }),
  );
  const [only] = readable;
  if (only !== undefined && unlike.has(only)) return found(only, shown);
  const pairs = pairsOf(shown);
  const stays = readable.filter(
    (form) =>
      pairs.some((pair) => staysPut(form, pair)) &&
      // A form that fits some pairs by chance moves backwards in others.
      pairs.every((pair) => movedMs(form, pair) > -toleranceMs * 2),
  );
  const steady = stays.length > 0 ? stays : readable.filter((form) => refillOf(form, shown) !== null);
  const moving = withoutFloats(steady);
  const certain = moving.length === 1 ? moving : advised(moving.length > 1 ? moving : readable, shown);
  return certain.length === 1 && certain[0] !== undefined
    ? found(certain[0], shown)
    : {
        possible: withoutFloats(moving.length > 1 ? moving : readable),
        isFar: readable.length === 0 && read.length > 0,
      };
}

/** Returns forms by which resets are where the `Retry-After` of their answers is. */
function advised(forms: readonly TimeForm[], shown: readonly ShownReset[]): TimeForm[] {
  const told = shown.filter((each): each is Timed => each.atMs !== null && typeof each.retryMs === "number");
  const isThere = (form: TimeForm): boolean =>
    told.every((each) => Math.abs(instantOf(form, each) - each.atMs - (each.retryMs ?? 0)) <= toleranceMs);
  return told.length === 0 ? [] : withoutFloats(forms.filter(isThere));
}

/** A form of whole numbers and the same with decimals read whole numbers alike: the plain one is named. */
const withoutFloats = (forms: readonly TimeForm[]): TimeForm[] =>
  forms.filter((form) => !form.endsWith("-float") || !forms.includes(form.slice(0, -6) as TimeForm));

function isLikely(time: ReadTime, atMs: number | null): boolean {
  if (time.atMs === null || atMs === null) return true;
  return time.atMs >= atMs - pastMostMs && time.atMs <= atMs + aheadMostMs;
}

type Timed = ShownReset & { readonly atMs: number };
type Pair = readonly [Timed, Timed];

/** Readings of one caller's quota that follow each other, far enough apart. */
function pairsOf(shown: readonly ShownReset[]): Pair[] {
  const timed = shown
    .filter((each): each is Timed => each.atMs !== null)
    .toSorted((one, other) => one.atMs - other.atMs);
  return timed.flatMap((later, index) => {
    const earlier = timed
      .slice(0, index)
      .findLast(({ of, atMs }) => of === later.of && later.atMs - atMs >= apartMs);
    return earlier === undefined ? [] : [[earlier, later] as const];
  });
}

const instantOf = (form: TimeForm, { text, atMs }: Timed): number => {
  const time = readTime(form, text.trim());
  return time?.atMs ?? atMs + (time?.afterMs ?? Number.NaN);
};

const movedMs = (form: TimeForm, [earlier, later]: Pair): number =>
  instantOf(form, later) - instantOf(form, earlier);

const staysPut = (form: TimeForm, pair: Pair): boolean => Math.abs(movedMs(form, pair)) <= toleranceMs;

function found(form: TimeForm, shown: readonly ShownReset[]): FoundForm {
  const timed = shown.filter((each): each is Timed => each.atMs !== null);
  const spans = timed.map((each) => instantOf(form, each) - each.atMs);
  const everyMs = refillOf(form, shown);
  // Resets that stay while calls are made are ends of windows; those of a bucket move with every call.
  const isEnd = pairsOf(shown).some(
    (pair) =>
      staysPut(form, pair) && (pair[0].remaining ?? 0) > (pair[1].remaining ?? Number.POSITIVE_INFINITY),
  );
  return {
    form,
    means: isEnd ? "window-end" : everyMs === null ? null : "full",
    everyMs: isEnd ? null : everyMs,
    longestMs: Math.max(0, ...spans),
  };
}

/** Ms a unit, where every span is that many times what is taken: a bucket that tells when it is full. */
function refillOf(form: TimeForm, shown: readonly ShownReset[]): number | null {
  const points = shown.flatMap(({ text, atMs, limit, remaining }) => {
    const time = readTime(form, text.trim());
    const span = time?.afterMs ?? (atMs === null || time === null ? null : (time.atMs ?? atMs) - atMs);
    const taken = (limit ?? 0) - (remaining ?? 0);
    if (time === null || span === null || limit === null || remaining === null || taken <= 0) return [];
    return [{ taken, span, gridMs: time.gridMs, isInstant: time.afterMs === null }];
  });
  points.sort((one, other) => one.taken - other.taken);
  const [least, most] = [points[0], points.at(-1)];
  if (least === undefined || most === undefined) return null;
  // Seconds are rounded, and an instant is told from the answer's date, which is rounded, too.
  const gridMs = Math.min(...points.map((each) => each.gridMs));
  const slackMs = (gridMs > 1 ? gridMs : 0) + (most.isInstant ? toleranceMs : 0);
  const rate = most.span / most.taken;
  const isApart = most.span - least.span > Math.max(most.span * 0.2, 2 * slackMs);
  const isSteady = points.every(
    ({ taken, span }) => Math.abs(span - rate * taken) <= Math.max(span * 0.1, slackMs),
  );
  return isApart && isSteady && rate >= 1 ? Math.round(rate) : null;
}
