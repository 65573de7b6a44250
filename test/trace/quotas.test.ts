// Traces of version 2: lines by the quotas of a policy, written, read back, and refused with the place of a mistake.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SpillwayError } from "../../src/rules/errors.ts";
import { encodeQuotaCall } from "../../src/trace/quota-lines.ts";
import type { QuotaCall } from "../../src/trace/quota-record.ts";
import { openTrace, readTrace } from "../../src/trace/read.ts";
import { encodeHeader } from "../../src/trace/write.ts";
import { quotaHeader } from "./samples.ts";

const format = readFileSync(new URL("../../src/trace/FORMAT.md", import.meta.url), "utf8");
const example = /\{"sent".*"caller".*\}/.exec(format)?.[0] ?? "";

const header = quotaHeader;
const first = encodeHeader(header);

async function* bytesOf(...lines: readonly string[]): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(`${lines.join("\n")}\n`);
}

async function callsOf(lines: readonly string[], sort = false): Promise<QuotaCall[]> {
  const trace = await openTrace(bytesOf(first, ...lines), { sort });
  if (trace.version !== 2) throw new RangeError("version 1");
  const calls: QuotaCall[] = [];
  for await (const { call } of trace.calls) calls.push(call);
  return calls;
}

const whole = fc.option(fc.integer({ min: -5, max: 100_000 }));
const reading = fc.record({
  quota: fc.constantFrom("rest", "rest_user", "graphql", "graphql_user"),
  limit: whole,
  remaining: whole,
  used: whole,
  reset: fc.oneof(
    fc.constant(null),
    fc.record({
      afterMs: fc.integer({ min: 0, max: 90_000 }),
      atMs: fc.constant(null),
      gridMs: fc.constantFrom(1, 1000),
    }),
    fc.record({
      afterMs: fc.constant(null),
      atMs: fc.integer({ min: 1_767_322_800_000, max: 1_767_322_890_000 }),
      gridMs: fc.constantFrom(1, 1000),
    }),
  ),
});
const call: fc.Arbitrary<QuotaCall> = fc.record(
  {
    sent: fc.integer({ min: 0, max: 1000 }),
    received: fc.integer({ min: 0, max: 1000 }),
    client: fc.string(),
    call: fc.nat(),
    caller: fc.dictionary(fc.constantFrom("organization", "user", "model"), fc.string()),
    operation: fc.constantFrom("rest", "graphql", "status", "other"),
    cost: fc.option(fc.integer({ min: 10, max: 900 })),
    status: fc.constantFrom(0, 200, 404, 429, 503),
    outcome: fc.constantFrom("admitted", "refused", "exempt", "unknown"),
    readings: fc.array(reading, { maxLength: 5 }),
    actual: fc.integer({ min: 0, max: 10 }),
    by: fc.constantFrom("rest", "secondary"),
    retryAfterMs: fc.nat(),
    retryAt: fc.nat(),
    date: fc.nat(),
    via: fc.constant("cache"),
    unread: fc.array(fc.string(), { minLength: 1 }),
    error: fc.string(),
    wanted: fc.nat(),
    attempt: fc.nat(),
  },
  {
    requiredKeys: [
      "sent",
      "received",
      "client",
      "call",
      "caller",
      "operation",
      "cost",
      "status",
      "outcome",
      "readings",
    ],
  },
);

describe("a line", () => {
  test("is read as it was written", async () => {
    await fc.assert(
      fc.asyncProperty(call, async (given) => {
        const line = encodeQuotaCall(given);
        const [read] = await callsOf([line]);
        expect(read).toEqual(given);
        expect(encodeQuotaCall(read as QuotaCall)).toBe(line);
      }),
    );
  });

  test("of two quotas is the one of FORMAT.md, of at most 320 bytes", async () => {
    const [read] = await callsOf([example]);
    expect(encodeQuotaCall(read as QuotaCall)).toBe(example);
    expect(read?.readings).toHaveLength(2);
    expect(new TextEncoder().encode(example).length).toBeLessThanOrEqual(320);
  });
});

test("lines are put in the order of received where that is asked for", async () => {
  const at = (received: number, number: number): string =>
    example
      .replace('"received":1767322800131', `"received":${received}`)
      .replace('"call":3', `"call":${number}`);
  const lines = [at(900_000, 0), at(5, 1), at(400_000, 2)];
  expect((await callsOf(lines, true)).map((one) => one.call)).toEqual([1, 2, 0]);
  await expect(callsOf(lines)).rejects.toMatchObject({ code: "TRACE_INVALID" });
});

test("a verb that reads version 1 says so", async () => {
  await expect(readTrace(bytesOf(first, example))).rejects.toMatchObject({
    code: "TRACE_INVALID",
    problems: [{ path: "line 1: version", got: "2", allowed: "1" }],
  });
});

describe("a mistake has its place", () => {
  const changed = (from: string, to: string): string => {
    expect(example).toContain(from);
    return example.replace(from, to);
  };

  test.each([
    [
      "a quota that the policy lacks",
      ['["rest_user"', '["rest_usr"'],
      "line 2: readings",
      "did you mean rest_user?",
    ],
    [
      "an operation that it lacks",
      ['"operation":"rest"', '"operation":"reest"'],
      "line 2: operation",
      "did you mean rest?",
    ],
    ["a reading cut short", ["200,150,null,60000]", "200,150]"], "line 2: readings", undefined],
    ["a count that is no number", ["200,150,", '200,"150",'], "line 2: readings", undefined],
    ["a grid of 0", ["60000],[", "60000,null,0],["], "line 2: readings", undefined],
    ["an outcome that there is not", ['"admitted"', '"allowed"'], "line 2: outcome", undefined],
    [
      "a caller that is no object",
      ['{"organization":"acme","user":"agent-17"}', '["acme"]'],
      "line 2: caller",
      undefined,
    ],
    ["a call twice", [example, `${example}\n${example}`], "line 3: call", undefined],
  ] as const)("%s", async (_, [from, to], path, hint) => {
    const error = await callsOf([changed(from, to)]).then(
      () => null,
      (thrown: SpillwayError) => thrown,
    );
    expect(error).toMatchObject({ code: "TRACE_INVALID", hint });
    expect(error?.problems[0]?.path).toBe(path);
  });

  test.each([
    ["no policy", { policy: null }, "line 1: policy"],
    ["rules in place of a policy", { policy: { organization: {} } }, "line 1: policy"],
    [
      "a policy with a mistake",
      { policy: { ...header.policy, quotas: {} } },
      "line 1: policy.operations.rest.uses.rest",
    ],
    ["lost by organization", { lost: [{ org: "acme", scope: "rest", count: 1 }] }, "line 1: lost"],
  ])("%s", async (_, changes, path) => {
    const text = JSON.stringify({ ...header, ...changes });
    const error = await openTrace(bytesOf(text)).then(
      () => null,
      (thrown: SpillwayError) => thrown,
    );
    expect(error?.code).toBe("TRACE_INVALID");
    expect(error?.problems.map((problem) => problem.path)).toContain(path);
  });
});
