// `describeLimiter` as cases: under node:test and Vitest for real, under the shapes of Jest, Bun and Mocha by
// functions like theirs.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  checkInterleavings,
  type DescribeOptions,
  describeLimiter,
  engineFactory,
  keyedLaws,
  keyedLimiter,
  type LimiterFactory,
  lawNames,
} from "../../src/laws/index.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Within the repository, so that packages are found from it. */
const folder = join(root, "node_modules/.cache/spillway-describe");
const laws = join(root, "src/laws/index.ts");

/** A limiter of one's own, written once for every runner: right, or one that lets one too many in. */
const limiterText = (limit: string): string => `
import { describeLimiter, keyedLimiter } from ${JSON.stringify(laws)};
const limiter = keyedLimiter({
  name: "mine",
  claims: ["refusal-justified", "recovers"],
  anchor: "epoch",
  create({ limit, windowMs }) {
    const counts = new Map();
    return {
      consume(key, _cost, nowMs) {
        const window = key + " " + Math.floor(nowMs / windowMs);
        const count = (counts.get(window) ?? 0) + 1;
        if (count > ${limit}) return false;
        counts.set(window, count);
        return true;
      },
    };
  },
});
`;

async function bundled(name: string, runner: string, limit: string): Promise<string> {
  const file = join(folder, name);
  const call = "describeLimiter(test, limiter, { seed: 3, runs: 20, interleavings: true });";
  writeFileSync(`${file}.ts`, `import { test } from "${runner}";\n${limiterText(limit)}\n${call}\n`);
  await build({
    entryPoints: [`${file}.ts`],
    outfile: file,
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["vitest", "fast-check"],
    logLevel: "warning",
  });
  return file;
}

function run(words: readonly string[]): { code: number | null; text: string } {
  const { NODE_OPTIONS: _, VITEST: __, NODE_TEST_CONTEXT: ___, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    cwd: folder,
    encoding: "utf8",
    env,
  });
  return { code: status, text: stdout + stderr };
}

