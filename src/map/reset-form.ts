// Forms of a time, told by how two readings move. One value never tells: 37 may be seconds or ms, a span or an instant.
import type { ResetMeaning, TimeForm } from "../policy/wire-data.ts";
import { timeForms } from "../policy/wire-words.ts";
import { leastOf, mostOf } from "../rules/extremes.ts";
import { type ReadTime, readTime } from "../wire/times.ts";

/** A reset as it was shown, with its surroundings. */
export interface ShownReset {
  readonly text: string;
  /** Time of the answer, ms since the epoch; `null` if unknown. */
  readonly atMs: number | null;
  /** Caller and quota; only readings with equal ones are compared. */
  readonly of: string;
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Ms from the answer on, by its `Retry-After`; `null` if it has none. */
  readonly retryMs?: number | null;
}

/** Forms whose texts look like those of no other form. */
const unlike = new Set<TimeForm>(["http-date", "rfc3339", "go-duration"]);
/** Least distance between two readings, ms. Closer ones tell nothing: `Date` and most forms count whole seconds. */
const apartMs = 2_000;
const toleranceMs = 1_000;
/** Bounds of a window's end: not long before its answer, and within a year or so, ms. */
const pastMostMs = 300_000;
const aheadMostMs = 400 * 86_400_000;

export interface FoundForm {
  readonly form: TimeForm;
  /** `null` if nothing tells what the instant means. */
  readonly means: ResetMeaning | null;
  /** Time in which one unit comes back, ms, for a bucket that tells when it is full. */
  readonly everyMs: number | null;
  /** Longest span to a reset, ms. */
  readonly longestMs: number;
}

/**
 * Returns the form that all readings have, or the possible forms if there are several. `isFar` is true if each reading
 * is a time, but in the past or more than a year ahead.
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

/** Returns forms by which resets agree with the `Retry-After` of their answers. */
function advised(forms: readonly TimeForm[], shown: readonly ShownReset[]): TimeForm[] {
  const told = shown.filter((each): each is Timed => each.atMs !== null && typeof each.retryMs === "number");
  const isThere = (form: TimeForm): boolean =>
    told.every((each) => Math.abs(instantOf(form, each) - each.atMs - (each.retryMs ?? 0)) <= toleranceMs);
  return told.length === 0 ? [] : withoutFloats(forms.filter(isThere));
}

/** Drops a form with decimals beside its plain form: both read whole numbers alike. */
const withoutFloats = (forms: readonly TimeForm[]): TimeForm[] =>
  forms.filter((form) => !form.endsWith("-float") || !forms.includes(form.slice(0, -6) as TimeForm));

function isLikely(time: ReadTime, atMs: number | null): boolean {
  if (time.atMs === null || atMs === null) return true;
  return time.atMs >= atMs - pastMostMs && time.atMs <= atMs + aheadMostMs;
}

type Timed = ShownReset & { readonly atMs: number };
type Pair = readonly [Timed, Timed];

/** Returns each reading of a caller's quota with the latest one that is far enough before it. */
function pairsOf(shown: readonly ShownReset[]): Pair[] {
  const timed = shown
    .filter((each): each is Timed => each.atMs !== null)
    .toSorted((one, other) => one.atMs - other.atMs);
  /** Readings by caller and quota, from the latest on that is far enough before the one at hand. */
  const waiting = new Map<string, Timed[]>();
  return timed.flatMap((later) => {
    const before = waiting.get(later.of) ?? [];
    waiting.set(later.of, before);
    const near = before.findIndex(({ atMs }) => later.atMs - atMs < apartMs);
    before.splice(0, (near === -1 ? before.length : near) - 1);
    const [earlier] = near === 0 ? [] : before;
    before.push(later);
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
    longestMs: mostOf(spans, 0),
  };
}

/** Returns ms for each unit, if every span is proportional to the units taken: a bucket that tells when it is full. */
function refillOf(form: TimeForm, shown: readonly ShownReset[]): number | null {
  const points = shown.flatMap(({ text, atMs, limit, remaining }) => {
    const time = readTime(form, text.trim());
    if (time === null || limit === null || remaining === null || remaining >= limit) return [];
    const { afterMs, atMs: endMs, gridMs } = time;
    const span = afterMs ?? (endMs === null || atMs === null ? null : endMs - atMs);
    return span === null ? [] : [{ taken: limit - remaining, span, gridMs, isInstant: afterMs === null }];
  });
  points.sort((one, other) => one.taken - other.taken);
  const [least, most] = [points[0], points.at(-1)];
  if (least === undefined || most === undefined) return null;
  // Seconds are rounded, and an instant is compared with the answer's date, which is rounded, too.
  const gridMs = leastOf(points.map((each) => each.gridMs));
  const slackMs = (gridMs > 1 ? gridMs : 0) + (most.isInstant ? toleranceMs : 0);
  const rate = most.span / most.taken;
  const isApart = most.span - least.span > Math.max(most.span * 0.2, 2 * slackMs);
  const isSteady = points.every(
    ({ taken, span }) => Math.abs(span - rate * taken) <= Math.max(span * 0.1, slackMs),
  );
  return isApart && isSteady && rate >= 1 ? Math.round(rate) : null;
}
