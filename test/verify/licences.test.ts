// Facts that a judge may not assume (FORMAT.md): each licence with a correct history that a judge without it would accuse,
// beside the nearest history that is no longer correct, which is accused.
import { describe, expect, test } from "vitest";
import type { TraceCall } from "../../src/trace/record.ts";
import { broken, graphql, judged, refused, rest, start, status, unanswered } from "./traces.ts";

const fine: readonly string[] = [];
const prepaid = { semantics: { graphqlCharge: "prepaid" } } as const;
const postpaid = { semantics: { graphqlCharge: "postpaid" } } as const;
const firstRequest = { semantics: { anchor: "first-request" } } as const;
const unenforced = { organization: { rest: { enforced: false } } } as const;

describe("order: A was before B only if A.received + resolutionMs + 2 errorMs <= B.sent", () => {
  // The second one to be sent shows the lower count: legal if they were under way together.
  const two = (gapMs: number): TraceCall[] => [
    rest({ at: 1000, took: 20, count: 2 }),
    rest({ at: 1020 + gapMs, took: 20, count: 1 }),
  ];

  test("equal milliseconds order nothing", async () => {
    expect(await broken(two(0))).toEqual(fine);
    expect(await broken(two(1))).toContain("monotone organization 2,3");
  });

  test("not even on an exact clock", async () => {
    const clock = { kind: "virtual", resolutionMs: 0, errorMs: 0 } as const;
    expect(await broken(two(0), { clock })).toEqual(fine);
    expect(await broken(two(1), { clock })).toContain("monotone organization 2,3");
  });

  test("a coarse clock orders less", async () => {
    const clock = { kind: "wall", resolutionMs: 10, errorMs: 0 } as const;
    expect(await broken(two(9), { clock })).toEqual(fine);
    expect(await broken(two(10), { clock })).toContain("monotone organization 2,3");
  });

  test("so do generators whose clocks are apart", async () => {
    const clock = { kind: "wall", resolutionMs: 1, errorMs: 50 } as const;
    expect(await broken(two(100), { clock })).toEqual(fine);
    expect(await broken(two(101), { clock })).toContain("monotone organization 2,3");
  });

  // clock.ts: `<=` on clocks without a grain.
  test("equal instants order nothing where clocks have no grain", async () => {
    const clock = { kind: "virtual", resolutionMs: 0, errorMs: 3 } as const;
    expect(await broken(two(6), { clock })).toEqual(fine);
    expect(await broken(two(7), { clock })).toContain("monotone organization 2,3");
  });
});

describe("the target's clock", () => {
  const iso = (at: number): string => `${new Date(start + at).toISOString().slice(0, -5)}Z`;
  const dated = (at: number, resetAt: number, reset: number): TraceCall => {
    const part = { limit: 200, current: 0, reset, reset_at: iso(resetAt), enforced: true };
    return status({ at, count: 0, ends: at + reset * 1000 - 500 }, 0, {
      body: { rest: part, graphql: { ...part, limit: 20_000 } },
      reset,
    });
  };
  const sameLengths = { organization: { graphql: { windowSeconds: 60 } } } as const;

  test("may be off by any constant", async () => {
    const ahead = [dated(1000, 3_660_000, 30), dated(11_000, 3_660_000, 20)];
    expect(await broken(ahead, { rules: sameLengths })).toEqual(fine);
  });

  test("may drift by 100 ppm: ends hours apart are not compared", async () => {
    const hour = 3_600_000;
    // A clock that runs 100 ppm fast: after ten hours its windows end 3.6 s early.
    const calls = [
      rest({ at: 1000, count: 1 }),
      rest({ at: 10 * hour + 1000, count: 1, ends: 10 * hour + 56_400 }),
    ];
    expect(await broken(calls)).toEqual(fine);
    // Nor is what status bodies say of it: 30 s in two hours is no step that can be told from drift.
    const bodies = [dated(1000, 60_000, 30), dated(2 * hour + 1000, 2 * hour + 60_000, 60)];
    expect(await broken(bodies, { rules: sameLengths })).toEqual(fine);
  });

  test("may drift within a window", async () => {
    const rules = {
      organization: { rest: { windowSeconds: 36_000 } },
      user: { rest: { windowSeconds: 36_000 } },
    };
    const end = 36_000_000;
    const calls = [
      rest({ at: 1000, count: 1, ends: end }),
      rest({ at: end - 2000, count: 2, ends: end + 2_400 }),
    ];
    expect(await broken(calls, { rules })).toEqual(fine);
    const jumped = [
      rest({ at: 1000, count: 1, ends: end }),
      rest({ at: end - 20_000, count: 2, ends: end + 9_000 }),
    ];
    expect(await broken(jumped, { rules })).toContain("reset-agrees organization 2,3");
  });

  test("a step of it is accused as reset-agrees, suspect clock-step", async () => {
    const stepped = [dated(1000, 60_000, 30), dated(11_000, 120_000, 20)];
    const { violations } = await judged(stepped, { rules: sameLengths });
    expect(violations.map(({ law, suspects }) => [law, suspects[0]])).toContainEqual([
      "reset-agrees",
      "clock-step",
    ]);
  });

  test("windows of the epoch that end beside the grid of their neighbours are accused", async () => {
    const neighbours = [rest({ at: 1000, count: 1 }), rest({ at: 64_000, count: 1, ends: 123_000 })];
    expect(await broken(neighbours)).toContain("reset-agrees organization 2,3");
    expect(await broken(neighbours, { rules: firstRequest })).toEqual(fine);
  });

  test("seconds are whole: resets may differ by 1 s and show one window", async () => {
    const calls = [
      rest({ at: 990, took: 30, count: 1 }, { reset: 60 }),
      rest({ at: 991, took: 30, count: 2 }, { reset: 59 }),
    ];
    expect(await broken(calls)).toEqual(fine);
  });
});

