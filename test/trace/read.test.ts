import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readBlocks } from "../../src/trace/blocks.ts";
import { readTrace, type TraceLine } from "../../src/trace/read.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";
import { CallNumbers } from "../../src/trace/sequence.ts";
import { readSorted } from "../../src/trace/sort.ts";
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { call, chunks, header, headerLine, line, text } from "./samples.ts";

async function read(
  bytes: string | Uint8Array,
  options: { size?: number; sort?: boolean } = {},
): Promise<{ header: TraceHeader; calls: TraceLine[] }> {
  const { header, calls } = await readTrace(chunks(bytes, options.size), { sort: options.sort === true });
  const all: TraceLine[] = [];
  for await (const each of calls) all.push(each);
  return { header, calls: all };
}

/** The error that reading gives, as its first problem and summary. */
async function mistake(
  bytes: string | Uint8Array,
): Promise<{ summary: string; path: string; got: string; allowed: string; hint: string | undefined }> {
  const error = await codedErrorOf(read(bytes));
  expect(error.code).toBe("TRACE_INVALID");
  const [problem = { path: "", got: "", allowed: "" }] = error.problems;
  return { summary: error.message.split("\n")[0] ?? "", ...problem, hint: error.hint };
}

describe("readTrace", () => {
  test("gives the header and the calls with their line numbers, whatever the chunks", async () => {
    const trace = text(headerLine, line({ call: 0 }), line({ call: 1, org: "größe" }));
    for (const size of [1, 2, 7, 1000, 1 << 20]) {
      const { header: head, calls } = await read(trace, { size });
      expect(head).toEqual(header);
      expect(calls.map((each) => each.line)).toEqual([2, 3]);
      expect(calls[1]?.call).toEqual(call({ call: 1, org: "größe" }));
    }
  });

  test("gives each of more calls than a batch holds, whether they stand in one block or not", async () => {
    const lines = Array.from({ length: 5_000 }, (_, index) => line({ call: index, org: `o${index % 3}` }));
    for (const size of [1 << 20, 10_000]) {
      const { calls } = await read(text(headerLine, ...lines), { size });
      expect(calls.map((each) => `${each.line} ${encodeCall(each.call)}`)).toEqual(
        lines.map((each, index) => `${index + 2} ${each}`),
      );
    }
  });

  test("reads back what was written", async () => {
    const value = fc.oneof(fc.integer(), fc.string(), fc.constant(null));
    const calls = fc.array(
      fc.record(
        { remaining: value, userReset: value, retryAfter: value, body: fc.jsonValue(), wanted: fc.nat() },
        { noNullPrototype: true },
      ),
    );
    await fc.assert(
      fc.asyncProperty(calls, fc.integer({ min: 1, max: 300 }), async (changes, size) => {
        const written = changes.map((change, index) =>
          call({ ...change, call: index } as Partial<TraceCall>),
        );
        const trace = text(encodeHeader(header), ...written.map(encodeCall));
        const again = (await read(trace, { size })).calls.map((each) => encodeCall(each.call));
        expect(again).toEqual(written.map(encodeCall));
      }),
    );
  });

  test("takes gzip, a byte order mark, CRLF, unknown members, and a last line without its end", async () => {
    const extra = `${line().slice(0, -1)},"later":[1]}`;
    expect((await read(gzipSync(text(headerLine, line())))).calls).toHaveLength(1);
    expect((await read(gzipSync(text(headerLine, line())), { size: 1 })).calls).toHaveLength(1);
    const members = [text(headerLine), line().slice(0, 50), `${line().slice(50)}\n`].map((part) =>
      gzipSync(part),
    );
    expect((await read(Buffer.concat(members))).calls).toHaveLength(1);
    expect((await read(`\uFEFF${headerLine}\r\n${line()}\r\n`)).calls).toHaveLength(1);
    expect((await read(text(headerLine, extra))).calls[0]?.call.call).toBe(3);
    expect((await read(`${headerLine}\n${line()}`)).calls).toHaveLength(1);
    expect((await read(`${headerLine}   \n`)).calls).toHaveLength(0);
  });

  test.each([
    ["utf-16le", (wide: Buffer) => wide],
    ["utf-16be", (wide: Buffer) => Buffer.from(wide).swap16()],
  ])("takes %s, as PowerShell writes it, whatever the chunks", async (_coding, ordered) => {
    const wide = ordered(Buffer.from(`\uFEFF${text(headerLine, line({ user: "José 🎉" }))}`, "utf16le"));
    for (const size of [1, 3, 1000]) {
      const { calls } = await read(wide, { size });
      expect(calls.map(({ call: { user } }) => user)).toEqual(["José 🎉"]);
    }
    await expect(read(wide.subarray(0, -1))).rejects.toMatchObject({ code: "TRACE_INVALID" });
  });

  test("takes numbers in any of JSON's ways", async () => {
    const odd = line().replace('"remaining":150', '"remaining":15e1').replace('"call":3', '"call":-0');
    const [only] = (await read(text(headerLine, odd))).calls;
    expect(only?.call.remaining).toBe(150);
    expect(only?.call.call).toBe(-0);
    // -0 is call 0, and so there twice.
    expect((await mistake(text(headerLine, odd, line({ call: 0 })))).path).toBe("line 3: call");
  });

  test("takes lines 120 s out of order, and any order when it sorts", async () => {
    const received = call().received;
    const late = text(
      headerLine,
      line({ call: 0 }),
      line({ call: 1, received: received - 120_000, sent: 1 }),
    );
    expect((await read(late)).calls.map((each) => each.line)).toEqual([2, 3]);
    const later = text(
      headerLine,
      line({ call: 0 }),
      line({ call: 1, received: received - 120_001, sent: 1 }),
    );
    expect((await read(later, { sort: true })).calls.map((each) => each.line)).toEqual([3, 2]);
    expect(await mistake(later)).toMatchObject({
      path: "line 3: received",
      hint: expect.stringContaining("--sort"),
    });
  });

  test("does not read ahead of what is asked for", async () => {
    let given = 0;
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode(`${headerLine}\n`);
      for (; ; given++) yield new TextEncoder().encode(`${line({ call: given })}\n`);
    };
    const { calls } = await readTrace(endless());
    let taken = 0;
    for await (const _ of calls) if (++taken === 100) break;
    expect(given).toBeLessThan(200);
  });
});

