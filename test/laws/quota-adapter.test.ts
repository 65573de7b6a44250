// A limiter of the user's, checked by a policy: by laws, and by calls that overlap.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spillwayHere } from "../support/command.ts";

const policy = {
  version: 2,
  name: "parcels",
  quotas: {
    minute: { algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 60 }, key: ["user"] },
    hour: { algorithm: { kind: "fixed-window", limit: 50, windowSeconds: 3600 }, key: ["user"] },
  },
  operations: { look: { uses: { minute: 1, hour: 1 }, samples: [{ path: "/parcels" }] } },
  routes: [{ path: "/**", operation: "look" }],
  auth: { attributes: ["user"] },
  wire: { revision: "1", readings: [] },
};

/** @param most JavaScript of the count from which a call is refused */
const adapter = (most: string): string => `
const memory = () => {
  const counts = new Map();
  return {
    read: async (key) => counts.get(key) ?? 0,
    add: async (key, cost) => void counts.set(key, (counts.get(key) ?? 0) + cost),
  };
};
export default {
  limits: "any",
  claims: ["bounded", "conserved", "refusal-justified", "isolated", "limit-agrees"],
  create(policy, seam) {
    const store = seam.over(memory());
    return {
      async decide({ caller, operation }, nowMs) {
        const uses = Object.entries(policy.operations[operation].uses).map(([quota, cost]) => {
          const { algorithm: { limit, windowSeconds }, key } = policy.quotas[quota];
          const window = Math.floor(nowMs / windowSeconds / 1000);
          return { quota, cost, limit, count: [quota, ...key.map((name) => caller[name]), window].join(" ") };
        });
        for (const { quota, cost, limit, count } of uses)
          if ((await store.read(count)) + cost > ${most}) return { admitted: false, refusedBy: quota };
        const readings = [];
        for (const { quota, cost, limit, count } of uses) {
          await store.add(count, cost);
          readings.push({ quota, limit, used: await store.read(count) });
        }
        return { admitted: true, readings };
      },
    };
  },
};
`;

let folder = "";
const typed = (...words: string[]) =>
  spillwayHere(["check", "--policy", "p.json", ...words], { cwd: folder });
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-quota-adapter-"));
  await writeFile(join(folder, "p.json"), JSON.stringify(policy));
  await writeFile(join(folder, "right.js"), adapter("limit"));
  await writeFile(join(folder, "wrong.js"), adapter("limit + 1"));
  await writeFile(
    join(folder, "none.js"),
    "export default { name: 'none', algorithm: 'fixed-window', claims: 'all', create() {} };",
  );
});
afterAll(() => rm(folder, { recursive: true }));

test("a right one keeps the laws that it claims, one call after the other", async () => {
  const { code, stdout } = await typed("--adapter", "right.js", "--runs", "20", "--seed", "2");
  expect(stdout).toContain("right.js under the policy p.json, seed 2");
  expect(stdout).toMatch(/conserved +no counterexample in 20 runs/);
  expect(stdout).toMatch(/honest-wait +not claimed/);
  expect(stdout).toContain("no law violated: 5 laws");
  expect(code).toBe(0);
});

test("one that reads before it writes is found by calls that overlap", async () => {
  const words = [
    "--adapter",
    "right.js",
    "--law",
    "bounded",
    "--interleavings",
    "--runs",
    "30",
    "--seed",
    "2",
  ];
  const { code, stdout } = await typed(...words);
  expect(stdout).toContain("no law violated by one call after the other: 1 law");
  expect(stdout).toContain("no order of the overlapping calls explains their answers");
  expect(stdout).toMatch(/rule: minute of user-1: \d+ per 60 s/);
  expect(stdout).toMatch(/call 0: look by user-1: admitted/);
  expect(stdout).toContain("read(");
  const [, repeat = ""] = /repeat: npx spillway check (.+)/.exec(stdout) ?? [];
  expect(repeat).toContain("--policy p.json --adapter right.js");
  expect(code).toBe(1);
});

test("where the clock moves inside a call, the instant is told", async () => {
  const words = ["--adapter", "right.js", "--law", "bounded", "--interleavings", "--clock-moves"];
  const { code, stdout } = await typed(...words, "--runs", "30", "--seed", "5", "--json");
  const { interleavings } = JSON.parse(stdout) as { interleavings: { outcome: string; overlapped: number } };
  expect(interleavings).toMatchObject({ outcome: "violated" });
  expect(code).toBe(1);
});

test("a wrong one breaks a law, and a list of known counterexamples passes over it", async () => {
  const words = ["--adapter", "wrong.js", "--law", "bounded", "--runs", "4", "--seed", "3"];
  const found = await typed(...words, "--json");
  expect(found.code).toBe(1);
  await writeFile(join(folder, "known.json"), found.stdout);
  expect(await readFile(join(folder, "known.json"), "utf8")).toContain('"policy"');
  const again = await typed(...words, "--known", "known.json");
  expect(again.stdout).toMatch(/bounded +known: \d+, and no other counterexample/);
  expect(again.code).toBe(0);
});

test("a limiter by rules is refused, with what is missing", async () => {
  const { code, stderr } = await typed("--adapter", "none.js");
  expect(stderr).toContain("error ADAPTER_INVALID");
  expect(stderr).toMatch(/limits.*"any", or "given"/s);
  expect(code).toBe(2);
});
