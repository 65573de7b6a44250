// A client that is alone in its organization: whatever the switches, it never accuses a right deployment; and by
// itself it sees each fault of the catalogue that one client can see.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { faults } from "../../src/faults/catalogue.ts";
import { injectFault } from "../../src/faults/choice.ts";
import { seededRandom } from "../../src/faults/random.ts";
import { TraceableAnswer } from "../../src/load/answer.ts";
import { refusalFault } from "../../src/load/ledger.ts";
import { LoneOrganization } from "../../src/load/lone-organization.ts";
import { headerBounds, headerFault } from "../../src/load/response-checks.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules, RulesInput } from "../../src/rules/rules.ts";
import { switchValues } from "../../src/rules/switches.ts";
import { callPath, callQuery, pipelinesQuery, rest, status, withHeaders } from "../../src/scenario/calls.ts";
import type { CallTemplate } from "../../src/scenario/client.ts";
import { type AppOptions, buildApp } from "../../src/service/app.ts";

const START_MS = Date.UTC(2026, 0, 2, 3, 0, 2, 500);
const user = rest("/v2/user");
const calls: readonly CallTemplate[] = [
  withHeaders(user, { "X-Forwarded-For": "203.0.113.1" }),
  status(),
  withHeaders(user, { "X-Forwarded-For": "203.0.113.2" }),
  pipelinesQuery(30),
  rest("/v2/organizations/:org/pipelines/none"),
];
const token = {
  token: "the-token",
  user: "user-0",
  organization: "acme",
  scopes: ["read_accounts", "read_user", "read_pipelines", "graphql"],
} as const;

/** Calls of one client, one after the other, in virtual time: what it waits, what each trip takes, what it asks. */
interface Step {
  readonly pauseMs: number;
  readonly thereMs: number;
  readonly backMs: number;
  readonly call: number;
}

interface Asked {
  readonly aheadMs?: number;
  /** Number of findings after which nothing is asked. */
  readonly most?: number;
}

/** Findings of a lone client in the answers, each with its place. */
async function findings(
  claimed: Rules | null,
  steps: readonly Step[],
  options: Omit<AppOptions, "tokens" | "now">,
  { aheadMs = 0, most = Number.POSITIVE_INFINITY }: Asked = {},
): Promise<string[]> {
  let nowMs = START_MS;
  const app = buildApp({
    tokens: [token],
    now: () => nowMs + aheadMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
    ...options,
  });
  const alone = new LoneOrganization(claimed, "acme", "user-0");
  const answer = new TraceableAnswer();
  const found: string[] = [];
  for (const [n, { pauseMs, thereMs, backMs, call }] of steps.entries()) {
    if (found.length >= most) break;
    const template = calls[call % calls.length] ?? user;
    nowMs += pauseMs;
    const sentMs = nowMs;
    nowMs += thereMs;
    const isQuery = template.scope === "graphql";
    const said = await app.inject({
      method: template.method,
      url: callPath(template, "acme", 1),
      headers: { authorization: `Bearer ${token.token}`, ...template.headers },
      ...(isQuery ? { payload: { query: callQuery(template, "acme") } } : {}),
    });
    nowMs += backMs;
    const headers = Object.fromEntries(
      Object.entries(said.headers).map(([name, value]) => [canonical(name), String(value)]),
    );
    const raw = { status: said.statusCode, headers, body: said.body, error_code: 0, error: "" };
    answer.read(template, raw, sentMs, nowMs, token.token);
    const fault =
      headerFault(answer, headerBounds(claimed, "acme", "user-0", template.scope)) ??
      refusalFault(template, answer, claimed);
    const seen = alone.answered(template, answer);
    if ((fault ?? seen) !== null) found.push(`${n}: ${fault ?? seen}`);
  }
  await app.close();
  return found;
}

/** As Go writes it: `Ratelimit-User-Reset`. */
const canonical = (name: string): string =>
  name.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase());

const step = fc.record({
  pauseMs: fc.oneof(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 4_000 })),
  thereMs: fc.integer({ min: 0, max: 30 }),
  backMs: fc.integer({ min: 0, max: 30 }),
  call: fc.nat(calls.length - 1),
});

const semantics = fc.record(
  Object.fromEntries(
    Object.entries(switchValues).map(([name, values]) => [
      name,
      fc.constantFrom(...(values as readonly (string | boolean)[])),
    ]),
  ),
);

