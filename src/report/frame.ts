// The frame of every page: one HTML file that asks the network for nothing and is complete without its script.
import { type Html, html, trusted } from "./html.ts";
import { pageScript, scriptHash } from "./page-script.ts";
import type { Gallery } from "./picture.ts";
import { pageStyle } from "./style.ts";

// The browser itself enforces that the page fetches nothing and runs no script but the one below.
const policy = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src '${scriptHash}'`;

export interface Page {
  readonly html: string;
  /** Returns each picture as SVG and its numbers as CSV, by file name. They are made on demand. */
  files(): ReadonlyMap<string, string>;
}

export interface PageParts {
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly madeFrom: string;
  readonly body: Html;
  readonly gallery: Gallery;
}

export function page({ title, description, version, madeFrom, body, gallery }: PageParts): Page {
  const text = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="spillway ${version}">
<meta name="description" content="${description}">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${trusted(pageStyle)}</style>
</head>
<body>
${trusted(isolated(body.text))}<footer><p>Made by spillway ${version} from ${madeFrom}.</p></footer>
<script>${trusted(pageScript)}</script>
</body>
</html>
`.text;
  return { html: text, files: () => gallery.files() };
}

// Right-to-left names in left-to-right pages. On the screen, a number beside such a name would change places with it,
// unless the name is isolated. No sentence can know whether its names are of this kind.

/** Blocks of letters and digits that Unicode keeps for right-to-left scripts (UAX #9, DerivedBidiClass.txt). */
const letter = "[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefe\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]";
const anyLetter = new RegExp(letter, "u");
const words = new RegExp(`${letter}+(?: ${letter}+)*`, "gu");

/** Matches tags and texts. Drawings may hold no `<bdi>`, and a `<bdi>` needs none within. */
const pieces = /<(\/?)(svg|bdi)\b[^>]*>|<[^>]*>|[^<]+/g;

/**
 * Puts each right-to-left name of a page's sentences into a `<bdi>`.
 * @param body well-formed markup, without scripts
 */
function isolated(body: string): string {
  if (!anyLetter.test(body)) return body;
  let depth = 0;
  return body.replace(pieces, (piece, closing: string | undefined, element: string | undefined) => {
    if (element !== undefined) depth += closing === "/" ? -1 : 1;
    return depth > 0 || piece.startsWith("<") ? piece : piece.replace(words, "<bdi>$&</bdi>");
  });
}
