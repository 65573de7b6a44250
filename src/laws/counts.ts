// The laws on shown counts: bounded, conserved, remaining-agrees, reset-agrees and monotone.
import { lowestTerms } from "../policy/checks.ts";
import type { Quota } from "../policy/policy.ts";
import { type Breach, type Opinion, spanText } from "./law.ts";
import { firstOf, isKnown, overShown, overSights, type QuotaJudge } from "./looks.ts";
import type { QuotaScript } from "./quotas/script.ts";
import { remainingIsThere } from "./room.ts";
import type { LedgerTerms } from "./script.ts";
import { countShown, gridOf, isWindow, type ShownCount, type Sight } from "./sight.ts";
import { type CountSpan, exactly } from "./window-book.ts";

const byWhom = ({ by }: ShownCount): string => (by === "said" ? "" : " (its answer shows it)");

/** Judges a shown number against the right span, `within` units; `null` if it is not shown or the span is unknown. */
const agrees = (
  member: string,
  got: number | null,
  right: CountSpan | null,
  within: number,
  why: string,
): Opinion => {
  if (got === null || right === null) return null;
  if (right.least - within <= got && got <= right.most + within) return "kept";
  return { expected: `${member} ${spanText(right)}`, got: `${member} ${got}`, arithmetic: why };
};

/** Returns the tolerance of a count, units: 1 for a bucket with fractions, which a limiter rounds; else 0. */
const unitsOff = ({ rule }: Sight, { isExact }: QuotaScript): number => (isWindow(rule) || isExact ? 0 : 1);

/** Returns the shown count; for an HTTP answer only its own `used`, never a count derived from `remaining`. */
const countOf = (shown: ShownCount, { rule }: Sight): number | null =>
  shown.by === "said" ? countShown(shown, rule) : shown.used;

/** Judges that a count stays within its limit, if calls must fit whole and refusals are free. */
export const bounded = overShown((shown, sight) => {
  const { remaining, limit, name } = shown;
  const { rule, limit: most, mayPass } = sight;
  const { when, fits, refused } = rule.charge;
  const used = countOf(shown, sight);
  const isVoid = mayPass || when === "completion" || fits === "any-left" || refused === "counted";
  if (isVoid || (used === null && remaining === null)) return null;
  const bound = shown.by === "said" ? most : (limit ?? most);
  const breach = (member: string, got: number): Breach => ({
    expected: `0 <= ${member} <= ${bound}`,
    got: `${member} ${got}`,
    arithmetic: `the limit is ${bound} and every call of this ${isWindow(rule) ? "window" : "bucket"} was decided while enforced`,
  });
  if (used !== null && (used < 0 || used > bound)) return breach(name, used);
  if (remaining !== null && (remaining < 0 || remaining > bound)) return breach("remaining", remaining);
  return "kept";
});

/** Judges that a count is the sum of its charges, each counted once, and nothing else. */
export const conserved = overShown((shown, sight, script) => {
  const off = unitsOff(sight, script);
  const why = `${sumText(sight)}${byWhom(shown)}`;
  return firstOf([
    agrees(shown.name, countOf(shown, sight), shown.right.used, off, why),
    agrees("remaining", shown.remaining, shown.right.remaining, off, why),
  ]);
});

/** Explains in words the sum that makes `after`. */
function sumText({ before, charge, givenBack, after, fresh, rule }: Sight): string {
  const here = isWindow(rule) ? " in this window" : "";
  const start = fresh ? `nothing was charged${here} before` : `${spanText(before)} charged before`;
  const added =
    charge === null ? "this operation charges nothing" : `this operation adds ${spanText(charge)}`;
  const back = givenBack > 0 ? `, ${givenBack} given back` : "";
  return `${start}, ${added}${back}: ${spanText(after)}`;
}

/** Judges `remaining` by the `used` that is shown beside it. */
const remainingOfCount = overShown((shown, { rule, limit: most }) => {
  const { used, remaining, limit, right } = shown;
  const isSigned = rule.shown.remaining === "signed";
  if (remaining === null) return null;
  if (used === null && !isSigned && remaining < 0)
    return {
      expected: "remaining 0 or more",
      got: `remaining ${remaining}`,
      arithmetic: "what is left is never less than nothing",
    };
  if (used === null) return null;
  const rest = (bound: number, count: number): number =>
    isSigned ? bound - count : Math.max(0, bound - count);
  // If the format rounds its numbers, even the right ones do not add up.
  const isRounded =
    right.used !== null &&
    right.remaining !== null &&
    right.remaining.least !== rest(right.limit ?? most, right.used.least);
  const bound = limit ?? most;
  const left = rest(bound, used);
  const sum = isSigned ? `${bound} - ${used}` : `max(0, ${bound} - ${used})`;
  return isRounded ? null : agrees("remaining", remaining, exactly(left), 0, `${sum} = ${left}`);
});

