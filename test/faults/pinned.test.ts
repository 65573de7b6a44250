// Answers of each fault's deployment, of the default API and by two policies, to the same calls as a right one's: how many
// of them differ, a digest of these, and the first of them, with its part that is another.
// `npm test -- test/faults/pinned.test.ts -u` writes the files in `pinned` anew; read the difference.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { PolicyDecision, PolicyReservation } from "../../src/engine/decision.ts";
import { Limiter } from "../../src/engine/limiter.ts";
import { decideNow, shownByStatus } from "../../src/engine/store.ts";
import { faults } from "../../src/faults/catalogue.ts";
import { injectFault, injectQuotaFault, parseFault, semanticsFor } from "../../src/faults/choice.ts";
import { Counter } from "../../src/faults/counter.ts";
import { faultyAdapter } from "../../src/faults/factory.ts";
import type { Faulty, FaultyQuotas } from "../../src/faults/fault.ts";
import { seededRandom } from "../../src/faults/random.ts";
import { sentBy } from "../../src/faults/sent.ts";
import { windowFaults } from "../../src/faults/windows.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import type { SpillwayError } from "../../src/rules/errors.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules, Scope } from "../../src/rules/rules.ts";
import type { AnswerToWrite } from "../../src/wire/write-answer.ts";

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

