// The eight headers of an answer that owes them: which answers owe them, and what is said where they are missing, no
// integers, or of another window.
import { describe, expect, test } from "vitest";
import type { TraceCall } from "../../src/trace/record.ts";
import type { Docket } from "../../src/verify/docket.ts";
import { lawEvidence } from "../../src/verify/evidence.ts";
import { checkPresence } from "../../src/verify/header-presence.ts";
import { rest } from "./traces.ts";

const whose = {
  organization: { org: "acme", user: null, scope: "rest" },
  user: { org: "acme", user: "u1", scope: "rest" },
} as const;
const bare = {
  ...{ scopeName: null, limit: null, remaining: null, reset: null },
  ...{ userScopeName: null, userLimit: null, userRemaining: null, userReset: null },
};

function checked(changes: Partial<TraceCall>) {
  const told: unknown[][] = [];
  const others: unknown[][] = [];
  const evidence = lawEvidence();
  const docket = {
    evidence,
    otherQuotas: { add: (...words: unknown[]) => void others.push(words) },
    accuse: ({ law, breach, user, suspects, explanation }: Record<string, unknown>) =>
      void told.push([law, breach, user, (suspects as string[]).join(" "), explanation]),
  } as unknown as Docket;
  checkPresence(4, rest({ at: 0, count: 5 }, changes), whose, docket);
  const { readings, refusals } = evidence["headers-present"];
  return { told, others, counts: [readings, refusals] };
}

describe("an answer", () => {
  test.each<[string, Partial<TraceCall>, readonly number[], number]>([
    ["with all headers", {}, [2, 0], 0],
    ["of a refusal", { status: 429 }, [2, 1], 0],
    ["without any", bare, [2, 0], 2],
    ["of 401 owes none", { status: 401 }, [0, 0], 0],
    ["of 404 without any owes none", { ...bare, status: 404 }, [0, 0], 0],
    ["of 404 with some owes all", { ...bare, status: 404, limit: 5 }, [2, 0], 2],
    ["of another kind owes none", { ...bare, kind: "other" }, [0, 0], 0],
    ["of 403 owes them", { ...bare, kind: "other", status: 403 }, [2, 0], 2],
    ["of GraphQL that was not executed owes them", { ...bare, kind: "other", scope: "graphql" }, [2, 0], 2],
    ["of GraphQL 400", { ...bare, kind: "other", scope: "graphql", status: 400 }, [2, 0], 2],
    ["of GraphQL 405", { ...bare, kind: "other", scope: "graphql", status: 405 }, [2, 0], 2],
    ["of GraphQL 413", { ...bare, kind: "other", scope: "graphql", status: 413 }, [2, 0], 2],
    ["of GraphQL 415", { ...bare, kind: "other", scope: "graphql", status: 415 }, [2, 0], 2],
    ["of GraphQL 500 owes none", { ...bare, kind: "other", scope: "graphql", status: 500 }, [0, 0], 0],
    ["of REST 400 owes none", { ...bare, kind: "other", status: 400 }, [0, 0], 0],
  ])("%s", (_, changes, counts, breaches) => {
    const found = checked(changes);
    expect([found.counts, found.told.length, found.others]).toEqual([counts, breaches, []]);
  });
});

test("missing headers are named, with the kind of the answer", () => {
  const missing = (changes: Partial<TraceCall>) => checked({ reset: null, ...changes }).told;
  expect(missing({ limit: null, userReset: null })).toEqual([
    [
      "headers-present",
      "missing on call 200",
      null,
      "",
      expect.stringMatching(/^line 4 \(call, status 200\) came without \S+-Limit, \S+-Reset$/i),
    ],
    ["headers-present", "missing on call 200", "u1", "", expect.stringMatching(/User-Reset$/i)],
  ]);
  expect(missing({ status: 429 }).map(([, breach, , suspects]) => [breach, suspects])).toEqual([
    ["missing on call 429", "headers-missing-on-429"],
  ]);
  expect(missing({ kind: "status" }).map(([, breach, , suspects]) => [breach, suspects])).toEqual([
    ["missing on status 200", "headers-missing-on-status"],
  ]);
});

test.each<[Partial<TraceCall>, string]>([
  [{ limit: "5, 5" }, "headers-doubled"],
  [{ limit: "5,7 , -2" }, "headers-doubled"],
  [{ remaining: "soon, soon" }, "headers-doubled"],
  [{ remaining: "soon, later" }, ""],
  [{ reset: "Fri, 02 Jan 2026" }, "reset-epoch"],
  [{ limit: "5.5" }, ""],
])("numbers that are no integers: %j", (changes, suspects) => {
  const [[law, breach, user, names, words] = [], ...others] = checked(changes).told;
  expect([law, breach, user, names, others]).toEqual(["headers-present", "no integer", null, suspects, []]);
  expect(words).toContain(` ${JSON.stringify(Object.values(changes)[0])}`);
});

test("a scope of another name is no window of the call, or comes twice", () => {
  expect(checked({ scopeName: "graphql" }).told).toEqual([
    [
      "headers-present",
      "scope name",
      null,
      "wrong-scope-header",
      'line 4 names the organization\'s scope "graphql", which should be "rest"',
    ],
  ]);
  expect(
    checked({ userScopeName: "rest_user, rest_user" }).told.map(([, , user, suspects]) => [user, suspects]),
  ).toEqual([["u1", "headers-doubled"]]);
});

test("a quota of another name is listed, and no window of the call is accused for it", () => {
  const uploads = checked({ scopeName: "uploads", limit: null });
  expect(uploads).toEqual({ told: [], others: [["rest", "organization", "uploads", 4]], counts: [1, 0] });
  const both = checked({ scopeName: "uploads", userScopeName: "uploads", status: 429 });
  expect([both.others.length, both.counts]).toEqual([2, [0, 0]]);
});
