// More of what a judge may not assume (licences.test.ts): what was charged, where it shows, and by which rules. Each
// history is a correct one that is accused where the oracle is made to allow less by just that (the mutation stands
// above each test), beside the nearest one that is not correct.
import { describe, expect, test } from "vitest";
import type { TraceCall } from "../../src/trace/record.ts";
import { broken, graphql, refused, rest, start, status } from "./traces.ts";

const fine: readonly string[] = [];
const silentRules = { rules: null } as const;

/** A status call whose REST body says more than its headers, or something else. */
function bodied(at: number, count: number, part: object, changes: Partial<TraceCall> = {}): TraceCall {
  const call = status({ at, count }, count, changes);
  const { rest: own, graphql: other } = call.body as Record<string, object>;
  return { ...call, body: { rest: { ...own, ...part }, graphql: other } };
}

describe("calls of which it is not known whether, or what, they charged", () => {
  // judge.ts: lost GraphQL calls explain as many points as there are calls.
  test("lost GraphQL calls have any cost", async () => {
    const prepaid = { semantics: { graphqlCharge: "prepaid" } } as const;
    const gap = [graphql({ at: 1000, count: 10 }, 10, 10), graphql({ at: 2000, count: 900 }, 10, 10)];
    expect(await broken(gap, { rules: prepaid, lost: 1 })).toEqual(fine);
    expect(await broken(gap, { rules: prepaid })).toContain("conserved organization 2,3");
  });

  // judge.ts: a user who is first seen after a call without a user has a count that is known.
  test("a call without a user may be one of a user who comes later", async () => {
    const first = rest({ at: 1000, count: 1 }, { user: null });
    const second = rest({ at: 2000, count: 2 });
    expect(await broken([first, second])).toEqual(fine);
    expect(await broken([{ ...first, user: "u2" }, second])).toContain("conserved u1 3");
  });

  // mark.ts: whatever is no refusal is charged its cost.
  test("a failure between client and limiter may not have been counted, 404 and 405 are", async () => {
    const three = (status: number, counts: number): TraceCall[] => [
      rest({ at: 1000, count: 1 }),
      rest({ at: 2000, count: counts }, { status }),
      rest({ at: 3000, count: counts + 1 }),
    ];
    for (const status of [500, 503, 401, 403])
      for (const counts of [1, 2]) expect(await broken(three(status, counts)), `${status}`).toEqual(fine);
    for (const status of [404, 405]) {
      expect(await broken(three(status, 2))).toEqual(fine);
      expect(await broken(three(status, 1))).toContain("conserved organization 2,3");
    }
  });

  // judge.ts: an answer that shows no window of the quota explains nothing there.
  test("an answer that shows another quota may have been charged to this one", async () => {
    const search = rest({ at: 2000, count: 7 }, { scopeName: "search", userScopeName: "search_user" });
    const later = (count: number): TraceCall => rest({ at: 3000, count });
    const first = rest({ at: 1000, count: 1 });
    expect(await broken([first, search, later(3)])).toEqual(fine);
    expect(await broken([first, search, later(2)])).toEqual(fine);
    expect(await broken([first, search, later(4)])).toContain("conserved organization 2,4");
  });

  // bounds.ts: `accountable` without `complete`.
  test("in a trace that is not complete, others hold and leave points under reserved too", async () => {
    const more = [graphql({ at: 1000, count: 10 }, 10, 10), graphql({ at: 2000, count: 500 }, 10, 10)];
    expect(await broken(more, { complete: false })).toEqual(fine);
    expect(await broken(more)).toContain("conserved organization 3");
    const fewer = [graphql({ at: 1000, count: 500 }, 10, 10), graphql({ at: 2000, count: 15 }, 10, 10)];
    expect(await broken(fewer, { complete: false })).toContain("conserved organization 2,3");
  });
});

