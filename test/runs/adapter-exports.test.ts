// What an adapter's file exports: each limiter that is taken, and each mistake, told whole, in `pinned/exports.txt`.
// `npm test -- test/runs/adapter-exports.test.ts -u` writes it anew; read the difference.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { SourceMapPayload } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SpillwayError } from "../../src/rules/errors.ts";
import { bundleAdapterFile, importAdapter } from "../../src/runs/adapter-file.ts";

const create = "create: () => ({ decide() {} })";
const byRules = `algorithm: "fixed-window", claims: "all", ${create}`;
const byPolicy = `limits: "any", claims: "all", ${create}`;
const cases: readonly (readonly [by: "rules" | "policy", exported: string])[] = [
  ["rules", `{ name: "mine", ${byRules} }`],
  ["rules", `{ ${byRules}, restore: () => ({}) }`],
  ["rules", "undefined"],
  ["rules", "null"],
  ["rules", "7"],
  ["rules", `() => ({ ${byRules} })`],
  ["rules", `Promise.resolve({ ${byRules} })`],
  ["rules", "{}"],
  ["rules", `{ name: 7, algorithm: "fixed-windw", claims: ["conserved", "monotne"], create: 1, restore: 0 }`],
  ["rules", `{ algorithm: "token-bucket", claims: "some", ${create} }`],
  ["policy", `{ name: "mine", ${byPolicy} }`],
  ["policy", `{ limits: "given", claims: ["conserved"], callers: [], operations: ["ask"], ${create} }`],
  ["policy", "undefined"],
  ["policy", `"text"`],
  ["policy", "{}"],
  ["policy", `{ ${byRules} }`],
  ["policy", `{ ${byPolicy}, callers: "all", operations: 0, restore: null }`],
  ["policy", `{ ${byPolicy.replace('"any"', '"every"')}, claims: ["monotne"] }`],
];

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-exports-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("what a file exports is held to a limiter's members, with every mistake at once", async () => {
  const source = join(folder, "limiter.ts");
  await writeFile(source, "export default {};");
  const kinds = {
    rules: (await bundleAdapterFile(source)).kind,
    policy: (await bundleAdapterFile(source, true)).kind,
  };
  const told: string[] = [];
  for (const [index, [by, exported]] of cases.entries()) {
    const file = join(folder, `${index}.mjs`);
    await writeFile(file, `export default ${exported};`);
    const map: SourceMapPayload = {
      file,
      version: 3,
      sources: [],
      sourcesContent: [],
      names: [],
      mappings: "",
      sourceRoot: "",
    };
    const placed = { kind: kinds[by], path: source, isBuiltIn: false, file, map };
    const answer = await importAdapter(placed).then(
      (factory) => `taken: ${factory.name}, ${typeof factory.create} and ${typeof factory.restore}`,
      (error) => {
        if (!(error instanceof SpillwayError)) throw error;
        return `${error.code}: ${error.message}\nhint: ${error.hint}`;
      },
    );
    told.push(`# by ${by}: ${exported}\n${answer}`);
  }
  await expect(`${told.join("\n\n")}\n`).toMatchFileSnapshot("./pinned/exports.txt");
});
