// Faults in answers that no quota counts, or that tell of one: what each makes of an answer, and of which it makes nothing.
import { expect, test } from "vitest";
import { injectFault, parseFault, semanticsFor } from "../../src/faults/choice.ts";
import type { Answered } from "../../src/faults/fault.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { HttpAnswer } from "../../src/wire/answer.ts";

const nowMs = Date.UTC(2026, 0, 1);
const sent: HttpAnswer = {
  status: 200,
  headers: {
    ...{ "RateLimit-Limit": 200, "RateLimit-User-Limit": 50, "RateLimit-User-Remaining": 7 },
    ...{ "Retry-After": 9, "Content-Type": "text" },
  },
  body: { limit: 50, message: "no" },
} as unknown as HttpAnswer;

/** What a fault makes of an answer: the members that are others. */
function changed(name: string, status: number, about: Partial<Answered>): object {
  const fault = parseFault(name);
  const rules = parseRules({ semantics: semanticsFor(fault.fault) });
  const { change } = injectFault(fault, rules, () => 0);
  const answer = { ...sent, status };
  const call = { kind: "call", organization: "acme", user: "ann", scope: "rest", nowMs, ...about } as const;
  const other = change?.(answer, call) ?? answer;
  return Object.fromEntries(
    Object.entries(other).filter(([member, value]) => value !== answer[member as "status"]),
  );
}

const query = { kind: "other", scope: "graphql" } as const;
const bare = { headers: { "Retry-After": 9, "Content-Type": "text" } };

test.each<[fault: string, status: number, about: Partial<Answered>, expected: object]>([
  ["headers-missing-on-404", 404, { kind: "other" }, bare],
  ["headers-missing-on-404", 404, {}, bare],
  ["headers-missing-on-404", 405, { kind: "other" }, {}],
  ["refusal-503", 429, {}, { ...bare, status: 503 }],
  ["refusal-503", 200, {}, {}],
  ["refusal-body-disagrees", 429, {}, { body: { limit: 100, message: "no" } }],
  ["refusal-body-disagrees", 429, { scope: "graphql" }, {}],
  ["refusal-body-disagrees", 200, {}, {}],
  ["rejected-query-charged", 403, query, {}],
  ["rejected-query-charged", 400, { kind: "other" }, {}],
  ["rejected-query-charged", 400, { scope: "graphql" }, {}],
  [
    "rejected-query-charged",
    400,
    query,
    { headers: expect.objectContaining({ "RateLimit-User-Remaining": 4999 }) },
  ],
  [
    "refusal-shows-other-scope",
    429,
    {},
    { headers: expect.objectContaining({ "RateLimit-User-Limit": 5000, "Retry-After": 9 }) },
  ],
  [
    "remaining-of-laxer-window",
    200,
    {},
    { headers: { ...sent.headers, "RateLimit-User-Limit": 100, "RateLimit-User-Remaining": 57 } },
  ],
  ["refusal-shows-other-scope", 429, { scope: "graphql" }, {}],
  ["refusal-shows-other-scope", 200, {}, {}],
  ["wrong-scope-header", 200, {}, { headers: expect.objectContaining({ "RateLimit-User-Scope": "rest" }) }],
  ["wrong-scope-header", 200, { scope: "graphql" }, {}],
  ["status-refused-when-empty", 200, { kind: "status" }, {}],
  ["status-shares-user", 200, {}, {}],
])("%s of %d by %j", (fault, status, about, expected) => {
  expect(changed(fault, status, about)).toEqual(expected);
});

test("a status is refused as soon as the caller has nothing left, and not before", () => {
  const rules = parseRules({ user: { rest: { limit: 2 } } });
  const { store, change } = injectFault(parseFault("status-refused-when-empty"), rules, () => 0);
  const about = { kind: "status", organization: "acme", user: "ann", scope: "rest", nowMs } as const;
  const statuses = [0, 1, 2].map(() => {
    const status = change?.(sent, about).status;
    void store.decide({ organization: "acme", user: "ann", scope: "rest", cost: 1 }, nowMs);
    return status;
  });
  expect(statuses).toEqual([200, 200, 429]);
});

test.each([
  ["reserved", [4999, 4998, 4997]],
  ["postpaid", [5000, 4999, 4998]],
] as const)("a query that is not executed costs a point, %s: %j are left", (graphqlCharge, left) => {
  const rules = parseRules({ semantics: { graphqlCharge } });
  const { change } = injectFault(parseFault("rejected-query-charged"), rules, () => 0);
  const about = { ...query, organization: "acme", user: "ann", nowMs } as const;
  const shown = left.map(() => change?.({ ...sent, status: 400 }, about).headers["RateLimit-User-Remaining"]);
  expect(shown).toEqual(left);
});