describe("unknown calls", () => {
  const gap = (from: number, to: number): TraceCall[] => [
    rest({ at: 1000, count: from }, {}),
    rest({ at: 30_000, count: to }),
  ];

  test("a call without an answer explains a gap, or none", async () => {
    expect(await broken([...gap(1, 3), unanswered(2000)])).toEqual(fine);
    expect(await broken([...gap(1, 2), unanswered(2000)])).toEqual(fine);
    expect(await broken(gap(1, 3))).toEqual(["conserved organization 2,3", "conserved u1 2,3"]);
  });

  test("a 5xx with none of the eight headers is one", async () => {
    expect(await broken([...gap(1, 3), unanswered(2000, { status: 502 })])).toEqual(fine);
  });

  test("two may make one gap, and no more than all of them", async () => {
    const unknown = [unanswered(2000), unanswered(3000)];
    expect(await broken([...gap(1, 4), ...unknown])).toEqual(fine);
    expect(await broken([...gap(1, 5), ...unknown])).toContain("conserved organization 2,5");
  });

  test("as many gaps as calls, of at most their costs", async () => {
    const places = (...counts: number[]): TraceCall[] =>
      counts.map((count, index) => graphql({ at: 1000 + index * 10_000, count }, 10, 10));
    const unknown = (cost: number | null): TraceCall => unanswered(1500, { scope: "graphql", cost });
    const of = (calls: TraceCall[]) => broken(calls, { rules: prepaid });
    expect(await of([...places(10, 50), unknown(30)])).toEqual(fine);
    expect(await of([...places(10, 50), unknown(29)])).toContain("conserved organization 2,4");
    expect(await of([...places(10, 25, 40), unknown(30)])).toContain("conserved organization 2,4");
    expect(await of([...places(10, 25, 40), unknown(30), unknown(5)])).toEqual(fine);
    expect(await of([...places(10, 4000), unknown(null)])).toEqual(fine);
    expect(await of([...places(10, 25, 4000), unknown(null)])).toContain("conserved organization 2,4");
  });

  test("they may be charged late, even in a later window, and once only", async () => {
    const later = [
      rest({ at: 61_000, count: 1, ends: 120_000 }),
      rest({ at: 62_000, count: 3, ends: 120_000 }),
    ];
    expect(await broken([...later, unanswered(2000)])).toEqual(fine);
    expect(await broken([...gap(1, 3), ...later, unanswered(2000)])).toContain("conserved organization 5,6");
    expect(await broken([...gap(1, 3), unanswered(61_000)])).toContain("conserved organization 2,3");
  });

  test("lost calls explain gaps of any quota, or of theirs", async () => {
    expect(await broken(gap(1, 3), { lost: 1 })).toEqual(fine);
    expect(await broken(gap(1, 4), { lost: 1 })).toContain("conserved organization 2,3");
    expect(await broken(gap(1, 3), { lost: [{ org: "acme", scope: "rest", count: 1 }] })).toEqual(fine);
    const elsewhere = [{ org: "globex", scope: "rest", count: 9 }] as const;
    expect(await broken(gap(1, 3), { lost: elsewhere })).toContain("conserved organization 2,3");
  });

  test("a call whose user is not known may be any user's", async () => {
    const anonymous = rest({ at: 2000, count: 2 }, { user: null });
    const calls = [rest({ at: 1000, count: 1 }), anonymous, rest({ at: 3000, count: 3 })];
    expect(await broken(calls)).toEqual(fine);
    const other = rest({ at: 2000, count: 2, userCount: 1 }, { user: "u2" });
    expect(await broken([calls[0], other, calls[2]].filter((call) => call !== undefined))).toEqual([
      "conserved u1 2,4",
    ]);
  });

  test("under reserved a call without its points counts anything from 0 to its cost", async () => {
    const second = (count: number): TraceCall => graphql({ at: 2000, count }, 30, 10);
    const first = graphql({ at: 1000, count: 40 }, 100, 40);
    const silent = { ...first };
    delete silent.actual;
    for (const count of [10, 50, 110]) expect(await broken([silent, second(count)])).toEqual(fine);
    expect(await broken([silent, second(111)])).toContain("conserved organization 3");
    expect(await broken([first, second(50)])).toEqual(fine);
    expect(await broken([first, second(49)])).toContain("conserved organization 2,3");
    expect(await broken([first, second(51)])).toContain("conserved organization 3");
  });

  test("under reserved a call under way holds anything up to what it asked for", async () => {
    const long = graphql({ at: 1000, took: 9000, count: 20 }, 100, 10);
    for (const count of [10, 110])
      expect(await broken([long, graphql({ at: 5000, count }, 10, 10)])).toEqual(fine);
    expect(await broken([long, graphql({ at: 5000, count: 111 }, 10, 10)])).toContain(
      "conserved organization 2",
    );
  });
});

