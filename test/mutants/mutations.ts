// The small mistakes that a source may have instead of being right: one place, one change each. Types, texts and
// names are left alone: no test would see them, or the compiler would.
import {
  type ArrowFunctionExpression,
  type BinaryExpression,
  type Expression,
  type Program,
  parseSync,
  type Function as SourceFunction,
  Visitor,
} from "oxc-parser";

/** Kinds of changes, each with an example. */
export const mutationKinds = {
  comparison: "`===` to `!==`, `<` to `>=`",
  boundary: "`<` to `<=`",
  arithmetic: "`+` to `-`, `++` to `--`",
  negation: "`&&` to `||`, `!x` to `x`, `if (x)` to `if (!(x))`",
  statement: "`call();`, `a = b;`, `throw error;` or `continue;` left out",
  constant: "0 to 1, other numbers to their double, `true` to `false`",
  return: "`return x` to `return !(x)`, `return x + 1`, `return null`, by the declared type",
} as const;

export type MutationKind = keyof typeof mutationKinds;

export interface Mutation {
  /** Relative to the repository, with `/`. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly kind: MutationKind;
  /** Offsets of the text that is replaced. */
  readonly start: number;
  readonly end: number;
  readonly was: string;
  readonly becomes: string;
}

const opposite: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "==": "!=",
  "!=": "==",
  "<": ">=",
  ">=": "<",
  ">": "<=",
  "<=": ">",
};
const beside: Readonly<Record<string, string>> = { "<": "<=", "<=": "<", ">": ">=", ">=": ">" };
const otherArithmetic: Readonly<Record<string, string>> = {
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
  "&": "|",
  "|": "&",
  "<<": ">>",
  ">>": "<<",
  ">>>": "<<",
  "+=": "-=",
  "-=": "+=",
  "*=": "/=",
  "/=": "*=",
  "++": "--",
  "--": "++",
};
const otherLogic: Readonly<Record<string, string>> = { "&&": "||", "||": "&&" };

/** Every mutation of a source, in the order of its text. */
export function mutationsOf(path: string, text: string): Mutation[] {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  const finder = new Finder(path, text);
  finder.visit(program);
  return finder.found();
}

/** The source with the mutation in it. */
export const mutated = (text: string, { start, end, becomes }: Mutation): string =>
  text.slice(0, start) + becomes + text.slice(end);

type AnyFunction = SourceFunction | ArrowFunctionExpression;

class Finder {
  readonly #path: string;
  readonly #text: string;
  readonly #found: Mutation[] = [];
  /** Spans of literals that are types. */
  readonly #types = new Set<number>();
  /** The functions around the node that is visited, innermost last. */
  readonly #functions: AnyFunction[] = [];

  constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
  }

  found(): Mutation[] {
    return this.#found.filter(({ start }) => !this.#types.has(start)).sort((a, b) => a.start - b.start);
  }

  #add(kind: MutationKind, { start, end }: { start: number; end: number }, becomes: string): void {
    const line = this.#text.slice(0, start).split("\n").length;
    const was = this.#text.slice(start, end);
    if (was !== becomes) this.#found.push({ path: this.#path, line, kind, start, end, was, becomes });
  }

  /** Place of the operator between two operands; `null` if a comment may hold another one. */
  #operator(left: { end: number }, right: { start: number }, operator: string) {
    const between = this.#text.slice(left.end, right.start);
    const at = between.indexOf(operator);
    if (at < 0 || between.includes("//") || between.includes("/*")) return null;
    return { start: left.end + at, end: left.end + at + operator.length };
  }

  #swap(
    kind: MutationKind,
    node: { left: { end: number }; right: { start: number }; operator: string },
    others: Readonly<Record<string, string>>,
  ): void {
    const becomes = others[node.operator];
    const span = this.#operator(node.left, node.right, node.operator);
    if (becomes !== undefined && span !== null) this.#add(kind, span, becomes);
  }

  /** A condition of which no operator is changed: a name, a call, a member. */
  #condition(test: Expression | null): void {
    if (test === null || !["Identifier", "CallExpression", "MemberExpression"].includes(test.type)) return;
    this.#add("negation", test, `!(${this.#text.slice(test.start, test.end)})`);
  }

  #statement(node: { start: number; end: number }): void {
    this.#add("statement", node, ";");
  }

  #returned(value: Expression): void {
    const type = this.#functions.at(-1)?.returnType?.typeAnnotation;
    if (type === undefined || value.type === "Literal") return;
    const was = this.#text.slice(value.start, value.end);
    const isPlain = ["Identifier", "CallExpression", "MemberExpression"].includes(value.type);
    if (type.type === "TSBooleanKeyword" && isPlain) this.#add("return", value, `!(${was})`);
    if (type.type === "TSNumberKeyword") this.#add("return", value, `(${was}) + 1`);
    if (type.type === "TSStringKeyword") this.#add("return", value, '""');
    if (type.type === "TSArrayType") this.#add("return", value, "[]");
    if (type.type === "TSUnionType" && type.types.some((one) => one.type === "TSNullKeyword"))
      this.#add("return", value, "null");
  }

  #enter(node: AnyFunction): void {
    this.#functions.push(node);
    if (node.type === "ArrowFunctionExpression" && node.body.type !== "BlockStatement")
      this.#returned(node.body as Expression);
  }

  visit(program: Program): void {
    const enter = (node: AnyFunction): void => this.#enter(node);
    const leave = (): void => void this.#functions.pop();
    new Visitor({
      FunctionDeclaration: enter,
      "FunctionDeclaration:exit": leave,
      FunctionExpression: enter,
      "FunctionExpression:exit": leave,
      ArrowFunctionExpression: enter,
      "ArrowFunctionExpression:exit": leave,
      TSLiteralType: ({ literal }) => {
        this.#types.add(literal.start);
        if (literal.type === "UnaryExpression") this.#types.add(literal.argument.start);
      },
      BinaryExpression: (node) => this.#binary(node),
      LogicalExpression: (node) => this.#swap("negation", node, otherLogic),
      AssignmentExpression: (node) => this.#swap("arithmetic", node, otherArithmetic),
      UpdateExpression: ({ start, end, operator, prefix }) => {
        const span = prefix ? { start, end: start + 2 } : { start: end - 2, end };
        this.#add("arithmetic", span, otherArithmetic[operator] ?? operator);
      },
      UnaryExpression: ({ operator, start, argument }) => {
        if (operator === "!") this.#add("negation", { start, end: argument.start }, "");
      },
      IfStatement: ({ test }) => this.#condition(test),
      WhileStatement: ({ test }) => this.#condition(test),
      ConditionalExpression: ({ test }) => this.#condition(test),
      ExpressionStatement: (node) => {
        const { expression } = node;
        const isSuper = expression.type === "CallExpression" && expression.callee.type === "Super";
        if (expression.type !== "Literal" && !isSuper) this.#statement(node);
      },
      ThrowStatement: (node) => this.#statement(node),
      ContinueStatement: (node) => this.#statement(node),
      ReturnStatement: ({ argument }) => {
        if (argument !== null) this.#returned(argument);
      },
      Literal: (node) => {
        const { value } = node;
        if (typeof value === "boolean") this.#add("constant", node, String(!value));
        if (typeof value === "number") this.#add("constant", node, value === 0 ? "1" : String(2 * value));
      },
    }).visit(program);
  }

  #binary(node: BinaryExpression): void {
    const left = node.left as Expression;
    const operands = { left, right: node.right, operator: node.operator };
    this.#swap("comparison", operands, opposite);
    this.#swap("boundary", operands, beside);
    const isText = [left, node.right].some(
      (one) => one.type === "TemplateLiteral" || (one.type === "Literal" && typeof one.value === "string"),
    );
    if (!isText) this.#swap("arithmetic", operands, otherArithmetic);
  }
}
