// Answers to a client under rules: whose windows are checked alone, the line of each answer, and its fault.
import { describe, expect, test } from "vitest";
import { Ledger, type LedgerSettings } from "../../src/load/ledger.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { graphql, rest, status } from "../../src/scenario/calls.ts";
import { type CallTemplate, createEvent } from "../../src/scenario/client.ts";
import { burst, defineScenario, poller } from "../../src/scenario/index.ts";
import { eight } from "./headers.ts";

const startMs = 1_795_305_600_000;
const user = rest("/v2/user");
const polling = poller({ every: "1s", call: user });
const scenario = defineScenario({
  name: "some",
  duration: "1m",
  rules: parseRules({}),
  populations: {
    alone: { clients: 1, behaviour: polling },
    own: { clients: 2, user: "each", behaviour: polling },
    shared: { clients: 2, user: "shared", behaviour: polling },
    crowded: { clients: 1, behaviour: burst({ call: user, size: 2 }) },
  },
});
const seat = (organization: string, name: string) => ({ organization, user: name, token: "a-secret" });
const callers = [[seat("acme", "ann")], [seat("beta", "bob")], [seat("beta", "cy")], [seat("delta", "dan")]];

function ledgerOf(place: number, changed: Partial<LedgerSettings> = {}): Ledger {
  const population = scenario.populations[place];
  const caller = callers[place]?.[0];
  if (population === undefined || caller === undefined) throw new RangeError(`no population ${place}`);
  return new Ledger({ scenario, shared: false, callers, ...changed }, population, "agents/0", caller);
}

interface Said {
  readonly template?: CallTemplate;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What a ledger says of one answer. */
function taken(
  ledger: Ledger,
  { template = user, status: code = 200, headers = {}, body = "{}" }: Said = {},
) {
  const planned = { atMs: startMs, template: 0, page: 0, attempt: 1, wantedMs: startMs - 50, delayMs: 0 };
  const raw = { status: code, headers: { ...eight, ...headers }, body, error_code: 0, error: "" };
  const event = createEvent();
  const line = ledger.page(template).take(4, planned, raw, startMs, startMs + 9, event);
  const { fault, isRefusal, isCounted } = ledger;
  return { line, event, fault, isRefusal, isCounted };
}

test("an answer's headers bring no token into the trace", () => {
  const { line, fault } = taken(ledgerOf(1), {
    headers: {
      "Ratelimit-Warning": "Bearer a-secret is nearly used up",
      "Ratelimit-User-Limit": "50 of a-secret",
      "Retry-After": "a-secret",
    },
  });
  expect(line).not.toContain("a-secret");
  expect(JSON.parse(line)).toMatchObject({
    ...{ scopeName: "rest", limit: 200, userLimit: "50 of <token>", retryAfter: "<token>" },
    warning: "Bearer <token> is nearly used up",
  });
  expect(fault).toBe("headers-present: RateLimit-User-Limit is no integer");
});

const shown = `"scopeName":"rest","limit":200,"remaining":${eight["Ratelimit-Remaining"]}`;

describe("an answer", () => {
  test.each([user, status(), graphql("{ a }", { cost: 7 })])(
    "tells what $name asks of both windows",
    (template) => {
      const { cost } = template;
      expect(taken(ledgerOf(0), { template }).event).toMatchObject({ cost, userCost: cost });
    },
  );

  test("has its line, and tells the client", () => {
    const { line, event, ...rest } = taken(ledgerOf(0));
    expect(line.startsWith(`{"sent":${startMs},"received":${startMs + 9},"client":"agents/0","call":4`)).toBe(
      true,
    );
    expect(line).toContain(
      `"org":"acme","user":"ann","scope":"rest","kind":"call","cost":1,"status":200,${shown}`,
    );
    expect(line.endsWith(`"wanted":${startMs - 50},"attempt":1}`)).toBe(true);
    expect(event).toMatchObject({ nowMs: startMs + 9, status: 200, limit: 200 });
    expect(rest).toEqual({ fault: null, isRefusal: false, isCounted: true });
  });

  test.each<[string, Said, { fault?: string; isRefusal?: boolean; isCounted?: boolean }]>([
    ["that no call is counted for", { template: status() }, { isCounted: false }],
    ["that does not come", { status: 0 }, { isCounted: false }],
    ["that no quota counts", { status: 401 }, { isCounted: false }],
    [
      "against the rules",
      { headers: { "Ratelimit-Limit": "201" } },
      { fault: "limit-agrees: RateLimit-Limit is not that of the rules" },
    ],
    [
      "that refuses without a reason",
      { status: 429 },
      { fault: "refusal-justified: refused, and neither window lacks room", isRefusal: true },
    ],
  ])("%s", (_, said, expected) => {
    const { fault, isRefusal, isCounted } = taken(ledgerOf(2), said);
    expect({ fault, isRefusal, isCounted }).toEqual({
      fault: null,
      isRefusal: false,
      isCounted: true,
      ...expected,
    });
  });

  test("that is plain again clears what the last one left", () => {
    const ledger = ledgerOf(2);
    expect(taken(ledger, { status: 429 })).toMatchObject({ isRefusal: true });
    expect(taken(ledger, { status: 0 })).toMatchObject({ isCounted: false });
    expect(taken(ledger)).toMatchObject({ fault: null, isRefusal: false, isCounted: true });
  });
});

const fell = { "Ratelimit-User-Remaining": String(Number(eight["Ratelimit-User-Remaining"]) - 2) };
const fellBy = (name: string): string => `conserved: ${name} fell by more than the call's cost`;

test.each<[string, number, Partial<LedgerSettings>, Readonly<Record<string, string>>, string | null]>([
  [
    "the organization's only client sees its windows",
    0,
    {},
    { "Ratelimit-Remaining": "9" },
    fellBy("RateLimit-Remaining"),
  ],
  ["a user's only client sees the user's", 1, {}, fell, fellBy("RateLimit-User-Remaining")],
  ["and not the organization's", 1, {}, { "Ratelimit-Remaining": "9" }, null],
  ["clients that share a user see nothing", 2, {}, fell, null],
  ["nor does one that has several calls on the way", 3, {}, fell, null],
  ["nor any where others use the same quotas", 0, { shared: true }, fell, null],
  ["nor a user's only client there", 1, { shared: true }, fell, null],
])("%s", (_, place, changed, headers, expected) => {
  const ledger = ledgerOf(place, changed);
  expect(taken(ledger).fault).toBeNull();
  expect(taken(ledger, { headers }).fault).toBe(expected);
});