beforeAll(() => mkdirSync(folder, { recursive: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const vitest = join(root, "node_modules/vitest/vitest.mjs");
const runners: [string, string, (file: string) => string[]][] = [
  ["node:test", "right.test.mjs", (file) => ["--test", "--test-reporter=tap", file]],
  ["vitest", "right.spec.mjs", (file) => [vitest, "run", "--root", folder, "--reporter=verbose", file]],
];

describe.each(runners)("under %s", (runner, name, words) => {
  test("a limiter that keeps what it claims passes, and the seed stands in the titles", async () => {
    const { code, text } = run(words(await bundled(name, runner, "limit")));
    expect(text).toContain("mine keeps refusal-justified (seed 3)");
    expect(text).toContain("mine explains overlapping calls (seed 3)");
    expect(text).toMatch(/mine does not claim conserved/);
    expect(code, text).toBe(0);
  });

  test("one that does not fails with the timeline, and the line that repeats it", async () => {
    const { code, text } = run(words(await bundled(name.replace("right", "wrong"), runner, "limit + 1")));
    expect(code).toBe(1);
    expect(text).toContain("refusal-justified is violated: a call is refused if and only if");
    expect(text).toContain("^ expected a refusal (acme/ann rest)");
    expect(text).toMatch(
      /repeat: describeLimiter\(test, limiter, \{ seed: 3, laws: \["refusal-justified"\], path: "[\d:]+" \}\)/,
    );
    expect(text).toMatch(/(not ok|✓|√|ok) .*mine keeps recovers/);
  });
});

/** What a runner was given. */
interface Case {
  readonly name: string;
  readonly body: () => Promise<void>;
  readonly rest: readonly unknown[];
  readonly skipped: boolean;
}

function collect(factory: LimiterFactory, options: DescribeOptions = {}, canSkip = true): Case[] {
  const cases: Case[] = [];
  const add =
    (skipped: boolean) =>
    (name: string, body: () => Promise<void>, ...rest: unknown[]): void => {
      cases.push({ name, body, rest, skipped });
    };
  const register = canSkip ? Object.assign(add(false), { skip: add(true) }) : add(false);
  describeLimiter(register, factory, options);
  return cases;
}

const shows = (
  answer: (count: number, limit: number) => { allowed: boolean; current?: number },
): LimiterFactory =>
  keyedLimiter({
    name: "fixed",
    anchor: "epoch",
    create({ limit, windowMs }) {
      const counts = new Map<string, number>();
      return {
        consume(key, _cost, nowMs) {
          const window = `${key} ${Math.floor(nowMs / windowMs)}`;
          const count = counts.get(window) ?? 0;
          if (count < limit) counts.set(window, count + 1);
          return answer(count, limit);
        },
      };
    },
  });
const right = shows((count, limit) => ({ allowed: count < limit, current: Math.min(limit, count + 1) }));
const silent = shows((count, limit) => ({ allowed: count < limit }));

describe("the cases that are registered", () => {
  test("are the claimed laws, the others as skipped", () => {
    const cases = collect(right, { seed: 1 });
    expect(cases.filter(({ skipped }) => !skipped).map(({ name }) => name)).toEqual(
      lawNames.filter((law) => keyedLaws.includes(law)).map((law) => `fixed keeps ${law} (seed 1)`),
    );
    expect(cases.filter(({ skipped }) => skipped)).toHaveLength(lawNames.length - keyedLaws.length);
  });

  test("leave out what is not claimed where the runner cannot skip (Mocha without `it.skip`)", () => {
    expect(collect(right, {}, false)).toHaveLength(keyedLaws.length);
  });

  test("are those of `laws` alone where they are named", () => {
    const cases = collect(engineFactory, { laws: ["bounded", "isolated"], seed: 1, interleavings: true });
    expect(cases.map(({ name }) => name)).toEqual([
      "engine keeps bounded (seed 1)",
      "engine keeps isolated (seed 1)",
      "engine explains overlapping calls (seed 1)",
    ]);
  });

  test("take no argument, which Jest and Mocha would take for a callback, and a time-out third", () => {
    const cases = collect(right, { timeoutMs: 9_000 }).filter(({ skipped }) => !skipped);
    expect(cases.length).toBeGreaterThan(5);
    for (const { body, rest } of cases) {
      expect(body.length).toBe(0);
      expect(rest).toEqual([9_000]);
    }
  });

  test("have one seed, drawn where none is given", () => {
    const seeds = new Set(collect(right).flatMap(({ name }) => /seed (-?\d+)/.exec(name)?.[1] ?? []));
    expect(seeds.size).toBe(1);
  });
});

describe("a case", () => {
  const only = (factory: LimiterFactory, options: DescribeOptions): Promise<void> => {
    const [first] = collect(factory, { seed: 1, runs: 20, ...options });
    if (first === undefined) throw new Error("a case was expected");
    return first.body();
  };

  test("passes where nothing is found, and where nothing could be judged", async () => {
    await only(right, { laws: ["conserved"] });
    await only(silent, { laws: ["conserved"] });
  });

  test("that could judge nothing fails where that was asked for", async () => {
    await only(right, { laws: ["conserved"], strict: true });
    await expect(only(silent, { laws: ["conserved"], strict: true })).rejects.toThrow(
      "conserved is claimed, but the limiter shows nothing",
    );
  });

  test("fails with a limiter that fails, by the call", async () => {
    const down = keyedLimiter({
      name: "down",
      create: () => ({ consume: () => Promise.reject(new Error("no redis")) }),
    });
    await expect(only(down, { laws: ["recovers"] })).rejects.toThrow(
      /the limiter failed[\s\S]*decide\([\s\S]*no redis/,
    );
  });

  test("of overlapping calls fails with the interleaving, and its line repeats it", async () => {
    const racy = keyedLimiter({
      name: "racy",
      create({ limit }, seam) {
        let count = 0;
        return {
          async consume() {
            const seen = count;
            await seam.pause("decided");
            count = seen + 1;
            return seen < limit;
          },
        };
      },
    });
    const error: Error = await only(racy, { laws: [], interleavings: { runs: 40 } }).then(
      () => new Error("it passed"),
      (thrown) => thrown,
    );
    expect(error.message).toMatch(/^no order of the overlapping calls explains/);
    const [, seed, path] = /interleavings: \{ seed: (-?\d+), path: "([\d:]+)" \}/.exec(error.message) ?? [];
    const again = await checkInterleavings(racy, { seed: Number(seed), path: String(path) });
    expect(again.outcome).toBe("violated");
  });
});