describe("a trace that is not valid", () => {
  test.each([
    ["an empty file", "", "line 1", "nothing"],
    ["no header", text(line()), "line 1: format", "nothing"],
    ["an unknown version", text(headerLine.replace('"version":1', '"version":3')), "line 1: version", "3"],
    ["an unknown source", text(headerLine.replace('"other"', '"tcpdump"')), "line 1: source", '"tcpdump"'],
    [
      "a clock without resolution",
      text(headerLine.replace('"resolutionMs":1,', "")),
      "line 1: clock.resolutionMs",
      "nothing",
    ],
    [
      "rules that are none",
      text(headerLine.replace('"rules":null', '"rules":{"user":{"rest":{"limit":0}}}')),
      "line 1: rules.user.rest.limit",
      "0",
    ],
    ["a second header", text(headerLine, line(), headerLine), "line 3", "a header"],
    ["an empty line", text(headerLine, "", line()), "line 2", "an empty line"],
    ["a line that is no JSON", text(headerLine, "{oops}"), "line 2", "{oops}"],
    ["a line that is no object", text(headerLine, "[1]"), "line 2", "[1]"],
    ["a missing member", text(headerLine, line().replace('"org":"acme",', "")), "line 2: org", "nothing"],
    [
      "an integer beyond 2^53",
      text(headerLine, line({ limit: 2 ** 60 })),
      "line 2: limit",
      "1152921504606847000",
    ],
    [
      "a time in text",
      text(headerLine, line().replace(/"sent":\d+/, '"sent":"now"')),
      "line 2: sent",
      '"now"',
    ],
    ["points beyond the cost", text(headerLine, line({ cost: 3, actual: 4 })), "line 2: actual", "4"],
    ["a status of 7", text(headerLine, line({ status: 7 })), "line 2: status", "7"],
    [
      "a call that stands there twice",
      text(headerLine, line(), line()),
      "line 3: call",
      '"agents/17" 3 again',
    ],
    [
      "a line over 16 MiB",
      text(headerLine, line(), `"${"x".repeat(1 << 24)}"`),
      "line 3",
      "more than 16777216 bytes",
    ],
  ])("%s is a coded error with its line", async (_, trace, path, got) => {
    const found = await mistake(trace);
    expect(found.path).toBe(path);
    expect(found.got).toContain(got);
    expect(found.allowed).not.toBe("");
  });

  test("a last line that was cut says so", async () => {
    const cut = `${headerLine}\n${line()}\n${line({ call: 4 }).slice(0, 50)}`;
    expect(await mistake(cut)).toMatchObject({
      path: "line 3",
      summary: expect.stringContaining("cut in the middle"),
    });
  });

  test("gzip that was cut or damaged says so", async () => {
    const packed = gzipSync(text(headerLine, line()));
    expect((await mistake(packed.subarray(0, 60))).summary).toContain("gzip");
    const damaged = Uint8Array.from(packed);
    damaged[40] = (damaged[40] ?? 0) ^ 0xff;
    expect((await mistake(damaged)).summary).toContain("gzip");
    // A second member that was cut, at every place; and what is no member at all.
    const second = gzipSync(line({ call: 4 }));
    for (let length = 1; length < second.length; length++)
      expect((await mistake(Buffer.concat([packed, second.subarray(0, length)]))).summary).toContain("gzip");
    expect((await mistake(Buffer.concat([packed, Buffer.from("junk")]))).summary).toContain("gzip");
  });

  test("gzip that unpacks to a thousand times its size is read no further than is asked for", async () => {
    const mebibyte = gzipSync(Buffer.alloc(1 << 20, "x"));
    let given = 0;
    const members = async function* (): AsyncGenerator<Uint8Array> {
      yield gzipSync(`${headerLine}\n`);
      for (; given < 1 << 14; given++) yield mebibyte;
    };
    const { calls } = await readTrace(members());
    await expect(calls[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      problems: [{ path: "line 2", got: "more than 16777216 bytes" }],
    });
    // 16 of them are too long a line; the streams between hold some more, packed.
    expect(given).toBeLessThan(200);
  });

  test("bytes that are no UTF-8 are found by line", async () => {
    const bytes = new TextEncoder().encode(text(headerLine, line(), line({ call: 4 })));
    bytes[headerLine.length + line().length + 20] = 0xff;
    expect(await mistake(bytes)).toMatchObject({ path: "line 3", got: "bytes that are no UTF-8" });
  });

  test("a line of 1 GB is refused after 16 MiB of it", async () => {
    let given = 0;
    const chunk = new Uint8Array(1 << 16).fill(120);
    const oneLine = async function* (): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode(`${headerLine}\n"`);
      for (; given < 1 << 14; given++) yield chunk;
    };
    const { calls } = await readTrace(oneLine());
    await expect(calls[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: "TRACE_INVALID",
      problems: [{ path: "line 2", got: "more than 16777216 bytes" }],
    });
    expect(given).toBeLessThanOrEqual(1 << 8);
  });

  test("an error of the source is passed on as it is, packed or not", async () => {
    for (const start of [new TextEncoder().encode(headerLine), gzipSync(headerLine).subarray(0, 20)]) {
      const broken = async function* (): AsyncGenerator<Uint8Array> {
        yield start;
        throw new Error("the disk is gone");
      };
      await expect(readTrace(broken())).rejects.toThrow("the disk is gone");
    }
  });

  test("200,000 unknown members in one line are passed over", async () => {
    const wide = `{${Array.from({ length: 200_000 }, (_, index) => `"m${index}":1`).join(",")},${line().slice(1)}`;
    const { calls } = await read(text(headerLine, wide, line({ call: 4 })));
    expect(calls.map(({ line }) => line)).toEqual([2, 3]);
  });

  test.each([
    ["a second one of the format's", '"limit":200', '"limit":200,"limit":100', "limit"],
    ["in another place", '{"sent"', '{"user":"u","sent"', "user"],
    ["spelt in another way", '"limit":200', '"limit":200,"lim\\u0069t":200', "limit"],
    ["an unknown one", '{"sent"', '{"x":{"y":[{}]},"x":"{,\\"","sent"', "x"],
  ])("a member that stands there twice is an error: %s", async (_, plain, twice, name) => {
    const found = await mistake(text(headerLine, line().replace(plain, twice)));
    expect(found).toMatchObject({ path: `line 2: ${name}`, got: "it twice" });
  });

  test("a member that its header has twice is an error", async () => {
    const twice = headerLine.replace('"seed":null', '"seed":null,"seed":1');
    expect(await mistake(text(twice, line()))).toMatchObject({ path: "line 1: seed", got: "it twice" });
  });

  test("members of one name in different places are no repetition", async () => {
    const body = {
      rest: { limit: 1, "a,b": '{"limit":' },
      graphql: { limit: 1 },
      list: [1, 2, { limit: 3 }],
    };
    expect((await read(text(headerLine, line({ body, refusal: "x,y" })))).calls[0]?.call.body).toEqual(body);
  });

  test("NUL bytes are spoken of", async () => {
    const zeros = `${headerLine}\n${"\0".repeat(4096)}\n${line()}\n`;
    expect(await mistake(zeros)).toMatchObject({
      path: "line 2",
      summary: "a line of this trace is no JSON",
      hint: expect.stringContaining("NUL"),
    });
  });

  test("UTF-16 is no text", async () => {
    const bytes = new Uint8Array([0xff, 0xfe, ...headerLine].flatMap((byte) => [Number(byte) || 0, 0]));
    expect((await mistake(bytes)).got).toBe("bytes that are no UTF-8");
  });

  test("calls before a line that is not valid are given first", async () => {
    const { calls } = await readTrace(chunks(text(headerLine, line(), line({ call: 4 }), "{}")));
    const iterator = calls[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toMatchObject({ line: 2 });
    expect((await iterator.next()).value).toMatchObject({ line: 3 });
    await expect(iterator.next()).rejects.toThrow("no call");
  });
});

