// The golden corpus: traces with known verdicts, `test/golden/*-{ok,bad}.trace.ndjson`. Verdicts change only by
//   GOLDEN=verdicts npx vitest run --config test/vitest.config.ts test/verify/golden.test.ts
// and the traces that are missing are made, with all verdicts, by GOLDEN=traces. Read the difference before you commit it.
import { createReadStream, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";
import { judge } from "../../src/verify/judge.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { verify } from "../../src/verify/verify.ts";
import { type GoldenHistory, goldenHistories } from "./golden-histories.ts";
import type { History } from "./history.ts";

const folder = fileURLToPath(new URL("../golden/", import.meta.url));
const mode = process.env["GOLDEN"] ?? "";

/** Tells whether a history shows what it is there for. */
async function fits({ fault }: GoldenHistory, { header, lines }: History): Promise<boolean> {
  const { verdict, violations } = await judge(header, lines);
  if (fault !== null) return violations[0]?.suspects[0] === fault;
  const answered = lines.filter(({ call }) => call.status === 200);
  const refused = lines.filter(({ call }) => call.status === 429);
  const scopes = new Set(answered.map(({ call }) => call.scope));
  return (
    verdict === "ok" &&
    scopes.size === 2 &&
    (refused.length > 1 || header.rules?.organization.rest.enforced === false)
  );
}

async function firstFitting(golden: GoldenHistory): Promise<History> {
  // Each begins elsewhere, so that no two are alike.
  const first = 1 + goldenHistories.indexOf(golden) * 10_000;
  for (let seed = first; seed < first + 2000; seed++) {
    const history = golden.make(seed);
    if (await fits(golden, history)) return history;
  }
  throw new Error(`no seed makes ${golden.name} show what it is there for`);
}

test.each(goldenHistories.map((golden) => [golden.name, golden] as const))("%s", async (name, golden) => {
  const trace = `${folder}${name}.trace.ndjson`;
  const expected = `${folder}${name}.verdict.json`;
  if (mode === "traces" && !existsSync(trace)) {
    await mkdir(folder, { recursive: true });
    const { header, lines } = await firstFitting(golden);
    writeFileSync(trace, [encodeHeader(header), ...lines.map(({ call }) => encodeCall(call)), ""].join("\n"));
  }
  const verdict = await verify(createReadStream(trace));
  if (mode !== "") writeFileSync(expected, `${JSON.stringify(verdict, null, 2)}\n`);
  expect(verdict).toEqual(JSON.parse(readFileSync(expected, "utf8")) as Verdict);
  expect(verdict.verdict).toBe(name.endsWith("-ok") ? "ok" : "violated");
  if (golden.fault !== null) expect(verdict.violations[0]?.suspects[0]).toBe(golden.fault);
});

test("the corpus has a trace and a verdict for each name, and no others", () => {
  const expected = goldenHistories.flatMap(({ name }) => [`${name}.trace.ndjson`, `${name}.verdict.json`]);
  expect(readdirSync(folder).filter((name) => name !== "README.md")).toEqual(expected.toSorted());
});
