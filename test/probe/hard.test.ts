// Targets that make it hard: silent, broken, hostile, shared, or with clocks of their own. What the probe says of
// them is less, and never wrong.
import { describe, expect, test } from "vitest";
import { NoAnswer } from "../../src/connect/no-answer.ts";
import type { Ask, Got } from "../../src/connect/send.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { answer, draw, isStatus, seen } from "./hard.ts";
import { mistakes } from "./truth.ts";
import { probeOf, probeVirtually, tokenOf, VirtualTarget } from "./virtual.ts";

describe("a target whose bodies are hostile", () => {
  const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
  const odd = '{"toString":1,"valueOf":1}';
  const status = (member: string, value: string): string => {
    const scope = {
      limit: 9,
      current: 0,
      reset: 9,
      reset_at: "2026-01-02T03:03:00Z",
      enforced: true,
      [member]: 0,
    };
    return JSON.stringify({ scopes: { rest: scope, graphql: scope } }).replaceAll(
      `"${member}":0`,
      `"${member}":${value}`,
    );
  };

  test.each([
    ["lists in lists", deep(12_000)],
    ["objects in objects", `${'{"scopes":'.repeat(12_000)}1${"}".repeat(12_000)}`],
    ["a time of lists in lists", status("reset_at", deep(12_000))],
    ["a time that is no text", status("reset_at", odd)],
    ["a limit that is no number", status("limit", odd)],
    ["a message of lists in lists", `{"errors":[{"message":${deep(12_000)}}]}`],
    ["a message that is no text", `{"errors":[{"message":${odd}}],"scope":${odd},"limit":1,"current":2}`],
  ])("%s: it is probed to the end, and every call is in the trace", async (_, body) => {
    for (const code of [200, 429]) {
      const report = await probeVirtually(
        {},
        { after: (got, ask) => (isStatus(ask) ? { ...got, body } : { ...got, status: code, body }) },
      );
      expect(report.trace.map((line) => JSON.parse(line)).length).toBeGreaterThan(1);
      expect(JSON.stringify(report.findings)).toMatch(/^\[/);
    }
  });
});

describe("a target that limits nothing", () => {
  test("is said to show no limits, after free calls alone", async () => {
    const report = await probeVirtually({}, { before: () => answer(200, { ok: true }) });
    expect(report.ended).toBe("whole");
    expect(report.used.calls).toBe(0);
    expect(report.rules).toEqual({});
    expect(seen(report, "organizationLimit", "rest")?.evidence).toMatch(
      /nothing shows that it limits at all/,
    );
    expect(report.findings.filter(({ value }) => value !== null)).toEqual([]);
  });

  test("one that has a status and refuses nothing", async () => {
    const rules = { organization: { rest: { enforced: false }, graphql: { enforced: false } } };
    const report = await probeVirtually(rules);
    expect(seen(report, "enforced", "rest")?.value).toBe(false);
    expect(seen(report, "userEnforced", "rest")?.value).toBe("with-organization");
    expect(seen(report, "retryAfter", "rest")?.confidence).toBe("not seen");
    expect(mistakes(report, rules)).toEqual([]);
  });
});

describe("a target that answers 500", () => {
  test.each([1, 2, 3, 4, 5])("half of the time, before it counts (seed %i)", async (seed) => {
    const report = await probeVirtually(
      {},
      { before: (_ask, call) => (draw(call, seed) < 0.5 ? answer(500) : null) },
      { allowance: { statusCalls: 600 } },
    );
    expect(mistakes(report, {})).toEqual([]);
    expect(report.failed).toBeGreaterThan(20);
    expect(report.used.calls).toBeLessThanOrEqual(report.allowance.calls);
    expect(report.used.statusCalls).toBeLessThanOrEqual(report.allowance.statusCalls);
    expect(report.findings.filter(({ confidence }) => confidence === "certain")).toEqual([]);
    expect(seen(report, "organizationLimit", "rest")).toMatchObject({ value: 200, confidence: "likely" });
    expect(seen(report, "getCounted", "rest")?.value).toBe(true);
  });

  test.each([1, 2, 3])("half of the time, after it has counted (seed %i)", async (seed) => {
    const report = await probeVirtually(
      {},
      { after: (got, _ask, call) => (draw(call, seed) < 0.5 ? answer(500) : got) },
      { allowance: { statusCalls: 600 } },
    );
    expect(mistakes(report, {})).toEqual([]);
    expect(seen(report, "userLimit", "rest")?.value).toBe(50);
  });

  test("always, is unreachable", async () => {
    await expect(probeVirtually({}, { before: () => answer(500) })).rejects.toMatchObject({
      code: "TARGET_UNREACHABLE",
      problems: [{ got: "500, again and again" }],
    });
  });

  test("always from some call on, is left after a dozen", async () => {
    const target = new VirtualTarget({}, { before: (_ask, call) => (call > 30 ? answer(503) : null) });
    const report = await probeOf(target);
    expect(report.ended).toMatchObject({ stopped: expect.stringContaining("12 calls in a row") as string });
    expect(target.calls).toBe(42);
    expect(seen(report, "organizationLimit", "rest")?.value).toBe(200);
  });
});

describe("no such API", () => {
  test.each<[string, Got | NoAnswer, RegExp]>([
    ["a token that is not known", answer(401, { message: "no" }), /^401: the token is not known there$/],
    ["an unknown organization", answer(404, { message: "no" }), /^404: no such organization/],
    ["a token that may not read the status", answer(403, { message: "no" }), /^403: /],
    [
      "a redirect",
      answer(301, "", { location: "https://elsewhere.example/" }),
      /^301, a redirect to "https:\/\/elsewhere\.example\/"$/,
    ],
    ["a website", answer(200, "<!doctype html><p>hello"), /^200 and HTML$/],
    ["a status that is refused", answer(429), /^429: even the status is refused$/],
    ["another answer", answer(418, { tea: true }), /^418 and \{"tea":true\}$/],
    ["nobody", new NoAnswer("refused"), /^connection refused$/],
    ["no HTTP", new NoAnswer("no http"), /^something that is no HTTP$/],
    ["TLS that fails", new NoAnswer("untrusted"), /^a certificate that nobody known here vouches for$/],
    ["silence", new NoAnswer("timeout", "no answer"), /^no answer in time$/],
  ])("%s", async (_what, got, said) => {
    const target = new VirtualTarget({}, { before: () => got });
    const error = await probeOf(target).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "TARGET_UNREACHABLE",
      problems: [{ got: expect.stringMatching(said) as string }],
    });
    expect(target.calls).toBeLessThanOrEqual(4);
  });
});

