// Figures under a policy: of buckets, which have no windows, the level that answers showed; and refusals by quota.
import { expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { summarize } from "../../src/summary/summarizer.ts";
import type { QuotaCall, QuotaReading, QuotaTraceHeader } from "../../src/trace/quota-record.ts";
import { inference } from "../policy/policies.ts";
import { startMs, traceHeader } from "./traces.ts";

const policy = parsePolicy(inference);
const { rules: _, lost: __, version: ___, ...rest } = traceHeader();
const header = { ...rest, version: 2, policy, lost: 0 } as QuotaTraceHeader;

const level = (quota: string, used: number | null, limit: number | null = null): QuotaReading => ({
  quota,
  limit,
  remaining: null,
  used,
  reset: null,
});
const call = (user: string, model: string, changes: Partial<QuotaCall> = {}): QuotaCall => ({
  sent: startMs,
  received: startMs + 10,
  client: "agents/0",
  call: 0,
  caller: { tenant: "acme", user, model },
  operation: "complete",
  cost: 1,
  status: 200,
  outcome: "admitted",
  readings: [],
  attempt: 0,
  ...changes,
});
const refused = { outcome: "refused", status: 429, by: "burst" } as const;

test("a bucket's level is the highest that was shown, beside its limit, its calls and its refusals", () => {
  const { levels, windows } = summarize(header, [
    call("ann", "m", { readings: [level("burst", 2)] }),
    call("ann", "m", { readings: [level("burst", 4, 6)] }),
    call("ann", "m", { readings: [level("burst", 3)] }),
    call("ann", "m", { readings: [level("burst", null)] }),
    call("ann", "m", { ...refused, readings: [level("burst", 5)] }),
    call("ann", "m", { outcome: "unknown", readings: [level("burst", 1)] }),
    call("ann", "m", { operation: "status", readings: [level("burst", 9)] }),
  ]);
  expect(windows).toEqual([]);
  expect(levels).toEqual([
    { quota: "burst", key: { user: "ann", model: "m" }, limit: 5, highest: 5, admitted: 4, refused: 1 },
  ]);
});

test("levels come most refused first, then by what was let through; there are none without buckets", () => {
  const used = (user: string, changes: Partial<QuotaCall> = {}) =>
    call(user, "m", { readings: [level("burst", 1)], ...changes });
  const { levels = [] } = summarize(header, [
    used("few"),
    used("many"),
    used("many"),
    used("refused", refused),
  ]);
  expect(levels.map(({ key }) => key["user"])).toEqual(["refused", "many", "few"]);
  expect("levels" in summarize(header, [call("ann", "m")])).toBe(false);
});

test("refusals are counted by the quota that refused, or by a word for what did; every quota is there", () => {
  const { refusedBy } = summarize(header, [
    call("ann", "m", refused),
    call("bob", "m", refused),
    call("ann", "m", { ...refused, by: "waf" }),
    call("ann", "m", { ...refused, by: undefined }),
    call("ann", "m", { by: "burst" }),
  ]);
  expect(refusedBy).toMatchObject({ burst: 2, waf: 1, unknown: 1, tenant: 0, user: 0 });
});
