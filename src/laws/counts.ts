// The laws on what a window shows: bounded, conserved, remaining-agrees, reset-agrees, monotone, and the half
// of limit-agrees that readings show.
import { type Judge, type Opinion, overSights, spanText } from "./law.ts";
import { nameOf, type Sight } from "./ledger.ts";

const inside = (value: number, { least, most }: { least: number; most: number }): boolean =>
  least <= value && value <= most;

/** `0 <= current <= limit` in a window that was enforced at every call it decided. */
export const bounded: Judge = overSights("bounded", () => (sight): Opinion => {
  const { current } = sight;
  if (current === null || !sight.enforcedThroughout) return null;
  if (current >= 0 && current <= sight.limit) return "kept";
  return {
    expected: `0 <= current <= ${sight.limit}`,
    got: `current ${current}`,
    arithmetic: `the limit is ${sight.limit} and every call of this window was decided while enforced`,
  };
});

/** `current` is what the window was charged, by the ledger. */
export const conserved: Judge = overSights("conserved", () => (sight): Opinion => {
  const { current } = sight;
  if (current === null || !sight.sure) return null;
  if (inside(current, sight.after)) return "kept";
  return { expected: `current ${spanText(sight.after)}`, got: `current ${current}`, arithmetic: sum(sight) };
});

/** Says in words how `after` came about. */
function sum({ before, charge, givenBack, after, fresh }: Sight): string {
  const start = fresh ? "nothing was charged in this window before" : `${spanText(before)} charged before`;
  const added =
    charge === null ? "this operation charges nothing" : `this operation adds ${spanText(charge)}`;
  const back = givenBack > 0 ? `, ${givenBack} given back` : "";
  return `${start}, ${added}${back}: ${spanText(after)}`;
}

/** `remaining` is what is left of the limit that is shown beside it. */
export const remainingAgrees: Judge = overSights("remaining-agrees", () => (sight): Opinion => {
  const { remaining, current } = sight.reading;
  const signed = sight.semantics.remaining === "signed";
  if ((current ?? null) === null && !signed && Number(remaining ?? 0) < 0)
    return {
      expected: "remaining 0 or more",
      got: `remaining ${remaining}`,
      arithmetic: "what is left is never less than nothing",
    };
  if ((remaining ?? null) === null || (current ?? null) === null) return null;
  const limit = sight.reading.limit ?? sight.limit;
  const left = limit - Number(current);
  const expected = signed ? left : Math.max(0, left);
  if (remaining === expected) return "kept";
  const formula = signed ? `${limit} - ${current}` : `max(0, ${limit} - ${current})`;
  return {
    expected: `remaining ${expected}`,
    got: `remaining ${remaining}`,
    arithmetic: `${formula} = ${expected}`,
  };
});

/** The instants, in ms, at which a window of which `clockMs` is a part may end, where reset reads `seconds`. */
function endsBy(seconds: number, { clockMs, lengthMs, lateMs, semantics }: Sight): [number, number] {
  const asked = clockMs + seconds * 1000;
  // Half a second may be rounded either way: the rules do not say.
  const [least, most] = { ceil: [-999, 0], floor: [0, 999], round: [-500, 500] }[semantics.reset] as [
    number,
    number,
  ];
  return [Math.max(asked + least, clockMs + 1 - lateMs), Math.min(asked + most, clockMs + lengthMs)];
}

/** `reset` against `reset_at`, against W, and both against what this window showed before. */
export const resetAgrees: Judge = overSights("reset-agrees", () => {
  const ends = new Map<string, readonly [number, number]>();
  return (sight): Opinion => {
    const reset = sight.reading.reset ?? null;
    const resetAtMs = sight.reading.resetAtMs ?? null;
    if (reset === null && resetAtMs === null) return null;
    const own = agreement(sight, reset, resetAtMs);
    if (!Array.isArray(own)) return own;
    const end = own as [number, number];
    const constant = constancy(sight, end, ends);
    return constant === "kept" ? onGrid(sight, end) : constant;
  };
});

/** When the window ends by this reading alone, or how the reading contradicts itself. */
function agreement(sight: Sight, reset: number | null, resetAtMs: number | null): Opinion | [number, number] {
  const { clockMs, lengthMs, lateMs, semantics } = sight;
  const rounding = semantics.reset;
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
  if (resetAtMs <= clockMs - lateMs || resetAtMs > clockMs + lengthMs)
    return {
      expected: `reset_at within ${seconds} s after now`,
      got: `reset_at ${resetAtMs - clockMs} ms after now`,
      arithmetic: `the window is [reset_at - ${seconds} s, reset_at) and holds this instant`,
    };
  if (reset === null) return [resetAtMs, resetAtMs];
  const [least, most] = endsBy(reset, sight);
  if (least <= resetAtMs && resetAtMs <= most) return [resetAtMs, resetAtMs];
  return {
    expected: `reset = ${rounding}(${resetAtMs - clockMs} ms)`,
    got: `reset ${reset}`,
    arithmetic: `reset_at - now = ${(resetAtMs - clockMs) / 1000} s`,
  };
}

/** A limiter may round an end to a millisecond, or name the last one before it. */
const endsOffMs = 1;

/** Windows of the epoch's grid end at whole multiples of their length. */
function onGrid({ semantics, lengthMs, clockMs }: Sight, [least, most]: [number, number]): Opinion {
  const end = Math.ceil((least - endsOffMs) / lengthMs) * lengthMs;
  if (semantics.anchor !== "epoch" || end <= most + endsOffMs) return "kept";
  return {
    expected: `reset_at ${lengthMs - (clockMs % lengthMs)} ms after now`,
    got: `reset_at ${instants([least, most], clockMs)} after now`,
    arithmetic: `windows of ${lengthMs / 1000} s end at whole multiples of that since the epoch`,
  };
}

/** `reset_at` is constant within a window: every reading of it leaves one instant possible. */
function constancy(
  sight: Sight,
  [least, most]: [number, number],
  ends: Map<string, readonly [number, number]>,
): Opinion {
  if (sight.window === null) return "kept";
  const name = `${nameOf(sight)} ${sight.window}`;
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

/** `current` never falls within a window, but by what completed calls give back; a new one starts at 0. */
export const monotone: Judge = overSights("monotone", () => (sight): Opinion => {
  const { current } = sight;
  if (current === null || !sight.sure) return null;
  const own = sight.charge ?? { least: 0, most: 0 };
  if (sight.fresh) {
    if (inside(current, own)) return "kept";
    const since = sight.ended > 0 ? "the window before has ended" : "this is the first call";
    return {
      expected: `current ${spanText(own)}`,
      got: `current ${current}`,
      arithmetic: `${since}, so the count was 0 and only this operation is in it`,
    };
  }
  if (sight.shown === null) return null;
  const floor = sight.shown - sight.givenBack;
  if (current >= floor) return "kept";
  return {
    expected: `current >= ${floor}`,
    got: `current ${current}`,
    arithmetic: `${sight.shown} was shown before in this window, ${sight.givenBack} given back since`,
  };
});

/** The limit of a reading is the rules'. */
export function readLimit(sight: Sight): Opinion {
  const limit = sight.reading.limit ?? null;
  if (limit === null) return null;
  if (limit === sight.limit) return "kept";
  return { expected: `limit ${sight.limit}`, got: `limit ${limit}`, arithmetic: "the rules say so" };
}