describe("a window that was open when the trace began", () => {
  // places.ts: a count above the limit is accused wherever it stands.
  test("may have been past its limit, if limits were off before", async () => {
    const since = { startedAt: start + 29_000 };
    const over = [bodied(30_000, 210, { current: 210 }, { remaining: 0, userRemaining: 50 })];
    expect(await broken(over, since)).toEqual(fine);
    expect(await broken(over)).toContain("bounded organization 2");
  });

  // bounds.ts: a count above the limit is accused wherever it stands.
  test("may have been past its limit, if limits were off before: under reserved", async () => {
    const since = { startedAt: start + 29_000 };
    const call = status({ at: 30_000, count: 0 });
    const { rest: own, graphql: other } = call.body as Record<string, object>;
    const over = [{ ...call, body: { rest: own, graphql: { ...other, current: 20_100 } } }];
    expect(await broken(over, since)).toEqual(fine);
    expect(await broken(over)).toContain("bounded organization 2");
  });

  // window-columns.ts: an answer whose call may have charged nothing, was sent before the trace began, or shows a 0 that
  // hides its count, is taken to show its own charge alone.
  test("held nothing where an answer shows its own call's charge alone, and may have held something elsewhere", async () => {
    const since = { startedAt: start + 29_000 };
    const past = bodied(40_000, 210, { current: 210 }, { remaining: 0, userRemaining: 49 });
    const only = rest({ at: 30_000, count: 1 });
    expect(await broken([only, past], since)).toContain("bounded organization 3");
    for (const first of [
      rest({ at: 30_000, count: 2 }),
      rest({ at: 30_000, count: 1 }, { status: 503 }),
      rest({ at: 29_000, took: 1010, count: 1 }),
      status({ at: 30_000, count: 1 }),
      refused({ at: 30_000, count: 1 }, "rest_user"),
    ])
      expect(
        (await broken([first, past], since)).filter((law) => law.startsWith("bounded")),
        JSON.stringify(first),
      ).toEqual(fine);
    // A remaining of 0 hides what went beyond, before the trace began, too.
    const one = { limit: 1, remaining: 0 } as const;
    const hidden = [
      rest({ at: 30_000, count: 1 }, one),
      bodied(40_000, 2, { limit: 1, current: 2 }, { ...one, userRemaining: 49 }),
    ];
    const rules = { organization: { rest: { limit: 1 } } } as const;
    expect((await broken(hidden, { ...since, rules })).filter((law) => law.startsWith("bounded"))).toEqual(
      fine,
    );
    // Clocks that err: startedBy is 601 ms after the start, and nodes may be 600 ms apart.
    const erring = (startedAt: number): Promise<readonly string[]> =>
      broken([only, past], {
        startedAt,
        clock: { kind: "wall", resolutionMs: 1, errorMs: 300 },
        complete: false,
      });
    expect(await erring(start + 28_700)).toEqual(["bounded organization 3"]);
    expect(await erring(start + 28_900)).toEqual(fine);
  });

  // window-columns.ts: the same, where points are given back: the count is held against what was asked for.
  test("held nothing where an answer shows what its query left alone: under reserved", async () => {
    const since = { startedAt: start + 29_000, complete: false };
    const only = (count: number): TraceCall => graphql({ at: 30_000, took: 300, count }, 30, 10);
    const call = status({ at: 40_000, count: 0 });
    const { rest: own, graphql: other } = call.body as Record<string, object>;
    const over = { ...call, body: { rest: own, graphql: { ...other, current: 20_100 } } };
    expect(await broken([only(10), over], since)).toEqual(["bounded organization 3"]);
    for (const count of [11, 30]) expect(await broken([only(count), over], since)).toEqual(fine);
  });

  // quota.ts: what is missing from the trace is not looked for in a window that began before it.
  test("that held nothing has all its charges in a complete trace", async () => {
    const since = { startedAt: start + 29_000 };
    const two = [rest({ at: 30_000, count: 1 }), rest({ at: 31_000, took: 300, count: 3 })];
    const wide = rest({ at: 30_500, took: 1000, count: 2 });
    expect(await broken([...two, wide], since)).toEqual(fine);
    expect(await broken(two, since)).toContain("conserved organization 2,3");
    expect(await broken(two, { ...since, complete: false })).toEqual(fine);
    expect(await broken(two, { ...since, lost: 1 })).toEqual(fine);
  });
});

