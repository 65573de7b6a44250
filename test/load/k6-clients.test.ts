// A bundle's clients in a k6 of the test's own: what they send, and what they write and tell k6.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { bundleScenario } from "../../src/load/bundle.ts";
import { variables } from "../../src/load/variables.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { type FakeAnswer, FakeK6, type FakeK6Options, type Loadable, loadable } from "./fake-k6.ts";
import { testFolder } from "./folder.ts";
import { plainHeaders, scenarioFile, tokensOf } from "./support.ts";

const startMs = 1_795_305_600_000;
const folder = testFolder();
const populations = `{
  polling: { clients: 2, startWithin: "1s", behaviour: poller({ every: "1s", call: user }) },
  paging: { clients: 1, behaviour: pager({ call: rest("/v2/pages"), pages: 3, parallel: 2 }) },
  rated: {
    arrivals: { executor: "constant-arrival-rate", rate: 1, timeUnit: "1s", preAllocatedVUs: 1 },
    behaviour: poller({ every: "1s", call: status() }),
  },
  ramping: {
    arrivals: { executor: "ramping-vus", startVUs: 0, stages: [{ target: 2, duration: "2s" }] },
    behaviour: poller({ every: "1s", call: user }),
  },
  bursting: { clients: 1, behaviour: burst({ call: user, size: 2, every: "1500ms" }) },
  querying: { clients: 1, behaviour: poller({ every: "1m", call: graphql("{ a }", { cost: 2 }) }) },
  broken: { clients: 1, behaviour: { name: "broken", calls: [user], inFlightMost: 1, start: () => ({}), next() { throw new Error("no call to make"); } } },
}`;
const github = parsePolicy(presets["github"]?.policy);
let bundled = "";
let byRules: Loadable;
let byPolicy: Loadable;
beforeAll(async () => {
  const some = await scenarioFile(
    folder.path,
    "some",
    `duration: "3s", seed: 5, populations: ${populations}, expect: { refusedShare: "<50%", waitP95Ms: "<1s" }`,
  );
  bundled = await bundleScenario({ path: some, name: "some", summaryFile: true });
  byRules = await loadable(bundled);
  const issues = await scenarioFile(
    folder.path,
    "issues",
    `duration: "3s", seed: 5, populations: { ann: { clients: 1, behaviour: poller({ every: "1s", call: rest("/issues") }) } }, expect: { refused: "==0" }`,
  );
  byPolicy = await loadable(
    await bundleScenario({ path: issues, name: "issues", limits: { policy: github } }),
  );
});

const files = { "tokens.json": JSON.stringify(tokensOf(12)), cert: "a certificate", key: "a key" };
/** As Go spells the names. */
const headers = Object.fromEntries(
  Object.entries(plainHeaders).map(([name, value]) => [
    name.toLowerCase().replace(/(?:^|-)\w/g, (letter) => letter.toUpperCase()),
    value,
  ]),
);
const plain: FakeAnswer = { status: 200, headers, body: "{}" };
const refusal: FakeAnswer = {
  status: 429,
  headers: { ...headers, "Ratelimit-Remaining": "0", "Retry-After": "33" },
};
const traced = { TARGET: "http://127.0.0.1:1/", TRACE: "1" };
const k6Of = (
  env: Readonly<Record<string, string>> = traced,
  answer: FakeK6Options["answer"] = () => plain,
  code = byRules,
) => new FakeK6(code, { env, files, startMs, answer });

/** Lines without what is the same in all calls here. */
const short = ({ lines }: FakeK6): string[] =>
  lines.map((line) => {
    const { sent, received, client, call, user, status, wanted, attempt, error } = JSON.parse(line);
    if (sent === undefined) return line.split("\\n")[0] ?? "";
    const times = [wanted, sent, received].map((ms) => ms - startMs).join(" ");
    return `${client} ${call} of ${user}: ${times}, attempt ${attempt}: ${error ?? status}`;
  });

/** Four answers in turn: one with a next page, a refusal, none, and plain ones. */
const varied = (_url: string, number: number): FakeAnswer =>
  [{ ...plain, headers: { ...headers, Link: '<x>; rel="next"' } }, refusal, { status: 0, error: "no route" }][
    number
  ] ?? plain;
