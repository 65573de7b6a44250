// The demo in lines: the limits that it shows, its check, and the bug that it has found.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { check, faultFor, introduction, repeatDemo, sayFound } from "../../src/cli/demo.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { fixture, sampleViolation } from "../report/fixtures.ts";
import { recorded, saidBy } from "../support/recorded.ts";
import { TypedIn } from "./typed.ts";

test("it says its limits", () => {
  expect(introduction(undefined)).toBe(
    "Windows of 5 s (REST) and 8 s (GraphQL); 90 requests and 2,000 points an organization, 50 and 1,000 a user. " +
      "Nothing leaves this machine.",
  );
  expect(introduction("github")).toBe("The limits of github. Nothing leaves this machine.");
});

test("its bug is one that shows under the limits, and its command repeats it", () => {
  expect(faultFor({ limits: {} })).toBe("race-read-then-write");
  expect(faultFor({ limits: { rules: {} as never } })).toBe("race-read-then-write");
  expect(faultFor({ limits: { policy: {} as never } })).toBe("double-count");
  const args = { duration: "25s", runs: 50, seed: 7, out: "x", force: true, open: true };
  expect(repeatDemo(args as never)).toBe("npx spillway demo --duration 25s --runs 50 --seed 7");
  const more = { scenario: "herd", rules: "github", asWindow: true, driver: "node" };
  expect(repeatDemo({ ...args, ...more } as never)).toBe(
    "npx spillway demo --scenario herd --rules github --as-window --duration 25s --driver node --runs 50 --seed 7",
  );
});

const law = { law: "bounded", statement: "counts stay", outcome: "no-counterexample", judged: 700, runs: 1 };
const report = { limiter: "engine", seed: 7, runs: 2, known: [], ok: true, interrupted: false };

/** Checks by a thread that tells events and returns a report. */
async function checked(laws: object[], ok: boolean, limits: object = {}) {
  const asked: unknown[] = [];
  const whole = { ...report, ok, laws };
  const thread = {
    async *run(...work: unknown[]) {
      asked.push(work);
      yield { law: "bounded", done: 0, laws: 2, run: 1, runs: 2, shrinking: false };
      yield laws[0];
      return whole;
    },
  };
  const kept = recorded();
  const given = { runs: 2, seed: 7, limits } as never;
  expect(await check(kept.terminal, given, thread as never)).toBe(whole);
  return { ...kept, asked };
}

test("its check is said by laws, runs and answers, and laws that broke are drawn", async () => {
  const { tagged, progress, asked } = await checked([law, { ...law, judged: 800 }], true);
  expect(tagged).toEqual([
    "",
    "<bold><cyan>check</></> looks for the shortest way to break each law of the limiter",
    "  2 laws, 2 runs each, 1,500 answers judged: <green>no counterexample</>",
  ]);
  expect(progress).toEqual(["law 1 of 2: bounded, run 1 of 2"]);
  expect(asked).toEqual([["check", { options: { runs: 2, seed: 7 }, policy: undefined }]]);
  const failure = { call: "decide()", got: "nothing", allowed: "an answer", hung: false, history: [] };
  const script = { startMs: 0, ops: [], policy: { quotas: {} } };
  const broken = { ...law, outcome: "violated", failure: { ...failure, script } };
  const [rules, policy] = [{ user: {} }, { name: "own" }];
  const found = await checked([broken, law], false, { rules, policy });
  expect(found.tagged.slice(2, 4)).toEqual([
    "  2 laws, 2 runs each, 1,400 answers judged: <red>violated</>",
    "bounded cannot be judged: the limiter failed",
  ]);
  expect(found.tagged.filter((line) => line === "bounded cannot be judged: the limiter failed")).toHaveLength(
    1,
  );
  expect(found.asked).toEqual([["check", { options: { runs: 2, seed: 7, rules }, policy }]]);
});

const verdict = fixture().run.verdict as Verdict;
const found = (more: object) => saidBy((terminal) => sayFound(terminal, { ...verdict, ...more } as Verdict));

