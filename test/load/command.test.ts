// The verbs load, bundle and doctor as a user types them. It takes long: runs of seconds in real time.
// @module-tag long
// @module-tag real-time
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ended, spillway, spillwayHere } from "../support/command.ts";
import {
  countingService,
  fakeTarget,
  k6,
  newFolder,
  removed,
  scenarioFile,
  shortRules,
  tokensOf,
  wideRules,
} from "./support.ts";

let folder = "";
let env: NodeJS.ProcessEnv = {};
beforeAll(async () => {
  folder = await newFolder();
  const program = await k6().catch(() => null);
  env = { ...process.env, K6_PATH: program?.path ?? "" };
  await writeFile(join(folder, "short.json"), JSON.stringify(shortRules));
  await writeFile(join(folder, "wide.json"), JSON.stringify(wideRules));
  await writeFile(join(folder, "tokens.json"), JSON.stringify(tokensOf(4)));
});
afterAll(() => removed(folder));

/** In a process of its own. */
const typed = (words: readonly string[], given: NodeJS.ProcessEnv = env): Promise<Ended> =>
  spillway(words, { cwd: folder, env: given });
/** In this process. */
const typedHere = (words: readonly string[], given: NodeJS.ProcessEnv = env): Promise<Ended> =>
  spillwayHere(words, { cwd: folder, env: given });
const json = async (...path: string[]) =>
  JSON.parse(await readFile(join(folder, ...path), "utf8")) as Record<string, unknown>;

const busy = (duration: string, expect_: string): string =>
  `duration: "${duration}", populations: { four: { clients: 4, behaviour: worker({ calls: [{ call: user }], think: "20ms" }) } }, expect: ${expect_}`;

/** A PATH on which there is nothing but `sh` and what it needs. */
async function barePath(): Promise<string> {
  const bin = join(folder, "bin");
  await mkdir(bin, { recursive: true });
  return bin;
}

