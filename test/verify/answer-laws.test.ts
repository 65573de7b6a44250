// The laws that one answer shows by itself: each breach in its words, with its suspects in their order, and the evidence.
import { describe, expect, test } from "vitest";
import {
  checkAnswer,
  checkNumbers,
  checkRefusal,
  type JudgedCall,
  type KnownNumbers,
  neededRoom,
  type ShownNumbers,
  type ShownRefusal,
} from "../../src/verify/answer-laws.ts";
import type { Docket } from "../../src/verify/docket.ts";
import { isTested, lawEvidence } from "../../src/verify/evidence.ts";

const ann = { org: "acme", user: "ann", scope: "rest" } as const;
const core = { quota: "core", key: { user: "ann" } };

/** A docket that keeps what it is told. */
function docketOf() {
  const accused: object[] = [];
  const resets: (readonly [boolean, number])[] = [];
  const ruledOut = new Set<string>();
  const evidence = lawEvidence();
  const docket = {
    evidence,
    clues: { ruledOut, reset: (isFull: boolean, seconds: number) => void resets.push([isFull, seconds]) },
    accuse: (accusation: object) => void accused.push(accusation),
  } as unknown as Docket;
  const tested = () => Object.fromEntries(Object.entries(evidence).filter(([, one]) => isTested(one)));
  return { docket, accused, resets, ruledOut, tested };
}
const seen = (readings: number, refusals = 0) => ({ readings, refusals, windows: 0, resets: 0 });

const nothing: ShownNumbers = { limit: null, remaining: null, used: null, reset: null, resetSlack: 0 };
const knownOf = (changes: Partial<KnownNumbers> = {}): KnownNumbers => ({
  told: ann,
  limit: 10,
  limits: { right: false, wrong: false },
  remaining: "clamped",
  resetLeast: 1,
  windowSeconds: 60,
  ...changes,
});
const admitted: JudgedCall = { cost: 1, isRefused: false };

/** Accusations of an answer, as law, breach, suspects and words. */
function checked(shown: Partial<ShownNumbers>, known: Partial<KnownNumbers> = {}, call = admitted) {
  const kept = docketOf();
  checkNumbers(7, { ...nothing, ...shown }, knownOf(known), call, kept.docket);
  return {
    ...kept,
    told: (kept.accused as { law: string; breach: string; suspects: string[]; explanation: string }[]).map(
      ({ law, breach, suspects, explanation }) => [law, breach, suspects.join(" "), explanation],
    ),
  };
}

describe("a limit", () => {
  test("that is the known one is evidence", () => {
    const limits = { right: false, wrong: false };
    const { told, tested, ruledOut } = checked({ limit: 10 }, { limits });
    expect([told, tested(), limits, [...ruledOut]]).toEqual([
      [],
      { "limit-agrees": seen(1) },
      { right: true, wrong: false },
      [],
    ]);
  });

  test("that is another one is accused, with the owner and the line", () => {
    const limits = { right: false, wrong: false };
    const { accused } = checked({ limit: 9 }, { limits });
    expect(accused).toEqual([
      {
        law: "limit-agrees",
        breach: "another",
        suspects: ["remaining-of-laxer-window", "limit-changes-mid-window"],
        explanation: "line 7 shows a limit of 9, the rules say 10",
        ...ann,
        window: null,
        lines: [7],
      },
    ]);
    expect(limits).toEqual({ right: false, wrong: true });
  });

  test("that was right before has changed, and is no other window's", () => {
    const { told, ruledOut } = checked({ limit: 9 }, { limits: { right: true, wrong: false }, told: core });
    expect(told).toEqual([
      [
        "limit-agrees",
        "another",
        "limit-changes-mid-window remaining-of-laxer-window",
        "line 7 shows a limit of 9, the policy says 10",
      ],
    ]);
    expect([...ruledOut]).toEqual(["remaining-of-laxer-window"]);
    expect([...checked({ limit: 10 }, { limits: { right: false, wrong: true } }).ruledOut]).toEqual([
      "remaining-of-laxer-window",
    ]);
  });

  test("says nothing where none is known or shown", () => {
    expect([checked({ limit: 9 }, { limit: null }).tested(), checked({}).tested()]).toEqual([{}, {}]);
  });
});

