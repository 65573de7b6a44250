// JSON.parse takes the last of two members of one name, other readers the first: what such a line says depends on who
// reads it, so it says nothing. JSON.parse does not tell; counting the members in the text does.

const [quoteMark, backslash, comma, openBrace, closeBrace] = [0x22, 0x5c, 0x2c, 0x7b, 0x7d];
/** `[` and `]` become `{` and `}` by it, and nothing else does. */
const asBrace = 0x20;

/**
 * The name of a member that an object has twice, `null` where there is none. Looks at the object's own members, not at
 * those of values within it.
 * @param text JSON, known to be valid
 * @param value what it holds
 */
export function repeatedMember(text: string, value: object): string | null {
  return countMembers(text) === Object.keys(value).length ? null : findRepeated(text);
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

/** Where the text that begins at `start` ends: its second quotation mark. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); code !== quoteMark; code = text.charCodeAt(at))
    at += code === backslash ? 2 : 1;
  return at;
}

function findRepeated(text: string): string | null {
  const seen = new Set<string>();
  let depth = 0;
  let isName = true;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quoteMark) {
      const end = endOfText(text, at);
      if (depth === 1 && isName) {
        const name = JSON.parse(text.slice(at, end + 1)) as string;
        if (seen.has(name)) return name;
        seen.add(name);
        isName = false;
      }
      at = end;
    } else if ((code | asBrace) === openBrace) depth += 1;
    else if ((code | asBrace) === closeBrace) depth -= 1;
    else if (code === comma && depth === 1) isName = true;
  }
  return null;
}
