// Runs, replays and probes in words, line by line; and the tables that spreadsheets get.
import { describe, expect, test } from "vitest";
import { replay } from "../../sim/replay/replay.ts";
import { uncolored } from "../../src/cli/colors.ts";
import { readConnection, readServerTls } from "../../src/cli/connection-options.ts";
import { faultWords } from "../../src/cli/fault-list.ts";
import { policyText, scenarioText } from "../../src/cli/init-policy.ts";
import { usersTable, windowsTable } from "../../src/cli/replay-table.ts";
import { sayAudit, sayPlan } from "../../src/cli/say-audit.ts";
import { sayProbe } from "../../src/cli/say-probe.ts";
import { sayReplay } from "../../src/cli/say-replay.ts";
import { sayLoad, saySimulation } from "../../src/cli/say-run.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { duration } from "../../src/rules/duration.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { count } from "../../src/rules/words.ts";
import { waitReset } from "../../src/scenario/retries/wait-reset.ts";
import type { AuditResult, Row as AuditRow, ShownBroken } from "../../src/summary/audit-result.ts";
import { pem, pemPath } from "../connect/tls.ts";
import { inference } from "../policy/policies.ts";
import { logOf, noon, type Row } from "../replay/rows.ts";
import { fixture, sampleViolation } from "../report/fixtures.ts";
import { codedErrorOf } from "../support/coded-error.ts";

function linesOf(say: (terminal: Terminal) => void): string[] {
  const lines: string[] = [];
  say({ say: (...more: string[]) => lines.push(...more.map(uncolored)) } as unknown as Terminal);
  return lines.map((line) => line.trimEnd());
}

describe("a run", () => {
  const { run, series } = fixture();
  const kept = {
    ...{ folder: "out", summary: run.summary, verdict: run.verdict, series, held: true, interrupted: true },
    expectations: [{ figure: "waitP50Ms", bound: "<1s", actual: null, held: false }],
  };
  const simulated = (more: object): string[] =>
    linesOf((terminal) => saySimulation(terminal, { ...kept, ...more } as never, 7, ["Short."]));

  test("in virtual time says its windows, refusals, waits, what was missed, its verdict and where it is", () => {
    const lines = simulated({});
    const { figures } = run.summary;
    expect(lines[0]).toMatch(/^fleet: [\d,]+ calls in 23.9 s of virtual time, seed 7$/);
    expect(lines[1]).toBe("  note Short.");
    expect(lines.slice(2, 6).map((line) => line.replace(/[▁-█ ]{20,}/u, " | ").trim())).toEqual([
      "acme, REST | 105 of 120",
      "acme, GraphQL | 3,795 of 4,000, 6 refused",
      "acme/noisy-bot, REST | 30 of 30, 20 refused",
      "acme/agent-0, GraphQL | 1,265 of 1,500, 2 refused",
    ]);
    expect(lines[6]).toContain(
      `${figures.refused} of ${(figures.refused ?? 0) + (figures.admitted ?? 0)} answered calls`,
    );
    const populations = lines.slice(7).filter((line) => line.startsWith("    "));
    const shares = populations.map((line) => Number(/([\d.]+)% of its calls/.exec(line)?.[1]));
    expect(populations.length).toBeGreaterThanOrEqual(2);
    expect(populations[0]).toMatch(/^ {4}noisy: /);
    expect(shares.every((share) => share > 0 && share < 100)).toBe(true);
    const rest = lines.slice(7 + populations.length);
    expect(rest).toEqual([
      expect.stringMatching(/^ {2}Waits from wanting to having: half .*, 95% .*, the worst .*\.$/),
      "  missed waitP50Ms <1s: nothing of it was seen",
      "  0 of 1 expectation met.",
      expect.stringMatching(/^ {2}No law is broken: 14 laws held over [\d,]+ lines and \d+ windows\.$/),
      "  Interrupted: what was done is kept.",
      "  out/report.html",
    ]);
    expect(simulated({ interrupted: false })).toHaveLength(lines.length - 1);
    expect(simulated({ expectations: [] })).toHaveLength(lines.length - 2);
  });

  test("that broke a law names it", () => {
    const broken = fixture({ violations: [sampleViolation] }).run.verdict;
    const line = simulated({ verdict: broken }).find((one) => one.includes("laws held"));
    expect(line).toMatch(/conserved.*13 laws held over/);
  });

  const load = {
    ...{ driver: "k6", k6: { version: "1.8.1" }, endedAt: 61_000, interrupted: false },
    header: { startedAt: 1_000, target: "http://127.0.0.1:4100", seed: 7 },
  };
  const loaded = (more: object): string[] =>
    linesOf((terminal) => sayLoad(terminal, { ...kept, notes: [], load: { ...load, ...more } } as never));
  test("of a load says who drove it, how late it was, and as many calls in the same time as its other documents", () => {
    const calls = count(run.summary.figures.calls);
    const spent = duration(run.summary.endedAt - run.summary.startedAt);
    expect(spent).not.toBe("1 min");
    expect(loaded({})[0]).toBe(
      `fleet: ${calls} calls to http://127.0.0.1:4100 in ${spent}, by k6 1.8.1, seed 7`,
    );
    expect(loaded({}).some((line) => line.startsWith("  Calls left late"))).toBe(false);
    const lateness = { p50Ms: 1, p99Ms: 2, maxMs: 3 };
    const late = { p50Ms: 1_000, p99Ms: 20_000, maxMs: 30_000 };
    const node = loaded({ driver: "node", lateness });
    expect(node[0]).toBe(
      `fleet: ${calls} calls to http://127.0.0.1:4100 in ${spent}, by Node ${process.versions.node}, seed 7`,
    );
    expect(node.filter((line) => line.startsWith("  Calls left late: "))).toHaveLength(1);
    expect(loaded({ driver: "node", lateness: late })[0]).toContain("seed 7; the generator was too slow");
    expect(loaded({ lateness: late })[0]).not.toContain("too slow");
  });
});

