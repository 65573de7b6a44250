// Versions of Node other than the running one: npm's `node` package, which npm keeps in its own cache.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Returns the program of a major version, from 20 on: the running one, else npm's, fetched the first time.
 * @throws if npm can neither find nor fetch it
 */
export async function nodeOf(major: number): Promise<string> {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const wanted = ["--yes", "--prefer-offline", `--package=node@${major}`];
  const { stdout } = await run("npm", ["exec", ...wanted, "--", "node", "-p", "process.execPath"]);
  return stdout.trim();
}
