// Looking k6 up, with programs of the test's own in its place.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { cacheFolder, lookUpK6, requireK6 } from "../../src/load/k6-binary.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { bareEnv, cached, program, says } from "./k6-programs.ts";
import { newFolder, removed } from "./support.ts";

let folder = "";
const folders: string[] = [];
beforeEach(async () => {
  folder = await newFolder();
  folders.push(folder);
});
afterAll(() => Promise.all(folders.map(removed)));

const lookUp = (more: Record<string, string> = {}) => lookUpK6({ env: bareEnv(folder, more) });

describe("k6 is looked up", () => {
  test("in K6_PATH, then in PATH, then in the cache", async () => {
    expect(await lookUp()).toBeNull();
    const third = await program(folder, cached, says("1.3.0"));
    expect(await lookUp()).toEqual({ path: third, version: "1.3.0", origin: "cache" });
    const second = await program(folder, "bin/k6", says("1.2.0"));
    expect(await lookUp()).toEqual({ path: second, version: "1.2.0", origin: "PATH" });
    const first = await program(folder, "own/k6-mine", says("2.0.0"));
    const named = { path: first, version: "2.0.0", origin: "K6_PATH" };
    expect(await lookUp({ K6_PATH: first })).toEqual(named);
  });

  test("in the cache of XDG_CACHE_HOME, or under the home", () => {
    expect(cacheFolder({ XDG_CACHE_HOME: "/x" })).toBe(join("/x", "spillway", "bin"));
    expect(cacheFolder({})).toMatch(/[\\/]\.cache[\\/]spillway[\\/]bin$/);
  });

  test("and never built: a Go in PATH is not run", async () => {
    await program(folder, "bin/go", `echo run > '${join(folder, "go-was-run")}'`);
    const error = await codedErrorOf(requireK6({ env: bareEnv(folder) }));
    expect(error).toMatchObject({ code: "K6_MISSING", exitCode: 3, message: "k6 is not installed" });
    expect(error.hint).toMatch(/^npx spillway doctor --get-k6 gets k6; .*K6_PATH=/);
    expect(await readdir(folder)).toEqual(["bin"]);
  });
});

describe("one that cannot be used is an error, not a reason to look further", () => {
  test.each([
    ["too old", says("0.57.0"), /is k6 0\.57\.0, which is too old: 1\.0 or newer is needed/],
    ["another program", "echo hello", /is no k6/],
    ["one that fails", "exit 3", /is no k6: "k6 version" ended with 3/],
  ])("%s", async (_, script, message) => {
    await program(folder, cached, says("1.3.0"));
    const path = await program(folder, "bin/k6", script);
    const error = await codedErrorOf(lookUp());
    expect(error).toMatchObject({ code: "K6_MISSING", exitCode: 3 });
    expect(error.message).toContain(`${path} (from PATH)`);
    expect(error.message).toMatch(message);
  });

  test("a K6_PATH that is not there", async () => {
    const error = await codedErrorOf(lookUp({ K6_PATH: join(folder, "nowhere") }));
    expect(error.code).toBe("K6_MISSING");
    expect(error.message).toMatch(/nowhere \(from K6_PATH\) cannot be run: ENOENT$/);
  });

  test("one that hangs, whose own child holds its output open, is given up after the limit", async () => {
    await program(folder, "bin/k6", "trap '' TERM\n/bin/sleep 60 &\n/bin/sleep 60");
    const error = await codedErrorOf(lookUpK6({ env: bareEnv(folder), limitMs: 100 }));
    expect(error.code).toBe("K6_MISSING");
    expect(error.message).toMatch(/k6 \(from PATH\) does not answer: "k6 version" took longer than 100 ms$/);
  });

  test("looking is ended by a signal", async () => {
    await program(folder, "bin/k6", "/bin/sleep 60");
    const control = new AbortController();
    const looking = lookUpK6({ env: bareEnv(folder), signal: control.signal });
    control.abort();
    await expect(looking).rejects.toMatchObject({ name: "AbortError" });
  });
});
