// Getting k6, with a Go of the test's own.
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { getK6, usableGo } from "../../src/load/get-k6.ts";
import { lookUpK6 } from "../../src/load/k6-binary.ts";
import { bareEnv, cached, program, says } from "./k6-programs.ts";
import { failure, newFolder, removed } from "./support.ts";

let folder = "";
const folders: string[] = [];
beforeEach(async () => {
  folder = await newFolder();
  folders.push(folder);
});
afterAll(() => Promise.all(folders.map(removed)));

/** A Go 1.26 that answers for its version; `install` is what its other words do. */
const go = (install: string): Promise<string> =>
  program(folder, "bin/go", `if [ "$1" = env ]; then echo go1.26.8; exit; fi\n${install}`);

/** Shell that writes a program to where `go install` would leave k6. */
const leaves = (script: string): string =>
  `printf '#!/bin/sh\\n${script}\\n' > "$GOBIN/k6"; /bin/chmod 755 "$GOBIN/k6"`;

describe("with Go", () => {
  test("k6 is built into the cache, and says how far it is", async () => {
    const words = `[ "$*" = "install -v go.k6.io/k6@v1.8.1" ] || exit 9\necho net >&2\necho net/http >&2`;
    await go(`${words}\n${leaves(says("1.8.1"))}`);
    const env = bareEnv(folder);
    const progress: string[] = [];
    const built = await getK6({ env, onProgress: (text) => progress.push(text) });
    expect(built).toEqual({ path: join(folder, cached), version: "1.8.1", origin: "cache" });
    expect(progress[0]).toBe("building k6 v1.8.1 with Go, about a minute, once");
    expect(progress.at(-1)).toMatch(/^building k6 v1\.8\.1 with Go, once: [12] steps done$/);
    expect(await lookUpK6({ env })).toEqual(built);
    expect(await readdir(dirname(join(folder, cached)))).toEqual(["k6"]);
  });

  test.each([
    ["fails", `echo "go: no network" >&2; exit 1`, /building k6 with Go failed:\n {2}go: no network/],
    ["builds something else", leaves("echo hello"), /is no k6/],
  ])("a build that %s leaves nothing behind", async (_, install, message) => {
    await go(install);
    const error = await failure(getK6({ env: bareEnv(folder) }));
    expect(error.code).toBe("K6_MISSING");
    expect(error.message).toMatch(message);
    expect(await readdir(dirname(join(folder, cached)))).toEqual([]);
  });

  test("a build can be interrupted", async () => {
    await go("exec /bin/sleep 60");
    const control = new AbortController();
    const building = getK6({
      env: bareEnv(folder),
      signal: control.signal,
      onProgress: () => control.abort(),
    });
    await expect(building).rejects.toMatchObject({ name: "AbortError" });
    expect(await readdir(dirname(join(folder, cached)))).toEqual([]);
  });
});

test("an old Go is none", async () => {
  await program(folder, "bin/go", "echo go1.24.9");
  expect(await usableGo(bareEnv(folder))).toBeNull();
  expect((await failure(getK6({ env: bareEnv(folder) }))).message).toContain("no Go 1.25");
});
