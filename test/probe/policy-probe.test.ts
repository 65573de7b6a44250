// The probe by a policy, in virtual time: a deployment of one policy, probed by another that says other limits, windows,
// anchors and costs. What is seen must be what the deployment does, whatever the policy said before.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { differs } from "../../src/probe/policy-finding.ts";
import type { PolicyProbeReport } from "../../src/probe/policy-probe.ts";
import { servePolicy } from "../../src/service/serve.ts";
import { spillwayHere } from "../support/command.ts";
import { caller, type Drawn, policyOf, probed } from "./parcels.ts";

/** Values that were seen of a quota, by the names of findings. */
const of = ({ findings }: PolicyProbeReport, quota: string): Record<string, string | number | null> =>
  Object.fromEntries(
    findings.flatMap(({ quota: own, name, operation, value }) =>
      own === quota ? [[operation === undefined ? name : `${name} ${operation}`, value]] : [],
    ),
  );

const deployments: readonly Drawn[] = [
  {},
  { limit: 9, windowSeconds: 11, anchor: "first-request", refused: "counted" },
  { limit: 15, windowSeconds: 17, anchor: { offsetMs: 4000 }, writes: 2, form: "epoch-s" },
  { limit: 20, windowSeconds: 8, anchor: "epoch", refused: "counted", writes: 1, form: "delta-ms" },
  { limit: 7, windowSeconds: 13, anchor: "first-request", writes: 2, form: "epoch-s" },
];

describe.each(deployments)("a deployment of $limit in $windowSeconds s, $anchor", (drawn) => {
  test.each([
    ["its own policy", drawn],
    [
      "a policy of other limits",
      { limit: 30, windowSeconds: 45, anchor: "epoch" as const, writes: 1, form: drawn.form },
    ],
    [
      "a policy of windows that open with a call",
      { windowSeconds: 33, anchor: "first-request" as const, form: drawn.form },
    ],
  ])("is seen as it is by %s", async (_, claimed) => {
    const real = policyOf(drawn);
    const said = policyOf({ ...claimed } as Drawn);
    const report = await probed(real, said, { allowance: { calls: 100, waitMs: 180_000 } });
    expect(report.ended).toBe("whole");
    const { anchor = "epoch", limit = 12, windowSeconds = 20, writes = 3, refused = "nothing" } = drawn;
    expect(of(report, "short")).toMatchObject({
      limit,
      windowSeconds,
      anchor: typeof anchor === "object" && "offsetMs" in anchor ? `offset ${anchor.offsetMs}` : anchor,
      "cost look": 1,
      "cost write": writes,
      refused,
      status: "free",
    });
    expect(of(report, "short")["retryAfter"]).toMatch(/^after \d+ s$/);
    // The policy that was seen takes the place of the one that was said.
    const { short } = report.seen.quotas;
    expect(short).toMatchObject({ algorithm: { limit, windowSeconds, anchor }, charge: { refused } });
    expect(report.seen.operations["write"]?.uses["short"]).toBe(writes);
    expect(parsePolicy(JSON.parse(JSON.stringify(report.seen)))).toEqual(report.seen);
  });
});

test("a bucket's limit is read, and it is told that the rest is not inferred", async () => {
  const report = await probed(policyOf({}), policyOf({}));
  expect(of(report, "bursts")).toMatchObject({ limit: 900 });
  // Between two calls it fills: what the second one took is nobody's cost.
  expect(of(report, "bursts")).not.toHaveProperty("cost look");
  expect(report.notInferred).toEqual([
    { quota: "bursts", why: expect.stringContaining("a token bucket: probe infers fixed windows") },
  ]);
});

test("answers that show nothing, and refusals for which no wait is looked for, are not seen", async () => {
  const policy = parsePolicy({
    ...JSON.parse(JSON.stringify(policyOf({}))),
    quotas: {
      bursts: {
        algorithm: { kind: "token-bucket", capacity: 3, refill: { amount: 1, everyMs: 60_000 } },
        key: ["client"],
      },
    },
    operations: { look: { uses: { bursts: 1 }, samples: [{ path: "/a" }] } },
    routes: [{ path: "/**", operation: "look" }],
    wire: { revision: "1", readings: [] },
  });
  const { findings } = await probed(policy, policy);
  expect(findings.map(({ name, value, evidence, needs }) => [name, value, evidence, needs])).toEqual([
    ["limit", null, "no answer shows it, nor what was used when one was refused", "answers that show it"],
    ["refused", null, expect.stringContaining("no count"), expect.stringContaining("used")],
    ["retryAfter", null, "the policy's wire does not say where", "`retryAfter` in it"],
  ]);
});

