// A verdict beside its violations: on how much it rests, what it lacks, and by how much a run was off.

import { describe, expect, test } from "vitest";
import { unitsOf } from "../../src/report/source.ts";
import {
  amountWords,
  evidenceGaps,
  evidenceWords,
  inferredWords,
  leftOut,
  methodWords,
  notJudgedWords,
  windowOffWords,
} from "../../src/report/verdict-words.ts";
import { noCounts } from "../../src/verify/verdict.ts";

test.each([
  [undefined, ""],
  [{ places: 0, bounds: 0, readings: 9, pinned: 9 }, ""],
  [
    { places: 1, bounds: 0, readings: 9, pinned: 8 },
    "1 window judged by places; 8 of 9 readings could have had one value alone.",
  ],
  [
    { places: 0, bounds: 3, readings: 1, pinned: 0 },
    "3 windows by bounds; 0 of 1 reading could have had one value alone.",
  ],
  [
    { places: 12, bounds: 3, readings: 1_020, pinned: 812 },
    "12 windows judged by places, 3 windows by bounds; 812 of 1,020 readings could have had one value alone.",
  ],
])("methods %j", (methods, words) => {
  expect(methodWords({ methods } as never)).toBe(words);
});

const rests = (readings: number, refusals: number, windows: number, resets: number) => ({
  readings,
  refusals,
  windows,
  resets,
});

test("evidence is what there is of it", () => {
  expect(evidenceWords(rests(1_204, 32, 12, 9))).toBe("1,204 readings, 32 refusals, 12 windows, 9 resets");
  expect(evidenceWords(rests(1, 0, 1, 0))).toBe("1 reading, 1 window");
});

describe("an `ok` lacks", () => {
  const few = (words: string) => `only ${words} judged, so call more`;
  const calm = "no refusal was seen, so load more";
  const short = "no window ended before another was seen, so run longer";
  test.each([
    ["nothing", { a: rests(20, 1, 0, 0), b: rests(3, 0, 0, 1) }, undefined, []],
    ["readings", { a: rests(19, 1, 1, 1) }, undefined, [few("19 readings were")]],
    ["all but one reading", { a: rests(1, 0, 1, 0) }, undefined, [few("1 reading was"), calm, short]],
    ["refusals by the amounts", { a: rests(20, 1, 1, 1) }, { refused: 0 }, [calm]],
    ["nothing by the amounts", { a: rests(20, 0, 1, 1) }, { refused: 1 }, []],
  ])("%s", (_, evidence, amounts, gaps) => {
    expect(evidenceGaps({ verdict: "ok", evidence, amounts } as never)).toEqual(gaps);
    expect(evidenceGaps({ verdict: "violated", evidence, amounts } as never)).toEqual([]);
    expect(evidenceGaps({ verdict: "ok", amounts } as never)).toEqual([]);
  });

  test("counts that are judged at all, which no other load would give it", () => {
    const laws = { conserved: { skipped: noCounts } };
    expect(evidenceGaps({ verdict: "ok", evidence: { a: rests(5, 0, 0, 0) }, laws } as never)).toEqual([
      noCounts,
    ]);
  });

  test("answers that show a quota of the policy, which no longer run would give it", () => {
    const skipped = { skipped: "no answer showed it" };
    const laws = { "limit-agrees": skipped, "remaining-agrees": skipped };
    const gapsOf = (evidence: object, of: object = laws) =>
      evidenceGaps({ verdict: "ok", evidence, laws: of } as never);
    expect(gapsOf({ a: rests(120, 0, 0, 0) })).toEqual([
      "no answer showed a quota by a name of the policy, in a form of its wire",
    ]);
    expect(gapsOf({ a: rests(0, 0, 0, 0) })).toContain(few("0 readings were"));
    expect(gapsOf({ a: rests(120, 60, 0, 0) }, { ...laws, "limit-agrees": "held" })).toEqual([
      "no answer told which window its counts are of",
    ]);
  });

  test("levels of buckets, which no longer run would give windows", () => {
    const gapsOf = (readings: number, refusals: number) =>
      evidenceGaps({
        verdict: "ok",
        evidence: { conserved: rests(readings, refusals, 0, 0) },
        laws: {},
      } as never);
    expect(gapsOf(120, 3)).toEqual([]);
    expect(gapsOf(120, 0)).toEqual(["no refusal was seen, so load more"]);
    expect(gapsOf(2, 3)).toEqual([few("2 readings were")]);
  });
});

