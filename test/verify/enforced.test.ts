// Judgements that wait until it is known if limits were enforced; and the picture of an accused window.
import { describe, expect, test } from "vitest";
import { AmountsTally } from "../../src/verify/amounts.ts";
import { Docket } from "../../src/verify/docket.ts";
import { EnforcedEvidence } from "../../src/verify/enforced-evidence.ts";
import { Enforcement } from "../../src/verify/enforcement.ts";
import { placesAround } from "../../src/verify/places-picture.ts";
import { rulesQuota } from "../../src/verify/quota-name.ts";
import { type Terms, termsOf } from "../../src/verify/terms.ts";
import { UnenforcedRefusals } from "../../src/verify/unenforced-refusals.ts";
import { countsInput, markOf, time } from "./marks.ts";

type Body = readonly [at: number, enforced: boolean];

describe("windows are evidence by whether limits were enforced in them", () => {
  /** Windows of ten ms in the order of their ends, beside status bodies that are read as they come. */
  function sums(
    claimed: boolean | null,
    steps: readonly (Body | readonly ["window", from: number, value: boolean])[],
  ) {
    const enforcement = new Enforcement(claimed);
    const evidence = new EnforcedEvidence(enforcement);
    for (const step of steps)
      if (step[0] === "window")
        evidence.add(step[2] as boolean, step[1] as number, (step[1] as number) + 10, 3, 1, true);
      else enforcement.observe(step[0] as number, (step[0] as number) + 1, step[1] as boolean);
    const { on, off } = evidence.finish();
    return [on.windows, off.windows, on.readings, off.refusals];
  }
  const window = (from: number, value: boolean) => ["window", from, value] as const;
  test.each([
    ["enforced by the rules, until the end", true, [window(0, true), window(10, true)], [2, 0, 6, 0]],
    ["not enforced by them", false, [window(0, false)], [0, 1, 0, 1]],
    ["confirmed by a later body", null, [[0, true], [30, true], window(10, true), [50, false]], [1, 0, 3, 0]],
    [
      "not where the value changed, nobody knows when",
      null,
      [[0, true], window(10, true), [50, false]],
      [0, 0, 0, 0],
    ],
    [
      "in a row that ends with a change, of which the last is not sure",
      null,
      [[0, true], [15, true], window(0, true), window(20, true), [50, false]],
      [1, 0, 3, 0],
    ],
    [
      "of two kinds, as bodies say",
      null,
      [[0, true], [12, true], window(0, true), [15, false], window(20, false), [40, false]],
      [1, 1, 3, 1],
    ],
    [
      "of two kinds that wait, of which the first is not sure",
      null,
      [[0, true], window(10, true), [15, false], window(20, false), [40, false]],
      [0, 1, 0, 1],
    ],
  ] as const)("%s", (_name, claimed, steps, expected) => {
    expect(sums(claimed, steps)).toEqual(expected);
  });
});

describe("refusals while limits are not enforced", () => {
  const acme = rulesQuota("acme", null, "rest");
  type Refusal = readonly [line: number, sent: number, by: "organization" | "user" | null];
  function judged(refusals: readonly Refusal[], userEnforced: Terms["userEnforced"], ...bodies: Body[]) {
    const unenforced = new UnenforcedRefusals(acme, { ...termsOf(null, "rest"), userEnforced }, time);
    for (const [line, sent, by] of refusals) unenforced.add(line, sent, sent + 1, by);
    const enforcement = new Enforcement(null);
    for (const [at, value] of bodies) enforcement.observe(at, at + 1, value);
    const docket = new Docket({ amounts: new AmountsTally(), violationsMost: 9, accept: null });
    unenforced.finish(enforcement, docket);
    const { violations } = docket.verdict({ records: 0, windows: 0, voidReason: () => null, inferred: null });
    const told = violations.map(({ law, lines, count, explanation }) => [law, lines, count, explanation]);
    return { told, always: unenforced.userEnforcedAlways(enforcement) };
  }
  const off: Body[] = [
    [0, false],
    [100, false],
  ];
  const breach = (line: number, count: number) => [
    [
      "unenforced-never-refuses",
      [line],
      count,
      `line ${line} was refused while the limits of rest were not enforced`,
    ],
  ];
  const refusals: readonly Refusal[] = [
    [5, 10, "organization"],
    [6, 20, "user"],
    [7, 30, null],
    [8, 40, "organization"],
    [9, 200, "organization"],
  ];

  test("by the organization's window are accused, with the first and the number of all", () => {
    expect(judged(refusals, null, ...off, [200, true]).told).toEqual(breach(5, 2));
    expect(judged(refusals, "always", ...off, [200, true]).told).toEqual(breach(5, 2));
  });

  test("by any window are, where users' follow it", () => {
    expect(judged(refusals, "with-organization", ...off, [200, true]).told).toEqual(breach(5, 4));
  });

  test("by a user's show those to be enforced always, where that is not known", () => {
    expect(judged(refusals, null, ...off).always).toEqual({
      lines: [6],
      explanation: "line 6 was refused by a user's window while the limits of rest were not enforced",
    });
    expect(judged(refusals, "with-organization", ...off).always).toBeNull();
    expect(judged(refusals, "always", ...off).always).toBeNull();
    expect(judged(refusals, null, [0, true], [100, true])).toEqual({ told: [], always: null });
  });

  test("are counted up to ten thousand", () => {
    const many = Array.from({ length: 10_001 }, (_, at): Refusal => [at + 2, 10, "organization"]);
    expect(judged(many, null, ...off).told[0]?.[2]).toBe(10_000);
  });
});

describe("the picture of an accused window", () => {
  const three = { least: 3, most: 3 };
  test("has each answer's place, by count, then by what it took, then by line", () => {
    const marks = [
      markOf({ line: 9, count: 5, ...three }),
      markOf({ line: 8, count: 5, ...three }),
      markOf({ line: 7, count: 5, role: "status", least: 0, most: 0 }),
      markOf({ line: 6, count: 2, sent: 3, received: 4 }),
      markOf({ line: 5, count: 7, least: 1, most: 3 }),
      markOf({ line: 4, count: 8, ...three, clamped: true }),
      markOf({ line: 3, count: 9, sent: -1, ...three }),
    ];
    const { limit, answers } = placesAround(countsInput({ marks }), new Set([9]));
    expect(limit).toBe(10);
    expect(answers.map(({ line, from, to }) => [line, from, to])).toEqual([
      [6, 1, 2],
      [8, 2, 5],
      [9, 2, 5],
      [7, 5, 5],
      [5, 7, 7],
      [4, 8, 8],
      [3, 9, 9],
    ]);
    expect(answers[0]).toEqual({ line: 6, role: "admitted", sent: 3, received: 4, from: 1, to: 2 });
  });

  test.each([
    [0, 2],
    [150, 52],
    [320, 202],
    [399, 202],
  ])("has 200 answers of 400, around number %d, from line %d on", (accused, first) => {
    const marks = Array.from({ length: 400 }, (_, at) => markOf({ line: at + 2, count: at + 1 }));
    const { answers } = placesAround(countsInput({ marks }), new Set([accused + 2]));
    expect([answers.length, answers[0]?.line]).toEqual([200, first]);
  });
});
