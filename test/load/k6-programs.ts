// Programs of a test's own that stand in for k6 and Go.
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Writes a shell script that can be run. Returns its path. */
export async function program(folder: string, path: string, script: string): Promise<string> {
  const whole = join(folder, path);
  await mkdir(dirname(whole), { recursive: true });
  await writeFile(whole, `#!/bin/sh\n${script}\n`);
  await chmod(whole, 0o755);
  return whole;
}

/** A script's line that answers as `k6 version` does. */
export const says = (version: string): string => `echo "k6 v${version} (go1.26.8, linux/amd64)"`;

/** An environment with a PATH of `folder/bin` alone and a cache below `folder`. */
export const bareEnv = (folder: string, more: Record<string, string> = {}): Record<string, string> => ({
  PATH: join(folder, "bin"),
  XDG_CACHE_HOME: join(folder, "cache"),
  ...more,
});

/** k6 in the cache of `bareEnv`. */
export const cached = "cache/spillway/bin/k6";
