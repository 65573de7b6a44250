// The checks of each answer on the spot: each breach has a name, and what is legal has none.
import { describe, expect, test } from "vitest";
import { TraceableAnswer, tell } from "../../src/load/answer.ts";
import { headerBounds, headerFault, LoneUser } from "../../src/load/response-checks.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules, RulesInput } from "../../src/rules/rules.ts";
import { pipelinesQuery, rest, status as statusCall } from "../../src/scenario/calls.ts";
import { type CallTemplate, createEvent } from "../../src/scenario/client.ts";
import { eight } from "./headers.ts";

const user = rest("/v2/user");
function read(
  template: CallTemplate,
  status: number,
  headers: Record<string, string | undefined>,
): TraceableAnswer {
  const answer = new TraceableAnswer();
  answer.read(template, { status, headers, body: "{}", error_code: 0, error: "" }, 1_000, 1_010, "token");
  return answer;
}

const rules = (input: RulesInput = {}): Rules => parseRules(input);

function fault(
  changed: Record<string, string | undefined>,
  claimed: Rules | null = rules(),
  status = 200,
): string | null {
  const answer = read(user, status, { ...eight, ...changed });
  return headerFault(answer, headerBounds(claimed, "acme", "agent-17", "rest"));
}

describe("an answer's headers", () => {
  test("as the rules say have no fault", () => {
    expect(fault({})).toBeNull();
    expect(fault({ "Ratelimit-Remaining": "0", "Ratelimit-User-Remaining": "0" }, rules(), 429)).toBeNull();
    expect(fault({ "Ratelimit-Reset": "1", "Ratelimit-User-Reset": "60" })).toBeNull();
  });

  test.each<[Record<string, string | undefined>, string]>([
    [{ "Ratelimit-Scope": undefined }, "headers-present: RateLimit-Scope is missing"],
    [{ "Ratelimit-Limit": undefined }, "headers-present: RateLimit-Limit is missing"],
    [{ "Ratelimit-User-Reset": undefined }, "headers-present: RateLimit-User-Reset is missing"],
    [{ "Ratelimit-Remaining": "5, 5" }, "headers-present: RateLimit-Remaining is no integer"],
    [{ "Ratelimit-Reset": "1.5" }, "headers-present: RateLimit-Reset is no integer"],
    [{ "Ratelimit-User-Scope": "rest" }, "headers-present: RateLimit-User-Scope names the wrong scope"],
    [{ "Ratelimit-Scope": "graphql" }, "headers-present: RateLimit-Scope names the wrong scope"],
    [{ "Ratelimit-Limit": "0", "Ratelimit-Remaining": "0" }, "limit-agrees: RateLimit-Limit is below 1"],
    [{ "Ratelimit-User-Limit": "100" }, "limit-agrees: RateLimit-User-Limit is not that of the rules"],
    [{ "Ratelimit-Remaining": "201" }, "remaining-agrees: RateLimit-Remaining is above RateLimit-Limit"],
    [{ "Ratelimit-User-Remaining": "-1" }, "remaining-agrees: RateLimit-User-Remaining is below 0"],
    [{ "Ratelimit-Reset": "0" }, "reset-agrees: RateLimit-Reset is below 1"],
    [{ "Ratelimit-User-Reset": "61" }, "reset-agrees: RateLimit-User-Reset is above 60"],
    [{ "Ratelimit-Reset": "33000" }, "reset-agrees: RateLimit-Reset is above 60"],
  ])("%o", (changed, name) => {
    expect(fault(changed)).toBe(name);
  });

  test("are owed on 403, 404 and 429 too, but not where nobody knows the caller or the organization", () => {
    const none = Object.fromEntries(Object.keys(eight).map((name) => [name, undefined]));
    for (const status of [200, 302, 403, 405, 429])
      expect(fault(none, rules(), status)).toBe("headers-present: RateLimit-Scope is missing");
    for (const status of [0, 401, 404, 502]) expect(fault(none, rules(), status)).toBeNull();
    expect(fault({ "Ratelimit-Reset": undefined }, rules(), 404)).toBe(
      "headers-present: RateLimit-Reset is missing",
    );
    for (const status of [404, 500]) {
      expect(fault({ ...none, "Ratelimit-User-Scope": "rest_user" }, rules(), status)).toBe(
        "headers-present: RateLimit-Scope is missing",
      );
      expect(fault({ ...none, "Ratelimit-Scope": "rest" }, rules(), status)).toBe(
        "headers-present: RateLimit-Limit is missing",
      );
    }
  });

  test.each(["rest, rest", "Rest", "the rest"])("of a name that is none: %s", (name) => {
    expect(fault({ "Ratelimit-Scope": name })).toBe("headers-present: RateLimit-Scope names the wrong scope");
  });

  test("of another quota are nothing that we know of", () => {
    expect(fault({ "Ratelimit-Scope": "search", "Ratelimit-Reset": "999" })).toBeNull();
  });
});

