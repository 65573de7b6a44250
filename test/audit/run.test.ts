// An audit from its first word to its folder: what it writes, that no token is in it, how it ends early and goes on.
// @module-tag real-time
// @module-tag paced
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { experiments } from "../../src/audit/experiments.ts";
import type { Earlier } from "../../src/audit/run.ts";
import { BodyBytes } from "../../src/audit/wires.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { selfSigned } from "../../src/service/self-signed.ts";
import { type AuditResult, settledRows } from "../../src/summary/audit-result.ts";
import type { QuotaCall } from "../../src/trace/quota-record.ts";
import { openTrace } from "../../src/trace/read.ts";
import { spillwayHere } from "../support/command.ts";
import { audited, deployed, tokens } from "./deployment.ts";
import { listening } from "./strangers.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-audit-run-"));
  await writeFile(join(folder, "tokens.json"), JSON.stringify(tokens), { mode: 0o600 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const quick = [
  "cost-as-told",
  "other-user",
  "status-is-free",
  "twin-head",
  "twin-letter-case-of-scheme",
  "twin-pipelined",
  "no-token",
];
const chosen = experiments.filter(({ name }) => quick.includes(name));

describe("a deployment that is wrong, and echoes its callers' tokens", () => {
  let said = "";
  let result: AuditResult;
  const files = new Map<string, string>();
  let code: number | null = null;
  let resumed: Awaited<ReturnType<typeof spillwayHere>> | null = null;
  beforeAll(async () => {
    const { serving, rules } = await deployed("double-count");
    serving.app.server.prependListener("request", ({ headers }, reply) => {
      reply.setHeader("X-Echo", String(headers.authorization));
    });
    await writeFile(join(folder, "rules.json"), JSON.stringify(rules));
    const out = join(folder, "out");
    const words = [
      "audit",
      "--target",
      serving.url,
      "--policy",
      join(folder, "rules.json"),
      "--alone",
      "-y",
      "--json",
    ];
    const ended = await spillwayHere([
      ...words,
      ...["--tokens", join(folder, "tokens.json"), "--out", out, "--junit", join(out, "..", "junit.xml")],
      ...["--only", quick.join(",")],
    ]);
    const again = join(folder, "again");
    await cp(out, again, { recursive: true });
    resumed = await spillwayHere([
      ...words,
      ...["--tokens", join(folder, "tokens.json"), "--out", again, "--resume", "--only", quick.join(",")],
    ]);
    await serving.close();
    said = ended.stdout + ended.stderr;
    code = ended.code;
    result = JSON.parse(ended.stdout) as AuditResult;
    for (const name of await readdir(out)) files.set(name, await readFile(join(out, name), "utf8"));
    files.set("--junit", await readFile(join(folder, "junit.xml"), "utf8"));
  });

  test("ends with 1, and names the law, the calls and a line that repeats it", () => {
    expect(code).toBe(1);
    const row = result.rows.find(({ name }) => name === "cost-as-told");
    expect(row?.state).toBe("broken");
    const [broken] = row?.broken ?? [];
    expect(broken).toMatchObject({ law: "conserved", isRepeated: true, oracle: "agrees" });
    expect(broken?.calls.length).toBeGreaterThan(1);
    expect(broken?.repeat).toContain("spillway audit --target");
  });

  test("is gone on with by --resume under the same rules, and stays broken", () => {
    expect([resumed?.code, resumed?.stderr]).toEqual([1, expect.not.stringContaining("RESUME_INVALID")]);
    const { rows } = JSON.parse(resumed?.stdout ?? "") as AuditResult;
    expect(rows.find(({ name }) => name === "cost-as-told")?.state).toBe("broken");
  });

  test("a failure that an earlier one explains points to it", () => {
    const pointing = result.rows.flatMap(({ broken }) => broken.map(({ follows }) => follows));
    expect(pointing.filter((name) => name !== null).length).toBeGreaterThan(0);
  });

  test("no token is in what is printed or written", () => {
    expect([...files.keys()].toSorted()).toEqual(
      ["--junit", "audit.json", "junit.xml", "report.html", "summary.md", "trace.ndjson"].toSorted(),
    );
    for (const [name, text] of [...files, ["printed", said] as const])
      expect(text, name).not.toContain("planted-secret");
  });

  test("JUnit has a case for each experiment, and the summary one line and the broken ones", () => {
    const junit = files.get("--junit") ?? "";
    expect(junit.match(/<testcase /g)).toHaveLength(quick.length + 1);
    expect(junit).toContain("<failure");
    expect(files.get("summary.md")).toMatch(/^audit of buildkite: \d+ kept, \d+ broken/);
  });

  test("verify reads its trace, call by call", async () => {
    const { stdout } = await spillwayHere(["verify", join(folder, "out", "trace.ndjson"), "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ records: result.calls });
  });
});

async function earlierOf(result: AuditResult, trace: string): Promise<Earlier> {
  const read = await openTrace(Readable.from([Buffer.from(trace)]));
  if (read.version !== 2) throw new Error("no trace of version 2");
  const calls: QuotaCall[] = [];
  for await (const { call } of read.calls) calls.push(call);
  return { result, header: read.header, calls };
}

test("what the oracle found in an interrupted audit stays found", async () => {
  const wrong = await deployed("double-count");
  const some = experiments.filter(({ name }) => ["cost-as-told", "twin-gzip"].includes(name));
  const first = await audited(wrong.serving.url, wrong.rules, { experiments: some.slice(0, 1) });
  await wrong.serving.close();
  const right = await deployed(null);
  const earlier = await earlierOf({ ...first.result, ended: "interrupted" }, first.trace);
  const { result } = await audited(right.serving.url, right.rules, { experiments: some, earlier });
  await right.serving.close();
  const states = Object.fromEntries(result.rows.map(({ name, state }) => [name, state]));
  expect(states).toEqual({
    [some[0]?.name ?? ""]: "broken",
    [some[1]?.name ?? ""]: "kept",
    agreement: "broken",
  });
});

test("an interrupted audit keeps what it found, and goes on with the rest", async () => {
  const { serving, rules } = await deployed(null);
  try {
    const stop = new AbortController();
    const watched = chosen.map((experiment, at) => ({
      ...experiment,
      *run(...given: Parameters<typeof experiment.run>) {
        if (at === 2) stop.abort();
        return yield* experiment.run(...given);
      },
    }));
    const { result, trace } = await audited(serving.url, rules, {
      experiments: watched,
      signal: stop.signal,
    });
    expect(result.ended).toBe("interrupted");
    const known = settledRows(result);
    expect(known.map(({ name }) => name)).toEqual(chosen.slice(0, 2).map(({ name }) => name));
    expect(result.rows.find(({ name }) => name === chosen[3]?.name)?.why).toContain("interrupted");
    const earlier = await earlierOf(result, trace);
    const { result: rest, trace: whole } = await audited(serving.url, rules, {
      experiments: chosen,
      earlier,
    });
    expect(rest.ended).toBe("whole");
    expect(rest.rows.map(({ name, state }) => `${name} ${state}`).toSorted()).toEqual(
      [...chosen.map(({ name }) => `${name} kept`), "agreement kept"].toSorted(),
    );
    // The trace of the first part is the beginning of the whole one.
    const lines = trace.trimEnd().split("\n").slice(1);
    expect(whole.split("\n").slice(1, lines.length + 1)).toEqual(lines);
    expect(rest.calls).toBeGreaterThan(result.calls);
    expect(rest.startedAt).toBe(result.startedAt);
  } finally {
    await serving.close();
  }
});

test("half of each window is used where --spend says so, and nothing is emptied", async () => {
  const { serving, rules } = await deployed(null);
  try {
    const some = experiments.filter(({ name }) => ["twin-head", "last-place-2", "twin-gzip"].includes(name));
    const { result, trace } = await audited(serving.url, rules, { experiments: some, spend: 0.5 });
    const states = Object.fromEntries(result.rows.map(({ name, state }) => [name, state]));
    expect(states).toMatchObject({ "twin-head": "kept", "last-place-2": "not exercised" });
    const left = [...trace.matchAll(/\["rest_user",50,(\d+),/g)].map(([, text]) => Number(text));
    expect(Math.min(...left)).toBeGreaterThanOrEqual(25);
  } finally {
    await serving.close();
  }
});

test("callers whom the target does not know are left out, and said to be", async () => {
  const { serving, rules } = await deployed(null);
  try {
    const callers = tokens.slice(0, 3).map(({ token, user, organization }, at) => ({
      token: at === 1 ? "expired-token" : token,
      attributes: { organization, user },
    }));
    const { result } = await audited(serving.url, rules, { experiments: chosen, tokens: callers });
    expect(result.assumptions).toEqual([expect.stringContaining("acme/user-1 is left out: 401")]);
    expect(result.rows.filter(({ state }) => state === "broken")).toEqual([]);
  } finally {
    await serving.close();
  }
});

test("a caller alone: what needs others is not exercised, and says so", async () => {
  const { serving, rules } = await deployed(null);
  try {
    const callers = tokens
      .slice(0, 1)
      .map(({ token, user, organization }) => ({ token, attributes: { organization, user } }));
    const { result } = await audited(serving.url, rules, { experiments: chosen, tokens: callers });
    const row = result.rows.find(({ name }) => name === "other-user");
    expect([row?.state, row?.why]).toEqual(["not exercised", "no two users"]);
    expect(result.rows.find(({ name }) => name === "twin-head")?.state).toBe("kept");
  } finally {
    await serving.close();
  }
});

test("a body is read in the coding in which it was sent", () => {
  const text = '{"remaining":"\u00e4"}';
  const codings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
  for (const [coding, encode] of Object.entries(codings)) {
    const bytes = new BodyBytes();
    for (const byte of encode(text)) bytes.add(Uint8Array.of(byte));
    expect(bytes.text(coding), coding).toBe(text);
  }
  const plain = new BodyBytes();
  plain.add(Buffer.from(text));
  expect([plain.text(undefined), plain.text("gzip")]).toEqual([text, text]);
});

test("by TLS, HTTP/2 and raw connections are exercised", async () => {
  const tls = selfSigned([], Date.now());
  const { serving, rules } = await deployed(null, [5, 8], tls);
  const names = ["twin-http-2", "status-http-2", "twin-http-1.0", "twin-pipelined", "twin-gzip"];
  const some = experiments.filter(({ name }) => names.includes(name));
  const { result } = await audited(serving.url, rules, { experiments: some, tls: { ca: tls.cert } });
  await serving.close();
  const states = result.rows.map(({ name, state, why }) => [name, state, why]);
  expect(Object.fromEntries(states.map(([name, state]) => [name, state]))).toEqual({
    ...Object.fromEntries(names.map((name) => [name, "kept"])),
    agreement: "kept",
  });
});

test("a target that answers slowly is right, though the first calls of all open its windows", async () => {
  const windows = new Map<string, { endMs: number; used: number }>();
  let calls = 0;
  const serving = await listening(async ({ headers }, reply) => {
    calls += 1;
    if (calls === 1) await wait(1_200);
    const key = String(headers.authorization).toLowerCase();
    const now = Date.now();
    const known = windows.get(key);
    const window = known === undefined || known.endMs <= now ? { endMs: now + 8_000, used: 0 } : known;
    windows.set(key, window);
    window.used += 1;
    const shown = {
      "X-Limit": 90,
      "X-Left": 90 - window.used,
      "X-Reset": Math.ceil((window.endMs - now) / 1000),
    };
    reply.writeHead(200, shown).end("[]");
  });
  const policy = parsePolicy({
    version: 2,
    name: "own",
    quotas: {
      requests: {
        algorithm: { kind: "fixed-window", limit: 90, windowSeconds: 8, anchor: "first-request" },
        key: ["user"],
      },
    },
    operations: { call: { uses: { requests: 1 }, samples: [{ path: "/" }] } },
    routes: [{ path: "/**", operation: "call" }],
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
    wire: {
      revision: "2026",
      readings: [
        {
          headers: { "X-Limit": "{limit}", "X-Left": "{remaining}", "X-Reset": "{reset}" },
          reset: { form: "delta-s", means: "window-end", round: "ceil" },
        },
      ],
    },
  });
  const some = experiments.filter(({ name }) => name === "twin-query-string");
  const { result } = await audited(serving.url, policy, { experiments: some });
  await serving.close();
  expect(result.rows.map(({ name, state }) => `${name} ${state}`)).toEqual([
    "twin-query-string kept",
    "agreement kept",
  ]);
});
