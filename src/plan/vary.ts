// Values to vary, read from words: `agents.clients=10..500` names a place of a scenario and its values.
import { parseDuration } from "../rules/duration.ts";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import { parseShare } from "../rules/share.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { PlanAxis, PlanValue } from "../summary/plan-result.ts";
import { changeScenario, findPlace, type ScenarioPlace, wordsOf } from "./paths.ts";

/** A place and every value that it may take. Numbers rise. */
export interface Vary {
  readonly axis: PlanAxis;
  readonly candidates: readonly PlanValue[];
}

type Unit = PlanAxis["unit"];

/** Greatest number of values in a range of durations without a step. */
const durationsMost = 200;
const candidatesMost = 100_000;
/** Least factor of a range: by smaller ones a value takes very many steps from one whole number to the next. */
const factorLeast = 1.001;
const examples: Readonly<Record<Unit, string>> = {
  count: "10..500, 10..500:10 (step), 10..1000x2 (factor) or 10,20,50",
  ms: "50ms..2s, 1s..60s:1s (step), 1s..64sx2 (factor) or 1s,5s,30s",
  share: "0%..5%, 0%..10%:1% (step) or 0%,1%,5%",
  choice: "words with commas between",
};

/**
 * Reads `PATH=RANGE` against a scenario, and tries the range's ends and every choice.
 * @throws SpillwayError `USAGE` naming the path, with a suggestion, or the range
 */
export function parseVary(text: string, scenario: Scenario): Vary {
  const equals = text.indexOf("=");
  const path = (equals < 0 ? text : text.slice(0, equals)).trim();
  const range = equals < 0 ? "" : text.slice(equals + 1).trim();
  const place = findPlace(scenario, path);
  if (!("keys" in place)) throw refused(place);
  const candidates = candidatesOf(place, range);
  const [first] = candidates;
  const last = candidates.at(-1);
  if (first === undefined || last === undefined || range === "") {
    const allowed =
      place.choices === null && place.unit === "choice" ? wordsOf(place).join(",") : examples[place.unit];
    throw refused({
      path,
      got: range === "" ? "no range" : quote(range),
      allowed: `${path}=RANGE, such as ${allowed}`,
    });
  }
  for (const value of place.unit === "choice" ? candidates : [first, last])
    changeScenario(scenario, [{ path: place.path, value }]);
  const { path: plain, unit } = place;
  return { axis: { path: plain, unit, range, from: first, to: last, values: candidates.length }, candidates };
}

const refused = (problem: Problem): SpillwayError =>
  new SpillwayError("USAGE", "this cannot be varied", { problem });

const candidatesOf = ({ unit, path }: ScenarioPlace, range: string): readonly PlanValue[] =>
  unit === "choice" ? [...new Set(choicesOf(range))] : parseRange(path, unit, range);

/**
 * Returns the numbers of a range or list, rising; empty if it is none.
 * @throws SpillwayError `USAGE` naming `path` if there are too many
 */
export function parseRange(path: string, unit: Exclude<Unit, "choice">, range: string): number[] {
  const numbers = range.includes("..") ? rangeOf(range, unit) : listOf(range, unit);
  if (numbers.length > candidatesMost)
    throw refused({
      path,
      got: `${range}, more than ${candidatesMost} values`,
      allowed: `at most ${candidatesMost} values: give a step, ${range.split(":")[0]}:STEP`,
    });
  return numbers;
}

/** Returns words that are separated by commas. */
const choicesOf = (range: string): string[] =>
  range
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

function read(unit: Unit, text: string): number | null {
  if (unit === "count") return /^\d+$/.test(text) ? Number(text) : null;
  if (unit === "share") return parseShare(text);
  const ms = text === "0" ? 0 : parseDuration(text);
  return Number.isInteger(ms) ? ms : null;
}

function listOf(range: string, unit: Unit): number[] {
  const numbers = range.split(",").map((word) => read(unit, word.trim()));
  return numbers.every((value) => value !== null) ? [...new Set(numbers)].sort((a, b) => a - b) : [];
}

const rangeSyntax = /^([\w.%]+?)\.\.([\w.%]+?)(?::([\w.%]+)|x(\d+(?:\.\d+)?))?$/;

function rangeOf(range: string, unit: Unit): number[] {
  const [, low = "", high = "", stepText, factorText] = rangeSyntax.exec(range.replaceAll(" ", "")) ?? [];
  const from = read(unit, low);
  const to = read(unit, high);
  if (from === null || to === null || from >= to) return [];
  if (factorText !== undefined) return unit === "share" ? [] : geometric(from, to, Number(factorText));
  const step = stepText === undefined ? stepFor(to - from, unit) : read(unit, stepText);
  return step === null || step <= 0 ? [] : linear(from, to, step);
}

/** Returns the default step: 1 for counts; 1, 2 or 5 x 10^n ms for durations, at most `durationsMost` steps. */
function stepFor(span: number, unit: Unit): number {
  if (unit === "count") return 1;
  if (unit === "share") return span / 100;
  for (let power = 1; ; power *= 10)
    for (const digit of [1, 2, 5]) if (span / (digit * power) <= durationsMost) return digit * power;
}

/** Returns the values from one end by steps, and the other end. */
function linear(from: number, to: number, step: number): number[] {
  const numbers: number[] = [];
  // Multiplication, not addition: shares are fractions, and 0.1 + 0.1 + 0.1 is not 0.3.
  for (let index = 0; numbers.length <= candidatesMost; index++) {
    const value = Math.round((from + index * step) * 1e9) / 1e9;
    if (value >= to) break;
    numbers.push(value);
  }
  return [...numbers, to];
}

/** Returns the values from one end by a factor, in whole numbers, and the other end. */
function geometric(from: number, to: number, factor: number): number[] {
  if (from <= 0 || factor < factorLeast) return [];
  const numbers: number[] = [];
  for (let value = from; value < to; value *= factor) {
    const whole = Math.round(value);
    if (whole !== numbers.at(-1) && whole < to) numbers.push(whole);
  }
  return [...numbers, to];
}
