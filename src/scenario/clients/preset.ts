// A preset: a real client's behaviour and its reaction to refusals, to be spread into a population: `watchers: {
// clients: 3, ...bkBuildWatch() }`.
import type { Behaviour, RefusalPolicy } from "../client.ts";
import { Mistakes } from "../mistakes.ts";

/** Parts of a population that describe a real client. Whoever runs it need not know the behaviour's own numbers. */
export interface ClientPreset {
  readonly behaviour: Behaviour;
  readonly onRefused: RefusalPolicy;
}

/**
 * Returns a preset's options, checked. Each may be left out.
 * @param path the preset's name
 * @param names the members that the options may have
 * @throws SpillwayError `SCENARIO_INVALID`
 */
export function presetOptions<T extends object>(
  path: string,
  options: T,
  names: readonly (keyof T & string)[],
): T {
  const mistakes = new Mistakes();
  mistakes.options(path, options, names);
  mistakes.finish(`${path} cannot use these options`);
  return options;
}

/** @throws SpillwayError `SCENARIO_INVALID` if the value is no whole number from `least` to `most` */
export function requireWhole(path: string, value: unknown, least: number, most: number): number {
  const mistakes = new Mistakes();
  const checked = mistakes.whole(path, value, least, most);
  mistakes.finish("this client cannot be made");
  return checked;
}

/** @throws SpillwayError `SCENARIO_INVALID` */
export function requireOneOf(path: string, value: unknown, values: readonly string[]): void {
  const mistakes = new Mistakes();
  mistakes.oneOf(path, value, values);
  mistakes.finish("this client cannot be made");
}
