// Targets that ban the prober: it stops at once, and keeps what it found.
import { describe, expect, test } from "vitest";
import { NoAnswer } from "../../src/connect/no-answer.ts";
import type { Ask, Got } from "../../src/connect/send.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { answer, seen } from "./hard.ts";
import { mistakes } from "./truth.ts";
import { probeOf, VirtualTarget } from "./virtual.ts";

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
