// One configuration for all tests. They run on the build that `test/support/build.ts` makes first.
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { parseCLI } from "vitest/node";
import { compiled } from "./support/build.ts";
import { built, builtModules } from "./support/built.ts";
import { ClosingLines } from "./support/closing-lines.ts";
import { LongestFirst } from "./support/longest-first.ts";
import { lookUpPrograms } from "./support/programs.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const counts = `${root}node_modules/.cache/spillway-tests.json`;
const inCI = process.env["CI"] !== undefined;
const programs = await lookUpPrograms();

/** Tag of the files that depend on real time: `// @module-tag real-time`. */
const realTime = "real-time";
/** Tag of those that do not, and mostly wait. */
const waiting = "waiting";
/**
 * Tag of those that must get so much done in a time, and so need their share of the processor: they run after the others, few
 * at a time. The other ones of real time passed while each processor had seven and twelve programs to run.
 */
const paced = "paced";
/**
 * Tag of the files that take over five seconds of a processor, most of them whole weeks, whole matrices, or programs of
 * strangers. `npm run test:long` runs these, `npm test` all others; a file that is named is run in any case.
 */
const long = "long";

/**
 * Node 20 has no compiler between the first one and the one that optimizes, in which tests spend two fifths of their
 * processor time: code is optimized after more calls. The workers keep all processors busy, so that threads of each for
 * its garbage only wait for one another. Together a seventh of the processor time of tests that compute. A larger nursery, in
 * MB, has more of its garbage die before it is looked through: a tenth.
 */
const hasOneOptimizer = Number.parseInt(process.versions.node, 10) < 22;
const execArgv = [
  "--single-threaded-gc",
  "--min-semi-space-size=64",
  "--max-semi-space-size=64",
  ...(hasOneOptimizer ? ["--interrupt-budget=600000", "--always-sparkplug"] : []),
];

const files = readdirSync(`${root}test`, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts") && !name.includes("node_modules"))
  .map((name) => `test/${name.replaceAll("\\", "/")}`);
const areNamed =
  process.argv[2] === "run" && parseCLI(["vitest", ...process.argv.slice(2)]).filter.length > 0;
/** Names of the tags in each file's first comment. */
const tagsOf = new Map(
  files.map((file) => {
    const [comment = ""] = /^(\/\/.*\n)+/.exec(readFileSync(root + file, "utf8")) ?? [];
    return [file, [...comment.matchAll(/^\/\/ @module-tag (.+)$/gm)].map(([, name]) => name)];
  }),
);
const has = (file: string, tag: string): boolean => tagsOf.get(file)?.includes(tag) === true;

/** Returns the project of a file. */
function projectOf(file: string): string {
  if (has(file, paced)) return paced;
  return has(file, realTime) || has(file, waiting) ? waiting : "pure";
}

/**
 * One worker more than processors, for the files that wait. Each worker optimizes what it runs for itself, so that two
 * more took a fifth more of the processors' time.
 */
const together = { maxWorkers: availableParallelism() + 1, sequence: { groupOrder: 0 } };

function project(name: string, mode: string, test: NonNullable<ViteUserConfig["test"]>): ViteUserConfig {
  const isChosen = (file: string): boolean => areNamed || has(file, long) === (mode === long);
  return {
    root,
    plugins: [built(root)],
    resolve: {
      // As Node does: what a test and a built module import from a package is one module.
      mainFields: ["main"],
      extensions: [".js", ".ts", ".json"],
    },
    test: {
      name,
      include: files.filter((file) => projectOf(file) === name && isChosen(file)),
      server: { deps: { external: [builtModules] } },
      // No test is judged by its time: these end what hangs, on a busy machine, too.
      testTimeout: 240_000,
      hookTimeout: 240_000,
      pool: "forks",
      // Files of one worker share their modules: loading them anew for each file takes half of the processor's time.
      isolate: false,
      execArgv,
      restoreMocks: true,
      unstubEnvs: true,
      setupFiles: ["test/support/seed.ts", "test/support/clock.ts"],
      // picocolors colours whatever runs in CI; the tests read plain text. Programs that they start keep their compiled
      // modules, from Node 22 on: a sixth of what short commands take.
      env: { NO_COLOR: "1", NODE_COMPILE_CACHE: compiled },
      tags: [
        { name: realTime },
        { name: waiting },
        { name: paced },
        { name: long },
        ...programs.map(({ name, path }) => ({ name, skip: path === null })),
      ],
      ...test,
    },
  };
}

function closingLines(mode: string): ClosingLines {
  const longOnes = files.filter((file) => has(file, long)).length;
  const others =
    areNamed || mode === long
      ? null
      : `not run: ${longOnes} files that take long. Run them: npm run test:long`;
  return new ClosingLines(programs, others, { mayLeaveOut: !inCI });
}

export default defineConfig(({ mode }) => ({
  root,
  test: {
    globalSetup: "test/support/build.ts",
    sequence: { sequencer: LongestFirst },
    projects: [
      project("pure", mode, together),
      project(waiting, mode, together),
      // More at a time would take the processor from one another.
      project(paced, mode, { maxWorkers: 4, maxConcurrency: 20, sequence: { groupOrder: 1 } }),
    ],
    reporters: inCI
      ? ["default", ["json", { outputFile: counts }], closingLines(mode)]
      : ["default", closingLines(mode)],
  },
}));
