// Options of logs: what is taken, what is left out, and files that are meant.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LogOptions } from "../../src/logs/choices.ts";
import { defaultGraphqlPath, defaultStatusPath } from "../../src/logs/choices.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { sourceOf } from "../../src/runs/log-bytes.ts";
import { callersOf, digestOf, flagsOf, settingsOf, trafficOf } from "../../src/runs/log-flags.ts";
import { filesOf } from "../../src/runs/log-input.ts";

/** The first mistake of an option. */
function problemOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    if (error instanceof SpillwayError) return error.problems[0]?.path;
    throw error;
  }
}
const options = (more: Partial<LogOptions>): LogOptions => more as LogOptions;

describe("options of a log", () => {
  test.each([
    [undefined, 1],
    ["2x", 2],
    ["0.5", 0.5],
    ["1000x", 1_000],
    ["1001", "--traffic"],
    ["0", "--traffic"],
    ["-1", "--traffic"],
    ["2xx", "--traffic"],
  ])("--traffic %s: %s", (traffic, factor) => {
    expect(problemOf(() => trafficOf({ traffic }))).toBe(factor);
  });

  test.each([
    [undefined, 0],
    ["UTC", 0],
    ["Z", 0],
    ["+02:00", 120],
    ["-0530", -330],
    ["+23:59", 1_439],
    ["-05", -300],
    ["Europe/Paris", "Europe/Paris"],
    ["Europe/Pari", "--zone"],
    ["+24:00", "--zone"],
    ["+00:60", "--zone"],
    ["2", "--zone"],
  ])("--zone %s: %s", (zone, minutes) => {
    expect(problemOf(() => settingsOf(options({ zone })).zone)).toBe(minutes);
  });

  test.each([
    [undefined, 0.01],
    ["0", 0],
    ["1", 1],
    ["5%", 0.05],
    ["1.1", "--allow-unread"],
    ["some", "--allow-unread"],
  ])("--allow-unread %s: %s", (allowUnread, share) => {
    expect(problemOf(() => settingsOf(options({ allowUnread })).unreadMost)).toBe(share);
  });

  test.each([
    [undefined, null],
    [0, 0],
    [2 ** 31 - 1, 2 ** 31 - 1],
    [2 ** 31, "--graphql-cost"],
    [-1, "--graphql-cost"],
    [1.5, "--graphql-cost"],
  ])("--graphql-cost %s: %s", (graphqlCost, cost) => {
    expect(problemOf(() => settingsOf(options({ graphqlCost })).graphqlCost)).toBe(cost);
  });

  test("what is left out is the default", () => {
    expect(settingsOf(options({}))).toMatchObject({
      ...{
        organization: null,
        statusPath: defaultStatusPath,
        graphqlPath: defaultGraphqlPath,
        paths: undefined,
        sort: false,
      },
    });
    expect(
      settingsOf(
        options({ path: [], sort: true, organization: "acme", statusPath: "/s", graphqlPath: "/g" }),
      ),
    ).toMatchObject({
      ...{ organization: "acme", statusPath: "/s", graphqlPath: "/g", paths: undefined, sort: true },
    });
    expect(settingsOf(options({ path: ["/a"] })).paths).toEqual(["/a"]);
    expect(
      flagsOf(
        options({ timeColumn: "t", userColumn: "u", tokenColumn: "k", timeIs: "end" } as Partial<LogOptions>),
      ),
    ).toEqual({
      ...{ columns: { time: "t", user: "u" }, tokenColumn: "k", durationUnit: undefined, timeIs: "end" },
    });
    expect(digestOf("one")).toBe("7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed");
  });

  test("callers are pairs, and go with a policy", () => {
    const policy = {} as Policy;
    expect(
      callersOf(options({ callerColumn: ["tenant=id"], caller: ["a=b=c"], organization: "acme" }), policy),
    ).toEqual({
      ...{ columns: { tenant: "id" }, values: { a: "b=c" }, hasOrganization: true },
    });
    expect(callersOf(options({}), undefined)).toEqual({ columns: {}, values: {}, hasOrganization: false });
    expect(problemOf(() => callersOf(options({ caller: ["a=b"] }), undefined))).toBe("--caller");
    expect(problemOf(() => callersOf(options({ caller: ["a="] }), policy))).toBe("--caller");
    expect(problemOf(() => callersOf(options({ callerColumn: ["=b"] }), policy))).toBe("--caller-column");
  });
});

describe("files of logs", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "spillway-logs-"));
    await mkdir(join(folder, "deep", "run"), { recursive: true });
    for (const name of ["b.log", "a.log", "c.txt", "deep/d.log", "deep/run/trace.ndjson", "deep/odd*.log"])
      await writeFile(join(folder, name), "0123456789");
  });
  afterAll(() => rm(folder, { recursive: true }));
  const found = async (...paths: string[]): Promise<string[]> =>
    (await filesOf(paths.map((path) => (path === "-" ? path : join(folder, path))))).map((path) =>
      path.replace(`${folder}/`, ""),
    );

  test("are those that fit, by name; a run is its trace", async () => {
    expect(await found("*.log", "a.log")).toEqual(["a.log", "b.log", "a.log"]);
    expect(await found("**/*.log")).toEqual(["a.log", "b.log", "deep/d.log", "deep/odd*.log"]);
    expect(await found("de*/?.log")).toEqual(["deep/d.log"]);
    expect(await found("deep/run", "-", "deep/odd*.log", "none.log")).toEqual([
      "deep/run/trace.ndjson",
      "-",
      "deep/odd*.log",
      "none.log",
    ]);
    await expect(found("x*.log")).rejects.toMatchObject({ code: "FILE_UNREADABLE" });
    await expect(found("none/*.log")).rejects.toMatchObject({
      problems: [{ path: join(folder, "none/*.log"), got: "no file" }],
    });
  });

  test("are read from their beginning, as often as they are opened", async () => {
    const source = await sourceOf(join(folder, "a.log"), undefined);
    expect([source.name, source.bytes]).toEqual([join(folder, "a.log"), 10]);
    for (let time = 0; time < 2; time++) {
      let text = "";
      for await (const chunk of source.open()) text += Buffer.from(chunk).toString();
      expect(text).toBe("0123456789");
    }
    await expect(sourceOf(folder, undefined)).rejects.toMatchObject({ problems: [{ got: "a folder" }] });
    await expect(sourceOf(join(folder, "none"), undefined)).rejects.toMatchObject({
      code: "FILE_UNREADABLE",
    });
  });
});
