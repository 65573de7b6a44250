// Gets k6 into the tool's own cache, on demand alone: built by Go, whose checksum database vouches for the sources.
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder, type K6Binary, k6Missing, k6Version } from "./k6-binary.ts";
import { type Environment, programInPath, programName, runProgram } from "./program.ts";

/** The version that is built or fetched. */
const k6Wanted = "v1.8.1";
/** The oldest Go that builds it. */
export const goLeast = "1.25";

export interface GetK6Options {
  readonly env?: Environment | undefined;
  /** Takes a line for people, some times a second. */
  readonly onProgress?: ((text: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A Go that can build k6. */
interface Go {
  readonly path: string;
  /** `1.26.8`. */
  readonly version: string;
}

/** Returns the Go that could build k6, or `null` where there is none or it is too old. */
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

/**
 * Builds k6 beside its place in the cache and moves it there whole: a second build or a kill leaves no half one.
 * @throws SpillwayError `K6_MISSING` where there is no Go that could, or the build fails
 */
export async function getK6(options: GetK6Options = {}): Promise<K6Binary> {
  const { env = process.env } = options;
  const go = await usableGo(env);
  if (go === null) throw k6Missing(`there is no Go ${goLeast} or newer to build k6 with`);
  const folder = cacheFolder(env);
  await mkdir(folder, { recursive: true });
  const workshop = await mkdtemp(join(folder, ".build-"));
  try {
    const made = await build(go, workshop, env, options);
    const version = await k6Version(made, "Go", { env, signal: options.signal });
    const path = join(folder, programName("k6"));
    await rename(made, path);
    return { path, version, origin: "cache" };
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

async function build(
  go: Go,
  workshop: string,
  env: Environment,
  { onProgress, signal }: GetK6Options,
): Promise<string> {
  let packages = 0;
  onProgress?.(`building k6 ${k6Wanted} with Go, about a minute, once`);
  const built = await runProgram(go.path, ["install", "-v", `go.k6.io/k6@${k6Wanted}`], {
    env: { ...env, GOBIN: workshop },
    cwd: workshop,
    signal,
    onLine: () => {
      packages += 1;
      onProgress?.(`building k6 ${k6Wanted} with Go, once: ${packages} steps done`);
    },
  });
  if (built.code === 0) return join(workshop, programName("k6"));
  const last = built.output.trim().split("\n").slice(-3).join("\n  ");
  throw k6Missing(`building k6 with Go failed:\n  ${last}`);
}
