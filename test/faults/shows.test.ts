// Each fault shows from outside as the catalogue says, in a few calls; the same calls to a right deployment do not
// show it. Limits are 3 a user and 5 an organization for REST (windows of 10 s), 30 and 50 points for GraphQL.
import { describe, expect, test } from "vitest";
import type { Decision, Reservation } from "../../src/engine/adapter.ts";
import { Limiter } from "../../src/engine/limiter.ts";
import { decideNow } from "../../src/engine/store.ts";
import { faultNames, injectFault, parseFault, semanticsFor } from "../../src/faults/choice.ts";
import { faultyAdapter } from "../../src/faults/factory.ts";
import type { Faulty } from "../../src/faults/fault.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules, Scope } from "../../src/rules/rules.ts";
import type { HttpAnswer } from "../../src/wire/answer.ts";

const rules = parseRules({
  organization: {
    rest: { limit: 5, windowSeconds: 10 },
    graphql: { limit: 50, windowSeconds: 20 },
  },
  user: { rest: { limit: 3, windowSeconds: 10 }, graphql: { limit: 30, windowSeconds: 20 } },
  organizations: { free: { rest: { limit: 2, enforced: false } } },
  semantics: { graphqlCharge: "prepaid" },
});
const startMs = 1_767_225_600_000;

/** A deployment that is asked a few things, `at` so many ms after a window began. */
class Asking {
  readonly #faulty: Faulty;

  constructor(faulty: Faulty) {
    this.#faulty = faulty;
  }

