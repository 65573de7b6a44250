// The figures of a trace, each against a number that was worked out by hand.
import { describe, expect, it } from "vitest";
import { parseRules } from "../../src/rules/parse.ts";
import { figure } from "../../src/summary/expectations.ts";
import { summarize } from "../../src/summary/summarizer.ts";
import { waitShares } from "../../src/summary/summary.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { rulesOwner } from "../support/rules-owner.ts";
import { startMs, traceCall, traceHeader } from "./traces.ts";

const figuresOf = (calls: readonly TraceCall[]) => summarize(traceHeader(), calls).figures;
const refusal = (scope: string) => ({ message: "no", scope, limit: 5, current: 5, reset: 3 });

describe("counting", () => {
  it("counts admitted, refused and unanswered calls, and keeps status calls and uncounted answers apart", () => {
    const figures = figuresOf([
      traceCall(),
      traceCall({ status: 404 }),
      traceCall({ status: 429, refusal: refusal("rest_user") }),
      traceCall({ status: 0, error: "timeout" }),
      traceCall({ status: 502 }),
      traceCall({ status: 500, limit: 5, remaining: 2, reset: 3 }),
      traceCall({ kind: "status", cost: null }),
      traceCall({ kind: "other", cost: null, status: 401 }),
    ]);
    expect(figures).toMatchObject({
      calls: 6,
      admitted: 3,
      refused: 1,
      refusedShare: 0.25,
      unanswered: 2,
      jobs: 6,
      statusCalls: 1,
    });
  });

  it("counts a 5xx without any of the eight headers as unanswered, one with a header as answered", () => {
    expect(figuresOf([traceCall({ status: 503 })])).toMatchObject({ admitted: 0, unanswered: 1 });
    expect(figuresOf([traceCall({ status: 503, userReset: "soon" })])).toMatchObject({ admitted: 1 });
  });

  it("adds the points of admitted GraphQL calls: what was charged, else what was asked for", () => {
    const graphql = { scope: "graphql", cost: 500 } as const;
    const calls = [
      traceCall({ ...graphql, actual: 120 }),
      traceCall(graphql),
      traceCall({ ...graphql, status: 429 }),
      traceCall(),
    ];
    expect(figuresOf(calls).points).toBe(620);
  });

  it("has no share, no wait and no fairness where nothing was answered", () => {
    expect(figuresOf([traceCall({ status: 0 })])).toMatchObject({
      refusedShare: null,
      waitP50Ms: null,
      waitMaxMs: null,
      fairness: null,
    });
  });
});

describe("whom a refusal names", () => {
  const owners = (call: Partial<TraceCall>) => {
    const { refused, refusedByOrganization, refusedByUser } = figuresOf([
      traceCall({ status: 429, ...call }),
    ]);
    return [refused, refusedByOrganization, refusedByUser];
  };
  const graphql = (message: string) => ({ scope: "graphql", refusal: { errors: [{ message }] } }) as const;

  it.each([
    ["rest", [1, 1, 0]],
    ["rest_user", [1, 0, 1]],
  ])("reads the scope %s of a REST refusal", (scope, counts) => {
    expect(owners({ refusal: refusal(scope) })).toEqual(counts);
  });

  it("reads the sentences of GraphQL refusals", () => {
    const organization = "Your organization has exceeded the limit of 9 complexity points.";
    expect(owners(graphql(organization))).toEqual([1, 1, 0]);
    expect(owners(graphql("You have exceeded your per-user limit of 9 complexity points."))).toEqual([
      1, 0, 1,
    ]);
  });

  it("falls back on which window lacks room for the cost, the organization's first", () => {
    expect(owners({ remaining: 0, userRemaining: 0 })).toEqual([1, 1, 0]);
    expect(owners({ remaining: 3, userRemaining: 0 })).toEqual([1, 0, 1]);
    expect(owners({ scope: "graphql", cost: 500, remaining: 900, userRemaining: 499 })).toEqual([1, 0, 1]);
  });

  it("names nobody where nothing says", () => {
    expect(owners({})).toEqual([1, 0, 0]);
    expect(owners({ refusal: "<html>", remaining: "5, 5", userRemaining: 8 })).toEqual([1, 0, 0]);
  });
});