describe("windows open when the trace began", () => {
  const calls = [rest({ at: 30_000, count: 40 }), rest({ at: 31_000, count: 41 })];

  test("may start above zero", async () => {
    expect(await broken(calls, { startedAt: start + 29_000 })).toEqual(fine);
    expect(await broken(calls, { startedAt: start - 2000 })).toContain("conserved organization 2");
  });

  test("but no call is charged unseen from then on", async () => {
    const gap = [...calls, rest({ at: 32_000, count: 43 })];
    expect(await broken(gap, { startedAt: start + 29_000 })).toContain("conserved organization 3,4");
  });

  test("may hold calls that were under way when it began", async () => {
    const earlier = rest({ at: 28_000, took: 3000, count: 38 });
    expect(await broken([earlier, ...calls], { startedAt: start + 29_000 })).toEqual(fine);
  });

  test("under reserved their points may be given back during it", async () => {
    const falls = [graphql({ at: 1000, count: 900 }, 10, 10), graphql({ at: 2000, count: 30 }, 10, 10)];
    expect(await broken(falls, { startedAt: start + 500 })).toEqual(fine);
    expect(await broken(falls)).toContain("conserved organization 2");
  });
});

describe("a trace that is not complete", () => {
  test("may show counts that jump up, and none that fall", async () => {
    const jump = [rest({ at: 1000, count: 5 }), rest({ at: 2000, count: 9 })];
    expect(await broken(jump, { complete: false })).toEqual(fine);
    const fall = [rest({ at: 1000, count: 9 }), rest({ at: 2000, count: 5 })];
    expect(await broken(fall, { complete: false })).toContain("monotone organization 2,3");
  });

  test("still shows two calls in one place", async () => {
    const twice = [rest({ at: 1000, count: 9 }), rest({ at: 1001, count: 9 })];
    expect(await broken(twice, { complete: false })).toContain("conserved organization 2,3");
  });
});

