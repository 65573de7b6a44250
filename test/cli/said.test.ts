// Texts of commands for people, word by word: columns, plurals, what is left out and what comes first. A change on purpose
// writes it anew; read the difference before you commit it:
//   GOLDEN=said npx vitest run --config test/vitest.config.ts test/cli/said.test.ts

import { readFileSync, writeFileSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spillwayHere } from "../support/command.ts";

const kept = fileURLToPath(new URL("said.txt", import.meta.url));
const golden = fileURLToPath(new URL("../golden/", import.meta.url));
const traces = [
  "one-extra-bad",
  "refusal-names-user-bad",
  "organization-off-grid-bad",
  "not-enforced-ok",
  "without-rules-documented-ok",
];

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-said-"));
  for (const name of traces) await cp(`${golden}${name}.trace.ndjson`, join(folder, `${name}.trace.ndjson`));
  await writeFile(join(folder, "access.log"), accessLog());
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Three users of two organizations over three hours: one polls, one comes in bursts, one seldom. */
function accessLog(): string {
  const lines: [number, string][] = [];
  const add = (second: number, user: string, path: string, status = 200): void => {
    const time = new Date(Date.UTC(2026, 0, 5, 12) + second * 1000).toISOString();
    const at = `05/Jan/2026:${time.slice(11, 19)} +0000`;
    lines.push([second, `10.0.0.1 - ${user} [${at}] "GET ${path} HTTP/1.1" ${status} 12 "-" "curl"`]);
  };
  for (let second = 0; second < 10_800; second += 20) add(second, "ann", "/v2/organizations/acme/pipelines");
  for (let hour = 0; hour < 3; hour++)
    for (let call = 0; call < 90; call++) add(hour * 3600 + 900 + Math.floor(call / 3), "bob", "/v2/user");
  for (let second = 60; second < 10_800; second += 1700)
    add(second, "eve", "/v2/organizations/globex/rate_limit");
  lines.sort(([a], [b]) => a - b);
  return `${lines.map(([, line]) => line).join("\n")}\n`;
}

const commands = [
  ...traces.map((name) => `verify ${name}.trace.ndjson`),
  "simulate steady --duration 30s --seed 3 --out steady",
  "simulate herd --duration 1m --fault one-extra --out herd",
  "simulate --fault list",
  "plan steady --vary rules.user.rest.limit=5..50:15 --until refusedShare<5% --duration 20s --in-runs 50% --replications 6 --workers 1 --out plan",
  "replay access.log --dry-run",
  "replay access.log --out replay",
  "replay access.log --on-refused waitReset+0..5s --out reacting",
  "simulate nowhere --duration 5x",
  "scenarios",
  "figures",
];

test("commands say what they said", async () => {
  const sections: string[] = [];
  for (const command of commands) {
    // Of standard error only mistakes: progress is told by the clock.
    const { code, stdout, stderr } = await spillwayHere(command.split(" "), { cwd: folder });
    sections.push(`$ spillway ${command}\n${code === 2 ? stderr : stdout}=> ${code}\n`);
  }
  const said = sections.join("\n");
  if (process.env["GOLDEN"] === "said") writeFileSync(kept, said);
  expect(said).toBe(readFileSync(kept, "utf8"));
});