describe("spillway load", { tags: ["k6"] }, () => {
  test("leaves a whole run folder, and is 0 where all held", async () => {
    const path = await scenarioFile(
      folder,
      "held",
      busy("2s", `{ refusedShare: "<99%", unanswered: "==0" }`),
    );
    const { code, stdout, stderr } = await typed(["load", path, "--rules", "short.json", "--out", "held"]);
    expect(stderr).not.toContain("error");
    expect(stdout).toMatch(
      /^held: \d+ calls to http:\/\/127\.0\.0\.1:\d+ in [\d.]+ s, by k6 [\d.]+, seed 1$/m,
    );
    expect(stdout).toMatch(/^k6 [\d.]+ drives the load\.\n/);
    expect(stdout).toContain("2 of 2 expectations met.");
    expect(stdout).toContain("No law is broken");
    expect(stdout).toContain("held/report.html");
    expect(code).toBe(0);
    expect((await readdir(join(folder, "held"))).sort()).toEqual([
      "junit.xml",
      "k6",
      "pictures",
      "report.html",
      "run.json",
      "summary.json",
      "summary.md",
      "trace.ndjson",
      "verdict.json",
    ]);
    expect((await readdir(join(folder, "held", "k6"))).sort()).toEqual(["dashboard.html", "summary.json"]);
    expect(await json("held", "run.json")).toMatchObject({
      driver: "k6",
      scenario: { name: "held", file: path },
      command: `npx spillway load ${path} --seed 1 --rules short.json`,
      interrupted: false,
      notes: [],
      rules: shortRules,
    });
  });

  test("--json is the result alone; an expectation that is missed is 1, and named", async () => {
    const path = await scenarioFile(folder, "missed", busy("1s", `{ refusedShare: "<1%" }`));
    const { code, stdout, stderr } = await typedHere([
      "load",
      path,
      "--rules",
      "short.json",
      "--out",
      "missed",
      "--json",
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      folder: "missed",
      crossed: ["spillway_refused rate<0.01"],
      failure: null,
      expectations: [{ figure: "refusedShare", bound: "<1%", held: false }],
      verdict: { verdict: "ok" },
    });
    expect(stderr).toContain("missed refusedShare <1%");
    expect(stderr).toContain("k6's threshold spillway_refused rate<0.01 was crossed");
    expect(code).toBe(1);
  });

  test("a law that is broken is 1, and named", async () => {
    const path = await scenarioFile(folder, "broken", busy("1s", "{}"));
    const service = await countingService(shortRules, tokensOf(4));
    // It claims windows of a minute and has windows of a second: nothing wrong on one answer, all of it together.
    const words = ["load", path, "--target", service.url, "--tokens", "tokens.json", "--out", "broken"];
    const claimed = {
      organization: { rest: { limit: 60, windowSeconds: 60 } },
      user: { rest: { limit: 25, windowSeconds: 60 } },
    };
    await writeFile(join(folder, "claimed.json"), JSON.stringify(claimed));
    const { code, stdout } = await typedHere([...words, "--rules", "claimed.json", "--duration", "2s"]);
    await service.close();
    expect(stdout).toMatch(/laws? (?:is|are) broken: /);
    expect(code).toBe(1);
  });

  test.each<[string, () => Promise<readonly string[]>, number, RegExp]>([
    ["no scenario", async () => ["load"], 2, /load needs SCENARIO/],
    ["a scenario that is none", async () => ["load", "herds"], 2, /did you mean herd\?/],
    [
      "a target without tokens",
      async () => ["load", "herd", "--target", "http://127.0.0.1:1"],
      2,
      /--target needs --tokens/,
    ],
    [
      "tokens without a target",
      async () => ["load", "herd", "--tokens", "tokens.json"],
      2,
      /--tokens needs --target/,
    ],
    [
      "a host that is not allowed",
      async () => ["load", "herd", "--target", "http://192.0.2.1", "--tokens", "tokens.json"],
      2,
      /--target.*: got 192\.0\.2\.1, which is elsewhere, allowed: this machine, or --allow-host 192\.0\.2\.1/,
    ],
    ["a seed that is none", async () => ["load", "herd", "--seed", "1.5"], 2, /--seed/],
    [
      "a duration that is none",
      async () => ["load", "herd", "--duration", "soon"],
      2,
      /--duration.*: got "soon"/,
    ],
    [
      "too few tokens",
      async () => ["load", "herd", "--target", "http://127.0.0.1:1", "--tokens", "tokens.json"],
      2,
      /tokens of 30 users or more/,
    ],
    [
      "a target that refuses",
      async () => {
        const path = await scenarioFile(folder, "refused", busy("1s", "{}"));
        const closed = await fakeTarget(() => {});
        await closed.close();
        return ["load", path, "--target", closed.url, "--tokens", "tokens.json"];
      },
      3,
      /TARGET_UNREACHABLE.*connection refused/s,
    ],
  ])("%s", async (_, words, code, message) => {
    const ended = await spillwayHere(await words(), { cwd: folder });
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr).not.toMatch(/^\s+at /m);
    expect(ended.code).toBe(code);
  });

  test("no k6 where it must drive: 3, with advice", async () => {
    const { code, stderr } = await spillwayHere(["load", "herd", "--driver", "k6"], {
      cwd: folder,
      env: await withoutK6(),
    });
    expect(stderr).toMatch(/K6_MISSING.*k6 is not installed/);
    expect(stderr).toContain("npx spillway doctor --get-k6 gets k6");
    expect(code).toBe(3);
  });

  test("another run that is none, before anything is loaded: 2", async () => {
    const words = ["load", "herd", "--duration", "1h", "--compare", "nosuch", "--out", "uncompared"];
    const { code, stderr } = await spillwayHere(words, { cwd: folder, env: await withoutK6() });
    expect(stderr).toMatch(/FILE_UNREADABLE.*nosuch: got no such folder/s);
    expect(code).toBe(2);
    expect(await readdir(folder)).not.toContain("uncompared");
  });
});

