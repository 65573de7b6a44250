// Answers of each fault's deployment by policies, to the same calls as a right one's: how many of them differ, a digest of
// these, and the first of them, with its part that is another; or why a policy cannot have it.
// `npm test -- test/faults/pinned-quotas.test.ts -u` writes the files in `pinned` anew; read the difference.
import { expect, test } from "vitest";
import type { PolicyDecision, PolicyReservation } from "../../src/engine/decision.ts";
import { shownByStatus } from "../../src/engine/store.ts";
import { answerFaults } from "../../src/faults/answers.ts";
import { faults } from "../../src/faults/catalogue.ts";
import { injectQuotaFault, parseFault } from "../../src/faults/choice.ts";
import { Counter } from "../../src/faults/counter.ts";
import type { FaultyQuotas } from "../../src/faults/fault.ts";
import { seededRandom } from "../../src/faults/random.ts";
import { readingFaults } from "../../src/faults/readings.ts";
import { sentBy } from "../../src/faults/sent.ts";
import { windowFaults } from "../../src/faults/windows.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import type { SpillwayError } from "../../src/rules/errors.ts";
import type { AnswerToWrite } from "../../src/wire/write-answer.ts";
import { differences } from "./differences.ts";

const startMs = 1_767_225_600_000;

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
  const [first = "", switched = first] = Object.keys(policy.quotas);
  const random = seededRandom(11);
  const some = (most: number): number => Math.floor(random() * most);
  const held: PolicyReservation[] = [];
  const lines: string[] = [];
  /** Decisions that wait for their write. */
  let waiting: { readonly atMs: number; readonly end: (atMs: number) => void }[] = [];
  let latestMs = startMs + 300;
  for (let at = 0; at < 220; at++) {
    const byMs = [0, 1, 20, 150, 500][some(5)] as number;
    latestMs = some(30) === 0 ? 5000 * Math.ceil((latestMs + 1) / 5000) : latestMs + byMs;
    // Some come late: they were asked before those that came first.
    const nowMs = latestMs - (some(6) === 0 ? 250 : 0);
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
    else if (act === 1) store.setEnforced(switched, caller, at % 2 === 0);
    else if (act < 5) {
      const readings = shownByStatus(store, caller, Object.keys(policy.quotas), nowMs);
      tell("status", { kind: "status", readings, ...shown }, 0, nowMs);
    } else if (act < 8) {
      const oldest = held.shift();
      if (oldest === undefined) continue;
      const readings = store.settle(oldest, some(oldest.cost + 1), nowMs);
      tell("completion", { kind: "admitted", readings, ...shown }, oldest.cost, nowMs);
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

/** One bucket of one key; answers show nothing, or what these say. */
const bare = (...readings: readonly { readonly headers: Readonly<Record<string, string>> }[]) =>
  parsePolicy({
    version: 2,
    name: "bare",
    quotas: {
      calls: {
        algorithm: { kind: "token-bucket", capacity: 2, refill: { amount: 1, everyMs: 1000 } },
        key: ["tenant"],
      },
    },
    operations: { list: { uses: { calls: 1 } }, write: { uses: { calls: 1 } }, send: { uses: { calls: 1 } } },
    routes: [{ path: "/**", operation: "list" }],
    auth: { attributes: ["tenant", "user"] },
    wire: { revision: "1", readings: readings.map((one) => ({ ...one, on: ["admitted"] as const })) },
  });

test.each([
  ["epoch", policyOf("epoch"), faults],
  ["first-request", policyOf("first-request"), windowFaults],
  ["bare", bare(), faults],
  ["one-reading", bare({ headers: { "X-Left": "{remaining}" } }), [...readingFaults, ...answerFaults]],
] as const)("each fault by a policy: %s", async (anchor, policy, some) => {
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
