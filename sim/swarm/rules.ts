// The rules of a drawn world: limits that fill within seconds, or never; windows so short that many of them pass; every
// semantics switch.
import { type SwitchName, type SwitchValue, switchNames, switchValues } from "../../src/rules/switches.ts";
import type { Dice } from "./dice.ts";
import type { Feature } from "./features.ts";
import type { Plain, PlainObject } from "./world-recipe.ts";

/** Values of a switch that may be drawn. A switch that is left out may have any. */
export type AllowedSwitches = { readonly [S in SwitchName]?: readonly SwitchValue<S>[] };

/** Parts of the rules that populations must know. */
export interface DrawnRules {
  readonly rules: PlainObject;
  /** Longest window that is drawn, ms. */
  readonly windowMsMost: number;
  /** Smallest limit of points. */
  readonly pointsLeast: number;
}

const windowSeconds = [1, 2, 3, 5, 7, 10, 15, 30, 60] as const;
const smallCalls = [1, 2, 3, 5, 8, 13, 20, 40] as const;
const largeCalls = [60, 200, 1_000, 5_000_000_000] as const;
const smallPoints = [1, 5, 20, 50, 120, 300] as const;
const largePoints = [500, 5_000, 20_000, 5_000_000_000] as const;

export function drawRules(dice: Dice, has: ReadonlySet<Feature>, allowed: AllowedSwitches): DrawnRules {
  const length = (): number => dice.of(windowSeconds);
  // Most windows have one length, so that both owners' windows end together.
  const common = length();
  const lengths: number[] = [];
  const window = (limit: number): PlainObject => {
    const seconds = dice.oneIn(3) ? length() : common;
    lengths.push(seconds);
    return { limit, windowSeconds: seconds };
  };
  const isLarge = (): boolean => has.has("large limits") && dice.oneIn(3);
  const calls = (): number => dice.of(isLarge() ? largeCalls : smallCalls);
  const points = (): number => dice.of(isLarge() ? largePoints : smallPoints);
  const enforced = (): PlainObject => (has.has("unenforced") && dice.oneIn(3) ? { enforced: false } : {});
  const organization = {
    rest: { ...window(calls() * dice.between(1, 4)), ...enforced() },
    graphql: { ...window(points() * dice.between(1, 4)), ...enforced() },
  };
  const user = { rest: window(calls()), graphql: window(points()) };
  const overrides: PlainObject = has.has("overrides")
    ? {
        organizations: { globex: { rest: window(calls()), graphql: enforced() } },
        users: { "acme/first-0": { rest: { limit: calls() }, graphql: { limit: points() } } },
      }
    : {};
  return {
    rules: { organization, user, ...overrides, ...semantics(dice, has, allowed) },
    windowMsMost: Math.max(...lengths) * 1000,
    pointsLeast: Math.min(user.graphql["limit"] as number, organization.graphql["limit"] as number),
  };
}

function semantics(dice: Dice, has: ReadonlySet<Feature>, allowed: AllowedSwitches): PlainObject {
  const drawn = switchNames.flatMap((name): [string, Plain][] => {
    const values: readonly Plain[] = allowed[name] ?? switchValues[name];
    const [first] = values;
    if (first === undefined) return [];
    const one = (): Plain => dice.of(values);
    const meant = allowed[name] !== undefined && first !== switchValues[name][0];
    if (!has.has(name)) return meant ? [[name, first]] : [];
    const value = one();
    return [[name, has.has("switches by scope") ? { rest: value, graphql: one() } : value]];
  });
  return drawn.length === 0 ? {} : { semantics: Object.fromEntries(drawn) };
}
