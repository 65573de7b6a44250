// JSON.parse takes the last of two members of one name, other readers the first: what such a text says depends on who
// reads it, so it says nothing. JSON.parse does not tell; counting the members in the text does.

const [quoteMark, backslash, comma, openBrace, closeBrace] = [0x22, 0x5c, 0x2c, 0x7b, 0x7d];
/** `[` and `]` become `{` and `}` by it, and nothing else does. */
const asBrace = 0x20;

/**
 * The name of a member that an object has twice, `null` where there is none. Looks at the object's own members, not at
 * those of values within it.
 * @param text JSON, known to be valid
 * @param value the value of the text
 */
export function repeatedMember(text: string, value: object): string | null {
  if (countMembers(text) === Object.keys(value).length) return null;
  const name = repeatedPath(text, 1)?.at(-1);
  return name === undefined ? null : String(name);
}

/** One more than the commas between members; of an empty object 0. */
function countMembers(text: string): number {
  let depth = 0;
  let commas = 0;
  let isEmpty = true;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quoteMark) {
      at = endOfText(text, at);
      isEmpty = false;
    } else if ((code | asBrace) === openBrace) depth += 1;
    else if ((code | asBrace) === closeBrace) depth -= 1;
    else if (code === comma && depth === 1) commas += 1;
  }
  return isEmpty ? 0 : commas + 1;
}

/** Returns the place of the second quotation mark of the text that begins at `start`. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); code !== quoteMark; code = text.charCodeAt(at))
    at += code === backslash ? 2 : 1;
  return at;
}

/** Steps from the document to a value: names of members, places in lists. */
export type JsonPath = readonly (string | number)[];

/** An object or a list that the scan is in. */
interface Level {
  /** Names of the object's members so far; `null` in a list. */
  readonly names: Set<string> | null;
  /** The member or place that the scan is at. */
  at: string | number;
  /** True if the next text is a member's name. */
  isName: boolean;
}

/**
 * The path of a member that an object has twice, `null` where there is none.
 * @param text JSON, known to be valid
 * @param depthMost depth to which objects are looked at: 1 for the outermost alone
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