describe("refusals", () => {
  const full = Array.from({ length: 50 }, (_, index) => rest({ at: 1000 + index * 20, count: index + 1 }));

  // mark.ts: a refusal by the user's window never charges the organization's.
  test("by a user's window drain the organization's where the switch says so", async () => {
    const drained = { semantics: { refusedByUser: "charges-organization" } } as const;
    const two = [51, 52].map((count) =>
      refused({ at: count * 100, count, userCount: 50 }, "rest_user", {
        refusal: { scope: "rest_user", limit: 50, current: 50, reset: 55 },
      }),
    );
    expect(await broken([...full, ...two], { rules: drained })).toEqual(fine);
    expect(await broken([...full, ...two])).toContain("conserved organization 51,52");
    // hypotheses, terms.ts: it never does where no rules are given.
    expect(await broken([...full, ...two], silentRules)).toEqual(fine);
  });

  // mark.ts: a refusal that names no window is taken to have charged none.
  test("that name no window may have been charged to either", async () => {
    const counted = { semantics: { refused: "counted" } } as const;
    const silent = (count: number, userCount: number): TraceCall => {
      const { refusal: _, ...call } = refused({ at: 5000, count, userCount }, "rest_user");
      return call;
    };
    const next = rest({ at: 6000, count: 51, userCount: 1 }, { user: "u2" });
    expect(await broken([...full, silent(50, 51), next], { rules: counted })).toEqual(fine);
    const { user: _, ...other } = next;
    const after = rest({ at: 6000, count: 52, userCount: 1 }, { ...other, user: "u2", remaining: 148 });
    expect(await broken([...full, silent(51, 50), after], { rules: counted })).toEqual(fine);
    expect(await broken([...full, silent(51, 50), after])).toContain("conserved organization 51,52");
  });

  // refusal-laws.ts: a body's seconds must be the headers' own.
  test("may have rounded their body's seconds at the next instant", async () => {
    const by = (reset: number): TraceCall =>
      refused({ at: 5000, count: 50 }, "rest_user", {
        refusal: { scope: "rest_user", limit: 50, current: 50, reset },
      });
    expect(await broken([...full, by(54)])).toEqual(fine);
    expect(await broken([...full, by(53)])).toEqual(["refusal-agrees u1 52"]);
  });

  // refusal-laws.ts: with nothing left a call of no points has room.
  test("of a call that asks for nothing are right where nothing is left", async () => {
    const postpaid = { semantics: { graphqlCharge: "postpaid" } } as const;
    const message =
      "You have exceeded your per-user limit of 5000 complexity points. Please try again in 298 seconds.";
    const asked = (left: number): TraceCall => {
      const { actual: _, ...call } = graphql({ at: 2000, count: 5000 - left }, 0, 0);
      return { ...call, status: 429, refusal: { errors: [{ message }] } };
    };
    const spent = (left: number): TraceCall => graphql({ at: 1000, count: 5000 - left }, 9000, 5000 - left);
    expect(await broken([spent(0), asked(0)], { rules: postpaid })).toEqual(fine);
    expect(await broken([spent(1), asked(1)], { rules: postpaid })).toEqual(["refusal-justified u1 3"]);
  });
});

describe("hidden places", () => {
  // window-counts.ts: under postpaid a remaining of 0 is a count of the limit.
  test("behind a remaining of 0 that calls overshot", async () => {
    const rules = { semantics: { graphqlCharge: "postpaid" } } as const;
    const two = [
      graphql({ at: 1000, took: 500, count: 4990 }, 6000, 4990),
      graphql({ at: 2000, took: 900, count: 5090, userCount: 5000 }, 100, 100),
      graphql({ at: 2100, took: 900, count: 5190, userCount: 5000 }, 100, 100),
    ];
    expect(await broken(two, { rules })).toEqual(fine);
    const prepaid = { semantics: { graphqlCharge: "prepaid" } } as const;
    expect(await broken(two.slice(1), { rules: prepaid, startedAt: start + 500 })).toContain(
      "conserved u1 2,3",
    );
  });

  const full = Array.from({ length: 50 }, (_, index) => rest({ at: 1000 + index * 20, count: index + 1 }));
  const over = [rest({ at: 5000, count: 51 }), rest({ at: 6000, count: 52 })];

  // deferrals.ts: limits are taken to be enforced where that is not known.
  test("where limits may have been off for a while", async () => {
    const off = bodied(7000, 52, { enforced: false });
    expect(await broken([...full, bodied(4000, 50, {}), ...over, off])).toEqual(fine);
    expect(await broken([...full, bodied(4000, 50, {}), ...over, bodied(7000, 52, {})])).toContain(
      "conserved u1 51,53",
    );
  });

  // enforcement.ts: bodies that overlap in time are taken in the order of their lines.
  test("where bodies that overlap do not show whether limits were on or off at last", async () => {
    const wide = (call: TraceCall): TraceCall => ({ ...call, sent: start - 40_000 });
    const body = (at: number, enforced: boolean): TraceCall => {
      const call = status({ at, count: 0, ends: 0 });
      const { rest: own } = call.body as Record<string, object>;
      return { ...call, body: { rest: { ...own, enforced }, graphql: { ...own, limit: 20_000 } } };
    };
    // Both were under way together. If the one that was answered last was read first, limits are off from then on.
    const both = [wide(body(-30_000, false)), wide(body(-29_990, true))];
    expect(await broken([...both, ...full, ...over])).toEqual(fine);
    expect(await broken([...both.slice(1), ...full, ...over])).toContain("conserved u1 52,53");
  });

  // span-totals.ts: spans in which enforcement is not known are held to twice the limit.
  test("more than twice the limit may come through where limits were off for a while", async () => {
    const rules = { organization: { rest: { limit: 3 } } };
    const of = (at: number, count: number): TraceCall =>
      rest({ at, count, userCount: count }, { limit: 3, remaining: Math.max(0, 3 - count) });
    const many = Array.from({ length: 9 }, (_, index) => of(2000 + index * 100, index + 1));
    const body = (at: number, count: number, enforced: boolean): TraceCall =>
      bodied(at, count, { limit: 3, enforced }, { limit: 3, remaining: Math.max(0, 3 - count) });
    const switched = [body(1000, 0, true), ...many, body(9000, 9, false)];
    expect(await broken(switched, { rules })).toEqual(fine);
    const laws = await broken([body(1000, 0, true), ...many, body(9000, 9, true)], { rules });
    expect(laws).toContain("twice-at-most organization 3,11");
  });
});

