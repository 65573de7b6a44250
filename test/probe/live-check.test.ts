// `check --target` against a limiter in virtual time, with a judge that is told what to say: which runs are played and
// judged, what their reports add up to, and which run is shown.
import { expect, test } from "vitest";
import type { Ask, Got } from "../../src/connect/send.ts";
import { Limiter } from "../../src/engine/limiter.ts";
import { LiveCaller, type LiveOptions } from "../../src/probe/live.ts";
import {
  checkLive,
  type LiveCheckOptions,
  type LiveLine,
  type LiveVerdict,
} from "../../src/probe/live-check.ts";
import type { LawName } from "../../src/rules/laws.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { type Token, tokenScopes } from "../../src/rules/tokens.ts";
import type { TraceHeader } from "../../src/trace/record.ts";
import { statusBody } from "../../src/wire/bodies.ts";

const rules = parseRules({
  organization: { rest: { limit: 6, windowSeconds: 6 } },
  user: { rest: { limit: 3, windowSeconds: 4 } },
});
const startMs = Date.UTC(2026, 0, 2, 3, 2, 17, 300);
const callers: Token[] = ["ann", "bob"].map((user) => ({
  ...{ token: `secret-of-${user}`, user, organization: "acme", scopes: tokenScopes },
}));

/**
 * A right limiter behind a hand whose calls take 4 ms, and how long it was waited.
 * @param turns turns of the event loop that an answer takes
 */
function deployed(options: Partial<LiveOptions> = {}, turns = 0) {
  const limiter = new Limiter(rules);
  const waited: number[] = [];
  let nowMs = startMs;
  const send = async ({ url, token }: Ask): Promise<Got> => {
    nowMs += 2;
    for (let turn = 0; turn < turns; turn++) await null;
    const user = String(token).replace("secret-of-", "");
    const isStatus = url.endsWith("/rate_limit");
    const call = { organization: "acme", user, scope: "rest", cost: 1 } as const;
    const decision = isStatus ? null : limiter.decide(call, nowMs);
    const { organization, user: own } = decision ?? limiter.readings("acme", user, "rest", nowMs);
    const body = isStatus ? JSON.stringify(statusBody(limiter.status("acme", nowMs))) : "{}";
    nowMs += 2;
    const headers = {
      ...{ "ratelimit-scope": "rest", "ratelimit-limit": String(organization.limit) },
      ...{
        "ratelimit-remaining": String(organization.remaining),
        "ratelimit-reset": String(organization.reset),
      },
      ...{ "ratelimit-user-scope": "rest_user", "ratelimit-user-limit": String(own.limit) },
      ...{ "ratelimit-user-remaining": String(own.remaining), "ratelimit-user-reset": String(own.reset) },
    };
    return { status: decision === null || decision.admitted ? 200 : 429, headers, body };
  };
  const live = new LiveCaller({
    ...{ base: "http://127.0.0.1:1", callers, budget: { calls: 400, ms: 200_000 }, send },
    now: () => nowMs,
    sleep: async (ms) => {
      waited.push(ms);
      nowMs += ms;
    },
    ...options,
  });
  return { live, waited };
}

interface Judged {
  readonly header: TraceHeader;
  readonly lines: readonly LiveLine[];
}

const fine: LiveVerdict = { verdict: "ok", laws: { bounded: "held" }, violations: [] };
const breaks = (law: LawName): LiveVerdict => ({
  ...{ verdict: "violated", laws: { [law]: "violated" } },
  violations: [{ law, explanation: `${law} is broken`, lines: [2] }],
});

async function checked(
  says: (judged: Judged, number: number) => LiveVerdict,
  more: Partial<LiveCheckOptions<LiveVerdict>> = {},
  options: Partial<LiveOptions> = {},
  turns = 0,
) {
  const { live, waited } = deployed(options, turns);
  const judged: Judged[] = [];
  const told: string[] = [];
  const report = await checkLive<LiveVerdict>({
    ...{ live, target: "http://127.0.0.1:1", rules, alone: true, runs: 4, seed: 5 },
    judge: async (header, lines) => {
      judged.push({ header, lines });
      return says({ header, lines }, judged.length);
    },
    onProgress: (text) => void told.push(text),
    ...more,
  });
  return { report, judged, told, waited, live };
}

/** A run in short: kinds and statuses of its calls, by their users. */
const short = ({ lines }: Judged): string =>
  lines
    .map(({ call }) => `${call.kind === "status" ? "s" : call.status === 429 ? "R" : "c"}${call.user?.[0]}`)
    .join(" ");