/** Answers that differ: their number, their digest, and where the first begins to differ. */
function differences(got: readonly string[], right: readonly string[]): string {
  const differing = got.flatMap((answer, at) => (answer === right[at] ? [] : [{ answer, at }]));
  const [first] = differing;
  if (first === undefined) return "none differs";
  const digest = createHash("sha256").update(JSON.stringify(differing)).digest("hex").slice(0, 8);
  const known = right[first.at] as string;
  const from = [...first.answer].findIndex((letter, place) => letter !== known[place]);
  const part = (text: string): string => text.slice(Math.max(0, from - 24), from + 24);
  const [words] = first.answer.split(":");
  return `${differing.length} differ, ${digest}; ${words}: …${part(first.answer)}… for …${part(known)}…`;
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

/** A tenant's calls, a user's, a bucket whose charge is settled, a volume of bytes, and a trial that refuses nobody. */
const policyOf = (anchor: "epoch" | "first-request"): Policy => {
  const window = (limit: number, windowSeconds: number) =>
    ({ algorithm: { kind: "fixed-window", limit, windowSeconds, anchor } }) as const;
  const shown = (quota: string) => ({
    quotas: [quota],
    on: ["admitted", "refused", "status"] as const,
    headers: { [`X-${quota}`]: "{remaining}/{limit}", [`X-${quota}-Reset`]: "{reset}" },
    reset: { form: "delta-s", means: "window-end" } as const,
  });
  return parsePolicy({
    version: 2,
    name: anchor,
    quotas: {
      calls: { ...window(9, 10), key: ["tenant"] },
      user_calls: { ...window(4, 5), key: ["tenant", "user"] },
      tokens: {
        algorithm: { kind: "token-bucket", capacity: 30, refill: { amount: 2, everyMs: 1000 } },
        key: ["user"],
        charge: { when: "reserve-settle" },
      },
      bytes: { ...window(2 ** 34, 10), key: ["tenant"] },
      trial: { ...window(1, 10), key: ["tenant"], enforced: false },
    },
    operations: {
      list: { uses: { calls: 1, user_calls: 1, trial: 1 } },
      write: { uses: { calls: 2, tokens: "declared" } },
      send: { uses: { user_calls: 1, bytes: "declared" } },
    },
    routes: [
      { path: "/limits", operation: "status" },
      { path: "/**", operation: "list" },
    ],
    overrides: [{ match: { tenant: "beta" }, quotas: { calls: { limit: 5 } } }],
    auth: { attributes: ["tenant", "user"] },
    wire: {
      revision: "1",
      readings: ["calls", "user_calls", "tokens", "bytes", "trial"].map(shown),
      retryAfter: [{ header: "Retry-After", form: "delta-s" }],
      outcomes: [{ outcome: "refused", status: [429], by: "{quota}", body: { "/quota": "{quota}" } }],
    },
  });
};

/** The answers to 220 operations in some half a minute: calls of many users, statuses, completions, switches and sweeps. */
function quotaAnswersOf(faulty: FaultyQuotas, policy: Policy): string[] {
  const { store } = faulty;
  const write = sentBy(policy, faulty);
  const random = seededRandom(11);
  const some = (most: number): number => Math.floor(random() * most);
  const held: PolicyReservation[] = [];
  const lines: string[] = [];
  /** Decisions that wait for their write. */
  let waiting: { readonly atMs: number; readonly end: (atMs: number) => void }[] = [];
  let nowMs = startMs + 300;
  for (let at = 0; at < 220; at++) {
    const byMs = [0, 1, 20, 150, 500][some(5)] as number;
    nowMs = some(30) === 0 ? 5000 * Math.ceil((nowMs + 1) / 5000) : nowMs + byMs;
    for (const { atMs, end } of waiting) if (atMs <= nowMs) end(atMs);
    waiting = waiting.filter(({ atMs }) => atMs > nowMs);
    const tenant = ["acme", "acme", "acme", "beta", "a-b", "a"][some(6)] as string;
    const user =
      ({ "a-b": "c", a: "b-c" } as Record<string, string>)[tenant] ?? `u${some(some(6) === 0 ? 40 : 2)}`;
    const caller = { tenant, user };
    const tell = (what: string, said: Omit<AnswerToWrite, "cost">, cost: number, atMs: number): void => {
      const answer = write({ ...said, cost }, atMs, caller);
      lines.push(
        `${at} ${tenant} ${user} ${what} at ${atMs - startMs}: ${JSON.stringify([said.readings, answer])}`,
      );
    };
    const shown = { refusedBy: null, retryAtMs: null };
    const act = some(20);
    if (act === 0) store.sweep(nowMs);
    else if (act === 1) store.setEnforced("user_calls", caller, at % 2 === 0);
    else if (act < 5) {
      const readings = shownByStatus(store, caller, Object.keys(policy.quotas), nowMs);
      tell("status", { kind: "status", readings, ...shown }, 0, nowMs);
    } else if (act < 8) {
      const first = held.shift();
      if (first === undefined) continue;
      const readings = store.settle(first, some(first.cost + 1), nowMs);
      tell("completion", { kind: "admitted", readings, ...shown }, first.cost, nowMs);
    } else {
      const operation = ["list", "list", "write", "send"][some(4)] as string;
      const cost = operation === "send" ? 2 ** 31 : 1 + some(some(9) === 0 ? 90 : 20);
      const end = (decision: PolicyDecision, atMs: number): void => {
        const { refusedBy, retryAtMs, readings, reservation } = decision;
        if (reservation !== null) held.push(reservation);
        const kind = refusedBy === null ? "admitted" : "refused";
        tell(
          `${operation} ${cost} ${refusedBy ?? kind}`,
          { kind, readings, refusedBy, retryAtMs },
          cost,
          atMs,
        );
      };
      const made = store.decide({ caller, operation, cost }, nowMs);
      if ("resume" in made)
        waiting.push({ atMs: nowMs + made.waitMs, end: (atMs) => end(made.resume(atMs), atMs) });
      else end(made, nowMs);
    }
  }
  return lines;
}

test.each([
  ["epoch", faults],
  ["first-request", windowFaults],
] as const)("each fault by a policy of windows by %s", async (anchor, some) => {
  const policy = policyOf(anchor);
  const right = quotaAnswersOf({ store: new Counter(policy) }, policy);
  const lines = some.map(({ name }) => {
    try {
      const faulty = injectQuotaFault(parseFault(name), policy, seededRandom(1));
      return `${name}: ${differences(quotaAnswersOf(faulty, policy), right)}`;
    } catch (error) {
      const [{ path = "", got = "", allowed = "" } = {}] = (error as SpillwayError).problems ?? [];
      return `${name}: not here, ${path} is ${got}, allowed: ${allowed}`;
    }
  });
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(`./pinned/${anchor}.txt`);
});