describe("remaining", () => {
  const race = "one-extra race-read-then-write cost-over-limit-admitted";
  test.each<[Partial<ShownNumbers>, Partial<KnownNumbers>, JudgedCall, string[] | null]>([
    [{ remaining: 10 }, {}, admitted, null],
    [{ remaining: 0 }, {}, admitted, null],
    [
      { remaining: 11 },
      {},
      admitted,
      [
        "above the limit",
        "remaining-of-laxer-window",
        "line 7 shows remaining 11 of 10, which is above the limit",
      ],
    ],
    [{ remaining: 11, limit: 12 }, { limit: null }, admitted, null],
    [{ remaining: -1 }, { remaining: "signed" }, admitted, null],
    [{ remaining: -1 }, {}, admitted, ["below 0", race, "line 7 shows remaining -1 of 10, which is below 0"]],
    [{ remaining: -1 }, {}, { cost: null, isRefused: false }, ["below 0", race, ""]],
    [{ remaining: -1 }, {}, { cost: 10, isRefused: false }, ["below 0", race, ""]],
    [
      { remaining: -1 },
      {},
      { cost: 11, isRefused: false },
      ["below 0", "cost-over-limit-admitted one-extra", ""],
    ],
    [{ remaining: -1 }, {}, { cost: 1, isRefused: true }, ["below 0", "refused-counted one-extra", ""]],
    [
      { remaining: -1 },
      { told: core },
      admitted,
      ["below 0", "one-extra refused-counted race-read-then-write", ""],
    ],
    [{ remaining: 4, used: 6 }, {}, admitted, null],
    [
      { remaining: 4, used: 5 },
      {},
      admitted,
      [
        "against used",
        "stale-replica-read remaining-of-laxer-window",
        "line 7 shows 5 used and 4 remaining of 10",
      ],
    ],
    [{ remaining: 0, used: 10 }, {}, admitted, null],
    [{ remaining: 0, used: 11 }, {}, admitted, null],
    [
      { remaining: 1, used: 10 },
      {},
      admitted,
      ["against used", "stale-replica-read remaining-of-laxer-window", ""],
    ],
    [{ remaining: -2, used: 10 }, { remaining: "signed" }, admitted, null],
  ])("%j under %j of %j", (shown, known, call, wanted) => {
    const { told, tested } = checked(shown, known, call);
    expect(told.length).toBe(wanted === null ? 0 : 1);
    expect(tested()["remaining-agrees"]).toEqual(seen(1));
    if (wanted === null) return;
    const [law, breach, suspects, explanation] = told[0] as string[];
    expect([law, breach, suspects]).toEqual(["remaining-agrees", wanted[0], wanted[1]]);
    if (wanted[2] !== "") expect(explanation).toBe(wanted[2]);
  });

  test("says nothing where no limit is", () => {
    expect(checked({ remaining: 99 }, { limit: null }).tested()).toEqual({});
  });
});

describe("a reset", () => {
  const policy = { told: core, resetLeast: 0 };
  const long = "skewed-nodes reset-in-ms reset-disagrees two-interleaved-windows";
  test.each<[number, Partial<KnownNumbers>, boolean, string[] | null]>([
    [1, {}, false, null],
    [59, {}, false, null],
    [60, {}, true, null],
    [
      0,
      {},
      false,
      ["too small", "reset-truncated reset-zero reset-negative", "line 7 shows reset 0, which is below 1"],
    ],
    [-1, {}, false, ["negative", "reset-negative", "line 7 shows reset -1, which is below 1"]],
    [
      61,
      {},
      false,
      ["too large", long, "line 7 shows reset 61, which is above 60, the longest that a window lasts"],
    ],
    [6000, {}, false, ["too large", long, ""]],
    [6001, {}, false, ["too large", "reset-in-ms reset-epoch", ""]],
    [1_000_000_000, {}, false, ["too large", "reset-in-ms reset-epoch", ""]],
    [1_000_000_001, {}, false, ["too large", "reset-epoch reset-in-ms", ""]],
    [-1, policy, false, ["negative", "reset-negative", "line 7 shows a reset in -1 s, which is over"]],
    [
      61,
      policy,
      false,
      ["too large", long, "line 7 shows a reset in 61 s, which is more than a window of 60 s lasts"],
    ],
    [0, policy, false, null],
  ])("of %d s under %j", (reset, known, isFull, wanted) => {
    const { told, tested, resets } = checked({ reset }, known);
    expect([tested(), resets]).toEqual([{ "reset-agrees": seen(1) }, [[isFull, reset]]]);
    if (wanted === null) return expect(told).toEqual([]);
    const [law, breach, suspects, explanation] = told[0] as string[];
    expect([told.length, law, breach, suspects]).toEqual([1, "reset-agrees", wanted[0], wanted[1]]);
    if (wanted[2] !== "") expect(explanation).toBe(wanted[2]);
  });

  test("may be longer by what rounding adds", () => {
    expect(checked({ reset: 61, resetSlack: 1 }).resets).toEqual([[true, 61]]);
    expect(checked({ reset: 61, resetSlack: 1 }).told).toEqual([]);
    expect(checked({ reset: 62, resetSlack: 1 }).told.length).toBe(1);
  });
});

