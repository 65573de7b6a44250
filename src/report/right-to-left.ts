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
export function isolated(body: string): string {
  if (!anyLetter.test(body)) return body;
  let depth = 0;
  return body.replace(pieces, (piece, closing: string | undefined, element: string | undefined) => {
    if (element !== undefined) depth += closing === "/" ? -1 : 1;
    return depth > 0 || piece.startsWith("<") ? piece : piece.replace(words, "<bdi>$&</bdi>");
  });
}
