// Answers that a policy says how to provoke, by a request that none of its quotas limits: they must be free.
import { expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { linesOf, policyInput, server } from "./rooms-and-queries.ts";

const { operations, routes } = policyInput;
const policy = parsePolicy({
  ...policyInput,
  operations: { call: operations.call },
  quotas: { own: policyInput.quotas.own, shared: policyInput.quotas.shared },
  routes: [{ path: "/rooms/none", operation: "other" }, ...routes.filter(({ path }) => path !== "/query")],
  wire: {
    ...policyInput.wire,
    readings: policyInput.wire.readings.slice(0, 2),
    outcomes: policyInput.wire.outcomes.slice(0, 2),
  },
});

test.each<[charged: number, said: RegExp]>([
  [0, / kept$/],
  [1, /broken: charged as 0 plain calls in own \(1 each\): /],
])("an answer of 404 to a request without a limit that is charged %i", (charged, said) => {
  const made = () => server({ cost: (units, { path }) => (path === "/rooms/none" ? charged : units) });
  expect(linesOf(made, ["answered-404"], policy)).toEqual([expect.stringMatching(said)]);
});
