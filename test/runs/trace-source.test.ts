// A trace is read again where a long window has something to explain, whatever it comes from: a file, gzip, a pipe, memory.
import { execFile } from "node:child_process";
import { createReadStream, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { ByteCopy } from "../../src/files/byte-copy.ts";
import { openTraceSource, type RereadableTrace, sourceOf } from "../../src/runs/trace-source.ts";
import { openTrace } from "../../src/trace/read.ts";
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";
import { judge } from "../../src/verify/judge.ts";
import { verifyReading } from "../../src/verify/verify.ts";
import * as day from "../verify/days.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-source-"));
const copies = mkdtempSync(join(tmpdir(), "spillway-copies-"));
afterAll(() => {
  for (const path of [folder, copies]) rmSync(path, { recursive: true });
});
beforeEach(() => {
  vi.stubEnv("TMPDIR", copies);
  return () => vi.unstubAllEnvs();
});

const count = 12_000;
const lines = [...day.linesOf(count, [9000])];
const text = [encodeHeader(day.header), ...lines.map(({ call }) => encodeCall(call)), ""].join("\n");
const rowsMost = 1024;
const held = await judge(day.header, lines, { rowsMost: Number.POSITIVE_INFINITY });
const never = new AbortController().signal;

/** Names a pipe that gives these bytes once. */
async function pipe(name: string, bytes: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await promisify(execFile)("mkfifo", [path]);
  void writeFile(path, bytes).catch((error: NodeJS.ErrnoException) => {
    // Whoever gives a pipe up breaks it.
    if (error.code !== "EPIPE") throw error;
  });
  return path;
}

function written(name: string, bytes: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

const opened = (path: string): Promise<RereadableTrace> =>
  openTraceSource(path, { sort: false, signal: never });
const needsPipes = { tags: ["coreutils"] };

async function isReadAgain(source: () => Promise<RereadableTrace>): Promise<void> {
  const { first, again, close } = await source();
  const readAgain = vi.fn(again);
  const verdict = await verifyReading(first, { again: readAgain, rowsMost });
  expect(readAgain).toHaveBeenCalledTimes(1);
  expect(verdict).toEqual(held);
  await close();
  expect(readdirSync(copies)).toEqual([]);
}

test.each<[string, () => Promise<RereadableTrace>]>([
  ["a file", () => opened(written("day.ndjson", text))],
  [
    "a file that a thread reads",
    () => openTraceSource(written("day.ndjson", text), { sort: false, signal: never, threadBytesLeast: 0 }),
  ],
  ["gzip", () => opened(written("day.ndjson.gz", gzipSync(text)))],
  ["whatever opens again", () => sourceOf(() => openTrace(createReadStream(written("day.ndjson", text))))],
])("%s", (_, source) => isReadAgain(source));

test("a pipe", needsPipes, () => isReadAgain(async () => opened(await pipe("plain", text))));
test("a pipe of gzip", needsPipes, () =>
  isReadAgain(async () => opened(await pipe("packed", gzipSync(text)))),
);

test("records in memory", async () => {
  expect(held.violations).not.toEqual([]);
  expect(await judge(day.header, lines, { rowsMost })).toEqual(held);
});

/** Bytes in pieces that are used again, as a source may give them. */
async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function bytesIn(source: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Buffer[] = [];
  for await (const piece of source) all.push(Buffer.from(piece));
  return Buffer.concat(all).toString();
}

test("a copy gives the same bytes as often as they are asked for, and has no name", async () => {
  const copy = new ByteCopy(pieces(Buffer.from(text), 70_001));
  expect(await bytesIn(copy.first())).toBe(text);
  expect(readdirSync(copies)).toEqual([]);
  expect(await bytesIn(copy.again())).toBe(text);
  expect(await bytesIn(copy.again())).toBe(text);
  await copy.close();
  await copy.close();
  await expect(bytesIn(copy.again())).rejects.toMatchObject({ code: "SYSTEM_REFUSED" });
});

test.each([
  [
    "is longer than a copy may be",
    () => new ByteCopy(pieces(Buffer.from(text), 1000), 10_000),
    "more than 10000 bytes",
  ],
  [
    "finds no room for one",
    () => {
      vi.stubEnv("TMPDIR", join(copies, "nowhere"));
      return new ByteCopy(pieces(Buffer.from(text), 1000), 10_000_000);
    },
    "ENOENT",
  ],
])("what %s is read once, and not again", async (_, make, got) => {
  const copy = make();
  expect(await bytesIn(copy.first())).toBe(text);
  await expect(bytesIn(copy.again())).rejects.toMatchObject({
    code: "SYSTEM_REFUSED",
    problems: [{ got: expect.stringContaining(got) }],
    hint: "write them to a file, and name that",
  });
  await copy.close();
});

test("bytes that were read in part alone are not read again", async () => {
  const copy = new ByteCopy(pieces(Buffer.from(text), 1000));
  await copy.first().next();
  await expect(bytesIn(copy.again())).rejects.toMatchObject({
    problems: [{ got: "the first reading did not come to its end" }],
  });
  await copy.close();
});

test("a pipe that is given up leaves nothing behind", needsPipes, async () => {
  const ending = new AbortController();
  const path = await pipe("endless", text);
  const { first, again, close } = await openTraceSource(path, { sort: false, signal: ending.signal });
  const onProgress = (): void => ending.abort(new Error("enough"));
  await expect(verifyReading(first, { again, onProgress, signal: ending.signal })).rejects.toThrow("enough");
  await close();
  expect(readdirSync(copies)).toEqual([]);
});
