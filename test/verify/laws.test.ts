// Each law that a trace can show, held and broken, by the smallest trace that shows it.
import { describe, expect, test } from "vitest";
import type { LawName } from "../../src/rules/laws.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { suspectNames } from "../../src/verify/suspects.ts";
import { bare, graphql, judged, refused, rest, start, status, type TraceOptions } from "./traces.ts";

/** The laws that are broken, each with its likeliest fault. */
async function faults(calls: readonly TraceCall[], options: TraceOptions = {}): Promise<readonly string[]> {
  const { violations } = await judged(calls, options);
  return [...new Set(violations.map(({ law, suspects }) => `${law}: ${suspects[0] ?? "-"}`))];
}
const one = (changes: Partial<TraceCall> = {}): TraceCall => rest({ at: 1000, count: 1 }, changes);

describe("headers-present", () => {
  test.each<[string, TraceCall, string]>([
    ["on a 429", refused({ at: 1000, count: 1 }, "rest", bare), "headers-missing-on-429"],
    ["on status", status({ at: 1000, count: 0 }, 0, bare), "headers-missing-on-status"],
    ["on an admitted call, one of them", one({ userReset: null }), "-"],
    ["on a 403", one({ status: 403, kind: "other", ...bare }), "-"],
    ["on a query that was not executed", one({ scope: "graphql", kind: "other", ...bare }), "-"],
    ["as integers, not doubled", one({ remaining: "5, 5" }), "headers-doubled"],
    ["as integers, not words", one({ remaining: "many" }), "-"],
    ["as seconds, not a date", one({ reset: "Fri, 02 Jan 2026 03:05:00 GMT" }), "reset-epoch"],
    ["with the scope's own name", one({ userScopeName: "rest" }), "wrong-scope-header"],
    ["with the scope's own name, even among the four", one({ scopeName: "graphql" }), "wrong-scope-header"],
    ["with one name, not a list of it", one({ scopeName: "rest, rest" }), "headers-doubled"],
    ["with the name as it is written", one({ userScopeName: "Rest_User" }), "wrong-scope-header"],
    ["with a name that is none", one({ scopeName: "the rest of it" }), "wrong-scope-header"],
    ["with a name at all", one({ scopeName: "" }), "wrong-scope-header"],
  ])("they are owed %s", async (_, call, suspect) => {
    expect(await faults([call])).toEqual([`headers-present: ${suspect}`]);
  });

  test.each<[string, TraceCall]>([
    ["401", one({ status: 401, kind: "other", ...bare })],
    ["an unknown organization's 404", one({ status: 404, kind: "other", ...bare })],
    ["a path outside the API", one({ status: 404, ...bare })],
    ["no answer at all", one({ status: 0, ...bare })],
  ])("they are not owed by %s", async (_, call) => {
    const { violations, laws, verdict } = await judged([call]);
    expect(violations).toEqual([]);
    expect(laws["headers-present"]).toEqual({ skipped: expect.any(String) });
    expect(verdict).toBe("unknown");
  });

  test("an application and a gateway that both add them are accused, at the line that shows it first", async () => {
    const twice = (call: TraceCall): TraceCall => ({
      ...call,
      scopeName: "rest, rest",
      limit: "200, 200",
      remaining: `${call.remaining}, ${call.remaining}`,
      reset: `${call.reset}, ${call.reset}`,
    });
    const calls = [1, 2, 3].map((count) => rest({ at: count * 1000, count }));
    const { verdict, laws, violations, otherQuotas } = await judged([
      ...calls.slice(0, 1),
      ...calls.slice(1).map(twice),
    ]);
    expect(verdict).toBe("violated");
    expect(laws["headers-present"]).toBe("violated");
    expect(violations.map(({ count, lines, suspects }) => [count, lines, suspects])).toEqual([
      [2, [3], ["headers-doubled"]],
      [2, [3], ["headers-doubled"]],
    ]);
    expect(violations.map(({ explanation }) => explanation).join()).toContain('"rest, rest"');
    expect(otherQuotas).toBeUndefined();
  });

  test("names of other quotas are told, and not judged", async () => {
    const search = (count: number): TraceCall =>
      rest({ at: count * 1000, count }, { scopeName: "search", limit: 9, remaining: "5, 5" });
    const { verdict, otherQuotas } = await judged([rest({ at: 500, count: 1 }), search(2), search(3)]);
    expect(verdict).toBe("ok");
    expect(otherQuotas).toEqual([
      { scope: "rest", owner: "organization", name: "search", answers: 2, line: 3 },
    ]);
  });

  test("of many other names twenty are told one by one", async () => {
    const calls = Array.from({ length: 30 }, (_, index) =>
      rest({ at: index * 100, count: 1 }, { scopeName: `quota-${index}` }),
    );
    const { otherQuotas = [] } = await judged(calls);
    expect(otherQuotas).toHaveLength(21);
    expect(otherQuotas.at(-1)).toEqual({
      scope: "rest",
      owner: "organization",
      name: null,
      answers: 10,
      line: 22,
    });
  });

  test("what many answers lack is one violation with their number", async () => {
    const calls = [1, 2, 3].map((count) => rest({ at: count * 1000, count }, { reset: null }));
    expect((await judged(calls)).violations).toMatchObject([
      { law: "headers-present", count: 3, lines: [2] },
    ]);
  });
});

