// Verbs that simulate and replay, as they are typed, with little work each: what they say, their result, their status.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TypedIn } from "./typed.ts";

const log = Array.from({ length: 120 }, (_, at) => {
  const time = new Date(Date.UTC(2026, 0, 5, 12) + at * 10_000).toISOString();
  return `10.0.0.1 - ann [05/Jan/2026:${time.slice(11, 19)} +0000] "GET /v2/user HTTP/1.1" 200 12 "-" "curl"\n`;
}).join("");

let here: TypedIn;
beforeAll(async () => {
  here = await TypedIn.of({ "access.log": log });
});
afterAll(() => here.remove());
const ran = (command: string) => here.run(command);

describe("swarm", () => {
  test("says its worlds, and its result", async () => {
    const { code, said } = await ran("swarm 1 --seed 5");
    expect([code, said[0], said[1]]).toEqual([
      0,
      expect.stringMatching(/^swarm: 1 world of seed 5, [\d,]+ calls, \d+ windows? judged, N s$/),
      "  No law is broken in any of them.",
    ]);
    const all = await ran("swarm 1 --json --require-states --out swarm");
    expect(all.json()).toMatchObject({ seed: 1, worlds: 1, failures: [], files: [], interrupted: false });
    expect([all.code, all.aside.length > 2]).toEqual([1, true]);
    expect((await ran("swarm --fault list")).said[0]).toMatch(/^NAME +NETS/);
  });
});

describe("a run's folder", () => {
  test("is written, reported again, and compared", async () => {
    const run = await ran("simulate steady --duration 2s --seed 3 --out run");
    expect([run.code, run.said.at(-1)]).toEqual([0, "  run/report.html"]);
    const again = await ran("report run");
    expect([again.code, again.said]).toMatchInlineSnapshot(`
      [
        0,
        [
          "steady: No law is broken, on little evidence: only 16 readings were judged, so call more; no refusal was seen, so load more; no window ended before another was seen, so run longer",
          "  run/report.html",
          "  run/summary.md",
          "  run/junit.xml",
        ],
      ]
    `);
    const elsewhere = await ran("report run --out elsewhere.html --no-pictures --compare run --json");
    expect(elsewhere.json()).toMatchInlineSnapshot(`
      {
        "html": "elsewhere.html",
        "junit": "run/junit.xml",
        "markdown": "run/summary.md",
        "pictures": [],
      }
    `);
    const json = await ran("simulate steady --duration 2s --seed 3 --out json --json");
    expect(json.json()).toMatchObject({ folder: "json", verdict: { verdict: "ok" } });
  });

  test("of a plan is written, printed and reported again", async () => {
    const plan = "plan steady --vary rules.user.rest.limit=5..20:15 --until refusedShare<5% --duration 2s";
    const { code, said } = await ran(`${plan} --replications 6 --in-runs 50% --workers 1 --out plan`);
    expect([code, said.at(0), said.at(-1)]).toMatchInlineSnapshot(`
      [
        0,
        "steady: 12 runs simulated, seed 11",
        "  plan/report.html",
      ]
    `);
    const csv = await ran(`${plan} --replications 6 --in-runs 50% --workers 1 --out csv --csv`);
    expect([csv.code, csv.said[0]?.trimEnd(), csv.aside.at(-1)]).toMatchInlineSnapshot(`
      [
        0,
        "rules.user.rest.limit,replications,held,held_share_low,held_share_high,state,refusedShare,refusedShare_low,refusedShare_high,waitP50Ms,waitP50Ms_low,waitP50Ms_high,waitP95Ms,waitP95Ms_low,waitP95Ms_high,admitted,admitted_low,admitted_high,fairness,fairness_low,fairness_high",
        "  csv/report.html",
      ]
    `);
    const json = await ran(`${plan} --replications 6 --in-runs 50% --workers 1 --out json-plan --json`);
    expect(json.json()).toMatchObject({ question: { scenario: "steady" } });
    const again = await ran("report plan");
    expect([again.code, again.said]).toMatchInlineSnapshot(`
      [
        0,
        [
          "steady: refusedShare <5% holds in 50% of runs all over rules.user.rest.limit = 5..20:15, as far as it was tried: the smallest value is 5, or lies beyond that range",
          "  plan/report.html",
          "  plan/summary.md",
          "  plan/junit.xml",
        ],
      ]
    `);
    expect((await ran("report plan --compare run")).aside[0]).toBe(
      "error USAGE a plan cannot be compared with a run",
    );
  });

  test("of a replay is written, and reported again", async () => {
    const { code, said } = await ran(
      "replay access.log --out replay --set user.rest.limit=3 --expect refused>0",
    );
    expect([code, said[0], said.at(-1)]).toMatchInlineSnapshot(`
      [
        0,
        "access.log: 60 of 120 calls (50%) would have been refused",
        "  replay/report.html",
      ]
    `);
    expect((await readdir(join(here.folder, "replay"))).filter((name) => name.endsWith(".csv"))).toEqual([
      "users.csv",
      "windows.csv",
    ]);
    const json = await ran("replay access.log --json --expect refused>0");
    expect([json.code, json.json()]).toEqual([1, expect.objectContaining({ interrupted: false })]);
    const again = await ran("report replay");
    expect([again.code, again.said]).toMatchInlineSnapshot(`
      [
        0,
        [
          "access.log: 60 of 120 calls (50%) would have been refused",
          "  replay/report.html",
          "  replay/summary.md",
          "  replay/junit.xml",
        ],
      ]
    `);
    const dry = await ran("replay access.log --dry-run --json");
    expect(dry.json()).toMatchObject({ files: [{ name: "access.log" }], unread: [] });
  });
});
