// Programs besides Node that some tests need. Tests name them as tags, which vitest.config.ts takes from here:
// `test("...", { tags: ["k6"] }, ...)`, the same on a `describe`, or a line `// @module-tag k6` for a whole file. Tests
// of a missing program are left out, and closing-lines.ts names it after the run.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { lookUpK6 } from "../../src/load/k6-binary.ts";

export interface Program {
  /** Tag of the tests that need it. */
  readonly name: string;
  /** Path of the program; `null` if it is missing. */
  readonly path: string | null;
  /** Advice on how to get it. */
  readonly get: string;
}

const endings = process.platform === "win32" ? [".exe", ".cmd"] : [""];

/** Returns the path of the first of these names that is a program on the PATH; `null` if there is none. */
function inPath(...names: readonly string[]): string | null {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const files = names.flatMap((name) => endings.map((ending) => name + ending));
  return folders.flatMap((folder) => files.map((file) => join(folder, file))).find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const chromiumOfMac = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** Returns the path of a browser: `CHROMIUM_PATH`, or a usual name on the PATH; `null` if there is none. */
export function chromiumPath(): string | null {
  const named = process.env["CHROMIUM_PATH"];
  if (named !== undefined && named !== "") return isProgram(named) ? named : null;
  const found = inPath("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");
  return found ?? chromiumOfMac.find(isProgram) ?? null;
}

/** Looks up every program that a test may name. */
export async function lookUpPrograms(): Promise<readonly Program[]> {
  // `spillway doctor` says why a k6 cannot be used.
  const k6 = await lookUpK6().catch(() => null);
  return [
    {
      name: "k6",
      path: k6?.path ?? null,
      get: "npx spillway doctor --get-k6, or K6_PATH=/path/to/k6",
    },
    { name: "go", path: inPath("go"), get: "Go 1.25 or newer: https://go.dev/dl/" },
    {
      name: "chromium",
      path: chromiumPath(),
      get: "apt-get install chromium, or CHROMIUM_PATH=/path/to/chrome",
    },
    { name: "redis-server", path: inPath("redis-server"), get: "apt-get install redis-server" },
    { name: "faketime", path: inPath("faketime"), get: "apt-get install faketime" },
    { name: "bash", path: inPath("bash"), get: "apt-get install bash" },
    { name: "zsh", path: inPath("zsh"), get: "apt-get install zsh" },
    { name: "curl", path: inPath("curl"), get: "apt-get install curl" },
    { name: "ps", path: inPath("ps"), get: "apt-get install procps" },
    // cat, mkdir, mkfifo, rm and their like: a shell alone has none of them.
    { name: "coreutils", path: inPath("mkfifo"), get: "apt-get install coreutils" },
  ];
}
