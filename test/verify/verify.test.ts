// `verify`: from bytes to verdict, with progress and an end before the end.
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Verdict } from "../../src/verify/verdict.ts";
import { verify } from "../../src/verify/verify.ts";
import { call, chunks, headerLine, line, text } from "../trace/samples.ts";

const lines = Array.from({ length: 12_000 }, (_, index) => {
  const sent = call().sent + index * 100;
  return line({ call: index, sent, received: sent + 5, user: `user-${index % 100}`, remaining: null });
});
const trace = text(headerLine, ...lines);

test("tells how many calls were read, every few thousand", async () => {
  const told: number[] = [];
  const { records } = await verify(chunks(trace), { onProgress: (calls) => told.push(calls) });
  expect(records).toBe(12_000);
  expect(told.length).toBeGreaterThan(1);
  expect(told).toEqual(told.toSorted((a, b) => a - b));
  expect(told.at(-1)).toBeLessThanOrEqual(12_000);
});

test("ends with the signal's reason, and reads no further", async () => {
  const ending = new AbortController();
  let given = 0;
  const watched = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks(trace)) {
      given += chunk.length;
      yield chunk;
    }
  };
  const onProgress = (): void => ending.abort(new Error("enough"));
  await expect(verify(watched(), { onProgress, signal: ending.signal })).rejects.toThrow("enough");
  expect(given).toBeLessThan(trace.length);
});

/** A verdict without the numbers of lines. */
const withoutLines = (verdict: Verdict): unknown =>
  JSON.parse(
    JSON.stringify(verdict, (name, value: unknown) =>
      name === "lines" || name === "explanation" ? undefined : value,
    ),
  );

test("says the same of a trace that is packed, of one in any order, and of one read in pieces", async () => {
  const some = lines.slice(0, 5_000);
  const ordered = text(headerLine, ...some);
  const plain = await verify(chunks(ordered));
  const reversed = text(headerLine, ...some.toReversed());
  expect(plain.records).toBe(5_000);
  expect(await verify(chunks(gzipSync(ordered)))).toEqual(plain);
  expect(await verify(chunks(ordered, 999))).toEqual(plain);
  const sorted = await verify(chunks(reversed), { sort: true });
  expect(withoutLines(sorted)).toEqual(withoutLines(plain));
});
