// One configuration for all tests. Tests run on the sources; what needs the built package builds on `dist`.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = (path: string): string => `${root}src/${path}/index.ts`;

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
    testTimeout: 30_000,
    hookTimeout: 120_000,
    pool: "forks",
  },
});
