// Options of a replay, its progress, and its end.

import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exitOf, isByDefault, optionsOf, Progress, rulesOf } from "../../src/cli/replay.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { recorded } from "../support/recorded.ts";
import { TypedIn } from "./typed.ts";

type Args = Parameters<typeof optionsOf>[0];
const read = (given: object) =>
  optionsOf({ seed: 1, independent: false, "keep-refused": false, ...given } as Args);

test("what is not given is left to the logs", async () => {
  expect(await read({})).toEqual({ expect: {}, reaction: undefined, given: {}, changes: [] });
});

test("bounds, changes, limits and the callers' reaction are read", async () => {
  const given = {
    expect: ["refused==0"],
    set: ["user.rest.limit=3"],
    rules: "default",
    open: true,
    out: "x",
  };
  expect(await read(given)).toEqual({
    ...{ expect: { refused: "==0" }, reaction: undefined, changes: ["user.rest.limit=3"] },
    given: { rules: parseRules({}) },
  });
  const reacting = { "on-refused": "waitReset", seed: 0, independent: true, "keep-refused": true };
  expect((await read(reacting)).reaction).toMatchObject({
    ...{ words: "waitReset", seed: 0, independent: true, keepRefused: true },
  });
  expect((await read({ rules: "github" })).given).toMatchObject({ policy: { name: "github" } });
});

test.each<[object, string]>([
  [{ open: true }, "--open needs --out, where the report is written"],
  [{ independent: true }, "--independent and --keep-refused are about callers that react"],
  [{ "keep-refused": true }, "--independent and --keep-refused are about callers that react"],
  [{ seed: -1 }, "--seed cannot be used"],
  [{ rules: "github", set: ["user.rest.limit=3"] }, "--set changes rules, and no policy"],
  [{ expect: ["refused"] }, "--expect cannot be used"],
])("%j is refused: %s", async (given, said) => {
  await expect(read(given)).rejects.toThrow(said);
});

test.each([
  [false, [], 0],
  [false, [true, true], 0],
  [false, [true, false], 1],
  [true, [false], 130],
])("interrupted %s, with expectations that held %j, it ends with %i", (interrupted, held, status) => {
  expect(exitOf({ interrupted, expectations: held.map((one) => ({ held: one })) } as never)).toBe(status);
});

test("rules are those that a single trace claims", async () => {
  const golden = (name: string) => {
    const path = fileURLToPath(new URL(`../golden/${name}.trace.ndjson`, import.meta.url));
    const open = async function* () {
      yield readFileSync(path);
    };
    return { sample: { format: "trace" }, open } as never;
  };
  const [ruled, bare] = [golden("documented-ok"), golden("without-rules-documented-ok")];
  const claimed = await rulesOf({ files: [ruled] });
  expect(claimed.organization.rest.limit).toBe(8);
  expect(await rulesOf({ files: [bare] })).toEqual(parseRules({}));
  expect(await rulesOf({ files: [ruled, ruled] })).toEqual(parseRules({}));
  const told = (files: never[], args = {}) => isByDefault({ files, policy: undefined }, args);
  expect([told([ruled]), told([ruled, ruled])]).toEqual([false, true]);
  expect([told([ruled, ruled], { rules: "my.json" }), told([ruled, ruled], { set: ["a=1"] })]).toEqual([
    false,
    false,
  ]);
  expect(await rulesOf({ files: [] })).toEqual(parseRules({}));
  const csv = { sample: { format: "csv" }, open: () => expect.fail("it is read") } as never;
  expect(await rulesOf({ files: [csv] })).toEqual(parseRules({}));
});

test("progress is rows read, then the share of calls that callers made", async () => {
  let nowMs = 0;
  const { terminal, progress } = recorded();
  const shown = new Progress(terminal, () => nowMs);
  const tell = async (atMs: number, rows: number, of: number | null) => {
    nowMs = atMs;
    await shown.replayed({ rows, of } as never);
  };
  await tell(0, 0, null);
  shown.read("", 0.25);
  await tell(1_000, 1, null);
  shown.read("", 0.5);
  await tell(2_000, 2_000, null);
  await tell(3_000, 0, 10);
  await tell(4_000, 5, 10);
  shown.read("", null);
  await tell(5_000, 7, null);
  expect(progress).toEqual([
    "replaying: 0 rows",
    "replaying: 1 row, 1.0 rows/s, about 3 s left",
    "replaying: 2,000 rows, 1,000 rows/s, about 2 s left",
    "callers react: 0% of the calls",
    "callers react: 50% of the calls, 5.0 calls/s, about 1 s left",
    "replaying: 7 rows, 3.5 rows/s",
  ]);
});

const log = Array.from({ length: 120 }, (_, at) => {
  const time = new Date(Date.UTC(2026, 0, 5, 12) + at * 10_000).toISOString();
  return `10.0.0.1 - ann [05/Jan/2026:${time.slice(11, 19)} +0000] "GET /v2/user HTTP/1.1" 200 12 "-" "curl"\n`;
}).join("");

describe("as it is typed, a replay's folder", () => {
  let here: TypedIn;
  beforeAll(async () => {
    here = await TypedIn.of({ "access.log": log });
  });
  afterAll(() => here.remove());
  const ran = (command: string) => here.run(command);

  test("of a replay is written, and reported again", async () => {
    const { code, said } = await ran(
      "replay access.log --out replay --set user.rest.limit=3 --expect refused>0",
    );
    expect([code, said[0], said.at(-1)]).toMatchInlineSnapshot(`
      [
        0,
        "access.log: 60 of 120 calls (50%) would have been refused",
        "  replay/report.html",
      ]
    `);
    expect((await readdir(join(here.folder, "replay"))).filter((name) => name.endsWith(".csv"))).toEqual([
      "users.csv",
      "windows.csv",
    ]);
    const note = "  note the limits are the defaults: --policy names others, --set changes one";
    expect(said).not.toContain(note);
    const json = await ran("replay access.log --json --expect refused>0");
    expect(json.aside.at(-1)).toBe(note);
    expect([json.code, json.json()]).toEqual([1, expect.objectContaining({ interrupted: false })]);
    const again = await ran("report replay");
    expect([again.code, again.said]).toMatchInlineSnapshot(`
      [
        0,
        [
          "access.log: 60 of 120 calls (50%) would have been refused",
          "  replay/report.html",
          "  replay/summary.md",
          "  replay/junit.xml",
        ],
      ]
    `);
    const dry = await ran("replay access.log --dry-run --json");
    expect(dry.json()).toMatchObject({ files: [{ name: "access.log" }], unread: [] });
  });
});
