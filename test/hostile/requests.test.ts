// The reference deployment under hostile requests: each is answered as SPEC.md §6 says, none with 500, by a process of
// bounded memory and computing, which answers as before in the end.
import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Token } from "../../src/rules/tokens.ts";
import { main } from "../support/command.ts";
import { bounded } from "./command-lines.ts";
import { requests } from "./requests.ts";

/** Of an answer, bytes: what one query may bring back. */
const answerMost = 4_000_000;

let child: ChildProcess;
let port = 0;
let token = "";

beforeAll(async () => {
  const started = bounded(main, "serve", "--port", "0", "--users", "1");
  child = spawn(started.program, started.words, { stdio: ["ignore", "pipe", "inherit"] });
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
    said.push(line);
    if (line.startsWith("stop ")) break;
  }
  child.stdout?.resume();
  port = Number(new URL(said[0] ?? "").port);
  const file = /^tokens\s+(\S+)/m.exec(said.join("\n"))?.[1] ?? "";
  const [entry] = JSON.parse(await readFile(file, "utf8")) as Token[];
  token = entry?.token ?? "";
});
afterAll(() => child.kill("SIGTERM"));

/** Sends bytes as they are, and reads until the server closes. */
function answerTo(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    // Who is refused in the middle of what it sends may see the connection end first.
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (chunks.length === 0 && error.code !== "EPIPE" && error.code !== "ECONNRESET") reject(error);
    });
    socket.on("close", () => resolve(Buffer.concat(chunks)));
    socket.write(bytes);
  });
}

const eight = ["scope", "limit", "remaining", "reset"].flatMap((name) => [
  `ratelimit-${name}`,
  `ratelimit-user-${name}`,
]);

function parsed(answer: Buffer): { status: number; headers: Map<string, string>; body: string } {
  const text = answer.toString("latin1");
  const [first = "", ...fields] = text.slice(0, text.indexOf("\r\n\r\n")).split("\r\n");
  const headers = fields.map((field) => {
    const [name = "", value = ""] = field.split(/:\s*/, 2);
    return [name.toLowerCase(), value] as const;
  });
  const body = text.slice(text.indexOf("\r\n\r\n") + 4);
  return { status: Number(first.split(" ")[1]), headers: new Map(headers), body };
}

describe("a request with", () => {
  test.each(Object.entries(requests))("%s", { timeout: 300_000 }, async (_, { bytes, status, owed }) => {
    const answer = await answerTo(bytes(token));
    expect(answer.length).toBeLessThan(answerMost);
    const { headers, body, ...seen } = parsed(answer);
    expect([seen.status, body.slice(0, 300)]).toEqual([status, expect.anything()]);
    const shown = eight.filter((name) => /^-?\w+$/.test(headers.get(name) ?? ""));
    expect(shown).toEqual(owed === null ? [] : eight);
    if (owed !== null) expect(headers.get("ratelimit-scope")).toBe(owed);
    expect(body).not.toContain(token);
  });

  test("nothing hostile is answered as before", async () => {
    expect(child.exitCode).toBeNull();
    const bytes = requests["a page beyond all pages"]?.bytes(token) ?? Buffer.of();
    expect(parsed(await answerTo(bytes)).status).toBe(200);
  });
});
