// Targets that make it hard: silent, broken, hostile, shared, or with clocks of their own. What the probe says of
// them is less, and never wrong. It takes long: over a hundred whole probes.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NoAnswer } from "../../src/connect/no-answer.ts";
import type { Ask, Got } from "../../src/connect/send.ts";
import type { FindingName } from "../../src/probe/finding.ts";
import type { ProbeReport } from "../../src/probe/probe.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { anyRules, mistakes } from "./truth.ts";
import { probeOf, probeVirtually, tokenOf, type VirtualOptions, VirtualTarget } from "./virtual.ts";

const answer = (status: number, body: unknown = {}, headers: Got["headers"] = {}): Got => ({
  status,
  headers,
  body: typeof body === "string" ? body : JSON.stringify(body),
});
const seen = (report: ProbeReport, name: FindingName, scope: "rest" | "graphql" | null) =>
  report.findings.find((finding) => finding.name === name && finding.scope === scope);
const isStatus = ({ url, method }: Ask): boolean => method === "GET" && url.endsWith("/rate_limit");
/** The same for everybody, and as even as a seed makes it: `Math.imul` of the number. */
const draw = (call: number, seed = 1): number =>
  ((Math.imul(call * 7919 + seed, 2654435761) >>> 8) % 1000) / 1000;

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