const expects = 'expects [{"min":200,"max":399},429]';
const refused = ['{"refusal as the rules say":true}', "spillway_refused true"];
const right = '{"answer as the rules say":true}';
const admitted = [right, "spillway_refused false", "spillway_wait 10"];
const user = (n: number): string => `by Bearer secret-token-${n}-of-the-test`;

test.each<[name: string, index: number, endMs: number, lines: string[], asked: string[], told: string[]]>([
  [
    "polling",
    1,
    2774,
    [
      "polling/1 0 of user-1: 764 764 774, attempt 0: 200",
      "polling/1 1 of user-1: 1764 1764 1774, attempt 0: 429",
      "polling/1 2 of user-1: 2764 2764 2774, attempt 0: no route",
    ],
    [764, 1764, 2764].map((ms) => `${ms} GET http://127.0.0.1:1/v2/user null, user in 30000 ms ${user(1)}`),
    [...admitted, ...refused, right],
  ],
  [
    "paging",
    0,
    20,
    [
      "paging/0 0 of user-2: 0 0 10, attempt 0: 200",
      "paging/0 1 of user-2: 10 10 20, attempt 0: 429",
      "paging/0 2 of user-2: 10 10 20, attempt 0: no route",
    ],
    ["0 1", "10 2", "10 3"].map((each) => {
      const [ms, page] = each.split(" ");
      const url = `http://127.0.0.1:1/v2/pages?page=${page}&per_page=30`;
      return `${ms} GET ${url} null, pages in 30000 ms ${user(2)}`;
    }),
    [...admitted, ...refused, right],
  ],
  [
    "bursting",
    0,
    1510,
    [
      "bursting/0 0 of user-5: 0 0 10, attempt 0: 200",
      "bursting/0 1 of user-5: 0 0 10, attempt 0: 429",
      "bursting/0 2 of user-5: 1500 1500 1510, attempt 0: no route",
      "bursting/0 3 of user-5: 1500 1500 1510, attempt 0: 200",
    ],
    [0, 0, 1500, 1500].map((ms) => `${ms} GET http://127.0.0.1:1/v2/user null, user in 30000 ms ${user(5)}`),
    [...admitted, ...refused, right, ...admitted],
  ],
  [
    "rated",
    5,
    2010,
    [
      "rated/5 0 of user-3: 0 0 10, attempt 0: 200",
      "rated/5 1 of user-3: 1000 1000 1010, attempt 0: 429",
      "rated/5 2 of user-3: 2000 2000 2010, attempt 0: no route",
    ],
    [0, 1000, 2000].map(
      (ms) =>
        `${ms} GET http://127.0.0.1:1/v2/organizations/acme/rate_limit null, status in 30000 ms ${user(3)}`,
    ),
    [right, '{"status-free: a status call was refused":false}', right],
  ],
  [
    "ramping",
    0,
    1010,
    ["ramping/0 0 of user-4: 1000 1000 1010, attempt 0: 200"],
    [`1000 GET http://127.0.0.1:1/v2/user null, user in 30000 ms ${user(4)}`],
    admitted,
  ],
])("%s", async (name, index, endMs, lines, asked, told) => {
  const k6 = k6Of(traced, varied);
  expect(await k6.run(name, index)).toBe(endMs);
  const client = `${name}/${index}`;
  expect(short(k6)).toEqual([`{"start":"${client}","at":1795305600000}`, ...lines, `{"end":"${client}"}`]);
  expect(k6.asked).toEqual(asked);
  expect(k6.told).toEqual([expects, ...told]);
});

