// The public Go client, unchanged, against the deployment: it decodes the status, follows pages, and its own
// retry comes through a refusal. Real time passes here, a window of two seconds; Go 1.25 or newer is needed.
// @module-tag go
// @module-tag real-time
// @module-tag paced
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseRules } from "../../src/rules/parse.ts";
import { sampleTokens } from "../../src/service/sample-tokens.ts";
import { type Serving, serve } from "../../src/service/serve.ts";

const run = promisify(execFile);
const source = fileURLToPath(new URL("go-client/", import.meta.url));
let folder = "";
let program = "";
let serving: Serving;
const tokens = sampleTokens(1);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-go-client-"));
  program = join(folder, "go-client");
  await run("go", ["build", "-o", program, "."], { cwd: source }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw new Error("this test needs Go 1.25 or newer: https://go.dev/dl");
    throw error;
  });
  const rules = parseRules({ user: { rest: { limit: 8, windowSeconds: 2 } } });
  serving = await serve({ port: 0, rules, tokens });
});
afterAll(async () => {
  await serving?.close();
  await rm(folder, { recursive: true, force: true });
});

test("go-buildkite v4.23.0 works unchanged", async () => {
  const env = {
    PATH: process.env["PATH"],
    TARGET: serving.url,
    ORGANIZATION: "acme",
    TOKEN: tokens[0]?.token,
  };
  const { stdout } = await run(program, { env });
  const scope = { limit: expect.any(Number), current: 0, reset: expect.any(Number), enforced: true };
  expect(JSON.parse(stdout)).toEqual({
    status: {
      scopes: {
        rest: { ...scope, limit: 200, reset_at: expect.stringMatching(/^\d{4}-.*:00Z$/) },
        graphql: { ...scope, limit: 20_000, reset_at: expect.stringMatching(/^\d{4}-.*:00Z$/) },
      },
    },
    user: "user-0",
    pipelines: [
      "api",
      "web",
      "ios",
      "android",
      "deploy",
      "docs",
      "infrastructure",
      "billing",
      "search",
      "end-to-end",
    ],
    pages: 3,
    lastPage: 3,
    provider: "github",
    builds: [240, 239],
    commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    notFound: "No such resource",
    refused: expect.any(Number),
    retriedTo: 200,
  });
  expect(JSON.parse(stdout).refused).toBeGreaterThan(0);
});
