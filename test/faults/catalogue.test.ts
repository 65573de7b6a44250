// The catalogue says what it must of every fault, and names are read as people write them.
import { describe, expect, test } from "vitest";
import { faults } from "../../src/faults/catalogue.ts";
import {
  faultNamed,
  faultNames,
  faultText,
  injectFault,
  parseFault,
  requireSuitable,
  semanticsFor,
} from "../../src/faults/choice.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { suspectNames } from "../../src/verify/suspects.ts";

describe("the catalogue", () => {
  test("has every fault once", () => {
    expect(new Set(faultNames).size).toBe(faultNames.length);
    expect(faultNames.length).toBe(58);
  });

  test("has every fault that the oracle suspects, but for a clock that steps and a window that slides", () => {
    expect(suspectNames.filter((name) => !faultNames.includes(name))).toEqual([
      "clock-step",
      "window-slides",
    ]);
  });

  test.each(faults.map((fault) => [fault.name, fault] as const))("%s is caught by some net", (_, fault) => {
    expect(fault.nets.length).toBeGreaterThan(0);
    expect(fault.wrong).not.toBe("");
    expect(fault.shows).not.toBe("");
    const { rate } = fault;
    if (rate === null) return;
    expect(rate.least).toBeGreaterThan(0);
    expect(rate.default).toBeGreaterThanOrEqual(rate.least);
    expect(rate.default).toBeLessThanOrEqual(rate.most);
  });

  test.each(faults.map((fault) => [fault.name, fault] as const))(
    "%s goes with the default rules, or with those that it names",
    (_, fault) => {
      const rules = parseRules({ semantics: semanticsFor(fault) } as RulesInput);
      expect(() => requireSuitable({ fault, rate: 1 }, rules)).not.toThrow();
    },
  );
});

describe("NAME=RATE", () => {
  test("a name alone has the default rate, or none", () => {
    expect(parseFault("per-instance-counters")).toMatchObject({ rate: 2 });
    expect(faultText(parseFault("per-instance-counters"))).toBe("per-instance-counters=2");
    expect(faultText(parseFault("one-short"))).toBe("one-short");
  });

  test("a rate is read, and written again as it was read", () => {
    expect(faultText(parseFault("skewed-nodes=3.7"))).toBe("skewed-nodes=3.7");
  });

  test.each([
    ["one-extr", "did you mean one-extra?"],
    ["nothing-like-it-at-all", "--fault list shows the catalogue"],
    ["", "--fault list shows the catalogue"],
    ["one-extra=2", "one-extra has no degrees"],
    ["double-count=1.5", "share of the calls"],
    ["double-count=0", "share of the calls"],
    ["double-count=", "share of the calls"],
    ["double-count=-1", "share of the calls"],
    ["double-count=half", "share of the calls"],
    ["per-instance-counters=2.5", "how many processes"],
    ["per-instance-counters=1e1", "how many processes"],
  ])("%j is a coded error", (text, hint) => {
    expect(() => parseFault(text)).toThrow(
      expect.objectContaining({ code: "FAULT_INVALID", hint: expect.stringContaining(hint) }),
    );
  });
});

describe("rules under which a fault is none", () => {
  test.each([
    ["refused-counted", { refused: "counted" }, "rules.semantics.refused.rest"],
    [
      "narrow-drains-broad",
      { refusedByUser: { graphql: "charges-organization" } },
      "rules.semantics.refusedByUser.graphql",
    ],
    ["reset-zero", { reset: "round" }, "rules.semantics.reset.rest"],
    ["cost-over-limit-admitted", { graphqlCharge: "postpaid" }, "rules.semantics.graphqlCharge.graphql"],
  ] as const)("%s under %j", (name, semantics, path) => {
    const rules = parseRules({ semantics });
    expect(() => injectFault({ fault: faultNamed(name), rate: 1 }, rules, () => 0)).toThrow(
      expect.objectContaining({ code: "FAULT_INVALID", problems: [expect.objectContaining({ path })] }),
    );
  });
});
