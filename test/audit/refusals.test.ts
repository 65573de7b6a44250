// Refusals of two quotas, in virtual time: which one refuses, what its refusal says, and what it costs.
import { describe, expect, test } from "vitest";
import { foundWith, statusesOf, type TwoQuotas } from "./two-quotas.ts";

const kept = { state: "kept" };
const own = "own";

describe("a refusal without room", () => {
  const found = (given: TwoQuotas) => foundWith("refusal-names-the-quota", given);

  test("names the quota that lacks it", () => {
    expect(found({})).toEqual(kept);
    expect(found({ named: () => null })).toEqual(kept);
    // A limit of the format, which is no quota of the policy.
    expect(found({ named: () => "secondary" })).toEqual(kept);
    const wrong = found({ named: () => "all" });
    expect(wrong).toMatchObject({
      ...{ state: "broken", expected: "a refusal by own", got: "one by all, which shows room" },
    });
    expect(statusesOf(wrong)).toEqual([429]);
  });

  test("may name another one that has nothing left, too", () => {
    const limits = { all: 20, own: 20 };
    for (const name of ["all", own]) expect(found({ limits, named: () => name })).toEqual(kept);
    expect(found({ limits: { all: 21, own: 20 }, named: () => "all" })).toMatchObject({ state: "broken" });
  });
});

describe("a refused call", () => {
  const found = (given: TwoQuotas) => foundWith("refusal-is-free", given);
  const charging = (units: object) => ({ charges: (by: string | null) => (by === null ? both : units) });
  const both = { all: 1, own: 1 };

  test("is charged nowhere", () => {
    expect(found({})).toEqual(kept);
    expect(found(charging({ own: 1 }))).toMatchObject({
      ...{ state: "broken", expected: "own stays at 21 used", got: "23 used after 2 more refusals" },
    });
    expect(found(charging({ all: 1 }))).toMatchObject({
      ...{ state: "broken", expected: "all stays at 21 used", got: "23 used after 2 more refusals" },
    });
  });

  test("is charged where the policy says so", () => {
    const others = charging({ all: 1 });
    for (const charge of [{ refused: "counted" }, { refusedByOther: "charged" }])
      expect(found({ ...others, charge: { when: "admission", ...charge } })).toEqual(kept);
    for (const relation of ["each-alone", "first-refusal-stops"]) {
      expect(found({ ...others, relation })).toEqual(kept);
      expect(found({ ...charging({ own: 1 }), relation })).toMatchObject({ state: "broken" });
    }
  });
});

describe("a quota that another operation used up", () => {
  const operations = { look: { uses: { own: 1 }, samples: [{ path: "/look" }] } };
  const found = (given: TwoQuotas) => foundWith("refusal-by-other-quota", { operations, ...given });

  test("refuses, and nothing else is charged", () => {
    expect(found({})).toEqual(kept);
    const charges = (by: string | null) => ({ all: 1, own: by === null ? 1 : 0 });
    expect(found({ charges })).toMatchObject({
      ...{ state: "broken", law: undefined, got: expect.stringMatching(/^\d+ used after 2 more refusals$/) },
    });
  });

  test("shows nothing if the other quota has no room, or if calls are served", () => {
    // Looks use `all` nowhere, and calls are refused from the first: it never shows room.
    const answers = (by: string | null) =>
      by === null ? {} : { headers: { "x-own": "20/20", "x-all": "50/50", "x-by": own } };
    const why = "its other quotas had no room, too";
    expect(found({ answers })).toEqual({ state: "not exercised", why });
    expect(found({ answers: (by) => (by === null ? {} : { status: 503, headers: {} }) })).toEqual({
      ...{ state: "not exercised", why: "answered 503 where a refusal was due" },
    });
  });
});

describe("an own quota that is empty", () => {
  const found = (given: TwoQuotas) => foundWith("refusal-leaves-others", given);

  test("refuses nobody else", () => {
    expect(found({})).toEqual(kept);
    let empty = "";
    const refuses = ({ lacking, left, user }: Parameters<NonNullable<TwoQuotas["refuses"]>>[0]) => {
      if (left.own <= 0) empty ||= user;
      return empty === "" ? lacking : own;
    };
    const wrong = found({ refuses });
    expect(wrong).toMatchObject({
      ...{ state: "broken", expected: "the other caller is admitted" },
      got: "refused, though all quotas shown have room",
    });
    expect(statusesOf(wrong)).toEqual([429, 429]);
  });

  test("shows nothing if the others have no room of their own", () => {
    const why = "no other caller had room";
    expect(found({ limits: { all: 20, own: 20 } })).toEqual({ state: "not exercised", why });
  });
});

describe("a quota that callers share and empty", () => {
  const found = (given: TwoQuotas) => foundWith("broad-quota-refuses", given);

  test("refuses in its name, also beside an empty one of the caller's own", () => {
    expect(found({})).toEqual(kept);
    // The first caller's own quota is empty, too.
    const wrong = found({ named: (by, { left }) => (left.own <= 0 ? own : by) });
    expect(wrong).toMatchObject({
      state: "broken",
      expected: "a refusal by all, the first of the quotas without room (all, own)",
      got: "one by own",
    });
    const alone = found({ named: (_, { left }) => (left.own <= 0 ? "all" : own) });
    expect(alone).toMatchObject({
      ...{ expected: "a refusal by all, the first of the quotas without room (all)", got: "one by own" },
    });
  });

  test("shows nothing if no refusal names a quota of the policy", () => {
    const why = "no refusal told which quota refused";
    expect(found({ named: () => "secondary" })).toEqual({ state: "not exercised", why });
  });

  test("shows nothing if it is never used up", () => {
    const refuses = ({ left, cost }: { left: { own: number }; cost: number }) =>
      left.own < cost ? own : null;
    const charges = (by: string | null) => (by === null ? { own: 1 } : {});
    const why = "all was not brought to 0";
    expect(found({ refuses, charges })).toEqual({ state: "not exercised", why });
  });
});