describe("waits and jobs", () => {
  it("counts a wait from when the job was wanted, through its refusals, to the answer", () => {
    const calls = [
      traceCall({ wanted: 100, sent: 150, received: 160, status: 429 }),
      traceCall({ wanted: 100, sent: 5_000, received: 5_020, attempt: 1 }),
      traceCall({ client: "agents/1", sent: 30, received: 37 }),
    ];
    expect(figuresOf(calls)).toMatchObject({ waitP50Ms: 7, waitMaxMs: 4920, jobs: 2, gaveUp: 0 });
  });

  it("takes percentiles by nearest rank", () => {
    const calls = Array.from({ length: 200 }, (_, index) => traceCall({ sent: 0, received: index + 1 }));
    const figures = figuresOf(calls);
    expect(figures).toMatchObject({ waitP50Ms: 100, waitP95Ms: 190, waitP99Ms: 198, waitMaxMs: 200 });
  });

  it("counts the jobs whose last attempt was refused", () => {
    const refused = { status: 429, wanted: 0 } as const;
    const calls = [
      traceCall(refused),
      traceCall({ ...refused, attempt: 1 }),
      traceCall({ ...refused, wanted: 50 }),
      traceCall({ wanted: 50, attempt: 1 }),
      traceCall({ ...refused, client: "agents/1" }),
    ];
    expect(figuresOf(calls)).toMatchObject({ jobs: 3, refused: 4, gaveUp: 2 });
  });

  it("does not take the retry of a time-out for the retry of a refusal", () => {
    const calls = [
      traceCall({ status: 0, wanted: 0 }),
      traceCall({ wanted: 0, attempt: 1 }),
      traceCall({ status: 429, wanted: 70 }),
    ];
    expect(figuresOf(calls)).toMatchObject({ jobs: 2, gaveUp: 1, unanswered: 1 });
  });

  it("keeps each population's waits at every share, rising", () => {
    const calls = Array.from({ length: 50 }, (_, index) => traceCall({ sent: 0, received: index * 2 }));
    const waits = summarize(traceHeader(), calls).populations[0]?.waitsMs ?? [];
    expect(waits).toHaveLength(waitShares.length);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect([waits[0], waits.at(-1)]).toEqual([0, 98]);
  });
});

describe("populations, users and fairness", () => {
  const calls = [
    traceCall({ client: "agents/0", user: "ada" }),
    traceCall({ client: "agents/1", user: "bob" }),
    traceCall({ client: "noisy/0", user: "bot" }),
    traceCall({ client: "noisy/0", user: "bot" }),
    traceCall({ client: "noisy/0", user: "bot", status: 429, refusal: refusal("rest_user") }),
  ];
  const summary = summarize(traceHeader(), calls);

  it("splits them by the client's name", () => {
    expect(summary.populations.map(({ name, clients }) => [name, clients])).toEqual([
      ["agents", 2],
      ["noisy", 1],
    ]);
    expect(figure(summary, "agents.refusedShare")).toBe(0);
    expect(figure(summary, "noisy.refusedShare")).toBe(1 / 3);
    expect(figure(summary, "refusedShare")).toBe(1 / 5);
  });

  it("lists the most refused user first", () => {
    expect(summary.users.map(({ user, figures }) => [user, figures.refused])).toEqual([
      ["bot", 1],
      ["ada", 0],
      ["bob", 0],
    ]);
    expect(summary.usersSeen).toBe(3);
  });

  it("lists users by their refused calls, and those of as many by their admitted ones, the most first", () => {
    const numbers = { ada: [1, 2], bob: [2, 0], cyd: [1, 3], dan: [0, 5], eve: [0, 6], fay: [1, 1] };
    const calls = Object.entries(numbers).flatMap(([user, [refused = 0, admitted = 0]]) => [
      ...Array.from({ length: refused }, () => traceCall({ user, status: 429 })),
      ...Array.from({ length: admitted }, () => traceCall({ user })),
    ]);
    const { users } = summarize(traceHeader(), calls);
    expect(users.map(({ user }) => user)).toEqual(["bob", "cyd", "ada", "fay", "eve", "dan"]);
  });

  it("measures fairness over users by Jain's index: (1+1+2)^2 / (3 x (1+1+4))", () => {
    expect(figure(summary, "fairness")).toBeCloseTo(16 / 18, 12);
    expect(figure(summary, "agents.fairness")).toBe(1);
  });

  it("lowers fairness for a user who is refused altogether", () => {
    const starved = traceCall({ client: "agents/2", user: "eve", status: 429 });
    expect(summarize(traceHeader(), [...calls, starved]).figures.fairness).toBeCloseTo(16 / 24, 12);
  });
});

