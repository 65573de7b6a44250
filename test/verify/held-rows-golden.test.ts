// Golden traces have the same verdict whether all rows of a window are held, or few.
import { createReadStream, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readTrace, type TraceLine } from "../../src/trace/read.ts";
import { judgeBoth, seen } from "./held-rows.ts";

const golden = fileURLToPath(new URL("../golden/", import.meta.url));

test.each(readdirSync(golden).filter((name) => name.endsWith(".ndjson")))("%s", async (name) => {
  const { header, calls } = await readTrace(createReadStream(`${golden}${name}`));
  const lines: TraceLine[] = [];
  for await (const each of calls) lines.push(each);
  for (const rowsMost of [2, 5]) await judgeBoth({ header, lines }, rowsMost);
});

test("in many of which rows went, and in many of these one reading was enough", () => {
  expect(seen.letGo).toBeGreaterThan(100);
  expect(seen.again).toBeGreaterThan(50);
  expect(seen.letGo - seen.again).toBeGreaterThan(50);
});