/** An environment in which no k6 is found. */
async function withoutK6(): Promise<NodeJS.ProcessEnv> {
  return { ...env, PATH: await barePath(), XDG_CACHE_HOME: join(folder, "empty"), K6_PATH: "" };
}

describe("spillway load with Node alone", () => {
  test("says so, leaves a whole run folder, and is 0 where all held", async () => {
    const path = await scenarioFile(
      folder,
      "alone",
      busy("2s", `{ refusedShare: "<99%", unanswered: "==0" }`),
    );
    const words = ["load", path, "--rules", "short.json", "--out", "alone"];
    const { code, stdout, stderr } = await typed(words, await withoutK6());
    expect(stderr).not.toContain("error");
    const [first, headline] = stdout.split("\n");
    expect(first).toMatch(/^k6 was not found, so Node drives the load .*spillway doctor --get-k6$/);
    expect(headline).toMatch(
      /^alone: \d+ calls to http:\/\/127\.0\.0\.1:\d+ in [\d.]+ s, by Node \d+\.\d+\.\d+, seed 1(?:; the generator was too slow)?$/,
    );
    expect(stdout).toMatch(/Calls left late: half of them [\d.]+ m?s, 99% [\d.]+ m?s, at most [\d.]+ m?s\./);
    expect(stdout).toContain("2 of 2 expectations met.");
    expect(stdout).toContain("No law is broken");
    expect(code).toBe(0);
    const record = await json("alone", "run.json");
    expect(record).toMatchObject({ driver: "node", interrupted: false, rules: shortRules });
    expect(record["lateness"]).toMatchObject({ p50Ms: expect.any(Number), maxMs: expect.any(Number) });
    expect(Object.keys(record["versions"] as object)).toEqual(["spillway", "node"]);
    expect(await readdir(join(folder, "alone"))).not.toContain("k6");
    const page = await readFile(join(folder, "alone", "report.html"), "utf8");
    expect(page).toContain("measured by Node");
    expect(page).toContain("Calls left late");
  });

  test("an answer that fails a check is 1, and named", async () => {
    const path = await scenarioFile(folder, "checked", busy("1s", "{}"));
    const service = await countingService(shortRules, tokensOf(4));
    const words = ["load", path, "--target", service.url, "--tokens", "tokens.json", "--out", "checked"];
    const { code, stdout } = await typedHere([
      ...words,
      "--rules",
      "wide.json",
      "--driver",
      "node",
      "--json",
    ]);
    await service.close();
    const result = JSON.parse(stdout) as { checks: { name: string }[]; notes: string[] };
    expect(result.checks[0]?.name).toBe("limit-agrees: RateLimit-Limit is not that of the rules");
    // On a busy machine the first note may be that the generator was too slow.
    expect(result.notes.join("\n")).toMatch(/answers failed the check limit-agrees/);
    expect(code).toBe(1);
  });
});

test("where nothing was measured, no trace is offered for judgement", async () => {
  const behaviour = `{ ...worker({ calls: [{ call: user }] }), next() { throw new Error("out of cheese"); } }`;
  const path = await scenarioFile(
    folder,
    "unmeasured",
    `duration: "20s", populations: { broken: { clients: 1, behaviour: ${behaviour} } }`,
  );
  const { code, stderr } = await typedHere(["load", path, "--driver", "node", "--out", "unmeasured"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("out of cheese")]);
  expect(stderr).not.toContain("spillway verify");
});

test("a disk that is full at the end is told by the folder that was named, and what was measured is judged", async () => {
  // No file may have more than so many blocks of 512 bytes: the trace and the scenario's module have fewer, the page has more.
  const program = ["sh", "-c", 'ulimit -f 225; exec "$0" "$@"'];
  const words = ["load", "ci-fleet", "--duration", "4s", "--driver", "node", "--out", "full"];
  const { code, stderr } = await spillway(words, { cwd: folder, env, program });
  expect([code, stderr]).toEqual([2, expect.stringContaining("full/report.html: got EFBIG")]);
  expect(stderr).toContain("next npx spillway verify full judges what was measured until then");
  expect(stderr).not.toContain(".unfinished");
  expect((await typedHere(["verify", "full"])).stdout).toContain("this run did not end");
});

