// A bundle is one file that plain k6 runs: the same clients, checks and thresholds, without Node.
// @module-tag real-time
// @module-tag paced
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bundleScenario } from "../../src/load/bundle.ts";
import { variables } from "../../src/load/variables.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import type { Rules } from "../../src/rules/rules.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { testFolder } from "./folder.ts";
import {
  countingService,
  fakeTarget,
  k6,
  plainHeaders,
  scenarioFile,
  shortRules,
  tokensOf,
  wideRules,
} from "./support.ts";

const folder = testFolder();
let bundles = 0;

/** Bundles a scenario into a folder of its own, with tokens beside it. */
async function bundled(name: string, body: string, policy?: Policy): Promise<string> {
  bundles += 1;
  const place = join(folder.path, `${name}-${bundles}`);
  await mkdir(place, { recursive: true });
  const path = await scenarioFile(place, name, body);
  const file = join(place, `${name}.js`);
  await writeFile(file, await bundleScenario({ path, name, limits: { policy } }));
  await writeFile(join(place, "tokens.json"), JSON.stringify(tokensOf(4)));
  return file;
}

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** `k6 run` as a person types it, far from the bundle. */
async function k6Run(
  file: string,
  given: Record<string, string>,
  more: readonly string[] = [],
): Promise<Ended> {
  const words = Object.entries(given).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  // Port 6565 is not ours to test; the rest is k6 as it comes.
  const always = ["run", "--address", "", "--no-usage-report", "--no-color"];
  const { path } = await k6();
  return new Promise((resolve) => {
    execFile(path, [...always, ...words, ...more, file], { cwd: "/" }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}

const steady = `duration: "1s", populations: { four: { clients: 4, behaviour: poller({ every: "300ms", call: user }) } }, expect: { refusedShare: "<1%", waitP95Ms: "<1s" }`;

describe.concurrent("plain k6 runs it", { tags: ["k6"] }, () => {
  test("with the same checks and thresholds, tokens from the file beside it", async () => {
    const file = await bundled("steady", steady);
    const service = await countingService(wideRules, tokensOf(4));
    const { code, output } = await k6Run(file, { TARGET: service.url });
    expect(service.requests()).toBeGreaterThan(4);
    expect(output).toMatch(new RegExp(`http_reqs\\.*: ${service.requests()} `));
    await service.close();
    expect(output).toContain("✓ answer as the rules say");
    expect(output).toMatch(/✓ 'rate==1'/);
    expect(output).toMatch(/✓ 'rate<0\.01'/);
    expect(output).toMatch(/✓ 'p\(95\)<1000'/);
    // Nothing but k6's own output, unless it is asked for.
    expect(output).not.toContain("four/3");
    expect(code).toBe(0);
  });

  test("a crossed expectation is k6's status 99, and so is an answer against the rules", async () => {
    const eager = `duration: "1s", populations: { four: { clients: 4, behaviour: worker({ calls: [{ call: user }], think: "5ms" }) } }, expect: { refusedShare: "<1%" }`;
    const file = await bundled("eager", eager);
    const rules = join(folder.path, "rules.json");
    // So few that users reach it on a slow machine, too.
    const few: Rules = { ...shortRules, user: { ...shortRules.user, rest: { limit: 3, windowSeconds: 1 } } };
    await writeFile(rules, JSON.stringify(few));
    const service = await countingService(few, tokensOf(4));
    const crossed = await k6Run(file, { TARGET: service.url, RULES: rules });
    await service.close();
    expect(crossed.output).toMatch(/✗ 'rate<0\.01'/);
    expect(crossed.output).toMatch(/http_req_failed\.*: 0\.00%/);
    expect(crossed.code).toBe(99);

    const target = await fakeTarget((_request, response) => response.writeHead(200, plainHeaders).end("{}"));
    const broken = await k6Run(file, { TARGET: target.url, RULES: rules });
    await target.close();
    expect(broken.output).toContain("✗ limit-agrees: RateLimit-Limit is not that of the rules");
    expect(broken.code).toBe(99);
  });

  test("a refusal that the scenario forbids is a failed request", async () => {
    const strict = `duration: "1s", populations: { four: { clients: 4, behaviour: burst({ call: user, size: 30 }) } }, expect: { refused: "==0" }`;
    const file = await bundled("strict", strict);
    const service = await countingService(shortRules, tokensOf(4));
    const { output } = await k6Run(file, { TARGET: service.url });
    await service.close();
    expect(output).toMatch(/http_req_failed\.*: [1-9]/);
  });

  test("DURATION_MS and GRAPHQL_URL change what they say", async () => {
    const body = `duration: "1m", populations: { four: { clients: 4, behaviour: poller({ every: "200ms", call: pipelinesQuery(50) }) } }`;
    const file = await bundled("queries", body);
    const service = await countingService(wideRules, tokensOf(4));
    const given = {
      TARGET: "http://127.0.0.1:1",
      GRAPHQL_URL: `${service.url}/v1/graphql`,
      DURATION_MS: "500",
    };
    const { code } = await k6Run(file, given);
    // A minute, and this test would never end.
    expect(service.requests()).toBeGreaterThanOrEqual(4);
    await service.close();
    expect(code).toBe(0);
  });
});

test.concurrent("by the policy of another API: its tokens, its routes, refusals of another status", {
  tags: ["k6"],
}, async () => {
  const policy = parsePolicy({
    version: 2,
    name: "strict",
    quotas: { calls: { algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 60 }, key: ["user"] } },
    operations: { any: { uses: { calls: 1 } } },
    routes: [{ path: "/**", operation: "any" }],
    auth: { header: "X-Key", form: "{token}", attributes: ["user"] },
    wire: { revision: "1", readings: [], outcomes: [{ outcome: "refused", status: [403], by: "calls" }] },
  });
  const eager = `duration: "1s", populations: { one: { clients: 1, behaviour: worker({ calls: [{ call: user }], think: "20ms", jobs: 20 }) } }, expect: { refusedShare: "<1%" }`;
  const file = await bundled("foreign", eager, policy);
  const tokens = join(folder.path, "keys.json");
  await writeFile(tokens, JSON.stringify([{ token: "key-0", user: "ada" }]));
  const seen = new Set<unknown>();
  let calls = 0;
  const target = await fakeTarget(({ headers }, response) => {
    seen.add(headers["x-key"]);
    calls += 1;
    response.writeHead(calls > 5 ? 403 : 200).end("{}");
  });
  const { output, code } = await k6Run(file, { TARGET: target.url, TOKENS: tokens });
  await target.close();
  expect(calls).toBeGreaterThan(5);
  expect([...seen]).toEqual(["key-0"]);
  expect(output).toMatch(/✗ 'rate<0\.01'/);
  expect(output).toMatch(/http_req_failed\.*: 0\.00%/);
  expect(output).not.toContain("answer as the rules say");
  expect(code).toBe(99);
});

test.concurrent("TRACE=1 leaves the lines that a run of spillway's own makes its trace of", {
  tags: ["k6"],
}, async () => {
  const file = await bundled("traced", steady);
  const service = await countingService(wideRules, tokensOf(4));
  const { output } = await k6Run(file, { TARGET: service.url, TRACE: "1" });
  await service.close();
  expect(output.match(/\\"sent\\":/g)).toHaveLength(service.requests());
  expect(output).toContain('{\\"end\\":\\"four/3\\"}');
});

describe.concurrent("what is wrong is said in k6's own output", { tags: ["k6"] }, () => {
  const said = async (given: Record<string, string>): Promise<Ended> =>
    k6Run(await bundled("steady", steady), given);

  test.each<[string, Record<string, string>, RegExp]>([
    ["no target", {}, /name the target: k6 run -e TARGET=/],
    ["a target that is none", { TARGET: "127.0.0.1" }, /TARGET: got .*127\.0\.0\.1.*, allowed: http:/],
    [
      "a target elsewhere",
      { TARGET: "http://192.0.2.1" },
      /TARGET: got 192\.0\.2\.1, which is elsewhere, allowed: this machine, or -e ALLOW_HOST=192\.0\.2\.1/,
    ],
    [
      "a number that is none",
      { TARGET: "http://127.0.0.1:1", SEED: "many" },
      /SEED is many: it must be a whole number/,
    ],
    [
      "a flag that is neither",
      { TARGET: "http://127.0.0.1:1", TRACE: "true" },
      /TRACE is true: it must be 1 or 0/,
    ],
    ["no tokens", { TARGET: "http://127.0.0.1:1", TOKENS: "/nowhere/tokens.json" }, /nowhere\/tokens\.json/],
  ])("%s", async (_, given, message) => {
    const { code, output } = await said(given);
    expect(output).toMatch(message);
    expect(code).toBe(107);
  });
});

test.concurrent("clients that k6 is told to make in place of the scenario's end the run, and call nobody", {
  tags: ["k6"],
}, async () => {
  const file = await bundled("told", steady);
  const service = await countingService(wideRules, tokensOf(4));
  const { code, output } = await k6Run(file, { TARGET: service.url }, ["--vus", "2", "--duration", "10s"]);
  await service.close();
  expect(output).toMatch(/no population default: leave --vus, .* and give the duration by -e DURATION_MS/);
  expect(output.match(/no population/g)?.length).toBeLessThan(10);
  expect(code).toBe(108);
  expect(service.requests()).toBe(0);
});

describe("the file", () => {
  test("says how to run it, and is one file", async () => {
    const path = await scenarioFile(folder.path, "alone", steady);
    const text = await bundleScenario({ path, name: "alone" });
    expect(text).toMatch(/^\/\/ Scenario alone, bundled by spillway/);
    for (const [name, meaning] of Object.entries(variables))
      expect(text).toMatch(new RegExp(`// +${name} +${meaning.slice(0, 20)}`));
    const imports = [...text.matchAll(/^import .* from "(.*)";$/gm)].map(([, from]) => from);
    expect(new Set(imports)).toEqual(
      new Set(["k6", "k6/data", "k6/encoding", "k6/execution", "k6/http", "k6/metrics"]),
    );
  });

  test.each([
    ["node:fs", `import { readFileSync as x } from "node:fs";`, /Could not resolve "node:fs"/],
    [
      "a package that is not there",
      `import { x } from "no-such-package";`,
      /Could not resolve "no-such-package"/,
    ],
  ])("a scenario that imports %s is refused, with the line", async (name, line, message) => {
    const path = join(folder.path, "importing.ts");
    await writeFile(path, `// A scenario.\n${line}\nexport default { x };\n`);
    const error = await codedErrorOf(bundleScenario({ path, name }));
    expect(error).toMatchObject({ code: "SCENARIO_INVALID", exitCode: 2 });
    expect(error.problems[0]?.path).toBe("importing.ts:2");
    expect(error.problems[0]?.got).toMatch(message);
  });
});
