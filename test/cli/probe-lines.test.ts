// A probe in lines: what it will call, what it does meanwhile, and what it leaves behind.

import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  announcement,
  byPolicy,
  byRules,
  exitOf,
  graphqlUrlOf,
  keep,
  nextLines,
  progressText,
} from "../../src/cli/probe.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { inference } from "../policy/policies.ts";
import { tagged } from "../support/recorded.ts";
import { TypedIn } from "./typed.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-probe-lines-"));
  const scopes = ["read_accounts"];
  const entries = {
    "tokens.json": { token: "secret", user: "ann", organization: "acme", scopes },
    "callers.json": { token: "secret", user: "ann", tenant: "t1" },
  };
  for (const [name, entry] of Object.entries(entries))
    await writeFile(join(folder, name), JSON.stringify([entry]), { mode: 0o600 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  ["whole", 0],
  ["interrupted", 130],
  [{ stopped: "by 503" }, 3],
] as const)("a probe that ended %j ends with %i", (ended, status) => {
  expect(exitOf(ended)).toBe(status);
});

test("it says whom it calls as, how often at most, and what that may use up", () => {
  const allowance = { calls: 1, points: 30_000, statusCalls: 1, waitMs: 90_000 };
  const said = (user: string | null, more: object = {}) =>
    announcement({ target: "http://x", organization: "acme", user }, { ...allowance, ...more }).map(tagged);
  expect(said("ann")).toEqual([
    "This will call <bold>http://x</> as ann of acme:",
    "  at most 1 call that may count, asking for 30,000 GraphQL points at most",
    "  at most 1 call of the status, which should be free",
    "  at most 1 min 30 s of waiting for windows to end, and about 10 s and the calls' own time beside it",
    "  Nothing there is changed. To see refusals, the user's windows (the organization's, where its",
    "  limit is the smaller one) may be used up until they reset: other calls are refused meanwhile.",
  ]);
  expect(said(null, { calls: 1_000, points: 1 }).slice(0, 2)).toEqual([
    "This will call <bold>http://x</> as the token's user of acme:",
    "  at most 1,000 calls that may count, asking for 1 GraphQL point at most",
  ]);
});

test("its progress counts waits down, and says what is left of them", () => {
  const progress = { doing: "waiting", untilMs: 10_001, calls: 1, statusCalls: 1_000, waitLeftMs: 5_000 };
  const said = (more: object, nowMs = 0) => progressText({ ...progress, ...more }, nowMs);
  expect(said({})).toBe("waiting, 11 s more (1 call, 1,000 free)");
  expect(said({}, 10_000)).toBe("waiting, 1 s more (1 call, 1,000 free)");
  expect(said({}, 20_000)).toBe("waiting, 0 ms more (1 call, 1,000 free)");
  expect(said({ doing: "GET", untilMs: null, calls: 2 })).toBe(
    "GET (2 calls, 1,000 free, then at most 5 s of waiting)",
  );
  expect(said({ untilMs: null, waitLeftMs: 0 })).toBe("waiting (1 call, 1,000 free)");
  expect(said({ untilMs: null, waitLeftMs: 1 })).toBe(
    "waiting (1 call, 1,000 free, then at most 1 ms of waiting)",
  );
});

const byRulesSeen = { rules: { user: { rest: { limit: 3 } } }, trace: ["{}", "[]"] } as never;
const byNothing = { rules: {}, trace: ["{}"] } as never;
const bySeen = { policy: "parcels", seen: { version: 2 }, trace: ["{}"] } as never;
const byUnseen = { policy: "parcels", seen: null, trace: ["{}"] } as never;

test("it writes the trace, and what it saw", async () => {
  const place = await mkdtemp(join(folder, "kept-"));
  const [out, trace] = [join(place, "rules.json"), join(place, "trace.ndjson")];
  await keep({}, byRulesSeen);
  expect(await readdir(place)).toEqual([]);
  await keep({ out }, byNothing);
  expect(await readdir(place)).toEqual([]);
  await keep({ out }, byUnseen);
  expect(await readdir(place)).toEqual([]);
  await keep({ out, trace }, byRulesSeen);
  expect(await readFile(out, "utf8")).toBe(
    '{\n  "user": {\n    "rest": {\n      "limit": 3\n    }\n  }\n}\n',
  );
  expect(await readFile(trace, "utf8")).toBe("{}\n[]\n");
  await keep({ out }, bySeen);
  expect(await readFile(out, "utf8")).toBe('{\n  "version": 2\n}\n');
});

