// Builds the package once before the tests. Tests of the command line and of the tarball thus run the same sources as
// the other tests.
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Folder of compiled modules of programs that the tests start; empty at each run's beginning. */
export const compiled = `${root}node_modules/.cache/spillway-compiled`;

export default async function build(): Promise<void> {
  await rm(compiled, { recursive: true, force: true });
  await promisify(execFile)("npm", ["run", "build", "--silent"], { cwd: root }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`the build failed:\n${error.stdout}${error.stderr}`);
    },
  );
}
