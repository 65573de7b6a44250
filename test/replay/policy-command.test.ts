// `spillway replay --policy` as a user types it: routes, keys, costs, traces of both versions, and what cannot be told.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { QuotaReplayResult } from "../../src/summary/quota-replay-result.ts";
import { spillwayHere } from "../support/command.ts";

let folder = "";
const at = (name: string): string => join(folder, name);
const run = (...words: readonly string[]) => spillwayHere(words, { cwd: folder });
const json = async (...words: readonly string[]): Promise<QuotaReplayResult> =>
  JSON.parse((await run(...words, "--json")).stdout) as QuotaReplayResult;

const policy = {
  version: 2,
  name: "mail",
  quotas: {
    sends: {
      algorithm: { kind: "fixed-window", limit: 10, windowSeconds: 60, anchor: "epoch" },
      key: ["tenant", "region"],
    },
    units: {
      algorithm: { kind: "token-bucket", capacity: 40, refill: { amount: 1, everyMs: 1000 } },
      key: ["tenant"],
    },
  },
  operations: {
    send: { uses: { sends: 1, units: "declared" }, samples: [{ method: "POST", path: "/v1/eu/send" }] },
    look: { uses: { units: 1 }, samples: [{ path: "/v1/inbox" }] },
  },
  routes: [
    { methods: ["GET"], path: "/v1/limits", operation: "status" },
    { methods: ["POST"], path: "/v1/{region}/send", operation: "send" },
    { methods: ["GET"], path: "/v1/**", operation: "look" },
  ],
  auth: { header: "X-Api-Key", form: "{token}", attributes: ["tenant"] },
  wire: "github",
};

const start = Date.UTC(2026, 0, 5, 12);
const token = "mail-9f8e7d6c5b4a39281706f5e4d3c2b1a0";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-policy-replay-"));
  await writeFile(at("mail.json"), JSON.stringify(policy));
  const rows = Array.from({ length: 24 }, (_, place) =>
    [start + 100 * place, "POST", `/v1/${place % 2 === 0 ? "eu" : "us"}/send`, "acme", 2, 202].join(),
  );
  const others = [
    [start + 3_000, "GET", "/v1/inbox?page=2", "acme", "", 200].join(),
    [start + 3_001, "GET", "/v1/limits", "acme", "", 200].join(),
    [start + 3_002, "GET", `/health/${token}/8812`, "acme", "", 200].join(),
  ];
  await writeFile(
    at("rows.csv"),
    `${["at,method,path,customer,cost,status", ...rows, ...others].join("\n")}\n`,
  );
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe("spillway replay --policy", () => {
  test("finds operations by routes, keys by path and column, costs by column", async () => {
    const result = await json(
      "replay",
      "rows.csv",
      "--policy",
      "mail.json",
      "--caller-column",
      "tenant=customer",
    );
    expect(result).toMatchObject({ format: "spillway-replay", version: 2 });
    expect(result.log).toMatchObject({ operations: { send: 24, look: 1 }, status: 1, other: 1, unrouted: 1 });
    // Ten of each region's twelve fit; twenty of two units each are the bucket's forty, and little comes back.
    expect(result.totals).toMatchObject({ calls: 25, refused: 4, refusedBy: [4, 0] });
    expect(result.refusingWindows.map(({ quota, key, refused }) => [quota, key, refused])).toEqual([
      ["sends", { tenant: "acme", region: "eu" }, 2],
      ["sends", { tenant: "acme", region: "us" }, 2],
    ]);
    expect(result.smallestLimits).toMatchObject([
      { quota: "sends", limit: 10, smallest: 12 },
      { quota: "units", limit: 40 },
    ]);
  });

  test("says which rows match no route, by templates that name nobody", async () => {
    const { stdout } = await run(
      "replay",
      "rows.csv",
      "--policy",
      "mail.json",
      "--caller-column",
      "tenant=customer",
    );
    expect(stdout).toContain("4 of 25 calls (16%) would have been refused");
    expect(stdout).toContain("All by sends");
    expect(stdout).toContain("1 row matches no route, and no quota counts them: /health/*/*");
    expect(stdout).not.toContain(token);
  });

  test("keeps its result, which report reads again", async () => {
    const words = [
      "replay",
      "rows.csv",
      "--policy",
      "mail.json",
      "--caller-column",
      "tenant=customer",
      "--out",
      "kept",
    ];
    expect((await run(...words, "--on-refused", "waitReset+0..5s")).code).toBe(0);
    const page = await readFile(at("kept/report.html"), "utf8");
    for (const text of ["Under which policy", "sends, acme, eu", "With callers that react"])
      expect(page.includes(text), text).toBe(true);
    const again = await run("report", "kept");
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("would have been refused") });
    expect(await readFile(at("kept/report.html"), "utf8")).toBe(page);
    expect(await readFile(at("kept/windows.csv"), "utf8")).toMatch(/^quota,key,.*\r\nsends,acme\/eu,/);
  });

  test("a trace of version 2 brings its policy; attempts tell retries", async () => {
    const words = ["simulate", "github", "--policy", "github", "--duration", "3m", "--out", "simulated"];
    expect((await run(...words)).code).toBeLessThan(2);
    const result = await json("replay", "simulated");
    expect(result.policy.name).toBe("github");
    expect(result.log.unrouted).toBe(0);
    const refused = result.recorded?.refused ?? 0;
    expect(refused).toBeGreaterThan(0);
    expect(result.demand).toMatchObject({ untold: 0 });
    expect(result.demand?.retries).toBeGreaterThan(0);
    expect(result.demand?.retries).toBeLessThanOrEqual(refused);
    expect(result.demand?.wishes).toBeLessThan(result.totals.calls);
  });

  test("a trace of version 1 goes by its scopes and users", async () => {
    expect((await run("simulate", "steady", "--duration", "1m", "--out", "steady")).code).toBeLessThan(2);
    const scopes = { version: 2, base: "buildkite", quotas: { rest: { key: ["user"] } } };
    await writeFile(at("scopes.json"), JSON.stringify(scopes));
    const result = await json("replay", "steady", "--policy", "scopes.json");
    expect(result.log.operations["rest"]).toBeGreaterThan(0);
    expect(result.totals.calls).toBeGreaterThan(0);
  });

  test("HAR tells callers by the header that the policy names", async () => {
    const entry = (index: number) => ({
      startedDateTime: new Date(start + index).toISOString(),
      time: 5,
      request: {
        method: "POST",
        url: "https://mail.example/v1/eu/send",
        headers: [
          { name: "X-Api-Key", value: token },
          { name: "Spillway-Cost", value: "1" },
        ],
      },
      response: { status: 202, headers: [] },
    });
    const entries = Array.from({ length: 12 }, (_, index) => entry(index));
    await writeFile(at("mail.har"), JSON.stringify({ log: { entries } }));
    const { stdout } = await run("replay", "mail.har", "--policy", "mail.json", "--json");
    const result = JSON.parse(stdout) as QuotaReplayResult;
    expect(result.totals).toMatchObject({ calls: 12, refused: 2, users: 1 });
    expect(result.users[0]?.user).toMatch(/^token-[\da-f]{6}$/);
    expect(stdout).not.toContain(token);
  });

  test("--dry-run shows operations and callers", async () => {
    const words = ["replay", "rows.csv", "--policy", "mail.json", "--caller", "tenant=acme", "--dry-run"];
    expect((await run(...words)).stdout).toContain("tenant acme, region eu");
  });
});

