// A strict walk over markup, for tests: every tag closed in order, every attribute quoted, every & an entity.

const voidElements = new Set(["meta", "link", "br"]);
const tag = /<(\/?)([a-zA-Z][\w:-]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/y;
const textRun = /[^<&]+|&(?:amp|lt|gt|quot|#39);/y;
const prolog = /<!doctype html>|<\?xml[^?]*\?>/y;

/** The elements of well-formed markup, in order, with the text directly inside each. @throws Error where it is not */
export function readMarkup(markup: string): { name: string; attributes: string; text: string }[] {
  const elements: { name: string; attributes: string; text: string }[] = [];
  const open: { name: string; attributes: string; text: string }[] = [];
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(markup);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  match(prolog);
  while (at < markup.length) {
    const inside = open.at(-1);
    if (inside?.name === "style" || inside?.name === "script") {
      const end = markup.indexOf(`</${inside.name}>`, at);
      inside.text += markup.slice(at, end);
      at = end;
    }
    const text = match(textRun);
    if (text !== null) {
      if (inside !== undefined) inside.text += text[0];
      continue;
    }
    const found = match(tag);
    if (found === null) throw new Error(`no markup at ${at}: ${markup.slice(at, at + 60)}`);
    const [, closing, name = "", attributes = "", selfClosing] = found;
    if (closing === "/") {
      if (open.pop()?.name !== name) throw new Error(`</${name}> at ${at} closes nothing that is open`);
      continue;
    }
    const element = { name, attributes, text: "" };
    elements.push(element);
    if (selfClosing !== "/" && !voidElements.has(name)) open.push(element);
  }
  if (open.length > 0) throw new Error(`<${open.at(-1)?.name}> is never closed`);
  return elements;
}
