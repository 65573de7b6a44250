// Verbs in this process: what they say at last, and with which status they end.
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { spillwayHere } from "../support/command.ts";

const golden = fileURLToPath(new URL("../golden/", import.meta.url));
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-here-"));
  for (const name of ["without-rules-documented-ok", "documented-ok", "one-extra-bad"])
    await cp(`${golden}${name}.trace.ndjson`, join(folder, `${name}.ndjson`));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
const here = (command: string) => spillwayHere(command.split(" "), { cwd: folder });

describe("simulate", () => {
  test("without a trace says figures, and keeps nothing", async () => {
    const { stdout, code } = await here("simulate steady --duration 5s --seed 3 --no-trace");
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^steady: [\d,]+ calls in .* of virtual time, seed 3$/);
    expect(lines.at(-1)).toBe("  No trace was kept, so no law was judged.");
    expect(code).toBe(0);
    const { stdout: json } = await here("simulate steady --duration 5s --seed 3 --no-trace --json");
    expect(JSON.parse(json)).toMatchObject({
      folder: null,
      figures: { calls: expect.any(Number) },
      expectations: expect.any(Array),
    });
  });

  test("names the fault, and how to go on without a scenario", async () => {
    const faulty = await here("simulate herd --duration 10s --no-trace --fault one-extra");
    expect(faulty.stdout).toContain("note the fault one-extra is injected: ");
    for (const option of ["--out x", "--open", "--adapter x.js"])
      expect(await here(`simulate steady --no-trace ${option}`)).toMatchObject({ code: 2, stdout: "" });
    const { code, stderr } = await here("simulate --no-trace");
    expect([code, stderr.split("\n")[0]]).toEqual([2, "error USAGE name a scenario"]);
  });

  test("keeps a run, and repeats it by its command", async () => {
    const { stdout, code } = await here("simulate steady --duration 5s --seed 3 --out kept");
    expect(code).toBe(0);
    expect(stdout.trimEnd().split("\n").at(-1)).toBe("  kept/report.html");
    const record = JSON.parse(await readFile(join(folder, "kept", "run.json"), "utf8"));
    expect(record).toMatchObject({
      command: "npx spillway simulate steady --seed 3 --duration 5s",
      interrupted: false,
    });
  });
});

describe("verify", () => {
  test.each([
    ["documented-ok", 0],
    ["without-rules-documented-ok", 0],
    ["one-extra-bad", 1],
  ])("%s ends with %s", async (name, code) => {
    const ended = await here(`verify ${name}.ndjson`);
    const asked = ended.stdout.split("\n").filter((line) => line.trimStart().startsWith("asked "));
    expect([ended.code, asked.length > 0]).toEqual([code, name === "without-rules-documented-ok"]);
    const { stdout } = await here(`verify ${name}.ndjson --json`);
    const { verdict, questions = [] } = JSON.parse(stdout);
    expect(verdict).toBe(code === 1 ? "violated" : "ok");
    expect(questions.length).toBe(asked.length);
  });
});

test.each([
  ["check --law conserved --runs 3 --seed 7", 0, /no law violated/],
  ["check --law conserved --runs 20 --seed 7 --fault double-count", 1, /1 law violated/],
  ["swarm 1 --seed 5", 0, /./],
  ["scenarios", 0, /ci-fleet/],
  ["figures", 0, /refusedShare/],
  ["policy list", 0, /github/],
  ["policy show slack", 0, /at least so many calls a minute/],
  ["policy show nobody", 2, /^$/],
])("%s ends with %s", async (command, code, words) => {
  const ended = await here(command);
  expect([ended.code, words.test(ended.stdout)]).toEqual([code, true]);
});