describe("spillway replay --policy refuses", () => {
  const refusals: readonly (readonly [string, readonly string[], string, RegExp])[] = [
    [
      "a key that no column tells",
      ["rows.csv", "--policy", "seats.json"],
      "LOG_INVALID",
      /quotas\.sends\.key: got no tenant in rows\.csv.*\n.*--caller-column tenant=COLUMN/,
    ],
    [
      "an attribute that is none",
      ["rows.csv", "--policy", "mail.json", "--caller", "tenat=a"],
      "USAGE",
      /got "tenat".*\n.*did you mean tenant\?/,
    ],
    [
      "a column that is none",
      ["rows.csv", "--policy", "mail.json", "--caller-column", "tenant=custmer"],
      "USAGE",
      /did you mean --caller-column tenant=customer\?/,
    ],
    [
      "a pair that is none",
      ["rows.csv", "--policy", "mail.json", "--caller", "acme"],
      "USAGE",
      /an attribute and its value/,
    ],
    ["callers without a policy", ["rows.csv", "--caller", "tenant=a"], "USAGE", /nothing without --policy/],
    [
      "changed rules",
      ["rows.csv", "--policy", "mail.json", "--set", "user.rest.limit=3"],
      "USAGE",
      /--set changes rules, and no policy/,
    ],
    [
      "a log that none of its routes matches",
      ["strange.csv", "--policy", "mail.json", "--caller", "tenant=a"],
      "LOG_INVALID",
      /no route of this policy matches any of 3 rows/,
    ],
    [
      "figures of owners",
      ["rows.csv", "--policy", "mail.json", "--caller", "tenant=a", "--expect", "refusedByUser==0"],
      "SCENARIO_INVALID",
      /refusedByUser/,
    ],
    [
      "quotas that nobody enforces",
      ["rows.csv", "--policy", "sliding.json", "--caller", "tenant=a"],
      "POLICY_UNSERVABLE",
      /--as-window/,
    ],
    [
      "a cost that no row tells",
      ["costless.csv", "--policy", "mail.json", "--caller", "tenant=a"],
      "LOG_UNREAD",
      /--graphql-cost N/,
    ],
  ];

  test.each(refusals)("%s", async (_name, words, code, text) => {
    const row = (path: string, method = "PUT") => `${start},${method},${path},200`;
    await writeFile(
      at("strange.csv"),
      `at,method,path,status\n${[row("/a"), row("/b"), row("/a/7")].join("\n")}\n`,
    );
    await writeFile(at("costless.csv"), `at,method,path,status\n${row("/v1/eu/send", "POST")}\n`);
    const sliding = {
      ...policy,
      quotas: {
        ...policy.quotas,
        sends: { ...policy.quotas.sends, algorithm: { kind: "sliding-log", limit: 10, windowSeconds: 60 } },
      },
    };
    await writeFile(at("sliding.json"), JSON.stringify(sliding));
    const seated = { ...policy.quotas.sends, key: ["tenant", "seat", "plan"] };
    const auth = { ...policy.auth, attributes: ["tenant", "seat", "plan"] };
    await writeFile(
      at("seats.json"),
      JSON.stringify({ ...policy, auth, quotas: { ...policy.quotas, sends: seated } }),
    );
    const { code: status, stderr } = await run("replay", ...words);
    expect(status).toBeGreaterThan(0);
    expect(stderr).toContain(`error ${code}`);
    expect(stderr).toMatch(text);
  });

  test("none of these, where windows may stand in", async () => {
    const words = ["replay", "rows.csv", "--policy", "sliding.json", "--caller", "tenant=a", "--as-window"];
    const { code, stderr, stdout } = await run(...words);
    expect(code).toBe(0);
    expect(stderr).toContain("approximated");
    expect(stdout).toContain("would have been refused");
  });
});
