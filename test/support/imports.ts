// Finds the modules that a file names, by its syntax.
import { type ParseResult, parseSync, Visitor } from "oxc-parser";

const parsed = new Map<string, ParseResult["program"]>();

/** Returns a file's syntax, parsed once for all its readers. @throws if it does not parse */
export function syntaxOf(path: string, text: string): ParseResult["program"] {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  parsed.set(text, program);
  return program;
}

/**
 * Returns every module that a file names: imports, re-exports, dynamic imports and `import("...")` types.
 * @param lazy leaves dynamic imports out if `false`
 */
export function importsOf(path: string, text: string, { lazy = true } = {}): string[] {
  const found: string[] = [];
  const add = (node: { source: { value?: unknown } | null }): void => {
    if (typeof node.source?.value === "string") found.push(node.source.value);
  };
  new Visitor({
    ImportDeclaration: add,
    ExportNamedDeclaration: add,
    ExportAllDeclaration: add,
    ...(lazy && { ImportExpression: (node) => add({ source: node.source as { value?: unknown } }) }),
    TSImportType: (node) => add({ source: node.source }),
  }).visit(syntaxOf(path, text));
  return found;
}