describe("spillway bundle", () => {
  test("writes one file, and says how to run it", async () => {
    const { code, stdout } = await typedHere(["bundle", "herd", "-o", "herd.js"]);
    expect(stdout).toContain("k6 run -e TARGET=http://127.0.0.1:4100");
    expect(await readFile(join(folder, "herd.js"), "utf8")).toMatch(/^\/\/ Scenario herd/);
    expect(code).toBe(0);
  });

  test("of another API's clients, with its policy in the file", async () => {
    const { code } = await typedHere(["bundle", "github", "--policy", "github", "-o", "github.js"]);
    const text = await readFile(join(folder, "github.js"), "utf8");
    expect(/"policy": \{ "version": 2, "name": "github"/.test(text)).toBe(true);
    expect(code).toBe(0);
    const { stderr } = await typedHere(["bundle", "github", "--policy", "githob", "-o", "none.js"]);
    expect(stderr).toContain("did you mean github?");
  });

  test("not into a directory", async () => {
    await mkdir(join(folder, "taken"));
    const { code, stderr } = await typedHere(["bundle", "herd", "-o", "taken"]);
    expect(stderr).toMatch(/FILE_UNWRITABLE.*a directory/s);
    expect(code).toBe(2);
  });

  test("nor a scenario that needs Node", async () => {
    const path = join(folder, "reading.ts");
    await writeFile(
      path,
      `import { readFileSync } from "node:fs";\nimport { defineScenario, poller, rest } from "spillway/scenario";\nreadFileSync("/dev/null");\nexport default defineScenario({ name: "reading", duration: "1s", populations: { one: { clients: 1, behaviour: poller({ every: "1s", call: rest("/v2/user") }) } } });\n`,
    );
    const { code, stderr } = await typedHere(["bundle", path]);
    expect(stderr).toMatch(/SCENARIO_INVALID.*cannot be bundled for k6/);
    expect(stderr).toContain("reading.ts:1");
    expect(code).toBe(2);
  });
});

describe("spillway doctor", () => {
  test("is 0 where all is there, and says where", { tags: ["k6"] }, async () => {
    const { code, stdout } = await typedHere(["doctor"]);
    expect(stdout).toMatch(/^ok node +\d+\./m);
    expect(stdout).toContain(`at ${env["K6_PATH"]} (K6_PATH)`);
    expect(stdout).toMatch(/^ok esbuild/m);
    expect(stdout).toMatch(/^ok reports/m);
    expect(await readdir(folder)).not.toContain("reports");
    expect(code).toBe(0);
  });

  test("is 0 where k6 is missing, for Node drives then, and says how to get it; --json for scripts", async () => {
    const given = { ...env, PATH: await barePath(), XDG_CACHE_HOME: join(folder, "empty"), K6_PATH: "" };
    const { code, stdout } = await typedHere(["doctor", "--json"], given);
    const { ok, findings } = JSON.parse(stdout) as {
      ok: boolean;
      findings: { name: string; state: string; advice: string[] }[];
    };
    expect(ok).toBe(true);
    expect(findings.map(({ name, state }) => [name, state])).toEqual([
      ["node", "ok"],
      ["k6", "optional"],
      ["go", "optional"],
      ["esbuild", "ok"],
      ["duckdb", "ok"],
      ["reports", "ok"],
    ]);
    expect(findings[1]?.advice.join("\n")).toContain("package manager");
    expect(code).toBe(0);
  });

  test("is 3 where reports cannot be written", async () => {
    const closed = await newFolder();
    await writeFile(join(closed, "reports"), "a file in the way");
    const { code, stdout } = await spillwayHere(["doctor"], { cwd: closed, env });
    expect(stdout).toMatch(/^no reports .* cannot be written \(ENOTDIR\)/m);
    expect(code).toBe(3);
    await removed(closed);
  });
});
