// A source as the build makes it a module: types are left out, and imports name JavaScript.
import { type TransformOptions, transform } from "esbuild";
import { parseSync } from "oxc-parser";

/** How TypeScript becomes a module that Node loads. */
export const asModule = {
  loader: "ts",
  format: "esm",
  target: "es2023",
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
} as const satisfies TransformOptions;

/** The module of a source's text. @param path of the source */
export async function builtText(path: string, text: string): Promise<string> {
  const { staticImports, staticExports, dynamicImports } = parseSync(path, text).module;
  const requests = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest),
    ...staticExports.flatMap(({ entries }) => entries.flatMap((entry) => entry.moduleRequest ?? [])),
    ...dynamicImports.map(({ moduleRequest }) => moduleRequest),
  ];
  const ends = new Set(requests.map(({ end }) => end));
  const withModules = [...ends]
    .sort((a, b) => b - a)
    .reduce((changed, end) => {
      const isRelative = /["']\.{1,2}\/[^"']*\.ts["']$/.test(changed.slice(0, end));
      return isRelative ? `${changed.slice(0, end - 3)}js${changed.slice(end - 1)}` : changed;
    }, text);
  const { code } = await transform(withModules, asModule);
  return code;
}
