// A refusal by itself: some window lacked room, and body and headers say the same.
import { describe, expect, test } from "vitest";
import { TraceableAnswer } from "../../src/load/answer.ts";
import { refusalFault } from "../../src/load/ledger.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules } from "../../src/rules/rules.ts";
import { graphql, pipelinesQuery, rest, status } from "../../src/scenario/calls.ts";
import type { CallTemplate } from "../../src/scenario/client.ts";

const user = rest("/v2/user");
const query = pipelinesQuery(30);
const refused = {
  "Ratelimit-Limit": "200",
  "Ratelimit-Remaining": "150",
  "Ratelimit-Reset": "33",
  "Ratelimit-User-Limit": "50",
  "Ratelimit-User-Remaining": "0",
  "Ratelimit-User-Reset": "12",
  "Retry-After": "12",
};
const body = { message: "", scope: "rest_user", limit: 50, current: 50, reset: 12 };

function fault(
  headers: Record<string, string> = {},
  changed: object | string = {},
  template: CallTemplate = user,
  rules: Rules | null = parseRules({}),
): string | null {
  const answer = new TraceableAnswer();
  const raw = {
    status: 429,
    headers: { ...refused, ...headers },
    body: typeof changed === "string" ? changed : JSON.stringify({ ...body, ...changed }),
    error_code: 0,
    error: "",
  };
  answer.read(template, raw, 1_000, 1_010, "token");
  return refusalFault(template, answer, rules);
}

describe("REST", () => {
  test("by the user's window, and by the organization's", () => {
    expect(fault()).toBeNull();
    const whole = { "Ratelimit-Remaining": "0", "Retry-After": "33" };
    expect(fault(whole, { scope: "rest", limit: 200, current: 200, reset: 33 })).toBeNull();
  });

  test.each<[Record<string, string>, object, string]>([
    [{ "Ratelimit-User-Remaining": "1" }, {}, "refusal-justified: refused, and neither window lacks room"],
    [{}, { scope: "rest" }, "refusal-agrees: the refusal names a window that has room"],
    [
      { "Ratelimit-Remaining": "1" },
      { scope: "rest" },
      "refusal-agrees: the refusal names a window that has room",
    ],
    [{}, { scope: "graphql" }, "refusal-agrees: the refusal names no window of this call"],
    [{}, { limit: 100 }, "refusal-agrees: limit differs between body and headers"],
    [{}, { reset: 13 }, "refusal-agrees: reset differs between body and headers"],
    [{}, { current: 49 }, "refusal-agrees: current and remaining differ between body and headers"],
    [{ "Retry-After": "33" }, {}, "refusal-agrees: Retry-After is not the reset of the window that refused"],
  ])("%j %j", (headers, changed, name) => {
    expect(fault(headers, changed)).toBe(name);
  });

  test.each<[Record<string, string>, object | string]>([
    [{}, "null"],
    [{}, '"no"'],
    [{}, "no"],
    [{ "Ratelimit-User-Limit": "fifty" }, {}],
    [{ "Ratelimit-User-Remaining": "none" }, {}],
  ])("%j with a body of %j has nothing to compare", (headers, changed) => {
    expect(fault(headers, changed)).toBeNull();
  });

  test("counted refusals: current is above the limit, shown clamped or not", () => {
    expect(fault({}, { current: 55 })).toBeNull();
    expect(fault({ "Ratelimit-User-Remaining": "-5" }, { current: 55 })).toBeNull();
  });
});

describe("GraphQL", () => {
  test("is refused when less is left than it asks for, not when nothing is", () => {
    expect(fault({ "Ratelimit-User-Remaining": "32" }, {}, query)).toBeNull();
    expect(fault({ "Ratelimit-User-Remaining": "33" }, {}, query)).toContain("refusal-justified");
    const one = graphql("{ a }", { cost: 1 });
    expect(fault({ "Ratelimit-User-Remaining": "1" }, {}, one)).toContain("refusal-justified");
    expect(fault({}, {}, one)).toBeNull();
  });

  test("postpaid: only when nothing is", () => {
    const postpaid = parseRules({ semantics: { graphqlCharge: "postpaid" } });
    expect(fault({ "Ratelimit-User-Remaining": "1" }, {}, query, postpaid)).toContain("refusal-justified");
    expect(fault({ "Ratelimit-User-Remaining": "1" }, {}, query, null)).toBeNull();
  });
});

test("a status call is never refused", () => {
  expect(fault({}, {}, status())).toBe("status-free: a status call was refused");
});