describe("a replay", () => {
  /** Ann calls 60 times in a minute, bob 51 times in the next but one, others once: the limit is 50. */
  const rows: Row[] = [
    ...Array.from({ length: 60 }, (_, at): Row => ({ atMs: noon + at * 1_000, user: "ann", status: 200 })),
    ...Array.from(
      { length: 51 },
      (_, at): Row => ({ atMs: noon + 120_000 + at * 1_000, user: "bob", status: 200 }),
    ),
  ];
  const rules = parseRules({});

  test("says who would have been refused, when, and how much room there was", async () => {
    const result = await replay(logOf(rows), rules, { files: ["access.log"] } as never);
    const said = linesOf((terminal) => sayReplay(terminal, result));
    expect(said.join("\n")).toContain(
      "Between 2026-01-05 12:00:50 UTC and 2026-01-05 12:02:51 UTC; 1 within 1 s from 2026-01-05 12:00:50 UTC on.",
    );
    expect(said.some((line) => line.endsWith("refusals, at most 1 in 1 s"))).toBe(true);
    const table = said.map((line) => line.trim().split(/ {2,}/)).filter(({ length }) => length === 5);
    expect(table).toEqual([
      ["user", "calls", "refused", "share", "first refused"],
      ["ann", "60", "10", "16.7%", "2026-01-05 12:00:50 UTC"],
      ["bob", "51", "1", "2%", "2026-01-05 12:02:50 UTC"],
    ]);
    expect(said.filter((line) => line.includes("half use"))).toEqual([
      "  organization, REST: 2 windows; half use 25.5% of the limit, 99% 30%, the fullest 30%, none too full",
      "  user, REST:         2 windows; half use 102% of the limit, 99% 120%, the fullest 120%, 2 too full",
    ]);
  });

  test("names ten users, and how many more there are", async () => {
    const many = Array.from({ length: 13 }, (_, user) =>
      Array.from(
        { length: 51 },
        (_, at): Row => ({ atMs: noon + at, user: `user-${user}`, org: `org-${user % 7}` }),
      ),
    ).flat();
    const result = await replay(logOf(many.toSorted((one, other) => one.atMs - other.atMs)), rules);
    const said = linesOf((terminal) => sayReplay(terminal, result));
    expect(said.filter((line) => /^ {2}org-\d\/user-/.test(line))).toHaveLength(10);
    expect(said).toContain("  and 3 more users");
  });

  test("of callers that react says how long they would have waited", async () => {
    const reaction = { onRefused: waitReset({ of: "both" }) };
    const result = await replay(logOf(rows), rules, { reaction });
    const said = linesOf((terminal) => sayReplay(terminal, result)).map((line) => line.trim());
    const at = said.findIndex((line) => line.startsWith("If callers react"));
    expect(said[at]).toBe("If callers react by wait-reset-both (without, 11 would have been lost):");
    expect(said[at + 1]).toMatch(
      /Those that were refused first waited: half 10 s, 95% 10 s, the longest 10 s\.$/,
    );
  });

  test("has a row for each user and each window that refused, by rules and by policies", async () => {
    const result = await replay(logOf(rows), rules);
    expect(usersTable(result)).toEqual({
      columns: [
        ...["organization", "user", "calls", "refused", "refused_by_organization", "refused_by_user"],
        ...["first_refused_at_ms", "last_refused_at_ms", "rest_use_max", "graphql_use_max"],
      ],
      rows: [
        ["acme", "ann", 60, 10, 0, 10, noon + 50_000, noon + 59_000, 1.2, null],
        ["acme", "bob", 51, 1, 0, 1, noon + 170_000, noon + 170_000, 1.02, null],
      ],
    });
    expect(windowsTable(result)).toEqual({
      columns: [
        "organization",
        "user",
        "scope",
        "opens_at_ms",
        "ends_at_ms",
        "limit",
        "refused",
        "first_refused_at_ms",
      ],
      rows: [
        ["acme", "ann", "rest", noon, noon + 60_000, 50, 10, noon + 50_000],
        ["acme", "bob", "rest", noon + 120_000, noon + 180_000, 50, 1, noon + 170_000],
      ],
    });
    const byQuotas = {
      version: 2,
      policy: { quotas: { a: {}, b: {} } },
      users: [
        {
          org: "acme",
          user: "ann",
          calls: 3,
          refused: 2,
          refusedBy: [2, 0],
          firstRefusedAt: 7,
          lastRefusedAt: 9,
          useMax: [1.5, null],
        },
      ],
      refusingWindows: [
        {
          quota: "a",
          key: { x: "1", y: "2" },
          opensAt: 0,
          endsAt: 5,
          limit: 1,
          refused: 2,
          firstRefusedAt: 7,
        },
      ],
    } as never;
    expect(usersTable(byQuotas)).toEqual({
      columns: [
        "organization",
        "user",
        "calls",
        "refused",
        "refused_by_a",
        "refused_by_b",
        "first_refused_at_ms",
        "last_refused_at_ms",
        "a_use_max",
        "b_use_max",
      ],
      rows: [["acme", "ann", 3, 2, 2, 0, 7, 9, 1.5, null]],
    });
    expect(windowsTable(byQuotas)).toEqual({
      columns: ["quota", "key", "opens_at_ms", "ends_at_ms", "limit", "refused", "first_refused_at_ms"],
      rows: [["a", "1/2", 0, 5, 1, 2, 7]],
    });
  });
});

