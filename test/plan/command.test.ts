// `spillway plan` as a user runs it: what it says and leaves, on how many threads, and how it goes on. It takes long:
// an answer takes hundreds of runs, and Ctrl-C and threads take processes.
// @module-tag long
import { spawn } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { main, spillway, spillwayHere } from "../support/command.ts";

let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-plan-")));
  await writeFile(join(folder, "crowd.ts"), scenario("crowd", "10s"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Each of so many clients asks once; of more than 20 the rest are refused. */
const scenario = (
  name: string,
  duration: string,
  more = "",
) => `import { burst, defineScenario, rest } from "spillway/scenario";
export default defineScenario({
  name: "${name}",
  duration: "${duration}",
  rules: { organization: { rest: { limit: 20 } } },
  populations: { crowd: { clients: 10, startWithin: "5s", behaviour: burst({ call: rest("/v2/user"), size: 1${more} }) } },
});\n`;

/** In threads where a number of them is asked for. */
const plan = (...words: string[]) => {
  const threads = words.includes("--workers");
  const workers = threads ? [] : ["--workers", "1"];
  return spillwayHere(["plan", ...words, ...workers], { cwd: folder, threads });
};
const text = (...path: string[]): Promise<string> => readFile(join(folder, ...path), "utf8");
const question = ["crowd.ts", "--vary", "crowd.clients=1..60", "--until", "refused==0"];
/** The same of fewer crowds, and for more than half of the runs, which fewer runs answer. */
const mostly = ["crowd.ts", "--vary", "crowd.clients=15..25", "--until", "refused==0", "--in-runs", "50%"];

let whole: ReturnType<typeof plan> | undefined;
/** Answers the question once; later folders are copies. @returns what was said then */
async function answered(out: string): ReturnType<typeof plan> {
  whole ??= plan(...question, "--out", "whole");
  const said = await whole;
  if (out !== "whole") await cp(join(folder, "whole"), join(folder, out), { recursive: true });
  return said;
}

describe("an answer", () => {
  test("is said in a sentence, with a table and where the rest is; status 0", async () => {
    const { code, stdout } = await answered("whole");
    expect(stdout).toContain(
      "crowd.clients = 20 is the largest for which refused ==0 surely holds in 95% of runs; at 21 it fails (95% confidence).",
    );
    expect(stdout).toMatch(/^ {2}20 .*holds \(72 of 72 runs\)$/m);
    expect(stdout).toMatch(/^ {2}1 .*held so far \(8 of 8 runs\)$/m);
    expect(stdout).toMatch(/^ {2}60 .*█+ .*40 .*fails \(0 of 2 runs\)$/m);
    expect(stdout).toContain("--find says otherwise");
    expect(code).toBe(0);
    expect(await readdir(join(folder, "whole"))).toEqual(
      expect.arrayContaining(["plan.json", "points.csv", "points.ndjson"]),
    );
    expect(JSON.parse(await text("whole", "plan.json"))).toMatchObject({
      format: "spillway-plan",
      answer: { kind: "value", value: 20 },
      question: { command: "npx spillway plan crowd.ts --vary crowd.clients=1..60 --until refused==0" },
    });
  });

  test("is the same, byte for byte, on one thread and on three", async () => {
    // More than one thread does alone before it is given others.
    const long = [
      "ci-fleet",
      "--vary",
      "agents.clients=10..25",
      "--until",
      "agents.refused<1%",
      "--storm",
      "burst=5,50",
      "--duration",
      "4m",
    ];
    const results = [];
    for (const workers of ["1", "3"]) {
      await plan(
        ...long,
        "--in-runs",
        "50%",
        "--replications",
        "6",
        "--workers",
        workers,
        "--out",
        `on-${workers}`,
      );
      results.push(await text(`on-${workers}`, "plan.json"));
    }
    expect(results[1]).toBe(results[0]);
    expect(JSON.parse(results[0] ?? "")).toMatchObject({
      answer: { kind: "value" },
      storm: { trigger: "burst" },
    });
  });

  test("that no value holds is status 1", async () => {
    const { code, stdout } = await plan(
      "crowd.ts",
      "--vary",
      "crowd.clients=21..40",
      "--until",
      "refused==0",
      "--out",
      "none",
    );
    expect(stdout).toContain(
      "refused ==0 holds in 95% of runs at none of 9 points tried in crowd.clients = 21..40.",
    );
    expect(code).toBe(1);
  });

  test("--json prints the result alone, --csv the points alone", async () => {
    const json = await plan(...mostly, "--json", "--out", "json");
    expect(JSON.parse(json.stdout)).toMatchObject({ format: "spillway-plan", version: 1, folder: "json" });
    expect(json.stderr).toContain("is the largest");
    const csv = await plan(...mostly, "--csv", "--out", "csv");
    expect(csv.stdout.split("\r\n")[0]).toMatch(
      /^crowd\.clients,replications,held,held_share_low,held_share_high,state,refused,/,
    );
    expect(csv.stdout).toBe(await text("csv", "points.csv"));
  });

  test("a heat map, a storm and a comparison are drawn", async () => {
    const map = await plan(
      "crowd.ts",
      "--vary",
      "crowd.clients=10..30:10",
      "--vary",
      "rules.organization.rest.limit=10..30:10",
      "--until",
      "refused==0",
      "--out",
      "map",
    );
    expect(map.stdout).toMatch(/^ {2}30 +■ 0 +■ 0 +■ 0$/m);
    expect(map.stdout).toMatch(/^ {2}10 +■ 0 +· 10 +· 20$/m);
    const herd = await plan(
      "herd",
      "--compare",
      "--storm",
      "outage=20s",
      "--replications",
      "6",
      "--out",
      "herd",
    );
    expect(herd.stdout).toMatch(/^ {2}outage of 20 s +\S+ .*recovers$/m);
    expect(herd.stdout).toMatch(
      /30 herd: waiting for the reset alone refuses .*% in the first second after it/,
    );
    expect(herd.stdout).toMatch(/^ {2}waitReset\+0\.\.5s +as they are +[\d.]+%/m);
    expect(herd.code).toBe(0);
  });
});

describe("going on", () => {
  test("from a file whose last line was cut off gives the same bytes, and runs only what is missing", async () => {
    await answered("cut");
    const lines = (await text("whole", "points.ndjson")).trimEnd().split("\n");
    const kept = lines.slice(0, 31);
    await writeFile(join(folder, "cut", "points.ndjson"), `${kept.join("\n")}\n${lines[31]?.slice(0, 25)}`);
    await rm(join(folder, "cut", "plan.json"));
    const { code } = await plan(...question, "--out", "cut", "--resume");
    expect(code).toBe(0);
    expect(await text("cut", "plan.json")).toBe(await text("whole", "plan.json"));
    const resumed = (await text("cut", "points.ndjson")).trimEnd().split("\n");
    expect(resumed.slice(0, 31)).toEqual(kept);
    expect(resumed.toSorted()).toEqual(lines.toSorted());
  });

  test("with more replications takes over what is there", async () => {
    await plan(...mostly, "--replications", "16", "--out", "few");
    const { code } = await plan(...mostly, "--replications", "32", "--out", "few", "--resume");
    expect(code).toBe(0);
    expect(JSON.parse(await text("few", "plan.json"))).toMatchObject({ question: { replicationsMost: 32 } });
  });

  test.each([
    ["another seed", ["--seed", "5"], "seed", "1"],
    ["another goal", ["--until", "calls>0"], "until", '["refused==0"]'],
    ["a storm", ["--storm", "burst=5", "--duration", "5m"], "storm", "null"],
  ])("from a file of another question is refused: %s", async (_, words, field, got) => {
    await answered(`other-${field}`);
    const { code, stderr } = await plan(...question, ...words, "--out", `other-${field}`, "--resume");
    expect(stderr).toContain("RESUME_INVALID");
    expect(stderr).toContain(`${field}: got ${got}`);
    expect(code).toBe(2);
  });

  test("from a file of another scenario of the same name is refused, and leaves the file as it was", async () => {
    await writeFile(join(folder, "changing.ts"), scenario("changing", "10s"));
    const words = ["changing.ts", ...mostly.slice(1), "--out", "changing"];
    await plan(...words);
    const before = await text("changing", "points.ndjson");
    await writeFile(join(folder, "changing.ts"), scenario("changing", "10s", ', every: "4s"'));
    const { code, stderr } = await plan(...words, "--resume");
    expect(stderr).toMatch(/digest: got "[0-9a-f]{8}/);
    expect(code).toBe(2);
    expect(await text("changing", "points.ndjson")).toBe(before);
  });

  test.each([
    ["no folder", [], "--resume: got no --out"],
    ["an empty folder", ["--out", "nothing-here"], "points.ndjson: got no such file"],
  ])("from %s is refused", async (_, words, message) => {
    const { code, stderr } = await plan(...question, ...words, "--resume");
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  test("from a file that is broken in the middle is refused, naming the line", async () => {
    await answered("broken");
    const lines = (await text("broken", "points.ndjson")).split("\n");
    lines[3] = '{"job": 5}';
    await writeFile(join(folder, "broken", "points.ndjson"), lines.join("\n"));
    const { code, stderr } = await plan(...question, "--out", "broken", "--resume");
    expect(stderr).toContain("points.ndjson:4: got ");
    expect(code).toBe(2);
  });
});

test.each(["1", "2"])("Ctrl-C keeps what is done and says how to go on, with %s workers", async (workers) => {
  await writeFile(join(folder, "long.ts"), scenario("long", "2m", ', every: "1s"'));
  const out = `long-${workers}`;
  const words = [
    "long.ts",
    "--vary",
    "crowd.clients=100..1000",
    "--until",
    "refused==0",
    "--replications",
    "2000",
  ];
  const child = spawn(process.execPath, [main, "plan", ...words, "--workers", workers, "--out", out], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  await untilLines(join(folder, out, "points.ndjson"), 12);
  child.kill("SIGINT");
  expect(await ended).toBe(130);
  expect(said).toContain("Interrupted: what was done is kept. Go on with");
  expect(said).toContain(`spillway plan long.ts --vary crowd.clients=100..1000`);
  expect(said).toContain(`--out ${out} --resume`);
  const lines = (await text(out, "points.ndjson")).trimEnd().split("\n");
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  expect(await readdir(join(folder, out))).toEqual(["points.ndjson"]);
});

/** Waits until a file has so many lines; the test's own time-out bounds it. */
async function untilLines(path: string, least: number): Promise<void> {
  for (;;) {
    const content = await readFile(path, "utf8").catch(() => "");
    if (content.split("\n").length > least) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("what cannot be used", () => {
  test.each([
    [["--vary", "crowd.clinets=1..5"], '"crowd.clients", if that was meant'],
    [["--vary", "crowd.clients=1..5", "--until", "refsed<1%"], '"refused", if that was meant'],
    [[], "what to vary"],
    [["--vary", "crowd.clients=1..5", "--workers", "0"], "from 1 to 256"],
    [["--vary", "crowd.clients=1..5", "--replications", "2"], "6 to 10000"],
    [["--vary", "crowd.clients=1..5", "--replications", "many"], "--replications needs a number"],
  ])("%j", async (words, message) => {
    const { code, stdout, stderr } = await plan("crowd.ts", ...words);
    expect(stderr).toContain(message);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  test("an --out that is a file is refused, and stays as it is", async () => {
    await writeFile(join(folder, "a-file"), "mine");
    const { code, stderr } = await plan(...question, "--out", "a-file");
    expect(stderr).toContain("FILE_UNWRITABLE");
    expect(code).toBe(2);
    expect(await text("a-file")).toBe("mine");
  });

  test.each([
    ["the first thread", "1", "threadId === 1"],
    ["another thread", "2", "threadId > 1"],
  ])(
    "a behaviour that fails in %s is told as simulate tells it, and what was done is kept",
    async (_, workers, where) => {
      const failing = scenario("failing", "30m")
        .replace("import", 'import { threadId } from "node:worker_threads";\nimport')
        .replace(
          /behaviour: (burst\(.*\))(?= \} \})/,
          `behaviour: { ...$1, name: "mine", next(record, event, out) { if (${where}) throw new Error("oh no"); out.send(0, event.nowMs + 100); } }`,
        );
      await writeFile(join(folder, `failing-${workers}.ts`), failing);
      const out = `failing-${workers}`;
      const words = [`${out}.ts`, ...question.slice(1), "--workers", workers, "--out", out];
      const { code, stderr } = await spillway(["plan", ...words], { cwd: folder });
      expect(stderr).toContain("SCENARIO_FAILED");
      expect(stderr).toMatch(/crowd\/\d+ \(mine\): got oh no/);
      expect(code).toBe(2);
      expect(await readdir(join(folder, out))).toEqual(["points.ndjson"]);
    },
  );
});