test("keeps to its allowance, and says what more would show the rest", async () => {
  const report = await probed(policyOf({ limit: 50 }), policyOf({ limit: 50 }), {
    allowance: { calls: 8, waitMs: 0 },
  });
  expect(report.used).toMatchObject({ calls: 6, waitMs: 0 });
  const refused = report.findings.find(({ name }) => name === "refused");
  expect(refused).toMatchObject({
    value: null,
    confidence: "not seen",
    needs: expect.stringContaining("--budget"),
  });
});

test("a deployment that lets more through than its answers show is told so", async () => {
  const disguise = (name: string, value: string) => (name === "x-limit" ? "12" : value);
  const report = await probed(
    policyOf({ limit: 13 }),
    policyOf({ limit: 12 }),
    { allowance: { waitMs: 0 } },
    disguise,
  );
  expect(of(report, "short")["limit"]).toBe(13);
  const { evidence } = report.findings[0] ?? {};
  expect(evidence).toBe("answers show 12, but one window let 13 through");
});

describe("spillway probe --policy", () => {
  let folder = "";
  let service: Awaited<ReturnType<typeof servePolicy>>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "spillway-probe-policy-"));
    await writeFile(join(folder, "tokens.json"), JSON.stringify([{ token: caller.token, client: "ann" }]), {
      mode: 0o600,
    });
    await writeFile(join(folder, "said.json"), JSON.stringify(policyOf({ limit: 30 })));
    service = await servePolicy({ policy: policyOf({ limit: 10 }), tokens: [caller], port: 0 });
  });
  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });
  const typed = (...words: string[]) =>
    spillwayHere(["probe", "--target", service.url, "--tokens", "tokens.json", "--yes", ...words], {
      cwd: folder,
    });

  test("says what differs from the policy, writes what it saw, and a trace that verify reads", async () => {
    const files = ["--out", "seen.json", "--trace", "probe.ndjson"];
    const { code, stdout, stderr } = await typed("--policy", "said.json", "--max-wait", "0", ...files);
    expect(stderr).not.toContain("error");
    expect(stdout).toContain("as ann, by the samples of the policy parcels");
    expect(stdout).toMatch(/limit +10 {2}certain {2}the policy says 30/);
    expect(stdout).toContain("not inferred: a token bucket");
    expect(stdout).toMatch(/1 member of \d+ seen differ/);
    expect(code).toBe(0);
    const seen = await readFile(join(folder, "seen.json"), "utf8");
    expect(parsePolicy(JSON.parse(seen)).quotas["short"]?.algorithm).toMatchObject({ limit: 10 });
    const verified = await spillwayHere(["verify", "probe.ndjson"], { cwd: folder });
    expect(verified.stdout).toMatch(/violated limit-agrees short, ann/);
    for (const text of [stdout, seen, await readFile(join(folder, "probe.ndjson"), "utf8")])
      expect(text).not.toContain(caller.token);
  });

  test("refuses what says something of the default API alone", async () => {
    const { code, stderr } = await typed("--policy", "said.json", "--points", "5");
    expect(stderr).toContain("--points goes with the default API, and not with parcels");
    expect(code).toBe(2);
  });

  test("says what answers in place of the API", async () => {
    const { code, stderr } = await typed("--policy", "github");
    expect(stderr).toContain("error TOKENS_INVALID");
    expect(code).toBe(2);
    await writeFile(join(folder, "users.json"), JSON.stringify([{ token: "unknown", user: "bob" }]), {
      mode: 0o600,
    });
    const words = ["probe", "--target", service.url, "--tokens", "users.json", "--yes", "--policy", "github"];
    const other = await spillwayHere(words, { cwd: folder });
    expect(other.stderr).toContain("TARGET_UNREACHABLE");
    expect(other.stderr).toContain("401");
  });
});

test("every preset of fixed windows that has samples is probed by itself, and differs in nothing", async () => {
  const names = Object.keys(presets).filter((name) => {
    const { quotas, operations } = parsePolicy(presets[name]?.policy);
    return (
      Object.values(quotas).every(({ algorithm }) => algorithm.kind === "fixed-window") &&
      Object.values(operations).some(({ samples }) => samples.length > 0)
    );
  });
  expect(names.length).toBeGreaterThan(4);
  for (const name of names) {
    const policy = parsePolicy(presets[name]?.policy);
    const attributes = Object.fromEntries(policy.auth.attributes.map((attribute) => [attribute, "one"]));
    const report = await probed(policy, policy, { caller: { token: caller.token, attributes } });
    expect(report.findings.filter(differs), name).toEqual([]);
    expect(
      report.findings.some(({ value }) => value !== null),
      name,
    ).toBe(true);
  }
});
