// A probe's report in lines, by rules and by the quotas of a policy: what was seen, how surely, and what was not.
import { expect, test } from "vitest";
import { sayExperiments } from "../../src/cli/say-audit.ts";
import { sayProbe } from "../../src/cli/say-probe.ts";
import { recorded, saidBy } from "../support/recorded.ts";

const ends = { ended: "whole", startedAt: 0, endedAt: 2_000 };
const byRules = {
  ...ends,
  used: { calls: 1, points: 1, statusCalls: 1 },
  failed: 0,
  findings: [],
  defaults: [],
};
const byPolicy = {
  ...ends,
  used: { calls: 2, statusCalls: 2 },
  policy: "own",
  findings: [],
  notInferred: [],
};
const said = (report: object) => saidBy((terminal) => sayProbe(terminal, report as never));

const finding = (scope: string | null, name: string, value: unknown, more: object = {}) => ({
  ...{ scope, name, value, confidence: "certain", evidence: `${name} shows it`, needs: null },
  ...more,
});

test("by rules it is said scope by scope", () => {
  expect(said(byRules)).toEqual(["<bold>used</> 1 call that may count, 1 point asked for, 1 free call, 2 s"]);
  expect(said({ ...byRules, failed: 2, ended: { stopped: "by 503" } })).toEqual([
    "<bold>used</> 1 call that may count, 1 point asked for, 1 free call, 2 s, 2 calls failed",
    "<red>stopped</> by 503",
  ]);
  expect(said({ ...byRules, failed: 1, ended: "interrupted" })).toEqual([
    "<bold>used</> 1 call that may count, 1 point asked for, 1 free call, 2 s, 1 call failed",
    "<yellow>interrupted</>: what was found until then",
  ]);
  const findings = [
    finding(null, "retryAfter", true, { confidence: "likely" }),
    finding("rest", "organizationLimit", 200),
    finding("rest", "userEnforced", null, {
      confidence: "not seen",
      evidence: "nothing came",
      needs: "more calls",
    }),
    finding(null, "anchor", null, { evidence: "nothing came", needs: "more calls" }),
    finding("graphql", "reset", null, { evidence: "nothing came" }),
    finding("graphql", "graphqlCost", { organization: 5, user: null }),
    finding("graphql", "statusCounted", false),
  ];
  const wide = (name: string) => name.padEnd("GraphQL that is not executed (200 with errors) counts".length);
  expect(said({ ...byRules, findings, defaults: ["a", "b"] }).slice(1)).toEqual([
    "",
    "<bold>rest</>",
    `  ${wide("organization's limit")}  <bold>200</>  <green>certain</>`,
    "<dim>    organizationLimit shows it</>",
    "",
    "<bold>graphql</>",
    `  ${wide("points of a query")}  <bold>organization 5, user unknown</>  <green>certain</>`,
    "<dim>    graphqlCost shows it</>",
    `  ${wide("status calls count")}  <bold>no</>  <green>certain</>`,
    "<dim>    statusCounted shows it</>",
    "",
    "<bold>both</>",
    `  ${wide("refusals carry Retry-After")}  <bold>yes</>  <yellow>likely</>`,
    "<dim>    retryAfter shows it</>",
    "",
    "<bold>not seen</>",
    "  rest: the user's window refuses, windows are anchored at",
    "<dim>    nothing came; it would take more calls</>",
    "  graphql: reset is rounded by",
    "<dim>    nothing came; it would take more</>",
    "",
    "<bold>defaults</> of the rules that were not seen: a, b",
  ]);
});

const member = (quota: string, name: string, value: unknown, policy: unknown, more: object = {}) => ({
  ...{ quota, name, value, said: policy, confidence: "certain", evidence: `${name} shows it`, needs: null },
  ...more,
});

test("by a policy it is said quota by quota, beside what the policy says", () => {
  expect(said(byPolicy)).toEqual([
    "<bold>used</> 2 calls that may count, 2 calls of a status, 2 s",
    "",
    "<green>as the policy says</>: 0 members seen",
  ]);
  const findings = [
    member("core", "limit", 60, 60),
    member("core", "cost", 2, 1, { operation: "read" }),
    member("search", "anchor", null, "epoch", { evidence: "nothing came", needs: "a wait" }),
    member("search", "windowSeconds", 30, null),
  ];
  const notInferred = [{ quota: "search", why: "it is a bucket" }];
  const wide = (name: string) => name.padEnd("a refusal tells to come back".length);
  expect(said({ ...byPolicy, findings, notInferred }).slice(1)).toEqual([
    "",
    "<bold>core</>",
    `  ${wide("limit")}  <bold>60</>  <green>certain</>`,
    "<dim>    limit shows it</>",
    `  ${wide("a call of read is charged")}  <bold>2</>  <green>certain</>  <yellow>the policy says 1</>`,
    "<dim>    cost shows it</>",
    "",
    "<bold>search</>",
    `  ${wide("window, seconds")}  <bold>30</>  <green>certain</>`,
    "<dim>    windowSeconds shows it</>",
    "  <dim>not seen</> windows are anchored at",
    "<dim>    nothing came; it would take a wait</>",
    "  <yellow>not inferred</>: it is a bucket",
    "",
    "<yellow>1 member of 2 seen differ</> from the policy",
  ]);
  expect(said({ ...byPolicy, findings: findings.slice(0, 1) }).at(-1)).toBe(
    "<green>as the policy says</>: 1 member seen",
  );
});

test("experiments are listed with what they need and spend", () => {
  const { terminal, tagged, results } = recorded();
  const one = { name: "a", law: "bounded", section: "2.1", promise: "no more", needs: "a window", calls: 1 };
  const all = [one, { ...one, name: "b", calls: 2, empties: 1 }, { ...one, name: "c", empties: 1, waits: 2 }];
  sayExperiments(terminal, all as never);
  expect(tagged).toEqual([
    "<bold>a</>  bounded: no more",
    "<dim>    needs a window; spends 1 call</>",
    "<bold>b</>  bounded: no more",
    "<dim>    needs a window; spends 2 calls, empties a window</>",
    "<bold>c</>  bounded: no more",
    "<dim>    needs a window; spends 1 call, empties a window, waits for its end</>",
  ]);
  expect(results).toEqual([
    [
      { empties: 0, waits: 0 },
      { empties: 1, waits: 0 },
      { empties: 1, waits: 2 },
    ].map((spends, at) => ({
      ...{ name: all[at]?.name, law: "bounded", section: "2.1", promise: "no more", needs: "a window" },
      ...{ calls: all[at]?.calls, ...spends },
    })),
  ]);
});