describe("a probe", () => {
  const finding = (name: string, scope: string | null, value: unknown, more: object = {}) => ({
    ...{ name, scope, value, confidence: "certain", evidence: `${name} was seen`, needs: null },
    ...more,
  });
  const said = (more: object): string[] =>
    linesOf((terminal) =>
      sayProbe(terminal, {
        ...{
          used: { calls: 80, points: 1, statusCalls: 2 },
          failed: 0,
          ended: "whole",
          startedAt: 0,
          endedAt: 12_000,
        },
        ...{ findings: [], defaults: [] },
        ...more,
      } as never),
    );

  test("says what it used, and how it ended", () => {
    const used = "used 80 calls that may count, 1 point asked for, 2 free calls, 12 s";
    expect(said({})).toEqual([used]);
    expect(said({ failed: 1, ended: "interrupted" })).toEqual([
      `${used}, 1 call failed`,
      "interrupted: what was found until then",
    ]);
    expect(said({ ended: { stopped: "nothing came" } })).toEqual([used, "stopped nothing came"]);
    expect(said({ defaults: ["a", "b"] }).slice(1)).toEqual([
      "",
      "defaults of the rules that were not seen: a, b",
    ]);
  });

  test("says what it saw by scope, and what it did not by the reason", () => {
    const findings = [
      finding("anchor", "graphql", "epoch"),
      finding("organizationLimit", "rest", { organization: 200, user: null }),
      finding("retryAfter", null, true, { confidence: "likely" }),
      finding("userEnforced", "rest", null, { needs: "more calls", evidence: "nobody was refused" }),
      finding("refused", "graphql", null, { needs: null, evidence: "nobody was refused" }),
      finding("refused", "rest", null, { needs: "more calls", evidence: "nobody was refused" }),
      finding("statusCounted", "rest", false),
    ];
    const lines = said({ findings })
      .slice(1)
      .map((line) => line.replace(/(\S) {2,}/g, "$1 | "));
    const heads = lines.filter((line) => /^\w/.test(line));
    expect(heads).toEqual(["rest", "graphql", "both", "not seen"]);
    expect(lines.filter((line) => line.includes(" | "))).toEqual([
      expect.stringMatching(/^ {2}\S.* \| organization 200, user unknown \| certain$/),
      expect.stringMatching(/ \| no \| certain$/),
      expect.stringMatching(/ \| epoch \| certain$/),
      expect.stringMatching(/ \| yes \| likely$/),
    ]);
    expect(lines.filter((line) => line.includes("it would take"))).toEqual([
      "    nobody was refused; it would take more calls",
      "    nobody was refused; it would take more",
    ]);
    expect(lines.some((line) => /^ {2}rest: .*, rest: /.test(line))).toBe(true);
  });
});

