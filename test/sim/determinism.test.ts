// The same seed gives the same bytes: in this process and the next, on the oldest and a later Node, in threads.
// @module-tag long
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { nodeOf } from "../support/node.ts";
import { digests } from "./digests.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
/** Tells the digests, as a program of its own to standard output, as a thread by a message; for any Node. */
const program = `${root}node_modules/.cache/spillway-digests/digests.mjs`;
const source = `
import { parentPort } from "node:worker_threads";
import { digests } from "./test/sim/digests.ts";
if (parentPort === null) console.log(JSON.stringify(digests()));
else parentPort.postMessage(digests());`;
const expected = digests();

beforeAll(async () => {
  await build({
    stdin: { contents: source, resolveDir: root },
    outfile: program,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    logLevel: "warning",
  });
});

async function toldBy(node: string): Promise<unknown> {
  const { stdout } = await run(node, [program]);
  return JSON.parse(stdout);
}

function toldByThread(): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(program);
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

describe("the same seed gives the same bytes", () => {
  test("in one process, after others", () => {
    expect(digests()).toEqual(expected);
  });

  test.each([20, 24])("on Node %i", { timeout: 180_000 }, async (major) => {
    const node = await nodeOf(major);
    expect((await run(node, ["--version"])).stdout).toMatch(new RegExp(`^v${major}\\.`));
    expect(await toldBy(node)).toEqual(expected);
  });

  test("in two worker threads at once", async () => {
    expect(await Promise.all([toldByThread(), toldByThread()])).toEqual([expected, expected]);
  });
});

test("each of these worlds has bytes of its own", () => {
  expect(new Set(Object.values(expected)).size).toBe(Object.keys(expected).length);
});
