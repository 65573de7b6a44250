// GraphQL's charges and refusals: what two or three queries tell of each kind of deployment, in the probe's words, and
// what it would need where they tell nothing.
import { describe, expect, test } from "vitest";
import { roomOf } from "../../src/probe/charging.ts";
import type { FindingName } from "../../src/probe/finding.ts";
import type { SeenCall } from "../../src/probe/seen.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { probeOf, probeVirtually, tokenOf, VirtualTarget } from "./virtual.ts";

const limits = (organization: number, user: number, more: object = {}): RulesInput =>
  ({
    organization: { graphql: { limit: organization, windowSeconds: 300, ...more } },
    user: { graphql: { limit: user, windowSeconds: 300 } },
  }) as RulesInput;
const having = (rules: RulesInput, switches: Readonly<Record<string, string>>): RulesInput => ({
  ...rules,
  semantics: Object.fromEntries(Object.entries(switches).map(([name, value]) => [name, { graphql: value }])),
});

/** A finding as value, evidence and needs; calls are named by what they asked alone. */
async function findingsOf(rules: RulesInput) {
  const { findings } = await probeVirtually(rules);
  const said = new Map<FindingName, readonly [unknown, string, string | null]>();
  for (const { name, scope, value, evidence, needs } of findings)
    if (scope === "graphql") said.set(name, [value, evidence.replace(/call \d+ at [\d:.]+ /g, ""), needs]);
  return said;
}

const charged = (amount: number): string => `asked for 40 points, 13 came back, ${amount} were charged`;
const refusedQuery = "asked for 41 points and was answered 429";

test("room is known where a status and an answer of GraphQL show both windows", () => {
  const status = (window: object | null) => ({
    scope: "rest",
    statusScopes: { rest: null, graphql: window },
    headers: {},
  });
  const shown = (userLimit: number | null, userRemaining: number | null) => ({
    ...{ scope: "graphql", statusScopes: null },
    headers: { userScopeName: "graphql_user", userLimit, userRemaining, userReset: 5 },
  });
  const of = (...calls: object[]) => roomOf({ calls: calls as unknown as SeenCall[] });
  const window = { limit: 60, current: 10, reset: 9, resetAtMs: 9_000, enforced: false };
  expect(
    of(status(null), status({ ...window, current: 0 }), status(window), shown(40, 40), shown(40, 30)),
  ).toEqual({
    limits: { organization: 60, user: 40 },
    remaining: { organization: 50, user: 30 },
    enforced: false,
  });
  expect(of(status(window), shown(1, 0))?.limits.user).toBe(1);
  expect(of(status(window), shown(0, 0))).toBeNull();
  expect(of(status(window), shown(null, 3))).toBeNull();
  expect(of(status(window), shown(4, null))).toBeNull();
  expect(of(status(window))).toBeNull();
  expect(of(status(null), shown(4, 3))).toBeNull();
});

describe("a limit of 60 for the organization, of 40 for the user", () => {
  const base = limits(60, 40);

  test("reserved: a query above the user's limit is refused, and one above both names who is first", async () => {
    const said = await findingsOf(having(base, { graphqlCharge: "reserved" }));
    expect(said.get("graphqlCost")).toEqual([{ requested: 40, actual: 13, charged: 13 }, charged(13), null]);
    expect(said.get("graphqlCharge")).toEqual([
      "reserved",
      `${charged(13)}; asked for 41 points, above the limit of 40, and was refused`,
      null,
    ]);
    expect(said.get("refused")).toEqual([
      "uncounted",
      `${refusedQuery} by the user's window, whose count moved by 0`,
      null,
    ]);
    expect(said.get("refusedByUser")?.[0]).toBe("charges-nothing");
    expect(said.get("retryAfter")).toEqual([true, `${refusedQuery}, Retry-After 160`, null]);
    expect(said.get("firstRefuser")).toEqual([
      "organization",
      "asked for 61 points, above both limits, and the organization's window refused",
      null,
    ]);
  });

  test("postpaid: it is admitted, and nothing tells who is first", async () => {
    const said = await findingsOf(having(base, { graphqlCharge: "postpaid" }));
    expect(said.get("graphqlCharge")).toEqual([
      "postpaid",
      `${charged(13)}; asked for 41 points, above the limit of 40, and was admitted`,
      null,
    ]);
    expect(said.get("firstRefuser")).toEqual([
      null,
      "how GraphQL is charged was not seen, or it is postpaid",
      "a charge by what is asked for",
    ]);
  });

  test("prepaid: one query tells it by its charge", async () => {
    const said = await findingsOf(having(base, { graphqlCharge: "prepaid" }));
    expect(said.get("graphqlCharge")).toEqual(["prepaid", charged(40), null]);
    expect(said.get("refusedByUser")?.[1]).toBe(`${refusedQuery}; it was not the user's window that refused`);
  });

  test.each([{ refused: "counted" }, { refusedByUser: "charges-organization" }])(
    "refusals that cost: %o: who is first is not tried",
    async (switches) => {
      const said = await findingsOf(having(base, { graphqlCharge: "reserved", ...switches }));
      for (const [name, value] of Object.entries(switches))
        expect(said.get(name as FindingName)?.[0]).toBe(value);
      expect(said.get("firstRefuser")).toEqual([
        null,
        "refusals are charged: trying would use up the organization's window",
        "nothing: it is not tried",
      ]);
    },
  );

  test("a refusal that is counted beyond what was left shows remaining clamped", async () => {
    const said = await findingsOf(having(base, { graphqlCharge: "reserved", refused: "counted" }));
    expect(said.get("remaining")).toEqual([
      "clamped",
      "was charged 41 points where 27 were left of the user's, and showed remaining 0",
      null,
    ]);
  });
});