describe("without rules", () => {
  // terms.ts: charging is never postpaid.
  test("calls may overshoot, as under postpaid", async () => {
    // A window that is known to have opened at 0, limits that are enforced, and refusals that are not counted.
    const earlier = [
      graphql({ at: -200_000, count: 5000, ends: 0 }, 6000, 5000),
      ...[-190_000, -180_000].map((at): TraceCall => {
        const { actual: _, ...call } = graphql({ at, count: 5000, ends: 0 }, 10, 10);
        const seconds = -at / 1000;
        const message = `You have exceeded your per-user limit of 5000 complexity points. Please try again in ${seconds} seconds.`;
        return { ...call, status: 429, refusal: { errors: [{ message }] } };
      }),
    ];
    const opening = status({ at: 100, count: 0 });
    const signed = graphql({ at: 2000, count: 5290 }, 500, 300, { userRemaining: -290 });
    const calls = [...earlier, opening, graphql({ at: 1000, count: 4990 }, 6000, 4990), signed];
    expect(await broken(calls, silentRules)).toEqual(fine);
    const rules = { semantics: { graphqlCharge: "reserved", remaining: "signed" } } as const;
    expect(await broken(calls, { rules })).toContain("bounded u1 7");
  });

  // terms.ts: remaining is always clamped.
  test("remaining may be signed", async () => {
    const off = [bodied(500, 0, { enforced: false })];
    const full = Array.from({ length: 52 }, (_, index) =>
      rest({ at: 1000 + index * 20, count: index + 1 }, { userRemaining: 49 - index }),
    );
    expect(await broken([...off, ...full], silentRules)).toEqual(fine);
    expect(await broken(full)).toContain("remaining-agrees u1 52");
  });

  // terms.ts: users' windows are never enforced by themselves.
  test("users' windows may be enforced where their organization's is not", async () => {
    const off = bodied(500, 0, { enforced: false });
    const full = Array.from({ length: 50 }, (_, index) => rest({ at: 1000 + index * 20, count: index + 1 }));
    const refusal = refused({ at: 5000, count: 50 }, "rest_user");
    const calls = [off, ...full, refusal, rest({ at: 6000, count: 51, userCount: 1 }, { user: "u2" })];
    expect(await broken(calls, silentRules)).toEqual(fine);
    const rules = { organization: { rest: { enforced: false } } };
    expect(await broken(calls, { rules })).toContain("unenforced-never-refuses organization 53");
  });

  // quota.ts: what shows a count of 0 is a window of the epoch, unless rules say that it is none.
  test("windows may open with their first call", async () => {
    const idle = [1000, 20_500, 40_500].map((at) =>
      status({ at, count: 0, ends: Math.floor(at / 1000) * 1000 + 60_000 }),
    );
    const opened = rest({ at: 50_500, count: 1, ends: 110_000 });
    expect(await broken([...idle, opened], silentRules)).toEqual(fine);
    expect(await broken([...idle, opened])).not.toEqual(fine);
  });

  // enforcement.ts: without rules and bodies limits are taken to be enforced.
  test("limits may be off all the while, if no body shows them to be on", async () => {
    const full = Array.from({ length: 6 }, (_, index) =>
      rest(
        { at: 1000 + index * 20, count: Math.min(5, index + 1), userCount: index + 1 },
        { limit: 5, remaining: Math.max(0, 4 - index) },
      ),
    );
    // A user's window refuses by itself, and is not charged for it: refusals are not counted.
    const small = (at: number, count: number, changes: Partial<TraceCall>): TraceCall =>
      rest({ at, count }, { user: "u2", limit: 5, remaining: 0, userLimit: 1, userRemaining: 0, ...changes });
    const no = { status: 429, refusal: { scope: "rest_user", limit: 1, current: 1, reset: 57 } };
    const calls = [
      ...full,
      small(2000, 5, {}),
      small(3000, 5, no),
      small(4000, 5, { ...no, refusal: { ...no.refusal, reset: 56 } }),
    ];
    expect(await broken(calls, silentRules)).toEqual(fine);
    const rules = { organization: { rest: { limit: 5 } }, users: { "acme/u2": { rest: { limit: 1 } } } };
    expect(await broken(calls, { rules })).toContain("conserved organization 6,7");
  });
});
