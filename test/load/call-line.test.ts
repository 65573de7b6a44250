// A line of the trace made of an answer, against a plain reading of FORMAT.md: every member, in its order.
import fc from "fast-check";
import { expect } from "vitest";
import type { TraceableAnswer } from "../../src/load/answer.ts";
import { callLine, lineParts } from "../../src/load/call-line.ts";
import { property } from "../support/property.ts";

const header = fc.constantFrom<unknown>(null, 0, 7, "x", '"', -1);
const window = fc.record({
  scopeName: fc.constantFrom(null, "rest", "rest_user", "graphql", "graphql_user", 'a "b"'),
  limit: header,
  remaining: header,
  reset: header,
});
const points = fc.constantFrom<unknown>(null, -1, 0, 1, 5, 6, "many");
const answers = fc.record({
  organization: window,
  user: window,
  sentMs: fc.nat(),
  receivedMs: fc.nat(),
  status: fc.constantFrom(0, 200, 404, 429, 500),
  kind: fc.constantFrom("call", "status", "other"),
  requested: points,
  actual: points,
  retryAfter: fc.constantFrom<unknown>(null, 0, 30, "soon"),
  warning: fc.constantFrom(null, "near", "quote \"'"),
  userWarning: fc.constantFrom(null, "near"),
  body: fc.constantFrom<unknown>(
    undefined,
    null,
    { scopes: { rest: 1 } },
    { scope: "rest", limit: 2 },
    "text",
  ),
  error: fc.constantFrom(null, "timeout"),
});

/** The line's call, in the order of its members. */
function plain(
  answer: Record<string, unknown>,
  scope: "rest" | "graphql",
  template: string,
  cost: number,
): object {
  const { organization, user, kind, status, requested, actual, body } = answer as never as TraceableAnswer;
  const isTold = requested !== null && typeof requested === "number" && requested >= 0;
  const said = kind === "other" ? "other" : isTold ? "call" : template;
  const fits =
    typeof actual === "number" && typeof requested === "number" && actual >= 0 && actual <= requested;
  const isSettled = fits && kind === "call" && status !== 429;
  const scopes = (body as { scopes?: unknown } | null)?.scopes;
  return {
    sent: answer["sentMs"],
    received: answer["receivedMs"],
    client: 'agents "x"/17',
    call: 3,
    org: "acme",
    user: "agent-17",
    scope,
    kind: said,
    cost: said !== "call" ? null : isTold ? requested : cost,
    status,
    ...organization,
    ...{
      userScopeName: user.scopeName,
      userLimit: user.limit,
      userRemaining: user.remaining,
      userReset: user.reset,
    },
    ...(isSettled && { actual }),
    ...(answer["retryAfter"] !== null && { retryAfter: answer["retryAfter"] }),
    ...(answer["warning"] !== null && { warning: answer["warning"] }),
    ...(answer["userWarning"] !== null && { userWarning: answer["userWarning"] }),
    ...(body !== undefined && (status === 429 ? { refusal: body } : { body: scopes ?? body })),
    ...(answer["error"] !== null && { error: answer["error"] }),
    wanted: 11,
    attempt: 2,
  };
}

property([answers, fc.constantFrom("rest" as const, "graphql" as const), fc.constantFrom("call", "status")], {
  numRuns: 500,
})(
  "an answer's line has its members in the format's order, odd values as they came",
  (answer, scope, kind) => {
    const template = { scope, kind, cost: 4 };
    const parts = lineParts('agents "x"/17', "acme", "agent-17", template as never);
    const line = callLine(
      parts,
      3,
      { wantedMs: 11, attempt: 2 } as never,
      answer as never as TraceableAnswer,
    );
    expect(line).toBe(JSON.stringify(plain(answer, scope, kind, 4)));
  },
);
