// Strangers' packages: installed beside this file, pinned, and loaded from there whatever bundles the caller.
import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

/** The folder that has their package.json. All scripts and tests are run from the repository's root. */
const folder = resolve("test/limiters");

/** Installs the packages of the lock file, unless those that are there are of this very lock file. */
export async function installStrangers(say: (line: string) => void = () => {}): Promise<void> {
  if (!existsSync(join(folder, "package-lock.json")))
    throw new Error(`run this from the repository's root: there is no ${folder}/package-lock.json`);
  if (installed()) return;
  const mine = await takeTurn();
  try {
    if (installed()) return;
    say("installing the limiters of test/limiters/package-lock.json");
    // Some name a framework as their peer that they are not asked through.
    const words = [
      "ci",
      "--prefix",
      folder,
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--legacy-peer-deps",
    ];
    await promisify(execFile)("npm", words).catch((cause: unknown) => {
      throw new Error("npm ci --prefix test/limiters failed", { cause });
    });
  } finally {
    rmSync(mine, { force: true });
  }
}

/** Test files run side by side, and one of them installs: waits until no other process that lives does. */
async function takeTurn(): Promise<string> {
  const turn = join(folder, ".installing");
  for (let tries = 0; tries < 3_000; tries += 1) {
    try {
      writeFileSync(turn, `${process.pid}`, { flag: "wx" });
      return turn;
    } catch {
      if (!lives(turn)) rmSync(turn, { force: true });
      await setTimeout(100);
    }
  }
  throw new Error(`another process has been installing for five minutes; remove ${turn} if none does`);
}

/** Tells whether the process that a file names is alive; a file that is not written out yet is one just begun. */
function lives(turn: string): boolean {
  try {
    const pid = readFileSync(turn, "utf8");
    if (pid !== "") process.kill(Number(pid), 0);
    return true;
  } catch {
    return false;
  }
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly optional?: boolean }>>;
}

const read = (path: string): Lock => JSON.parse(readFileSync(path, "utf8")) as Lock;

/** npm keeps beside the packages a lock file of what is there. */
function installed(): boolean {
  const hidden = join(folder, "node_modules/.package-lock.json");
  if (!existsSync(hidden)) return false;
  const there = read(hidden).packages;
  return Object.entries(read(join(folder, "package-lock.json")).packages).every(
    ([path, { version, optional }]) => path === "" || optional === true || there[path]?.version === version,
  );
}

let pinned: Lock | null = null;

/** The version that the lock file pins for a dependency, by the name that it has in package.json. */
export function versionOf(name: string): string {
  pinned ??= read(join(folder, "package-lock.json"));
  const version = pinned.packages[`node_modules/${name}`]?.version;
  if (version === undefined) throw new Error(`test/limiters/package-lock.json has no ${name}`);
  return version;
}

/**
 * A package as it was published. `T` says by hand what is used of it.
 * @param name as in package.json, or a path in it: `koa-ratelimit-4-3-0/limiter/memory.js`
 */
export const load = <T>(name: string): T => createRequire(join(folder, "package.json"))(name) as T;

/** A package that can be imported alone, from its `dist/index.js`. */
export const importOnly = async <T>(name: string): Promise<T> =>
  (await import(pathToFileURL(join(folder, "node_modules", name, "dist/index.js")).href)) as T;
