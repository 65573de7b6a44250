// Pauses that depend on the previous ones: polls that grow further apart, then a dozen uploads in a row; a program that
// loops for a while. Each pause has one of a few paces, and its pace decides by chance which comes next.
import type { ClientRecord } from "../client.ts";
import type { Mistakes } from "../mistakes.ts";
import { next32 } from "../random.ts";
import { parseSpread, type Spread, type SpreadInput } from "../spread.ts";

export interface PaceInput {
  /** Time from an answer to the next call. */
  readonly think: SpreadInput;
  /** Number of pauses of this pace in a row, before `next` decides what follows. Default: 1. */
  readonly times?: SpreadInput;
  /** Number of calls at once after such a pause. Default: the worker's `atOnce`. */
  readonly atOnce?: SpreadInput;
  /** Weights of the paces that the next pause may have, one for each pace. One more weight is for no next pause. */
  readonly next: readonly number[];
}

export interface PacesInput {
  /** 1 to 20 paces. */
  readonly paces: readonly PaceInput[];
  /** Weights of the paces that the first pause may have, in the form of `next`. */
  readonly first: readonly number[];
}

interface Pace {
  readonly think: Spread;
  readonly times: Spread;
  readonly atOnce: Spread | null;
  readonly next: readonly number[];
}

/** Paces, checked. Weights are rising sums. */
export interface Paces {
  readonly paces: readonly Pace[];
  readonly first: readonly number[];
}

export const pacesMost = 20;
export const atOnceMost = 1_000;

export function isPaces(value: unknown): value is PacesInput {
  return typeof value === "object" && value !== null && "paces" in value;
}

export function parsePaces(path: string, value: PacesInput, mistakes: Mistakes): Paces {
  mistakes.members(path, value, ["paces", "first"]);
  const { paces, first } = value as Partial<PacesInput>;
  if (!Array.isArray(paces) || paces.length === 0 || paces.length > pacesMost) {
    mistakes.add(`${path}.paces`, paces, `a list of 1 to ${pacesMost} paces`);
    return { paces: [], first: [] };
  }
  return {
    paces: paces.map((pace: PaceInput, index): Pace => {
      const at = `${path}.paces.${index}`;
      if (!mistakes.members(at, pace, ["think", "times", "atOnce", "next"]))
        return { think: { least: 0, most: 0 }, times: { least: 1, most: 1 }, atOnce: null, next: [] };
      return {
        think: parseSpread(`${at}.think`, pace.think, mistakes),
        times: parseSpread(`${at}.times`, pace.times ?? 1, mistakes, 1),
        atOnce:
          pace.atOnce === undefined
            ? null
            : parseSpread(`${at}.atOnce`, pace.atOnce, mistakes, 1, atOnceMost),
        next: sumsOf(`${at}.next`, pace.next, paces.length, mistakes),
      };
    }),
    first: sumsOf(`${path}.first`, first, paces.length, mistakes),
  };
}

/** Returns the rising sums of checked weights. */
function sumsOf(path: string, value: unknown, paces: number, mistakes: Mistakes): readonly number[] {
  const isWeight = (each: unknown): boolean => typeof each === "number" && each >= 0 && each <= 1e9;
  const isList = Array.isArray(value) && (value.length === paces || value.length === paces + 1);
  let sum = 0;
  const sums = isList && value.every(isWeight) ? value.map((weight: number) => (sum += weight)) : [];
  if (sum === 0)
    mistakes.add(path, value, `${paces} or ${paces + 1} numbers of at least 0, of which one is above 0`);
  return sums;
}

/** Draws the pace of the next pause: its place, or the number of paces if nothing follows. */
export function nextPace(record: ClientRecord, sums: readonly number[]): number {
  const point = (next32(record) / 4_294_967_296) * (sums.at(-1) as number);
  return sums.findIndex((sum) => point < sum);
}
