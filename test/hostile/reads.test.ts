// Every verb reads every document that somebody else may have made, with every name in it and spoiled in every way:
// it ends with a documented status, in bounded memory, with nothing raw on the terminal and nothing changed
// elsewhere. It takes long: each document is a whole command line, and most of them end in a report.
// @module-tag long
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allVerbs } from "../../src/cli/verbs.ts";
import { CommandLines, expectNothingRaw, judge } from "./command-lines.ts";
import { type Format, type FormatName, formats, type Material } from "./formats.ts";
import { Materials } from "./materials.ts";
import { names } from "./names.ts";
import { shapes } from "./shapes.ts";
import { type Beside, verbs, type Words } from "./verbs.ts";

/** Other verbs than the first that reads a format get one document of so many. */
const someOf = 12;

let materials: Materials;
let beside: Omit<Beside, "fresh">;

beforeAll(async () => {
  materials = await Materials.make();
  beside = await materials.putGood();
});
afterAll(() => materials.remove());

const good = (): string => "good";

/** All names, in turn. */
function inTurn(): () => string {
  let asked = 0;
  const all = Object.values(names);
  return () => all[asked++ % all.length] ?? "";
}

/** Every hostile document of a format, by what is hostile in it. */
function* documents(name: FormatName, isSpoiled: boolean): Generator<[string, Material | Uint8Array]> {
  const { write, isStrict }: Format = formats[name];
  if (!isSpoiled && isStrict)
    for (const [what, one] of Object.entries(names)) yield [`${what} for a name`, write(() => one)];
  else if (!isSpoiled) yield ["all names", write(inTurn())];
  const whole = write(good);
  for (const [what, shape] of Object.entries(shapes)) {
    if (typeof whole === "string") yield [what, shape(whole)];
    else
      for (const [file, text] of Object.entries(whole))
        yield [`${file}: ${what}`, { ...whole, [file]: shape(text) as string }];
  }
}

test("every verb of the command line is in the table", async () => {
  expect(new Set(Object.keys(verbs))).toEqual(new Set((await allVerbs()).map(({ name }) => name)));
});

test("every format is read by some verb", () => {
  const read = new Set(Object.values(verbs).flatMap(({ reads }) => Object.keys(reads)));
  expect(Object.keys(formats).filter((format) => !read.has(format))).toEqual([]);
});

/** Every verb with every format that it reads. */
const cases = Object.entries(verbs).flatMap(([verb, { reads }]) =>
  (Object.entries(reads) as [FormatName, Words][]).map(([format, words]) => ({ verb, format, words })),
);

/** The documents of a case: all of them for the first verb that reads a format, some in turn for each other. */
function documentsOf({ verb, format }: (typeof cases)[number]): [string, Material | Uint8Array][] {
  const readers = cases.filter((one) => one.format === format).map((one) => one.verb);
  const turn = readers.indexOf(verb);
  const all = [...documents(format, verbs[verb]?.onlySpoiled?.includes(format) === true)];
  return turn === 0 ? all : all.filter((_, index) => index % someOf === turn % someOf);
}

/** Documents that people open. */
const isDocument = /\.(?:html|svg|md|csv|xml)$/;

/** Nothing raw stands in what was written into a hostile document or beside it. */
async function judgeDocuments(hostile: string): Promise<void> {
  const folder = dirname(hostile);
  const entries = await readdir(folder, { recursive: true });
  for (const name of entries)
    if (isDocument.test(name) && join(folder, name) !== hostile)
      expectNothingRaw(await readFile(join(folder, name), "utf8"), name);
}

describe("whatever it reads", () => {
  const lines = new CommandLines();
  afterAll(() => lines.end());

  test.each(cases)("$verb reads $format", { timeout: 600_000 }, async (one) => {
    const { format, words } = one;
    for (const [what, document] of documentsOf(one)) {
      const hostile = await materials.put(format, document);
      const fresh = join(dirname(hostile), "fresh");
      const line = words(hostile, { ...beside, fresh });
      try {
        judge(line, await lines.run(line, dirname(hostile)));
        await judgeDocuments(hostile);
      } catch (error) {
        throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
      }
    }
    await materials.expectUntouched();
  });
});
