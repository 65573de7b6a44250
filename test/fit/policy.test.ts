// A scenario made of calls of another API: from a trace of version 2, and from a log that is read by a policy.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FitResult } from "../../sim/fit/backtest-result.ts";
import { spillwayHere } from "../support/command.ts";

let folder = "";
const run = (...words: readonly string[]) => spillwayHere(words, { cwd: folder });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-policy-fit-"));
  const words = ["simulate", "github", "--policy", "github", "--duration", "10m", "--out", "run"];
  expect((await run(...words)).code).toBeLessThan(2);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test("a trace of version 2 becomes a scenario of its policy's operations, which simulates as it was recorded", async () => {
  const { code, stdout } = await run("fit", "run", "-o", "mine.ts", "--no-backtest", "--strict", "--json");
  expect(code).toBe(0);
  const { model, check } = JSON.parse(stdout) as FitResult;
  expect(check?.findings).toEqual([]);
  expect(model.policy?.name).toBe("github");
  const names = model.populations.map(({ name }) => name).sort();
  expect(names).toEqual(["boards", "script", "searchers", "updaters", "watchers"]);
  const source = await readFile(join(folder, "mine.ts"), "utf8");
  expect(source).toContain('rest("/search/issues?q=is:open", { name: "search" })');
  expect(source).toContain('method: "POST", name: "write"');
  expect(source).toContain('graphql("{ viewer { login } }", { cost: 1, name: "query" })');
  expect(source.replaceAll("\n// ", " ")).toContain(
    "Of each call its operation and its cost are kept, not the request",
  );
  expect(source).not.toContain("rules:");
  const again = await run(
    "simulate",
    "mine.ts",
    "--policy",
    "github",
    "--seed",
    "5",
    "--out",
    "again",
    "--json",
  );
  expect(again.code).toBe(0);
  // Its calls are the policy's: it says nothing of a call without a route.
  expect(again.stderr).not.toContain("no route");
  const lines = (await readFile(join(folder, "again", "trace.ndjson"), "utf8")).trim().split("\n");
  expect(Math.abs(lines.length - 1 - model.calls) / model.calls).toBeLessThan(0.1);
});

test("a log that is read by a policy does, too: what its paths name stays in the calls", async () => {
  const policy = {
    version: 2,
    name: "depots",
    quotas: {
      depot: {
        algorithm: { kind: "fixed-window", limit: 50, windowSeconds: 60, anchor: "epoch" },
        key: ["depot"],
      },
    },
    operations: {
      print: { uses: { depot: "declared" }, samples: [{ method: "POST", path: "/v3/depots/1/labels" }] },
    },
    routes: [{ methods: ["POST"], path: "/v3/depots/{depot}/labels", operation: "print" }],
    auth: { header: "Authorization", form: "{token}", attributes: ["account"] },
    wire: "github",
  };
  await writeFile(join(folder, "depots.json"), JSON.stringify(policy));
  const rows = Array.from({ length: 120 }, (_, place) =>
    [
      Date.UTC(2026, 0, 5, 12) + 5_000 * place,
      "ann",
      `/v3/depots/${place % 2 === 0 ? 7 : 9}/labels`,
      "POST",
      3,
      201,
    ].join(),
  );
  await writeFile(join(folder, "rows.csv"), `${["time,user,path,method,cost,status", ...rows].join("\n")}\n`);
  const { code, stdout, stderr } = await run("fit", "rows.csv", "--policy", "depots.json", "--no-backtest");
  expect(stderr).not.toContain("error");
  expect(code).toBe(0);
  for (const depot of [7, 9])
    expect(stdout).toContain(
      `rest("/v3/depots/${depot}/labels", { method: "POST", cost: 3, name: "print" })`,
    );
});

test("what comes next names the policy that was given, the preset of a trace, or a file that is to be made", async () => {
  const next = async (...words: readonly string[]) =>
    (await run("fit", ...words, "-o", "next.ts", "--force", "--no-check", "--no-backtest")).stdout
      .split("\n")
      .findLast((line) => line.startsWith("next:"));
  expect(await next("rows.csv", "--policy", "depots.json")).toBe(
    "next: npx spillway simulate next.ts --policy depots.json",
  );
  expect(await next("run", "--as-window")).toBe(
    "next: npx spillway simulate next.ts --policy github --as-window",
  );
  const renamed = (await readFile(join(folder, "run", "trace.ndjson"), "utf8")).replace(
    '"name":"github"',
    '"name":"mine"',
  );
  await writeFile(join(folder, "mine.ndjson"), renamed);
  expect(await next("mine.ndjson")).toBe(
    "next: npx spillway simulate next.ts --policy FILE, with the policy mine of the trace in FILE",
  );
});

test("a log of no such calls is refused", async () => {
  await writeFile(join(folder, "other.csv"), "time,user,path,method,status\n1767323045,ann,/x,PUT,200\n");
  const { code, stderr } = await run("fit", "other.csv", "--policy", "depots.json");
  expect(code).toBe(2);
  expect(stderr).toContain("no route of this policy matches any of 1 row");
  expect(stderr).toContain("routes: got /x, allowed: a request of /v3/depots/{depot}/labels");
});