describe("the time to finish", () => {
  it("runs from the run's start to the last answer of a call that was not refused", () => {
    const calls = [
      traceCall({ received: 1200 }),
      traceCall({ received: 5000, client: "others/0" }),
      traceCall({ received: 6000, status: 429 }),
      traceCall({ received: 7000, status: 0 }),
      traceCall({ received: 8000, kind: "status", cost: null }),
    ];
    const summary = summarize(traceHeader(), calls);
    expect(figure(summary, "finishedMs")).toBe(5000);
    expect(figure(summary, "agents.finishedMs")).toBe(1200);
  });

  it("is nothing where every call was refused", () => {
    expect(figuresOf([traceCall({ status: 429 })]).finishedMs).toBeNull();
  });
});

describe("windows that refuse", () => {
  /** In windows of 5 s, the organization's and the user's, that refused this call or let it through. */
  const shown = (sent: number, refusedBy: "rest" | "rest_user" | null, changes: Partial<TraceCall> = {}) => {
    const reset = 5 - Math.floor((sent % 5000) / 1000);
    const user = { userScopeName: "rest_user", userLimit: 10, userRemaining: 3, userReset: reset } as const;
    return traceCall({
      ...{ sent, received: sent, scopeName: "rest", limit: 10, remaining: 3, reset, ...user },
      ...(refusedBy === null ? {} : { status: 429, refusal: refusal(refusedBy) }),
      ...changes,
    });
  };

  it("counts each window once, whoever was refused: the organization's for all, each user's apart", () => {
    const noisy = { client: "noisy/0", user: "bot" };
    const summary = summarize(traceHeader(), [
      shown(100, "rest"),
      shown(200, "rest"),
      shown(300, "rest", noisy),
      shown(400, "rest_user", noisy),
      shown(900, null, { client: "agents/1", user: "bob" }),
      shown(5100, "rest"),
    ]);
    expect(figure(summary, "windowsExhausted")).toBe(3);
    expect(figure(summary, "agents.windowsExhausted")).toBe(2);
    expect(figure(summary, "noisy.windowsExhausted")).toBe(2);
    expect(summary.users.map(({ user, figures }) => [user, figures.windowsExhausted])).toEqual([
      ["ada", 2],
      ["bot", 2],
      ["bob", 0],
    ]);
  });

  it("counts no refusal whose window nothing shows", () => {
    expect(figuresOf([shown(100, "rest", { reset: null })]).windowsExhausted).toBe(0);
  });

  it("takes the share of refusals among the calls of the first second after a reset", () => {
    const calls = [
      // No answer tells of a reset before these: a run may start anywhere.
      shown(0, "rest"),
      shown(4999, null),
      shown(5000, null),
      shown(5100, "rest"),
      shown(5200, "rest_user", { client: "noisy/0", user: "bot" }),
      shown(5999, null),
      shown(6000, "rest"),
      shown(10_700, "rest", { received: 13_000, reset: 2 }),
    ];
    const summary = summarize(traceHeader(), calls);
    expect(figure(summary, "refusedFirstSecondShare")).toBe(3 / 5);
    expect(figure(summary, "noisy.refusedFirstSecondShare")).toBe(1);
  });

  it("knows no such share where no reset was seen", () => {
    expect(figuresOf([shown(0, "rest"), shown(4000, null)]).refusedFirstSecondShare).toBeNull();
  });
});

