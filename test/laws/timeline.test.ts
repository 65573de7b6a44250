// A counterexample as people read it.
import { describe, expect, test } from "vitest";
import {
  checkLaws,
  keyedLimiter,
  type LawReport,
  type LimiterLawName,
  parseRules,
  renderCounterexample,
  type Script,
} from "../../src/laws/index.ts";
import { brokenLimiters } from "./broken-limiters.ts";
import { only } from "./expectations.ts";
import { fixedWindow } from "./kinds.ts";
import { tinyFactory } from "./tiny-limiter.ts";

async function rendered(law: LimiterLawName, fault: string): Promise<string[]> {
  const Kind = brokenLimiters.find((limiter) => limiter.fault === fault)?.Kind;
  const report = await checkLaws(tinyFactory(fault, Kind), { seed: 3, laws: [law] });
  return renderCounterexample(only(report)).map((line) => line.trimEnd());
}

test("a law over one run: rules, operations, window edges, the breach with its arithmetic, the command", async () => {
  const lines = await rendered("recovers", "lost-expiry");
  expect(lines.slice(0, -1)).toEqual([
    "recovers is violated: after resetAt the first call whose cost fits the limits is admitted",
    "",
    "rule: acme rest: 1 per 10 s",
    "rule: acme/ann rest: 1 per 10 s",
    "+0 is 2026-01-01T00:00:00.000Z",
    "",
    "    +0.000 s  acme/ann rest 1               admitted                 organization 1 of 1, 0 left, reset 10 s   user 1 of 1, 0 left, reset 10 s",
    "   +10.000 s  ---- the rest window of acme ends",
    "   +10.000 s  ---- the rest window of acme/ann ends",
    "   +10.000 s  acme/ann rest 1               REFUSED by organization  organization 1 of 1, 0 left, reset 10 s   user 1 of 1, 0 left, reset 10 s",
    "              ^ expected admitted (acme rest)",
    "                answered refused by rest",
    "                because  that window ended, nothing was charged since, and 1 <= 1",
    "",
  ]);
  expect(lines.at(-1)).toMatch(/^repeat: npx spillway check --law recovers --seed 3 --path [\d:]+$/);
});

test("limits of one organization's or user's own are said to be that", async () => {
  const lines = await rendered("limit-agrees", "own-limits-ignored");
  const rules = lines.filter((line) => line.startsWith("rule: "));
  expect(rules.filter((line) => line.endsWith(", of its own"))).not.toEqual([]);
  expect(rules.filter((line) => !line.endsWith(", of its own"))).not.toEqual([]);
});

test("a law over two runs shows both", async () => {
  const lines = await rendered("status-free", "status-charged");
  const other = lines.indexOf("The other run, without the status calls:");
  expect(lines.slice(0, other).filter((line) => line.includes("status of acme")).length).toBe(1);
  expect(lines.slice(other).filter((line) => line.includes("status of acme")).length).toBe(0);
  expect(lines.join("\n")).toContain("as in the other run");
});

const endNote =
  /note {5}a window ends at (.*); if that ms is meant to be still of it, say `end: "inclusive"`/;

test.each([
  ["recovers", /^this very ms$/],
  ["conserved", /^this very ms$/],
  ["rate-bound", /^the very ms of the call at \+\d+\.\d{3} s$/],
] as const)("a window that ends late and does not say so breaks %s, with a hint", async (law, end) => {
  const { end: _, ...kind } = fixedWindow({ inclusive: true });
  const report = await checkLaws(keyedLimiter({ name: "late", ...kind }), { seed: 2, laws: [law] });
  const [, told] = endNote.exec(renderCounterexample(only(report)).join("\n")) ?? [];
  expect(told).toMatch(end);
});

test.each([
  ["that says so", fixedWindow({ inclusive: true, never: true }), "recovers"],
  ["of another bug", fixedWindow({ extra: 1 }), "rate-bound"],
] as const)("a window %s gets no such hint", async (_, kind, law) => {
  const report = await checkLaws(keyedLimiter({ name: "wrong", ...kind }), { seed: 2, laws: [law] });
  const text = renderCounterexample(only(report)).join("\n");
  expect(text).toContain("is violated");
  expect(text).not.toMatch(endNote);
});

const heldNote =
  'note     if a refusal is meant to outlast its window, as of a limiter that blocks or a queue, say `algorithm: "unknown"`';

/** Refuses a caller for 25 s from its first refusal on, and tells the end of its window, or of its block. */
const blocking = (algorithm: "fixed-window" | "unknown") =>
  keyedLimiter({
    name: "blocking",
    algorithm,
    create({ limit, windowMs }) {
      const windows = new Map<string, { count: number; untilMs: number; blockedMs: number }>();
      return {
        consume(key, _, nowMs) {
          const known = windows.get(key);
          const isOver = known === undefined || (known.untilMs <= nowMs && known.blockedMs <= nowMs);
          const window = isOver ? { count: 0, untilMs: nowMs + windowMs, blockedMs: nowMs } : known;
          windows.set(key, window);
          const allowed = window.count < limit;
          if (allowed) window.count += 1;
          else if (window.blockedMs <= nowMs) window.blockedMs = Math.max(nowMs + 25_000, window.untilMs);
          const untilMs = algorithm === "unknown" ? window.blockedMs : window.untilMs;
          return { allowed, ...(!allowed && { retryAfterMs: Math.max(0, untilMs - nowMs) }) };
        },
      };
    },
  });