test("it names its files, and what to do with them", () => {
  const lines = (places: object, report: never) => nextLines(places, report).map(tagged);
  const [out, trace] = ["my rules.json", "t.ndjson"];
  expect(lines({}, byRulesSeen)).toEqual([]);
  expect(lines({ trace }, byRulesSeen)).toEqual(["trace   t.ndjson"]);
  expect(lines({ out, trace }, byRulesSeen)).toEqual([
    "rules   my rules.json",
    "trace   t.ndjson",
    "next    npx spillway simulate herd --rules 'my rules.json'",
  ]);
  expect(lines({ out, trace }, byNothing)).toEqual([
    "<yellow>rules</>   my rules.json was not written: no rule was seen",
    "trace   t.ndjson",
  ]);
  expect(lines({}, bySeen)).toEqual([]);
  expect(lines({ out }, bySeen)).toEqual([
    "policy  my rules.json, with what was seen in place of what parcels says",
  ]);
  expect(lines({ trace }, bySeen)).toEqual(["trace   t.ndjson; next: npx spillway verify t.ndjson"]);
});

test("GraphQL's own URL must be allowed as the target is", () => {
  expect(graphqlUrlOf({})).toBeUndefined();
  expect(graphqlUrlOf({ graphqlUrl: "http://127.0.0.1:1/g/" })).toBe("http://127.0.0.1:1/g/");
  expect(graphqlUrlOf({ graphqlUrl: "http://a.example/g", allowHost: "a.example" })).toBe(
    "http://a.example/g",
  );
  expect(() => graphqlUrlOf({ graphqlUrl: "http://a.example/g" })).toThrow(
    expect.objectContaining({ code: "TARGET_NOT_ALLOWED" }),
  );
});

const policy = parsePolicy(inference);
const target = "http://127.0.0.1:1";
const given = { calls: 5, waitMs: 60_000 };
const args = (more: object) =>
  ({ target, tokens: join(folder, "tokens.json"), points: 30_000, ...more }) as never;

test("under a policy it says who calls, and takes no option of the default API", async () => {
  const tokens = join(folder, "callers.json");
  const { announcement: said } = await byPolicy(policy, args({ tokens }), given);
  expect(said.map(tagged)).toEqual([
    `This will call <bold>${target}</> as t1/ann, by the samples of the policy inference:`,
    "  at most 5 calls that may count, 120 calls of a status, and 1 min of waiting for windows to end",
    "  Quotas that so few calls use up are used up, until they reset: other calls are refused meanwhile.",
  ]);
  vi.stubEnv("SPILLWAY_TOKEN", "secret");
  const unnamed = await byPolicy(policy, args({ tokens: undefined }), given);
  vi.unstubAllEnvs();
  expect(unnamed.announcement.map(tagged)[0]).toBe(
    `This will call <bold>${target}</> as the token's owner, by the samples of the policy inference:`,
  );
  for (const [option, more] of Object.entries({
    org: { org: "acme" },
    "graphql-url": { graphqlUrl: "http://127.0.0.1:1" },
    points: { points: 5 },
  }))
    await expect(byPolicy(policy, args(more), given)).rejects.toThrow(
      `--${option} goes with the default API, and not with ${policy.name}`,
    );
});

test("by rules it says the allowance, whose points are a whole number", async () => {
  const { announcement: said } = await byRules(args({ points: 12 }), given);
  expect(said.map(tagged).slice(0, 2)).toEqual([
    `This will call <bold>${target}</> as ann of acme:`,
    "  at most 5 calls that may count, asking for 12 GraphQL points at most",
  ]);
  await byRules(args({ points: 0 }), given);
  await byRules(args({ points: Number.MAX_SAFE_INTEGER }), given);
  for (const points of [-1, 2 ** 53, 1.5])
    await expect(byRules(args({ points }), given)).rejects.toThrow("--points cannot be used");
});

describe("as it is typed", () => {
  let here: TypedIn;
  beforeAll(async () => {
    here = await TypedIn.of({
      "tokens.json": JSON.stringify([{ token: "secret", user: "ann", organization: "acme" }]),
      "callers.json": JSON.stringify([{ token: "secret", tenant: "t1", user: "ann" }]),
      "policy.json": JSON.stringify({
        ...inference,
        operations: {
          ...inference.operations,
          list: { ...inference.operations.list, samples: [{ path: "/v1/models/a/b" }] },
        },
      }),
    });
  });
  afterAll(() => here.remove());
  const probe = (more: string) => here.run(`probe --target http://127.0.0.1:9 ${more}`);

  test("it says what it will call, and calls nobody without consent", async () => {
    const asked = await probe("--tokens tokens.json");
    expect([asked.code, asked.said.length, asked.aside]).toEqual([
      2,
      6,
      ["error USAGE nothing was called: nobody is there to say yes", "next --yes goes on without asking"],
    ]);
    const gone = await probe("--tokens tokens.json --max-wait 0s --yes --json");
    expect([gone.code, gone.said, gone.aside[0], gone.aside[3]]).toEqual([
      ...[3, [], "This will call http://HOST as ann of acme:"],
      "  at most 0 ms of waiting for windows to end, and about 10 s and the calls' own time beside it",
    ]);
    const byPolicy = await probe("--tokens callers.json --policy policy.json --yes");
    expect([byPolicy.code, byPolicy.said[0]]).toEqual([
      3,
      "This will call http://HOST as t1/ann, by the samples of the policy inference:",
    ]);
  });
});
