// Documents of fixtures, byte for byte: numbers that are drawn where no sentence says them (places, sizes, ticks) do not
// move unseen. A change on purpose writes the digests anew; look at the pages before you commit it:
//   GOLDEN=pages npx vitest run --config test/vitest.config.ts test/report/*-bytes.test.ts
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

/** A document's name and text. */
export type Named = readonly [name: string, text: string];

interface Page {
  readonly html: string;
  files(): ReadonlyMap<string, string>;
}

/** The page's own text, without the style and the script that all pages share, and its files. */
export const partsOf = (name: string, { html, files }: Page): Named[] => [
  [name, html.replace(/<(style|script)>[\s\S]*?<\/\1>/g, "")],
  ...[...files()].map(([file, text]): Named => [`${name}/${file}`, text]),
];

/** @param kind name of the file of digests in `bytes/` */
export function expectBytes(kind: string, documents: readonly Named[]): void {
  const kept = fileURLToPath(new URL(`bytes/${kind}.json`, import.meta.url));
  const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);
  const digests = Object.fromEntries(documents.map(([name, text]) => [name, digestOf(text)]));
  expect(Object.keys(digests)).toHaveLength(documents.length);
  if (process.env["GOLDEN"] === "pages") writeFileSync(kept, `${JSON.stringify(digests, null, 2)}\n`);
  expect(digests).toEqual(JSON.parse(readFileSync(kept, "utf8")));
}
