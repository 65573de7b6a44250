// Peers that are programs of their own, made once into the benches' cache: Go and Rust compiled, Python in an
// environment that has SimPy. What is not on the machine is said and left out.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { WorldCount } from "./count.ts";

const run = promisify(execFile);
// Benches run from a bundle in the cache, which is therefore where this file is, too.
const cache = fileURLToPath(new URL("./peers/", import.meta.url));
const source = (path: string): string =>
  fileURLToPath(new URL(`../../../test/bench/peers/${path}`, import.meta.url));

/** A world's count by a peer. */
export type WorldProgram = (clients: number, seconds: number) => Promise<WorldCount>;

async function made(name: string, make: () => Promise<readonly string[]>): Promise<WorldProgram | null> {
  mkdirSync(cache, { recursive: true });
  try {
    const [program = "", ...words] = await make();
    return async (clients, seconds) => {
      const { stdout } = await run(program, [...words, String(clients), String(seconds)]);
      return JSON.parse(stdout) as WorldCount;
    };
  } catch (error) {
    console.error(`no ${name} to compare with: ${(error as Error).message.split("\n")[0]}`);
    return null;
  }
}

/** By hand in Go; `null` without Go. */
export const goWorld = (): Promise<WorldProgram | null> =>
  made("Go", async () => {
    const program = join(cache, "world-go");
    await run("go", ["build", "-o", program, source("world.go")]);
    return [program];
  });

/** In NeXosim; `null` without cargo. */
export const nexosimWorld = (): Promise<WorldProgram | null> =>
  made("NeXosim", async () => {
    const target = join(cache, "nexosim");
    const manifest = source("nexosim/Cargo.toml");
    await run("cargo", [
      ...["build", "--release", "--locked", "--quiet"],
      ...["--manifest-path", manifest, "--target-dir", target],
    ]);
    return [join(target, "release", "world")];
  });

/** In SimPy; `null` without Python. */
export const simpyWorld = (): Promise<WorldProgram | null> =>
  made("SimPy", async () => {
    const environment = join(cache, "simpy");
    const python = join(environment, "bin", "python");
    if (!existsSync(join(environment, "made"))) {
      await run("python3", ["-m", "venv", "--clear", environment]);
      await run(python, ["-m", "pip", "install", "--quiet", "simpy==4.1.2"]);
      mkdirSync(join(environment, "made"));
    }
    return [python, source("world.py")];
  });