describe("reset-agrees, where windows open with their first call", () => {
  const rules: RulesInput = { semantics: { anchor: { rest: "first-request" } } };
  // The status call opens it at 20 s, by its own end; the first call comes 10 s later.
  const polled = status({ at: 20_300, count: 0, ends: 80_000 });
  const early = rest({ at: 30_300, count: 1, ends: 80_000 });
  const own = rest({ at: 30_300, count: 1, ends: 90_000 });

  test("a window that was open before its first call is accused, with what may have opened it", async () => {
    const { violations } = await judged([polled, early], { rules });
    expect(violations).toMatchObject([
      { law: "reset-agrees", suspects: ["status-opens-window"], user: null, lines: [2, 3] },
      { law: "reset-agrees", user: "u1" },
    ]);
    expect((await judged([polled, own], { rules })).violations).toEqual([]);
  });

  test("one that follows the one before it at once is, too", async () => {
    const first = rest({ at: 300, count: 1, ends: 60_000 });
    const next = rest({ at: 90_300, count: 1, ends: 120_000 });
    expect(await faults([first, next], { rules })).toEqual(["reset-agrees: windows-back-to-back"]);
    const after = rest({ at: 90_300, count: 1, ends: 150_000 });
    expect(await faults([first, after], { rules })).toEqual([]);
  });

  test.each<[string, TraceCall[], TraceOptions]>([
    ["the window was open before the trace began", [early], { startedAt: start + 25_000 }],
    ["it is within the second", [rest({ at: 30_900, count: 1, ends: 90_000 })], {}],
    ["the call took so long", [{ ...early, received: early.sent + 12_000 }], {}],
    ["clocks may be so far apart", [early], { clock: { kind: "wall", resolutionMs: 1, errorMs: 5000 } }],
    [
      "an earlier call is not in the trace",
      [rest({ at: 30_300, count: 2, ends: 80_000 })],
      { complete: false },
    ],
  ])("nobody is accused where %s", async (_, calls, options) => {
    expect(await faults(calls, { rules, ...options })).toEqual([]);
  });

  test("without rules it is asked about", async () => {
    const again = status({ at: 95_300, count: 0, ends: 155_000 });
    const { violations, questions = [] } = await judged([polled, early, again], { rules: null });
    expect(violations).toEqual([]);
    expect(questions).toMatchObject([
      { scope: "rest", suspects: ["windows-back-to-back", "status-opens-window", "organization-off-grid"] },
    ]);
    expect(questions[0]?.question).toMatch(
      /line 3 was the first call .* Is that meant\? `--rules` settles it\.$/,
    );
  });
});

