// `spillway policy`, and `serve` of a policy, as their users meet them.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { presets } from "../../src/policy/presets.ts";
import { spillwayHere } from "../support/command.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-policy-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("list names each policy and its API", async () => {
  const { code, stdout } = await spillwayHere(["policy", "list"]);
  expect(code).toBe(0);
  for (const [name, { title }] of Object.entries(presets))
    expect(stdout).toMatch(new RegExp(`^${name} +${title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`, "m"));
});

test("show says in plain sentences what a policy allows, and how it refuses", async () => {
  const { code, stdout } = await spillwayHere(["policy", "show", "github"]);
  expect(code).toBe(0);
  for (const said of [
    "Each user may use 5,000 requests in each hour. A window opens with its first call. Calls that it refuses cost nothing.",
    "A call uses 1 of core and 5 of rest_points. All must have room, or none is charged.",
    "A reset tells the end of the window.",
    "Refusals have status 200, 403 and 429.",
    "  X-RateLimit-Resource: core",
    "  github/docs content/rest/using-the-rest-api/rate-limits-for-the-rest-api.md (documented, 2026-11-22)",
  ])
    expect(stdout).toContain(said);
});

test("show says what overrides allow instead", async () => {
  const file = join(folder, "overrides.json");
  const algorithm = { kind: "token-bucket", capacity: 25, refill: { amount: 25, everyMs: 1000 } };
  const policy = {
    ...{ version: 2, name: "modes", quotas: { rate: { algorithm, key: ["account", "mode"] } } },
    ...{ operations: { any: { uses: { rate: 1 } } }, routes: [{ path: "/**", operation: "any" }] },
    auth: { attributes: ["account", "mode"] },
    overrides: [{ match: { mode: "live" }, quotas: { rate: { capacity: 100 } } }],
  };
  await writeFile(file, JSON.stringify(policy));
  expect((await spillwayHere(["policy", "show", file])).stdout).toContain(
    "Where mode is live: rate is 100 requests at once, of which 25 come back in each second.",
  );
});

test.each(Object.keys(presets))("show and check take %s", async (name) => {
  const shown = await spillwayHere(["policy", "show", name, "--json"]);
  expect(JSON.parse(shown.stdout)).toMatchObject({ title: presets[name]?.title, policy: { version: 2 } });
  expect((await spillwayHere(["policy", "check", name])).code).toBe(0);
});

