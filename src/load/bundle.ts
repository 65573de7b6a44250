// A scenario and the k6 entry as one JavaScript file, which k6 runs without Node or spillway.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildFailure, build } from "esbuild";
import { type Problem, SpillwayError } from "../rules/errors.ts";
import type { Adjustments } from "../scenario/adjust.ts";
import { scenarioAliases } from "./scenario-file.ts";
import { variables } from "./variables.ts";

export interface BundleOptions {
  /** Absolute path of the scenario's file. */
  readonly path: string;
  readonly name: string;
  /** Limits that the target claims. They replace the scenario's. */
  readonly limits?: Pick<Adjustments, "rules" | "policy"> | undefined;
  /** True if k6's figures go as JSON to `SUMMARY`, in place of k6's text. */
  readonly summaryFile?: boolean;
}

// The same code runs from `src` (tests) and from `dist/src` (installed).
const entry = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./k6/entry.ts" : "./k6/entry.js", import.meta.url),
);

/**
 * Bundles a scenario for k6.
 * @returns JavaScript, ready for `k6 run`
 * @throws SpillwayError `SCENARIO_INVALID` with file, line and reason, if the scenario cannot be bundled or imports
 *   something that k6 lacks (Node's modules)
 */
export async function bundleScenario(options: BundleOptions): Promise<string> {
  try {
    const { outputFiles } = await build({
      stdin: { contents: stub(options), resolveDir: dirname(options.path), sourcefile: "bundle.js" },
      bundle: true,
      write: false,
      format: "esm",
      // No platform: k6 lacks Node's modules as well as a browser's.
      platform: "neutral",
      mainFields: ["module", "main"],
      // k6 has all of this edition except `for await`, which no behaviour needs.
      target: "es2022",
      // Paths in the bundle's comments are relative to the scenario.
      absWorkingDir: dirname(options.path),
      external: ["k6", "k6/*"],
      alias: { ...scenarioAliases },
      banner: { js: header(options.name) },
      charset: "utf8",
      legalComments: "inline",
      logOverride: { "duplicate-object-key": "error" },
      logLevel: "silent",
    });
    return outputFiles[0]?.text ?? "";
  } catch (error) {
    throw notBundled(error, options.path);
  }
}

function stub({ path, limits: { rules, policy } = {}, summaryFile }: BundleOptions): string {
  const lines = [
    `import scenario from ${JSON.stringify(path)};`,
    `import { prepare } from ${JSON.stringify(entry)};`,
    rules === undefined && policy === undefined
      ? "const prepared = prepare(scenario);"
      : `const prepared = prepare({ ...scenario, ...${JSON.stringify({ rules: rules ?? null, policy })} });`,
    "export const options = prepared.options;",
    "export const client = prepared.client;",
    "export default client;",
  ];
  if (summaryFile === true) lines.push("export const handleSummary = prepared.handleSummary;");
  return lines.join("\n");
}

/** Returns the head of the bundle, for a person who finds the file. */
function header(name: string): string {
  const width = Math.max(...Object.keys(variables).map((variable) => variable.length));
  const explained = Object.entries(variables).map(
    ([variable, meaning]) => `//   ${variable.padEnd(width)}  ${meaning}`,
  );
  return [
    `// Scenario ${name}, bundled by spillway for k6 1.x and 2.x. No Node, no network beside the target:`,
    "//",
    `//   k6 run -e TARGET=http://127.0.0.1:4100 -e TOKENS="$PWD/tokens.json" FILE`,
    "//",
    '// tokens.json: [{"token":"...","user":"user-0","organization":"acme","scopes":["read_accounts"]}]; under a policy',
    "// of another API, the attributes that its auth.attributes names beside each token. Tokens are",
    "// read from that file alone: on a command line every process of the machine could see them.",
    "//",
    "// Variables (-e NAME=VALUE):",
    ...explained,
    "",
  ].join("\n");
}

function notBundled(error: unknown, path: string): unknown {
  const { errors } = error as Partial<BuildFailure>;
  if (!Array.isArray(errors) || errors.length === 0) return error;
  const problems: Problem[] = (errors as BuildFailure["errors"]).map(({ text, location }) => ({
    path: location === null ? path : `${location.file}:${location.line}`,
    got: text.split("\n")[0] ?? text,
    allowed: "modules that run inside k6: your own files, spillway/scenario, packages without node: imports",
  }));
  return new SpillwayError("SCENARIO_INVALID", "this scenario cannot be bundled for k6", { problems });
}
