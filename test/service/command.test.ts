// `spillway serve` as a user starts it: the built program, its first line, its tokens file, its end.
// @module-tag long
// @module-tag real-time
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import type { Token } from "../../src/rules/tokens.ts";
import { main, spillwayHere } from "../support/command.ts";

const running: ChildProcess[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const child of running.splice(0))
    if (child.exitCode === null && child.signalCode === null) await end(child, "SIGTERM");
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "spillway-serve-test-"));
  folders.push(made);
  return made;
}

/** Starts `spillway serve`, and reads until it says how to stop it. */
async function start(...words: string[]) {
  const child = spawn(process.execPath, [main, "serve", "--port", "0", ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.push(child);
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.startsWith("stop ")) break;
  }
  child.stdout.resume();
  const tokens = /^tokens\s+(\S+)/m.exec(lines.join("\n"))?.[1] ?? "";
  return { child, lines, url: lines[0] ?? "", tokens };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const ended = once(child, "close");
  child.kill(signal);
  const [code] = await ended;
  return code;
}

describe("spillway serve", () => {
  test("says first that windows stand in for quotas that nobody enforces; warns of an address beyond loopback", async () => {
    const words = ["--policy", "okta", "--as-window", "--host", "0.0.0.0"];
    const child = spawn(process.execPath, [main, "serve", "--port", "0", ...words], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.push(child);
    const said: string[] = [];
    const note = (async () => {
      for await (const line of createInterface({ input: child.stderr })) said.push(line);
    })();
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(line);
      if (line.startsWith("stop ")) break;
    }
    await end(child, "SIGTERM");
    await note;
    expect(said[0]).toMatch(/^approximated .*concurrency \(concurrent calls\) is left out/);
    expect(said[1]).toMatch(/^http:/);
    expect(said).toContain(
      "warning listening on 0.0.0.0: whoever reaches this machine can call it, and tokens travel unencrypted (plain HTTP)",
    );
  });

  test("serves until SIGTERM, with tokens that only this user can read", async () => {
    const { child, url, tokens, lines } = await start("--users", "3");
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await stat(tokens)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(tokens))).mode & 0o777).toBe(0o700);
    const entries = JSON.parse(await readFile(tokens, "utf8")) as Token[];
    expect(entries.map(({ user }) => user)).toEqual(["user-0", "user-1", "user-2"]);
    for (const { token } of entries) {
      expect(lines.join("\n")).not.toContain(token);
      const answer = await fetch(`${url}/v2/user`, { headers: { authorization: `Bearer ${token}` } });
      expect(answer.status).toBe(200);
    }
    expect(await end(child, "SIGTERM")).toBe(0);
    await expect(access(dirname(tokens))).rejects.toThrow();
  });

  test("the example that it prints works", { tags: ["curl"] }, async () => {
    const { lines } = await start();
    const example = lines.find((line) => line.startsWith("try "))?.replace(/^try\s+/, "") ?? "";
    const { stdout } = await promisify(execFile)("sh", ["-c", example]);
    expect(JSON.parse(stdout)).toMatchObject({ scopes: { rest: { limit: 200, current: 0 } } });
  });

  test.each([
    ["openai", { method: "POST", path: "/v1/chat/completions" }],
    ["x", { path: "/2/tweets?ids=20" }],
    ["shopify-graphql", { extensions: { cost: { requestedQueryCost: 1 } } }],
  ])("so does that of a policy: %s", { tags: ["curl"] }, async (policy, answer) => {
    const { lines } = await start("--policy", policy);
    const example = lines.find((line) => line.startsWith("try "))?.replace(/^try\s+/, "") ?? "";
    const { stdout } = await promisify(execFile)("sh", ["-c", example]);
    expect(JSON.parse(stdout)).toMatchObject(answer);
  });

  test("takes rules and tokens of one's own, and leaves the file alone", async () => {
    const here = await folder();
    const tokens = join(here, "tokens.json");
    const rules = join(here, "rules.json");
    const entry = { token: "mine", user: "me", organization: "globex", scopes: ["read_accounts"] };
    await writeFile(tokens, JSON.stringify([entry]));
    await writeFile(rules, JSON.stringify({ organization: { rest: { limit: 7 } } }));
    const { child, url, lines } = await start("--tokens", tokens, "--rules", rules);
    const headers = { authorization: "Bearer mine" };
    const answer = await fetch(`${url}/v2/organizations/globex/rate_limit`, { headers });
    expect(await answer.json()).toMatchObject({ scopes: { rest: { limit: 7 } } });
    const read = `node -p '"Authorization: Bearer " + JSON.parse(fs.readFileSync(process.argv[1]))[0].token' ${tokens}`;
    expect(lines).toEqual([
      url,
      `rules   ${rules}`,
      `tokens  ${tokens} (1 user of globex)`,
      `try     ${read} | curl -sS -H @- ${url}/v2/organizations/globex/rate_limit`,
      "note    user.rest.limit is 50, above its organization's 7: a user can never use it in full, and a cost above 7 is " +
        "refused for ever",
      "stop    Ctrl-C",
    ]);
    await end(child, "SIGTERM");
    await access(tokens);
  });
});

