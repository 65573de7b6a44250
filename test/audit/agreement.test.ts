// The oracle's verdict on an audit's trace, by quotas and by rules; and lines of calls as a trace keeps them.
import { describe, expect, test } from "vitest";
import { type Agreement, agreement, oracleOn } from "../../src/audit/agreement.ts";
import { AuditRecord } from "../../src/audit/record.ts";
import type { Shot } from "../../src/audit/step.ts";
import type { Raw } from "../../src/audit/wires.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { QuotaCall } from "../../src/trace/quota-record.ts";
import { quotaHeader } from "../trace/samples.ts";

const startMs = 1_767_322_800_000;
const rules = parseRules({ organization: { rest: { limit: 2 } }, semantics: { anchor: "epoch" } });
const header = { ...quotaHeader, policy: policyOf(rules), startedAt: startMs };
const recordOf = (earlier: readonly QuotaCall[] = [], isDefault = true): AuditRecord =>
  new AuditRecord(header, ["secret-1", "secret-2"], isDefault, earlier);
const shot: Shot = {
  ...{
    caller: { index: 0, name: "acme/ann", attributes: {} },
    operation: "rest",
    method: "GET",
    path: "/v2",
  },
  ...{ attributes: { organization: "acme", user: "ann" }, headers: {}, body: null, cost: 1, way: "kept" },
};
const raw = (atMs: number, more: Partial<Raw> = {}): Raw => ({
  ...{ sentMs: startMs + atMs, receivedMs: startMs + atMs + 10, status: 200, headers: {}, body: "{}" },
  ...{ error: null, ...more },
});

/** Headers of an answer that shows so much used in its minute. */
const shown = (atMs: number, used: number): Record<string, string> =>
  Object.fromEntries(
    [
      ["", 2, "rest"],
      ["user-", 50, "rest_user"],
    ].flatMap(([whose, limit, scope]) => [
      [`ratelimit-${whose}scope`, `${scope}`],
      [`ratelimit-${whose}limit`, `${limit}`],
      [`ratelimit-${whose}remaining`, `${Math.max(0, Number(limit) - used)}`],
      [`ratelimit-${whose}reset`, `${Math.ceil((60_000 - (atMs % 60_000)) / 1_000)}`],
    ]),
  );
/** Calls of one minute, the latest first. */
const admitted = (record: AuditRecord, ...atMs: readonly number[]): AuditRecord => {
  for (const [place, ms] of atMs.entries())
    record.add(shot, raw(ms, { headers: shown(ms, atMs.length - place) }));
  return record;
};

/** Laws that are accused, with the lines of their answers. */
const accused = ({ accusations }: Agreement) => accusations.map(({ law, lines }) => [law, lines]);
const three = () => admitted(recordOf(), 9_000, 5_000, 1_000);
const byQuotas = [["conserved", [2, 3, 4]]];

describe("the oracle", () => {
  test("judges by the policy, and by rules as well, in the order of answers", async () => {
    expect(accused(await agreement(three(), null))).toEqual(byQuotas);
    const both = await agreement(three(), rules);
    expect(accused(both)).toEqual([...byQuotas, ["monotone", [2, 3]], ["conserved", [2, 3]]]);
    expect(both.shown).toEqual({
      ...{ verdict: "violated", records: 3, windows: 2 },
      violations: both.accusations.map(({ lines: _, ...told }) => told),
    });
    expect(both.unjudged).toBeNull();
  });

  test("accuses nobody of two calls in a window of two", async () => {
    const { accusations, unjudged, shown: told } = await agreement(admitted(recordOf(), 5_000, 1_000), rules);
    expect([accusations, unjudged]).toEqual([[], null]);
    expect(told).toEqual({ verdict: "ok", records: 2, windows: 2, violations: [] });
  });

  test("says why it judges nothing: there is no call, or the policy is not settled", async () => {
    const nothing = { verdict: "unknown", records: 0, windows: 0, violations: [] };
    expect(await agreement(recordOf(), rules)).toEqual({
      ...{ accusations: [], unjudged: "nothing in the trace could be judged", shown: nothing },
    });
    expect(await agreement(three(), rules, "two answers differ")).toEqual({
      ...{ accusations: [], unjudged: "two answers differ", shown: { ...nothing, records: 3 } },
    });
  });

  test("tells twenty violations at most", async () => {
    const record = recordOf();
    for (let place = 0; place < 21; place++)
      for (const [used, atMs] of [1_000, 5_000, 9_000].entries())
        record.add(
          { ...shot, attributes: { organization: `acme-${place}`, user: "ann" } },
          raw(atMs, { headers: shown(atMs, used + 1) }),
        );
    const { accusations, shown: told } = await agreement(record, null);
    expect(accusations.length).toBe(21);
    expect(told.violations).toHaveLength(20);
  });

  test("does not blame rules for counts of an earlier part of the audit", async () => {
    const second = { headers: shown(62_000, 2) };
    const whole = recordOf();
    whole.add(shot, raw(62_000, second));
    expect(accused(await agreement(whole, rules))).toContainEqual(["conserved", [2]]);
    const resumed = recordOf(admitted(recordOf(), 61_000).calls);
    const { line } = resumed.add(shot, raw(62_000, second));
    expect([line, resumed.calls.length, resumed.plain.length]).toEqual([3, 2, 1]);
    expect(accused(await agreement(resumed, rules))).toEqual([]);
  });

  test("agrees with a finding of the same law, or of one of its answers", async () => {
    const found = await agreement(three(), null);
    const on = (law: string, ...lines: readonly number[]) => oracleOn(found, law, lines);
    expect(on("conserved", 99)).toBe("agrees");
    expect(on("bounded", 99, 3)).toBe("agrees");
    expect(on("bounded", 99, 5)).toBe("does not see it");
    expect(on("bounded")).toBe("does not see it");
  });
});