describe("check", () => {
  test("reports every mistake of a file, with the nearest known name", async () => {
    const file = join(folder, "wrong.json");
    const policy = {
      ...presets["github"]?.policy,
      wire: "githup",
      routes: [{ path: "/a", operation: "reed" }],
    };
    await writeFile(file, JSON.stringify(policy));
    const { code, stderr } = await spillwayHere(["policy", "check", file]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error POLICY_INVALID /);
    expect(stderr).toMatch(/wire: got "githup", allowed: .*did you mean github\?/);
    expect(stderr).toMatch(/routes\.0\.operation: got "reed", allowed: .*did you mean read\?/);
  });

  test("says what each verb still needs", async () => {
    const file = join(folder, "mine.json");
    await writeFile(
      file,
      JSON.stringify({
        version: 2,
        name: "mine",
        quotas: { calls: { algorithm: { kind: "sliding-log", limit: 5, windowSeconds: 60 } } },
        operations: { call: { uses: { calls: 1 } } },
      }),
    );
    const { code, stdout } = await spillwayHere(["policy", "check", file]);
    expect(code).toBe(0);
    expect(stdout).toContain(`ok ${file}: 1 quota, 1 operation, 0 routes`);
    expect(stdout).toMatch(/^ {2}serve +needs routes; --as-window: quotas\.calls is a sliding-log$/m);
    expect(stdout).toMatch(
      /^ {2}load +needs operations\.call\.samples; --target, or --as-window: quotas\.calls is a sliding-log$/m,
    );
    expect(stdout.match(/^warning .*$/gm)).toEqual([
      "warning quotas.calls: no answer shows it; the wire buildkite shows rest, graphql.",
    ]);
  });

  test("warns of an operation that no route leads to", async () => {
    const file = join(folder, "unrouted.json");
    await writeFile(
      file,
      JSON.stringify({
        version: 2,
        name: "unrouted",
        quotas: { calls: { algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 60 } } },
        operations: { read: { uses: { calls: 1 } }, write: { uses: { calls: 2 } } },
        routes: [{ path: "/**", operation: "read" }],
      }),
    );
    const { code, stdout } = await spillwayHere(["policy", "check", file]);
    expect(code).toBe(0);
    expect(stdout).toContain("warning operations.write: no route leads to it, so that no request is one.");
    expect(stdout).not.toContain("operations.read:");
  });

  test("warns of quotas that no answer shows, since the wire's have other names", async () => {
    const file = join(folder, "unshown.json");
    const discord = presets["discord"]?.policy;
    const { channel, global } = (discord?.quotas ?? {}) as Record<string, object>;
    const policy = {
      ...{ version: 2, name: "unshown", quotas: { messages: { ...channel, key: [] }, global } },
      ...{ operations: { post: { uses: { messages: 1, global: 1 } } }, wire: "discord" },
      ...{ routes: [{ path: "/**", operation: "post" }], auth: discord?.auth },
    };
    await writeFile(file, JSON.stringify(policy));
    const { stdout } = await spillwayHere(["policy", "check", file]);
    expect(stdout).toContain(
      "warning quotas.messages: no answer shows it; the wire discord shows channel, guild, webhook, route.",
    );
    expect((await spillwayHere(["policy", "check", "discord"])).stdout).not.toContain("no answer shows it");
  });

  test.each([
    ["[]", "policy: got [], allowed: an object of a policy, or of rules"],
    ["null", "policy: got null, allowed: an object of a policy, or of rules"],
    ["\n", "got an empty file, allowed: JSON"],
  ])("says of a file of %j that it is none", async (text, said) => {
    const file = join(folder, "none.json");
    await writeFile(file, text);
    expect((await spillwayHere(["policy", "check", file])).stderr).toContain(said);
  });

  test.each([
    [
      "a reset that tells no rounding",
      [{}],
      "readings.0.reset has no round: ends of windows are judged a unit more loosely (calls)",
    ],
    [
      "two that differ",
      [{ round: "ceil" }, { round: "floor" }],
      "readings.1.reset has another round than others",
    ],
    ["counts without a reset", null, "quotas.calls: no reset tells which window"],
    [
      "counts beside an estimate",
      [{ means: "estimate" }],
      "quotas.calls: no reset tells which window",
      "X-Left",
    ],
    ["a rounding that is known", [{ round: "ceil" }, { round: "ceil" }], null],
    ["a reset of milliseconds", [{ form: "delta-ms" }], null],
    ["a reset that tells no window's end", [{ means: "estimate" }], null],
  ])("warns where windows are judged loosely: %s", async (_, resets, said, counts = "") => {
    const file = join(folder, "loose.json");
    const readings = resets?.map((reset, index) => ({
      headers: { [`X-Reset-${index}`]: "{reset}", ...(counts === "" ? {} : { [counts]: "{remaining}" }) },
      reset: { form: "delta-s", means: "window-end", ...reset },
    })) ?? [{ headers: { "X-Left": "{remaining}" } }];
    const algorithm = { kind: "fixed-window", limit: 5, windowSeconds: 60 };
    await writeFile(
      file,
      JSON.stringify({
        version: 2,
        name: "loose",
        quotas: { calls: { algorithm } },
        operations: { call: { uses: { calls: 1 } } },
        wire: { revision: "1", readings },
      }),
    );
    const { code, stdout } = await spillwayHere(["policy", "check", file]);
    expect(code).toBe(0);
    const warned = stdout.split("\n").filter((line) => line.startsWith("warning"));
    if (said === null) expect(warned).toEqual([]);
    else expect(warned.join("\n")).toContain(said);
  });
});

test.each([
  [["policy", "shwo", "github"], "ACTION: got shwo, allowed: list, show or check"],
  [["policy", "show"], "POLICY: got nothing"],
  [["policy", "show", "githup.json"], "githup.json: got no such file"],
  [["serve", "--policy", "github", "--fault", "reset-disagrees"], "error FAULT_INVALID"],
  [["check", "--policy", "github", "--fault", "reset-disagrees", "--runs", "1"], "error FAULT_INVALID"],
  [["serve", "--policy", "github", "--workers", "2"], "--workers: got 2"],
])("%j is a mistake that is named: 2", async (words, said) => {
  const { code, stderr } = await spillwayHere(words);
  expect(stderr).toContain(said);
  expect(code).toBe(2);
});

test.each(["serve", "demo", "simulate steady", "load steady", "plan steady"])(
  "%s refuses a quota that it cannot enforce, and says what would stand in",
  async (verb) => {
    const file = join(folder, "sliding.json");
    await writeFile(
      file,
      JSON.stringify({
        version: 2,
        name: "sliding",
        quotas: { calls: { algorithm: { kind: "sliding-counter", limit: 5, windowSeconds: 60 } } },
        operations: { call: { uses: { calls: 1 } } },
        routes: [{ path: "/**", operation: "call" }],
      }),
    );
    const { code, stderr } = await spillwayHere([...verb.split(" "), "--policy", file]);
    expect(stderr).toContain("error POLICY_UNSERVABLE not all quotas of this policy can be enforced");
    expect(stderr).toContain('quotas.calls.algorithm.kind: got "sliding-counter"');
    expect(stderr).toContain(`${verb} --policy ${file} --as-window lets windows stand in`);
    expect(code).toBe(2);
  },
);