describe("reset-agrees, where windows lie on the epoch's grid", () => {
  const ann = rest({ at: 1000, count: 1 });
  const bob = rest({ at: 2000, count: 2, userCount: 1 }, { user: "u2", client: "clients/1" });
  const other = (ends: number, changes: Partial<TraceCall> = {}): TraceCall =>
    rest({ at: 3000, count: 1, ends }, { org: "globex", user: "u3", client: "clients/2", ...changes });

  test("a quota that ends beside the grid of two others is accused, by lines of all", async () => {
    const { violations } = await judged([ann, bob, other(47_000)]);
    const accused = { law: "reset-agrees", org: "globex", lines: [2, 3, 4] };
    expect(violations).toMatchObject([
      { ...accused, user: null },
      { ...accused, user: "u3" },
    ]);
    expect(violations.map(({ suspects }) => suspects[0])).toEqual([
      "organization-off-grid",
      "organization-off-grid",
    ]);
  });

  const opened = [
    rest({ at: 1000, count: 1, ends: 61_000 }),
    rest({ at: 1500, count: 2, userCount: 1, ends: 61_000 }, { user: "u2", client: "clients/1" }),
  ];
  const minutes = { organization: { rest: { windowSeconds: 120 } }, user: { rest: { windowSeconds: 60 } } };
  test.each<[string, TraceCall[], TraceOptions]>([
    ["it ends with them", [ann, bob, other(60_000)], {}],
    [
      "it ends whole windows later",
      [ann, bob, { ...other(60_000), sent: start + 123_000, received: start + 123_010 }],
      {},
    ],
    ["it ends within the second that rounding takes", [ann, bob, other(60_900)], {}],
    [
      "its answer took as long",
      [ann, bob, other(47_000, { sent: start + 3000, received: start + 23_000 })],
      {},
    ],
    [
      "clocks may be so far apart",
      [ann, bob, other(47_000)],
      { clock: { kind: "wall", resolutionMs: 1, errorMs: 7000 } },
    ],
    ["as many keep the one grid as the other", [ann, other(47_000)], {}],
    [
      "windows open with their first call",
      [...opened, other(63_000)],
      { rules: { semantics: { anchor: "first-request" } } },
    ],
    // Organizations' and users' windows each end by themselves: of each length one quota agrees with none.
    ["their lengths differ", [ann, other(47_000)], { rules: minutes }],
  ])("nobody is accused where %s", async (_, calls, options) => {
    expect(await faults(calls, options)).toEqual([]);
  });

  test("without rules it is asked about", async () => {
    const looked = [1000, 61_000].map((at) =>
      status({ at, count: 0, ends: at + 46_000 }, 0, { org: "globex", user: "u3", client: "clients/2" }),
    );
    const { violations, questions = [] } = await judged([ann, bob, ...looked], { rules: null });
    expect(violations).toEqual([]);
    expect(questions.flatMap(({ suspects }) => suspects)).toContain("organization-off-grid");
  });
});

describe("refusal-agrees, where both windows lack room", () => {
  const full = Array.from({ length: 50 }, (_, index) =>
    rest({ at: 1000 + index * 20, count: index + 151, userCount: index + 1 }),
  );
  const both = (scope: "rest" | "rest_user", changes: Partial<TraceCall> = {}): TraceCall =>
    refused({ at: 5000, count: 200, userCount: 50 }, scope, changes);
  const open = { startedAt: start + 900 };

  test("the organization's is named first", async () => {
    const { violations } = await judged([...full, both("rest_user")], open);
    expect(violations).toMatchObject([
      {
        law: "refusal-agrees",
        suspects: ["refusal-names-user", "narrow-drains-broad"],
        org: "acme",
        user: null,
        lines: [52],
        count: 1,
      },
    ]);
    expect((await judged([...full, both("rest")], open)).violations).toEqual([]);
  });

  test.each<[string, TraceCall, TraceOptions]>([
    ["the organization's has room", refused({ at: 5000, count: 199, userCount: 50 }, "rest_user"), {}],
    [
      "limits are not enforced, and users' windows always are",
      both("rest_user"),
      {
        rules: {
          organization: { rest: { enforced: false } },
          semantics: { userEnforced: "always" },
        },
      },
    ],
    [
      "the refusal itself may have filled it",
      both("rest_user"),
      { rules: { semantics: { refusedByUser: "charges-organization" } } },
    ],
  ])("nobody is accused where %s", async (_, last, options) => {
    const calls =
      last.remaining === 0 ? full : full.map((call) => ({ ...call, remaining: Number(call.remaining) + 1 }));
    const { violations } = await judged([...calls, last], { ...open, ...options });
    expect(violations.filter(({ suspects }) => suspects.includes("refusal-names-user"))).toEqual([]);
  });

  test("without rules it is asked about", async () => {
    const calls = [
      status({ at: 950, count: 150, userCount: 0 }),
      ...full,
      both("rest_user"),
      both("rest_user"),
    ];
    const { verdict, questions = [] } = await judged(calls, { ...open, rules: null });
    expect(verdict).toBe("ok");
    expect(questions.map(({ suspects }) => suspects)).toContainEqual(["refusal-names-user"]);
  });
});

