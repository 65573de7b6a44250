// The program of a worker, made of the sources: `worker-entry.ts` as one file that Node runs.
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { forkWorker } from "../../src/service/team.ts";

const root = new URL("../../", import.meta.url);

/** Bundles it; `remove` it when the last worker has ended. */
export async function workerFile(): Promise<{ fork(): ChildProcess; remove(): Promise<void> }> {
  const path = fileURLToPath(new URL(`node_modules/.cache/spillway-workers/${randomUUID()}.mjs`, root));
  await build({
    entryPoints: [fileURLToPath(new URL("src/service/worker-entry.ts", root))],
    outfile: path,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    logLevel: "warning",
  });
  return { fork: () => forkWorker(path), remove: () => rm(path, { force: true }) };
}