describe("a client", () => {
  test("that never comes, sends and writes nothing", async () => {
    const k6 = k6Of();
    expect(await k6.run("ramping", 7)).toBe(0);
    expect([k6.lines, k6.asked, k6.told]).toEqual([[], [], []]);
  });

  test("whose behaviour throws, says so, ends, and ends the run", async () => {
    const k6 = k6Of();
    await expect(k6.run("broken")).rejects.toThrow("client broken/0 failed: no call to make");
    expect(short(k6)).toEqual([
      '{"start":"broken/0","at":1795305600000}',
      '{"error":"broken/0","message":"no call to make',
      '{"end":"broken/0"}',
    ]);
  });

  test.each(["polling", "paging"])("that k6 cuts off, has no last line: %s", async (name) => {
    const k6 = k6Of(traced, () => ({ status: 0, error: "context canceled" }));
    await k6.run(name);
    expect(short(k6)).toEqual([`{"start":"${name}/0","at":1795305600000}`]);
    expect(k6.asked).toHaveLength(1);
    expect(k6.told).toEqual([expects]);
  });

  test("writes nothing where no trace is asked for", async () => {
    const k6 = k6Of({ TARGET: traced.TARGET });
    await k6.run("polling");
    expect([k6.lines, k6.told]).toEqual([[], [expects, ...admitted, ...admitted, ...admitted]]);
  });

  test("of no population says what not to give", async () => {
    await expect(k6Of().run("default")).rejects.toThrow(
      "no population default: leave --vus, --iterations, --duration and --stage out, and give the duration by -e DURATION_MS",
    );
  });
});

test("a client under a policy reads Go's names, and is told by the quotas of the policy", async () => {
  const shown = {
    "X-Ratelimit-Limit": "5000",
    "X-Ratelimit-Remaining": "0",
    "X-Ratelimit-Reset": "1795305630",
    "X-Ratelimit-Resource": "core",
    "X-Ratelimit-Used": "5000",
  };
  const body = '{"message":"API rate limit exceeded for user."}';
  const k6 = k6Of(traced, () => ({ status: 403, headers: shown, body }), byPolicy);
  expect(await k6.run("ann")).toBe(2010);
  const line = (call: number, ms: number): string =>
    `{"sent":${startMs + ms},"received":${startMs + ms + 10},"client":"ann/0","call":${call},"caller":{"user":"user-0"},` +
    `"operation":"read","cost":1,"status":403,"outcome":"refused","readings":[["core",5000,0,5000,null,1795305630000]],` +
    `"by":"core","wanted":${startMs + ms},"attempt":0}`;
  expect(k6.lines).toEqual([
    '{"start":"ann/0","at":1795305600000}',
    line(0, 0),
    line(1, 1000),
    line(2, 2000),
    '{"end":"ann/0"}',
  ]);
  expect(k6.asked[0]).toBe(`0 GET http://127.0.0.1:1/issues null, issues in 30000 ms ${user(0)}`);
  // The scenario forbids refusals: they are failed requests.
  expect(k6.told).toEqual(['expects [{"min":200,"max":399}]']);
});

describe("a bundle", () => {
  test.each([
    "../../src/load/k6/client.js",
    "../../src/load/k6/entry.js",
    "../../src/load/k6/options.js",
    "../../src/load/k6/settings.js",
  ])("holds %s", (module) => {
    expect(bundled).toContain(module.replace("../../src/", "").replace(/js$/, ""));
  });

  test("has the limits that it is given in place of the scenario's", async () => {
    const rules = parseRules({ user: { rest: { limit: 7 } } });
    const path = join(folder.path, "some.ts");
    const bundle = await bundleScenario({ path, name: "some", limits: { rules } });
    expect(bundle.startsWith("// Scenario some, bundled by spillway for k6 1.x and 2.x.")).toBe(true);
    for (const [name, meaning] of Object.entries(variables))
      expect(bundle).toContain(`//   ${name.padEnd(11)}  ${meaning}\n`);
    const k6 = k6Of(traced, () => plain, await loadable(bundle));
    expect(k6.bundle.handleSummary).toBeUndefined();
    await k6.run("polling");
    expect(k6.told).toContain('{"limit-agrees: RateLimit-User-Limit is not that of the rules":false}');
  });

  test("cannot be made of what k6 lacks: each module is named, with its line", async () => {
    const path = join(folder.path, "odd.ts");
    await writeFile(path, 'import "node:fs";\nimport "./gone.ts";\nexport default 1;\n');
    const { code, problems } = await codedErrorOf(bundleScenario({ path, name: "odd" }));
    const allowed =
      "modules that run inside k6: your own files, spillway/scenario, packages without node: imports";
    expect([code, problems]).toEqual([
      "SCENARIO_INVALID",
      [
        { path: "odd.ts:1", got: 'Could not resolve "node:fs"', allowed },
        { path: "odd.ts:2", got: 'Could not resolve "./gone.ts"', allowed },
      ],
    ]);
  });

  test("of no scenario says so in k6's init", async () => {
    const path = join(folder.path, "none.ts");
    await writeFile(path, "export default { format: 'other' };\n");
    const code = await loadable(await bundleScenario({ path, name: "none" }));
    expect(() => k6Of(traced, () => plain, code)).toThrow(
      "the scenario's default export is not what defineScenario returns",
    );
  });
});

