// A run by k6 as far as this side of it goes, with a script in k6's place: the files and variables that k6 gets, and what
// is made of what it leaves.
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { connectionVariables, readyForK6 } from "../../src/load/by-k6.ts";
import type { DriverRun } from "../../src/load/driver.ts";
import { planLoad } from "../../src/load/plan.ts";
import { loadScenarioFile } from "../../src/load/scenario-file.ts";
import type { TraceHead } from "../../src/load/trace-file.ts";
import { variables } from "../../src/load/variables.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { presets } from "../../src/policy/presets.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules } from "../../src/rules/rules.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { testFolder } from "./folder.ts";
import { program } from "./k6-programs.ts";
import { readTraceFile, scenarioFile, tokensOf } from "./support.ts";

const folder = testFolder();
const url = "http://127.0.0.1:1";
const begun = '{"start":"agents/0","at":1000}\n{"end":"agents/0"}\n';
let runs = 0;

interface Given {
  readonly policy?: Policy;
  readonly rules?: Rules;
  readonly more?: Partial<DriverRun>;
  readonly graphqlUrl?: string;
}

type Ready = Awaited<ReturnType<typeof readyForK6>>;
const github = parsePolicy(presets["github"]?.policy);
let byRules: Ready;
let byPolicy: Ready;
let scenario: Scenario;
beforeAll(async () => {
  const body = `duration: "2s", seed: 7, populations: { agents: { clients: 1, behaviour: poller({ every: "1s", call: user }) } }`;
  const path = await scenarioFile(folder.path, "agents", body);
  const script = await program(folder.path, "k6", `exec /bin/sh "$SPILLWAY_TEST_SCRIPT" "$@"`);
  const k6 = { path: script, version: "1.8.1", origin: "cache" } as const;
  byRules = await readyForK6(k6, path, "agents", undefined);
  byPolicy = await readyForK6(k6, path, "agents", github);
  scenario = (await loadScenarioFile(path)).scenario;
});

/**
 * Runs a scenario by a shell script, to which `$seen` is a file of the test's and `$raw` the file that clients write.
 * @returns the outcome, what the script put into `$seen`, and the run's folder
 */
async function ran(script: string, { policy, rules, more = {}, graphqlUrl }: Given = {}) {
  runs += 1;
  const place = join(folder.path, `run${runs}`);
  const seen = join(folder.path, `seen${runs}`);
  const words = `for word; do raw=$last; last=$word; done; seen='${seen}'`;
  for (const name of ["SSL_CERT_FILE", "SSL_CERT_DIR"]) vi.stubEnv(name, undefined);
  vi.stubEnv("SPILLWAY_TEST_SCRIPT", await program(folder.path, `script${runs}`, `${words}\n${script}`));
  const users = [{ token: "a-secret", attributes: { user: "ann" } }];
  const plan = planLoad(
    scenario,
    { startAtMs: 5000, ...(policy && { policy }), ...(rules && { rules }) },
    { url, graphqlUrl, tokens: policy === undefined ? tokensOf(1) : users },
  );
  const outcome = (policy === undefined ? byRules : byPolicy)({
    ...{ plan, base: url, isOwn: false, isShared: true, keepAlive: false, timeoutMs: 900, folder: place },
    trace: join(place, "trace.ndjson"),
    head,
    drive: undefined,
    signal: undefined,
    onProgress: undefined,
    ...more,
  });
  return { outcome, place, seen: () => readFile(seen, "utf8") };
}

const head: TraceHead = {
  format: "spillway-trace",
  version: 1,
  source: "k6",
  scenario: "agents",
  seed: 7,
  target: url,
  startedAt: 900,
  clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
  rules: null,
  complete: true,
};