describe("readings", () => {
  test("headers and each scope of a body are read at instants of their own", async () => {
    const between = rest({ at: 1005, count: 1 });
    expect(await broken([between, status({ at: 1000, took: 20, count: 0 }, 1)])).toEqual(fine);
    expect(await broken([between, status({ at: 1000, took: 20, count: 1 }, 0)])).toEqual(fine);
    expect(await broken([between, status({ at: 1030, took: 20, count: 1 }, 0)])).toContain(
      "monotone organization 2,3",
    );
  });

  test("a count that held at some moment between sending and receipt is right, an older one is stale", async () => {
    const calls = [1, 2, 3].map((count) => rest({ at: count * 1000, count }));
    for (const count of [1, 2])
      expect(await broken([...calls, status({ at: 1500, took: 1000, count })])).toEqual(fine);
    expect(await broken([...calls, status({ at: 1500, took: 100, count: 2 })])).toContain(
      "monotone organization 3,4",
    );
    expect(await broken([...calls, status({ at: 2500, took: 100, count: 1 })])).toContain(
      "monotone organization 3,4",
    );
  });

  test.each([
    ["reserved", {}],
    ["postpaid", postpaid],
  ] as const)(
    "under %s the headers may show a later window than the call was charged to",
    async (_, rules) => {
      const across = graphql({ at: 299_000, took: 3000, count: 0, ends: 600_000 }, 50, 40, {
        reset: 299,
        userReset: 299,
      });
      const next = graphql({ at: 310_000, count: 10, ends: 600_000 }, 10, 10);
      expect(await broken([across, next], { rules })).toEqual(fine);
      const within = graphql({ at: 301_000, took: 1000, count: 0, ends: 600_000 }, 50, 40, {
        reset: 299,
        userReset: 299,
      });
      expect(await broken([within, next], { rules })).not.toEqual(fine);
    },
  );

  test("under postpaid such a call may have been charged to the window it shows, too", async () => {
    const across = graphql({ at: 299_000, took: 3000, count: 40, ends: 600_000 }, 50, 40, {
      reset: 299,
      userReset: 299,
    });
    const next = graphql({ at: 310_000, count: 50, ends: 600_000 }, 10, 10);
    expect(await broken([across, next], { rules: postpaid })).toEqual(fine);
  });

  test("under reserved it may hold its points in the window before", async () => {
    const across = graphql({ at: 290_000, took: 12_000, count: 0, ends: 600_000 }, 500, 40, {
      reset: 298,
      userReset: 298,
    });
    const earlier = (count: number): TraceCall => graphql({ at: 295_000, count }, 10, 10);
    expect(await broken([across, earlier(510)])).toEqual(fine);
    expect(await broken([across, earlier(10)])).toEqual(fine);
    expect(await broken([across, earlier(511)])).toContain("conserved organization 2");
  });

  test("a 429 shows the counts after its own charge, where refusals are charged", async () => {
    const rules = { semantics: { refused: "counted" } } as const;
    const full = Array.from({ length: 50 }, (_, index) => rest({ at: 1000 + index * 20, count: index + 1 }));
    const over = [51, 52].map((userCount, index) =>
      refused({ at: 5000 + index * 1000, count: 50, userCount }, "rest_user"),
    );
    expect(await broken([...full, ...over], { rules })).toEqual(fine);
    expect(await broken([...full, ...over])).toContain("conserved u1 51,52");
  });

  test("an idle first-request window belongs to no window", async () => {
    const idle = [
      status({ at: 1000, count: 0, ends: 61_000 }),
      status({ at: 20_500, count: 0, ends: 80_000 }),
    ];
    const opened = rest({ at: 30_500, count: 1, ends: 90_000 });
    const rules = { semantics: { anchor: { rest: "first-request" as const } } };
    expect(await broken([...idle, opened], { rules })).toEqual(fine);
    const pristine = status({ at: 40_500, count: 0, ends: 100_000 });
    expect(await broken([...idle, opened, pristine], { rules })).toContain("monotone organization 4,5");
  });

  test("a scope name of another quota is not judged, one of the four in the wrong place is", async () => {
    const search = { limit: 30, remaining: 12, scopeName: "search" };
    const other = rest(
      { at: 1000, count: 7 },
      { ...search, userLimit: 9, userRemaining: 2, userScopeName: "search_user" },
    );
    expect(await broken([other])).toEqual(fine);
    expect(await broken([rest({ at: 1000, count: 1 }, { userScopeName: "rest" })])).toContain(
      "headers-present u1 2",
    );
  });
});

