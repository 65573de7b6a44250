// Limiters of npm as they are today, each by the laws that its documentation promises. All are kept by calls that
// follow one another; calls that overlap find four stores that hand out the object in which they count. It takes
// long: almost forty limiters, each by all laws that it claims, in the fewest runs that come to something to judge.
// @module-tag long
// @module-tag redis-server
// @module-tag faketime
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { limiterLawNames } from "../../src/rules/laws.ts";
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
const wish = (laws: Rows) => ({ seed: 20_261, runs: 5, laws, shrinks: false });

describe.each(strangers)("$name", (stranger) => {
  test("keeps what it promises, but for what is known to be broken", async () => {
    const cells = await cellsOf(stranger, wish([...limiterLawNames, "overlapping calls"]), redis);
    const seen = (outcome: string) => cells.filter((cell) => cell.outcome === outcome);
    const broken = seen("breaks").map(({ law }) => law);
    expect(stranger.broken?.rows ?? []).toEqual(expect.arrayContaining(broken));
    expect(seen("not observable")).toEqual([]);
    const promised = [
      ...limiterLawNames.filter((law) => claimsOf(stranger).includes(law)),
      "overlapping calls",
    ];
    expect(seen("keeps").map(({ law }) => law)).toEqual(
      promised.filter((law) => !broken.includes(law as never)),
    );
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
  const [cell] = await cellsOf({ ...express, limiter }, { ...wish(["conserved"]), shrinks: true }, redis);
  expect(cell).toMatchObject({ law: "conserved", outcome: "breaks" });
  expect(cell?.command).toBe(
    'npm run limiters -- --only "express-rate-limit" --law conserved --seed 20261 --runs 5',
  );
  expect(cell?.counterexample?.join("\n")).toMatch(/REFUSED.*\^ expected current 1/s);
});

test("each limiter that breaks something has an issue for its maintainers, of the version that is pinned", () => {
  const faulty = strangers.flatMap(({ package: from, broken }) => (broken ? [{ from, broken }] : []));
  expect(faulty.length).toBeGreaterThan(5);
  for (const { from, broken } of faulty) {
    const [title = ""] = readFileSync(`reports/limiters/${broken.issue}`, "utf8").split("\n");
    expect(title).toContain(`${from} ${versionOf(from)}`);
  }
});

test("the published table is of the versions that are pinned, and of all laws", () => {
  const table = JSON.parse(readFileSync("reports/limiters/table.json", "utf8")) as { cells: Cell[] };
  const published = table.cells.map(({ limiter, version, law, outcome }) => [limiter, version, law, outcome]);
  const expected = strangers.flatMap((stranger) =>
    [...limiterLawNames, "overlapping calls" as const].map((law) => {
      const claimed = law === "overlapping calls" || claimsOf(stranger).includes(law);
      const outcome = stranger.broken?.rows.includes(law) ? "breaks" : claimed ? "keeps" : "not claimed";
      return [stranger.name, versionOf(stranger.package), law, outcome];
    }),
  );
  expect(published).toEqual(expected);
});