test("a refusal is evidence of each law that its numbers tested", () => {
  const { docket, tested } = docketOf();
  const check = (isRefused: boolean): void =>
    checkAnswer(isRefused, docket, () =>
      checkNumbers(7, { ...nothing, remaining: 3, reset: 5 }, knownOf(), admitted, docket),
    );
  check(false);
  expect(tested()).toEqual({ "remaining-agrees": seen(1), "reset-agrees": seen(1) });
  check(true);
  expect(tested()).toEqual({ "remaining-agrees": seen(2, 1), "reset-agrees": seen(2, 1) });
});

test("a call needs room for its cost, for one unit at least, or for one alone", () => {
  const room = [neededRoom(5, false), neededRoom(0, false), neededRoom(null, false), neededRoom(5, true)];
  expect(room).toEqual([5, 1, Number.POSITIVE_INFINITY, 1]);
});

describe("a refusal", () => {
  const base: ShownRefusal = {
    whose: ann,
    room: [false, true],
    named: 0,
    isByQuota: true,
    hasNumbers: false,
    suspects: ["one-short"],
    asked: "1 request",
    rooms: () => "all have room",
    refuser: () => "a window with room",
  };
  const needless = "line 7 asked for 1 request and was refused, although all have room";
  const hasRoom = "line 7 asked for 1 request and was refused by a window with room";
  test.each<[Partial<ShownRefusal>, boolean, string[], number[], number[]]>([
    [{}, false, [], [2, 1], [1, 1]],
    [{ named: 1 }, false, [hasRoom], [2, 1], [1, 1]],
    [{ named: -1 }, false, [], [2, 1], [0, 0]],
    [{ room: [null, false] }, false, [], [1, 1], [0, 0]],
    [{ room: [null, null] }, false, [], [0, 0], [0, 0]],
    [{ room: [true, null] }, false, [hasRoom], [1, 1], [1, 1]],
    [{ room: [true, true] }, true, [needless], [2, 1], [0, 0]],
    [{ room: [true, true], hasNumbers: true }, true, [needless], [2, 1], [1, 1]],
    [{ room: [true, true], isByQuota: false }, false, [hasRoom], [2, 1], [1, 1]],
    [{ room: [true, true], whose: null }, true, [], [2, 1], [0, 0]],
  ])("%j", (changes, isNeedless, words, justified, agrees) => {
    const { docket, accused, tested } = docketOf();
    expect(checkRefusal(7, { ...base, ...changes }, docket)).toBe(isNeedless);
    expect(accused.map((each) => (each as { explanation: string }).explanation)).toEqual(words);
    const counts = (law: string) => [tested()[law]?.readings ?? 0, tested()[law]?.refusals ?? 0];
    expect([counts("refusal-justified"), counts("refusal-agrees")]).toEqual([justified, agrees]);
  });

  test("is accused by its law, with its suspects", () => {
    const { docket, accused } = docketOf();
    checkRefusal(7, { ...base, room: [true, true] }, docket);
    checkRefusal(7, { ...base, named: 1 }, docket);
    const told = { ...ann, window: null, lines: [7] };
    expect(accused).toEqual([
      {
        law: "refusal-justified",
        breach: "needless",
        suspects: ["one-short"],
        explanation: needless,
        ...told,
      },
      {
        law: "refusal-agrees",
        breach: "has room",
        suspects: ["remaining-of-laxer-window", "limit-changes-mid-window"],
        explanation: hasRoom,
        ...told,
      },
    ]);
  });
});
