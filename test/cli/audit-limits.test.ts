// Limits of an audit that nobody named: a probe looks first where the tokens are the default API's, then map does.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { limitsOf } from "../../src/cli/audit-limits.ts";
import { parseTarget } from "../../src/connect/target.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { recorded } from "../support/recorded.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-audit-limits-"));
  const files = {
    default: [
      { token: "t1", user: "ann", organization: "acme" },
      { token: "t2", user: "bob", organization: "acme" },
    ],
    users: [{ token: "t1", user: "ann" }],
  };
  for (const [name, value] of Object.entries(files))
    await writeFile(join(folder, `${name}.json`), JSON.stringify(value), { mode: 0o600 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const seen = { organization: { rest: { limit: 7 } } };
const report = {
  ...{
    rules: seen,
    defaults: ["user.rest.limit", "semantics.reset"],
    ended: "whole",
    findings: [],
    failed: 0,
  },
  ...{ startedAt: 0, endedAt: 1_000, used: { calls: 5, points: 0, statusCalls: 1, waitMs: 0 }, trace: [] },
};
const target = parseTarget("--target", "http://127.0.0.1:1/v1");
const byMap = { policy: "of map" };
const limitPaths = ["organization.rest", "organization.graphql", "user.rest", "user.graphql"].map(
  (at) => `${at}.limit`,
);

/** Looks for limits by a probe that reports so, or fails. */
async function found(tokens: string, probed: object, over = new AbortController()) {
  const kept = recorded();
  const asked: unknown[] = [];
  const ways = {
    async probe({ onProgress, ...options }: { onProgress: (progress: object) => void }) {
      asked.push(options);
      onProgress({ doing: "GET status" });
      if (probed instanceof Error) throw probed;
      return probed;
    },
    async mapped(...given: unknown[]) {
      asked.push(["map", ...given.slice(1)]);
      return byMap;
    },
  } as never;
  const given = {
    target,
    tokensFile: join(folder, `${tokens}.json`),
    tls: { ca: "c" },
    proxy: { url: "p" },
  } as never;
  const limits = limitsOf({ dryRun: false, yes: true }, kept.terminal, given, undefined, over.signal, ways);
  return { ...kept, asked, limits: await limits.catch((error: unknown) => error) };
}

const first =
  "No --policy: a probe looks first which limits there are (80 calls at most); where it sees none, map does.";
const callers = ["ann", "bob"].map((user, at) => ({
  token: `t${at + 1}`,
  attributes: { organization: "acme", user },
}));

test("a probe's rules are taken, with what it did not see", async () => {
  const { limits, lines, asked, progress } = await found("default", report);
  const rules = parseRules(seen);
  expect(limits).toEqual({
    ...{ target, policy: policyOf(rules), rules, tokens: callers },
    assumptions: [
      "limits and switches are as a probe of 5 calls saw them",
      "user.rest.limit is the default: nothing was seen of it",
      "semantics.reset is the default: nothing was seen of it",
    ],
  });
  expect(lines.slice(0, 2)).toEqual([
    first,
    "used 5 calls that may count, 0 points asked for, 1 free call, 1 s",
  ]);
  expect(progress).toEqual(["GET status"]);
  expect(asked).toEqual([
    {
      ...{ target: "http://127.0.0.1:1/v1", tls: { ca: "c" }, proxy: { url: "p" }, token: "t1" },
      ...{ organization: "acme", user: "ann", signal: expect.any(AbortSignal) },
    },
  ]);
  const early = await found("default", { ...report, ended: { stopped: "by 503" }, defaults: [] });
  expect(early.limits).toMatchObject({
    assumptions: [
      "limits and switches are as a probe of 5 calls saw them",
      "the probe stopped early: by 503",
    ],
  });
});

test("a probe that sees none of the limits leaves them to map", async () => {
  const { limits, asked } = await found("default", { ...report, defaults: limitPaths });
  expect(limits).toBe(byMap);
  expect(asked[1]).toMatchObject(["map", { target }, callers, expect.any(AbortSignal)]);
  expect((await found("default", { ...report, defaults: limitPaths.slice(1) })).limits).not.toBe(byMap);
});

test("what is no API of the default's is left to map, with a word", async () => {
  const problem = { path: "GET", got: "404", allowed: "200" };
  const unreachable = new SpillwayError("TARGET_UNREACHABLE", "no status", { problem });
  const { limits, lines } = await found("default", unreachable);
  expect([limits, lines]).toEqual([byMap, [first, "probe: 404. It is no API of the default's."]]);
  const bare = await found("default", new SpillwayError("TARGET_UNREACHABLE", "no status"));
  expect(bare.lines[1]).toBe("probe: no status. It is no API of the default's.");
  for (const error of [new TypeError("odd"), new SpillwayError("TARGET_NOT_ALLOWED", "no")])
    expect((await found("default", error)).limits).toBe(error);
});

test("tokens of users alone are map's", async () => {
  const { limits, asked, lines } = await found("users", report);
  expect([limits, lines]).toEqual([byMap, [first]]);
  expect(asked).toMatchObject([
    ["map", { target }, [{ token: "t1", attributes: { user: "ann" } }], expect.any(AbortSignal)],
  ]);
});

test("an interrupted probe is no finding", async () => {
  const over = new AbortController();
  over.abort(new Error("enough"));
  expect((await found("default", report, over)).limits).toEqual(new Error("enough"));
});