export const remainingAgrees: QuotaJudge = (trial) =>
  isKnown(trial.script) ? remainingOfCount(trial) : remainingIsThere(trial);

/** Judges resets: by a policy against the right ones, by rules against each other and against the rules. */
export const resetAgrees = overSights((script) => {
  const ends = new Map<string, readonly [number, number]>();
  return (sight) =>
    firstOf(
      sight.shown.map((shown) =>
        script.terms === undefined
          ? resetIsRight(shown, sight, script)
          : resetHolds(shown, sight, script.terms, ends),
      ),
    );
});

function resetIsRight(shown: ShownCount, { rule, event }: Sight, { isExact }: QuotaScript): Opinion {
  const { reset, right, by } = shown;
  const what = isWindow(rule) ? "the window ends then" : "the bucket is full then";
  const within = isWindow(rule) || isExact ? 0 : Math.max(unitMs(rule), by === "answer" ? 1000 : 1);
  if (reset === null || right.reset === null) return null;
  if (Math.abs(reset - right.reset) <= within) return "kept";
  const text = (ms: number): string =>
    by === "answer" ? `reset ${ms / 1000} s` : `reset ${(ms - event.op.atMs) / 1000} s after this`;
  return { expected: text(right.reset), got: text(reset), arithmetic: `${what}${byWhom(shown)}` };
}

/** Returns the time in which a bucket gets one unit back, ms, rounded up. */
function unitMs({ algorithm }: Quota): number {
  if (algorithm.kind !== "token-bucket") return 0;
  const { amount, everyMs } = lowestTerms(algorithm.refill);
  return Math.ceil(everyMs / amount);
}

/** Judges `reset` against `reset_at` and the window's length, and both against this window's earlier readings. */
function resetHolds(
  { seconds, reset }: ShownCount,
  sight: Sight,
  { keyed }: LedgerTerms,
  ends: Map<string, readonly [number, number]>,
): Opinion {
  if (seconds === null && reset === null) return null;
  // For a key without a window, a limiter by key may say that there is nothing to wait for.
  const isNone = keyed === true && sight.window === null && sight.event.op.do === "status";
  if (isNone && (seconds ?? 0) <= 0 && (reset ?? sight.clockMs) <= sight.clockMs) return null;
  const end = agreement(sight, seconds, reset);
  if ("expected" in end) return end;
  return firstOf([constancy(sight, end, ends), onGrid(sight, end), atOpening(sight, end)]);
}

/** Returns the earliest and latest end, ms, of the window that holds `clockMs`, if its reset reads `seconds`. */
function endsBy(seconds: number, { clockMs, lengthMs, lateMs, rule }: Sight): [number, number] {
  const asked = clockMs + seconds * 1000;
  // The rules do not say which way half a second is rounded.
  const [least, most] = { ceil: [-999, 0], floor: [0, 999], round: [-500, 500] }[rule.shown.reset] as [
    number,
    number,
  ];
  return [Math.max(asked + least, clockMs + 1 - lateMs), Math.min(asked + most, clockMs + lengthMs)];
}

