// Calls that declare more than is left, or more than a limit, in virtual time: who refuses them, and what they cost.
import { describe, expect, test } from "vitest";
import { type Asked, foundWith, statusesOf, type TwoQuotas } from "./two-quotas.ts";

const kept = { state: "kept" };
const dear = (given: TwoQuotas): TwoQuotas => ({ uses: "declared", ...given });
const free = { charges: (by: string | null) => (by === null ? { all: 1, own: 1 } : {}) };

describe("a call that costs more than the whole limit", () => {
  const found = (given: TwoQuotas) => foundWith("cost-above-the-limit", dear(given));

  test("is refused, and charged nowhere", () => {
    expect(found({})).toEqual(kept);
    const admits = ({ lacking, cost }: Asked) => (cost === 21 ? null : lacking);
    const wrong = found({ refuses: admits, ...free });
    expect(wrong).toMatchObject({ state: "broken", expected: "21 units refused: own's limit is 20" });
    expect(statusesOf(wrong)).toEqual([200]);
    const charges = (by: string | null, { cost }: Asked) => ({ all: cost, own: by === null ? cost : 0 });
    expect(found({ charges })).toMatchObject({
      ...{ state: "broken", law: "all-or-nothing", expected: "the refused call is charged nowhere" },
      got: "all 21",
    });
    expect(found({ charges, charge: { when: "admission", refused: "counted" } })).toEqual(kept);
  });

  test("may be answered by an error", () => {
    const answered = (status: number) =>
      found({ answers: (_, { cost }) => (cost > 20 ? { status } : {}), ...free });
    for (const status of [400, 413])
      expect(answered(status)).toEqual({
        ...{ state: "not exercised", why: `the call was answered ${status} for another reason` },
      });
    expect(answered(399)).toMatchObject({ state: "broken", got: "admitted" });
    for (const status of [503, 0])
      expect(answered(status)).toEqual({ state: "not exercised", why: "the call had no answer" });
  });
});

describe("a dear refusal", () => {
  const found = (given: TwoQuotas) => foundWith("dear-refusal-names-the-quota", dear(given));
  const above = (limit: number, name: string | null): TwoQuotas => ({
    named: (by, { cost }) => (cost === limit + 1 ? name : by),
  });

  test("is of the first quota where it is above every limit", () => {
    expect(found({})).toEqual(kept);
    expect(found(above(50, "own"))).toMatchObject({
      ...{ state: "broken", expected: "a refusal by all, the first of those that lack room" },
      got: "one by own",
    });
    for (const name of [null, "secondary"]) expect(found(above(50, name))).toEqual(kept);
  });

  test("is of the one that lacks room where one does", () => {
    const wrong = found(above(20, "all"));
    expect(wrong).toMatchObject({
      ...{
        state: "broken",
        expected: "a refusal by own, whose limit is 20",
        got: "one by all, which has room",
      },
    });
    expect(statusesOf(wrong)).toEqual([429]);
    for (const name of [null, "secondary"]) expect(found(above(20, name))).toEqual(kept);
    // The other one has 20 left, or 21.
    const beside = (left: number) =>
      found({ ...above(20, "all"), answers: (by) => (by === null ? {} : answer(left)) });
    const answer = (left: number) => ({ headers: { "x-by": "all", "x-all": `${50 - left}/50` } });
    expect([20, 21].map((left) => beside(left).state)).toEqual(["kept", "broken"]);
  });

  test("is due", () => {
    const admits = (limit: number) => ({
      refuses: ({ cost, lacking }: Asked) => (cost > limit ? null : lacking),
    });
    expect(found(admits(50))).toMatchObject({
      ...{ state: "broken", law: "refusal-justified", expected: "51 units refused: no limit is as large" },
    });
    const answered = (status: number) => found({ answers: () => ({ status }) });
    const why = "such a call is answered for another reason";
    expect(answered(400)).toEqual({ state: "not exercised", why });
    expect(answered(399)).toMatchObject({ state: "broken", law: "refusal-justified" });
  });
});

describe("a call that costs what is left", () => {
  const found = (given: TwoQuotas) => foundWith("cost-that-fits-exactly", dear(given));

  test("is admitted; one unit more is refused", () => {
    expect(found({})).toEqual(kept);
    const exact = found({ refuses: ({ cost, left, lacking }) => (cost === left.own ? "own" : lacking) });
    expect(exact).toMatchObject({ state: "broken", got: "refused" });
    expect(exact).toHaveProperty(
      "expected",
      expect.stringMatching(/^\d+ units admitted, as many as are left$/),
    );
    expect(statusesOf(exact)).toEqual([200, 429]);
    const more = found({ refuses: ({ cost, left, lacking }) => (cost === left.own + 1 ? null : lacking) });
    expect(more).toMatchObject({ state: "broken", got: "admitted" });
    expect(more).toHaveProperty("expected", expect.stringMatching(/^\d+ units refused, \d+ being left$/));
    expect(statusesOf(more)).toEqual([200, 200]);
  });

  test("may be refused by another quota that has less left", () => {
    expect(found({ limits: { all: 18, own: 20 } })).toEqual(kept);
  });

  test("may be answered by an error", () => {
    const answered = (status: number) =>
      found({ answers: (_, { cost }) => (cost > 1 ? { status } : {}), ...free });
    expect(answered(400)).toEqual(kept);
    expect(answered(399)).toMatchObject({ state: "broken", got: "admitted" });
  });
});
