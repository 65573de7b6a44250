// Somebody else's text as people may see it, on a terminal or in a document. A control character can move a
// terminal's cursor over what stands there, and a bidirectional control can turn the order of reading round.

/** Characters that end or part lines. */
const spacing = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/** Control characters (C0, C1, DEL), bidirectional controls, halves of characters. */
const obeyed = /[\p{Cc}\p{Cs}\p{Bidi_Control}]/gu;
/** The same in a document, whose tabs and ends of lines stay. */
const obeyedInLines = /(?!\t|\r?\n)[\p{Cc}\p{Cs}\p{Bidi_Control}]/gu;

/** Text as one line without anything that a terminal obeys. */
export const printable = (text: string): string => text.replace(spacing, " ").replace(obeyed, "\u{fffd}");

/** The same of a document: it keeps its lines and tabs. */
export const printableLines = (text: string): string => text.replace(obeyedInLines, "\u{fffd}");

const nameMost = 100;

/** A name as people read it: printable, and at most 100 characters. */
export const shortName = (name: string): string =>
  printable(name.length <= nameMost ? name : `${name.slice(0, nameMost - 1)}…`);

/** JSON that is printable, and equal when it is read. */
export const printableJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
