import { mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { loadScenarioFile } from "../../src/load/scenario-file.ts";
import { codedErrorOf } from "../support/coded-error.ts";

let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-test-")));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const failure = (nameOrPath: string) => codedErrorOf(loadScenarioFile(nameOrPath));

const imports = `import { defineScenario, poller, rest } from "spillway/scenario";\n`;
const agents = `agents: { clients: 2, behaviour: poller({ every: "5s", call: rest("/v2/user") }) }`;

describe("loads", () => {
  test("a built-in scenario by its name", async () => {
    const { scenario, path } = await loadScenarioFile("steady");
    expect(scenario).toMatchObject({ format: "spillway-scenario", name: "steady" });
    expect(path).toMatch(/scenarios[\\/]steady\.ts$/);
  });

  test("TypeScript with types, and with a module beside it", async () => {
    await file("common.ts", `export const seconds = (n: number): string => \`\${n}s\`;\n`);
    const path = await file(
      "typed.ts",
      `${imports}import type { Scenario } from "spillway/scenario";
import { seconds } from "./common.ts";
const scenario: Scenario = defineScenario({ name: "typed", duration: seconds(9), populations: { ${agents} } });
export default scenario;\n`,
    );
    expect((await loadScenarioFile(path)).scenario).toMatchObject({ name: "typed", durationMs: 9_000 });
  });

  test("JavaScript", async () => {
    const path = await file(
      "plain.js",
      `${imports}export default defineScenario({ name: "plain", duration: 1, populations: { ${agents} } });\n`,
    );
    expect((await loadScenarioFile(path)).scenario.name).toBe("plain");
  });

  test("a changed file anew", async () => {
    const text = (name: string): string =>
      `${imports}export default defineScenario({ name: "${name}", duration: 1, populations: { ${agents} } });\n`;
    const path = await file("changing.ts", text("before"));
    expect((await loadScenarioFile(path)).scenario.name).toBe("before");
    await file("changing.ts", text("after"));
    expect((await loadScenarioFile(path)).scenario.name).toBe("after");
  });
});

describe("a broken file is told by file, line and reason", () => {
  const at = (name: string, line: number): string => `${relative(process.cwd(), join(folder, name))}:${line}`;
  /** Paths below the working directory are shortened, others are not. */
  const shown = (name: string, line: number): string =>
    at(name, line).startsWith("..") ? `${join(folder, name)}:${line}` : at(name, line);

  test.each([
    ["syntax.ts", 3, `${imports}const a = 1;\nconst b = ;\n`, 'Unexpected ";"'],
    [
      "missing.ts",
      1,
      `import { x } from "./nowhere.ts";\nexport default x;\n`,
      'Could not resolve "./nowhere.ts"',
    ],
    [
      "throws.ts",
      3,
      `${imports}const one = () => {\n  throw new Error("not today");\n};\nexport default one();\n`,
      "Error: not today",
    ],
    [
      "twice.ts",
      2,
      `${imports}export default defineScenario({ name: "x", duration: 1, populations: { ${agents}, ${agents} } });\n`,
      'Duplicate key "agents"',
    ],
  ])("%s", async (name, line, text, reason) => {
    const error = await failure(await file(name, text));
    expect(error.code).toBe("SCENARIO_INVALID");
    expect(error.problems).toEqual([
      expect.objectContaining({ path: shown(name, line), got: expect.stringContaining(reason) }),
    ]);
  });

  test("a scenario that is refused: the line of defineScenario, and every field", async () => {
    const text = `${imports}\nexport default defineScenario({ name: "x", duration: 0, seed: -1, populations: { ${agents} } });\n`;
    const error = await failure(await file("refused.ts", text));
    expect(error.message).toContain(`${shown("refused.ts", 3)}: this scenario cannot be used`);
    expect(error.problems.map(({ path }) => path)).toEqual(["seed", "duration"]);
  });

  test("a behaviour that is refused: its own line", async () => {
    const text = `${imports}export default defineScenario({\n  name: "x",\n  duration: 1,\n  populations: {\n    a: { clients: 1, behaviour: poller({ every: "often", call: rest("/") }) },\n  },\n});\n`;
    const error = await failure(await file("behaviour.ts", text));
    expect(error.message).toContain(`${shown("behaviour.ts", 6)}: this poller cannot be made`);
    expect(error.problems).toMatchObject([{ path: "poller.every", got: '"often"' }]);
  });

  test("something thrown that is no error", async () => {
    const error = await failure(await file("odd.ts", `throw "odd";\n`));
    expect(error.problems).toMatchObject([{ got: '"odd"' }]);
  });

  test.each([
    ["no default export", `export const scenario = 5;\n`, "no default export"],
    [
      "a plain object",
      `export default { name: "x", populations: {} };\n`,
      "an object of name, populations that defineScenario did not make",
    ],
    ["an empty object", `export default {};\n`, "a default export that is an empty object"],
    ["a function", `export default () => 5;\n`, "a function"],
    ["a promise", `export default Promise.resolve(5);\n`, "a promise: await it"],
    ["a number", `export default 5;\n`, "5"],
  ])("%s", async (name, text, got) => {
    const error = await failure(await file(`${name.replaceAll(" ", "-")}.ts`, text));
    expect(error.code).toBe("SCENARIO_INVALID");
    expect(error.problems[0]?.got).toContain(got);
    expect(error.problems[0]?.allowed).toContain("export default defineScenario");
  });
});

describe("what is not there", () => {
  test("a name that is none, with the nearest that is one", async () => {
    const error = await failure("ci-flet");
    expect(error).toMatchObject({ code: "USAGE", hint: "did you mean ci-fleet?" });
    expect(error.problems[0]?.allowed).toContain("ci-fleet, github, herd, lone-client, steady");
  });

  test("a path without a file, and a directory", async () => {
    expect(await failure(join(folder, "gone.ts"))).toMatchObject({
      code: "FILE_UNREADABLE",
      problems: [{ got: "no such file" }],
    });
    expect(await failure(`${folder}/`)).toMatchObject({
      code: "FILE_UNREADABLE",
      problems: [{ got: "a directory" }],
    });
  });
});

test("nothing is left in the temporary folder", async () => {
  const own = await mkdtemp(join(folder, "tmp-"));
  vi.stubEnv("TMPDIR", own);
  try {
    await loadScenarioFile("herd");
    await failure(await file("left.ts", `throw new Error("x");\n`));
    expect(await readdir(own)).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
  }
});
