// Code of the user's that does not behave, as a user meets it: it is named, it can be interrupted, and it neither
// hangs the command nor ends it without a word. It takes long: each case starts a thread, and those of signals a
// process, which ends code that does not return after 2 s.
// @module-tag long
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ended, spillway, spillwayHere } from "../support/command.ts";

/** A scenario whose behaviour runs this statement at its 40th event, or at another; each client calls every so many ms. */
const scenario = (statement: string, everyMs = 500, at = 40): string => `
import { defineScenario, rest } from "spillway/scenario";
let events = 0;
export default defineScenario({ name: "mine", duration: "90s", populations: { agents: { clients: 3, behaviour: {
  name: "own", calls: [rest("/v2/user")], inFlightMost: 1, start: () => ({}),
  next(record, event, out) {
    events += 1;
    if (events === ${at}) { ${statement} }
    out.send(0, event.nowMs + ${everyMs});
  },
} } } });
`;

/** A limiter whose fifth decision runs this statement. */
const adapter = (statement: string): string => `
let calls = 0;
export default { name: "mine", algorithm: "fixed-window", claims: "all", create: () => ({
  decide() { calls += 1; if (calls === 5) { ${statement} } return { admitted: true }; },
}) };
`;

/** The word that is waited for; then a loop that never ends, nor returns to its caller, and leaves the processor to others. */
const loop = `console.log("looping"); for (const cell = new Int32Array(new SharedArrayBuffer(4)); ; ) Atomics.wait(cell, 0, 0, 5);`;
const later = `setImmediate(() => { throw new TypeError("too late"); });`;

const files: Readonly<Record<string, string>> = {
  // At the top level of any module.
  "loop.ts": loop,
  "await.ts": "export default 1;\nawait new Promise(() => {});",
  "waits.ts": "setInterval(() => {}, 1000);\nawait new Promise(() => {});",
  "exit.ts": "const one = 1;\nprocess.exit(one - 1);",
  "throw.ts": `\n\nthrow new Error("no luck");`,
  "reject.ts": `Promise.reject(new TypeError("nobody listens"));\nawait new Promise((done) => setTimeout(done, 60_000));`,
  "clients-loop.ts": scenario(loop),
  "clients-exit.ts": scenario("process.exit(0);"),
  "clients-reject.ts": scenario(`Promise.reject(new TypeError("nobody listens"));`),
  "clients-null.ts": scenario("queueMicrotask(() => { throw null; });"),
  "limiter-loop.ts": adapter(loop),
  "limiter-exit.ts": adapter("process.exit(0);"),
  "limiter-later.ts": adapter(`${later} return new Promise(() => {});`),
  "limiter-native.ts": `import { execFileSync } from "node:child_process";\n${adapter(`console.log("looping"); execFileSync(process.execPath, ["-e", "setTimeout(() => {}, 30_000)"], { stdio: "ignore" });`)}`,
  "clients.ts": scenario(""),
  "busy.ts": scenario(`console.log("working");`, 50),
  "talkative.ts": scenario(`console.log("working");`, 500, 1),
  "busy-loop.ts": scenario(loop, 50),
  "busy-exit.ts": scenario("process.exit(0);", 50),
};

let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-user-code-")));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Every verb that imports a file of the user's. */
const verbs: Readonly<Record<string, (file: string) => readonly string[]>> = {
  "check --adapter": (file) => ["check", "--runs", "2", "--adapter", file],
  "simulate --adapter": (file) => ["simulate", "steady", "--adapter", file, "--out", `of-${file}`],
  swarm: (file) => ["swarm", "2", "--adapter", file],
  simulate: (file) => ["simulate", `./${file}`, "--out", `run-${file}`],
  plan: (file) => ["plan", `./${file}`, "--vary", "agents.clients=1..3", "--out", `plan-${file}`],
  load: (file) => ["load", `./${file}`, "--out", `load-${file}`],
  bundle: (file) => ["bundle", `./${file}`],
  demo: (file) => ["demo", "--scenario", `./${file}`],
};
const named = (...names: readonly string[]) =>
  names.map((name) => [name, verbs[name] as (file: string) => readonly string[]] as const);

const run = (
  words: readonly string[],
  { signals, after = "looping" }: { signals?: readonly NodeJS.Signals[]; after?: string } = {},
): Promise<Ended> => spillway(words, { cwd: folder, ...(signals && { signals: { after, send: signals } }) });
const runHere = (words: readonly string[]): Promise<Ended> =>
  spillwayHere(words, { cwd: folder, threads: true });

