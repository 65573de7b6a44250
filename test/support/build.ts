// Builds the package once before the tests, so that those of the command line and of the tarball see the
// sources that the other tests see.
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Folder of the compiled modules of programs that the tests start; each run begins with none. */
export const compiled = `${root}node_modules/.cache/spillway-compiled`;

export default async function build(): Promise<void> {
  await rm(compiled, { recursive: true, force: true });
  await promisify(execFile)("npm", ["run", "build", "--silent"], { cwd: root }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`the build failed:\n${error.stdout}${error.stderr}`);
    },
  );
}
