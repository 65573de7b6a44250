// The deployment that faults are injected into: without a fault it is the right one, byte for byte; with one, the
// same seed gives the same bytes, and the header claims what the rules say.
// @module-tag long
import { describe, expect, test } from "vitest";
import { simulate } from "../../sim/simulate.ts";
import { faults } from "../../src/faults/catalogue.ts";
import { parseFault } from "../../src/faults/choice.ts";
import type { Fault } from "../../src/faults/fault.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { presets } from "../../src/rules/presets.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { type SwitchName, switchValues } from "../../src/rules/switches.ts";
import { encodeCall } from "../../src/trace/write.ts";
import { type Control, controls } from "../faults/controls.ts";
import { crowd, crowdRules, suited } from "../faults/crowd.ts";

/** Windows of either scope end in it, and others follow. */
const durationMs = 25_000;
const bytes = (options: Parameters<typeof simulate>[1]): string =>
  [...simulate(crowd, { durationMs, ...options }).calls].map(encodeCall).join("\n");

const asFault = ({ name, make }: Control): Fault => ({
  name,
  wrong: "nothing",
  shows: "nothing",
  seenIn: [],
  nets: [],
  rate: null,
  processes: null,
  unfit: () => null,
  inject: (policy) => make(policy),
});

const switches: readonly [string, RulesInput][] = Object.entries(switchValues).flatMap(([name, values]) =>
  values
    .slice(1)
    .map((value): [string, RulesInput] => [
      `${name as SwitchName} = ${value}`,
      { ...crowdRules, semantics: { [name]: value } },
    ]),
);

describe("without a fault it is the right deployment, byte for byte", () => {
  test.each(controls.map((control) => [control.name, control] as const))("%s", (_, control) => {
    const rules = parseRules(crowdRules);
    expect(bytes({ seed: 3, rules, fault: { fault: asFault(control), rate: 1 } })).toBe(
      bytes({ seed: 3, rules }),
    );
  });

  // The controls in turn: each is under plain rules above.
  test.each(
    [["documented", { ...crowdRules, ...presets.documented }] as const, ...switches].map(
      ([name, input], index) => [name, input, controls[index % controls.length] as Control] as const,
    ),
  )("under %s", (_, input, control) => {
    const rules = parseRules(input);
    expect(bytes({ seed: 4, rules, fault: { fault: asFault(control), rate: 1 } })).toBe(
      bytes({ seed: 4, rules }),
    );
  });
});

describe("with a fault", () => {
  test.each(faults.map(({ name }) => name))("%s: the same seed gives the same bytes", (name) => {
    const fault = parseFault(name);
    const { rules } = suited({ scenario: crowd, rules: parseRules(crowdRules) }, fault);
    const once = simulate(crowd, { seed: 9, rules, durationMs, fault });
    expect(once.header).toEqual(simulate(crowd, { seed: 9, rules }).header);
    const first = [...once.calls].map(encodeCall).join("\n");
    expect(bytes({ seed: 9, rules, fault: parseFault(name) })).toBe(first);
  });

  test("its calls can be read again", () => {
    const fault = parseFault("per-instance-counters");
    const { calls } = simulate(crowd, { seed: 9, rules: parseRules(crowdRules), durationMs, fault });
    const first = [...calls].map(encodeCall).join("\n");
    expect([...calls].map(encodeCall).join("\n")).toBe(first);
  });

  test("rules that it does not go with are said at once", () => {
    const floor = parseRules({ semantics: { reset: "floor" } });
    expect(() => simulate(crowd, { rules: floor, fault: parseFault("reset-truncated") })).toThrow(
      /rules\.semantics\.reset\.rest: got "floor", allowed: "ceil"/,
    );
  });
});
