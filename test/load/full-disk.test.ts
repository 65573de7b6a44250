// A disk that becomes full under a run by Node: what is written is kept, whole lines alone, and the run ends.
// @module-tag real-time
// @module-tag paced
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { codedErrorOf } from "../support/coded-error.ts";
import { counted, newFolder, readTraceFile, removed, runNode, scenarioFile, wideRules } from "./support.ts";

/** Bytes that there is room for; more are refused, after as many as fit. */
let room = Number.POSITIVE_INFINITY;
const { open } = fs;

beforeAll(() => {
  fs.open = async (path, ...rest) => {
    const file = await open(path, ...rest);
    if (!String(path).endsWith("trace.ndjson")) return file;
    const writeFile = file.writeFile.bind(file);
    file.writeFile = async (text) => {
      const bytes = Buffer.from(text as string);
      await writeFile(bytes.subarray(0, room));
      if (bytes.length > room)
        throw Object.assign(new Error("ENOSPC: no space left on device, write"), {
          code: "ENOSPC",
          syscall: "write",
        });
      room -= bytes.length;
    };
    return file;
  };
  syncBuiltinESMExports();
});
afterAll(() => {
  fs.open = open;
  syncBuiltinESMExports();
});

let folder = "";
beforeAll(async () => {
  folder = await newFolder();
});
afterAll(() => removed(folder));

const busy = `duration: "60s", populations: { busy: { clients: 6, behaviour: worker({ calls: [{ call: user }], think: "2ms" }) } }`;

test("half-way: the trace ends with the last whole line, what was on the way is lost", async () => {
  room = 150_000;
  const path = await scenarioFile(folder, "filling", busy);
  const target = counted();
  const result = await runNode(path, join(folder, "filling"), { adjustments: { rules: wideRules }, target });
  const { header, calls, text } = await readTraceFile(result.trace);
  expect(result.failure).toMatch(/^[\d,]+ lines of the trace could not be written: ENOSPC/);
  expect(result.interrupted).toBe(false);
  expect(calls.length).toBeGreaterThan(100);
  expect(calls.length).toBe(result.account.calls);
  expect(text.endsWith("}\n")).toBe(true);
  expect(target.requests()).toBeGreaterThan(calls.length);
  expect(target.requests()).toBeLessThanOrEqual(calls.length + Number(header.lost));
}, 60_000);

test("from the start: nothing is sent", async () => {
  room = 0;
  const path = await scenarioFile(folder, "full", busy);
  const target = counted();
  const error = await codedErrorOf(
    runNode(path, join(folder, "full"), { adjustments: { rules: wideRules }, target }),
  );
  expect(error).toMatchObject({ code: "FILE_UNWRITABLE", exitCode: 2 });
  expect(error.problems[0]?.got).toContain("ENOSPC");
  expect(target.requests()).toBe(0);
});
