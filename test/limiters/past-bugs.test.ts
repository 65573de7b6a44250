// Bugs that limiters of npm have shipped: the law accuses the versions that have them, in a few calls, and none
// beside them. It takes long: counterexamples are made as small as readers are shown them, over packages of whole
// frameworks.
// @module-tag long
// @module-tag redis-server
// @module-tag faketime
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { pastBugs } from "./bugs.ts";
import { asExpected, run, tryBug } from "./past-bugs.ts";
import { RealRedis } from "./redis.ts";
import { installStrangers, versionOf } from "./strangers.ts";

/** Seeds that come to a bug sooner than seed 1 does, by the bug's name. The track record says how many runs seed 1 needs. */
const sooner: Readonly<Record<string, number>> = {
  "allowance-after-the-wait": 4,
  "block-rounded-down": 8,
  "forgets-the-window-before": 7,
  "key-ends-between-commands": 11,
  "one-call-too-few": 4,
  "refused-for-longer": 6,
  "reset-of-the-oldest": 5,
  "reset-rounded-down": 4,
  "timers-of-others-cleared": 6,
  "window-of-everybody": 12,
  "writes-what-it-read": 12,
};

let redis: RealRedis;

beforeAll(async () => {
  await installStrangers();
  redis = await RealRedis.start();
});

afterAll(() => redis.stop());

describe.each(pastBugs)("$package: $name", (bug) => {
  test(`${bug.law} tells the versions that have it from those beside them`, async () => {
    const trials = await tryBug(bug, sooner[bug.name] ?? 1, redis, Math.max(0.1, 8 / bug.runs));
    const verdicts = trials.map(({ version, bad, outcome }) => [version, bad, outcome]);
    expect(
      trials.filter((trial) => !asExpected(trial)),
      JSON.stringify(verdicts),
    ).toEqual([]);
    expect(trials.map(({ version }) => version)).toEqual([...bug.bad, ...bug.good].map(versionOf));
    for (const trial of trials.filter(({ bad }) => bad)) {
      expect(trial.calls).toBeGreaterThanOrEqual(1);
      expect(trial.calls).toBeLessThanOrEqual(8);
      expect(trial.timeline.join("\n")).toContain("^ expected");
    }
    for (const { bad, judged } of trials) if (!bad) expect(judged).toBeGreaterThan(20);
  });
});

test("the published track record has every bug, with the versions that are pinned", () => {
  const record = readFileSync("reports/limiters/past-bugs.md", "utf8");
  for (const { name, source, bad, good, law } of pastBugs) {
    const row = record.split("\n").find((line) => line.startsWith(`| [${name}](${source}) |`));
    expect(row).toContain(
      `| ${bad.map(versionOf).join(", ")} | ${good.map(versionOf).join(", ") || "none"} | \`${law}\` |`,
    );
    expect(row).toContain(`npm run past-bugs -- --only ${name}`);
  }
});

test("a bug of another name is a mistake that is named", async () => {
  const said = vi.spyOn(console, "error").mockImplementation(() => {});
  expect(await run(["--only", "refuses-twice"])).toBe(2);
  expect(said.mock.calls.join()).toMatch(/no bug is called refuses-twice; there are .*refuses-once/);
  said.mockRestore();
});
