// k6 as a child: what it is told, and what is told of its end. A script of ours stands in for it. Windows starts no
// script by its first line.
import { access, chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ErrorLines, k6Files, runK6 } from "../../src/load/run-k6.ts";

/** Runs a script in k6's place. */
async function ran(program: string, more: Partial<Parameters<typeof runK6>[0]> = {}) {
  const home = await mkdtemp(join(tmpdir(), "spillway-run-k6-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const k6 = join(home, "k6");
  await writeFile(k6, `#!${process.execPath}\nconst fs = require("node:fs");\n${program}`);
  await chmod(k6, 0o755);
  const folder = join(home, "run");
  const outcome = await runK6({ k6, script: "bundle.js", folder, variables: { TARGET: "here" }, ...more });
  const text = (name: string): Promise<string> => readFile(join(folder, name), "utf8");
  return { outcome, folder, text };
}

describe.skipIf(process.platform === "win32")("a run", () => {
  test("knows the variables and the run's own settings, and none of the user's", async () => {
    vi.stubEnv("K6_ITERATIONS", "1");
    vi.stubEnv("HTTPS_PROXY", "http://proxy:1");
    vi.stubEnv("no_proxy", "here");
    vi.stubEnv("SPILLWAY_TEST_KEPT", "kept");
    const { text, folder } = await ran(
      `fs.writeFileSync(process.argv.at(-2), JSON.stringify({ words: process.argv.slice(2), env: process.env }));`,
    );
    const { words, env } = JSON.parse(await text(k6Files.raw)) as {
      words: string[];
      env: Record<string, string>;
    };
    const config = join(folder, "config.json");
    const raw = ["--log-format", "raw", "--console-output", join(folder, k6Files.raw)];
    const quiet = ["run", "--quiet", "--no-color", "--address", "", "--no-usage-report"];
    expect(words).toEqual([...quiet, "--config", config, ...raw, "bundle.js"]);
    expect(
      Object.fromEntries(Object.entries(env).filter(([name]) => /^k6_|_proxy$|^target$|_kept$/i.test(name))),
    ).toEqual({
      TARGET: "here",
      SPILLWAY_TEST_KEPT: "kept",
      K6_WEB_DASHBOARD: "true",
      K6_WEB_DASHBOARD_PERIOD: "1s",
      K6_WEB_DASHBOARD_PORT: "-1",
      K6_WEB_DASHBOARD_EXPORT: join(folder, k6Files.dashboard),
    });
    await expect(access(config)).rejects.toThrow("ENOENT");
  });

  test("ends with the program's status, its summary and its complaints, each once", async () => {
    const { outcome, text } = await ran(`
      fs.writeFileSync(process.argv.at(-2).replace("raw.ndjson", "summary.json"), '{"metrics":{}}');
      process.stderr.write("odd\\nodd\\nFailed to write to log: full\\nRequest Failed\\n", () => process.exit(99));
    `);
    expect(outcome).toEqual({
      exitCode: 99,
      killedBy: null,
      interrupted: false,
      linesFailed: 1,
      complaints: ["odd (2 times)", "Failed to write to log: full"],
      summary: { metrics: {} },
    });
    expect(await text(k6Files.stderr)).toBe(
      "2 x odd\n1 x Failed to write to log: full\n1 x Request Failed\n",
    );
  });

  test("that says nothing leaves no complaints, and a damaged summary is none", async () => {
    const { outcome, text } = await ran(
      `fs.writeFileSync(process.argv.at(-2).replace("raw.ndjson", "summary.json"), '{"metrics":');`,
    );
    expect(outcome).toMatchObject({ exitCode: 0, complaints: [], summary: null });
    await expect(text(k6Files.stderr)).rejects.toThrow("ENOENT");
  });

  test("that a signal ends has no status", async () => {
    const { outcome } = await ran(`process.kill(process.pid, "SIGKILL");`);
    expect(outcome).toMatchObject({ exitCode: null, killedBy: "SIGKILL", interrupted: false });
  });

  test("that is told to stop before it has begun is interrupted once it has", async () => {
    const { outcome } = await ran(
      `process.on("SIGINT", () => process.exit(105)); setInterval(() => {}, 1000); fs.writeFileSync(process.argv.at(-2), "ready");`,
      { signal: AbortSignal.abort() },
    );
    expect(outcome.interrupted).toBe(true);
    expect(outcome.exitCode === 105 || outcome.killedBy === "SIGINT").toBe(true);
  });

  test("leaves no listener behind", async () => {
    const before = process.listenerCount("exit");
    await ran("");
    expect(process.listenerCount("exit")).toBe(before);
  });
});

test("a program that is not there is named, with the cause", async () => {
  const before = process.listenerCount("exit");
  const missing = join(tmpdir(), "spillway-no-such-k6");
  await expect(ran("", { k6: missing })).rejects.toMatchObject({
    code: "K6_FAILED",
    message: expect.stringMatching(/spillway-no-such-k6 cannot be started: .*ENOENT/),
  });
  expect(process.listenerCount("exit")).toBe(before);
});

describe("lines on standard error", () => {
  test("are put together from pieces, and a last one without its end counts", () => {
    const lines = new ErrorLines();
    for (const piece of ["on", "e\ntwo  \n", "", "thr", "ee"]) lines.add(piece);
    expect(lines.text()).toBe("1 x one\n1 x two\n1 x three\n");
    expect(lines.count).toBe(3);
  });

  test("that are accounted for elsewhere are no complaints", () => {
    const lines = new ErrorLines();
    lines.add("\nRequest Failed\nsetTimeout 7 was stopped because the VU iteration was interrupted\n");
    lines.add(
      "thresholds on metrics 'checks' have been crossed\ntest run was aborted because k6 received a signal\n",
    );
    lines.add(
      "No script iterations fully finished, consider\nThe test run was short, report generation was skipped\n",
    );
    expect(lines.complaints()).toEqual([]);
    lines.add("Request Failed twice\n");
    expect(lines.complaints()).toEqual(["Request Failed twice"]);
  });

  test("are kept of a hundred kinds, each of a thousand characters, and counted beyond", () => {
    const lines = new ErrorLines();
    for (let kind = 0; kind < 120; kind++) lines.add(`${kind} ${"x".repeat(2_000)}\n`);
    lines.add(`0 ${"x".repeat(2_000)}\n`);
    const kept = lines.complaints();
    expect(kept).toHaveLength(100);
    expect(kept[0]).toBe(`0 ${"x".repeat(998)} (2 times)`);
    expect(lines.count).toBe(121);
  });
});