describe("limit-agrees", () => {
  test("against the rules, in headers and bodies, organization's and user's", async () => {
    expect(await faults([one({ limit: 100, remaining: 99 })])).toEqual([
      "limit-agrees: remaining-of-laxer-window",
    ]);
    expect(await faults([one({ userLimit: 60, userRemaining: 59 })])).toEqual([
      "limit-agrees: remaining-of-laxer-window",
    ]);
    expect(
      await faults([status({ at: 1000, count: 0 })], { rules: { organization: { graphql: { limit: 9 } } } }),
    ).toEqual(["limit-agrees: remaining-of-laxer-window"]);
  });

  test("overrides by name count", async () => {
    const rules = { users: { "acme/u1": { rest: { limit: 60 } } } };
    expect(await faults([one({ userLimit: 60, userRemaining: 59 })], { rules })).toEqual([]);
    expect(await faults([one()], { rules })).toEqual(["limit-agrees: remaining-of-laxer-window"]);
  });
});

test("bounded: no status body shows a count below 0", async () => {
  expect(await faults([status({ at: 1000, count: 0 }, -1)])).toEqual(["bounded: -"]);
});

describe("remaining-agrees", () => {
  test("within 0..limit; below 0 only where it is signed", async () => {
    expect(await faults([one({ remaining: 201 })])).toEqual(["remaining-agrees: remaining-of-laxer-window"]);
    expect(await faults([one({ userRemaining: -1 })], { complete: false })).toContain(
      "remaining-agrees: one-extra",
    );
    const signed = {
      semantics: { remaining: "signed" },
      organization: { rest: { enforced: false } },
    } as const;
    expect(await faults([one({ userRemaining: -1 })], { complete: false, rules: signed })).toEqual([]);
    expect(await faults([one({ userRemaining: -1 })], { complete: false, rules: null })).toEqual([]);
  });
});

describe("reset-agrees", () => {
  test.each<[string, number, string]>([
    ["0", 0, "reset-truncated"],
    ["-3", -3, "reset-negative"],
    ["61", 61, "skewed-nodes"],
    ["6001", 6001, "reset-in-ms"],
    ["59000", 59_000, "reset-in-ms"],
    ["the epoch's seconds", 1_767_322_860, "reset-epoch"],
  ])("%s is no number of seconds to the end of a window of 60", async (_, reset, suspect) => {
    expect(await faults([one({ reset })])).toEqual([`reset-agrees: ${suspect}`]);
  });

  test.each<[NonNullable<RulesInput["semantics"]>, number[], number[]]>([
    [{ reset: "floor" }, [0, 59, 60], [-1, 61]],
    [{ reset: "round" }, [0, 60], [-1, 61]],
    [{ reset: "ceil" }, [1, 60], [0, 61]],
  ])("%j", async (semantics, right, wrong) => {
    const of = (reset: number) =>
      faults([one({ reset, userReset: reset })], { rules: { semantics }, complete: false });
    for (const reset of right) expect(await of(reset)).toEqual([]);
    for (const reset of wrong) expect(await of(reset)).not.toEqual([]);
  });

  test("two windows that end less than a window apart", async () => {
    const calls = [one(), rest({ at: 2000, count: 2, ends: 40_000 })];
    expect(await faults(calls)).toContain("reset-agrees: two-interleaved-windows");
  });

  test("a window that each call begins anew", async () => {
    const calls = [1, 2, 3, 4].map((count) => rest({ at: count * 1500, count, ends: count * 1500 + 59_500 }));
    expect(await faults(calls, { rules: null })).toEqual(["reset-agrees: rearmed-per-hit"]);
  });

  const dated = (at: number, resetAt: string, part = {}): TraceCall => {
    const call = status({ at, count: 0 });
    const body = call.body as Record<string, object>;
    return { ...call, body: { ...body, rest: { ...body["rest"], reset_at: resetAt, ...part } } };
  };

  test("reset_at is constant within a window", async () => {
    const calls = [dated(1000, "2026-01-02T03:01:00Z"), dated(2000, "2026-01-02T03:01:01Z")];
    const rules = { semantics: { anchor: "first-request" as const } };
    const admitted = rest({ at: 500, count: 1 });
    const shown = calls.map((call) => ({
      ...call,
      remaining: 199,
      userRemaining: 49,
      body: withCurrent(call.body, 1),
    }));
    expect(await faults([admitted, ...shown], { rules })).toEqual(["reset-agrees: reset-at-drifts"]);
  });

  test("reset_at lies on the epoch's grid", async () => {
    expect(await faults([dated(1000, "2026-01-02T03:01:01Z")])).toEqual(["reset-agrees: reset-at-drifts"]);
    expect(await faults([dated(1000, "2026-01-02T03:01:30Z")])).toContain("reset-agrees: reset-disagrees");
  });

  test("reset and reset_at of both scopes share one clock", async () => {
    expect(await faults([dated(1000, "2026-01-02T03:02:00Z")])).toEqual(["reset-agrees: reset-disagrees"]);
  });
});

