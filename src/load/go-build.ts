// Builds k6 by Go, whose checksum database vouches for the sources.
import { join } from "node:path";
import { k6Missing } from "./k6-binary.ts";
import { type Environment, programInPath, programName, runProgram } from "./program.ts";

/** Oldest version of Go that builds k6. */
export const goLeast = "1.25";

export interface Go {
  readonly path: string;
  /** `1.26.8`. */
  readonly version: string;
}

/** Returns the Go that could build k6; `null` if there is none or it is too old. */
export async function usableGo(env: Environment = process.env): Promise<Go | null> {
  const path = await programInPath("go", env);
  if (path === null) return null;
  const asked = await runProgram(path, ["env", "GOVERSION"], { env, limitMs: 10_000 }).catch(() => null);
  const version = /go(\d+\.\d+[\w.]*)/.exec(asked?.output ?? "")?.[1] ?? "0.0";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [majorLeast = 0, minorLeast = 0] = goLeast.split(".").map(Number);
  const isEnough = major > majorLeast || (major === majorLeast && minor >= minorLeast);
  return isEnough ? { path, version } : null;
}

export interface BuildOptions {
  /** `v1.8.1`. */
  readonly version: string;
  /** Folder that gets the program. */
  readonly folder: string;
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((text: string) => void) | undefined;
}

/**
 * Builds k6.
 * @returns path of the program
 * @throws SpillwayError `K6_MISSING` with the last words of Go if it fails
 */
export async function buildK6(go: Go, options: BuildOptions): Promise<string> {
  const { version, folder, env, signal, onProgress } = options;
  let packages = 0;
  onProgress?.(`building k6 ${version} with Go, one to four minutes, once`);
  const built = await runProgram(go.path, ["install", "-v", `go.k6.io/k6@${version}`], {
    env: { ...env, GOBIN: folder },
    cwd: folder,
    signal,
    onLine: () => {
      packages += 1;
      onProgress?.(`building k6 ${version} with Go, once: ${packages} steps done`);
    },
  });
  if (built.code === 0) return join(folder, programName("k6"));
  const last = built.output.trim().split("\n").slice(-3).join("\n  ");
  throw k6Missing(`building k6 with Go failed:\n  ${last}`);
}