describe("the variables of a run", () => {
  test("change what they say", async () => {
    const { bundle } = k6Of({
      ...traced,
      SUMMARY: "figures.json",
      DURATION_MS: "10000",
      TIMEOUT_MS: "2000",
      KEEP_ALIVE: "1",
      CERT: "cert",
      KEY: "key",
    });
    const { scenarios, noConnectionReuse, thresholds, ...options } = bundle.options;
    expect(options).toEqual({
      maxRedirects: 0,
      throw: false,
      tlsAuth: [{ cert: "a certificate", key: "a key" }],
      userAgent: "spillway",
      summaryTrendStats: ["avg", "min", "med", "max", "p(50)", "p(90)", "p(95)", "p(99)"],
    });
    expect(noConnectionReuse).toBe(false);
    expect(thresholds).toEqual({
      checks: ["rate==1"],
      spillway_refused: ["rate<0.5"],
      spillway_wait: ["p(95)<1000"],
    });
    expect(scenarios?.["polling"]).toMatchObject({ maxDuration: "17000ms" });
    expect(scenarios?.["rated"]).toMatchObject({ duration: "10000ms", gracefulStop: "7000ms" });
    expect(bundle.handleSummary({ a: 1 })).toEqual({ "figures.json": '{\n  "a": 1\n}' });
  });

  test("name limits, and where queries go", async () => {
    const rules = JSON.stringify({ organization: { rest: { limit: 999 } } });
    const env = { ...traced, RULES: "rules.json", GRAPHQL_URL: "http://127.0.0.1:2/g/" };
    const k6 = new FakeK6(byRules, {
      ...{ env, startMs, answer: () => plain },
      files: { ...files, "rules.json": rules },
    });
    await k6.run("polling");
    expect(k6.told).toContain('{"limit-agrees: RateLimit-Limit is not that of the rules":false}');
    await k6.run("querying");
    expect(k6.asked.at(-1)).toBe(
      `2727 POST http://127.0.0.1:2/g/ {"query":"{ a }"}, graphql in 30000 ms ${user(6)}, Content-Type: application/json`,
    );
  });

  test("are none by default", async () => {
    const { bundle } = k6Of({ TARGET: traced.TARGET, KEEP_ALIVE: "0", CERT: "" });
    expect(bundle.options).toMatchObject({ noConnectionReuse: true });
    expect(bundle.options).not.toHaveProperty("tlsAuth");
    expect(Object.keys(bundle.handleSummary({}))).toEqual(["summary.json"]);
  });

  test.each([
    [{ TARGET: "" }, "name the target: k6 run -e TARGET="],
    [{ TARGET: "http://a.example" }, "this target may not be loaded"],
    [{ GRAPHQL_URL: "http://a.example/graphql" }, "this target may not be loaded"],
    [{ KEEP_ALIVE: "yes" }, "KEEP_ALIVE is yes: it must be 1 or 0"],
    [{ SEED: "1.5" }, "SEED is 1.5: it must be a whole number"],
    [{ SEED: "9007199254740992" }, "SEED is 9007199254740992: it must be a whole number"],
    [{ CERT: "cert" }, "CERT and KEY go together"],
    [{ KEY: "key" }, "CERT and KEY go together"],
    [{ TOKENS: "others.json" }, "there is no others.json"],
    [{ RULES: "rules.json" }, "there is no rules.json"],
  ])("%j: %s", (env, message) => {
    expect(() => k6Of({ ...traced, ...env })).toThrow(message);
  });
});
