// `--open`: which program opens a report, and that every verb that writes one has the option.
import { mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { runCommand } from "../../src/cli/command-line.ts";
import { reportOpener } from "../../src/cli/open-report.ts";
import { allVerbs } from "../../src/cli/verbs.ts";
import { program } from "../load/k6-programs.ts";

let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-open-")));
  await mkdir(join(folder, "empty"));
  for (const name of ["open", "xdg-open", "wslview"])
    await program(folder, join(name, name), `echo "$1" > '${folder}/opened'`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const pathOf = (...names: string[]) => ({ PATH: names.map((name) => join(folder, name)).join(":") });

describe("a report is opened", () => {
  test.each([
    ["darwin", ["open", "xdg-open"], "open"],
    ["linux", ["open", "xdg-open", "wslview"], "xdg-open"],
    ["linux", ["wslview"], "wslview"],
    ["freebsd", ["xdg-open"], "xdg-open"],
  ] as const)("on %s with %j by %s", async (platform, names, chosen) => {
    const started: string[][] = [];
    const start = async (...words: string[]): Promise<void> => void started.push(words);
    const open = await reportOpener(true, { env: pathOf(...names), platform, start });
    await open("reports/report.html");
    expect(started).toEqual([[join(folder, chosen, chosen), resolve("reports/report.html")]]);
  });

  test("by nothing where it is not wanted", async () => {
    const open = await reportOpener(undefined, { env: pathOf("empty") });
    await open("reports/report.html");
  });

  test("or a coded error says that no program is there", async () => {
    await expect(reportOpener(true, { env: pathOf("empty"), platform: "linux" })).rejects.toMatchObject({
      code: "OPENER_MISSING",
      exitCode: 3,
      problems: [{ path: "--open", got: "nothing", allowed: "one of xdg-open, wslview in PATH" }],
    });
  });

  test("or one that it cannot be run", async () => {
    const open = await reportOpener(true, { env: pathOf("xdg-open"), platform: "linux" });
    await rm(join(folder, "xdg-open", "xdg-open"));
    await expect(open("report.html")).rejects.toMatchObject({ code: "OPENER_MISSING" });
    await program(folder, "xdg-open/xdg-open", `echo "$1" > '${folder}/opened'`);
  });
});

describe("--open", () => {
  test("is an option of each verb that writes a report, and of no other", async () => {
    const having = (await allVerbs()).filter(({ options }) => "open" in options).map(({ name }) => name);
    expect(having.sort()).toEqual(["demo", "load", "plan", "replay", "report", "simulate", "verify"]);
  });

  test.each([
    ["simulate", ["steady", "--duration", "2s"]],
    ["plan", ["steady", "--duration", "2s", "--vary", "readers.clients=1..2", "--in-runs", "50%"]],
  ])("opens what %s has written", async (verb, words) => {
    vi.stubEnv("PATH", `${pathOf("xdg-open", "open").PATH}:${process.env["PATH"]}`);
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const out = join(folder, verb);
    await runCommand([verb, ...words, "--out", out, "--open"]);
    const opened = join(folder, "opened");
    await vi.waitFor(async () => expect(await readFile(opened, "utf8")).toBe(`${out}/report.html\n`));
  });

  test("opens the page that verify has written", async () => {
    vi.stubEnv("PATH", `${pathOf("xdg-open", "open").PATH}:${process.env["PATH"]}`);
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const trace = fileURLToPath(new URL("../golden/documented-ok.trace.ndjson", import.meta.url));
    const out = join(folder, "verdict.html");
    await runCommand(["verify", trace, "--out", join(folder, "verdict.json"), "--out", out, "--open"]);
    const opened = join(folder, "opened");
    await vi.waitFor(async () => expect(await readFile(opened, "utf8")).toBe(`${out}\n`));
  });

  test("needs a page: verify without an .html file has none", async () => {
    const words = ["verify", "x.ndjson", "--out", "verdict.json", "--open"];
    await expect(runCommand(words)).rejects.toMatchObject({ code: "USAGE" });
  });

  test("needs a report: replay without --out has none", async () => {
    await expect(runCommand(["replay", "x.log", "--open"])).rejects.toMatchObject({ code: "USAGE" });
  });
});
