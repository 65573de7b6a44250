// Notes on a simulated limiter of somebody else's: who it is, by what it is judged, what it does its own way.
import { expect, test } from "vitest";
import type { LimiterFactory } from "../../src/engine/adapter.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules } from "../../src/rules/rules.ts";
import { limiterNotes } from "../../src/runs/simulated-limiter.ts";

const limiter = (more: object = {}): LimiterFactory =>
  ({
    name: "mine",
    algorithm: "fixed-window",
    claims: "all",
    create: () => ({}),
    ...more,
  }) as unknown as LimiterFactory;
const judged = "the limiter is mine, judged by every law";
const postpaid = parseRules({ semantics: { graphqlCharge: "postpaid" } });

test.each<[string, LimiterFactory, Rules | null, string[]]>([
  ["nothing of its own", limiter(), null, [judged]],
  [
    "some laws alone",
    limiter({ claims: ["conserved", "monotone"] }),
    null,
    ["the limiter is mine, judged by 2 laws that it claims"],
  ],
  [
    "one of them",
    limiter({ claims: ["conserved"] }),
    null,
    ["the limiter is mine, judged by 1 law that it claims"],
  ],
  [
    "an anchor of its own",
    limiter({ semantics: { anchor: ["first-request"], reset: ["ceil"] } }),
    parseRules({ semantics: { anchor: "epoch", reset: "floor" } }),
    [judged, "its own semantics are taken: anchor first-request, reset ceil"],
  ],
  [
    "one scope that it knows",
    limiter({ scopes: ["rest"] }),
    null,
    [judged, "calls of graphql are let through: it knows rest alone"],
  ],
  [
    "a charge of queries, where it knows them",
    limiter({ semantics: { graphqlCharge: ["prepaid"] } }),
    postpaid,
    [judged, "its own semantics are taken: graphqlCharge prepaid"],
  ],
  [
    "and where it does not",
    limiter({ semantics: { graphqlCharge: ["prepaid"] }, scopes: ["rest"] }),
    postpaid,
    [judged, "calls of graphql are let through: it knows rest alone"],
  ],
])("%s", (_, factory, asked, expected) => {
  expect(limiterNotes(factory, asked)).toEqual(expected);
});
