// Bodies of any length and kind, where a policy's wire wants a pointer into them: the run goes on, the reading is absent,
// and is counted.
import { describe, expect, test } from "vitest";
import { PolicyBook, PolicyLedger } from "../../src/load/policy-ledger.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { rest } from "../../src/scenario/calls.ts";
import { createEvent } from "../../src/scenario/client.ts";
import type { QuotaLine } from "../../src/trace/quota-stream.ts";
import { openTrace } from "../../src/trace/read.ts";
import { encodeHeader } from "../../src/trace/write.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import { chunks, quotaHeader, text } from "../trace/samples.ts";

const START = 1_795_305_600_000;
const inHeaders = { on: ["admitted"], headers: { "X-Left": "{remaining}" } } as const;
const withReset = {
  on: ["admitted"],
  headers: { "X-Left": "{remaining}", "X-Most": ["{limit}", "{limit}, *"], "X-Reset": "{reset}" },
  reset: { form: "delta-s", means: "window-end" },
} as const;
const inBodies = { on: ["admitted"], body: { "/left": "{remaining}", "/most": "{limit}" } } as const;

const policyOf = (...readings: readonly (typeof inHeaders | typeof withReset | typeof inBodies)[]): Policy =>
  parsePolicy({
    version: 2,
    name: "bodies",
    quotas: { calls: { algorithm: { kind: "fixed-window", limit: 100, windowSeconds: 60 }, key: ["user"] } },
    operations: { call: { uses: { calls: 1 } } },
    routes: [{ path: "/**", operation: "call" }],
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
    wire: { revision: "1", readings },
  });
const planned = { atMs: START, template: 0, page: 0, attempt: 0, wantedMs: START, delayMs: 0 };
const whole = '{"left":99,"most":100}';

/** The verdict on a client's answers, one a second, and their lines. */
async function judged(
  bodies: readonly string[],
  {
    status = 200,
    policy = policyOf(inBodies),
    headers = {},
  }: { status?: number; policy?: Policy; headers?: Record<string, string> } = {},
) {
  const caller = { organization: "acme", user: "ann", token: "a-secret", attributes: { user: "ann" } };
  const page = new PolicyLedger(new PolicyBook(policy), "agents/0", caller).page(rest("/a"));
  const lines = bodies.map((body, call) => {
    const sent = START + 1000 * call;
    const answer = { status, headers, body, error_code: 0, error: "" };
    return page.take(call, planned, answer, sent, sent + 5, createEvent());
  });
  const header = encodeHeader({ ...quotaHeader, policy, startedAt: START });
  const trace = await openTrace(chunks(text(header, ...lines)));
  if (trace.version !== 2) throw new RangeError("a trace of version 2");
  const read: QuotaLine[] = [];
  for await (const line of trace.calls) read.push(line);
  return { calls: read.map(({ call }) => call), verdict: await judgeQuotas(trace.header, read) };
}

describe("a body", () => {
  test.each([
    ["of 50 MB", `{"left":99,"text":"${"x".repeat(50_000_000)}"}`],
    ["that was cut short", whole.slice(0, 15)],
    ["that is no JSON", "<html><body>It works!</body></html>"],
  ])("%s shows nothing, is counted, and ends nothing", async (_, body) => {
    const { calls, verdict } = await judged([body, '{"left":98,"most":100}', body]);
    expect(calls.map(({ readings, unread }) => [readings.map(({ remaining }) => remaining), unread])).toEqual(
      [
        [[], ["body"]],
        [[98], undefined],
        [[], ["body"]],
      ],
    );
    expect(verdict.verdict).not.toBe("violated");
    expect(verdict.questions?.map(({ question }) => question)).toEqual([
      "Of 3 admitted calls, 2 bodies cannot be read (line 2): cut, too long, or no JSON. What sends them?",
    ]);
  });

  test("that cannot be read is counted where headers show the quota, too", async () => {
    const policy = policyOf(inHeaders, inBodies);
    const { verdict } = await judged([whole, "<html>", "<html>"], { policy, headers: { "X-Left": "98" } });
    expect(verdict.questions?.map(({ question }) => question)).toEqual([
      "Of 3 admitted calls, 2 bodies cannot be read (line 3): cut, too long, or no JSON. What sends them?",
    ]);
  });

  test("that is no JSON is none that is missed where no quota stands in such answers", async () => {
    const { calls } = await judged(["Retry later", '{"left":98,'], { status: 429 });
    expect(calls.map(({ outcome, unread }) => [outcome, unread])).toEqual([
      ["refused", undefined],
      ["refused", ["body"]],
    ]);
  });
});

describe("a header in none of the forms of the wire", () => {
  const accused = async (headers: Record<string, string>) => {
    const { verdict } = await judged(["{}"], { policy: policyOf(withReset), headers });
    return verdict.violations.map(({ law, suspects, explanation }) => ({ law, suspects, explanation }));
  };
  const said = "line 2 has values in none of the forms of the policy's wire; no trace keeps them: ";
  const fine = { "X-Left": "99", "X-Most": "100", "X-Reset": "30" };

  test.each(["soon", "29.5", "Mon, 01 Jan 2001 00:00:00 GMT", "1000000000000000"])(
    "a reset of %s is named with the form that it has there",
    async (reset) => {
      expect(await accused({ ...fine, "X-Reset": reset })).toEqual([
        {
          law: "headers-present",
          suspects: ["reset-epoch", "reset-in-ms", "reset-negative", "headers-doubled"],
          explanation: `${said}X-Reset, which is {reset} as delta-s`,
        },
      ]);
    },
  );

  test("so are a count and a limit, which are no times", async () => {
    expect(await accused({ ...fine, "X-Left": "99, 99", "X-Most": "many" })).toEqual([
      {
        law: "headers-present",
        suspects: ["headers-doubled"],
        explanation: `${said}X-Left, which is {remaining}; X-Most, which is {limit} or {limit}, *`,
      },
    ]);
    expect(await accused(fine)).toEqual([]);
    expect(await accused({ ...fine, "X-Most": "100, 100" })).toEqual([]);
  });
});

test("a field of the wire that no answer has is asked about", async () => {
  const { verdict } = await judged(["{}", '{"Left":98,"Most":100}']);
  expect(verdict.questions?.map(({ question }) => question)).toEqual([
    "None of 2 admitted calls shows a quota (line 2), as the policy's wire says. Is that meant? " +
      "The names in its readings settle it.",
  ]);
});

test.each([
  ["gone", "gone"],
  ["", "no answer"],
  ["e".repeat(300), "e".repeat(200)],
])("a call without an answer keeps why, in 200 characters: %s", (error, kept) => {
  const caller = { organization: "acme", user: "ann", token: "a-secret", attributes: { user: "ann" } };
  const page = new PolicyLedger(new PolicyBook(policyOf(inBodies)), "agents/0", caller).page(rest("/a"));
  const answer = { status: 0, headers: {}, body: "", error_code: 1, error };
  const line = JSON.parse(page.take(0, planned, answer, START, START + 5, createEvent()));
  expect(line).toMatchObject({ status: 0, outcome: "unknown", error: kept, readings: [] });
});
