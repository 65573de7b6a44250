// JSON over several lines becomes one value a line, wherever its bytes are cut.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSpreadJson, valuesByLine } from "../../src/logs/json-values.ts";
import { chunks } from "../trace/samples.ts";

async function linesOf(text: string, size: number): Promise<unknown[]> {
  const parts: Uint8Array[] = [];
  for await (const part of valuesByLine(chunks(text, size))) parts.push(part.slice());
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
        for (const text of [
          JSON.stringify(values, null, indent),
          spread.join("\n"),
          spread.join("\r\n,\r\n"),
        ])
          expect(await linesOf(text, size)).toEqual(read);
      }),
    );
  });

  test("leave a last one open that is cut", async () => {
    await expect(linesOf('[\n{"a": "]}"},\n{"a": {"b"', 5)).rejects.toThrow();
    expect(await linesOf('[\n{"a": "]}\\"{"},\n{"a": []}', 5)).toEqual([{ a: ']}"{' }, { a: [] }]);
  });
});

test.each([
  ['[{"a":1}]', true],
  ['\n[\n  {\n    "a": 1', true],
  ['{\n  "a": 1\n}', true],
  ['{ "a": 1 }\n', false],
  ["[Fri Nov 20 08:00:00 2026] [core:error]", false],
  ["[[1]]", false],
])("%j is spread JSON: %s", (text, isSpread) => {
  expect(isSpreadJson(text)).toBe(isSpread);
});
