// Runs under a policy as a user types them: a whole run folder, a verdict by quota, a page that names the quotas; the same
// page and verdict when they are made again; and errors for what takes no policy yet.
import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { spillwayHere } from "../support/command.ts";

const scenario = `import { burst, defineScenario, none, rest } from "spillway/scenario";
const behaviour = burst({ call: rest("/v3/parcels"), size: 7, every: "3s" });
export default defineScenario({
  name: "parcels", seed: 3, duration: "20s", populations: { all: { clients: 3, user: 2, behaviour, onRefused: none() } },
});\n`;
const policy = {
  version: 2,
  name: "parcels",
  quotas: {
    calls: {
      algorithm: { kind: "fixed-window", limit: 10, windowSeconds: 5 },
      key: ["account"],
      unit: "calls",
    },
    bursts: {
      algorithm: { kind: "token-bucket", capacity: 40, refill: { amount: 1, everyMs: 1000 } },
      key: ["user"],
    },
  },
  operations: { look: { uses: { calls: 1, bursts: 1 }, samples: [{ path: "/v3/parcels" }] } },
  routes: [{ path: "/**", operation: "look" }],
  auth: { attributes: ["account", "user"] },
  wire: {
    revision: "1",
    readings: [
      {
        quotas: ["calls"],
        headers: { "X-Left": "{remaining}/{limit}", "X-Reset": "{reset}" },
        reset: { form: "delta-s", means: "window-end" },
      },
      { quotas: ["bursts"], headers: { "X-Burst": "{used}/{limit}" } },
    ],
  },
};

let folder = "";
const typed = (...words: string[]) => spillwayHere(words, { cwd: folder });
const text = (...path: string[]): Promise<string> => readFile(join(folder, ...path), "utf8");
const json = async (...path: string[]) => JSON.parse(await text(...path)) as Record<string, never>;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-quotas-test-")));
  await writeFile(join(folder, "parcels.ts"), scenario);
  await writeFile(join(folder, "parcels.json"), JSON.stringify(policy));
  const simulated = await typed("simulate", "parcels.ts", "--policy", "parcels.json", "--out", "run");
  expect(simulated.stderr).not.toContain("error");
  expect(simulated.stdout).toMatch(/refused: \d+ by calls/);
  expect(simulated.stdout).toContain("No law is broken: ");
  expect(simulated.code).toBe(0);
});
afterAll(() => rm(folder, { recursive: true }));

describe("a simulated run", () => {
  test("has a trace of version 2, figures and windows by quota, and a verdict that names the bucket", async () => {
    const [header = "{}", first = "{}"] = (await text("run", "trace.ndjson")).split("\n");
    expect(JSON.parse(header)).toMatchObject({ version: 2, policy: { name: "parcels" } });
    expect(JSON.parse(first)).toMatchObject({ operation: "look", outcome: "admitted" });
    const { refusedBy, windows, levels, figures } = (await json("run", "summary.json")) as unknown as {
      refusedBy: Record<string, number>;
      windows: { quota: string; key: object; highest: number }[];
      levels: { quota: string; limit: number }[];
      figures: Record<string, number | null>;
    };
    expect(refusedBy["calls"]).toBe(figures["refused"]);
    expect(refusedBy["calls"]).toBeGreaterThan(0);
    expect(figures).toMatchObject({ refusedByUser: null, refusedByOrganization: null });
    expect(new Set(windows.map(({ quota }) => quota))).toEqual(new Set(["calls"]));
    expect(Math.max(...windows.map(({ highest }) => highest))).toBe(10);
    expect(levels.map(({ quota, limit }) => [quota, limit])).toContainEqual(["bursts", 40]);
    expect(await json("run", "verdict.json")).toMatchObject({
      verdict: "ok",
      laws: { bounded: "held", conserved: "held", "refusal-justified": "held" },
      notJudged: [{ quota: "bursts" }],
    });
    expect(await json("run", "run.json")).toMatchObject({ rules: null, policy: { name: "parcels" } });
  });

  test("has a page, a pull request's words and test cases of its quotas", async () => {
    const page = await text("run", "report.html");
    for (const words of ["calls, acme", "bursts, all-", "Its policy, parcels", "bursts: a token bucket"])
      expect(page).toContain(words);
    expect(page).not.toContain("the organization's windows");
    expect(await text("run", "summary.md")).toMatch(/refused: \d+ by calls/);
    expect(await text("run", "junit.xml")).toContain('name="bounded');
  });

  test("is judged and drawn again to the same bytes", async () => {
    const [page, verdict] = [await text("run", "report.html"), await text("run", "verdict.json")];
    expect((await typed("report", "run")).code).toBe(0);
    expect(await text("run", "report.html")).toBe(page);
    const again = await typed("verify", "run", "--json");
    expect(JSON.parse(again.stdout)).toEqual(JSON.parse(verdict));
    const { stdout } = await typed("verify", "run");
    expect(stdout).toContain("not judged bursts: a token bucket's resets are not judged.");
  });

  test("whose trace claims a lower limit breaks laws, told by quota and key", async () => {
    const trace = (await text("run", "trace.ndjson")).replace(
      '"limit":10,"windowSeconds":5',
      '"limit":9,"windowSeconds":5',
    );
    await writeFile(join(folder, "claimed.ndjson"), trace);
    const words = ["verify", "claimed.ndjson", "--out", "v.html", "--out", "v.md", "--out", "v.xml"];
    const { stdout, code } = await typed(...words);
    expect(code).toBe(1);
    expect(stdout).toMatch(/violated limit-agrees calls, acme, \d+ times/);
    expect(await text("v.html")).toContain("limit-agrees: <bdi>calls, acme</bdi>");
    expect(await text("v.md")).toContain("calls, acme");
    expect(await text("v.xml")).toContain("calls, acme: line 2 shows a limit of 10, the policy says 9");
  });
});