function withCurrent(body: unknown, current: number): unknown {
  const { rest: part, graphql: other } = body as Record<string, object>;
  return { rest: { ...part, current }, graphql: other };
}

describe("refusal-justified and refusal-agrees", () => {
  const full = Array.from({ length: 50 }, (_, index) => rest({ at: 1000 + index * 20, count: index + 1 }));

  test("a refusal by a window that is full is right", async () => {
    expect(await faults([...full, refused({ at: 5000, count: 50 }, "rest_user")])).toEqual([]);
  });

  test("one where every window has room is not", async () => {
    const early = refused({ at: 5000, count: 49 }, "rest_user");
    expect(await faults([...full.slice(0, 49), early])).toEqual(["refusal-justified: one-short"]);
    const earlier = refused({ at: 5000, count: 9 }, "rest_user");
    expect(await faults([...full.slice(0, 9), earlier])).toEqual([
      "refusal-justified: remaining-of-laxer-window",
    ]);
  });

  test("one that names the window that has room does not agree", async () => {
    expect(await faults([...full, refused({ at: 5000, count: 50 }, "rest")])).toEqual([
      "refusal-agrees: remaining-of-laxer-window",
    ]);
  });

  test.each<[string, object, boolean]>([
    ["another limit", { limit: 49 }, false],
    ["another count", { current: 49 }, false],
    ["other seconds", { reset: 57 }, true],
    ["seconds rounded at the next instant", { reset: 54 }, true],
  ])("a body with %s", async (_, part, isReset) => {
    const call = refused({ at: 5000, count: 50 }, "rest_user");
    const changed = { ...call, refusal: { ...(call.refusal as object), ...part } };
    const found = await faults([...full, changed]);
    const agrees = "reset" in part && part.reset === 54;
    expect(found.filter((each) => each.startsWith("refusal-agrees"))).toEqual(
      agrees ? [] : [`refusal-agrees: ${isReset ? "reset-disagrees" : "remaining-of-laxer-window"}`],
    );
  });

  test("GraphQL refuses with fewer points left than asked for, and its message agrees", async () => {
    const prepaid = { semantics: { graphqlCharge: "prepaid" } } as const;
    const message = (limit: number, reset: number): object => ({
      errors: [
        {
          message: `You have exceeded your per-user limit of ${limit} complexity points. Please try again in ${reset} seconds.`,
        },
      ],
    });
    const spent = graphql({ at: 1000, count: 4990 }, 4990, 4990);
    const no = (cost: number, refusal: object): TraceCall =>
      graphql({ at: 2000, count: 4990 }, cost, 0, { status: 429, refusal, actual: 0 });
    expect(await faults([spent, no(11, message(5000, 298))], { rules: prepaid })).toEqual([]);
    expect(await faults([spent, no(10, message(5000, 298))], { rules: prepaid })).toEqual([
      "refusal-justified: one-short",
    ]);
    expect(await faults([spent, no(11, message(500, 298))], { rules: prepaid })).toEqual([
      "refusal-agrees: remaining-of-laxer-window",
    ]);
    const postpaid = { semantics: { graphqlCharge: "postpaid" } } as const;
    expect(await faults([spent, no(11, message(5000, 298))], { rules: postpaid })).toContain(
      "refusal-justified: remaining-of-laxer-window",
    );
  });

  test("a status call is never refused", async () => {
    expect(await faults([status({ at: 1000, count: 0 }, 0, { status: 429 })])).toEqual([
      "refusal-justified: status-charged",
    ]);
  });
});

