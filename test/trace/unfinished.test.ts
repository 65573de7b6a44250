// Traces of a run that was cut off, at any byte.
import { describe, expect, test } from "vitest";
import { lineLengthMost } from "../../src/trace/blocks.ts";
import { readTrace } from "../../src/trace/read.ts";
import { unfinishedTrace } from "../../src/trace/unfinished.ts";
import { chunks, headerLine, line, text } from "./samples.ts";

const bytes = new TextEncoder().encode(text(headerLine, line({ call: 0 }), line({ call: 1, org: "größe" })));
/** End of each line, in bytes. */
const ends = [...bytes.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at + 1] : []));

async function textOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe("a trace that was cut off", () => {
  test.each([
    { size: 1, apart: 31 },
    { size: 7, apart: 5 },
    { size: 1000, apart: 1 },
  ])("is read up to its last whole line, in chunks of $size bytes", async ({ size, apart }) => {
    for (let cut = ends[0] ?? 0; cut <= bytes.length; cut += apart) {
      const { header, calls } = await readTrace(unfinishedTrace(chunks(bytes.subarray(0, cut), size)));
      expect(header.complete).toBe(false);
      const seen: number[] = [];
      for await (const { call } of calls) seen.push(call.call);
      const whole = ends.filter((end) => end <= cut).length - 1;
      expect([cut, seen]).toEqual([cut, [0, 1].slice(0, whole)]);
    }
  });

  test("in its header is left as it is, for the reader to name", async () => {
    for (const cut of [0, 1, 100]) {
      const source = chunks(bytes.subarray(0, cut), 7);
      expect(await textOf(unfinishedTrace(source))).toBe(new TextDecoder().decode(bytes.subarray(0, cut)));
    }
  });

  test("in a line that is too long is refused by that line's number", async () => {
    const source = chunks(`${"\n".repeat(4)}${"x".repeat(lineLengthMost + 1)}`, 1 << 22);
    await expect(textOf(unfinishedTrace(source))).rejects.toMatchObject({
      problems: [{ path: expect.stringMatching(/^line 5\b/) }],
    });
  });

  test("in a long line of small chunks takes a moment", async () => {
    const long = "x".repeat(1 << 22);
    expect((await textOf(unfinishedTrace(chunks(`{}\n${long}\n`, 64)))).length).toBe(
      '{"complete":false}\n'.length + long.length + 1,
    );
  });

  test("that is none is left as it is, but for its last line", async () => {
    for (const first of ["[1]", "7", "no JSON"])
      expect(await textOf(unfinishedTrace(chunks(`${first}\nsecond\nthird`)))).toBe(`${first}\nsecond\n`);
  });
});
