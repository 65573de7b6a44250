// A piece of a scenario's source as data. It can be written as text, and evaluated to that text's value.
// Both come from one description, so that the simulated scenario is the written one.
import { printable, printableJson } from "../../src/rules/printable.ts";

export interface Member {
  readonly key: string;
  readonly value: Expression;
  /** Sentence of any length that stands above the member. */
  readonly comment?: string | undefined;
}

export type Expression =
  | { readonly kind: "literal"; readonly value: string | number | boolean }
  | { readonly kind: "list"; readonly items: readonly Expression[] }
  | { readonly kind: "object"; readonly members: readonly Member[] }
  /** Result of a function that is called with values. */
  | { readonly kind: "make"; readonly maker: string; readonly args: readonly Expression[] };

export const literal = (value: string | number | boolean): Expression => ({ kind: "literal", value });
export const list = (items: readonly Expression[]): Expression => ({ kind: "list", items });
export const make = (maker: string, ...args: readonly Expression[]): Expression => ({
  kind: "make",
  maker,
  args,
});

/** Returns an object's expression. It leaves out members without a value. */
export function object(
  members: Readonly<Record<string, Expression | string | number | boolean | null | undefined>>,
  comments: Readonly<Record<string, string | undefined>> = {},
): Expression {
  return {
    kind: "object",
    members: Object.entries(members).flatMap(([key, value]) => {
      if (value === null || value === undefined) return [];
      return [{ key, value: typeof value === "object" ? value : literal(value), comment: comments[key] }];
    }),
  };
}

/** Returns plain JSON as an expression. */
export function json(value: unknown): Expression {
  if (Array.isArray(value)) return list(value.map(json));
  if (typeof value !== "object" || value === null) return literal(value as string | number | boolean);
  return {
    kind: "object",
    members: Object.entries(value).map(([key, member]) => ({ key, value: json(member) })),
  };
}

/** The functions that expressions call, by name. */
export type Makers = Readonly<Record<string, (...args: never[]) => unknown>>;

/** Returns the value that the text has. @throws what the makers throw */
export function evaluated(expression: Expression, makers: Makers): unknown {
  switch (expression.kind) {
    case "literal":
      return expression.value;
    case "list":
      return expression.items.map((item) => evaluated(item, makers));
    case "object":
      return Object.fromEntries(
        expression.members.map(({ key, value }) => [key, evaluated(value, makers)] as const),
      );
    case "make": {
      const maker = makers[expression.maker];
      if (maker === undefined) throw new RangeError(`there is no maker ${expression.maker}`);
      return (maker as (...args: unknown[]) => unknown)(
        ...expression.args.map((arg) => evaluated(arg, makers)),
      );
    }
  }
}

/** Returns the names of the makers that an expression calls, sorted. */
export function makersOf(expression: Expression): string[] {
  const found = new Set<string>();
  const visit = (each: Expression): void => {
    if (each.kind === "list") each.items.forEach(visit);
    if (each.kind === "object") for (const { value } of each.members) visit(value);
    if (each.kind !== "make") return;
    found.add(each.maker);
    each.args.forEach(visit);
  };
  visit(expression);
  return [...found].sort();
}

const widthMost = 110;
const identifier = /^[A-Za-z_$][\w$]*$/;

/**
 * Returns the text, formatted as this repository's formatter would.
 * @param indent indentation of the line that the text begins on
 * @param before number of characters before it on that line; `after` number of those behind its end
 */
export function written(expression: Expression, indent = 0, before = indent, after = 1): string {
  const flat = flatText(expression);
  if (flat !== null && before + flat.length + after <= widthMost) return flat;
  const inner = " ".repeat(indent + 2);
  const outer = " ".repeat(indent);
  switch (expression.kind) {
    case "literal":
      return literalText(expression.value);
    case "list":
      return `[\n${itemLines(expression.items, indent + 2)}\n${outer}]`;
    case "object":
      return `{\n${expression.members.map((member) => memberText(member, indent + 2, inner)).join("")}${outer}}`;
    case "make": {
      // The last argument takes the lines: name(a, {
      const head = expression.args.slice(0, -1).map((arg) => `${flatText(arg) ?? written(arg, indent)}, `);
      const start = `${expression.maker}(${head.join("")}`;
      const last = expression.args.at(-1);
      // If an argument before the last is long, each argument has lines of its own.
      if (before + start.length > widthMost)
        return `${expression.maker}(\n${itemLines(expression.args, indent + 2)}\n${outer})`;
      return last === undefined
        ? `${start})`
        : `${start}${written(last, indent, before + start.length, after + 1)})`;
    }
  }
}

function memberText({ key, value, comment }: Member, indent: number, margin: string): string {
  const name = keyText(key);
  const text = written(value, indent, indent + name.length + 2);
  return `${comment === undefined ? "" : commentText(comment, indent)}${margin}${name}: ${text},\n`;
}

/** Returns a comment, broken into as many lines as it takes. */
export function commentText(comment: string, indent: number): string {
  const margin = `${" ".repeat(indent)}// `;
  const lines: string[] = [];
  for (const word of printable(comment).split(" ")) {
    const line = lines.at(-1);
    if (line !== undefined && margin.length + line.length + 1 + word.length <= widthMost)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => `${margin}${line}\n`).join("");
}

/** Returns the lines of items: numbers fill lines, and any other item has a line of its own. */
function itemLines(items: readonly Expression[], indent: number): string {
  const margin = " ".repeat(indent);
  const numbers = items.every((item) => item.kind === "literal" && typeof item.value === "number");
  if (!numbers) return items.map((item) => `${margin}${written(item, indent)},`).join("\n");
  const lines: string[] = [];
  for (const item of items) {
    const word = `${flatText(item)},`;
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= widthMost)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(margin + word);
  }
  return lines.join("\n");
}

/** Returns the text on one line; `null` for comments, and for lists of several objects of several members. */
function flatText(expression: Expression): string | null {
  switch (expression.kind) {
    case "literal":
      return literalText(expression.value);
    case "list": {
      const { items } = expression;
      const large = (item: Expression): boolean => item.kind === "object" && item.members.length > 1;
      if (items.length > 1 && items.every(large)) return null;
      const texts = allFlat(items);
      return texts === null ? null : `[${texts.join(", ")}]`;
    }
    case "object": {
      const { members } = expression;
      if (members.length === 0) return "{}";
      if (members.some(({ comment }) => comment !== undefined)) return null;
      const texts = allFlat(members.map(({ value }) => value));
      return texts === null
        ? null
        : `{ ${members.map(({ key }, index) => `${keyText(key)}: ${texts[index]}`).join(", ")} }`;
    }
    case "make": {
      const texts = allFlat(expression.args);
      return texts === null ? null : `${expression.maker}(${texts.join(", ")})`;
    }
  }
}

function allFlat(expressions: readonly Expression[]): string[] | null {
  const texts = expressions.map(flatText);
  return texts.every((text) => text !== null) ? texts : null;
}

const keyText = (key: string): string => (identifier.test(key) ? key : printableJson(key));

function literalText(value: string | number | boolean): string {
  if (typeof value !== "string") return String(value);
  const text = printableJson(value);
  // Single quotes stand only if they need fewer backslashes.
  const isBetterSingle = value.split('"').length > value.split("'").length;
  if (!isBetterSingle) return text;
  return `'${text.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
