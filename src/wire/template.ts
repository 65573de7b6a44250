// Templates of texts (POLICY.md §8): one finds the values of its placeholders in a text, or writes a text with them.
import type { StructuredForm, Template } from "../policy/wire-data.ts";

/** Values by placeholder. */
export type TemplateValues = Readonly<Record<string, string | number | undefined>>;

const placeholder = /\{(\w+)\}/g;
/** Pattern of a whole number; some APIs write `596.0`. */
const whole = "-?\\d{1,15}(?:\\.0+)?";
const patterns: Readonly<Record<string, string>> = {
  limit: whole,
  remaining: whole,
  used: whole,
  window: "\\d{1,15}",
  windowMs: "\\d{1,15}",
  cost: "\\d{1,15}",
  // A name ends before characters that may separate it from another.
  quota: '[^",]+?',
};

/** A line as an expression, and the placeholders of its groups in order. k6's engine lacks named groups. */
interface Pattern {
  readonly expression: RegExp;
  readonly names: readonly string[];
}

const known = new Map<string, Pattern>();

function patternOf(line: string): Pattern {
  const found = known.get(line);
  if (found !== undefined) return found;
  const names: string[] = [];
  const source = line
    .split(/(\{\w+\}|\*)/)
    .map((part) => {
      if (part === "*") return ".*";
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      if (name === undefined) return part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
      // A placeholder that occurs twice must stand for the same text.
      if (names.includes(name)) return `(?:\\${names.indexOf(name) + 1})`;
      names.push(name);
      return `(${patterns[name] ?? ".+?"})`;
    })
    .join("");
  const pattern = { expression: new RegExp(`^${source}$`, "s"), names };
  known.set(line, pattern);
  return pattern;
}

/** Tells whether a header's form is one of structured fields, and no template. */
export const isStructured = (form: Template | StructuredForm): form is StructuredForm =>
  typeof form === "object" && !Array.isArray(form);

const linesOf = (template: Template): readonly string[] =>
  typeof template === "string" ? [template] : template;

/** Returns the placeholders' texts; `null` if the text does not match the template. */
export function match(template: Template, text: string): Readonly<Record<string, string>> | null {
  const trimmed = text.trim();
  for (const line of linesOf(template)) {
    const { expression, names } = patternOf(line);
    const found = expression.exec(trimmed);
    if (found === null) continue;
    const parts: Record<string, string> = {};
    for (const [index, name] of names.entries()) parts[name] = found[index + 1] ?? "";
    return parts;
  }
  return null;
}

/** Writes the template's first text; returns `null` if a value is missing. A placeholder alone keeps a number. */
export function fill(template: Template, values: TemplateValues): string | number | null {
  const [line = ""] = linesOf(template);
  const alone = /^\{(\w+)\}$/.exec(line)?.[1];
  if (alone !== undefined) return values[alone] ?? null;
  let isWhole = true;
  const text = line.replace(placeholder, (_, name: string) => {
    const value = values[name];
    if (value === undefined) isWhole = false;
    return String(value);
  });
  return isWhole ? text : null;
}