test("a query above the limit that others' calls leave no room for tells nothing of postpaid", async () => {
  const filled = new Set<string>();
  const { token } = tokenOf("other");
  const target: VirtualTarget = new VirtualTarget(having(limits(60, 100), { graphqlCharge: "postpaid" }), {
    // Others query while the probe looks on, and again just before its query of nobody's data.
    async meanwhile(_nowMs, call) {
      const { body = "" } = target.asked.at(-1) ?? {};
      const moment = body.includes("nobody") ? "query" : target.calls === 5 ? "look" : null;
      if (moment === null || filled.has(moment)) return;
      filled.add(moment);
      for (let calls = moment === "look" ? 1 : 2; calls > 0; calls--) await call(token, "graphql");
    },
  });
  const { findings } = await probeOf(target);
  expect(filled.size).toBe(2);
  const found = findings.find(({ name }) => name === "graphqlCharge");
  expect([found?.value, found?.evidence]).toEqual([
    null,
    expect.stringMatching(/; others call, and may have/),
  ]);
});

describe("a scope that is not enforced", () => {
  const notEnforced = (switches: Readonly<Record<string, string>>, user = 40) =>
    findingsOf(having(limits(60, user, { enforced: false }), switches));
  const asked = "enforced is false, and asked for 41 points, above the user's limit";

  test("tells by a query above the user's limit whether the user's window refuses", async () => {
    const [free, always] = await Promise.all([
      notEnforced({ graphqlCharge: "prepaid" }),
      notEnforced({ graphqlCharge: "prepaid", userEnforced: "always" }),
    ]);
    expect(free.get("userEnforced")).toEqual(["with-organization", `${asked}: admitted`, null]);
    expect((await notEnforced({ graphqlCharge: "prepaid" }, 60)).get("userEnforced")?.[0]).toBe(
      "with-organization",
    );
    expect(always.get("userEnforced")).toEqual(["always", `${asked}: refused by the user's window`, null]);
    expect(free.get("firstRefuser")).toEqual([
      null,
      "nothing was refused by both",
      "a scope that is enforced and not postpaid",
    ]);
  });

  test("postpaid would admit it anyway: a full window tells; a user's limit that is the larger one tells nothing", async () => {
    const [postpaid, larger] = await Promise.all([
      notEnforced({ graphqlCharge: "postpaid" }),
      notEnforced({ graphqlCharge: "prepaid" }, 70),
    ]);
    expect(postpaid.get("userEnforced")).toEqual([
      "with-organization",
      "enforced is false, the user's window had nothing left, and was admitted",
      null,
    ]);
    expect(postpaid.get("graphqlCharge")?.[1]).toBe(`${charged(13)}: reserved or postpaid`);
    expect(larger.get("userEnforced")?.[1]).toBe("the user's limit is above the organization's");
  });
});

describe("limits beyond what is asked", () => {
  test("of one query: a smaller limit is needed", async () => {
    const said = await findingsOf(limits(90_000, 80_000));
    for (const name of ["refused", "refusedByUser", "userEnforced", "retryAfter", "firstRefuser"] as const)
      expect(said.get(name)).toEqual([
        null,
        "both limits are above the 50000 points that one query may ask for",
        "a smaller limit",
      ]);
    expect(said.get("graphqlCharge")?.slice(1)).toEqual([
      "asked for 53 points, 13 came back, 13 were charged: reserved or postpaid",
      "a query above the limit: larger --points",
    ]);
  });
});
