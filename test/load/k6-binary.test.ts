// Finding k6, with programs of the test's own in its place.
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { cacheFolder, findK6, installedK6, k6Advice, usableGo } from "../../src/load/k6-binary.ts";
import { failure, newFolder, removed } from "./support.ts";

let folder = "";
const folders: string[] = [];
beforeEach(async () => {
  folder = await newFolder();
  folders.push(folder);
});
afterAll(() => Promise.all(folders.map(removed)));

/** Writes a program. */
async function program(path: string, script: string): Promise<string> {
  const whole = join(folder, path);
  await mkdir(dirname(whole), { recursive: true });
  await writeFile(whole, `#!/bin/sh\n${script}\n`);
  await chmod(whole, 0o755);
  return whole;
}

const says = (version: string): string => `echo "k6 v${version} (go1.26.8, linux/amd64)"`;
/** `sh` itself must be found; nothing else is. */
const env = (more: Record<string, string> = {}) => ({
  PATH: join(folder, "bin"),
  XDG_CACHE_HOME: join(folder, "cache"),
  ...more,
});
const cached = "cache/spillway/bin/k6";

describe("k6 is looked for", () => {
  test("in K6_PATH, then in PATH, then in the cache", async () => {
    expect(await installedK6(env())).toBeNull();
    const third = await program(cached, says("1.3.0"));
    expect(await findK6({ env: env() })).toEqual({ path: third, version: "1.3.0", origin: "cache" });
    const second = await program("bin/k6", says("1.2.0"));
    expect(await findK6({ env: env() })).toEqual({ path: second, version: "1.2.0", origin: "PATH" });
    const first = await program("own/k6-mine", says("2.0.0"));
    const named = { path: first, version: "2.0.0", origin: "K6_PATH" };
    expect(await findK6({ env: env({ K6_PATH: first }) })).toEqual(named);
  });

  test("in the cache of XDG_CACHE_HOME, or under the home", () => {
    expect(cacheFolder({ XDG_CACHE_HOME: "/x" })).toBe(join("/x", "spillway", "bin"));
    expect(cacheFolder({})).toMatch(/[\\/]\.cache[\\/]spillway[\\/]bin$/);
  });
});

describe("one that cannot be used is an error, not a reason to look further", () => {
  test.each([
    ["too old", says("0.57.0"), /is k6 0\.57\.0, which is too old: 1\.0 or newer is needed/],
    ["another program", "echo hello", /is no k6/],
    ["one that fails", "exit 3", /is no k6: "k6 version" ended with 3/],
  ])("%s", async (_, script, message) => {
    await program(cached, says("1.3.0"));
    const path = await program("bin/k6", script);
    const error = await failure(findK6({ env: env() }));
    expect(error).toMatchObject({ code: "K6_MISSING", exitCode: 3 });
    expect(error.message).toContain(`${path} (from PATH)`);
    expect(error.message).toMatch(message);
  });

  test("a K6_PATH that is not there", async () => {
    const error = await failure(findK6({ env: env({ K6_PATH: join(folder, "nowhere") }) }));
    expect(error.message).toMatch(/nowhere \(from K6_PATH\) cannot be run: ENOENT$/);
  });
});

describe("without any", () => {
  test("and without Go, the error says how to get it", async () => {
    const error = await failure(findK6({ env: env() }));
    expect(error).toMatchObject({ code: "K6_MISSING", exitCode: 3 });
    for (const line of k6Advice()) expect(error.hint).toContain(line);
    expect(error.hint).toMatch(/package manager.*Go 1\.25.*container.*K6_PATH/s);
  });

  test("an old Go is none", async () => {
    await program("bin/go", "echo go1.24.9");
    expect(await usableGo(env())).toBeNull();
    expect((await failure(findK6({ env: env() }))).message).toContain("no Go 1.25");
  });

  const go = (install: string): string => `if [ "$1" = env ]; then echo go1.26.8; exit; fi\n${install}`;

  test("Go builds it into the cache, once, and says how far it is", async () => {
    const script = `#!/bin/sh\\n${says("1.8.1").replaceAll('"', '\\"')}\\n`;
    await program(
      "bin/go",
      go(
        `[ "$*" = "install -v go.k6.io/k6@v1.8.1" ] || exit 9\necho net >&2\necho net/http >&2\nprintf "${script}" > "$GOBIN/k6"\n/bin/chmod 755 "$GOBIN/k6"`,
      ),
    );
    const progress: string[] = [];
    const built = await findK6({ env: env(), onProgress: (text) => progress.push(text) });
    expect(built).toEqual({ path: join(folder, cached), version: "1.8.1", origin: "built" });
    expect(progress[0]).toBe("building k6 v1.8.1 with Go, about a minute, once");
    expect(progress.at(-1)).toMatch(/^building k6 v1\.8\.1 with Go, once: [12] steps done$/);
    expect(await findK6({ env: env() })).toMatchObject({ origin: "cache" });
    expect(await readdir(dirname(join(folder, cached)))).toEqual(["k6"]);
  });

  test.each([
    ["fails", `echo "go: no network" >&2; exit 1`, /building it with Go failed:\n {2}go: no network/],
    [
      "builds something else",
      `printf "#!/bin/sh\\necho hello\\n" > "$GOBIN/k6"; /bin/chmod 755 "$GOBIN/k6"`,
      /is no k6/,
    ],
  ])("a build that %s leaves nothing behind", async (_, install, message) => {
    await program("bin/go", go(install));
    const error = await failure(findK6({ env: env() }));
    expect(error.code).toBe("K6_MISSING");
    expect(error.message).toMatch(message);
    expect(await readdir(dirname(join(folder, cached)))).toEqual([]);
  });

  test("a build can be interrupted", async () => {
    await program("bin/go", go("exec /bin/sleep 60"));
    const control = new AbortController();
    const building = findK6({
      env: env(),
      signal: control.signal,
      onProgress: () => control.abort(),
    });
    await expect(building).rejects.toMatchObject({ name: "AbortError" });
    expect(await readdir(dirname(join(folder, cached)))).toEqual([]);
  });
});
