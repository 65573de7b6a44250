// `spillway audit` as it is typed: what it lists, what it refuses, and where nothing is called.
// @module-tag waiting
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { experiments } from "../../src/audit/experiments.ts";
import { exitOf } from "../../src/cli/audit.ts";
import type { AuditResult, Row } from "../../src/summary/audit-result.ts";
import { spillwayHere } from "../support/command.ts";
import { quickClock, tellsTime } from "../support/quick-clock.ts";

let folder = "";
let tokens = "";
const servers: Server[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-audit-"));
  tokens = join(folder, "tokens.json");
  await writeFile(tokens, JSON.stringify([{ token: "planted-secret", user: "ann", organization: "acme" }]), {
    mode: 0o600,
  });
});
afterAll(async () => {
  for (const server of servers) server.close();
  await rm(folder, { recursive: true, force: true });
});

/** A server on a free port. @returns its URL */
async function answering(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  tellsTime(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const audit = (url: string, ...words: readonly string[]) => auditBy("default", url, ...words);

const auditBy = (policy: string, url: string, ...words: readonly string[]) =>
  spillwayHere([
    "audit",
    "--target",
    url,
    "--policy",
    policy,
    "--tokens",
    tokens,
    "-y",
    "--out",
    join(folder, "out"),
    ...words,
  ]);

test("--list names each experiment once, with law, needs and spend, and calls nobody", async () => {
  const { stdout, code } = await spillwayHere(["audit", "--list", "--json"]);
  const listed = JSON.parse(stdout) as { name: string; law: string; needs: string; calls: number }[];
  expect(code).toBe(0);
  expect(listed.map(({ name }) => name)).toEqual(experiments.map(({ name }) => name));
  expect(new Set(listed.map(({ name }) => name)).size).toBe(listed.length);
  for (const { law, needs, calls } of listed) {
    expect(law).not.toBe("");
    expect(needs).not.toBe("");
    expect(calls).toBeGreaterThan(0);
  }
});

test("--dry-run says the spend, and calls nobody", async () => {
  let calls = 0;
  const url = await answering((_request, reply) => {
    calls += 1;
    reply.end();
  });
  const { stdout, code } = await audit(url, "--dry-run");
  expect(code).toBe(0);
  expect(stdout).toMatch(/about [\d,]+ calls; \d+ windows? used up/);
  expect(calls).toBe(0);
});

test("--dry-run takes the time into account in which windows have room for the calls", async () => {
  const policy = join(folder, "narrow.json");
  const planned = async (limit: number): Promise<number> => {
    const window = { limit, windowSeconds: 60 };
    await writeFile(policy, JSON.stringify({ organization: { rest: window }, user: { rest: window } }));
    const words = [
      "--policy",
      policy,
      "--only",
      "twin-head,twin-query-string,twin-trailing-slash",
      "--dry-run",
      "--json",
    ];
    const { stdout } = await spillwayHere([
      "audit",
      "--target",
      "http://127.0.0.1:9",
      "--tokens",
      tokens,
      "-y",
      ...words,
    ]);
    return (JSON.parse(stdout) as { ms: number }).ms;
  };
  const [narrow, wide] = [await planned(6), await planned(10_000)];
  expect(wide).toBeLessThan(5_000);
  expect(narrow).toBeGreaterThanOrEqual(60_000);
});

test("--dry-run takes the time into account in which buckets rest", async () => {
  const policy = join(folder, "bucket.json");
  const planned = async (everySeconds: number): Promise<number> => {
    const text = {
      version: 2,
      name: "bucket",
      quotas: {
        calls: {
          algorithm: {
            kind: "token-bucket",
            capacity: 10,
            refill: { amount: 1, everyMs: everySeconds * 1000 },
          },
          key: ["user"],
        },
      },
      operations: { call: { uses: { calls: 1 }, samples: [{ path: "/v1/items" }] } },
      routes: [{ path: "/**", operation: "call" }],
      auth: { header: "Authorization", form: "Bearer {token}", attributes: ["organization", "user"] },
    };
    await writeFile(policy, JSON.stringify(text));
    const only = ["--alone", "--only", "burst-is-bounded,emptied-has-room-again", "--dry-run", "--json"];
    const { stdout } = await auditBy(policy, "http://127.0.0.1:9", ...only);
    return (JSON.parse(stdout) as { ms: number }).ms;
  };
  const [slow, quick] = [await planned(6), await planned(1)];
  // A bucket that is full again after a minute is left alone for as long, once for each experiment at least.
  expect(slow).toBeGreaterThanOrEqual(120_000);
  expect(quick).toBeLessThan(60_000);
});

test("without --policy nothing is called under --dry-run, nor before somebody says yes", async () => {
  let calls = 0;
  const url = await answering((_request, reply) => {
    calls += 1;
    reply.end();
  });
  const words = ["audit", "--target", url, "--tokens", tokens];
  const ended = [await spillwayHere([...words, "--dry-run"]), await spillwayHere(words)];
  expect(ended.map(({ code }) => code)).toEqual([2, 2]);
  expect(ended.map(({ stderr }) => stderr).join()).toMatch(
    /--dry-run needs --policy[\s\S]*nobody is there to say yes/,
  );
  expect(calls).toBe(0);
});

describe("without --policy, of an API that is not the default one", () => {
  const windowMs = 10_000;
  let end = 0;
  let count = 0;
  const answer: RequestListener = (request, reply) => {
    const now = Date.now();
    if (now >= end) [end, count] = [now + windowMs, 0];
    if (request.method === "GET") count += 1;
    const shown = { "X-RateLimit-Limit": "20", "X-RateLimit-Remaining": String(20 - count) };
    reply.writeHead(200, { ...shown, "X-RateLimit-Reset": String(Math.ceil((end - now) / 1000)) });
    reply.end("[]");
  };

  test("map proposes one, the audit goes on with it, and states its assumptions first", async () => {
    quickClock(20);
    const url = await answering(answer);
    const out = join(folder, "mapped");
    const words = ["audit", "--target", `${url}/v1/items`, "--tokens", tokens, "--alone", "-y", "--out", out];
    const { stdout, stderr, code } = await spillwayHere([...words, "--only", "twin-head"]);
    expect(stdout, stderr).toMatch(
      /Each user may use 20 requests in each 10 seconds\. A window opens with its first/,
    );
    expect(stdout.indexOf("assumed")).toBeLessThan(stdout.indexOf("This will call"));
    expect(stdout).toMatch(/broken twin-head, \w+: conserved/);
    expect(stdout).toContain(
      `repeat    npx spillway audit --target ${url} --tokens ${tokens} --alone -y --only twin-head`,
    );
    expect(code).toBe(1);
    expect(stdout + stderr).not.toContain("planted-secret");
  }, 60_000);

  test("what shows no limit, and what does not answer, is said", async () => {
    quickClock(20);
    const url = await answering((_request, reply) => reply.writeHead(404).end("{}"));
    const ended = [url, "http://127.0.0.1:1"].map((target) =>
      spillwayHere(["audit", "--target", target, "--tokens", tokens, "-y"]),
    );
    const [silent, gone] = await Promise.all(ended);
    expect(silent?.stderr).toMatch(
      /got 404 without a header or member of a limit[\s\S]*spillway map answers/,
    );
    expect(gone?.stderr).toContain("connection refused");
    expect([silent?.code, gone?.code]).toEqual([3, 3]);
  }, 60_000);
});

describe("what is no such API is named, before anything is spent", () => {
  const cases: readonly (readonly [name: string, answer: RequestListener, said: RegExp])[] = [
    [
      "a page of HTML",
      (_request, reply) => reply.setHeader("Content-Type", "text/html").end("<html>"),
      /200 and HTML/,
    ],
    ["404", (_request, reply) => reply.writeHead(404).end("{}"), /404: no such resource/],
    [
      "a redirect to a login",
      (_request, reply) => reply.writeHead(302, { Location: "/login?next=secret" }).end(),
      /302, a redirect to "\/login"/,
    ],
    [
      "an expired token",
      (_request, reply) => reply.writeHead(401).end("{}"),
      /401: the token is not known there, or has expired/,
    ],
    [
      "a token without permissions",
      (_request, reply) => reply.writeHead(403).end("{}"),
      /403: the token has no permission/,
    ],
    ["JSON of another API", (_request, reply) => reply.end('{"hello":1}'), /200 and /],
  ];
  test.each(cases)("%s", async (_name, answer, said) => {
    let calls = 0;
    const url = await answering((request, reply) => {
      calls += 1;
      answer(request, reply);
    });
    const { stderr, stdout, code } = await audit(url);
    expect(stderr).toMatch(said);
    expect(code).toBe(3);
    expect(calls).toBe(1);
    expect(stdout + stderr).not.toContain("planted-secret");
  });

  test("a status in no form that the wire knows is any answer that is no error", async () => {
    quickClock(20);
    const policy = join(folder, "bare-status.json");
    const text = {
      version: 2,
      name: "bare-status",
      quotas: {
        calls: {
          algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 10, anchor: "epoch" },
          key: ["user"],
        },
      },
      operations: { call: { uses: { calls: 1 }, samples: [{ path: "/v1/items" }] } },
      routes: [
        { path: "/v1/limits", operation: "status" },
        { path: "/**", operation: "call" },
      ],
      auth: { header: "Authorization", form: "Bearer {token}", attributes: ["organization", "user"] },
      wire: {
        revision: "1",
        readings: [
          { headers: { "X-Limit": "{limit}", "X-Left": "{remaining}" }, on: ["admitted", "refused"] },
        ],
      },
    };
    await writeFile(policy, JSON.stringify(text));
    const by = async (answer: RequestListener) =>
      auditBy(policy, await answering(answer), "--only", "headers-on-every-answer");
    const failing = await by((_request, reply) => reply.writeHead(500).end());
    expect(failing.stderr).toContain("allowed: an answer that is no error");
    expect(failing.code).toBe(3);
    const served = await by((_request, reply) => reply.end("{}"));
    expect(served.stderr).not.toContain("TARGET_UNREACHABLE");
  });

  test("plain HTTP under https://", async () => {
    const url = await answering((_request, reply) => reply.end());
    const { stderr, code } = await audit(url.replace("http:", "https:"));
    expect(stderr).toContain("no TLS there");
    expect(code).toBe(3);
  });

  test("nobody listens", async () => {
    const { stderr, code } = await audit("http://127.0.0.1:1");
    expect(stderr).toContain("connection refused");
    expect(code).toBe(3);
  });
});

describe("words that cannot be used", () => {
  const cases: readonly (readonly [words: readonly string[], said: string])[] = [
    [["--only", "last-place-3"], "did you mean last-place-2?"],
    [["--spend", "120%"], '"1%" to "100%"'],
    [["--max-time", "soon"], "--max-time"],
    [["--target", "http://api.example.com"], "this target may not be loaded"],
    [["--resume", "--out", "nowhere"], "no such file"],
  ];
  test.each(cases)("%j", async (words, said) => {
    const own = words.includes("--target") ? [] : ["--target", "http://127.0.0.1:1"];
    const { stderr, code } = await spillwayHere([
      "audit",
      "--policy",
      "default",
      "--tokens",
      tokens,
      "-y",
      ...own,
      ...words,
    ]);
    expect(stderr).toContain(said);
    expect(code).toBe(2);
  });
});

test.each<[states: Row["state"][], ended: AuditResult["ended"], code: number]>([
  [["kept", "not exercised"], "whole", 0],
  [["kept", "broken"], "whole", 1],
  [["broken"], "interrupted", 1],
  [["broken"], { stopped: "no answers" }, 1],
  [["not exercised"], "whole", 2],
  [["kept"], { stopped: "no answers" }, 3],
  [["kept"], "interrupted", 130],
])("rows that are %j, and an end that is %j, are exit code %i", (states, ended, code) => {
  expect(exitOf({ rows: states.map((state) => ({ state }) as Row), ended })).toBe(code);
});
