// `describeLimiter` as cases: under node:test and Vitest for real, under the shapes of Jest, Bun and Mocha by
// functions like theirs.
// @module-tag long
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LimiterAdapter } from "../../src/engine/adapter.ts";
import {
  checkInterleavings,
  type DescribeOptions,
  describeLimiter,
  engineFactory,
  keyedLaws,
  keyedLimiter,
  type LimiterFactory,
  limiterLawNames,
} from "../../src/laws/index.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Within the repository, so that packages are found from it. */
const folder = join(root, "node_modules/.cache/spillway-describe");
const laws = join(root, "src/laws/index.ts");

/** A limiter of one's own, written once for every runner: right, or one that lets one too many in. */
const limiterText = (limit: string): string => `
import { describeLimiter, keyedLimiter } from ${JSON.stringify(laws)};
const limiter = keyedLimiter({
  name: "mine", algorithm: "fixed-window",
  claims: ["refusal-justified", "recovers", "twice-at-most"],
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
  const call = "describeLimiter(test, limiter, { seed: 4, runs: 20, interleavings: true });";
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
  test("a limiter that keeps what it claims passes, and no title changes from run to run", async () => {
    const { code, text } = run(words(await bundled(name, runner, "limit")));
    expect(text).toContain("mine keeps refusal-justified");
    expect(text).toContain("mine explains overlapping calls");
    expect(text).not.toContain("seed");
    expect(text).toMatch(/mine does not claim conserved/);
    expect(code, text).toBe(0);
  });

  test("one that does not fails once, at the caller's line, with the timeline and the line that repeats it", async () => {
    const file = await bundled(name.replace("right", "wrong"), runner, "limit + 1");
    const { code, text } = run(words(file));
    expect(code).toBe(1);
    expect(text).toContain("refusal-justified is violated: a call is refused if and only if");
    expect(text).toContain("^ expected a refusal (acme/ann)");
    expect(text).toMatch(
      /repeat: describeLimiter\(test, limiter, \{ seed: 4, laws: \["refusal-justified"\], path: "[\d:]+" \}\)/,
    );
    expect(text).toMatch(/(not ok|✓|√|ok) .*mine keeps recovers/);
    expect(text).toMatch(/the same calls break refusal-justified: twice-at-most/);
    expect(text).toMatch(/# fail 1$|Tests +1 failed/m);
    const lines = (await readFile(file, "utf8")).split("\n");
    const line = lines.findIndex((candidate) => candidate.startsWith("describeLimiter(")) + 1;
    expect(text).toContain(`${basename(file)}:${line}:`);
    expect(text).not.toContain("describe-limiter.ts:");
  });
});

/** A case as a runner was given it. */
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
  answer: (count: number, limit: number) => { allowed: boolean; current?: number; limit?: number },
  extra = 0,
): LimiterFactory =>
  keyedLimiter({
    name: "fixed",
    algorithm: "fixed-window",
    anchor: "epoch",
    create({ limit, windowMs }) {
      const counts = new Map<string, number>();
      return {
        consume(key, _cost, nowMs) {
          const window = `${key} ${Math.floor(nowMs / windowMs)}`;
          const count = counts.get(window) ?? 0;
          if (count < limit + extra) counts.set(window, count + 1);
          return answer(count, limit);
        },
      };
    },
  });
const right = shows((count, limit) => ({ allowed: count < limit, current: Math.min(limit, count + 1) }));
const silent = shows((count, limit) => ({ allowed: count < limit }));
/** Two bugs: it lets one too many in, and shows the first caller of a window another limit. */
const broken = shows(
  (count, limit) => ({ allowed: count <= limit, ...(count === 0 && { limit: limit + 7 }) }),
  1,
);

const claims = keyedLaws({ algorithm: "fixed-window" });

describe("the cases that are registered", () => {
  test("are the claimed laws, the others as skipped", () => {
    const cases = collect(right, { seed: 1 });
    expect(cases.filter(({ skipped }) => !skipped).map(({ name }) => name)).toEqual(
      claims.map((law) => `fixed keeps ${law}`),
    );
    expect(cases.filter(({ skipped }) => skipped)).toHaveLength(limiterLawNames.length - claims.length);
  });

  test("leave out what is not claimed where the runner cannot skip (Mocha without `it.skip`)", () => {
    expect(collect(right, {}, false)).toHaveLength(claims.length);
  });

  test("are those of `laws` alone where they are named", () => {
    const cases = collect(engineFactory, { laws: ["bounded", "isolated"], seed: 1, interleavings: true });
    expect(cases.map(({ name }) => name)).toEqual([
      "engine keeps bounded",
      "engine keeps isolated",
      "engine explains overlapping calls",
    ]);
  });

  test("are none where a name is no law's: a suite of nothing would pass", () => {
    expect(() => collect(engineFactory, { laws: ["conservd" as "conserved"] })).toThrow(/laws .*conservd/);
  });

  test("take no argument, which Jest and Mocha would take for a callback, and a time-out third", () => {
    const cases = collect(right, { timeoutMs: 9_000 }).filter(({ skipped }) => !skipped);
    expect(cases.length).toBeGreaterThan(5);
    for (const { body, rest } of cases) {
      expect(body.length).toBe(0);
      expect(rest).toEqual([9_000]);
    }
  });

  test("have one seed, drawn where none is given, which failures tell", async () => {
    const cases = collect(broken, { runs: 20, laws: ["refusal-justified", "limit-agrees"] });
    const said = [];
    for (const { body, skipped } of cases) if (!skipped) said.push(await failureOf(body));
    const seeds = said.map((message) => /seed: (-?\d+)/.exec(message)?.[1]);
    expect(seeds).toEqual([seeds[0], seeds[0]]);
    expect(Number.isSafeInteger(Number(seeds[0]))).toBe(true);
  });
});

/** Returns the message by which a case failed. */
const failureOf = (body: () => Promise<void>): Promise<string> =>
  body().then(
    () => "it passed",
    (error: Error) => error.message,
  );

/** Returns the same limiter, whose decisions come later. */
const waiting = (limiter: LimiterAdapter): LimiterAdapter => ({
  ...limiter,
  decide: async (call, nowMs) => limiter.decide(call, nowMs),
});

describe("a case", () => {
  const only = (factory: LimiterFactory, options: DescribeOptions): Promise<void> => {
    const [first] = collect(factory, { seed: 1, runs: 20, ...options });
    if (first === undefined) throw new Error("a case was expected");
    return first.body();
  };
  /** The same case, by a runner that lets it skip itself. */
  const skipped = async (factory: LimiterFactory, options: DescribeOptions): Promise<string[]> => {
    const [first] = collect(factory, { seed: 1, runs: 20, ...options });
    const why: string[] = [];
    const body = first?.body as (context: unknown) => Promise<void>;
    await body({ skip: (text: string) => why.push(text) });
    return why;
  };

  test("passes where nothing is found", async () => {
    await only(right, { laws: ["conserved"] });
    expect(await skipped(right, { laws: ["conserved"] })).toEqual([]);
  });

  test("that could judge nothing is skipped where nobody claimed the law, or passes where nothing can skip itself", async () => {
    const why = "conserved judges nothing: the limiter does not show a count: `current` or `remaining`";
    expect(await skipped(silent, { laws: ["conserved"] })).toEqual([why]);
    await only(silent, { laws: ["conserved"] });
  });

  test("of overlapping calls is skipped where the limiter decides each call at once", async () => {
    const options = { laws: [], interleavings: true };
    const why = "no calls overlap: the limiter decides each call at once";
    expect(await skipped(right, options)).toEqual([why]);
    await only(right, options);
    const later = {
      ...right,
      create: async (...given: Parameters<typeof right.create>) => waiting(await right.create(...given)),
    };
    expect(await skipped(later, options)).toEqual([]);
  });

  test("that could judge nothing fails where the law was claimed, unless that is not strict", async () => {
    const claiming: LimiterFactory = {
      ...silent,
      claims: ["conserved", "status-free"],
      claimsAsShown: false,
    };
    await expect(only(claiming, { laws: ["conserved"] })).rejects.toThrow(
      "conserved is claimed and judged nothing in 100 runs: the limiter does not show a count",
    );
    await expect(only(claiming, { laws: ["status-free"] })).rejects.toThrow("does not show a status: `peek`");
    await only(claiming, { laws: ["conserved"], strict: false });
  });

  test("that came to nothing that it judges in a few runs takes more of them", async () => {
    await only(right, { laws: ["recovers"], runs: 1 });
    const always = keyedLimiter({
      name: "lets all in",
      algorithm: "fixed-window",
      create: () => ({ consume: () => true }),
    });
    await expect(only(always, { laws: ["give-back"], runs: 1 })).rejects.toThrow(
      "give-back is claimed and judged nothing in 100 runs: no run came to what it judges",
    );
  });

  test("fails with a limiter that fails, by the call; the next ones are of the same cause", async () => {
    const down = keyedLimiter({
      name: "down",
      algorithm: "fixed-window",
      create: () => ({ consume: () => Promise.reject(new Error("no redis")) }),
    });
    await expect(only(down, { laws: ["recovers"] })).rejects.toThrow(
      /the limiter failed[\s\S]*consume\([\s\S]*no redis/,
    );
    const [first, second] = collect(down, { seed: 1, laws: ["isolated", "recovers"] }).filter(
      ({ skipped: skips }) => !skips,
    );
    expect(await failureOf(first?.body ?? (async () => {}))).toContain("no redis");
    expect(await failureOf(second?.body ?? (async () => {}))).toBe("the same calls break isolated: recovers");
  });

  test("fails where a limiter never answers, by timers of Node where none are given", async () => {
    const silent = keyedLimiter({
      name: "silent",
      algorithm: "fixed-window",
      create: () => ({ consume: () => new Promise<never>(() => {}) }),
    });
    const message = await failureOf(() => only(silent, { laws: ["twice-at-most"], answerMsMost: 20 }));
    expect(message).toContain("no answer within 0.02 s");
  });

  test("of another bug fails, too", async () => {
    const cases = collect(broken, { seed: 1, laws: ["refusal-justified", "twice-at-most", "limit-agrees"] });
    const said = [];
    for (const { body, skipped: skips } of cases)
      if (!skips) said.push((await failureOf(body)).split("\n")[0]);
    expect(said).toEqual([
      expect.stringMatching(/^refusal-justified is violated/),
      "the same calls break refusal-justified: twice-at-most",
      expect.stringMatching(/^limit-agrees is violated/),
    ]);
  });

  test("names setNow where time passed, unless the limiter has it", async () => {
    let nowMs = 0;
    const clocked = (more: object): LimiterFactory =>
      keyedLimiter({
        ...{ name: "clocked", algorithm: "fixed-window", ...more },
        create({ limit, windowMs }) {
          const windows = new Map<string, { count: number; endMs: number }>();
          return {
            consume(key) {
              const known = windows.get(key);
              const window =
                known !== undefined && nowMs < known.endMs ? known : { count: 0, endMs: nowMs + windowMs };
              windows.set(key, window);
              window.count += 1;
              return { allowed: window.count <= limit - ("setNow" in more ? 1 : 0) };
            },
          };
        },
      });
    const options = { laws: ["recovers"] as const };
    expect(await failureOf(() => only(clocked({}), options))).toMatch(
      /\nnote: time passed in this script alone: .* setNow .*$/,
    );
    const setNow = (ms: number): void => {
      nowMs = ms;
    };
    expect(await failureOf(() => only(clocked({ setNow }), options))).not.toContain("note: time passed");
  });

  test("of overlapping calls fails with the interleaving, and its line repeats it", async () => {
    const racy = keyedLimiter({
      name: "racy",
      algorithm: "fixed-window",
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
    const message = await failureOf(() => only(racy, { laws: [], interleavings: { runs: 40 } }));
    expect(message).toMatch(/^no order of the overlapping calls explains/);
    const [, seed, path] = /interleavings: \{ seed: (-?\d+), path: "([\d:]+)" \}/.exec(message) ?? [];
    const again = await checkInterleavings(racy, { seed: Number(seed), path: String(path) });
    expect(again.outcome).toBe("violated");
  });
});