describe("a line of an audit's trace", () => {
  test("has the answer as it came, without secrets that the target echoes", () => {
    const record = recordOf();
    const { call, headers, body } = record.add(
      shot,
      raw(500, {
        headers: { ...shown(500, 1), "x-echo": "secret-1 secret-2 secret-1", "x-none": undefined },
        body: '{"token":"secret-2"}',
      }),
    );
    expect(call).toMatchObject({ sent: startMs + 500, received: startMs + 510, client: "audit/0", call: 0 });
    expect(call).toMatchObject({ caller: shot.attributes, operation: "rest", cost: 1, outcome: "admitted" });
    expect([headers["x-echo"], headers["x-none"], body]).toEqual([
      ...["$TOKEN $TOKEN $TOKEN", undefined, { token: "$TOKEN" }],
    ]);
    const lines = record.text().split("\n");
    expect(lines.length).toBe(3);
    expect(JSON.parse(lines[0] as string)).toEqual(JSON.parse(JSON.stringify(header)));
    expect(lines[2]).toBe("");
  });

  test("tells its clock, and why there was no answer", () => {
    const record = recordOf();
    const date = new Date(startMs).toUTCString();
    expect(record.add(shot, raw(500, { headers: { date } })).call.date).toBe(startMs);
    expect(record.add(shot, raw(500, { headers: { date: "soon" } })).call.date).toBeUndefined();
    const none = (error: string | null) => record.add(shot, raw(500, { status: 0, error })).call;
    expect(none("timeout")).toMatchObject({ status: 0, outcome: "unknown", readings: [], error: "timeout" });
    expect(none(null)).toMatchObject({ error: "no answer" });
  });

  test("of a vague call tells no refusal, and of calls that no quota counts no cost", () => {
    const record = recordOf();
    const outcomes = [true, false].map((isVague) =>
      [399, 400, 429].map(
        (status) =>
          record.add({ ...shot, isVague }, raw(500, { status, headers: shown(500, 1) })).call.outcome,
      ),
    );
    expect(outcomes).toEqual([
      ["admitted", "unknown", "unknown"],
      ["admitted", "admitted", "refused"],
    ]);
    const costs = ["rest", "status", "other"].map(
      (operation) => record.add({ ...shot, operation }, raw(500)).call.cost,
    );
    expect(costs).toEqual([1, null, null]);
  });

  test("by rules as well has one of version 1, unless nobody knows the caller", () => {
    const record = recordOf();
    record.add({ ...shot, caller: null }, raw(500));
    record.add(shot, raw(500, { headers: shown(500, 1) }));
    record.add({ ...shot, operation: "graphql", cost: 7 }, raw(600, { headers: shown(600, 1) }));
    record.add({ ...shot, operation: "status" }, raw(700));
    record.add({ ...shot, operation: "status", method: "HEAD", attributes: {} }, raw(800));
    record.add(shot, raw(900, { status: 0, error: "timeout" }));
    expect(record.calls).toHaveLength(6);
    expect(record.plain).toMatchObject([
      {
        client: "audit/0",
        call: 1,
        org: "acme",
        user: "ann",
        scope: "rest",
        kind: "call",
        cost: 1,
        limit: 2,
      },
      { call: 2, scope: "graphql", cost: 7 },
      { call: 3, scope: "rest", kind: "status" },
      { call: 4, org: "", user: null, kind: "status" },
      { call: 5, status: 0 },
    ]);
    const others = recordOf([], false);
    others.add(shot, raw(500));
    expect(others.plain).toEqual([]);
  });

  test("counts calls whose answers nobody waited for", () => {
    const record = recordOf();
    record.lose(2);
    record.lose(3);
    expect(record.header).toEqual({ ...header, lost: 5 });
  });
});