describe("while a file is imported", () => {
  const mistakes = [
    ["await.ts", "await.ts: got an await at its top level that never ends"],
    ["exit.ts", "exit.ts:2: got process.exit(0)"],
    ["throw.ts", "throw.ts:3: got Error: no luck"],
  ] as const;
  /** One verb that imports a limiter, and one that imports a scenario, meet all mistakes; each other verb one, in turn. */
  const meetsAll = ["check --adapter", "simulate"];

  describe.each(Object.keys(verbs).map((name, turn) => [name, turn] as const))("%s", (name, turn) => {
    const met = mistakes.filter((_, index) => meetsAll.includes(name) || index === turn % mistakes.length);
    test.each(met)("%s: 2, and the file is named", async (file, said) => {
      const { code, stdout, stderr } = await runHere(verbs[name]?.(file) ?? []);
      expect(stderr).toMatch(/^error (SCENARIO|ADAPTER)_INVALID /m);
      expect(stderr).toContain(said);
      expect(code).toBe(2);
      expect(stdout).toBe("");
    });
  });

  test.each(["loop.ts", "waits.ts"])("%s is given up after --import-timeout: 2", async (file) => {
    const { code, stderr } = await runHere(["simulate", `./${file}`, "--import-timeout", "300ms"]);
    expect(stderr).toContain("error SCENARIO_INVALID the scenario file cannot be loaded");
    expect(stderr).toContain(`${file}: got no end of its loading within 300 ms`);
    expect(code).toBe(2);
  });

  test("an await without end: Node says nothing beside the error", async () => {
    const { code, stderr } = await run(verbs["simulate"]?.("await.ts") ?? []);
    expect(stderr).toMatch(/^error SCENARIO_INVALID /);
    expect(code).toBe(2);
  });

  test("a promise that is rejected is no silence: 2", async () => {
    const { code, stderr } = await runHere(["simulate", "./reject.ts"]);
    expect(stderr).toContain("reject.ts:1: got TypeError: nobody listens");
    expect(code).toBe(2);
  });

  test.each([
    ["SIGINT", "load"],
    ["SIGTERM", "check --adapter"],
  ] as const)("%s ends an endless loop at once: 130", async (signal, name) => {
    const words = verbs[name]?.("loop.ts") ?? [];
    const { code, stderr } = await run(words, { signals: [signal] });
    expect(stderr).toContain("error INTERRUPTED interrupted while loop.ts was loaded");
    expect(code).toBe(130);
  });
});

describe("what ends it while it runs", () => {
  test.each(named("simulate", "plan"))("%s: a client that ends the process is named: 2", async (_, words) => {
    const { code, stderr } = await runHere(words("clients-exit.ts"));
    expect(stderr).toContain("error SCENARIO_FAILED the code of the scenario file ended the run");
    expect(stderr).toContain("clients-exit.ts:8: got process.exit(0)");
    expect(code).toBe(2);
  });

  test.each(named("check --adapter", "simulate --adapter", "swarm"))(
    "%s: a limiter that ends the process is named: 2",
    async (_, words) => {
      const { code, stderr } = await runHere(words("limiter-exit.ts"));
      expect(stderr).toContain("error ADAPTER_FAILED the code of the adapter file ended the run");
      expect(stderr).toContain("limiter-exit.ts:4: got process.exit(0)");
      expect(code).toBe(2);
    },
  );

  test("what nobody catches is told, with its line: 2", async () => {
    const rejected = await runHere(["simulate", "./clients-reject.ts", "--out", "rejected"]);
    expect(rejected.stderr).toContain("clients-reject.ts:8: got TypeError: nobody listens");
    expect(rejected.code).toBe(2);
    const nothing = await runHere(["simulate", "./clients-null.ts", "--out", "nothing"]);
    expect(nothing.stderr).toContain("clients-null.ts: got Error: null was thrown");
    expect(nothing.code).toBe(2);
    const thrown = await run(["check", "--adapter", "limiter-later.ts"]);
    expect(thrown.stderr).toContain("limiter-later.ts:4: got TypeError: too late");
    expect(thrown.code).toBe(2);
  });
});

