// The mistakes of a scenario, collected, so that all of them are reported at once.
import { closest } from "../rules/closest.ts";
import { parseDuration } from "../rules/duration.ts";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import { parseRules } from "../rules/parse.ts";
import type { Rules } from "../rules/rules.ts";
import { type Behaviour, type CallTemplate, inFlightBound } from "./client.ts";

/** A time: `"90s"`, `"5m"`, `"1m30s"`, `"250ms"`, or a number of milliseconds. */
export type Duration = string | number;

/** A constant time, or one drawn uniformly from the whole milliseconds from `least` to `most`. */
export type DurationSpan = Duration | { readonly least: Duration; readonly most: Duration };

/** Span of whole milliseconds, both ends included. */
export interface MsSpan {
  readonly least: number;
  readonly most: number;
}

/** Longest time in a scenario, ms: a year. A longer one is a mistake in units. */
export const longestMs = 366 * 24 * 3_600_000;

/**
 * Problems found so far. A check returns the value in its checked form. For a wrong value it returns one that the next
 * checks can bear, and `finish` throws.
 */
export class Mistakes {
  readonly #problems: Problem[] = [];

  /** @param got the value as given; it is quoted here */
  add(path: string, got: unknown, allowed: string): void {
    this.#problems.push({ path, got: quote(got), allowed });
  }

  include(problems: readonly Problem[]): void {
    this.#problems.push(...problems);
  }

  /** @throws SpillwayError `SCENARIO_INVALID` if there is any mistake */
  finish(summary: string): void {
    if (this.#problems.length === 0) return;
    throw new SpillwayError("SCENARIO_INVALID", summary, { problems: this.#problems });
  }

  /**
   * Checks for a plain object with no other members than `names`.
   * @param path empty for the scenario itself
   */
  members(path: string, value: unknown, names: readonly string[]): value is Record<string, unknown> {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.add(path === "" ? "scenario" : path, value, `an object of ${names.join(", ")}`);
      return false;
    }
    for (const name of Object.keys(value)) {
      if (names.includes(name)) continue;
      const meant = closest(name, names);
      const allowed = meant === null ? `one of ${names.join(", ")}` : `${quote(meant)}, if that was meant`;
      this.add(path === "" ? name : `${path}.${name}`, name, allowed);
    }
    return true;
  }

  /**
   * Checks a function's options: a plain object with no other members than `names`.
   * @param path the function's name
   * @throws SpillwayError `SCENARIO_INVALID` at once if the value is no object, since no more can be checked
   */
  options<T extends object>(path: string, value: T, names: readonly string[]): T {
    if (!this.members(path, value, names)) this.finish(`${path} cannot use these options`);
    return value;
  }

  text(path: string, value: unknown, syntax: RegExp, allowed: string): string {
    if (typeof value === "string" && syntax.test(value)) return value;
    this.add(path, value, allowed);
    return "";
  }

  whole(path: string, value: unknown, least: number, most: number): number {
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most)
      return value as number;
    this.add(path, value, `a whole number from ${least} to ${most}`);
    return least;
  }

  /** Checks for a bound, a whole number from 1; absent ones are no bound. */
  most(path: string, value: unknown): number {
    return this.whole(path, value ?? Number.MAX_SAFE_INTEGER, 1, Number.MAX_SAFE_INTEGER);
  }

  /** Checks for a finite number in a range. @returns `NaN` if it is none */
  number(path: string, value: unknown, fits: (value: number) => boolean, allowed: string): number {
    if (Number.isFinite(value) && fits(value as number)) return value as number;
    this.add(path, value, allowed);
    return Number.NaN;
  }

  oneOf<T extends string>(path: string, value: unknown, values: readonly T[]): T | undefined {
    if (values.includes(value as T)) return value as T;
    this.add(path, value, `one of ${values.map((word) => quote(word)).join(", ")}`);
    return undefined;
  }

  /** @returns the rules, complete; `null` if they cannot be used */
  rules(path: string, value: unknown): Rules | null {
    try {
      return parseRules(value);
    } catch (error) {
      if (!(error instanceof SpillwayError)) throw error;
      const at = (inner: string): string => (inner === "rules" ? path : `${path}.${inner}`);
      this.#problems.push(...error.problems.map((problem) => ({ ...problem, path: at(problem.path) })));
      return null;
    }
  }

  /** Checks for a scenario as `defineScenario` makes it. */
  scenario(path: string, value: unknown): void {
    const { format } = (value ?? {}) as { format?: unknown };
    if (format !== "spillway-scenario") this.add(path, value, "a scenario that defineScenario made");
  }

  /** Checks for a call as `rest`, `status`, `graphql` and `pipelinesQuery` make it. */
  call(path: string, value: unknown): void {
    const call = value as Partial<CallTemplate> | null | undefined;
    const fits = typeof call?.path === "string" && typeof call.name === "string" && call.cost !== undefined;
    if (!fits) this.add(path, value, 'a call, such as rest("/v2/user"), status() or pipelinesQuery(50)');
  }

  /** Checks for a behaviour as `poller`, `worker` and the like make it. */
  behaviour(path: string, value: unknown): Behaviour {
    const shape = value as Partial<Behaviour> | null | undefined;
    const fits =
      typeof shape === "object" &&
      shape !== null &&
      Array.isArray(shape.calls) &&
      shape.calls.length > 0 &&
      Number.isSafeInteger(shape.inFlightMost) &&
      (shape.inFlightMost ?? 0) >= 1 &&
      (shape.inFlightMost ?? 0) <= inFlightBound &&
      typeof shape.start === "function" &&
      typeof shape.next === "function";
    if (!fits) this.add(path, value, "what poller, burst, pager or worker make, or a Behaviour of your own");
    return shape as Behaviour;
  }

  /** @returns whole milliseconds */
  duration(path: string, value: unknown, leastMs: number, mostMs = longestMs, orElse = ""): number {
    const ms = typeof value === "string" ? parseDuration(value) : value;
    if (Number.isSafeInteger(ms) && (ms as number) >= leastMs && (ms as number) <= mostMs)
      return ms as number;
    this.add(
      path,
      value,
      `"90s", "1m30s", "250ms" or whole milliseconds, from ${leastMs} ms to ${mostMs === longestMs ? "a year" : `${mostMs} ms`}${orElse}`,
    );
    return leastMs;
  }

  span(path: string, value: unknown, leastMs = 0, mostMs = longestMs): MsSpan {
    if (typeof value !== "object" || value === null) {
      const ms = this.duration(path, value, leastMs, mostMs, ", or {least, most}");
      return { least: ms, most: ms };
    }
    if (!this.members(path, value, ["least", "most"])) return { least: leastMs, most: leastMs };
    const least = this.duration(`${path}.least`, value["least"], leastMs, mostMs);
    const most = this.duration(`${path}.most`, value["most"], leastMs, mostMs);
    if (most < least) this.add(`${path}.most`, value["most"], `no less than ${path}.least`);
    return { least, most };
  }
}
