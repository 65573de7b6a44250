// Operations and answers as a drawing tells them, by rules and for a limiter by key.
import { describe, expect, test } from "vitest";
import type { HistoryEvent } from "../../src/laws/history.ts";
import type { CallOp, LedgerTerms } from "../../src/laws/script.ts";
import { answer, operation, ownerText } from "../../src/laws/timeline.ts";
import { parseRules } from "../../src/rules/parse.ts";

const rules = parseRules({});
const byRules: LedgerTerms = { rules };
const byKey: LedgerTerms = { rules, keyed: true };
const atOnce: LedgerTerms = { rules, keyed: true, algorithm: "concurrency" };

const call = (more: Partial<CallOp> = {}): CallOp => ({
  ...{ do: "call", atMs: 1_000, id: 2, organization: "acme", user: "ann", scope: "rest", cost: 1, ...more },
});
const status = { do: "status", atMs: 1_000, organization: "acme", user: "ann" } as const;
const settle = { do: "settle", atMs: 1_000, id: 2, actual: 3 } as const;
const enforce = {
  do: "enforce",
  atMs: 1_000,
  organization: "acme",
  scope: "graphql",
  enforced: false,
} as const;

describe("operations", () => {
  test.each<[string, object, number, LedgerTerms]>([
    ["acme/ann rest 1", call(), 1, byRules],
    ["acme/ann rest 1 x2", call(), 2, byRules],
    ["acme/ann graphql 5 (call 2)", call({ scope: "graphql", cost: 5 }), 1, byRules],
    ["acme/ann graphql 5 x3", call({ scope: "graphql", cost: 5 }), 3, byRules],
    ["acme/ann", call(), 1, byKey],
    ["acme/ann x4", call(), 4, byKey],
    ["acme/ann, cost 5", call({ scope: "graphql", cost: 5 }), 1, byKey],
    ["acme/ann (call 2)", call(), 1, atOnce],
    ["call 2 completes, actual 3", settle, 1, byRules],
    ["call 2 ends", settle, 1, atOnce],
    ["status of acme", status, 1, byRules],
    ["status of acme/ann", status, 1, byKey],
    ["acme graphql enforced = false", enforce, 1, byRules],
    ["sweep", { do: "sweep", atMs: 1_000 }, 1, byRules],
    ["stored and restored", { do: "snapshot", atMs: 1_000 }, 1, byRules],
  ])("%s", (text, op, times, terms) => {
    expect(operation({ op } as HistoryEvent, times, terms)).toBe(text);
  });
});

describe("answers", () => {
  const full = { limit: 5, current: 3, remaining: 2, reset: 4, resetAtMs: 4_500, enforced: true };
  const decided = (decision: object) => ({ op: call(), decision });
  test.each<[string, object, LedgerTerms]>([
    [
      "admitted                 organization 3 of 5, 2 left, reset 4 s   user ? of ?, 0 left",
      decided({ admitted: true, refusedBy: null, organization: full, user: { remaining: 0 } }),
      byRules,
    ],
    ["admitted", decided({ admitted: true, organization: {} }), byRules],
    ["admitted", decided({ admitted: true, retryAfterMs: 500 }), byRules],
    ["REFUSED", decided({ admitted: false, retryAfterMs: null }), byRules],
    [
      "REFUSED                  retry after 1.5 s",
      decided({ admitted: false, retryAfterMs: 1_500 }),
      byRules,
    ],
    [
      "REFUSED by user          user 3 of ?, retry after 0 s",
      decided({ admitted: false, refusedBy: "user", user: { current: 3 }, retryAfterMs: 0 }),
      byRules,
    ],
    [
      "REFUSED   3 of 5, 2 left, reset 4 s",
      decided({ admitted: false, refusedBy: "user", user: full }),
      byKey,
    ],
    [
      "admitted  2 left, reset in 3.5 s",
      decided({ admitted: true, user: { remaining: 2, resetAtMs: 4_500 } }),
      byKey,
    ],
    ["admitted  reset 0 s", decided({ admitted: true, user: { reset: 0, resetAtMs: 4_500 } }), byKey],
    [
      "admitted  ? of 5, reset in -0.5 s",
      decided({ admitted: true, user: { limit: 5, resetAtMs: 500 } }),
      byKey,
    ],
    ["admitted", decided({ admitted: true, organization: full, user: {} }), byKey],
    ["(it had been refused)", { op: settle, call: null, readings: {} }, byRules],
    ["user 3 of 5", { op: settle, call: call(), readings: { user: { current: 3, limit: 5 } } }, byRules],
    [
      "rest 3 of 5, 2 left, reset 4 s   graphql 0 of 9",
      { op: status, status: { rest: full, graphql: { current: 0, limit: 9 } } },
      byRules,
    ],
    ["graphql 0 of 9", { op: status, status: { rest: {}, graphql: { current: 0, limit: 9 } } }, byRules],
    ["0 of 9", { op: status, status: { graphql: { current: 0, limit: 9 } } }, byKey],
    ["3 of 5, 2 left, reset 4 s", { op: status, status: { rest: full, graphql: {} } }, byKey],
    ["", { op: { do: "sweep", atMs: 1_000 } }, byRules],
  ])("%s", (text, event, terms) => {
    expect(answer(event as HistoryEvent, terms)).toBe(text);
  });
});

test("owners of windows", () => {
  const ann = { organization: "acme", user: "ann", scope: "rest" } as const;
  expect([
    ownerText(ann, byRules),
    ownerText({ ...ann, user: null }, byRules),
    ownerText(ann, byKey),
  ]).toEqual(["acme/ann rest", "acme rest", "acme/ann"]);
});