  call(user: string, at = 0, scope: Scope = "rest", cost = 1, organization = "acme"): Decision {
    return decideNow(this.#faulty.store, { organization, user, scope, cost }, startMs + at);
  }

  /** Units that are left of the user's window and of the organization's after a call. */
  left(user: string, at = 0, scope: Scope = "rest", cost = 1): string {
    const { admitted, user: narrow, organization } = this.call(user, at, scope, cost);
    return `${admitted ? "" : "refused "}${narrow.remaining} ${organization.remaining}`;
  }

  status(at = 0) {
    return this.#faulty.store.status("acme", startMs + at);
  }

  /** The answer to a status call, or to a call that was decided so. */
  sent(asked: "status" | Decision, at = 0, scope: Scope = "rest"): HttpAnswer {
    const adapter = faultyAdapter(rules, this.#faulty);
    const call = { organization: "acme", user: "ann", scope, cost: 1 };
    const answer = adapter.answer?.(
      asked === "status"
        ? { kind: "status", organization: "acme", user: "ann" }
        : { kind: "call", call, said: asked },
      startMs + at,
    );
    return answer as HttpAnswer;
  }

  settle(reservation: Reservation | null, actual: number, at = 0) {
    if (reservation === null) throw new Error("nothing is held");
    return this.#faulty.store.settle(reservation, actual, startMs + at);
  }

  /** An answer as it is sent in place of the right one. */
  changed(answer: HttpAnswer, kind: "call" | "status" | "other", scope: Scope = "rest"): HttpAnswer {
    const about = { kind, organization: "acme", user: "ann", scope, nowMs: startMs } as const;
    return this.#faulty.change?.(answer, about) ?? answer;
  }

  userOf(headers: Record<string, string>): string {
    return this.#faulty.userOf?.("ann", headers) ?? "ann";
  }
}

/** The rules under which a fault is one. */
const rulesFor = (name: string): Rules => {
  const switches = Object.entries(semanticsFor(parseFault(name).fault)).map(
    ([key, value]) => [key, { rest: value, graphql: value }] as const,
  );
  return { ...rules, semantics: { ...rules.semantics, ...Object.fromEntries(switches) } };
};

/** Calls, the readings of a right deployment, and those of the fault. */
type Row = readonly [string, (asking: Asking) => unknown, unknown, unknown];

const users = ["ann", "bob", "cleo"] as const;
const reset = ({ user }: Decision): number => user.reset;
const fields = (answer: HttpAnswer): number =>
  Object.keys(answer.headers).filter((name) => name.startsWith("RateLimit-")).length;
const bodyOf = (answer: HttpAnswer) =>
  answer.body as { scopes: Record<Scope, { current: number; reset: number; reset_at: string }> };

const rows: readonly Row[] = [
  [
    "one-short",
    (a) => [1, 2, 3].map(() => a.left("ann")),
    ["2 4", "1 3", "0 2"],
    ["2 4", "1 3", "refused 1 3"],
  ],
  [
    "one-extra",
    (a) => [1, 2, 3, 4].map(() => a.left("ann")),
    ["2 4", "1 3", "0 2", "refused 0 2"],
    ["2 4", "1 3", "0 2", "0 1"],
  ],
  ["cost-ignored", (a) => a.left("ann", 0, "graphql", 9), "21 41", "29 49"],
  ["cost-over-limit-admitted", (a) => a.left("ann", 0, "graphql", 60), "refused 30 50", "0 0"],
  ["double-count", (a) => a.left("ann"), "2 4", "1 3"],
  ["refused-counted", (a) => [1, 2, 3, 4].map(() => a.call("ann").user.current), [1, 2, 3, 3], [1, 2, 3, 4]],
  ["narrow-drains-broad", (a) => [1, 2, 3, 4].map(() => a.left("ann")).at(-1), "refused 0 2", "refused 0 1"],
  ["status-charged", (a) => [a.sent("status").status, a.left("ann")], [200, "2 4"], [200, "1 3"]],
  [
    "refusal-names-user",
    (a) => [
      [1, 2, 3].map(() => a.left("ann")).at(-1),
      [1, 2].map(() => a.left("bob")).at(-1),
      a.call("ann").refusedBy,
    ],
    ["0 2", "1 0", "organization"],
    ["0 2", "1 0", "user"],
  ],
  [
    "unenforced-refuses",
    (a) => [1, 2, 3].map(() => a.call("ann", 0, "rest", 1, "free").admitted),
    [true, true, true],
    [true, true, false],
  ],
  ["wrong-user-key", (a) => users.map((user) => a.left(user)), ["2 4", "2 3", "2 2"], ["2 4", "1 3", "0 2"]],
  ["user-key-from-header", (a) => a.userOf({ "x-forwarded-for": "10.0.0.1" }), "ann", "ann as 10.0.0.1"],
  ["scheme-letters-pick-key", (a) => a.userOf({ authorization: "bearer x" }), "ann", "ann by bearer"],
  [
    "client-picks-key",
    (a) => ["one", "one", "other"].map((agent) => a.userOf({ "user-agent": agent })),
    ["ann", "ann", "ann"],
    ["ann", "ann", "ann by other"],
  ],
  ["keys-hashed", (a) => ["eve", "oli"].map((user) => a.left(user)), ["2 4", "2 3"], ["2 4", "1 3"]],
  [
    "names-collide",
    (a) =>
      [["b-c", "a"] as const, ["c", "a-b"] as const].map(
        ([user, organization]) => a.call(user, 0, "rest", 1, organization).user.remaining,
      ),
    [2, 2],
    [2, 1],
  ],
  [
    "status-refused-when-empty",
    (a) => {
      for (let call = 0; call < 3; call++) a.left("ann");
      return a.changed({ status: 200, headers: {} }, "status").status;
    },
    200,
    429,
  ],
  [
    "headers-missing-on-404",
    (a) => fields(a.changed({ status: 404, headers: { "RateLimit-Limit": 5 } }, "call")),
    1,
    0,
  ],
  [
    "refusal-shows-other-scope",
    (a) => a.changed({ status: 429, headers: {} }, "call").headers["RateLimit-Scope"],
    undefined,
    "graphql",
  ],
  [
    "rejected-query-charged",
    (a) => {
      a.changed({ status: 400, headers: {} }, "other", "graphql");
      return a.left("ann", 0, "graphql", 9);
    },
    "21 41",
    "20 40",
  ],
  [
    "first-calls-lost",
    (a) => [0, 5, 60].map((at) => a.left("ann", at)),
    ["2 4", "1 3", "0 2"],
    ["2 4", "2 4", "1 3"],
  ],
  ["rolls-early", (a) => [7000, 9000].map((at) => a.left("ann", at)), ["2 4", "1 3"], ["2 4", "2 4"]],
  [
    "refusal-body-disagrees",
    (a) => a.changed({ status: 429, headers: {}, body: { limit: 3 } }, "call").body,
    { limit: 3 },
    { limit: 6 },
  ],
  [
    "refusal-503",
    (a) => a.changed({ status: 429, headers: { "RateLimit-Limit": 5 } }, "call").status,
    429,
    503,
  ],
  [
    "scopes-mixed",
    (a) => [a.left("ann"), a.left("ann", 0, "graphql", 9)],
    ["2 4", "21 41"],
    ["2 4", "20 40"],
  ],
  [
    "new-reset-old-count=1",
    (a) => [0, 10_000, 20_000].map((at) => a.left("ann", at)),
    ["2 4", "2 4", "2 4"],
    ["2 4", "1 3", "2 4"],
  ],
  [
    "lost-expiry=1",
    (a) => [0, 10_000, 20_000, 900_000].map((at) => a.left("ann", at)),
    ["2 4", "2 4", "2 4", "2 4"],
    ["2 4", "1 3", "0 2", "refused 0 2"],
  ],
  [
    "immortal-by-polling",
    (a) => [a.left("ann"), a.status(9_000).rest.current, a.left("ann", 10_000), a.left("ann", 20_000)],
    ["2 4", 1, "2 4", "2 4"],
    ["2 4", 1, "2 3", "2 4"],
  ],
  ["rearmed-per-hit", (a) => [0, 4000, 9000].map((at) => reset(a.call("ann", at))), [10, 6, 1], [10, 10, 10]],
  ["reset-all-sweep", (a) => [3000, 5000].map((at) => a.left("ann", at)), ["2 4", "1 3"], ["2 4", "2 4"]],
  ["double-roll=1", (a) => [0, 9000].map((at) => a.left("ann", at)), ["2 4", "1 3"], ["2 4", "2 4"]],
  [
    "status-opens-window",
    (a) => [a.status(0).rest.reset, reset(a.call("ann", 4000)), a.call("ann", 4000).organization.reset],
    [10, 10, 10],
    [10, 10, 6],
  ],
  [
    "organization-off-grid",
    (a) => {
      const { organization, user } = a.call("ann", 1000);
      return [organization.reset, user.reset];
    },
    [9, 9],
    [6, 9],
  ],
  ["windows-back-to-back", (a) => [1000, 14_000].map((at) => reset(a.call("ann", at))), [10, 10], [10, 7]],
  [
    "boundary-inclusive",
    (a) => [0, 10_000, 10_001].map((at) => a.left("ann", at)),
    ["2 4", "2 4", "1 3"],
    ["2 4", "1 3", "2 4"],
  ],
  [
    "stale-replica-read",
    (a) => [a.left("ann", 0), a.status(500).rest.current, a.status(1500).rest.current],
    ["2 4", 1, 1],
    ["2 4", 0, 1],
  ],
  ["reset-in-ms", (a) => reset(a.call("ann", 1500)), 9, 8500],
  ["reset-epoch", (a) => reset(a.call("ann", 1500)), 9, (startMs + 10_000) / 1000],
  ["reset-zero", (a) => [8999, 9001].map((at) => reset(a.call("ann", at))), [2, 1], [2, 0]],
  ["reset-negative", (a) => reset(a.call("ann", 1500)), 9, -1],
  ["reset-truncated", (a) => [0, 1500].map((at) => reset(a.call("ann", at))), [10, 9], [10, 8]],
  [
    "reset-at-drifts",
    (a) => [0, 700].map((at) => a.status(at).rest.resetAtMs - startMs),
    [10_000, 10_000],
    [10_000, 11_000],
  ],
  ["reset-disagrees", (a) => a.status(0).graphql.resetAtMs - startMs, 20_000, 84_000],
  [
    "stale-cached-reset",
    (a) => [0, 0, 0, 1000, 4000].map((at) => reset(a.call("ann", at))),
    [10, 10, 10, 9, 6],
    [10, 10, 10, 9, 9],
  ],
  [
    "retry-too-soon",
    (a) => {
      const refused = [1, 2, 3, 4].map(() => a.call("ann", 2000)).at(-1) as Decision;
      const { headers } = a.sent(refused, 2000);
      return [headers["RateLimit-User-Reset"], headers["Retry-After"]];
    },
    [8, 8],
    [8, 1],
  ],
  [
    "status-pristine",
    (a) => [a.left("ann"), bodyOf(a.sent("status")).scopes.rest.current],
    ["2 4", 1],
    ["2 4", 0],
  ],
  [
    "status-shares-user",
    (a) => [a.left("ann"), a.left("bob"), bodyOf(a.sent("status")).scopes.rest.current],
    ["2 4", "2 3", 2],
    ["2 4", "2 3", 1],
  ],
  [
    "headers-missing-on-429",
    (a) => [1, 2, 3, 4].map(() => fields(a.sent(a.call("ann")))),
    [8, 8, 9, 9],
    [8, 8, 9, 0],
  ],
  ["headers-missing-on-status", (a) => fields(a.sent("status")), 8, 0],
  [
    "headers-doubled",
    (a) => [
      a.sent(a.call("ann")).headers["RateLimit-Scope"],
      a.sent(a.call("ann")).headers["RateLimit-Reset"],
    ],
    ["rest", 10],
    ["rest, rest", "10, 10"],
  ],
  ["wrong-scope-header", (a) => a.sent(a.call("ann")).headers["RateLimit-User-Scope"], "rest_user", "rest"],
  ["remaining-of-laxer-window", (a) => a.sent(a.call("ann")).headers["RateLimit-User-Remaining"], 2, 5],
];

/** Those of several processes: here they answer in turn. */
const nodeRows: readonly Row[] = [
  [
    "per-instance-counters",
    (a) => [1, 2, 3, 4].map(() => a.left("ann")),
    ["2 4", "1 3", "0 2", "refused 0 2"],
    ["2 4", "2 4", "1 3", "1 3"],
  ],
  [
    "two-interleaved-windows",
    (a) => [0, 1, 2].map((at) => reset(a.call("ann", at))),
    [10, 10, 10],
    [10, 6, 10],
  ],
  ["skewed-nodes=3.7", (a) => [0, 1, 2].map((at) => reset(a.call("ann", at))), [10, 10, 10], [10, 7, 10]],
  [
    "limit-changes-mid-window",
    (a) => [0, 1, 2].map((at) => a.call("ann", at).organization.limit),
    [5, 5, 5],
    [5, 6, 5],
  ],
];

/** Draws that strike whatever has a share of a half, and that name the processes in turn. */
function inTurn(): () => number {
  let draws = 0;
  return () => (draws++ % 2 === 0 ? 0.25 : 0.75);
}

const rightly = (rules: Rules): Faulty => ({ store: new Limiter(rules) });

describe.each([...rows, ...nodeRows])("%s", (name, ask, right, wrong) => {
  test("shows", () => {
    expect(ask(new Asking(injectFault(parseFault(name), rulesFor(name), inTurn())))).toEqual(wrong);
  });

  test("does not show where it is not", () => {
    expect(ask(new Asking(rightly(rulesFor(name))))).toEqual(right);
  });
});

test.each([
  ["immortal-by-polling=2", 7_999, "2 4"],
  ["immortal-by-polling=2", 8_000, "2 3"],
  ["immortal-by-polling=1", 8_999, "2 4"],
  ["immortal-by-polling=1", 9_000, "2 3"],
])("%s, polled at %i ms: a window of 10 s leaves %s in the next", (name, polledMs, left) => {
  const asking = new Asking(injectFault(parseFault(name), rules, inTurn()));
  asking.left("ann");
  asking.status(polledMs);
  expect(asking.left("ann", 10_000)).toBe(left);
});

test("every fault of the catalogue stands here", () => {
  const shown = [...rows, ...nodeRows].map(([name]) => parseFault(name).fault.name);
  expect([...shown, "race-read-then-write", "overflow"].sort()).toEqual([...faultNames].sort());
});

test("race-read-then-write shows where two calls overlap, and only there", () => {
  const { store } = injectFault(parseFault("race-read-then-write=10"), rules, () => 0.5);
  const call = { organization: "acme", user: "ann", scope: "rest", cost: 1 } as const;
  const begin = (at: number) => {
    const pending = store.decide(call, startMs + at);
    if (!("resume" in pending)) throw new Error("decided at once");
    return () => pending.resume(startMs + at + pending.waitMs).user.remaining;
  };
  const [first, second] = [begin(0), begin(1)];
  expect([first(), second(), begin(100)()]).toEqual([2, 2, 1]);
});

test("overflow shows at 2^32", () => {
  const large = parseRules({
    organization: { graphql: { limit: 5_000_000_000 } },
    user: { graphql: { limit: 5_000_000_000 } },
    semantics: { graphqlCharge: "prepaid" },
  });
  const { store } = injectFault(parseFault("overflow"), large, () => 0.5);
  const call = { organization: "acme", user: "ann", scope: "graphql", cost: 4_294_967_295 } as const;
  expect(decideNow(store, call, startMs).user.current).toBe(4_294_967_295);
  expect(decideNow(store, { ...call, cost: 2 }, startMs).user.current).toBe(1);
});