describe("sorting", () => {
  /** Calls whose lines stand in no order at all, some of them written oddly. */
  const shuffled = Array.from({ length: 5000 }, (_, index) => {
    const received = 1_767_322_800_000 + ((index * 7919) % 5000) * 1000;
    const usual = line({ call: index, sent: received - 5, received });
    return index % 7 === 0 ? usual.replace("{", "{ ") : usual;
  });

  test("keeps line numbers, and gives equals in the order of their lines", async () => {
    const same = line({ call: 5001, received: call().received });
    const trace = text(headerLine, ...shuffled, same, line({ call: 5000, received: call().received }));
    const { calls } = await read(trace, { sort: true, size: 10_000 });
    expect(calls).toHaveLength(5002);
    const received = calls.map((each) => each.call.received);
    expect(received).toEqual(received.toSorted((a, b) => a - b));
    expect(calls.filter((each) => each.call.call >= 5000).map((each) => each.line)).toEqual([5002, 5003]);
    const sample = calls[1234];
    expect(encodeCall((sample ?? calls[0] ?? { call: call() }).call)).toBe(
      shuffled[(sample?.line ?? 0) - 2]?.replace("{ ", "{"),
    );
  });

  test("takes as many bytes as fit, and none more", async () => {
    const lines = shuffled.slice(0, 3).map((each) => `${each}\n`);
    const bytes = Buffer.byteLength(lines.join(""));
    const sorted = async (most: number): Promise<number> => {
      const blocks = readBlocks(chunks(lines.join("")));
      const first = await blocks.next();
      if (first.done === true) throw new Error("there are lines");
      let rows = 0;
      for await (const { size } of readSorted(first.value, 0, blocks, most)) rows += size;
      return rows;
    };
    expect(await sorted(bytes)).toBe(3);
    await expect(sorted(bytes - 1)).rejects.toMatchObject({ code: "TRACE_INVALID" });
  });

  test("ends with a coded error where the lines are more than fit", async () => {
    const blocks = readBlocks(chunks(text(headerLine, ...shuffled)));
    const first = await blocks.next();
    if (first.done === true) throw new Error("there are lines");
    first.value.line = 2;
    const sorted = readSorted(first.value, headerLine.length + 1, blocks, 100_000);
    await expect(sorted.next()).rejects.toMatchObject({
      code: "TRACE_INVALID",
      problems: [{ path: "trace", got: "more than 100000 bytes" }],
      hint: expect.stringContaining("sort -t:"),
    });
  });
});