const tenSeconds = { user: { rest: { limit: 2, windowSeconds: 10 } } };

test.each(["recovers", "refusal-justified", "honest-wait"] as const)(
  "fixed windows that block their callers break %s, with a hint",
  async (law) => {
    const asked = { seed: 2, laws: [law], rules: tenSeconds };
    const text = renderCounterexample(only(await checkLaws(blocking("fixed-window"), asked))).join("\n");
    expect(text).toContain(`${law} is violated`);
    expect(text).toContain(heldNote);
  },
);

test("a limiter that blocks, and says that its algorithm is unknown, is accused of nothing", async () => {
  const { laws } = await checkLaws(blocking("unknown"), { seed: 2, rules: tenSeconds });
  const outcomes = new Map(laws.map(({ law, outcome }) => [law, outcome]));
  expect(outcomes.get("honest-wait")).toBe("no-counterexample");
  expect([...outcomes.values()]).not.toContain("violated");
});

test("windows that refuse late, and never refused before, get no such hint", async () => {
  const late = keyedLimiter({ name: "late", ...fixedWindow({ never: true }) });
  const text = renderCounterexample(only(await checkLaws(late, { seed: 2, laws: ["recovers"] }))).join("\n");
  expect(text).toContain("recovers is violated");
  expect(text).not.toContain("say `algorithm:");
});

test.each([
  ["fixed-window", "is drawn", "and hinted at"],
  ["sliding-log", "is not drawn", "but hinted at"],
  ["sliding-counter", "is not drawn", "nor hinted at"],
  ["token-bucket", "is not drawn", "nor hinted at"],
] as const)("the end of a window's time of a %s %s, %s", async (algorithm, drawn, hinted) => {
  const report = only(await checkLaws(tinyFactory("tiny"), { seed: 2, laws: ["bounded"], runs: 1 }));
  const rules = parseRules({ user: { rest: { limit: 1, windowSeconds: 10 } } });
  const ops = [0, 10_000].map((atMs, id) => ({
    ...{ do: "call" as const, id, atMs, organization: "acme", user: "ann" },
    ...{ scope: "rest" as const, cost: 1 },
  }));
  const script: Script = { rules, keyed: true, algorithm, startMs: 0, pick: 0, ops };
  const history = ops.map((op) => ({ op, decision: { admitted: true, refusedBy: null } }));
  const violation = { at: 1, window: null, expected: "less", got: "more", arithmetic: "so" };
  const counterexample = { script, history, violation };
  const text = renderCounterexample({ ...report, outcome: "violated", counterexample }).join("\n");
  expect(text).toContain("because  so");
  expect(text.includes("---- the window of acme/ann ends")).toBe(drawn === "is drawn");
  expect(endNote.test(text)).toBe(hinted !== "nor hinted at");
});

test("a clock that steps back is drawn", async () => {
  expect((await rendered("never-rolls-back", "rolls-back")).join("\n")).toMatch(
    /<<<< the clock steps back by \d+ ms/,
  );
});

test("nothing is drawn of a law that was not violated", async () => {
  const report = await checkLaws(tinyFactory("tiny"), { seed: 2, laws: ["bounded"], runs: 5 });
  expect(renderCounterexample(only(report))).toEqual([]);
});

describe("of the switches that are not at their default, those that mean something to the calls", () => {
  const rules = parseRules({
    semantics: {
      graphqlCharge: "postpaid",
      userEnforced: "always",
      retryAfter: false,
      refused: "counted",
      anchor: "first-request",
    },
  });

  /** The lines on rules of one call, refused by its user's window. */
  async function rulesOf(terms: Partial<Script>, scope: "rest" | "graphql" = "rest"): Promise<string[]> {
    const report = only(await checkLaws(tinyFactory("tiny"), { seed: 2, laws: ["bounded"], runs: 1 }));
    const call = { do: "call", atMs: 0, id: 0, organization: "acme", user: "ann", scope, cost: 1 } as const;
    const history = [
      { op: call, decision: { admitted: false, refusedBy: "user", organization: {}, user: {} } },
    ] as const;
    const violation = { at: 0, window: null, expected: "admitted", got: "refused", arithmetic: "1 <= 1" };
    const script: Script = { rules, startMs: 0, ops: [call], pick: 0, ...terms };
    const violated: LawReport = {
      ...report,
      outcome: "violated",
      counterexample: { script, history, violation },
    };
    return renderCounterexample(violated).filter((line) => line.startsWith("rule: ") && line.includes("="));
  }

  test("a call of REST: all but the charge of GraphQL", async () => {
    const named = [
      "refused = counted",
      "anchor = first-request",
      "userEnforced = always",
      "retryAfter = false",
    ];
    expect((await rulesOf({})).sort()).toEqual(named.map((text) => `rule: rest: ${text}`).sort());
  });

  test("a query: all of them", async () => {
    expect(await rulesOf({}, "graphql")).toHaveLength(5);
    expect(await rulesOf({}, "graphql")).toContain("rule: graphql: graphqlCharge = postpaid");
  });

  test("a limiter by key: those of one window, which only a fixed one is anchored by", async () => {
    const keyed = await rulesOf({ keyed: true });
    expect(keyed.sort()).toEqual(["rule: anchor = first-request", "rule: refused = counted"]);
    expect(await rulesOf({ keyed: true, algorithm: "token-bucket" })).toEqual(["rule: refused = counted"]);
  });
});
