// `spillway simulate` as a user runs it: what it leaves, what it says, how it ends. It takes long: whole runs, each
// with its report.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hiddenFolders } from "../../src/files/folder-writer.ts";
import { main, spillwayHere } from "../support/command.ts";
import { until } from "../support/until.ts";

let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-simulate-")));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const simulate = (...words: string[]) => spillwayHere(["simulate", ...words], { cwd: folder });
const text = (...path: string[]): Promise<string> => readFile(join(folder, ...path), "utf8");
const json = async (...path: string[]) => JSON.parse(await text(...path)) as Record<string, unknown>;

describe("a run that holds", () => {
  test("says the lines that matter and leaves a whole folder", async () => {
    const { code, stdout } = await simulate("herd", "--out", "herd");
    expect(stdout).toMatch(/^herd: 1,150 calls in .* of virtual time, seed 30$/m);
    expect(stdout).toContain("150 of 1,150 answered calls were refused");
    expect(stdout).toMatch(/herd: 13% of its calls/);
    expect(stdout).toContain("the worst 59 s");
    expect(stdout).toContain("herd/report.html");
    expect(code).toBe(0);
    const files = [
      "junit.xml",
      "pictures",
      "report.html",
      "run.json",
      "summary.json",
      "summary.md",
      "trace.ndjson",
      "verdict.json",
    ];
    expect((await readdir(join(folder, "herd"))).sort()).toEqual(files);
    expect(await json("herd", "run.json")).toMatchObject({
      driver: "simulator",
      scenario: { name: "herd", file: "herd" },
      seed: 30,
      target: null,
      command: "npx spillway simulate herd --seed 30",
      expect: { refused: ">0" },
      interrupted: false,
    });
    expect(await json("herd", "verdict.json")).toMatchObject({ verdict: "ok", violations: [] });
  });

  test("the same command leaves the same trace; another seed another one", async () => {
    for (const [out, seed] of [
      ["a", "5"],
      ["b", "5"],
      ["c", "6"],
    ] as const)
      await simulate("herd", "--seed", seed, "--duration", "70s", "--out", out);
    const [a, b, c] = await Promise.all(["a", "b", "c"].map((out) => text(out, "trace.ndjson")));
    expect(b).toBe(a);
    expect(c).not.toBe(a);
  });

  test("without --out the folder is named after scenario and time", async () => {
    await simulate("steady", "--duration", "5s");
    expect(await readdir(join(folder, "reports"))).toEqual([expect.stringMatching(/^steady-\d{8}-\d{6}$/)]);
  });

  test("--json prints the result alone on standard output", async () => {
    const { stdout, stderr } = await simulate("steady", "--duration", "20s", "--json", "--out", "json");
    expect(JSON.parse(stdout)).toMatchObject({
      folder: "json",
      summary: { scenario: "steady", figures: { refused: 0 } },
      expectations: [{ figure: "refused", held: true }, { figure: "unanswered" }, { figure: "waitP99Ms" }],
      verdict: { verdict: "ok" },
      notes: [],
    });
    expect(stderr).toContain("steady:");
  });

  test("--rules and --tokens are the run's", async () => {
    const tokens = Array.from({ length: 13 }, (_, n) => ({
      token: `secret-${n}`,
      user: `person-${n}`,
      organization: "globex",
      scopes: [],
    }));
    await writeFile(join(folder, "tokens.json"), JSON.stringify(tokens));
    const words = [
      "--duration",
      "20s",
      "--rules",
      "documented",
      "--tokens",
      "tokens.json",
      "--out",
      "documented",
    ];
    expect((await simulate("steady", ...words)).code).toBe(0);
    expect(await text("documented", "trace.ndjson")).toContain('"org":"globex","user":"person-0"');
    expect(await json("documented", "run.json")).toMatchObject({
      rules: { semantics: { graphqlCharge: { graphql: "postpaid" } } },
      command:
        "npx spillway simulate steady --seed 11 --rules documented --duration 20s --tokens tokens.json",
    });
    const entries = await readdir(join(folder, "documented"), { recursive: true, withFileTypes: true });
    for (const entry of entries.filter((each) => each.isFile()))
      expect(await readFile(join(entry.parentPath, entry.name), "utf8")).not.toContain("secret");
  });
});

