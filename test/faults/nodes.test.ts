// Processes whose clocks or windows differ: each answers as a right one would at another time.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Reading } from "../../src/engine/decision.ts";
import { PolicyLimiter } from "../../src/engine/policy-limiter.ts";
import { ahead, movedWindows, Nodes } from "../../src/faults/nodes.ts";
import { LaggingCopy } from "../../src/faults/processes.ts";
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
const call = fc.record({
  user: fc.constantFrom("ann", "bob"),
  cost: fc.integer({ min: 0, max: 5 }),
  afterMs: fc.integer({ min: 0, max: 8 }).map((halves) => 500 * halves),
});
const calls = fc.array(call, { maxLength: 20 });

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

test("a copy that lags decides as a right process does, and shows what that one showed before the lag", () => {
  const lagMs = 3_000;
  const events = fc.array(fc.tuple(call, fc.constantFrom("call", "enforce", "release")), { maxLength: 20 });
  fc.assert(
    fc.property(events, (drawn) => {
      const [right, lagging] = [new PolicyLimiter(policy), new LaggingCopy(policy, lagMs)];
      const past: { atMs: number; happen: (store: PolicyLimiter) => void }[] = [];
      let [nowMs, latestMs] = [1_000_000, 0];
      for (const [{ user, cost, afterMs }, kind] of drawn) {
        nowMs += afterMs;
        const [atMs, toldMs, caller] = [nowMs, latestMs, { user }];
        const asked = { caller, operation: "call", cost };
        if (kind === "call") {
          const { refusedBy, retryAtMs } = right.decide(asked, atMs);
          expect(lagging.decide(asked, atMs)).toMatchObject({ refusedBy, retryAtMs });
          past.push({ atMs, happen: (store) => store.decide(asked, atMs) });
        } else {
          const isEnforced = kind === "enforce";
          for (const store of [right, lagging]) store.setEnforced("window", caller, isEnforced);
          // It tells no time: it is as old as what came before it.
          past.push({ atMs: toldMs, happen: (store) => store.setEnforced("window", caller, isEnforced) });
        }
        latestMs = nowMs;
        const before = new PolicyLimiter(policy);
        for (const event of past) if (event.atMs <= nowMs - lagMs) event.happen(before);
        const shown = before.read(caller, quotas, nowMs).map(({ used, enforced }) => ({ used, enforced }));
        expect(lagging.read(caller, quotas, nowMs)).toMatchObject(shown);
      }
    }),
    { numRuns: 50 },
  );
});
