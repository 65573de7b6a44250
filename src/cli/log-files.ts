// Which files are meant: a shell that knows globs has opened them up already; in quotes, or on Windows, it is on us.
import { readdir } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { SpillwayError } from "../rules/errors.ts";

/**
 * The files that paths and globs (`*`, `?`, `**`) stand for, those of each glob in the order of their names.
 * @throws SpillwayError `FILE_UNREADABLE` where nothing fits a glob
 */
export async function expandGlobs(paths: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const path of paths) {
    if (!/[*?]/.test(path)) files.push(path);
    else files.push(...(await matches(path)));
  }
  return [...new Set(files)];
}

async function matches(glob: string): Promise<string[]> {
  const base = fixedPart(glob);
  const pattern = patternOf(glob);
  const entries = await readdir(base, { recursive: glob.includes("**"), withFileTypes: true }).catch(
    () => [],
  );
  const deep = glob.slice(base === "." ? 0 : base.length).split("/").length > 2 || glob.includes("**");
  const found =
    deep && !glob.includes("**") ? await readdir(base, { recursive: true, withFileTypes: true }) : entries;
  const files = found
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => pattern.test(path.split(sep).join("/")))
    .sort();
  if (files.length > 0) return files;
  throw new SpillwayError("FILE_UNREADABLE", "no file is called like that", {
    problems: [{ path: glob, got: "no file", allowed: "a file's name, or a pattern that some have" }],
  });
}

/** The folder in front of the first part with a wildcard. */
function fixedPart(glob: string): string {
  const fixed = glob.slice(0, glob.search(/[*?]/));
  return dirname(`${fixed}x`);
}

function patternOf(glob: string): RegExp {
  const normal = join(glob).split(sep).join("/");
  const source = normal.replace(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g, (part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "**") return ".*";
    if (part === "*") return "[^/]*";
    return part === "?" ? "[^/]" : `\\${part}`;
  });
  return new RegExp(`^${source}$`);
}
