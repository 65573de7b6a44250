// `spillway doctor --get-k6` as a user types it.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bareEnv, cached, says } from "../load/k6-programs.ts";
import { fakeTarget, newFolder, removed } from "../load/support.ts";
import { main, spillway } from "../support/command.ts";

let folder = "";
beforeAll(async () => {
  folder = await newFolder();
});
afterAll(() => removed(folder));

const typed = (words: readonly string[]) => spillway(words, { cwd: folder, env: bareEnv(folder) });
const hex = "0".repeat(64);

describe("doctor --get-k6", () => {
  test.each<[string, readonly string[], RegExp]>([
    ["--from without --get-k6", ["--from", "http://127.0.0.1:1"], /--from needs --get-k6/],
    ["--from without --sha256", ["--get-k6", "--from", "http://127.0.0.1:1"], /--from needs --sha256/],
    ["--sha256 without --from", ["--get-k6", "--sha256", hex], /--sha256 needs --from/],
    [
      "a checksum that is none",
      ["--get-k6", "--from", "http://127.0.0.1:1", "--sha256", "abc"],
      /--sha256.*: got "abc", allowed: a SHA-256: 64 hexadecimal digits/,
    ],
  ])("%s: 2", async (_, words, message) => {
    const { code, stderr } = await typed(["doctor", ...words]);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });

  test("Ctrl-C is 130, and leaves nothing behind", async () => {
    let isAsked = (): void => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const { url, close } = await fakeTarget((_, response) => {
      response.writeHead(200, { "content-length": 1000 }).write("P", () => isAsked());
    });
    const words = ["doctor", "--get-k6", "--from", url, "--sha256", hex];
    const child = spawn(process.execPath, [main, ...words], { cwd: folder, env: bareEnv(folder) });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    await asked;
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(stdout).toContain("Interrupted: k6 was not installed");
    expect(await readdir(join(folder, "cache", "spillway", "bin"))).toEqual([]);
    await close();
  });

  test("installs k6, then says where it is; the second time it is there already", async () => {
    const archive = zipSync({ k6: strToU8(`#!/bin/sh\n${says("1.8.1")}\n`) });
    const sha256 = createHash("sha256").update(archive).digest("hex");
    const { url, close } = await fakeTarget((_, response) => response.end(archive));
    const words = ["doctor", "--get-k6", "--from", url, "--sha256", sha256];
    const path = join(folder, cached);
    const first = await typed(words);
    // Progress is told of what takes over two seconds, on a busy machine.
    expect(first.stderr).toMatch(/^(fetching .* MB\n)*$/);
    expect(first.stdout).toContain(`k6 1.8.1 is installed at ${path}.`);
    expect(first.stdout).toMatch(/^ok k6 +1\.8\.1, at .*k6 \(cache\)$/m);
    expect(first.code).toBe(0);
    await close();
    const second = await typed(words);
    expect(second.stdout).toContain(
      `k6 1.8.1 is there already, at ${path} (cache): nothing was fetched or built.`,
    );
    expect(second.code).toBe(0);
  });
});