describe("what init writes", () => {
  const policy = parsePolicy(inference);
  test("is a policy on a preset's base that names one limit", () => {
    expect(JSON.parse(policyText(policy))).toEqual({
      ...{ version: 2, base: "inference", name: "my-inference" },
      quotas: { tenant: { algorithm: { limit: 40 } } },
    });
    const { tenant: _, ...others } = policy.quotas;
    expect(JSON.parse(policyText({ ...policy, quotas: others }))).toMatchObject({
      quotas: { tenant_tokens: { algorithm: { capacity: 4_000 } } },
    });
  });

  test("is a scenario with a call of each operation that has a sample", () => {
    const sample = { method: "GET", path: "/a", headers: {}, cost: 1 } as const;
    const operation = { uses: { tenant: 1 }, relation: "all-or-nothing", samples: [sample] } as const;
    const query = { ...sample, method: "POST", path: "/graphql", body: { query: "{ a }" }, cost: 7 } as const;
    const text = scenarioText(
      {
        ...policy,
        operations: {
          "read-it": operation,
          ask: { ...operation, samples: [query] },
          write: { ...operation, samples: [{ ...sample, method: "PUT", cost: 2 }] },
          none: { ...operation, samples: [] },
        },
      },
      "npx spillway simulate mine/clients.ts",
    );
    expect(text).toContain(
      'import { defineScenario, graphql, poller, rest, retryAfter } from "spillway/scenario";',
    );
    expect(text.match(/^const call\d = .*$/gm)).toEqual([
      'const call1 = rest("/a", { name: "read_it" });',
      'const call2 = graphql("{ a }", { cost: 7, name: "ask" });',
      'const call3 = rest("/a", { name: "write", method: "PUT", cost: 2 });',
    ]);
    expect(text.match(/^ {4}\w+: \{$/gm)).toEqual(["    read_it: {", "    ask: {", "    write: {"]);
    expect(() =>
      scenarioText({ ...policy, operations: { none: { ...operation, samples: [] } } }, "x"),
    ).toThrow(
      expect.objectContaining({
        code: "POLICY_UNSUPPORTED",
        problems: [expect.objectContaining({ path: "operations.none.samples" })],
      }),
    );
  });
});

test("a fault in words, unless it shows to headers alone", async () => {
  const words = await faultWords(parseFault("one-extra"), "simulate");
  expect(words.text).toBe("one-extra");
  expect(words.note).toMatch(/^the fault one-extra is injected: \w/);
});

describe("a connection", () => {
  const env = (more: Record<string, string>) => readConnection({} as never, "https://x", more);
  test("goes by the environment's proxy, in small letters first", async () => {
    const tls = { ca: undefined, cert: undefined, key: undefined };
    expect(await env({})).toEqual({ tls });
    expect(await env({ HTTPS_PROXY: "http://p" })).toEqual({ tls, proxy: { url: "http://p", except: "" } });
    expect(
      await env({ https_proxy: "http://q", HTTPS_PROXY: "http://p", no_proxy: "a", NO_PROXY: "b" }),
    ).toEqual({
      ...{ tls, proxy: { url: "http://q", except: "a" } },
    });
    expect(await env({ HTTPS_PROXY: "http://p", NO_PROXY: "b" })).toMatchObject({ proxy: { except: "b" } });
  });

  const secrets = { ca: pemPath("ca"), cert: pemPath("client"), key: pemPath("client-key") };
  test("shows and trusts certificates, each read from its file", async () => {
    const tls = { ca: pem("ca"), cert: pem("client"), key: pem("client-key") };
    expect(await readConnection(secrets, "https://x", {})).toEqual({ tls });
    expect(await readServerTls(pemPath("server"), pemPath("server-key"))).toEqual({
      cert: pem("server"),
      key: pem("server-key"),
    });
    expect(await readServerTls(undefined, undefined)).toBeNull();
  });

  const unusable = async (reading: Promise<unknown>): Promise<unknown> => {
    const { code, problems } = await codedErrorOf(reading);
    return [code, ...problems];
  };
  const file = "FILE_UNREADABLE";
  test("takes no key for a certificate, no certificate for a key, and no pair that does not fit", async () => {
    const [certificate, key] = [pemPath("client"), pemPath("client-key")];
    const asCertificate = { path: key, got: "text without a certificate", allowed: "a certificate in PEM" };
    const asKey = { path: certificate, got: "text without a private key", allowed: "a private key in PEM" };
    expect(await unusable(readConnection({ ca: key }, "https://x", {}))).toEqual([file, asCertificate]);
    expect(await unusable(readServerTls(key, undefined))).toEqual([file, asCertificate]);
    expect(await unusable(readServerTls(certificate, certificate))).toEqual([file, asKey]);
    expect(await unusable(readConnection({ ...secrets, key: certificate }, "https://x", {}))).toEqual([
      file,
      asKey,
    ]);
    const allowed = "a certificate and its own private key, which no passphrase protects";
    for (const other of ["server-key", "locked-key"] as const)
      expect(await unusable(readServerTls(certificate, pemPath(other)))).toEqual([
        file,
        { path: `${certificate} and ${pemPath(other)}`, got: expect.stringMatching(/^ERR_/), allowed },
      ]);
    for (const [cert, other] of [
      [certificate, undefined],
      [undefined, key],
    ])
      await expect(readServerTls(cert, other)).rejects.toThrow("--tls-cert and --tls-key go together");
  });

  test.each([
    [{ ca: "a" }, "http://x", "--ca needs a --target of https://"],
    [{ key: "a" }, undefined, "--key needs a --target of https://"],
    [{ cert: "a" }, "https://x", "--cert and --key go together"],
    [{ key: "a" }, "https://x", "--cert and --key go together"],
  ])("%j to %s is refused", async (options, url, message) => {
    await expect(readConnection(options as never, url, {})).rejects.toThrow(message);
  });
});

describe("an audit", () => {
  const row = (name: string, changes: Partial<AuditRow> = {}): AuditRow => ({
    ...{
      name,
      law: "conserved",
      section: "2.1",
      promise: "",
      state: "kept",
      why: null,
      operations: ["read"],
    },
    broken: [],
    ...changes,
  });
  const call = (line: number, status: number, said: string) => ({
    line,
    what: `GET /${line} by ann`,
    status,
    said,
  });
  const broken: ShownBroken = {
    ...{
      law: "bounded",
      operation: "read",
      expected: "at most 5",
      got: "6",
      isRepeated: true,
      oracle: "agrees",
    },
    ...{
      follows: null,
      repeat: "spillway audit --only b",
      calls: [1, 2, 3, 4, 5, 6, 7].map((at) => call(at, 200, "rest 0 of 5 left")),
    },
  };
  const result = (changes: Partial<AuditResult>): AuditResult => ({
    ...{
      format: "spillway-audit",
      version: 1,
      target: "http://127.0.0.1:1",
      policy: "own",
      alone: true,
      calls: 12,
    },
    ...{ startedAt: 0, endedAt: 70_000, assumptions: [], ended: "whole", rows: [row("a")] },
    verdict: { verdict: "ok", records: 12, windows: 3, violations: [] },
    ...changes,
  });
  const said = (changes: Partial<AuditResult>): string[] =>
    linesOf((terminal) => sayAudit(terminal, result(changes), "out"));

  test("says each experiment on a line, in columns, and why it was not exercised", () => {
    const rows = [
      row("a", { operations: ["read", "write"] }),
      row("longer", { operations: [] }),
      row("b", { why: "write: no sample" }),
      row("c", { state: "not exercised", why: "no bucket" }),
      row("d", { state: "broken", law: "bounded" }),
    ];
    expect(said({ rows }).slice(0, 7)).toEqual([
      "",
      "kept          a       conserved read, write",
      "kept          longer  conserved",
      "kept          b       conserved read  not exercised with write: no sample",
      "not exercised c       conserved  no bucket",
      "broken        d       bounded",
      "",
    ]);
    expect(said({ rows }).at(-1)).toBe("report  out/report.html");
  });

  test("shows what broke a law: what was expected, the first six calls, and how to see it again", () => {
    const follows: ShownBroken = {
      ...broken,
      follows: "a",
      isRepeated: false,
      oracle: "does not see it",
      calls: [call(9, 0, "")],
    };
    const rows = [row("b", { state: "broken", broken: [broken, follows] })];
    expect(said({ rows }).slice(2, -3)).toEqual([
      "",
      "broken b, read: bounded, 2.1",
      "  expected  at most 5",
      "  got       6",
      ...[1, 2, 3, 4, 5, 6].map((at) => `  line ${at}  GET /${at} by ann: 200; rest 0 of 5 left`),
      "  seen again when repeated; the oracle agrees",
      "  repeat    spillway audit --only b",
      "",
      "broken b, read: bounded, 2.1 (it may follow from a)",
      "  expected  at most 5",
      "  got       6",
      "  line 9  GET /9 by ann:",
      "  not repeated; the oracle does not see it",
      "  repeat    spillway audit --only b",
    ]);
  });

  test("says whether it came to its end, and what was assumed", () => {
    const [head, tail] = [["", "kept          a  conserved read"], said({}).slice(-3)];
    const ends = (changes: Partial<AuditResult>) => said(changes).slice(0, -3);
    expect(said({})).toEqual([...head, ...tail]);
    expect(ends({ ended: "interrupted" })).toEqual([
      ...head,
      "",
      "interrupted: go on with --resume --out out",
    ]);
    expect(ends({ ended: { stopped: "by 503" }, assumptions: ["one", "two"] })).toEqual([
      ...head,
      ...["", "stopped by 503", "note    one", "note    two"],
    ]);
  });

  test("says beforehand what it will call, use up and take", () => {
    const task = (name: string) => ({ experiment: { name } });
    const plan = {
      lone: [task("a")],
      lanes: [{ inTurn: [task("a")], beside: [task("b")] }],
      calls: 1,
      empties: 2,
      rests: 0,
      ms: 90_000,
    };
    const lab = { callers: [1, 2], policy: { name: "own" } };
    const plans = (maxMs: number) =>
      linesOf((terminal) => sayPlan(terminal, "http://127.0.0.1:1", plan as never, lab as never, maxMs));
    expect(plans(300_000)).toEqual([
      "This will call http://127.0.0.1:1 as 2 callers, under the policy own:",
      "  2 experiments, about 1 call; 2 windows used up, never two in a row of one quota",
      "  about 1 min 30 s, at most 5 min; what does not fit is said to be not exercised",
      "  The policy's samples are sent. Other calls of these quotas may be refused meanwhile.",
    ]);
    expect(plans(60_000)[2]).toBe(
      "  about 1 min, at most 1 min; what does not fit is said to be not exercised",
    );
    plan.rests = 1;
    expect(plans(60_000)[2]).toBe("  quotas without counts are used up 1 time, also in windows in a row");
  });
});