const rulesArbitrary: fc.Arbitrary<RulesInput> = fc
  .record({
    semantics,
    limits: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 4, maxLength: 4 }),
    seconds: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 4, maxLength: 4 }),
    enforced: fc.boolean(),
  })
  .map(({ semantics: switches, limits, seconds, enforced }) => {
    const window = (n: number) => ({ limit: limits[n] ?? 1, windowSeconds: seconds[n] ?? 1 });
    return {
      organization: { rest: { ...window(0), enforced }, graphql: { ...window(1), enforced } },
      user: { rest: window(2), graphql: window(3) },
      semantics: switches,
    } as RulesInput;
  });

describe("a right deployment is never accused", () => {
  test.each([
    ["under the rules that it claims", true],
    ["where nobody says which rules", false],
  ])("%s", async (_, isClaimed) => {
    await fc.assert(
      fc.asyncProperty(
        rulesArbitrary,
        fc.array(step, { minLength: 5, maxLength: 60, size: "max" }),
        fc.integer({ min: -100_000, max: 100_000 }),
        fc.constantFrom(0, 40),
        async (input, steps, aheadMs, executionDelayMs) => {
          const rules = parseRules(input);
          const claimed = isClaimed ? rules : null;
          expect(await findings(claimed, steps, { rules, executionDelayMs }, { aheadMs })).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("a status", () => {
  const window = { limit: 50, current: 10, reset: 30, reset_at: "2026-01-02T03:00:32.000Z", enforced: true };
  const headers = {
    "Ratelimit-Scope": "rest",
    "Ratelimit-Limit": "50",
    "Ratelimit-Remaining": "40",
    "Ratelimit-Reset": "30",
  };
  const noInteger = "headers-present: the status has a member that is no integer";
  const cases = [
    ["as it should be", {}, null],
    ["without a limit", { limit: null }, noInteger],
    ["with a text for a count", { current: "10" }, noInteger],
    ["without a reset", { reset: undefined }, noInteger],
    [
      "with another count than its headers",
      { current: 12 },
      "conserved: the status shows another count than RateLimit-Remaining",
    ],
    ["whose reset_at is no time", { reset_at: "soon" }, "reset-agrees: reset_at of the status is no time"],
    ["without a reset_at", { reset_at: 5 }, "reset-agrees: reset_at of the status is no time"],
  ] as const;

  test.each(cases)("%s", (_, changed, expected) => {
    const alone = new LoneOrganization(null, "acme", "user-0");
    const answer = new TraceableAnswer();
    const body = JSON.stringify({ scopes: { rest: { ...window, ...changed }, graphql: window } });
    const raw = { status: 200, headers, body, error_code: 0, error: "" };
    answer.read(status(), raw, START_MS, START_MS + 10, "a-secret");
    expect(alone.answered(status(), answer)).toBe(expected);
  });
});

describe("a lone client sees", () => {
  const input: RulesInput = {
    organization: { rest: { limit: 40, windowSeconds: 5 }, graphql: { limit: 120, windowSeconds: 7 } },
    user: { rest: { limit: 12, windowSeconds: 5 }, graphql: { limit: 60, windowSeconds: 7 } },
  };
  const rules = parseRules(input);
  const steps = Array.from({ length: 400 }, (_, n) => ({
    pauseMs: 40 + ((n * 37) % 90),
    thereMs: 3,
    backMs: 4,
    call: (n * 7) % 11,
  }));
  // It takes a second user to see these.
  const needNeighbours = ["wrong-user-key"];
  const names = faults
    .filter(({ nets, name }) => nets.includes("L") && !needNeighbours.includes(name))
    .map(({ name }) => name);

  /** The first thing it finds, by fault. */
  const firstFound: Readonly<Record<string, string>> = {
    "one-short": "refusal-justified: refused, and neither window lacks room",
    "one-extra": "bounded: admitted with too little left in RateLimit-User-Remaining",
    "cost-ignored": "conserved: RateLimit-Remaining fell by less than the call's cost",
    "double-count": "conserved: RateLimit-Remaining fell by more than the call's cost",
    "status-charged": "status-free: RateLimit-Remaining fell by a status call",
    "user-key-from-header": "conserved: RateLimit-User-Remaining fell by less than the call's cost",
    "scopes-mixed": "conserved: RateLimit-Remaining fell by more than the call's cost",
    "rearmed-per-hit": "reset-agrees: reset_at of the status is no multiple of the window's length",
    "per-instance-counters": "conserved: RateLimit-Remaining fell by less than the call's cost",
    "reset-in-ms": "reset-agrees: RateLimit-Reset is above 5",
    "reset-epoch": "reset-agrees: RateLimit-Reset is above 5",
    "reset-zero": "reset-agrees: RateLimit-Reset is below 1",
    "reset-negative": "reset-agrees: RateLimit-Reset is below 1",
    "reset-disagrees": "reset-agrees: reset_at of the status is no multiple of the window's length",
    "retry-too-soon": "refusal-agrees: Retry-After is not the reset of the window that refused",
    "status-pristine": "conserved: the status shows another count than RateLimit-Remaining",
    "headers-missing-on-429": "headers-present: RateLimit-Scope is missing",
    "headers-missing-on-status": "headers-present: RateLimit-Scope is missing",
    "headers-doubled": "headers-present: RateLimit-Scope names the wrong scope",
    "wrong-scope-header": "headers-present: RateLimit-User-Scope names the wrong scope",
    "remaining-of-laxer-window": "limit-agrees: RateLimit-User-Limit is not that of the rules",
  };

  test.each(names)("%s, and which law it breaks", async (name) => {
    const fault = faults.find((known) => known.name === name);
    if (fault === undefined) throw new Error(`no fault ${name}`);
    const faulty = injectFault({ fault, rate: fault.rate?.default ?? 1 }, rules, seededRandom(1));
    const [first] = await findings(rules, steps, { rules, ...faulty }, { most: 1 });
    expect(first?.replace(/^\d+: /, "")).toBe(firstFound[name]);
  });

  test("each of them, and no other", () => {
    expect(Object.keys(firstFound).sort()).toEqual(names.toSorted());
  });

  test("nothing where nothing is wrong", async () => {
    expect(await findings(rules, steps, { rules })).toEqual([]);
  });
});

/** Headers of both windows with so much left of each. */
const leftHeaders = (left: number): Record<string, string> => ({
  ...{ "Ratelimit-Scope": "rest", "Ratelimit-Limit": "200", "Ratelimit-Reset": "50" },
  ...{ "Ratelimit-User-Scope": "rest_user", "Ratelimit-User-Limit": "50", "Ratelimit-User-Reset": "50" },
  ...{ "Ratelimit-Remaining": String(left), "Ratelimit-User-Remaining": String(left) },
});

test("after a call that failed, which may be charged or not, nothing is accused", () => {
  const rules = parseRules({});
  const shown = (status: number, left: number, sentMs: number): TraceableAnswer => {
    const answer = new TraceableAnswer();
    const raw = { status, headers: leftHeaders(left), body: "", error_code: 0, error: "" };
    answer.read(user, raw, sentMs, sentMs + 5, token.token);
    return answer;
  };
  const faultAfter = (...statuses: readonly number[]): string | null => {
    const alone = new LoneOrganization(rules, "acme", "user-0");
    expect(alone.answered(user, shown(200, 40, START_MS))).toBeNull();
    for (const status of statuses) expect(alone.answered(user, shown(status, 39, START_MS + 10))).toBeNull();
    return alone.answered(user, shown(200, 20, START_MS + 20));
  };
  expect(faultAfter()).toMatch(/^[a-z-]+: /);
  expect(faultAfter(200)).toMatch(/^[a-z-]+: /);
  for (const status of [0, 500, 503]) expect(faultAfter(status)).toBeNull();
  expect(faultAfter(503, 200)).toBeNull();
});

test("after a status that denies that limits are enforced, calls without room are accused no more", () => {
  const limits = (limit: number) => ({ limit, windowSeconds: 60 });
  const rules = parseRules({
    organization: { rest: limits(200), graphql: limits(200) },
    user: { rest: limits(50), graphql: limits(50) },
  });
  const headers = { ...leftHeaders(0), "Ratelimit-Reset": "58", "Ratelimit-User-Reset": "58" };
  const faultAfter = (enforced: boolean | null): string | null => {
    const alone = new LoneOrganization(rules, "acme", "user-0");
    let sentMs = START_MS;
    const answered = (call: CallTemplate, body: string): string | null => {
      const answer = new TraceableAnswer();
      sentMs += 10;
      answer.read(
        call,
        { status: 200, headers, body, error_code: 0, error: "" },
        sentMs,
        sentMs + 5,
        "a-secret",
      );
      return alone.answered(call, answer);
    };
    expect(answered(user, "")).toBeNull();
    const shown = { limit: 200, current: 200, reset: 58, reset_at: "2026-01-02T03:01:00.000Z", enforced };
    const asked = enforced !== null;
    if (asked)
      expect(answered(status(), JSON.stringify({ scopes: { rest: shown, graphql: shown } }))).toBeNull();
    return answered(user, "");
  };
  for (const enforced of [null, true])
    expect(faultAfter(enforced)).toBe("bounded: admitted with too little left in RateLimit-Remaining");
  expect(faultAfter(false)).toBeNull();
});
