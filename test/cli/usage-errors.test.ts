// Words that go beyond a mistyped option, and the whole error of each: a code, the field, what was got, what is allowed, and
// the next step. Nothing is run, and nothing is printed beside it.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spillwayHere } from "../support/command.ts";

let cwd = "";
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "spillway-usage-errors-"));
  await writeFile(join(cwd, "there.ts"), "export default {}");
  await writeFile(join(cwd, "a.log"), "");
  const ann = { token: "a", user: "ann", organization: "acme", scopes: ["read_accounts"] };
  await writeFile(join(cwd, "there.json"), JSON.stringify([ann]), { mode: 0o600 });
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

test.each([
  [
    "replay -- -a.log",
    `FILE_UNREADABLE the log cannot be read
  -a.log: got no such file, allowed: a readable file`,
  ],
  [
    "verify -dash.log",
    `USAGE verify cannot use all of these words
  -dash.log: got an unknown option, allowed: --sort, --out, --open, --expect, --json, --debug, --color
next npx spillway verify --help shows what can be used`,
  ],
  [
    "fit a.log --share 0",
    `USAGE the share cannot be used
  --share: got "0", allowed: a part of the time, such as 70% or 0.5`,
  ],
  [
    "fit a.log --share 1",
    `USAGE the share cannot be used
  --share: got "1", allowed: a part of the time, such as 70% or 0.5`,
  ],
  [
    "fit a.log --seeds 2",
    `USAGE --seeds cannot be used
  --seeds: got 2, allowed: a whole number from 3 to 10000`,
  ],
  [
    "fit a.log --seeds 10001",
    `USAGE --seeds cannot be used
  --seeds: got 10001, allowed: a whole number from 3 to 10000`,
  ],
  [
    "fit a.log --seeds 3.5",
    `USAGE --seeds cannot be used
  --seeds: got 3.5, allowed: a whole number from 3 to 10000`,
  ],
  [
    "fit a.log -o there.ts",
    `FILE_UNWRITABLE nothing is overwritten
  there.ts: got a file that is already there, allowed: a new file
next --force overwrites it`,
  ],
  [
    "fit a.log -o fresh.ts --report there.ts",
    `FILE_UNWRITABLE nothing is overwritten
  there.ts: got a file that is already there, allowed: a new file
next --force overwrites it`,
  ],
  [
    "fit a.log -o both.ts --report both.ts",
    `USAGE --out and --report need a file each
  --report: got "both.ts", allowed: another file than that of --out`,
  ],
  [
    "fit a.log -o both.ts --report ./both.ts",
    `USAGE --out and --report need a file each
  --report: got "./both.ts", allowed: another file than that of --out`,
  ],
  [
    "fit a.log --name a/b",
    `USAGE the name cannot be used
  --name: got "a/b", allowed: letters, digits, dashes, underscores, at most 64`,
  ],
  [
    "init --policy github --ci",
    `USAGE --policy and --ci do not go together
next the recipe for a build server loads and judges the default API`,
  ],
  [
    "plan herd --resume",
    `USAGE this plan cannot be run
  --resume: got no --out, allowed: --out DIR, the folder of the plan to go on with`,
  ],
  [
    "plan herd --vary agents.clients=1..9 --workers 0",
    `USAGE --workers cannot be used
  --workers: got 0, allowed: a whole number from 1 to 256`,
  ],
  [
    "demo --seed -1",
    `USAGE --seed cannot be used
  --seed: got -1, allowed: a whole number from 0 to 2^53 - 1`,
  ],
  [
    "demo --runs 0",
    `USAGE --runs cannot be used
  --runs: got 0, allowed: a whole number from 1 to 10000000`,
  ],
  [
    "demo --duration 0s",
    `USAGE the duration cannot be used
  --duration: got "0s", allowed: "90s", "5m", "1m30s", at most a year`,
  ],
  [
    "load herd --tokens t.json",
    `USAGE --tokens needs --target
next without a target the reference deployment is started, with tokens of its own`,
  ],
  [
    "load herd --allow-host a.example",
    `USAGE --allow-host needs --target
next without a target the reference deployment is started, with tokens of its own`,
  ],
  [
    "load herd --graphql-url http://a.example",
    `USAGE --graphql-url needs --target
next without a target the reference deployment is started, with tokens of its own`,
  ],
  [
    "load herd --target http://127.0.0.1:9",
    `USAGE --target needs --tokens
next npx spillway serve says where it wrote its own; a tokens file names a token for each user`,
  ],
  [
    "load herd --timeout x",
    `USAGE the timeout cannot be used
  --timeout: got "x", allowed: "90s", "5m", "1m30s", at most a year`,
  ],
  [
    "simulate herd --like there.ts --seed 3",
    `FILE_UNREADABLE the run folder cannot be read
  there.ts: got a file, allowed: a run's folder
next npx spillway simulate and npx spillway load make one, and print where`,
  ],
  [
    "check --runs 0",
    `USAGE --runs cannot be used
  --runs: got 0, allowed: a whole number from 1 to 10000000`,
  ],
  [
    "replay a.log --expect nothing",
    `USAGE --expect cannot be used
  --expect: got "nothing", allowed: a figure and a bound: 'refusedShare<1%'`,
  ],
  [
    "replay a.log --on-refused nothing",
    `USAGE --on-refused cannot be used
  --on-refused: got "nothing", allowed: one of own, none, waitReset, waitOrganizationReset, retryAfter, exponential, immediate, fixed`,
  ],
  [
    "status --target http://127.0.0.1:9",
    `USAGE a token is needed
  SPILLWAY_TOKEN: got nothing, allowed: a token, or --tokens FILE
next tokens come from a file or from the environment, never from a flag: process lists show flags`,
  ],
  [
    "probe --target http://127.0.0.1:9 --tokens there.json --budget -1 --yes",
    `USAGE --budget cannot be used
  --budget: got -1, allowed: a whole number from 0 to 2^53 - 1`,
  ],
  [
    "probe --target http://127.0.0.1:9 --tokens there.json --max-wait x --yes",
    `USAGE the max-wait cannot be used
  --max-wait: got "x", allowed: "90s", "5m", "1m30s", at most a year`,
  ],
  [
    "audit --target http://127.0.0.1:9 --tokens there.json --only nothing --yes",
    `USAGE there is no such experiment
  --only: got "nothing", allowed: a name of --list`,
  ],
  [
    "map",
    `USAGE map needs answers of the API
  FILES: got nothing, allowed: files of answers, or - for standard input
next curl -si URL > answers.txt keeps one`,
  ],
  [
    "map --from nowhere.txt",
    `FILE_UNREADABLE the file of answers cannot be read
  nowhere.txt: got no such file, allowed: a readable file`,
  ],
  [
    "map there.ts",
    `LOG_INVALID this file shows no answer of an API
  there.ts: got no HTTP answer, allowed: output of curl -i or curl -v, a HAR, JSON lines, or an access log
next curl -i URL > answer.txt keeps an answer with its headers`,
  ],
  [
    "report nowhere",
    `FILE_UNREADABLE the run folder cannot be read
  nowhere: got no such folder, allowed: a run's folder
next npx spillway simulate and npx spillway load make one, and print where`,
  ],
])("%s", async (words, said) => {
  const { code, stdout, stderr } = await spillwayHere(words.split(" "), { cwd });
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: `error ${said}\n` });
});