describe("windows", () => {
  const rules = parseRules({
    organization: { rest: { limit: 10, windowSeconds: 5 } },
    user: { rest: { limit: 5, windowSeconds: 5 } },
  });
  const at = (sent: number, current: number, changes: Partial<TraceCall> = {}): TraceCall =>
    traceCall({
      sent,
      received: sent + 10,
      scopeName: "rest",
      limit: 10,
      remaining: 10 - current,
      reset: Math.ceil((5000 - (sent % 5000)) / 1000),
      ...changes,
    });

  it("tells them apart by their resets, with each one's highest count and refusals", () => {
    const calls = [at(100, 1), at(900, 2), at(4990, 10), at(4995, 10, { status: 429 }), at(5400, 1)];
    const { windows, windowsSeen } = summarize(traceHeader({ rules }), calls);
    expect(windowsSeen).toBe(2);
    expect(windows).toMatchObject([
      { opensAt: startMs, endsAt: startMs + 5000, limit: 10, highest: 10, admitted: 3, refused: 1 },
      { opensAt: startMs + 5000, endsAt: startMs + 10_000, highest: 1, admitted: 1, refused: 0 },
    ]);
  });

  it("finds the end on a target whose clock is off by any constant, to a second", () => {
    const offMs = 1234;
    const calls = [100, 700, 1300, 3100].map((sent) =>
      at(sent, 1, { reset: Math.ceil((5000 - ((sent + offMs) % 5000)) / 1000) }),
    );
    const { windows } = summarize(traceHeader({ rules }), calls);
    expect(windows).toHaveLength(1);
    expect(Math.abs((windows[0]?.endsAt ?? 0) - (startMs + 5000 - offMs))).toBeLessThanOrEqual(1000);
  });

  it("reads users' windows and status bodies, and takes the count that a refusal's body shows", () => {
    const user = { userScopeName: "rest_user", userLimit: 5, userReset: 4 } as const;
    const body = {
      rest: { limit: 10, current: 7, reset: 4 },
      graphql: { limit: 90, current: 30, reset: 9 },
    };
    const { windows } = summarize(traceHeader(), [
      traceCall({ ...user, userRemaining: 0, status: 429, refusal: refusal("rest_user"), sent: 1200 }),
      traceCall({ kind: "status", cost: null, body, sent: 1300 }),
    ]);
    expect(
      windows.map(rulesOwner).map(({ scope, user, highest, refused }) => [scope, user, highest, refused]),
    ).toEqual([
      ["rest", null, 7, 0],
      ["rest", "ada", 5, 1],
      ["graphql", null, 30, 0],
    ]);
  });

  it("takes no reading from a header of the wrong scope, a doubled header, or a call without an answer", () => {
    const calls = [
      at(100, 1, { scopeName: "graphql" }),
      at(100, 1, { reset: "4, 4" }),
      traceCall({ status: 0 }),
    ];
    expect(summarize(traceHeader({ rules }), calls).windowsSeen).toBe(0);
  });

  it("reads resets that are rounded down as the rules say", () => {
    const floored = parseRules({
      organization: { rest: { limit: 10, windowSeconds: 5 } },
      semantics: { reset: "floor" },
    });
    const calls = [at(2500, 1, { reset: 2 }), at(3999, 2, { reset: 1 })];
    const { windows } = summarize(traceHeader({ rules: floored }), calls);
    expect(windows).toMatchObject([{ endsAt: startMs + 5000 }]);
  });
});
