// JSON over several lines becomes one value a line, wherever its bytes are cut.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { valuesByLine, valuesDepth } from "../../src/logs/json-values.ts";
import { chunks } from "../trace/samples.ts";

const depthOf = (text: string): number | null => valuesDepth(new TextEncoder().encode(text));

async function linesOf(text: string, size: number, depth: number): Promise<unknown[]> {
  const parts: Uint8Array[] = [];
  for await (const part of valuesByLine(chunks(text, size), depth)) parts.push(part.slice());
  const lines = Buffer.concat(parts).toString().split("\n");
  return lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as unknown);
}

const objects = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { minLength: 1, maxLength: 8 });

describe("values by line", () => {
  test("are the elements of an array, or objects one behind the other", async () => {
    await fc.assert(
      fc.asyncProperty(objects, fc.nat(3), fc.integer({ min: 1, max: 50 }), async (values, indent, size) => {
        const read = JSON.parse(JSON.stringify(values)) as unknown;
        const spread = values.map((value) => JSON.stringify(value, null, indent));
        const wrapped = { next: "[{", Records: values, more: [], meta: { a: [{}] } };
        for (const [text, depth] of [
          [spread.join("\n"), 0],
          [spread.join("\r\n,\r\n"), 0],
          [JSON.stringify(values, null, indent), 1],
          [JSON.stringify(wrapped, null, indent), 2],
        ] as const)
          expect(await linesOf(text, size, depth)).toEqual(read);
      }),
    );
  });

  test("leave a last one open that is cut", async () => {
    await expect(linesOf('[\n{"a": "]}"},\n{"a": {"b"', 5, 1)).rejects.toThrow();
    expect(await linesOf('[\n{"a": "]}\\"{"},\n{"a": []}', 5, 1)).toEqual([{ a: ']}"{' }, { a: [] }]);
  });
});

test.each([
  ['[{"a":1}]', 1],
  ['\n[\n  {\n    "a": 1', 1],
  ['{\n  "a": 1\n}', 0],
  ['{ "a": 1 }\n', null],
  ['{"Records":[{"a":1},', 2],
  ['{\n  "kind": "log, \\"new\\"", "pages": 1.5e3, "next": null,\n  "entries": [\n    {', 2],
  // A row may hold a list, and others follow it.
  ['{"tags":[{"a":1}]}\n{"tags":[{"a":2}]}', null],
  ['{\n"tags":[{"a":1}]\n}\n{', 0],
  ['{"Records":[1,2]}', null],
  ["[Fri Nov 20 08:00:00 2026] [core:error]", null],
  ["[[1]]", null],
])("values of %j have %s brackets around them", (text, depth) => {
  expect(depthOf(text)).toBe(depth);
});
