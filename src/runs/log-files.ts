// The files that a user means. Most shells expand globs; in quotes, or on Windows, it is done here.
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { globMatcher } from "../logs/glob.ts";
import { runFiles } from "../report/run.ts";
import { SpillwayError } from "../rules/errors.ts";

/**
 * Returns the files that paths and globs (`*`, `?`, `**`) stand for, each file once. Files of a glob are in the order
 * of their names. A run's folder stands for its trace.
 * @throws SpillwayError `FILE_UNREADABLE` if nothing fits a glob
 */
export async function filesOf(paths: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const path of paths) {
    const trace = join(path, runFiles.trace);
    if (path !== "-" && existsSync(trace)) files.push(trace);
    else if (/[*?]/.test(path) && !existsSync(path)) files.push(...(await matching(path)));
    else files.push(path);
  }
  return [...new Set(files)];
}

async function matching(glob: string): Promise<string[]> {
  const base = dirname(`${glob.slice(0, glob.search(/[*?]/))}x`);
  const fits = globMatcher(join(glob).split(sep).join("/"));
  const recursive = glob.includes("**") || glob.slice(glob.search(/[*?]/)).includes("/");
  const entries = await readdir(base, { recursive, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => fits(path.split(sep).join("/")))
    .sort();
  if (files.length > 0) return files;
  throw new SpillwayError("FILE_UNREADABLE", "no file is called like that", {
    problem: { path: glob, got: "no file", allowed: "a file's name, or a pattern that some have" },
  });
}