describe("call numbers", () => {
  test("a client's numbers may come in any order, once each", async () => {
    const numbers = [2, 0, 1, 5, 4, 3, 6];
    const lines = numbers.map((number) => line({ call: number }));
    expect((await read(text(headerLine, ...lines))).calls).toHaveLength(7);
    for (const again of numbers)
      expect((await mistake(text(headerLine, ...lines, line({ call: again })))).path).toBe("line 9: call");
  });

  test("tell a number that was there from one that was not, as a set does", () => {
    const calls = fc.array(fc.tuple(fc.nat(2), fc.nat(40)), { maxLength: 120, size: "max" });
    fc.assert(
      fc.property(calls, (all) => {
        const numbers = new CallNumbers();
        const seen = new Set<string>();
        for (const [client, number] of all) {
          expect(numbers.add(client, number)).toBe(!seen.has(`${client} ${number}`));
          seen.add(`${client} ${number}`);
        }
      }),
    );
  });
});

test.each([
  ["a header that is none", "{}\n"],
  ["nothing", ""],
  ["a header that is cut off", '{"format":"spillway-trace","ver'],
])("the source of %s is closed", async (_, text) => {
  const { source, isClosed } = closable(text, "\n");
  await expect(readTrace(source)).rejects.toMatchObject({ code: "TRACE_INVALID" });
  expect(isClosed()).toBe(true);
});

