// `check --target` against a deployment in virtual time: what it says before it calls, what it refuses, what it finds.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { checkAhead, checkRealTime } from "../../src/cli/check-target.ts";
import { NoAnswer } from "../../src/connect/no-answer.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { tokenScopes } from "../../src/rules/tokens.ts";
import { type VirtualOptions, VirtualTarget } from "../probe/virtual.ts";
import { recorded } from "../support/recorded.ts";

const rules = {
  organization: { rest: { limit: 5, windowSeconds: 3 } },
  user: { rest: { limit: 3, windowSeconds: 3 } },
};
const target = "http://127.0.0.1:1";
const tokensOf = (...scopes: readonly (readonly string[])[]) =>
  scopes.map((own, at) => ({ token: `token-of-u${at}`, user: `u${at}`, organization: "acme", scopes: own }));
let folder = "";
const file = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-check-here-"));
  const files = {
    "two.json": tokensOf(tokenScopes, tokenScopes),
    "one.json": tokensOf(["read_accounts"], ["read_user"], ["read_accounts", "read_user"]),
    "none.json": tokensOf(["read_accounts"], ["read_user"]),
  };
  for (const [name, value] of Object.entries(files))
    await writeFile(file(name), JSON.stringify(value), { mode: 0o600 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));
const { exitCode } = process;
afterEach(() => {
  process.exitCode = exitCode;
});

interface Asked {
  readonly args?: object;
  readonly options?: object;
  readonly virtual?: VirtualOptions;
}

/** Checks a service under these rules in real time. */
async function checked({ args = {}, options = {}, virtual = {} }: Asked) {
  const kept = recorded();
  const tokens = tokensOf(tokenScopes, tokenScopes, tokenScopes) as never;
  const world = new VirtualTarget(rules, { tokens, ...virtual });
  const { signal } = new AbortController();
  const given = { target, tokens: file("two.json"), ...args };
  process.exitCode = undefined;
  const error = await checkRealTime(
    given as never,
    { seed: 2, rules, ...options },
    kept.terminal,
    signal,
    world,
  ).catch((caught: unknown) => caught);
  return { ...kept, error, calls: world.calls, code: process.exitCode };
}

async function mistake(asked: Asked): Promise<unknown> {
  const { error } = await checked(asked);
  if (!(error instanceof SpillwayError)) throw error;
  const { code, message, problems, hint } = error;
  return [
    `${code} ${message.split("\n")[0]}`,
    ...problems.map(
      ({ path, got, allowed }) => `${path.replace(folder, "DIR")}: got ${got}, allowed: ${allowed}`,
    ),
    ...(hint === undefined ? [] : [hint]),
  ];
}

test("it says its budget and its callers, then judges runs", async () => {
  const { lines, results, progress, error, code } = await checked({
    args: { runs: 2 },
    options: { runs: 2 },
  });
  expect(error).toBeUndefined();
  expect(lines[0]).toBe(`up to 500 calls in up to 120 s to ${target}, as 2 callers of ${file("two.json")}`);
  expect(lines[1]).toMatch(
    /^http:\/\/127\.0\.0\.1:1 in real time, seed 2, 2 runs, \d+ calls: \d+ of 18 laws judged/,
  );
  expect(results).toMatchObject([{ ok: true, seed: 2, runs: 2, target }]);
  expect(progress.length).toBeGreaterThan(0);
  expect(code).toBe(0);
});

test("twenty runs are made unless a number is given, and the seed is 0", async () => {
  const usual = await checked({ args: { calls: 100_000, seconds: 100_000 }, options: { seed: undefined } });
  expect(usual.results).toMatchObject([{ runs: 20, seed: 0, ended: null }]);
  const all = await checked({ args: { runs: 1, calls: 9_000 }, options: { runs: undefined, seed: 1 } });
  expect(all.lines[0]).toMatch(/^up to 9,000 calls in up to 120 s /);
});

test("callers are those that may read the status and something that counts", async () => {
  const { lines } = await checked({ args: { tokens: file("one.json"), calls: 1, seconds: 1 } });
  expect(lines[0]).toBe(`up to 1 call in up to 1 s to ${target}, as 1 caller of ${file("one.json")}`);
  expect(await mistake({ args: { tokens: file("none.json") } })).toEqual([
    "TOKENS_INVALID the tokens file has no token that can be checked with",
    "DIR/none.json: got 2 entries, allowed: one with read_accounts and one of read_organizations, read_pipelines, read_user",
  ]);
});

