// Processes whose clocks or windows differ: each answers as a right one would at another time.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Reading } from "../../src/engine/decision.ts";
import { PolicyLimiter } from "../../src/engine/policy-limiter.ts";
import { ahead, movedWindows, Nodes } from "../../src/faults/nodes.ts";
import { parsePolicy } from "../../src/policy/parse.ts";

const policy = parsePolicy({
  version: 2,
  name: "moved",
  quotas: {
    window: { algorithm: { kind: "fixed-window", limit: 4, windowSeconds: 10 }, key: ["user"] },
    bucket: {
      algorithm: { kind: "token-bucket", capacity: 3, refill: { amount: 1, everyMs: 2_000 } },
      key: ["user"],
    },
  },
  operations: { call: { uses: { window: "declared", bucket: 1 } } },
  routes: [{ path: "/**", operation: "call" }],
  auth: { attributes: ["user"] },
});
const quotas = ["window", "bucket"];
const calls = fc.array(
  fc.record({
    user: fc.constantFrom("ann", "bob"),
    cost: fc.integer({ min: 0, max: 5 }),
    afterMs: fc.integer({ min: 0, max: 4_000 }),
  }),
  { maxLength: 20 },
);

test.each([1_500, -700])("a process by a clock %i ms ahead answers as a right one does then", (byMs) => {
  fc.assert(
    fc.property(calls, (drawn) => {
      const [right, early, moved] = [
        new PolicyLimiter(policy),
        ahead(new PolicyLimiter(policy), byMs),
        movedWindows(new PolicyLimiter(policy), byMs),
      ];
      const earlier = (readings: readonly Reading[]) =>
        readings.map(({ resetAtMs, ...reading }) => ({ ...reading, resetAtMs: resetAtMs - byMs }));
      let nowMs = 1_000_000;
      for (const { user, cost, afterMs } of drawn) {
        nowMs += afterMs;
        const call = { caller: { user }, operation: "call", cost };
        const then = right.decide(call, nowMs + byMs);
        expect(early.decide(call, nowMs)).toEqual(then);
        // Windows that end earlier by a right clock are told by it.
        expect(moved.decide(call, nowMs)).toEqual({
          ...then,
          retryAtMs: then.retryAtMs === null ? null : then.retryAtMs - byMs,
          readings: earlier(then.readings),
        });
        const read = right.read({ user }, quotas, nowMs + byMs);
        expect(early.read({ user }, quotas, nowMs)).toEqual(read);
        expect(moved.read({ user }, quotas, nowMs)).toEqual(earlier(read));
      }
    }),
    { numRuns: 50 },
  );
});

test("a reservation is settled by the process that made it, and by no other", () => {
  const nodes = new Nodes([new PolicyLimiter(policy), new PolicyLimiter(policy)], () => 0.9);
  const { reservation } = nodes.decide({ caller: { user: "ann" }, operation: "call", cost: 1 }, 0);
  expect(reservation).toMatchObject({ node: 1 });
  const foreign = { ...reservation, node: 2 } as never;
  expect(() => nodes.settle(foreign, 1, 0)).toThrow("there is no process 2");
});
