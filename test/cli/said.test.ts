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

/** Output of `curl -si`: two quotas of which one is known by its header alone, and a refusal. */
const answers = [
  "HTTP/1.1 200 OK\r\nDate: Mon, 05 Jan 2026 12:00:10 GMT\r\nX-RateLimit-Limit: 100\r\nX-RateLimit-Remaining: 98",
  "X-RateLimit-Reset: 50\r\nX-Tokens-Left: 7\r\n\r\n{}\n",
  "HTTP/1.1 200 OK\r\nDate: Mon, 05 Jan 2026 12:00:20 GMT\r\nX-RateLimit-Limit: 100\r\nX-RateLimit-Remaining: 97",
  "X-RateLimit-Reset: 40\r\nX-Tokens-Left: 6\r\n\r\n{}\n",
  "HTTP/1.1 429 Too Many Requests\r\nDate: Mon, 05 Jan 2026 12:00:30 GMT\r\nX-RateLimit-Limit: 100",
  'X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 30\r\nRetry-After: 30\r\n\r\n{"error":"slow down"}\n',
].join("\r\n");

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
  "map answers.txt",
  "map answers.txt --out mapped.json",
  "policy check mapped.json",
];

const target = "--target http://127.0.0.1:9";
const audit = `audit ${target} --tokens tokens.json --policy default --yes`;
/** Mistakes, and what lists or explains itself: none of them makes a call or runs a scenario. */
const mistakes = [
  "audit",
  "audit --list",
  `${audit} --dry-run`,
  `${audit} --dry-run --spend 10% --only cost-as-told,other-user`,
  ...[
    "--only elephants",
    "--only cost-as-tolt",
    "--spend 0%",
    "--spend 101%",
    "--max-time 0s",
    "--resume",
  ].map((more) => `${audit} ${more}`),
  "audit --target ftp://x --tokens tokens.json --policy default",
  "audit --target http://example.com --tokens tokens.json --policy default",
  ...["--budget x", "--max-wait soon", "--timeout 0s", "--tokens none.json", "--org"].map(
    (more) => `probe ${target} ${more}`,
  ),
  "probe",
  `probe ${target} --ca ca.pem`,
  ...["--cert access.log", "--key access.log", "--cert access.log --key access.log", "--ca none.pem"].map(
    (more) => `probe --target https://127.0.0.1:9 ${more}`,
  ),
  `status ${target} --watch --every 999ms`,
  `status ${target} --tokens empty.json`,
  ...[
    "--port 65536",
    "--port x",
    "--users 0",
    "--users 1000001",
    "--tls-cert access.log",
    "--tls-key none.pem",
  ].map((more) => `serve ${more}`),
  ...[
    "--fault one-extr",
    "--fault one-extra=2",
    "--workers 0",
    "--seed x",
    "--rules none.json",
    "--policy gitub",
  ].map((more) => `serve ${more}`),
  "load",
  ...[
    "--driver k7",
    "--seed -1",
    "--duration 0s",
    "--timeout x",
    "--target http://example.com",
    "--compare none",
  ].map((more) => `load steady ${more}`),
  "load none.ts",
  ...["--law conservd", "--law elephants", "--runs 0", "--path x", "--path 3:1", "--known none.json"].map(
    (more) => `check ${more}`,
  ),
  ...["--clock-moves", "--calls 5", "--alone", `${target} --runs 5`, "--adapter none.js", "--fault list"].map(
    (more) => `check ${more}`,
  ),
  "check --rules default --fault status-opens-window --runs 1",
  "check --policy github --fault reset-disagrees --runs 1",
  "plan steady",
  "plan steady --resume",
  ...["x", "rules.user.rest.limit=9..5", "rules.user.rest.limt=5..9", "x.clients=1..2"].map(
    (vary) => `plan steady --vary ${vary} --until refusedShare<5%`,
  ),
  ...["refused", "refusd<5", "x.refused<5", "refused<5 --in-runs 0%", "refused<5 --confidence 100%"].map(
    (until) => `plan steady --vary rules.user.rest.limit=5..9 --until ${until}`,
  ),
  ...["none.log", "access.log --set x", "access.log --set user.rest.limt=5", "access.log --zone nowhere"].map(
    (more) => `replay ${more}`,
  ),
  ...["--allow-unread 101%", "--traffic 0", "--user-column usr", "--on-refused own", "--expect refused"].map(
    (more) => `replay access.log ${more}`,
  ),
  ...[
    "--format xml",
    "--graphql-cost -1",
    "--duration-unit h",
    "--time-is now",
    "--path /none",
    "--sql x",
  ].map((more) => `replay access.log ${more}`),
  "fit access.log --share 2",
  "map",
  "map access.log",
  "map none.txt",
  "map answers.txt --out mapped.json",
  "policy",
  "policy list",
  "policy check none.json",
  "report none",
  "report steady --compare none",
  "bundle none.ts",
  "init --policy none.json",
  "completion ksh",
  "swarm 0",
  "swarm 2 --seed x",
  "verify none.ndjson",
  "verify steady --out verdict.txt",
  "verify steady --accept overAdmission",
  "verify steady --expect refused",
  "verify steady",
  "simulate",
  ...["--seed 1.5", "--fault one-extra=0.5", "--fault per-instance-counters=x", "--adapter none.js"].map(
    (more) => `simulate steady ${more}`,
  ),
  "simulate steady --sed 3",
  "simulat steady",
  "figures x",
];

test("commands say what they said", async () => {
  const sections: string[] = [];
  await writeFile(join(folder, "empty.json"), "[]");
  await writeFile(join(folder, "answers.txt"), answers);
  await writeFile(
    join(folder, "tokens.json"),
    JSON.stringify([{ token: "spw_x", user: "ann", organization: "acme" }]),
  );
  for (const command of [...commands, ...mistakes]) {
    // Of standard error only mistakes: progress is told by the clock.
    const { code, stdout, stderr } = await spillwayHere(command.split(" "), { cwd: folder });
    sections.push(`$ spillway ${command}\n${code === 2 ? stderr : stdout}=> ${code}\n`);
  }
  const said = sections.join("\n");
  if (process.env["GOLDEN"] === "said") writeFileSync(kept, said);
  expect(said).toBe(readFileSync(kept, "utf8"));
});
