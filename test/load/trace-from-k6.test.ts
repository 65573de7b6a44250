// k6's output becomes a trace: every line accounted for, whole lines only.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TraceFile } from "../../src/load/trace-file.ts";
import { traceFromK6, unfinishedK6Trace } from "../../src/load/trace-from-k6.ts";
import { readTrace, type TraceLine } from "../../src/trace/read.ts";
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { head, newFolder, readTraceFile, removed } from "./support.ts";

let folder = "";
beforeAll(async () => {
  folder = await newFolder();
});
afterAll(() => removed(folder));

const line = (client: string, call: number, status = 200, sent = 1_000 + call): string =>
  encodeCall({
    sent,
    received: sent + 5,
    client,
    call,
    org: "acme",
    user: "user-0",
    scope: "rest",
    kind: "call",
    cost: 1,
    status,
    scopeName: null,
    limit: null,
    remaining: null,
    reset: null,
    userScopeName: null,
    userLimit: null,
    userRemaining: null,
    userReset: null,
  });
const start = (client: string): string => JSON.stringify({ start: client });
const end = (client: string): string => JSON.stringify({ end: client });

async function made(raw: string, more: { linesFailed?: number; requests?: number | null } = {}) {
  const [from, to] = [join(folder, "raw.ndjson"), join(folder, "trace.ndjson")];
  await writeFile(from, raw);
  const inFlightMost = new Map([
    ["one", 1],
    ["many", 8],
  ]);
  const account = await traceFromK6({
    raw: from,
    trace: await TraceFile.create(to, head),
    head,
    inFlightMost,
    linesFailed: 0,
    requests: null,
    ...more,
  });
  return { account, ...(await readTraceFile(to)) };
}

describe("a whole run", () => {
  test("begins when k6 began with its clients, not with itself", async () => {
    const began = (client: string, at: number): string => JSON.stringify({ start: client, at });
    const raw = [began("many/0", 1_470), began("one/0", 1_465), line("one/0", 0, 200, 1_465), end("one/0")];
    const { account, header: written } = await made(`${raw.join("\n")}\n`);
    expect([account.startedAt, written.startedAt]).toEqual([1_465, 1_465]);
    expect((await made("")).account.startedAt).toBe(1_000);
  });

  test("keeps the calls as they are, in their order, and nothing else", async () => {
    const calls = [line("one/0", 0), line("one/0", 1, 429), line("many/3", 0)];
    const raw = [
      start("one/0"),
      start("many/3"),
      calls[0],
      end("one/0"),
      calls[1],
      calls[2],
      end("many/3"),
      "",
    ];
    const { account, header: written, text } = await made(raw.join("\n"), { requests: 3 });
    expect(text.split("\n").slice(1)).toEqual([...calls, ""]);
    expect(written).toEqual({ ...head, lost: 0 });
    expect(account).toMatchObject({
      calls: 3,
      refused: 1,
      clients: 2,
      cutOff: 0,
      lost: 0,
      torn: 0,
      silence: null,
    });
  });

  test("without any call is a trace without any", async () => {
    const { account, calls } = await made("");
    expect(calls).toEqual([]);
    expect(account).toMatchObject({ calls: 0, clients: 0, lost: 0 });
  });

  test("leaves nothing but the trace, which the reader takes", async () => {
    await made(`${start("one/0")}\n${line("one/0", 0)}\n${end("one/0")}\n`);
    expect((await readdir(folder)).sort()).toEqual(["raw.ndjson", "trace.ndjson"]);
    const { calls } = await readTrace(bytes(join(folder, "trace.ndjson")));
    expect(await lines(calls)).toEqual(["one/0"]);
  });

  test("of many lines is written in bounded pieces, none of them lost", async () => {
    const many = Array.from({ length: 20_000 }, (_, call) => line("one/0", call));
    const { calls } = await made([start("one/0"), ...many, end("one/0"), ""].join("\n"));
    expect(calls.map(({ call }) => call)).toEqual(many.map((_, call) => call));
  });

  test("in other letters than ASCII, wherever the chunks break them", async () => {
    const odd = JSON.stringify({
      ...JSON.parse(line("one/0", 0)),
      refusal: { message: "\u2028ü€𝄞".repeat(200) },
    });
    const { text } = await made(`${Array.from({ length: 500 }, () => odd).join("\n")}\n`);
    expect(
      text
        .split("\n")
        .slice(1, -1)
        .every((one) => one === odd),
    ).toBe(true);
  });
});

