// Limiters of npm as they are today, each by the laws that its documentation promises. All are kept by calls that
// follow one another; calls that overlap find four stores that hand out the object in which they count.
// @module-tag redis-server
// @module-tag faketime
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lawNames } from "../../src/rules/laws.ts";
import { claimsOf, strangers } from "./limiters.ts";
import { RealRedis } from "./redis.ts";
import { installStrangers, versionOf } from "./strangers.ts";
import { type Cell, cellsOf } from "./table.ts";

let redis: RealRedis;

beforeAll(async () => {
  await installStrangers();
  redis = await RealRedis.start();
});

afterAll(() => redis.stop());

type Rows = Parameters<typeof cellsOf>[1]["laws"];
const wish = (laws: Rows) => ({ seed: 20_261, runs: 20, laws });

/** Those whose answers to overlapping calls no order explains (pipelined.test.ts shows the same on the wire). */
const sharesItsCount = ["express-rate-limit", "@fastify/rate-limit", "hono-rate-limiter", "koa-ratelimit"];

describe.each(strangers)("$name", (stranger) => {
  test("keeps what it promises, but for calls that overlap where it shares its count", async () => {
    const cells = await cellsOf(stranger, wish([...lawNames, "overlapping calls"]), redis);
    const seen = (outcome: string) => cells.filter((cell) => cell.outcome === outcome);
    const broken = sharesItsCount.includes(stranger.name) ? ["overlapping calls"] : [];
    expect(seen("breaks").map(({ law }) => law)).toEqual(broken);
    expect(seen("not observable")).toEqual([]);
    const kept = lawNames.filter((law) => claimsOf(stranger).includes(law));
    const overlapped = broken.length > 0 ? [] : ["overlapping calls"];
    expect(seen("keeps").map(({ law }) => law)).toEqual([...kept, ...overlapped]);
    expect(Math.min(...seen("keeps").map(({ judged }) => judged))).toBeGreaterThan(0);
    expect(new Set(cells.map(({ version }) => version))).toEqual(new Set([versionOf(stranger.package)]));
  });
});

test("a law that a package breaks stands in its cell with the calls and the command that show it", async () => {
  const [express] = strangers;
  if (express === undefined) throw new Error("there are no limiters");
  // Refused calls are counted in the window, and the laws are told that they are not.
  const limiter: typeof express.limiter = (claims, running) => {
    const factory = express.limiter(claims, running);
    return { ...factory, semantics: { ...factory.semantics, refused: ["uncounted"] } };
  };
  const [cell] = await cellsOf({ ...express, limiter }, wish(["conserved"]), redis);
  expect(cell).toMatchObject({ law: "conserved", outcome: "breaks" });
  expect(cell?.command).toBe(
    'npm run limiters -- --only "express-rate-limit" --law conserved --seed 20261 --runs 20',
  );
  expect(cell?.counterexample?.join("\n")).toMatch(/REFUSED.*\^ expected current 1/s);
});

test("the published table is of the versions that are pinned, and of all laws", () => {
  const table = JSON.parse(readFileSync("reports/limiters/table.json", "utf8")) as { cells: Cell[] };
  const published = table.cells.map(({ limiter, version, law, outcome }) => [limiter, version, law, outcome]);
  const expected = strangers.flatMap((stranger) =>
    [...lawNames, "overlapping calls" as const].map((law) => {
      const claimed = law === "overlapping calls" || claimsOf(stranger).includes(law);
      const broken = law === "overlapping calls" && sharesItsCount.includes(stranger.name);
      const outcome = broken ? "breaks" : claimed ? "keeps" : "not claimed";
      return [stranger.name, versionOf(stranger.package), law, outcome];
    }),
  );
  expect(published).toEqual(expected);
});
