// `spillway simulate --adapter` as a user runs it: a limiter that reads the process's clock, one that is wrong, one
// that fails.
// @module-tag waiting
import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engineFactory } from "../../src/laws/engine-factory.ts";
import { keyedLimiter } from "../../src/laws/keyed.ts";
import { limiterNotes } from "../../src/runs/simulated-limiter.ts";
import { spillwayHere } from "../support/command.ts";

/** Its windows end by a timer, and it tells their ends by `Date`, as many packages do. */
const byTimer = (limitOf: string): string => `
import { keyedLimiter } from "spillway/laws";
export default keyedLimiter({
  name: "by timer", algorithm: "fixed-window",
  create({ limit, windowMs }) {
    const windows = new Map<string, { count: number; resetAt: number }>();
    return {
      async consume(key) {
        const window = windows.get(key) ?? { count: 0, resetAt: Date.now() + windowMs };
        if (window.count === 0) {
          windows.set(key, window);
          setTimeout(() => windows.delete(key), windowMs);
        }
        await new Promise((resolve) => setTimeout(resolve, 0));
        const allowed = window.count < ${limitOf};
        if (allowed) window.count += 1;
        return { allowed, limit, current: window.count, resetAt: window.resetAt };
      },
    };
  },
});
`;

const scenario = `
import { defineScenario, rest, worker } from "spillway/scenario";
const behaviour = worker({ calls: [{ call: rest("/v2/user") }], think: "400ms" });
export default defineScenario({ name: "crowd", duration: "90s", populations: { agents: { clients: 3, behaviour } } });
`;

const files = {
  "crowd.ts": scenario,
  "rare.ts": scenario.replace("400ms", "7s").replace("90s", "4m"),
  "right.ts": byTimer("limit"),
  "wrong.ts": byTimer("limit + 1"),
  "grid.ts": byTimer("limit")
    .replaceAll("Date.now() + windowMs", "Date.now() + untilEdge(windowMs)")
    .replace("(key), windowMs", "(key), untilEdge(windowMs)")
    .replace("export default", "const untilEdge = (ms: number) => ms - (Date.now() % ms);\nexport default"),
  "failing.ts": `export default { name: "failing", algorithm: "fixed-window", claims: "all", create: () => ({ decide() { throw new Error("no luck"); } }) };`,
  "stuck.ts": `export default { name: "stuck", algorithm: "fixed-window", claims: "all", create: () => ({ decide: () => new Promise(() => {}) }) };`,
};

let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-simulate-adapter-")));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const simulate = (...words: string[]) => spillwayHere(["simulate", "./crowd.ts", ...words], { cwd: folder });

describe("simulate --adapter", () => {
  test("a limiter that keeps what it claims: 0, a run folder, and how it was judged", async () => {
    const { code, stdout } = await simulate("--adapter", "right.ts", "--out", "right");
    expect(stdout).toContain("note the limiter is by timer, judged by 13 laws that it claims");
    expect(stdout).toContain("note calls of graphql are let through: it knows rest alone");
    expect(stdout).toContain("No law is broken");
    const verdict = JSON.parse(await readFile(join(folder, "right/verdict.json"), "utf8"));
    expect(verdict).toMatchObject({
      verdict: "ok",
      laws: { conserved: "held", "headers-present": { skipped: "not claimed" } },
    });
    const run = JSON.parse(await readFile(join(folder, "right/run.json"), "utf8"));
    expect(run.command).toBe("npx spillway simulate ./crowd.ts --seed 1 --adapter right.ts");
    expect(code).toBe(0);
    const again = await spillwayHere(["verify", "right", "--json"], { cwd: folder });
    expect(JSON.parse(again.stdout)).toEqual(verdict);
    expect(again.code).toBe(0);
  });

  test("a limiter that does not say where its windows lie is asked, as by check", async () => {
    const { code, stdout } = await spillwayHere(
      ["simulate", "./rare.ts", "--adapter", "grid.ts", "--out", "grid"],
      { cwd: folder },
    );
    expect(stdout).toContain("No law is broken");
    expect(code).toBe(0);
  });

  test("a limiter that admits one more breaks a law: 1", async () => {
    const { code, stdout } = await simulate(
      "--adapter",
      "wrong.ts",
      "--duration",
      "90s",
      "--json",
      "--out",
      "w",
    );
    const { verdict } = JSON.parse(stdout);
    expect(verdict.violations.map(({ law }: { law: string }) => law)).toContain("bounded");
    expect(code).toBe(1);
  });

  test("a limiter that throws: 2, with call, client and virtual time", async () => {
    const { code, stderr } = await simulate("--adapter", "failing.ts", "--out", "failing");
    expect(stderr).toMatch(/ADAPTER_FAILED the limiter "failing" failed/);
    expect(stderr).toMatch(
      /agents\/\d at 2026-01-01T00:00:00\.\d{3}Z: decide\(.*got Error: no luck at failing\.ts:1,/,
    );
    expect(code).toBe(2);
  });

  test("a promise that never settles is no hang: 2", async () => {
    const { code, stderr } = await simulate("--adapter", "stuck.ts", "--out", "stuck");
    expect(stderr).toMatch(/ADAPTER_FAILED the limiter "stuck" failed/);
    expect(stderr).toContain("TimeoutError: no answer within 5 s");
    expect(code).toBe(2);
  });

  test("a limiter and a fault at once are too much: 2", async () => {
    const { code } = await simulate("--adapter", "right.ts", "--fault", "one-extra");
    expect(code).toBe(2);
  });
});

test("the notes on a limiter name the switches in which it is not what was asked, and no other", () => {
  const limiter = keyedLimiter({
    name: "keys",
    algorithm: "fixed-window",
    anchor: "epoch",
    refused: "counted",
    create: () => ({ consume: () => true }),
  });
  const own = (notes: string[]) => notes.filter((note) => note.startsWith("its own semantics"));
  expect(own(limiterNotes(limiter, null))).toEqual([
    "its own semantics are taken: refused counted, userEnforced always",
  ]);
  expect(own(limiterNotes(engineFactory, null))).toEqual([]);
});
