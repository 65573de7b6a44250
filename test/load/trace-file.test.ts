// A trace while it is written: whole at the end, honest where the run is killed, and every line that is lost is counted.
import { mkdtemp, open, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { TraceFile } from "../../src/load/trace-file.ts";
import { head } from "./support.ts";

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "spillway-trace-file-"));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

async function opened(): Promise<{ trace: TraceFile; text: () => Promise<string> }> {
  const trace = await TraceFile.create(join(await folder(), "trace.jsonl"), head);
  return { trace, text: () => readFile(trace.path, "utf8") };
}

/** Lets the next write fail, as on a full disk. */
async function failOnce(path: string): Promise<void> {
  const handle = await open(path);
  const kind = Object.getPrototypeOf(handle) as { writeFile(text: string): Promise<void> };
  await handle.close();
  vi.spyOn(kind, "writeFile").mockRejectedValueOnce(new Error("no space left"));
}

const headerOf = (text: string): unknown => JSON.parse(text.split("\n")[0] ?? "");

test("the header has its room from the beginning: calls missing until the end is known, of one length with it", async () => {
  const { trace, text } = await opened();
  const before = await text();
  expect(headerOf(before)).toMatchObject({ startedAt: 1_000, complete: false, lost: 0 });
  trace.add("a");
  trace.add("b\nc", 2);
  await trace.flush();
  await trace.finish({ startedAt: 2_000, lost: 3, complete: true });
  const after = await text();
  expect(headerOf(after)).toMatchObject({ startedAt: 2_000, complete: true, lost: 3 });
  expect(after.slice(before.length)).toBe("a\nb\nc\n");
  expect([trace.linesFailed, trace.failure]).toEqual([0, null]);
});

test("lines are written once they are 64 Ki characters, and not before", async () => {
  const { trace, text } = await opened();
  const { length } = await text();
  trace.add("x".repeat((1 << 16) - 2));
  expect(await text()).toHaveLength(length);
  trace.add("");
  await vi.waitFor(async () => expect(await text()).toHaveLength(length + (1 << 16)));
  await trace.discard();
});

test("from the first line that cannot be written all are counted, and the trace ends at the last whole line", async () => {
  const { trace, text } = await opened();
  trace.add("first");
  await trace.flush();
  const whole = await text();
  await failOnce(trace.path);
  trace.add("second\nthird", 2);
  await trace.flush();
  expect([trace.linesFailed, trace.failure?.message]).toEqual([2, "no space left"]);
  trace.add("fourth");
  await trace.flush();
  expect(trace.linesFailed).toBe(3);
  await trace.flush();
  expect(trace.linesFailed).toBe(3);
  await trace.finish({ startedAt: 1_000, lost: 3, complete: true });
  expect((await text()).split("\n").slice(1)).toEqual(["first", ""]);
  expect(await text()).toHaveLength(whole.length);
});

test("lines of the very first write are counted where it fails", async () => {
  const { trace } = await opened();
  await failOnce(trace.path);
  trace.add("first\nsecond", 2);
  trace.add("third");
  await trace.flush();
  expect(trace.linesFailed).toBe(3);
  await trace.discard();
});

test("a header that is left alone has no call behind it; what is discarded is gone", async () => {
  const left = await opened();
  const header = await left.text();
  left.trace.add("first");
  await left.trace.flush();
  await left.trace.leaveHeader();
  expect(await left.text()).toBe(header);
  const discarded = await opened();
  await discarded.trace.discard();
  await expect(discarded.text()).rejects.toThrow("ENOENT");
});

test("a link in its place is replaced, and what it led to stays", async () => {
  const place = await folder();
  await writeFile(join(place, "other"), "mine");
  await symlink(join(place, "other"), join(place, "trace.jsonl"));
  const trace = await TraceFile.create(join(place, "trace.jsonl"), head);
  await trace.finish({ startedAt: 1_000, lost: 0, complete: true });
  expect(await readFile(join(place, "other"), "utf8")).toBe("mine");
});