describe("switches change what is legal (SPEC.md §8)", () => {
  test("signed: below 0", () => {
    const signed = rules({ semantics: { remaining: "signed" } });
    expect(fault({ "Ratelimit-Remaining": "-14" }, signed, 429)).toBeNull();
  });

  test.each(["floor", "round"] as const)("%s: a reset of 0", (reset) => {
    expect(
      fault({ "Ratelimit-Reset": "0", "Ratelimit-User-Reset": "60" }, rules({ semantics: { reset } })),
    ).toBeNull();
    expect(fault({ "Ratelimit-Reset": "-1" }, rules({ semantics: { reset } }))).toBe(
      "reset-agrees: RateLimit-Reset is below 0",
    );
  });

  test("overrides: the window of this organization and this user", () => {
    const claimed = rules({
      organizations: { acme: { rest: { windowSeconds: 20 } } },
      users: { "acme/agent-17": { rest: { windowSeconds: 10 } } },
    });
    expect(fault({ "Ratelimit-Reset": "20", "Ratelimit-User-Reset": "10" }, claimed)).toBeNull();
    expect(fault({ "Ratelimit-Reset": "20", "Ratelimit-User-Reset": "11" }, claimed)).toBe(
      "reset-agrees: RateLimit-User-Reset is above 10",
    );
  });

  test("no rules: only what all of them say", () => {
    expect(
      fault({ "Ratelimit-Remaining": "-3", "Ratelimit-Reset": "86400", "Ratelimit-User-Reset": "0" }, null),
    ).toBeNull();
    expect(fault({ "Ratelimit-Remaining": "201" }, null)).toContain("remaining-agrees");
  });
});

describe("a client that is alone as its user", () => {
  /** Answers one after the other; the user's remaining after each. */
  function told(
    steps: readonly { template?: CallTemplate; status?: number; remaining?: number; limit?: number }[],
  ): (string | null)[] {
    const lone = new LoneUser();
    return steps.map(({ template = user, status = 200, remaining, limit = 50 }) => {
      const shown = { "Ratelimit-User-Limit": String(limit), "Ratelimit-User-Remaining": String(remaining) };
      const event = createEvent();
      tell(event, read(template, status, remaining === undefined ? {} : shown));
      return lone.answered(template, event);
    });
  }
  const statusCharged = "status-free: RateLimit-User-Remaining fell by a status call";
  const overcharged = "conserved: RateLimit-User-Remaining fell by more than the call's cost";

  test("sees a status call that is charged", () => {
    expect(told([{ remaining: 40 }, { template: statusCall(), remaining: 40 }])).toEqual([null, null]);
    expect(told([{ remaining: 40 }, { template: statusCall(), remaining: 39 }])).toEqual([
      null,
      statusCharged,
    ]);
  });

  test("sees a call that is charged twice, also behind a status call's back", () => {
    expect(told([{ remaining: 40 }, { remaining: 39 }, { remaining: 37 }])).toEqual([
      null,
      null,
      overcharged,
    ]);
    expect(told([{ template: statusCall(), remaining: 40 }, { remaining: 38 }])).toEqual([null, overcharged]);
  });

  test("allows the cost of a query, and keeps the scopes apart", () => {
    const query = pipelinesQuery(50);
    expect(
      told([
        { template: query, remaining: 500, limit: 5000 },
        { remaining: 40 },
        { template: query, remaining: 447, limit: 5000 },
      ]),
    ).toEqual([null, null, null]);
    expect(
      told([
        { template: query, remaining: 500, limit: 5000 },
        { template: query, remaining: 446, limit: 5000 },
      ]),
    ).toEqual([null, overcharged]);
  });

  test("says nothing of a window that rolled, of a changed limit, or after a call whose outcome is unknown", () => {
    expect(told([{ remaining: 3 }, { remaining: 49 }, { remaining: 48 }])).toEqual([null, null, null]);
    expect(told([{ remaining: 40 }, { remaining: 9, limit: 10 }])).toEqual([null, null]);
    // A remaining that is no number leaves nothing to compare with, not even for one below 0.
    expect(told([{ remaining: Number.NaN }, { remaining: -14 }])).toEqual([null, null]);
    expect(told([{ remaining: 40 }, { status: 0 }, { remaining: 38 }, { remaining: 30 }])).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect(told([{ remaining: 40 }, { status: 502 }, { remaining: 38 }, { remaining: 30 }])).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });
});