/** The process ids of a process's children. */
async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid="]);
  const pairs = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.flatMap(([child = 0, parent]) => (parent === pid ? [child] : []));
}

/** Until none of these processes is left. */
async function untilGone(pids: readonly number[]): Promise<void> {
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  while (pids.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("several processes", () => {
  test("count as one; none outlives the one that was started, however that ends", {
    tags: ["ps"],
  }, async () => {
    for (const signal of ["SIGINT", "SIGKILL"] as const) {
      const { child, url, tokens, lines } = await start("--workers", "2", "--users", "1");
      expect(lines).toContain("workers 2 processes behind one port");
      const [entry] = JSON.parse(await readFile(tokens, "utf8")) as Token[];
      const answer = await fetch(`${url}/v2/user`, { headers: { authorization: `Bearer ${entry?.token}` } });
      expect(answer.status).toBe(200);
      const workers = await childrenOf(child.pid ?? 0);
      expect(workers).toHaveLength(2);
      expect(await end(child, signal)).toBe(signal === "SIGINT" ? 0 : null);
      await untilGone(workers);
      if (signal === "SIGINT") await expect(access(dirname(tokens))).rejects.toThrow();
    }
  });
});

describe("a fault", () => {
  test("is said loudly, and is there", async () => {
    const { url, lines, tokens } = await start("--fault", "double-count", "--users", "1");
    expect(lines.slice(1, 5)).toEqual([
      "FAULT   double-count: an admitted call is charged twice (1: share of the calls)",
      "        this deployment is wrong on purpose; the judge must say so",
      "rules   default",
      `tokens  ${tokens} (1 user of acme; the file goes when this stops)`,
    ]);
    const [entry] = JSON.parse(await readFile(tokens, "utf8")) as Token[];
    const answer = await fetch(`${url}/v2/user`, { headers: { authorization: `Bearer ${entry?.token}` } });
    expect(answer.headers.get("RateLimit-User-Remaining")).toBe("48");
  });

  test("list shows all there are, and serves nothing", async () => {
    const { code, stdout } = await spillwayHere(["serve", "--fault", "list"]);
    expect(code).toBe(0);
    expect(stdout).toContain("race-read-then-write");
  });
});

describe("what it refuses, with a code and the next step", () => {
  test("a port in use", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const { code, stdout, stderr } = await spillwayHere(["serve", "--port", String(port)]);
    taken.close();
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toContain("PORT_IN_USE");
    expect(stderr).toContain("--port 0");
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test.each([
    ["--port", "65536"],
    ["--port", "1.5"],
    ["--port", "http"],
    ["--users", "0"],
    ["--workers", "0"],
    ["--seed", "-1"],
    ["--fault", "double-cuont"],
    ["--rules", "no-such-rules.json"],
    ["--tokens", "."],
    ["--host", "192.0.2.1"],
  ])("%s %s", async (option, value) => {
    const free = option === "--port" ? [] : ["--port", "0"];
    const { code, stdout, stderr } = await spillwayHere(["serve", ...free, option, value]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^error /);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test("a tokens file that is wrong, without showing a token", async () => {
    const tokens = join(await folder(), "tokens.json");
    for (const text of ['[{"token":"secret-1","user":"a"},]', '[{"token":"secret-1","user":"a b"}]', "[]"]) {
      await writeFile(tokens, text);
      const { code, stderr } = await spillwayHere(["serve", "--port", "0", "--tokens", tokens]);
      expect(code).toBe(2);
      expect(stderr).not.toContain("secret-1");
    }
  });
});
