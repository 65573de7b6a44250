// Answers of each fault's deployment of the default API, to the same calls as a right one's: how many of them differ, a
// digest of these, and the first of them, with its part that is another. `npm test -- test/faults/pinned.test.ts -u` writes
// `pinned/answers.txt` anew; read the difference.
import { expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { decideNow } from "../../src/engine/store.ts";
import { faults } from "../../src/faults/catalogue.ts";
import { injectFault, parseFault, semanticsFor } from "../../src/faults/choice.ts";
import { faultyAdapter } from "../../src/faults/factory.ts";
import type { Faulty } from "../../src/faults/fault.ts";
import { seededRandom } from "../../src/faults/random.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules, Scope } from "../../src/rules/rules.ts";
import { differences } from "./differences.ts";

const startMs = 1_767_225_600_000;
const limits = {
  organization: { rest: { limit: 8, windowSeconds: 10 }, graphql: { limit: 50, windowSeconds: 20 } },
  user: { rest: { limit: 4, windowSeconds: 5 }, graphql: { limit: 30, windowSeconds: 20 } },
  organizations: { free: { rest: { limit: 2, enforced: false } } },
};
const callers = [
  ["acme", "ann"],
  ["acme", "bob"],
  ["acme", "ann"],
  ["free", "cy"],
  ["a-b", "c"],
  ["a", "b-c"],
] as const;

/** The answers of a deployment to 240 calls in half a minute: statuses, requests, and queries that return less than asked. */
function answersOf(faulty: Faulty, rules: Rules): string[] {
  const adapter = faultyAdapter(rules, faulty);
  const random = seededRandom(7);
  const some = (most: number): number => Math.floor(random() * most);
  let nowMs = startMs + 300;
  return Array.from({ length: 240 }, (_, at) => {
    nowMs += [0, 1, 60, 160, 440][some(5)] as number;
    const [organization, user] = callers[some(callers.length)] as (typeof callers)[number];
    const scope: Scope = some(3) === 0 ? "graphql" : "rest";
    const words = `${at} ${organization} ${user} ${scope} at ${nowMs - startMs}`;
    const send = (answer: unknown): string => JSON.stringify(answer ?? null);
    if (some(6) === 0) {
      const status = faulty.store.status(organization, nowMs);
      const answer = adapter.answer?.({ kind: "status", organization, user }, nowMs);
      return `${words} status: ${JSON.stringify(status)} ${send(answer)}`;
    }
    const call = {
      organization,
      user,
      scope,
      cost: scope === "rest" ? 1 : 1 + some(some(8) === 0 ? 80 : 12),
    };
    const said = decideNow(faulty.store, call, nowMs);
    const answer = adapter.answer?.({ kind: "call", call, said }, nowMs);
    const settled =
      said.reservation === null || at % 3 === 0
        ? ""
        : JSON.stringify(faulty.store.settle(said.reservation, some(call.cost + 1), nowMs));
    const { admitted, refusedBy } = said;
    return `${words} ${admitted ? "admitted" : `refused by ${refusedBy}`}: ${send(answer)} ${settled}`;
  });
}

const headers = [
  {},
  { "x-user-id": "7" },
  { "x-real-ip": "::1", "x-forwarded-for": "10.0.0.1" },
  { authorization: "bearer abc" },
  { authorization: "Bearer abc" },
  { "user-agent": "one" },
  { "user-agent": "two" },
];

test("each fault answers otherwise", async () => {
  const known = new Map<string, string[]>();
  const lines = faults.map(({ name }) => {
    const chosen = parseFault(name);
    const rules = parseRules({ ...limits, semantics: semanticsFor(chosen.fault) });
    const faulty = injectFault(chosen, rules, seededRandom(1));
    const semantics = JSON.stringify(rules.semantics);
    const right = known.get(semantics) ?? answersOf({ store: new Limiter(rules) }, rules);
    known.set(semantics, right);
    const users = headers.map((each) => faulty.userOf?.("ann", each) ?? "ann");
    const others = new Set(users).size === 1 ? "" : `; counts ${users.join(", ")}`;
    return `${name}: ${differences(answersOf(faulty, rules), right)}${others}`;
  });
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./pinned/answers.txt");
});
