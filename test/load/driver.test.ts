// Who drives a run: k6 where it is found, else Node.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { chooseDriver, type DriverName } from "../../src/load/driver.ts";
import { driverLine } from "../../src/runs/load-into.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { bareEnv, program, says } from "./k6-programs.ts";
import { newFolder, removed } from "./support.ts";

let folder = "";
const folders: string[] = [];
beforeEach(async () => {
  folder = await newFolder();
  folders.push(folder);
});
afterAll(() => Promise.all(folders.map(removed)));

const chosen = (wanted?: DriverName, more: Record<string, string> = {}) =>
  chooseDriver(wanted, { env: bareEnv(folder, more) });

describe("the driver is", () => {
  test("k6 where it is found", async () => {
    const path = await program(folder, "bin/k6", says("1.8.1"));
    const k6 = { path, version: "1.8.1", origin: "PATH" };
    expect(await chosen()).toEqual({ driver: "k6", k6 });
    expect(await chosen("k6")).toEqual({ driver: "k6", k6 });
    expect(driverLine(await chosen())).toBe("k6 1.8.1 drives the load.");
  });

  test("Node where there is none, and says what k6 would add and how to get it", async () => {
    const choice = await chosen();
    expect(choice).toEqual({ driver: "node", because: "k6 was not found" });
    expect(driverLine(choice)).toMatch(
      /^k6 was not found, so Node drives the load \(about [\d,]+ calls\/s; k6 reaches [\d,]+\)\. Get k6: npx spillway doctor --get-k6$/,
    );
  });

  test("Node where it is asked for, whatever k6 is like", async () => {
    await program(folder, "bin/k6", "exit 3");
    expect(await chosen("node")).toEqual({ driver: "node", because: null });
    expect(driverLine(await chosen("node"))).toMatch(/^Node drives the load \(about/);
  });

  test("Node where the k6 in PATH cannot be used, and says why", async () => {
    await program(folder, "bin/k6", says("0.57.0"));
    const line = driverLine(await chosen());
    expect(line).toMatch(/bin\/k6 \(from PATH\) is k6 0\.57\.0, which is too old: .*, so Node drives/);
  });

  test("nobody where the k6 that was named cannot be used, or k6 must drive and is missing", async () => {
    const named = await program(folder, "old/k6", says("0.57.0"));
    const missing = { code: "K6_MISSING", exitCode: 3 };
    expect(await codedErrorOf(chosen(undefined, { K6_PATH: named }))).toMatchObject(missing);
    expect(await codedErrorOf(chosen("k6"))).toMatchObject(missing);
  });
});