describe("a target that bans the prober", () => {
  const bans: [string, (ask: Ask) => Got | NoAnswer, number][] = [
    ["403", () => answer(403, "<html>blocked</html>"), 1],
    ["429 without rate limit headers", () => answer(429, "slow down", { "retry-after": "3600" }), 1],
    ["401", () => answer(401), 1],
    [
      "a redirect to a page of its own",
      () => answer(302, "", { location: "https://elsewhere.example/captcha" }),
      1,
    ],
    ["connection resets", () => new NoAnswer("reset", "the connection was closed without an answer"), 2],
    ["silence", () => new NoAnswer("timeout", "no answer within 10000 ms"), 2],
  ];
  const from = [5, 17, 20, 36, 40, 60, 90];
  test.each(bans.flatMap(([how, ban, calls]) => from.map((first) => ({ how, ban, calls, first }))))(
    "by $how from call $first on: it stops at once and keeps what it found",
    async ({ ban, calls, first }) => {
      const target = new VirtualTarget({}, { before: (ask, call) => (call >= first ? ban(ask) : null) });
      const report = await probeOf(target);
      expect(target.calls).toBe(first - 1 + calls);
      expect(report.ended).toMatchObject({ stopped: expect.stringMatching(/^(?:call|\d+ calls)/) as string });
      expect(seen(report, "organizationLimit", "graphql")?.value).toBe(20_000);
      expect(mistakes(report, {})).toEqual([]);
      expect(() => parseRules(report.rules)).not.toThrow();
      expect(report.trace).toHaveLength(target.calls + 1);
      expect(target.asked.every(({ url }) => url.startsWith("http://127.0.0.1:1/"))).toBe(true);
    },
  );
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

/** Others' calls every `everyMs`, give or take: REST, or every second one a query. */
function others(
  everyMs: number,
  seed: number,
  user = "other",
  queries = false,
): NonNullable<VirtualOptions["meanwhile"]> {
  let next = 0;
  let calls = 0;
  return async (nowMs, call) => {
    while (nowMs >= next) {
      const path = queries && calls % 2 === 0 ? "graphql" : "/v2/user";
      if (next > 0) await call(tokenOf(user).token, path);
      calls += 1;
      next = nowMs + everyMs * (0.2 + 1.6 * draw(calls, seed));
    }
  };
}

describe("others on the same organization at the same time", () => {
  const rules: RulesInput = { organization: { rest: { limit: 100_000 } } };

  /** Calls that follow each other within ms are thousands a probe: their order is drawn once. */
  const seedsOf = (everyMs: number): readonly number[] => (everyMs < 40 ? [1] : [1, 2]);

  // From a whisper to more than one between any two calls of the probe.
  test.each([7, 15, 40, 100, 300, 1000, 2500])("a call every %i ms", async (everyMs) => {
    for (const seed of seedsOf(everyMs)) {
      const report = await probeVirtually(rules, { meanwhile: others(everyMs, seed) });
      expect(mistakes(report, rules)).toEqual([]);
      expect(seen(report, "statusCounted", "rest")?.value).not.toBe(true);
      // The user's own window is nobody else's.
      for (const name of ["getCounted", "headCounted", "notFoundCounted"] as const)
        expect(seen(report, name, "rest")?.value).toBe(true);
      expect(seen(report, "headStatusCounted", "rest")?.value).toBe(false);
      expect(seen(report, "refused", "rest")?.value).toBe("uncounted");
    }
  });

  test.each([7, 15, 40, 100, 300, 1000])("the same user, a call every %i ms", async (everyMs) => {
    const wide: RulesInput = {
      organization: { rest: { limit: 100_000 } },
      user: { rest: { limit: 50_000 } },
    };
    for (const seed of seedsOf(everyMs)) {
      const report = await probeVirtually(wide, { meanwhile: others(everyMs, seed, "prober") });
      expect(mistakes(report, wide)).toEqual([]);
    }
  });

  test("anybody, under any rules", { timeout: 600_000 }, async () => {
    const noise = fc.record({
      everyMs: fc.integer({ min: 3, max: 2000 }),
      seed: fc.integer({ min: 1, max: 1_000_000 }),
      user: fc.constantFrom("other", "prober"),
      queries: fc.boolean(),
      latency: fc.integer({ min: 1, max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(anyRules, noise, async (random, { everyMs, seed, user, queries, latency }) => {
        const meanwhile = others(everyMs, seed, user, queries);
        const report = await probeVirtually(
          random,
          { meanwhile, latencyMs: () => latency },
          { allowance: { waitMs: 20_000, calls: 100 } },
        );
        expect(mistakes(report, random)).toEqual([]);
      }),
      // As often as the probe looks: five looks in a row saw one call each, and no sixth was left to the user.
      {
        numRuns: Number(process.env["PROBE_RUNS"] ?? 8),
        examples: [
          [
            {
              organization: { rest: { limit: 61, enforced: false } },
              user: { rest: { limit: 5 } },
              semantics: { refused: "uncounted" },
            },
            { everyMs: 105, seed: 382_689, user: "prober", queries: true, latency: 1 },
          ],
        ],
      },
    );
  });
});

describe("clocks", () => {
  test.each([-7_200_000, -90_000, -1_300, 1_700, 86_400_000])("the prober's is %i ms off", async (skewMs) => {
    for (const anchor of ["epoch", "first-request"] as const) {
      const rules: RulesInput = { semantics: { anchor, reset: { rest: "floor", graphql: "round" } } };
      const report = await probeVirtually(rules, { skewMs });
      expect(mistakes(report, rules)).toEqual([]);
      expect(seen(report, "reset", "rest")).toMatchObject({ value: "floor", confidence: "certain" });
      for (const name of ["dateClock", "windowClock"] as const)
        expect(Math.abs(Number(seen(report, name, null)?.value) + skewMs)).toBeLessThan(150);
    }
  });

  test.each([-3_000, -1_000, -400, 400, 1_000, 2_000, 3_600_000])(
    "Date is that of another machine, %i ms off: what hangs on it alone is never certain",
    async (dateSkewMs) => {
      for (const reset of ["ceil", "floor", "round"] as const) {
        const rules: RulesInput = { semantics: { reset } };
        const report = await probeVirtually(rules, { dateSkewMs }, { allowance: { waitMs: 0 } });
        const wrong = mistakes(report, rules);
        expect(wrong.filter((text) => text.includes("(certain)"))).toEqual([]);
        expect(mistakes(await probeVirtually(rules, { dateSkewMs }), rules)).toEqual([]);
      }
    },
  );

  test("no Date, and no window's end: rounding is not seen", async () => {
    const report = await probeVirtually({}, { dateSkewMs: null }, { allowance: { waitMs: 0 } });
    expect(seen(report, "reset", "rest")?.confidence).toBe("not seen");
    expect(seen(report, "dateClock", null)?.evidence).toBe("no answer had a Date header");
    expect(mistakes(report, {})).toEqual([]);
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