/** Names of the variables that a bundle may get. */
const names = [...Object.keys(variables), "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "NO_PROXY"];
/** JavaScript that keeps these variables, the modes of its files, and the tokens: a machine may have Node alone. */
const keeping = `
const { readFileSync, statSync, writeFileSync } = require("node:fs");
const [seen, ...files] = process.argv.slice(1);
const given = ${JSON.stringify(names.toSorted())}.filter((name) => process.env[name] !== undefined);
const modes = files.filter((file) => file !== "").map((file) => (statSync(file).mode & 0o777).toString(8));
const tokens = readFileSync(process.env.TOKENS, "utf8");
writeFileSync(seen, [...given.map((name) => name + "=" + process.env[name]), ...modes, tokens].join("\\n"));
`;
const keepsVariables = `node -e '${keeping}' "$seen" "$TOKENS" "$RULES" "$last"; printf '%s' '${begun}' > "$raw"`;

describe.skipIf(process.platform === "win32")("k6 gets", () => {
  test("settings, tokens and rules by files of its own, which are removed with their folder", async () => {
    const { outcome, seen, place } = await ran(keepsVariables);
    expect(await outcome).toMatchObject({ driver: "k6", complete: true, crossed: [], failure: null });
    const lines = (await seen()).split("\n");
    const workshop = /TOKENS=(.*)\/tokens\.json/.exec(await seen())?.[1] ?? "";
    expect(lines).toEqual([
      "ALLOW_HOST=",
      "CERT=",
      "DURATION_MS=2000",
      "GRAPHQL_URL=",
      "KEEP_ALIVE=",
      "KEY=",
      "RULES=",
      "SEED=7",
      "SHARED=1",
      "START_AT_MS=5000",
      `SUMMARY=${place}/k6/summary.json`,
      `TARGET=${url}`,
      "TIMEOUT_MS=900",
      `TOKENS=${workshop}/tokens.json`,
      "TRACE=1",
      "600",
      "600",
      JSON.stringify(tokensOf(1)),
    ]);
    await expect(stat(workshop)).rejects.toThrow("ENOENT");
    await expect(stat(join(place, "k6", "raw.ndjson"))).rejects.toThrow("ENOENT");
    expect((await readTraceFile(join(place, "trace.ndjson"))).header).toMatchObject({
      startedAt: 1000,
      lost: 0,
      complete: true,
    });
  });

  test("a policy's tokens with their attributes, and what a run allows", async () => {
    const more = {
      isShared: false,
      keepAlive: true,
      tls: { ca: "an authority", cert: "a certificate", key: "a key" },
      proxy: { url: "http://proxy:1", except: "localhost" },
    };
    const { outcome, seen } = await ran(keepsVariables, { policy: github, more, graphqlUrl: `${url}/g/` });
    await outcome;
    const text = await seen();
    for (const line of [
      `GRAPHQL_URL=${url}/g/`,
      "HTTPS_PROXY=http://proxy:1",
      "KEEP_ALIVE=1",
      "NO_PROXY=localhost",
      "SHARED=",
    ])
      expect(text).toContain(`${line}\n`);
    expect(text).toMatch(/\nCERT=.*\/cert\.pem\n[\s\S]*\nKEY=.*\/key\.pem\n/);
    expect(text).toMatch(/\nSSL_CERT_DIR=.*\/no-other-authorities\nSSL_CERT_FILE=.*\/ca\.pem\n/);
    expect(text).toContain('[{"token":"a-secret","user":"ann"}]');
  });

  test("the run's rules, where it has some", async () => {
    const rules = parseRules({ user: { rest: { limit: 7 } } });
    const copy = `node -e 'require("node:fs").copyFileSync(process.env.RULES, process.argv[1])' "$seen"`;
    const { outcome, seen } = await ran(`${copy}; printf '%s' '${begun}' > "$raw"`, { rules });
    await outcome;
    expect(JSON.parse(await seen())).toEqual(rules);
  });

  test("connections that are kept where the target is the run's own", async () => {
    const { outcome, seen } = await ran(keepsVariables, { more: { isOwn: true } });
    await outcome;
    expect(await seen()).toContain("KEEP_ALIVE=1\n");
  });
});

describe.skipIf(process.platform === "win32")("a run that no client began", () => {
  test.each([
    [
      "says what k6 said first, and its status",
      "printf 'one\\ntwo\\nthree\\nfour\\n' >&2; exit 107",
      "k6 ended before any client began: one; two; three",
      "k6's exit status was 107",
    ],
    ["and a kill", "kill -9 $$", "k6 ended before any client began", "was it killed?"],
  ])("%s", async (_, script, message, hint) => {
    const { outcome } = await ran(script);
    expect(await codedErrorOf(outcome)).toMatchObject({ code: "K6_FAILED", message, hint });
  });

  test("is one all the same where k6 ended well, or was told to stop", async () => {
    expect((await (await ran("exit 0")).outcome).account).toMatchObject({ clients: 0, calls: 0 });
    const stopped = await ran("trap 'exit 105' INT; while :; do :; done", {
      more: { signal: AbortSignal.abort() },
    });
    expect(await stopped.outcome).toMatchObject({ interrupted: true, failure: null });
  });

  test("that cannot be started leaves no trace", async () => {
    const { outcome, place } = await ran("", { more: { folder: "/dev/null/no" } });
    await expect(outcome).rejects.toMatchObject({ code: "FILE_UNWRITABLE" });
    await expect(stat(place)).rejects.toThrow("ENOENT");
  });
});

test("k6's own end is the run's: what failed, what was crossed, what was lost", async () => {
  const summary = JSON.stringify({
    root_group: { checks: [{ name: "limit-agrees", fails: 2 }] },
    metrics: {
      http_reqs: { values: { count: 3 } },
      waits: { values: {}, thresholds: { "max<1": { ok: false } } },
    },
  });
  const { outcome, place } = await ran(
    `printf '%s' '${summary}' > "$SUMMARY"; printf '{"start":"agents/0","at":1000}\\nhello\\n' > "$raw"; echo odd >&2; exit 99`,
  );
  expect(await outcome).toMatchObject({
    checks: [{ name: "limit-agrees", fails: 2 }],
    crossed: ["waits max<1"],
    interrupted: false,
    failure: null,
    account: { clients: 1, cutOff: 1, lost: 3 },
    notes: [
      "2 answers failed the check limit-agrees",
      "1 client cut off before its end",
      "up to 3 calls may have been sent that the trace has no line of",
      "k6 says: odd",
      "the scenario printed: hello",
    ],
  });
  expect(await readFile(join(place, "k6", "stderr.txt"), "utf8")).toBe("1 x odd\n");
});

test.each(["darwin", "win32"] as const)(
  "an authority of the user's is refused on %s alone",
  async (platform) => {
    const error = await codedErrorOf(connectionVariables(folder.path, { tls: { ca: "pem" } }, platform));
    expect(error.code).toBe("USAGE");
    expect(await connectionVariables(folder.path, {}, platform)).toEqual({ CERT: "", KEY: "" });
  },
);