describe("--no-trace", () => {
  test("counts the figures of the same run, and writes nothing", async () => {
    const before = await readdir(folder);
    const { code, stdout } = await simulate("herd", "--seed", "5", "--no-trace", "--json");
    expect(code).toBe(0);
    expect(await readdir(folder)).toEqual(before);
    await simulate("herd", "--seed", "5", "--out", "traced");
    const { figures, populations, records } = (await json("traced", "summary.json")) as Record<string, never>;
    expect(JSON.parse(stdout)).toMatchObject({
      folder: null,
      figures,
      populations,
      records,
      notes: [],
    });
    expect(JSON.parse(stdout).expectations).toContainEqual(
      expect.objectContaining({ figure: "refused", held: true }),
    );
  });

  test("says that no law was judged; a missed expectation is status 1", async () => {
    await writeFile(
      join(folder, "missed.ts"),
      `import { defineScenario, burst, rest } from "spillway/scenario";
const behaviour = burst({ call: rest("/v2/user"), size: 60, every: "7s" });
export default defineScenario({
  name: "missed", duration: "30s", populations: { all: { clients: 1, behaviour } },
  expect: { refused: "==0", overAdmission: "<1%" },
});\n`,
    );
    const { code, stdout } = await simulate("missed.ts", "--no-trace");
    expect(stdout).toContain("missed refused ==0: it was 250");
    expect(stdout).toContain("overAdmission is a verdict's: without a trace it is not expected");
    expect(stdout).toContain("No trace was kept, so no law was judged.");
    expect(code).toBe(1);
  });

  test("a folder to write to is refused", async () => {
    const { code, stderr } = await simulate("herd", "--no-trace", "--out", "nowhere");
    expect(stderr).toContain("--no-trace and --out do not go together");
    expect(code).toBe(2);
  });
});

test("--like takes start, duration, seed, rules and users from a run, and says so", async () => {
  const rules = { organization: { rest: { limit: 70 } } };
  await writeFile(join(folder, "rules.json"), JSON.stringify(rules));
  await simulate("herd", "--seed", "4", "--duration", "2m", "--rules", "rules.json", "--out", "measured");
  const { stdout, code } = await simulate("herd", "--like", "measured", "--out", "predicted");
  expect(stdout).toMatch(
    /note start, users and network are those of measured: trips of \d+ to \d+ ms, \d+ ms in the middle/,
  );
  expect(code).toBe(0);
  const [measured, predicted] = [await json("measured", "run.json"), await json("predicted", "run.json")];
  for (const member of ["seed", "startedAt", "durationMs", "rules"])
    expect(predicted[member]).toEqual(measured[member]);
  expect(await text("predicted", "report.html")).toContain("measured");
});

describe("a run that does not hold", () => {
  const scenario = (change: string) => `import { defineScenario, burst, rest } from "spillway/scenario";
export default defineScenario({
  name: "greedy",
  duration: "30s",
  populations: { greedy: { clients: 1, behaviour: burst({ call: rest("/v2/user"), size: 60, every: "7s" }) } },
  ${change}
});\n`;

  test("a missed expectation is told, and is status 1", async () => {
    await writeFile(join(folder, "greedy.ts"), scenario(`expect: { refused: "==0", unanswered: "==0" }`));
    const { code, stdout } = await simulate("greedy.ts", "--out", "greedy");
    expect(stdout).toContain("missed refused ==0: it was 250");
    expect(stdout).toContain("1 of 2 expectations met.");
    expect(code).toBe(1);
  });

  test("a call that can never be admitted is noted", async () => {
    await writeFile(
      join(folder, "hopeless.ts"),
      `import { defineScenario, burst, pipelinesQuery } from "spillway/scenario";
export default defineScenario({
  name: "hopeless",
  duration: "5s",
  rules: { user: { graphql: { limit: 100 } } },
  populations: { exports: { clients: 1, behaviour: burst({ call: pipelinesQuery(500), size: 1 }) } },
});\n`,
    );
    const { stdout } = await simulate("hopeless.ts", "--out", "hopeless");
    expect(stdout).toContain(
      "note exports: pipelines-500 costs 503, above a user's limit of 100: it is refused for ever",
    );
  });

  test("a behaviour that fails is named, and nothing half-written is left", async () => {
    const behaviour = `{ name: "mine", calls: [rest("/")], inFlightMost: 1, start: () => ({}), next() { throw new Error("oh no"); } }`;
    await writeFile(join(folder, "failing.ts"), scenario("").replace(/burst\(.*\)(?= \} \})/, behaviour));
    const { code, stderr } = await simulate("failing.ts", "--out", "failing");
    expect(stderr).toContain("SCENARIO_FAILED");
    expect(stderr).toContain("greedy/0 (mine): got oh no");
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(code).toBe(2);
    expect(existsSync(join(folder, "failing"))).toBe(false);
  });
});

test("Ctrl-C keeps what is done, judged, and is status 130", async () => {
  await writeFile(
    join(folder, "endless.ts"),
    `import { defineScenario, worker, rest } from "spillway/scenario";
const behaviour = worker({ calls: [{ call: rest("/v2/user") }], think: "1s" });
export default defineScenario({ name: "endless", duration: "5000h", populations: { all: { clients: 50, behaviour } } });\n`,
  );
  const child = spawn(process.execPath, [main, "simulate", "endless.ts", "--out", "endless"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  // Some of it is done when the trace has more than its header.
  await until(async () => {
    const [hidden = ""] = await hiddenFolders(join(folder, "endless"));
    return (await stat(join(hidden, "trace.ndjson"))).size > 10_000;
  });
  child.kill("SIGINT");
  expect(await ended).toBe(130);
  expect(said).toContain("Interrupted");
  expect(await json("endless", "run.json")).toMatchObject({ interrupted: true });
  const lines = (await text("endless", "trace.ndjson")).trimEnd().split("\n");
  expect(JSON.parse(lines.at(-1) ?? "")).toHaveProperty("received");
});
