// Options of a load: the target and who calls it, what the scenario's own is replaced by, and the command that repeats it.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadOptions, repeatLoad } from "../../src/cli/load.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { TypedIn } from "./typed.ts";

type Args = Parameters<typeof loadOptions>[0];
const args = (given: object): Args =>
  ({ scenario: "herd", keepAlive: false, shared: false, ...given }) as Args;

let folder = "";
const file = (name: string) => join(folder, name);
const ann = { token: "t1", user: "ann", organization: "acme" };
const caller = { token: "t2", user: "bob" };
const sliding = {
  ...{ version: 2, name: "sliding", operations: { call: { uses: { calls: 1 } } } },
  quotas: { calls: { algorithm: { kind: "sliding-counter", limit: 5, windowSeconds: 60 }, key: ["user"] } },
  ...{ routes: [{ path: "/**", operation: "call" }], auth: { attributes: ["user"] } },
};
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-load-options-"));
  for (const [name, value] of Object.entries({ "t.json": [ann], "c.json": [caller], "p.json": sliding }))
    await writeFile(file(name), JSON.stringify(value), { mode: 0o600 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("without options the scenario's own hold, and a deployment is started", async () => {
  const read = await loadOptions(args({}));
  expect(read).toMatchObject({
    adjustments: { seed: undefined, durationMs: undefined },
    ...{ timeoutMs: undefined, keepAlive: false, shared: false, compare: undefined },
    target: { start: expect.any(Function) },
  });
  expect(read.adjustments).not.toHaveProperty("rules");
});

test("the started deployment is one by rules or by a policy, on any free port", async () => {
  const { target } = await loadOptions(args({}));
  if (!("start" in target)) throw new Error("nothing is started");
  const rules = parseRules({});
  const tokens = [{ ...ann, scopes: [] }];
  const served = await target.start({ rules, tokens } as never);
  expect(served.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  await served.close();
});

test("a given target has tokens by its limits, and enforces them itself", async () => {
  const url = "http://127.0.0.1:1";
  const more = { target: url, allowHost: "h", graphqlUrl: "http://127.0.0.1:1/g" };
  const byRules = await loadOptions(args({ ...more, tokens: file("t.json"), rules: "default" }));
  expect(byRules.target).toMatchObject({
    ...{ url, allowHost: "h", graphqlUrl: "http://127.0.0.1:1/g", tokens: [ann] },
  });
  expect(byRules.adjustments).toMatchObject({ rules: parseRules({}) });
  const byPolicy = await loadOptions(args({ ...more, tokens: file("c.json"), rules: file("p.json") }));
  expect(byPolicy.target).toMatchObject({ tokens: [{ token: "t2", attributes: { user: "bob" } }] });
  expect(byPolicy.adjustments).toMatchObject({ policy: { name: "sliding" } });
  await expect(loadOptions(args({ rules: file("p.json") }))).rejects.toMatchObject({
    code: "POLICY_UNSERVABLE",
  });
  await expect(loadOptions(args({ target: url }))).rejects.toThrow("--target needs --tokens");
});

test.each(["tokens", "allowHost", "graphqlUrl"])("%s needs a target", async (name) => {
  const option = { tokens: "--tokens", allowHost: "--allow-host", graphqlUrl: "--graphql-url" }[name];
  await expect(loadOptions(args({ [name]: "x" }))).rejects.toThrow(`${option} needs --target`);
});

test("seed, times and flags are read", async () => {
  const given = { seed: 0, duration: "1m", timeout: "2s", keepAlive: true, shared: true, compare: "x" };
  expect(await loadOptions(args(given))).toMatchObject({
    ...{ adjustments: { seed: 0, durationMs: 60_000 }, timeoutMs: 2_000 },
    ...{ keepAlive: true, shared: true, compare: "x" },
  });
  await expect(loadOptions(args({ seed: -1 }))).rejects.toThrow("--seed cannot be used");
  await expect(loadOptions(args({ duration: "x" }))).rejects.toThrow("the duration cannot be used");
  await expect(loadOptions(args({ timeout: "x" }))).rejects.toThrow("the timeout cannot be used");
});

test("the command repeats the run, with the scenario's seed where none is given", () => {
  expect(repeatLoad(args({}), 7)).toBe("npx spillway load herd --seed 7");
  const given = {
    ...{ seed: 3, target: "http://x", allowHost: "x", tokens: "t", graphqlUrl: "g", ca: "a", cert: "b" },
    ...{ key: "k", driver: "node", rules: "r", asWindow: true, duration: "1m", timeout: "2s" },
    ...{ keepAlive: true, shared: true },
  };
  expect(repeatLoad(args(given), 7)).toBe(
    "npx spillway load herd --seed 3 --target http://x --allow-host x --tokens t --graphql-url g --ca a --cert b --key k --driver node --rules r --as-window --duration 1m --timeout 2s --keep-alive --shared",
  );
});

describe("as it is typed", () => {
  let here: TypedIn;
  beforeAll(async () => {
    here = await TypedIn.of({});
  });
  afterAll(() => here.remove());

  test("a second of load is said, kept and judged", async () => {
    const { code, aside, json } = await here.run(
      "load steady --driver node --duration 1s --seed 3 --out load --json",
    );
    expect(aside[0]).toMatch(/Node/);
    expect(aside.filter((line) => line.startsWith("steady: "))).toEqual([
      expect.stringMatching(/^steady: \d+ calls? to http:\/\/HOST in .*, by Node [\d.]+, seed 3/),
    ]);
    expect(aside.at(-1)).toBe("  load/report.html");
    const result = json() as Record<string, unknown>;
    expect(result).toMatchObject({
      ...{ folder: "load", driver: "node", failure: null, lateness: { calls: expect.any(Number) } },
      ...{
        verdict: { verdict: expect.any(String) },
        notes: expect.any(Array),
        expectations: expect.any(Array),
      },
    });
    expect(code).toBe((result["expectations"] as { held: boolean }[]).every(({ held }) => held) ? 0 : 1);
    const record = JSON.parse(await readFile(join(here.folder, "load", "run.json"), "utf8")) as {
      command: string;
    };
    expect(record.command).toBe("npx spillway load steady --seed 3 --driver node --duration 1s");
  });
});
