// A replica that lags: the primary decides, and what is read of the copy is what it has heard by then.
import { expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { published, ReadCopy } from "../../src/service/copy.ts";

const rules = parseRules({ user: { rest: { limit: 3 } }, semantics: { graphqlCharge: "reserved" } });
const nowMs = 1_767_225_600_000;

/** A copy of a primary, and the changes that are under way to it. */
function replicated() {
  const underWay: (() => void)[] = [];
  const copy: ReadCopy = new ReadCopy(
    published(new Limiter(rules), (change) => copy.hear(change)),
    rules,
    (act) => underWay.push(act),
  );
  const hear = (): void => {
    for (const act of underWay.splice(0)) act();
  };
  return { copy, hear };
}

const call = (scope: "rest" | "graphql", cost = 1) => ({ organization: "acme", user: "ann", scope, cost });

test("calls are decided by the primary, which the copy lags behind", async () => {
  const { copy, hear } = replicated();
  const left = async () => (await copy.decide(call("rest"), nowMs)).user.remaining;
  expect([await left(), await left()]).toEqual([2, 1]);
  expect(copy.status("acme", nowMs).rest.current).toBe(0);
  expect(copy.readings("acme", "ann", "rest", nowMs).user.remaining).toBe(3);
  hear();
  expect(copy.status("acme", nowMs).rest.current).toBe(2);
  expect(copy.readings("acme", "ann", "rest", nowMs).user.remaining).toBe(1);
});

test("so are completions", async () => {
  const { copy, hear } = replicated();
  const { reservation } = await copy.decide(call("graphql", 50), nowMs);
  if (reservation === null) throw new Error("a reserved call has a reservation");
  hear();
  const settled = await copy.settle(reservation, 20, nowMs);
  expect(settled.organization.limit - settled.organization.remaining).toBe(20);
  expect(copy.status("acme", nowMs).graphql.current).toBe(50);
  hear();
  expect(copy.status("acme", nowMs).graphql.current).toBe(20);
});