test("each run is judged by its own trace, in the order of answers", async () => {
  const { report, judged, told, waited, live } = await checked(() => fine);
  expect(told).toEqual([1, 2, 3, 4].map((run) => `run ${run} of 4`));
  for (const { header, lines } of judged) {
    expect(header).toEqual({
      ...{ format: "spillway-trace", version: 1, source: "other", scenario: "check --target", seed: 5 },
      ...{ target: "http://127.0.0.1:1", rules, complete: true, lost: 0 },
      startedAt: Math.min(...lines.map(({ call }) => call.sent)),
      clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
    });
    expect(lines.map(({ line }) => line)).toEqual(lines.map((_, at) => at + 2));
    const received = lines.map(({ call }) => call.received);
    expect(received).toEqual(received.toSorted((a, b) => a - b));
    expect(new Set(lines.map(({ call }) => call.client))).toEqual(new Set(["check/0"]));
  }
  expect(judged.reduce((sum, { lines }) => sum + lines.length, 0)).toBe(live.calls);
  expect(report).toEqual({
    ...{ target: "http://127.0.0.1:1", seed: 5, runs: 4, calls: live.calls, laws: { bounded: "held" } },
    ...{ evidence: {}, ok: true, ended: null, counterexample: null },
  });
  expect(judged.map(short)).toMatchInlineSnapshot(`
    [
      "sb sa cb cb cb Rb Rb Rb Rb Rb ca ca",
      "sa sb ca ca cb cb cb Rb Rb Rb Rb Rb",
      "sa sa sa",
      "sa sb sa sa sb sb sb sb ca ca ca sa sa sa cb cb cb Rb Rb",
    ]
  `);
  expect(waited).toMatchInlineSnapshot(`
    [
      3300,
      4300,
      6300,
      5300,
      3984,
      2000,
    ]
  `);
});

test("a law that was violated once is, one that held once held, and evidence adds up", async () => {
  const evidence = { readings: 1, refusals: 2, windows: 3, resets: 4 };
  const says = [
    { ...fine, laws: { bounded: "held", monotone: { skipped: "no call" }, recovers: { skipped: "first" } } },
    { ...fine, laws: { bounded: { skipped: "none" }, monotone: "held", recovers: { skipped: "second" } } },
    { ...fine, evidence: { bounded: evidence } },
    { ...fine, laws: { bounded: "violated" }, evidence: { bounded: evidence, monotone: evidence } },
  ] as const;
  const { report } = await checked((_, number) => says[number - 1] as LiveVerdict);
  expect(report.laws).toEqual({ bounded: "violated", monotone: "held", recovers: { skipped: "first" } });
  expect(report.evidence).toEqual({
    bounded: { readings: 2, refusals: 4, windows: 6, resets: 8 },
    monotone: evidence,
  });
});

test("the first accused run is made smaller, as long as the same law accuses", async () => {
  const { report, told } = await checked(
    ({ lines }) => (lines.length > 5 ? breaks("bounded") : breaks("isolated")),
    {
      runs: 9,
    },
  );
  expect(report).toMatchObject({ ok: false, runs: 1, ended: null, laws: { bounded: "violated" } });
  expect(report.counterexample?.verdict).toEqual(breaks("bounded"));
  expect(report.counterexample?.lines).toHaveLength(6);
  expect(told[0]).toBe("run 1 of 9");
  expect(new Set(told.slice(1))).toEqual(new Set(["making a run smaller"]));
  expect(report.laws).not.toHaveProperty("isolated");
});

test("a budget that ends keeps what was found until then", async () => {
  const { report, judged } = await checked(
    () => fine,
    { runs: 50, alone: false, rules: null },
    { budget: { calls: 30, ms: 200_000 } },
  );
  expect(report).toMatchObject({ ok: true, calls: 30, runs: judged.length, counterexample: null });
  expect(report.ended).toEqual({ why: "budget", reason: "the calls that were allowed are used up" });
  expect(judged.reduce((sum, { lines }) => sum + lines.length, 0)).toBe(30);
  expect(judged.map(({ header: { complete, rules: known } }) => [complete, known])).toEqual(
    judged.map(() => [false, null]),
  );
});

test("calls under way when the budget ends are waited for", async () => {
  for (const calls of [27, 28, 29, 30]) {
    const { judged } = await checked(() => fine, { runs: 50 }, { budget: { calls, ms: 200_000 } }, 9);
    expect(judged.reduce((sum, { lines }) => sum + lines.length, 0)).toBe(calls);
  }
});

test("a judge that fails ends the check with its error", async () => {
  const failing = checked(() => {
    throw new RangeError("no judge");
  });
  await expect(failing).rejects.toThrow("no judge");
});
