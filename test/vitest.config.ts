// One configuration for all tests. They run on the sources; what tests the built package uses the build that
// `test/support/build.ts` makes first.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LeftOut } from "./support/left-out.ts";
import { lookUpPrograms } from "./support/programs.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = (path: string): string => `${root}src/${path}/index.ts`;
const counts = `${root}node_modules/.cache/spillway-tests.json`;
const inCI = process.env["CI"] !== undefined;
const programs = await lookUpPrograms();
const leftOut = new LeftOut(programs, !inCI);

export default defineConfig({
  root,
  resolve: {
    alias: [
      { find: /^spillway$/, replacement: `${root}src/index.ts` },
      { find: "spillway/engine", replacement: source("engine") },
      { find: "spillway/laws", replacement: source("laws") },
      { find: "spillway/scenario", replacement: source("scenario") },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 180_000,
    pool: "forks",
    globalSetup: "test/support/build.ts",
    // picocolors colours whatever runs in CI; the tests read plain text.
    env: { NO_COLOR: "1" },
    tags: programs.map(({ name, path }) => ({ name, skip: path === null })),
    reporters: inCI ? ["default", ["json", { outputFile: counts }], leftOut] : ["default", leftOut],
  },
});