describe.concurrent("while it runs", () => {
  test("a simulation that is interrupted keeps its run: what was told, and that some is missing", async () => {
    const { code, stdout } = await run(["simulate", "./clients-loop.ts", "--out", "kept"], {
      signals: ["SIGTERM"],
    });
    expect(stdout).toContain("the code of clients-loop.ts did not return within 2 s, and was ended");
    expect(stdout).toContain("Interrupted: what was done is kept.");
    expect(code).toBe(130);
    expect((await readdir(join(folder, "kept"))).filter((name) => name.endsWith(".part"))).toEqual([]);
    const [header = "", ...lines] = (await readFile(join(folder, "kept/trace.ndjson"), "utf8"))
      .trimEnd()
      .split("\n");
    expect(JSON.parse(header)).toMatchObject({ format: "spillway-trace", complete: false });
    // Three clients begin; each of the other 36 events is an answer.
    expect(lines).toHaveLength(36);
    const record = JSON.parse(await readFile(join(folder, "kept/run.json"), "utf8"));
    expect(record).toMatchObject({ interrupted: true, scenario: { name: "mine" } });
    const again = await runHere(["verify", "kept"]);
    expect(again.code).toBe(0);
  });

  test("a plan that is interrupted can be gone on with", async () => {
    const { code, stdout } = await run(verbs["plan"]?.("clients-loop.ts") ?? [], { signals: ["SIGINT"] });
    expect(stdout).toMatch(/Interrupted: what was done is kept\. Go on with\n.* --resume/);
    expect(code).toBe(130);
    expect(await readdir(join(folder, "plan-clients-loop.ts"))).toEqual(["points.ndjson"]);
  });

  test("a check that is interrupted says which laws were done", async () => {
    const words = ["--rules", "documented", "--law", "bounded", "--law", "conserved"];
    const { code, stdout, stderr } = await run(["check", "--adapter", "limiter-loop.ts", ...words], {
      signals: ["SIGINT"],
    });
    expect(stdout).toMatch(/bounded +skipped/);
    expect(stdout).toContain("interrupted: 0 laws, 0 runs");
    expect(stderr).toContain(
      "error INTERRUPTED interrupted: the code of limiter-loop.ts did not return within 2 s, and was ended",
    );
    expect(code).toBe(130);
  });

  test.each(["limiter-loop.ts", "limiter-native.ts"])(
    "%s: a second signal ends the process as that signal does",
    async (file) => {
      const signals = ["SIGINT", "SIGTERM"] as const;
      const { code, killedBy } = await run(["check", "--adapter", file], { signals });
      expect(code).toBeNull();
      expect(signals).toContain(killedBy);
    },
  );

  test("native code cannot be stopped: the process ends, and says why", async () => {
    const { stderr, killedBy } = await run(["check", "--adapter", "limiter-native.ts"], {
      signals: ["SIGTERM"],
    });
    expect(stderr).toContain(
      "limiter-native.ts did not return within 2 s, and cannot be stopped: it is native",
    );
    expect(killedBy).toBe("SIGINT");
  });
});

const load = (file: string, out: string): string[] => ["load", `./${file}`, "--driver", "node", "--out", out];

describe.concurrent("while Node loads with it", () => {
  const read = async (path: string): Promise<string> => readFile(join(folder, path), "utf8");

  test("a signal ends the run, and keeps what was done", async () => {
    const { code } = await run(load("busy.ts", "ends"), { signals: ["SIGHUP"], after: "working" });
    expect(code).toBe(130);
    expect(JSON.parse(await read("ends/run.json"))).toMatchObject({ driver: "node", interrupted: true });
    const [header = "", ...lines] = (await read("ends/trace.ndjson")).trimEnd().split("\n");
    expect(JSON.parse(header)).toMatchObject({ complete: true });
    expect(lines.length).toBeGreaterThanOrEqual(36);
  });

  test("an endless loop is ended, and what was done is kept", async () => {
    const { code, stdout } = await run(load("busy-loop.ts", "looped"), { signals: ["SIGINT"] });
    expect(stdout).toContain("the code of busy-loop.ts did not return within 2 s, and was ended");
    expect(stdout).toContain("the last calls are missing");
    expect(code).toBe(130);
    const record = JSON.parse(await read("looped/run.json"));
    expect(record).toMatchObject({ driver: "node", interrupted: true, scenario: { name: "mine" } });
    expect((await readdir(join(folder, "looped"))).filter((name) => name.startsWith("."))).toEqual([]);
    const [header = "", ...lines] = (await read("looped/trace.ndjson")).trimEnd().split("\n");
    // Calls on the way, or not told yet, are in no count.
    expect(JSON.parse(header)).toMatchObject({ source: "node", complete: false });
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThanOrEqual(36);
    expect((await runHere(["verify", "looped"])).code).toBe(0);
  });
});

test("a client that ends the process while Node loads is named, and the trace can be judged: 2", async () => {
  const { code, stderr } = await runHere(load("busy-exit.ts", "exits"));
  expect(stderr).toContain("error SCENARIO_FAILED the code of the scenario file ended the run");
  expect(stderr).toContain("busy-exit.ts:8: got process.exit(0)");
  expect(code).toBe(2);
  const { stdout, code: judged } = await runHere(["verify", "exits"]);
  expect(stdout).toContain("this run did not end: its trace is judged as far as it goes");
  expect(judged).toBe(0);
});

test("what it prints while Node loads goes to standard error, so that JSON stays JSON", async () => {
  const words = [...load("talkative.ts", "prints"), "--duration", "1s", "--json"];
  const { stdout, stderr } = await runHere(words);
  expect(JSON.parse(stdout)).toMatchObject({ folder: "prints", driver: "node" });
  expect(stderr).toContain("working");
});

test("what the user's code prints goes to standard error, so that JSON stays JSON", async () => {
  await writeFile(join(folder, "talks.ts"), `console.log("hello");\n${scenario("")}`);
  const { stdout, stderr } = await runHere(["simulate", "./talks.ts", "--json", "--out", "talks"]);
  expect(JSON.parse(stdout)).toMatchObject({ folder: "talks" });
  expect(stderr).toContain("hello");
});

test("help says that native code cannot be stopped", async () => {
  for (const verb of ["check", "simulate", "plan", "load", "bundle", "demo"]) {
    const { stdout } = await spillwayHere([verb, "--help"]);
    expect(stdout.replaceAll(/\s+/g, " "), verb).toContain(
      "native code (an addon, execSync) cannot be stopped",
    );
  }
});