describe("what was off", () => {
  const none = { overAdmitted: 0, overAdmission: 0, wronglyRefused: 0, stalenessMs: null };
  test.each<[object, object | string, string]>([
    [none, "held", ""],
    [{ ...none, wronglyRefused: 1 }, "held", "At least 1 call was refused although there was room."],
    [{ ...none, wronglyRefused: 2 }, "held", "At least 2 calls were refused although there was room."],
    [{ ...none, stalenessMs: 0 }, "held", "At least one reading was 0 ms old when it was shown."],
    [
      { ...none, overAdmitted: 5, overAdmission: 0.25, stalenessMs: 1_500 },
      "violated",
      "At least 5 (25% of what was admitted) went in above a limit; one reading was 1.5 s old when it was shown.",
    ],
    [
      { ...none, overAdmitted: 1, overAdmission: 0.5 },
      "held",
      "At least 1 (50% of what was admitted) went in above a limit. The law bounded held all the same: no answer showed a count above its limit, so the counts shown were too low.",
    ],
    [
      { ...none, overAdmitted: 1, overAdmission: 0.5 },
      { skipped: "no limit was told" },
      "At least 1 (50% of what was admitted) went in above a limit. The law bounded could not judge that: no limit was told.",
    ],
  ])("%j, bounded %j", (amounts, bounded, words) => {
    expect(amountWords({ amounts, laws: { bounded } } as never)).toBe(words);
  });

  test.each([
    [{ scope: "rest", overAdmitted: 1 }, "1 request over its limit of 1,200"],
    [{ scope: "graphql", overAdmitted: 2 }, "2 points over its limit of 1,200"],
    [{ quota: "paid", overAdmitted: 1 }, "1 token over its limit of 1,200"],
    [{ quota: "q", overAdmitted: 1 }, "1 unit over its limit of 1,200"],
    [{ scope: "rest", wronglyRefused: 1 }, "1 call wrongly refused"],
    [
      { quota: "q", overAdmitted: 3, wronglyRefused: 2, stalenessMs: 40 },
      "3 units over its limit of 1,200, 2 calls wrongly refused, a reading 40 ms old",
    ],
    [{ scope: "rest" }, ""],
  ])("in a window: %j", (members, words) => {
    expect(
      windowOffWords(
        { ...none, limit: 1_200, ...members } as never,
        unitsOf(members as never, { quotas: { paid: { unit: "tokens" } } } as never),
      ),
    ).toBe(words);
  });
});

test("switches that a trace told, quotas that were not judged, violations that were not kept", () => {
  const told = { scope: "rest", switch: "reset", explanation: "as in line 3" };
  expect(inferredWords({ ...told, value: "floor" } as never)).toBe("rest.reset is floor: as in line 3");
  expect(inferredWords({ ...told, value: null, candidates: ["ceil", "round"] } as never)).toBe(
    "rest.reset is not told, ceil or round: as in line 3",
  );
  const why = "a token bucket's level is not judged";
  const notJudged = [
    { quota: "a", why },
    { quota: "b", why: "no answer shows it" },
    { quota: "c", why },
  ];
  expect(notJudgedWords({ notJudged } as never)).toEqual([`a, c: ${why}.`, "b: no answer shows it."]);
  expect([
    leftOut({ violations: [1, 2], violationsFound: 9 } as never),
    leftOut({ violations: [1] } as never),
  ]).toEqual([7, 0]);
});