describe("headers that are none", () => {
  const garbled =
    (change: (value: string, name: string) => string | undefined) =>
    (got: Got): Got => ({
      ...got,
      headers: Object.fromEntries(
        Object.entries(got.headers).map(([name, value]) => [
          name,
          value !== undefined && name.startsWith("ratelimit") ? change(value, name) : value,
        ]),
      ),
    });

  test.each<[string, (got: Got) => Got]>([
    ["doubled", garbled((value) => `${value}, ${value}`)],
    ["words", garbled(() => "abc")],
    ["fractions", garbled((value) => `${value}.5`)],
    ["gone", garbled(() => undefined)],
    ["of other names", garbled((value, name) => (name.endsWith("scope") ? "secondary" : value))],
  ])("%s: the status bodies are all there is", async (_what, after) => {
    const report = await probeVirtually({}, { after });
    expect(report.ended).toBe("whole");
    expect(mistakes(report, {})).toEqual([]);
    expect(seen(report, "organizationLimit", "rest")?.value).toBe(200);
    expect(seen(report, "userLimit", "rest")?.confidence).toBe("not seen");
    expect(seen(report, "anchor", "rest")?.value).toBe("epoch");
  });

  test("a status body with members that are none", async () => {
    const report = await probeVirtually(
      {},
      {
        after: (got, ask) =>
          isStatus(ask) ? { ...got, body: got.body.replaceAll(/"limit":\d+/g, '"limit":"many"') } : got,
      },
    );
    expect(report.ended).toBe("whole");
    expect(mistakes(report, {})).toEqual([]);
    expect(seen(report, "organizationWindow", "rest")?.confidence).toBe("not seen");
  });

  test("the token is in no line of the trace, and nowhere in the report, though the target echoes it", async () => {
    const secret = tokenOf("prober").token;
    const report = await probeVirtually(
      {},
      {
        after: (got) => ({
          ...got,
          headers: { ...got.headers, "ratelimit-scope": secret },
          body: got.body.replace("{", `{"echo":"${secret}",`),
        }),
      },
    );
    expect(JSON.stringify(report)).not.toContain(secret);
  });
});

describe("a user whose windows are used up already", () => {
  test.each(["epoch", "first-request"] as const)("by an earlier probe, %s", async (anchor) => {
    const rules: RulesInput = { semantics: { anchor } };
    const target = new VirtualTarget(rules);
    for (let calls = 0; calls < 50; calls++)
      await target.send(
        { method: "GET", url: "http://127.0.0.1:1/v2/user", token: tokenOf("prober").token },
        undefined,
      );
    const report = await probeOf(target);
    expect(mistakes(report, rules)).toEqual([]);
    expect(seen(report, "getCounted", "rest")?.value).toBe(true);
    expect(seen(report, "refused", "rest")?.value).toBe("uncounted");
  });
});

describe("the allowance", () => {
  test.each([0, 1, 5, 20, 40, 60, 80, 300])("of %i calls is kept", async (calls) => {
    const target = new VirtualTarget({});
    const report = await probeOf(target, {
      allowance: { calls, points: 6000, statusCalls: 100, waitMs: 50_000 },
    });
    const counting = target.asked.filter((ask) => !isStatus(ask));
    expect(counting.length).toBe(report.used.calls);
    expect(report.used.calls).toBeLessThanOrEqual(calls);
    expect(report.used.points).toBeLessThanOrEqual(6000);
    expect(target.asked.length - counting.length).toBeLessThanOrEqual(100);
    expect(report.endedAt - report.startedAt).toBeLessThan(50_000 + 15_000);
    expect(mistakes(report, {})).toEqual([]);
  });

  test("of few calls: what is missing says how large a budget it takes", async () => {
    const report = await probeVirtually({}, {}, { allowance: { calls: 20 } });
    expect(seen(report, "refused", "rest")).toMatchObject({
      confidence: "not seen",
      needs: expect.stringMatching(/^--budget \d+ or more$/) as string,
    });
  });

  test("an interruption keeps what was found", async () => {
    const controller = new AbortController();
    const before = (_ask: Ask, call: number): null => {
      if (call === 30) controller.abort();
      return null;
    };
    const report = await probeVirtually({}, { before }, { signal: controller.signal });
    expect(report.ended).toBe("interrupted");
    expect(seen(report, "getCounted", "rest")?.value).toBe(true);
    expect(seen(report, "retryAfter", "rest")?.evidence).toBe("the probe did not get that far");
  });
});