test.each([true, false])("the source of a call that is none is closed, sorted: %s", async (sort) => {
  const { source, isClosed } = closable(text(headerLine, "{}"), text(line()));
  const { calls } = await readTrace(source, { sort });
  const all = (async () => {
    for await (const _ of calls);
  })();
  await expect(all).rejects.toMatchObject({ code: "TRACE_INVALID" });
  expect(isClosed()).toBe(true);
});

function closable(...parts: readonly string[]) {
  let closed = false;
  const source = (async function* () {
    try {
      for (const part of parts) yield Buffer.from(part);
    } finally {
      closed = true;
    }
  })();
  return { source, isClosed: () => closed };
}

test("a chunk of one byte may come before one of any size, and in the same place", async () => {
  const trace = Buffer.from(text(headerLine, `${" ".repeat(400_000)}${line()}`));
  const source = (async function* () {
    const place = new Uint8Array(trace.length);
    place.set(trace.subarray(0, 1));
    yield place.subarray(0, 1);
    place.set(trace.subarray(1));
    yield place.subarray(0, trace.length - 1);
  })();
  const { calls } = await readTrace(source);
  const found: TraceLine[] = [];
  for await (const each of calls) found.push(each);
  expect(found).toEqual([{ line: 2, call: call() }]);
});

test.each([
  ["sent", 8.64e15, 8.64e15 + 2],
  ["received", -8.64e15, -8.64e15 - 2],
  ["startedAt", 8.64e15, 1.767e18],
])("%s lies within the times of a Date: those in nanoseconds do not", async (member, last, beyond) => {
  const trace = (at: number): string =>
    member === "startedAt"
      ? text(headerLine.replace(/"startedAt":\d+/, `"startedAt":${at}`))
      : text(headerLine, line({ [member]: at }));
  await expect(read(trace(last))).resolves.toMatchObject({ header: { version: 1 } });
  expect(await mistake(trace(beyond))).toMatchObject({
    path: expect.stringContaining(member),
    got: String(beyond),
    allowed: "milliseconds since the epoch",
  });
});