test("its broken limiter is said by the first violation", () => {
  const violations = [{ ...sampleViolation, suspects: ["a", "b", "c", "d"] }, sampleViolation];
  const broken = { verdict: "violated", laws: { conserved: "violated" }, violations, violationsFound: 2 };
  expect(found(broken)).toEqual([
    "  <red>1 law is broken: conserved</>",
    "  <bold>conserved</>, acme, REST: 2 calls <took> the place 17 & both were admitted",
    "  <dim>it looks like a, or b, or c</>",
  ]);
});

test("a bug that was not found is said, and why it could not be", () => {
  expect(found({})).toEqual(["  <red>nothing was found</>"]);
  const notJudged = [{ quota: "calls", why: "a token bucket's level is not judged" }];
  expect(found({ notJudged })).toEqual(["  nothing was found: calls: a token bucket's level is not judged."]);
});

const parcels = {
  ...{
    version: 2,
    name: "parcels",
    operations: { look: { uses: { calls: 1 }, samples: [{ path: "/v3/parcels" }] } },
  },
  quotas: {
    calls: {
      algorithm: { kind: "fixed-window", limit: 10, windowSeconds: 5 },
      key: ["account"],
      unit: "calls",
    },
  },
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
    ],
  },
};

describe("as it is typed", () => {
  let here: TypedIn;
  beforeAll(async () => {
    here = await TypedIn.of({ "parcels.json": JSON.stringify(parcels) });
  });
  afterAll(() => here.remove());

  test("its mistakes are those of its parts", async () => {
    const { code, said, aside } = await here.run("demo --scenario none.ts");
    expect([code, said, aside[1]]).toEqual([2, [], expect.stringContaining("none.ts: got no such file")]);
  });

  test("it shows every part under a policy, with clients made of its samples", async () => {
    const words =
      "demo --policy parcels.json --duration 1s --driver node --runs 2 --out demo --no-open --json";
    const { code, aside, json } = await here.run(words);
    expect(aside[0]).toBe("The limits of parcels.json. Nothing leaves this machine.");
    expect(aside.filter((_, at) => aside[at - 1] === "")).toEqual([
      "check looks for the shortest way to break each law of the limiter",
      "serve, load, verify clients loads the reference deployment for 1s; the oracle judges the trace",
      "simulate the same clients in virtual time, from the same instant: what it would have predicted",
      expect.stringMatching(
        /^simulate --fault double-count the same once more, by a limiter that is wrong: /,
      ),
      "report what was refused and whom it hit, every window, waits, prediction beside measurement",
    ]);
    const after = (stage: string) => aside[aside.findIndex((line) => line.startsWith(stage)) + 1];
    expect(after("serve, load")).toMatch(/^ {2}.*Node/);
    expect(aside.filter((line) => /^clients: /.test(line))).toEqual([
      expect.stringMatching(/ calls? to http:\/\/HOST in .*, by Node /),
      expect.stringMatching(/ calls? in .* of virtual time, seed 7$/),
    ]);
    expect(aside.filter((line) => line.endsWith("/report.html"))).toEqual([
      ...[
        "  demo/report.html",
        "  demo/simulated/report.html",
        "  demo/broken/report.html",
        "  open demo/report.html",
      ],
    ]);
    expect(json()).toMatchObject({
      ...{ folder: "demo", check: { ok: true }, broken: { fault: "double-count" } },
      predicted: { calls: expect.any(Number) },
      expectations: expect.any(Array),
    });
    const record = async (...path: string[]) =>
      JSON.parse(await readFile(join(here.folder, "demo", ...path, "run.json"), "utf8")) as {
        command: string;
        notes: string[];
      };
    const command = "npx spillway demo --rules parcels.json --duration 1s --driver node --runs 2 --seed 7";
    expect((await record()).command).toBe(command);
    const broken = await record("broken");
    expect([broken.command, broken.notes]).toEqual([command, ["the fault double-count is injected"]]);
    expect([0, 1]).toContain(code);
  });
});
