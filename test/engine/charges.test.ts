// Each way to charge a call of two quotas, step by step, by both engines: which quota refused, and what of each is used
// after each call and each completion. `npm test -- test/engine/charges.test.ts -u` writes `charges.txt` anew.
import { expect, test } from "vitest";
import type { PolicyReservation } from "../../src/engine/decision.ts";
import { PolicyLimiter } from "../../src/engine/policy-limiter.ts";
import { ReferenceLimiter } from "../../src/engine/reference.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";

const algorithms = {
  window: (limit: number) => ({ kind: "fixed-window", limit, windowSeconds: 10 }),
  bucket: (capacity: number) => ({ kind: "token-bucket", capacity, refill: { amount: 1, everyMs: 1000 } }),
} as const;
const ways = (["all-or-nothing", "each-alone", "first-refusal-stops"] as const).flatMap((relation) =>
  (["admission", "completion", "reserve-settle"] as const).flatMap((when) =>
    (["whole", "any-left"] as const).flatMap((fits) =>
      (["nothing", "counted"] as const).flatMap((refused) =>
        (["nothing", "charged"] as const).flatMap((refusedByOther) =>
          (["window", "bucket"] as const).map((kind) => ({
            relation,
            kind,
            charge: { when, fits, refused, refusedByOther },
          })),
        ),
      ),
    ),
  ),
);

function policyOf({ relation, kind, charge }: (typeof ways)[number]): Policy | null {
  const quota = (limit: number) => ({ algorithm: algorithms[kind](limit), key: ["user"], charge });
  try {
    return parsePolicy({
      version: 2,
      name: "charges",
      quotas: { a: quota(4), b: { ...quota(6), key: ["user", "model"] } },
      operations: { call: { uses: { a: "declared", b: "declared" }, relation } },
    } as PolicyInput);
  } catch {
    return null;
  }
}

/** Calls by their cost, at so many seconds; and completions of the oldest call with so many units. */
const steps = [
  ["call", 0, 2],
  ["call", 0, 3],
  ["done", 1, 1],
  ["call", 1, 1],
  ["call", 2, 0],
  ["done", 2, 1],
  ["call", 3, 5],
  ["call", 3, 7],
  ["call", 4, 2],
  ["done", 5, 0],
  ["call", 5, 1],
  ["call", 9.999, 1],
  ["call", 10, 4],
  ["done", 11, 2],
  ["call", 11, 2],
] as const;

function played(policy: Policy, limiter: PolicyLimiter | ReferenceLimiter): string {
  const caller = { user: "ann", model: "m" };
  const held: (PolicyReservation & { readonly cost: number })[] = [];
  return steps
    .map(([what, second, units]) => {
      const nowMs = 1_767_225_600_000 + 1000 * second;
      let said = "done";
      if (what === "call") {
        const { refusedBy, reservation } = limiter.decide({ caller, operation: "call", cost: units }, nowMs);
        if (reservation !== null) held.push(reservation);
        said = refusedBy ?? "ok";
      } else {
        const first = held.shift();
        if (first === undefined) return "-";
        limiter.settle(first, Math.min(units, first.cost), nowMs);
      }
      const used = limiter.read(caller, Object.keys(policy.quotas), nowMs).map((reading) => reading.used);
      return `${said} ${used.join("/")}`;
    })
    .join(", ");
}

test("all of them", async () => {
  const lines = ways.flatMap((way) => {
    const policy = policyOf(way);
    if (policy === null) return [];
    const fast = played(policy, new PolicyLimiter(policy));
    const name = [way.relation, way.kind, ...Object.values(way.charge)].join(" ");
    expect(played(policy, new ReferenceLimiter(policy)), name).toBe(fast);
    return [`${name}: ${fast}`];
  });
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./charges.txt");
});