describe("hidden places", () => {
  const full = (more: readonly TraceCall[]): TraceCall[] => [
    ...Array.from({ length: 50 }, (_, index) => rest({ at: 1000 + index * 20, count: index + 1 })),
    ...more,
  ];
  // Two more calls, both told that nothing is left to the user.
  const over = [rest({ at: 5000, count: 51 }), rest({ at: 6000, count: 52 })];

  test("behind a remaining of 0, wherever the limit does not bind", async () => {
    expect(await broken(full(over), { rules: unenforced })).toEqual(fine);
    expect(await broken(full(over))).toContain("conserved u1 51,52");
    const always = { ...unenforced, semantics: { userEnforced: "always" } } as const;
    expect(await broken(full(over), { rules: always })).toContain("conserved u1 51,52");
  });

  test("and without rules", async () => {
    expect(await broken(full(over), { rules: null })).toEqual(fine);
  });

  test("signed counts hide nothing", async () => {
    const signed = { ...unenforced, semantics: { remaining: "signed" } } as const;
    const shown = [51, 52].map((count) =>
      rest({ at: 4000 + count * 20, count }, { userRemaining: 50 - count }),
    );
    expect(await broken(full(shown), { rules: signed })).toEqual(fine);
    const twice = [51, 51].map((count) => rest({ at: 4000, count: 51 }, { userRemaining: 50 - count }));
    expect(await broken(full(twice), { rules: signed })).toContain("conserved u1 52,53");
  });

  test("a count of more than the limit does not hide that too few are counted", async () => {
    const rules = { ...unenforced, organization: { rest: { enforced: false, limit: 50 } } };
    const calls = full(over).map((call) => ({ ...call, limit: 50, remaining: call.userRemaining }));
    const body = (current: number): TraceCall => {
      const call = status({ at: 7000, count: 52 }, current, { limit: 50, remaining: 0 });
      const { rest: part, graphql: other } = call.body as Record<string, object>;
      return { ...call, body: { rest: { ...part, limit: 50, enforced: false }, graphql: other } };
    };
    const later = rest({ at: 8000, count: 53 }, { limit: 50, remaining: 0 });
    expect(await broken([...calls, body(52), later], { rules })).toEqual(fine);
    expect(await broken([...calls, body(51)], { rules })).toHaveLength(1);
  });
});

describe("rules", () => {
  test("without them the rounding of reset is not known", async () => {
    // As `floor` shows them: 59.8 s, 1.6 s and 0.1 s before the end.
    const floored = [
      rest({ at: 200, count: 1 }, { reset: 59, userReset: 59 }),
      rest({ at: 58_400, count: 2 }, { reset: 1, userReset: 1 }),
      rest({ at: 59_900, count: 3 }, { reset: 0, userReset: 0 }),
    ];
    expect(await broken(floored, { rules: null })).toEqual(fine);
    expect(await broken(floored, { rules: { semantics: { reset: "floor" } } })).toEqual(fine);
    expect(await broken(floored)).toContain("reset-agrees organization 4");
  });

  test("without them refusals may be counted", async () => {
    const calls = [
      ...Array.from({ length: 50 }, (_, index) => rest({ at: 1000 + index * 20, count: index + 1 })),
      refused({ at: 5000, count: 50, userCount: 51 }, "rest_user"),
      refused({ at: 6000, count: 50, userCount: 52 }, "rest_user"),
    ];
    expect(await broken(calls, { rules: null })).toEqual(fine);
  });

  test("without them graphql may charge in any of the three ways", async () => {
    // A window's length is at least the longest reset that was shown; it began at 0 if one was seen before it.
    const opening = status({ at: 100, count: 0 });
    const earlier = graphql({ at: -200_000, count: 10, ends: 0 }, 10, 10);
    const second = (count: number): TraceCall => graphql({ at: 6000, count }, 10, 10);
    const pair = (first: number, count: number): TraceCall[] => [
      earlier,
      opening,
      graphql({ at: 5000, count: first }, 100, 40),
      second(count),
    ];
    expect(await broken(pair(100, 110), { rules: null })).toEqual(fine);
    expect(await broken(pair(40, 50), { rules: null })).toEqual(fine);
    expect(await broken(pair(100, 49), { rules: null })).toContain("conserved organization 4,5");
    expect(await broken(pair(100, 111), { rules: null })).toContain("conserved organization 5");
    expect(await broken(pair(100, 111).slice(1), { rules: null })).toEqual(fine);
  });

  test("without them nothing is known of limits but that they hold within a window", async () => {
    const limit = (at: number, count: number, shown: number, ends?: number): TraceCall =>
      rest(
        { at, count, ...(ends === undefined ? {} : { ends }) },
        { limit: shown, remaining: shown - count },
      );
    const atTheEdge = [limit(1000, 1, 200), limit(61_000, 1, 300, 120_000)];
    expect(await broken(atTheEdge, { rules: null })).toEqual(fine);
    expect(await broken([limit(1000, 1, 200), limit(2000, 2, 300)], { rules: null })).toContain(
      "limit-agrees organization 2,3",
    );
    expect(await broken(atTheEdge)).toContain("limit-agrees organization 3");
  });

  test("enforcement that changes between two bodies is not judged between them", async () => {
    const off = (at: number, count: number): TraceCall => {
      const call = status({ at, count });
      const { rest: part, graphql: other } = call.body as Record<string, object>;
      return { ...call, body: { rest: { ...part, enforced: false }, graphql: other } };
    };
    const between = refused({ at: 2000, count: 0, userCount: 0 }, "rest", {
      remaining: 0,
      refusal: { scope: "rest", limit: 200, current: 200, reset: 58 },
    });
    const law = async (calls: readonly TraceCall[], rules: object | null) =>
      (await judged(calls, { rules, complete: false })).violations.map((violation) => violation.law);
    expect(await law([off(1000, 0), between, off(3000, 200)], null)).toContain("unenforced-never-refuses");
    expect(await law([status({ at: 1000, count: 0 }), between, off(3000, 200)], null)).not.toContain(
      "unenforced-never-refuses",
    );
    expect(await law([off(1000, 0), between, status({ at: 3000, count: 200 })], null)).not.toContain(
      "unenforced-never-refuses",
    );
    // The rules are one more body, before all.
    expect(await law([between, off(3000, 200)], {})).not.toContain("unenforced-never-refuses");
    expect(await law([between, off(3000, 200)], null)).toContain("unenforced-never-refuses");
  });

  test("where enforcement is unknown, bounded is skipped", async () => {
    const { laws } = await judged([rest({ at: 1000, count: 1 })], { rules: null });
    expect(laws.bounded).toEqual({ skipped: expect.any(String) });
    expect((await judged([rest({ at: 1000, count: 1 })])).laws.bounded).toBe("held");
  });
});