test.each<[object, readonly string[]]>([
  [
    { calls: 0 },
    ["USAGE --calls cannot be used", "--calls: got 0, allowed: a whole number from 1 to 2^53 - 1"],
  ],
  [
    { calls: 1.5 },
    ["USAGE --calls cannot be used", "--calls: got 1.5, allowed: a whole number from 1 to 2^53 - 1"],
  ],
  [
    { seconds: 0 },
    ["USAGE --seconds cannot be used", "--seconds: got 0, allowed: a whole number from 1 to 2^53 - 1"],
  ],
  [
    { tokens: undefined },
    [
      "USAGE --target needs --tokens, the file of those who call",
      "tokens come from a file, never from a flag: process lists show flags",
    ],
  ],
  ...(["law", "path", "known"] as const).map(
    (option) =>
      [
        { [option]: "x" },
        [
          `USAGE --${option} cannot be used with --target in real time`,
          "every law that a trace shows is judged; with --clock-header laws are checked one by one",
        ],
      ] as [object, readonly string[]],
  ),
])("%j is refused", async (args, said) => {
  expect(await mistake({ args })).toEqual(said);
});

test("a target elsewhere is not called unless it is allowed", async () => {
  const { error, calls } = await checked({ args: { target: "http://a.example" } });
  expect([error, calls]).toEqual([expect.objectContaining({ code: "TARGET_NOT_ALLOWED" }), 0]);
});

const status = "GET http://127.0.0.1:1/v2/organizations/acme/rate_limit";
const allowed = '200 and the status of the organization\'s limits: {"scopes": {"rest": ..., "graphql": ...}}';
test.each<[string, VirtualOptions, string, string]>([
  [
    "says nothing",
    { before: () => new NoAnswer("refused") },
    "connection refused",
    "npx spillway probe looks closer",
  ],
  [
    "says something else",
    { before: () => ({ status: 200, headers: {}, body: "{}" }) },
    "200 and {}",
    "is this the API's address? npx spillway probe looks closer",
  ],
  [
    "says no",
    { before: () => ({ status: 404, headers: {}, body: "" }) },
    "404",
    "npx spillway probe looks closer",
  ],
])("a target that %s is no rate-limited API", async (_, virtual, got, hint) => {
  const { error, lines } = await checked({ virtual });
  expect(error).toMatchObject({
    code: "TARGET_UNREACHABLE",
    problems: [{ path: status, got: expect.stringContaining(got), allowed }],
    hint: expect.stringContaining(hint),
  });
  expect(lines).toHaveLength(1);
});

/** Checks a service whose clock a header moves. */
async function ahead(args: object, options: object = {}) {
  const kept = recorded();
  const tokens = tokensOf(tokenScopes, tokenScopes) as never;
  const world = new VirtualTarget(rules, { tokens });
  const around = {
    ...world,
    send: (async (ask: { headers?: Record<string, string> }, signal: AbortSignal) => {
      world.nowMs = Number(ask.headers?.["x-now"] ?? world.nowMs);
      return world.send(ask as never, signal);
    }) as never,
  };
  const asked = { target, tokens: file("two.json"), clockHeader: "X-Now", ...args } as never;
  const { signal } = new AbortController();
  const settings = { runs: 2, seed: 3, laws: ["bounded"], rules, ...options } as never;
  const report = checkAhead(asked, settings, kept.terminal, signal, around);
  return { ...kept, report: await report.catch((error: unknown) => error) };
}

test("a target whose clock is moved is checked law by law", async () => {
  const { report, lines } = await ahead({ calls: 5_000 });
  expect(report).toMatchObject({ ok: true, interrupted: false, seed: 3, limiter: target });
  expect((report as { laws: object[] }).laws).toContainEqual(
    expect.objectContaining({ law: "bounded", outcome: "no-counterexample", evidence: expect.any(Object) }),
  );
  expect(lines).toHaveLength(1);
  const all = await ahead({ calls: 3 }, { laws: undefined });
  expect((all.report as { laws: object[] }).laws).toContainEqual(
    expect.objectContaining({ law: "time-translates", outcome: "not-claimed" }),
  );
});

test("a used-up budget ends it early, and is no interruption", async () => {
  const { report, lines } = await ahead({ calls: 4 });
  expect(report).toMatchObject({ interrupted: false });
  expect(lines.slice(1)).toEqual(["ended early: the calls that were allowed are used up"]);
});

test("the rules are needed, and a header's name", async () => {
  expect((await ahead({}, { rules: undefined })).report).toMatchObject({
    message: expect.stringContaining("--clock-header needs --rules, those that the target follows"),
  });
  for (const clockHeader of ["", "a b"])
    expect((await ahead({ clockHeader })).report).toMatchObject({
      problems: [{ path: "--clock-header", got: JSON.stringify(clockHeader), allowed: "a header's name" }],
    });
});
