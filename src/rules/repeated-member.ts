// Finds repeated members in JSON: JSON.parse takes the last one, other readers the first, so that the text has no one
// meaning. JSON.parse does not report them; counting the members in the text does.

const [quoteMark, backslash, comma, openBrace, closeBrace] = [0x22, 0x5c, 0x2c, 0x7b, 0x7d];
/** Bit that turns `[` and `]` into `{` and `}`, and no other character into these. */
const asBrace = 0x20;

/**
 * Returns the name of a member that an object has twice; `null` if there is none. Checks the object's own members, not
 * those of values within it.
 * @param text JSON, known to be valid
 * @param value the value of the text
 */
export function repeatedMember(text: string, value: object): string | null {
  if (countMembers(text) === Object.keys(value).length) return null;
  const name = repeatedPath(text, 1)?.at(-1);
  return name === undefined ? null : String(name);
}

/** Returns the number of members, one more than the commas between them; 1 for an empty object, too. */
function countMembers(text: string): number {
  let depth = 0;
  let commas = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quoteMark) at = endOfText(text, at);
    else if ((code | asBrace) === openBrace) depth += 1;
    else if ((code | asBrace) === closeBrace) depth -= 1;
    else if (code === comma && depth === 1) commas += 1;
  }
  return commas + 1;
}

/** Returns the place of the second quotation mark of the text that begins at `start`. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); code !== quoteMark; code = text.charCodeAt(at))
    at += code === backslash ? 2 : 1;
  return at;
}

/** Steps from the document to a value: names of members, and places in lists. */
export type JsonPath = readonly (string | number)[];

/** An object or a list that the scan is in. */
interface Level {
  /** Names of the object's members so far; `null` in a list. */
  readonly names: Set<string> | null;
  /** Name of the current member, or place in the list. */
  at: string | number;
  /** True if the next text is a member's name. */
  isName: boolean;
}

/**
 * Returns the path of a member that an object has twice; `null` if there is none.
 * @param text JSON, known to be valid
 * @param depthMost depth to which objects are checked: 1 for the outermost alone
 */
export function repeatedPath(text: string, depthMost = Number.POSITIVE_INFINITY): JsonPath | null {
  const levels: Level[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const level = levels.at(-1);
    if (code === quoteMark) {
      const end = endOfText(text, at);
      if (level?.names != null && level.isName && levels.length <= depthMost) {
        const written = text.slice(at + 1, end);
        level.at = written.includes("\\") ? (JSON.parse(`"${written}"`) as string) : written;
        if (level.names.has(level.at)) return levels.map((one) => one.at);
        level.names.add(level.at);
        level.isName = false;
      }
      at = end;
    } else if (code === openBrace) levels.push({ names: new Set(), at: "", isName: true });
    else if ((code | asBrace) === openBrace) levels.push({ names: null, at: 0, isName: false });
    else if ((code | asBrace) === closeBrace) levels.pop();
    else if (code === comma && level !== undefined) {
      if (level.names !== null) level.isName = true;
      else if (typeof level.at === "number") level.at += 1;
    }
  }
  return null;
}