describe("naming the law", () => {
  test("a charge that no call explains is conserved, and suspects carry the cause", async () => {
    const charged = [
      rest({ at: 1000, count: 1 }),
      status({ at: 2000, count: 2 }),
      status({ at: 3000, count: 3 }),
    ];
    const { violations, laws } = await judged(charged);
    expect(violations.map(({ law, suspects }) => [law, suspects[0]])).toEqual([
      ["conserved", "status-charged"],
      ["conserved", "status-charged"],
    ]);
    expect(laws["status-free"]).toEqual({ skipped: expect.stringContaining("conserved") });
  });
});

describe("windows", () => {
  test("an answer that took half a window names none", async () => {
    const first = [rest({ at: 10_000, count: 1 }), rest({ at: 20_000, count: 2 })];
    // Sent in the first window, decided in the second: its seconds fit the ends of both.
    const slow = rest({ at: 1000, took: 62_000, count: 1, ends: 120_000 }, { reset: 58, userReset: 58 });
    const later = (count: number): TraceCall => rest({ at: 70_000, count, ends: 120_000 });
    expect(await broken([...first, slow, later(2)])).toEqual(fine);
    expect(await broken([...first, slow, later(3)])).toContain("conserved organization 5");
    // It explains nothing in a window that opened after its answer.
    const third = rest({ at: 130_000, count: 2, ends: 180_000 });
    expect(await broken([...first, slow, third])).toContain("conserved organization 5");
  });

  test("up to twice the limit across an edge is legal", async () => {
    const rules = { organization: { rest: { limit: 3 } }, user: { rest: { limit: 3 } } };
    const limited = (at: number, count: number, ends: number): TraceCall =>
      rest({ at, count, ends }, { limit: 3, remaining: 3 - count, userLimit: 3, userRemaining: 3 - count });
    const edge = [
      ...[1, 2, 3].map((count) => limited(58_000 + count * 100, count, 60_000)),
      ...[1, 2, 3].map((count) => limited(60_500 + count * 100, count, 120_000)),
    ];
    expect(await broken(edge, { rules })).toEqual(fine);
    const seventh = limited(60_900, 3, 120_000);
    expect(await broken([...edge, seventh], { rules })).toContain("conserved organization 7,8");
  });
});