describe.each([
  { driver: "node", said: /by Node/, needs: { tags: [] } },
  { driver: "k6", said: /by k6/, needs: { tags: ["k6"] } },
])("load by $driver", ({ driver, said, needs }) => {
  test("calls a stand-in with tokens of its own, and keeps none of them", needs, async () => {
    const place = `loaded-${driver}`;
    const { stdout, code } = await typed(
      ...["load", "parcels.ts", "--policy", "parcels.json", "--duration", "2s", "--driver", driver],
      ...["--out", place],
    );
    expect(stdout).toMatch(said);
    expect(code).toBe(0);
    expect(await json(place, "verdict.json")).toMatchObject({ violations: [], laws: { conserved: "held" } });
    for (const file of ["trace.ndjson", "run.json", "report.html", "summary.json"])
      expect(await text(place, file)).not.toContain("spw_");
  });
});

test("a known bug is injected under a policy, and named by the oracle; one that it cannot have is refused", async () => {
  const words = ["simulate", "parcels.ts", "--policy", "parcels.json", "--out", "faulty", "--fault"];
  const { stdout, code } = await typed(...words, "double-count");
  expect(stdout).toContain("1 law is broken: conserved.");
  expect(JSON.stringify(await json("faulty", "verdict.json"))).toContain('"double-count"');
  expect(code).toBe(1);
  const { stderr } = await typed(...words, "status-pristine", "--force", "--json");
  expect(JSON.parse(stderr)).toMatchObject({
    code: "FAULT_INVALID",
    problems: [{ path: "routes", got: "no status" }],
  });
});

test("--like takes start, seed, duration and policy from a run by quotas", async () => {
  const { stdout, code } = await typed("simulate", "parcels.ts", "--like", "run", "--out", "again");
  expect(stdout).toContain("the limits are those of the policy parcels");
  expect(stdout).toContain("start, users and network are those of run");
  const [before = "", after = ""] = await Promise.all(
    ["run", "again"].map(async (run) => (await text(run, "trace.ndjson")).split("\n")[0] ?? ""),
  );
  const { startedAt, seed } = JSON.parse(before) as Record<string, unknown>;
  expect(JSON.parse(after)).toMatchObject({ startedAt, seed, policy: { name: "parcels" } });
  expect(code).toBe(0);
});

test("a tokens file with too few tokens is refused before anything is sent", async () => {
  await writeFile(
    join(folder, "tokens.json"),
    JSON.stringify([{ token: "only-one", account: "acme", user: "ann" }]),
    { mode: 0o600 },
  );
  const { stderr, code } = await typed(
    ...[
      "load",
      "parcels.ts",
      "--policy",
      "parcels.json",
      "--target",
      "http://127.0.0.1:1",
      "--tokens",
      "tokens.json",
      "--json",
    ],
  );
  expect(code).toBe(2);
  expect(JSON.parse(stderr.slice(stderr.indexOf("{")))).toMatchObject({
    code: "TOKENS_INVALID",
    problems: [{ path: "tokens", got: "1 token of acme" }],
  });
  expect(stderr).not.toContain("only-one");
});