describe("counts", () => {
  test("conserved: two calls in one place, and a place below 0", async () => {
    expect(await faults([one(), rest({ at: 1005, count: 1 })])).toEqual(["conserved: race-read-then-write"]);
    const prepaid = { semantics: { graphqlCharge: "prepaid" } } as const;
    expect(await faults([graphql({ at: 1000, count: 1 }, 10, 10)], { rules: prepaid })).toEqual([
      "conserved: cost-ignored",
    ]);
  });

  test("conserved: a charge that no call explains", async () => {
    expect(await faults([rest({ at: 1000, count: 2 }), rest({ at: 2000, count: 4 })])).toEqual([
      "conserved: double-count",
    ]);
  });

  test("monotone: a count that falls", async () => {
    const calls = [1, 2, 3].map((count) => rest({ at: count * 1000, count }));
    expect(await faults([...calls, status({ at: 5000, count: 1 })])).toEqual([
      "monotone: stale-replica-read",
    ]);
    expect(await faults([...calls, status({ at: 5000, count: 3 }, 0)])).toEqual([
      "monotone: status-pristine",
    ]);
  });

  test("bounded: a count above a limit that is enforced", async () => {
    const rules = { organization: { rest: { limit: 3 } }, user: { rest: { limit: 3 } } };
    const calls = [1, 2, 3, 4].map((count) =>
      rest(
        { at: count * 1000, count },
        { limit: 3, remaining: Math.max(0, 3 - count), userLimit: 3, userRemaining: Math.max(0, 3 - count) },
      ),
    );
    const seen = status({ at: 5000, count: 4 }, 4, {
      limit: 3,
      remaining: 0,
      userLimit: 3,
      userRemaining: 0,
    });
    const part = seen.body as Record<string, object>;
    const body = { ...part, rest: { ...part["rest"], limit: 3 } };
    const found = await faults([...calls, { ...seen, body }], { rules });
    expect(found).toContain("bounded: one-extra");
    expect(found).toContain("conserved: one-extra");
  });

  test("recovers: the first call of a window is refused", async () => {
    const last = rest({ at: 1000, count: 1 });
    const dead = refused({ at: 61_000, count: 50, ends: 120_000 }, "rest_user");
    const { laws, violations } = await judged([last, dead]);
    expect(laws.recovers).toBe("violated");
    expect(violations.find(({ law }) => law === "recovers")?.lines).toEqual([3]);
  });

  test("twice-at-most: of a call that came back years before it was sent, no span is made up", async () => {
    const late = one({ sent: start + 10 ** 12, received: start + 1000 });
    expect((await judged([late, one({ call: 1 })])).records).toBe(2);
  });

  test("twice-at-most: whatever windows the headers show", async () => {
    const rules = { organization: { rest: { limit: 200 } }, user: { rest: { limit: 2 } } };
    // Each call is told of a fresh window, so that only their number speaks.
    const calls = [1, 2, 3, 4, 5].map((count) =>
      rest({ at: 20_000 + count * 1000, count }, { userLimit: 2, userRemaining: 1, userReset: null }),
    );
    const found = await judged(calls, { rules });
    expect(found.laws["twice-at-most"]).toBe("violated");
    expect((await judged(calls.slice(1), { rules })).laws["twice-at-most"]).toBe("held");
  });

  test("unenforced-never-refuses: by the organization's window, or by the user's that follows it", async () => {
    const off = { organization: { rest: { enforced: false } } } as const;
    const of = async (scope: "rest" | "rest_user", rules: RulesInput | null) =>
      (await judged([refused({ at: 5000, count: 200, userCount: 50 }, scope)], { rules, complete: false }))
        .laws["unenforced-never-refuses"];
    expect(await of("rest", off)).toBe("violated");
    expect(await of("rest_user", off)).toBe("violated");
    expect(await of("rest_user", { ...off, semantics: { userEnforced: "always" } })).toBe("held");
    expect(await of("rest", {})).toEqual({ skipped: expect.any(String) });
    expect(await of("rest", null)).toEqual({ skipped: expect.any(String) });
  });
});

describe("the verdict", () => {
  test("names each law once, and the laws that no trace shows with why", async () => {
    const { laws, verdict, records, windows } = await judged([one()]);
    expect({ verdict, records, windows }).toEqual({ verdict: "ok", records: 1, windows: 2 });
    const silent: LawName[] = ["time-translates", "snapshot-equals", "never-rolls-back"];
    for (const law of silent) expect(laws[law]).toEqual({ skipped: expect.stringContaining("check") });
  });

  test("says unknown of a trace that shows nothing", async () => {
    expect((await judged([])).verdict).toBe("unknown");
  });

  test("a law that a switch makes void is skipped by name", async () => {
    const { laws } = await judged([one()], { rules: { semantics: { refused: "counted" } } });
    expect(laws.bounded).toEqual({ skipped: "refused calls are counted" });
  });

  test("suspects are names of the fault catalogue", async () => {
    const { violations } = await judged([one(), rest({ at: 1005, count: 1 })]);
    const suspects = violations.flatMap((violation) => violation.suspects);
    expect(suspects).not.toEqual([]);
    for (const name of suspects) expect(suspectNames).toContain(name);
  });
});