/** Returns when the window may end by this reading alone, ms, or the breach if the reading contradicts itself. */
function agreement(sight: Sight, reset: number | null, resetAtMs: number | null): Breach | [number, number] {
  const { clockMs, lengthMs, lateMs, rule } = sight;
  const rounding = rule.shown.reset;
  const seconds = lengthMs / 1000;
  if (reset !== null) {
    const least = rounding === "ceil" ? 1 - lateMs : 0;
    if (reset < least || reset > seconds)
      return {
        expected: `${least} <= reset <= ${seconds}`,
        got: `reset ${reset}`,
        arithmetic: `the window is ${seconds} s long`,
      };
  }
  if (resetAtMs === null) return endsBy(reset ?? 0, sight);
  const isWithin = (ms: number): boolean => ms > clockMs - lateMs && ms <= clockMs + lengthMs;
  if (!isWithin(resetAtMs)) {
    const isSeconds = isWithin(resetAtMs * 1000);
    return {
      expected: `reset_at within ${seconds} s after now`,
      got: `reset_at ${isSeconds ? `${resetAtMs} since the epoch` : `${resetAtMs - clockMs} ms after now`}`,
      arithmetic: isSeconds
        ? "it fits in seconds since the epoch, and ms are expected"
        : `the window is [reset_at - ${seconds} s, reset_at) and holds this instant`,
    };
  }
  if (reset === null) return [resetAtMs, resetAtMs];
  const [least, most] = endsBy(reset, sight);
  if (least <= resetAtMs && resetAtMs <= most) return [resetAtMs, resetAtMs];
  return {
    expected: `reset = ${rounding}(${resetAtMs - clockMs} ms)`,
    got: `reset ${reset}`,
    arithmetic: `reset_at - now = ${(resetAtMs - clockMs) / 1000} s`,
  };
}

/** Tolerance of an end, ms: a limiter may round it to a ms, or name the last ms before it. */
const endsOffMs = 1;

/** Judges that a window of a grid ends at a whole multiple of its length from the grid's edge. */
function onGrid({ rule, lengthMs, clockMs }: Sight, [least, most]: [number, number]): Opinion {
  const offMs = gridOf(rule);
  if (offMs === null) return "kept";
  const end = Math.ceil((least - endsOffMs - offMs) / lengthMs) * lengthMs + offMs;
  if (end <= most + endsOffMs) return "kept";
  const from = offMs === 0 ? "the epoch" : `${offMs} ms after the epoch`;
  return {
    expected: `reset_at ${lengthMs - ((clockMs - offMs) % lengthMs)} ms after now`,
    got: `reset_at ${instants([least, most], clockMs)} after now`,
    arithmetic: `windows of ${lengthMs / 1000} s end at whole multiples of that since ${from}`,
  };
}

/** Unit, ms, to which a limiter may round down the opening of a window. */
const openingMs = 1000;

/** Judges that a window of no grid lasts its whole length, from the call that opens it on. */
function atOpening({ rule, lengthMs, clockMs, opened }: Sight, [least, most]: [number, number]): Opinion {
  const isWhole = most + endsOffMs > clockMs + lengthMs - openingMs;
  if (opened !== true || gridOf(rule) !== null || isWhole) return "kept";
  return {
    expected: `reset_at ${lengthMs} ms after now`,
    got: `reset_at ${instants([least, most], clockMs)} after now`,
    arithmetic: `a window opens with its first call, and is ${lengthMs / 1000} s long`,
  };
}

/** Judges that `reset_at` is constant within a window: some instant must fit every reading so far. */
function constancy(
  sight: Sight,
  [least, most]: [number, number],
  ends: Map<string, readonly [number, number]>,
): Opinion {
  if (sight.window === null) return "kept";
  const name = `${sight.name} ${sight.window}`;
  const known = ends.get(name) ?? [least, most];
  const both: [number, number] = [Math.max(known[0], least), Math.min(known[1], most)];
  if (both[0] <= both[1]) {
    ends.set(name, both);
    return "kept";
  }
  return {
    expected: `reset_at ${instants(known, sight.clockMs)} after now, as this window showed before`,
    got: `reset_at ${instants([least, most], sight.clockMs)} after now`,
    arithmetic: "reset_at is constant within a window",
  };
}

const instants = ([least, most]: readonly [number, number], nowMs: number): string =>
  least === most ? `${least - nowMs} ms` : `${least - nowMs} to ${most - nowMs} ms`;

/** Judges that a count falls within a window only by what completed calls give back, and starts at 0. */
export const monotone = overSights(() => (sight) => {
  const { current, rule, sure, last, charge, givenBack } = sight;
  if (current === null || !sure || !isWindow(rule)) return null;
  const name = sight.shown[0]?.name ?? "used";
  if (sight.fresh) {
    const since = sight.isRenewed ? "the window before has ended" : "this is the first call";
    const why = `${since}, so the count was 0 and only this operation is in it`;
    return agrees(name, current, charge ?? exactly(0), 0, why);
  }
  if (last === null) return null;
  if (current >= last) return "kept";
  return {
    expected: `${name} >= ${last}`,
    got: `${name} ${current}`,
    arithmetic: `${last + givenBack} was shown before in this window, ${givenBack} given back since`,
  };
});