describe("lost is an upper bound", () => {
  test("a client that did not end had as many calls on the way as its behaviour may have", async () => {
    const raw = [start("one/0"), start("one/1"), start("many/0"), line("many/0", 0), end("one/1"), ""].join(
      "\n",
    );
    expect((await made(raw)).account).toMatchObject({ cutOff: 2, lost: 9 });
  });

  test("a half line at the end is left out, and its client was cut off", async () => {
    const whole = line("one/0", 0);
    const { account, calls } = await made(`${start("one/0")}\n${whole}\n${line("one/0", 1).slice(0, 80)}`);
    expect(account).toMatchObject({ calls: 1, torn: 1, lost: 1 });
    expect(calls).toHaveLength(1);
  });

  test("lines that ran together are left out", async () => {
    const raw = [
      start("one/0"),
      line("one/0", 0).slice(0, 50) + line("one/0", 1),
      line("one/0", 2),
      end("one/0"),
      "",
    ].join("\n");
    const { account, calls } = await made(raw, { linesFailed: 1 });
    expect(calls.map(({ call }) => call)).toEqual([2]);
    expect(account).toMatchObject({ torn: 1, lost: 8 });
  });

  test("what k6 counted beyond it is believed", async () => {
    const raw = [start("one/0"), line("one/0", 0), end("one/0"), ""].join("\n");
    expect((await made(raw, { requests: 4 })).account.lost).toBe(3);
  });
});

test("what a scenario prints is told, and is no line of the trace", async () => {
  const raw = ["hello", '{"status":200}', start("one/0"), line("one/0", 0), end("one/0"), ""].join("\n");
  const { account, calls } = await made(raw);
  expect(account).toMatchObject({ printed: ["hello", '{"status":200}'], torn: 0 });
  expect(calls).toHaveLength(1);
});

test("errors are told, the first few", async () => {
  const raw = Array.from({ length: 50 }, (_, index) =>
    JSON.stringify({ error: `one/${index}`, message: "no" }),
  );
  const { account } = await made(`${raw.join("\n")}\n`);
  expect(account.errors[0]).toEqual({ client: "one/0", message: "no" });
  expect(account.errors).toHaveLength(20);
});

test("silence is counted from the last answer", async () => {
  const raw = [
    line("one/0", 0, 200, 1_000),
    line("one/1", 0, 0, 1_001),
    line("one/0", 1, 0, 1_010),
    line("one/0", 2, 0, 1_020),
    "",
  ];
  // The second was on the way when the last answer came: it may have been bad luck.
  expect((await made(raw.join("\n"))).account).toMatchObject({
    unanswered: 3,
    silence: { sinceMs: 1_005, calls: 2 },
  });
});

test("a trace that cannot be written leaves what k6 wrote, and the header that makes it readable", async () => {
  const [raw, path] = [join(folder, "kept.ndjson"), join(folder, "kept-trace.ndjson")];
  await writeFile(raw, `${start("one/0")}\n${line("one/0", 0)}\n`);
  const trace = await TraceFile.create(path, head);
  trace.failure = new Error("ENOSPC: no space left on device, write");
  const error = await codedErrorOf(
    traceFromK6({ raw, trace, head, inFlightMost: new Map(), linesFailed: 0, requests: null }),
  );
  expect(error).toMatchObject({ code: "FILE_UNWRITABLE", hint: "what k6 wrote is kept" });
  expect(error.problems).toMatchObject([{ path, got: "ENOSPC: no space left on device, write" }]);
  const { header, calls } = await readTrace(unfinishedK6Trace(path, raw));
  expect(header).toMatchObject({ ...head, complete: false });
  expect(await lines(calls)).toEqual(["one/0"]);
});

describe("a run that was killed", () => {
  test("has the calls that k6 wrote, but for what was cut off and what is no call", async () => {
    const [raw, path] = [join(folder, "killed.ndjson"), join(folder, "killed-trace.ndjson")];
    const written = [
      start("one/0"),
      "hello",
      line("one/0", 0),
      line("one/1", 0, 429),
      end("one/0"),
      line("one/2", 0),
    ];
    await writeFile(raw, written.join("\n"));
    // The kill came when the trace was being made: its calls are those of the raw file once more.
    await writeFile(path, `${encodeHeader({ ...head, complete: false, lost: 0 })}\n${line("one/0", 0)}\n`);
    const { header, calls } = await readTrace(unfinishedK6Trace(path, raw));
    expect(header).toEqual({ ...head, complete: false, lost: 0 });
    expect(await lines(calls)).toEqual(["one/0", "one/1"]);
  });

  test("has no calls where k6 wrote none", async () => {
    const [raw, path] = [join(folder, "none.ndjson"), join(folder, "none-trace.ndjson")];
    await writeFile(raw, "");
    await writeFile(path, `${encodeHeader({ ...head, complete: false, lost: 0 })}\n`);
    const { calls } = await readTrace(unfinishedK6Trace(path, raw));
    expect(await lines(calls)).toEqual([]);
  });
});

async function lines(calls: AsyncIterable<TraceLine>): Promise<string[]> {
  const clients = [];
  for await (const { call } of calls) clients.push(call.client);
  return clients;
}

async function* bytes(path: string): AsyncGenerator<Uint8Array> {
  yield await readFile(path);
}
