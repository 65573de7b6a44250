// Makes foreign text safe to show, on a terminal or in a document. A control character can move a terminal's cursor
// over other text, and a bidirectional control can reverse the order of reading.

/** Characters that end or separate lines. */
const spacing = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/** Control characters (C0, C1, DEL), bidirectional controls, and lone surrogates. */
const obeyed = /[\p{Cc}\p{Cs}\p{Bidi_Control}]/gu;
/** The same characters without tabs and line ends, which a document keeps. */
const obeyedInLines = /(?!\t|\r?\n)[\p{Cc}\p{Cs}\p{Bidi_Control}]/gu;

/** Returns text as one line without anything that a terminal obeys. */
export const printable = (text: string): string => text.replace(spacing, " ").replace(obeyed, "\u{fffd}");

/** Returns a document's text without the characters that a terminal obeys; it keeps its lines and tabs. */
export const printableLines = (text: string): string => text.replace(obeyedInLines, "\u{fffd}");

const nameMost = 100;

/** Returns a name as people read it: printable, and at most 100 characters. */
export const shortName = (name: string): string =>
  printable(name.length <= nameMost ? name : `${name.slice(0, nameMost - 1)}…`);

/** Returns JSON that is printable, and that parses to an equal value. */
export const printableJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
