// `--fault` as a user gives it: to check, to simulate, and to see what there is.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultNames } from "../../src/faults/choice.ts";
import { spillwayHere } from "../support/command.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-fault-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = (...words: string[]) => spillwayHere(words, { cwd: folder });
const json = async (...path: string[]) =>
  JSON.parse(await readFile(join(folder, ...path), "utf8")) as unknown;

describe("--fault list", () => {
  test.each(["check", "simulate"])("of %s shows every fault with its nets", async (verb) => {
    const { code, stdout } = await run(verb, "--fault", "list");
    expect(code).toBe(0);
    for (const name of faultNames) expect(stdout).toMatch(new RegExp(`^${name} `, "m"));
    expect(stdout).toMatch(/^one-short +P V L · {2}a window admits one less than its limit$/m);
  });

  test("gives machines the whole catalogue", async () => {
    const { code, stdout } = await run("simulate", "--fault", "list", "--json");
    const listed = JSON.parse(stdout) as { name: string; nets: string[] }[];
    expect(code).toBe(0);
    expect(listed.map(({ name }) => name)).toEqual(faultNames);
    expect(listed.find(({ name }) => name === "one-short")?.nets).toEqual(["P", "V", "L"]);
  });
});

describe("check --fault", () => {
  test("finds it, and prints a command that finds it again", async () => {
    const { code, stdout } = await run("check", "--fault", "one-extra", "--law", "bounded", "--seed", "5");
    expect(code).toBe(1);
    expect(stdout).toContain("a limiter with one-extra");
    const words = /^repeat: npx spillway (.+)$/m.exec(stdout)?.[1]?.split(" ") ?? [];
    expect(words).toContain("--fault");
    const again = await run(...words);
    expect(again.code).toBe(1);
    expect(again.stdout).toContain("bounded is violated");
  });

  test("refuses rules under which it is no fault", async () => {
    const { code, stderr } = await run("check", "--fault", "refused-counted", "--rules", "documented");
    expect(code).toBe(2);
    expect(stderr).toContain("refused-counted cannot be injected under these rules");
    expect(stderr).toContain('rules.semantics.refused.rest: got "counted", allowed: "uncounted"');
  });

  test("does not go with a limiter of the user's", async () => {
    expect((await run("check", "--fault", "one-extra", "--adapter", "mine.ts")).code).toBe(2);
  });
});

describe("simulate --fault", () => {
  test("is judged, said in the run's record, and left out of what the trace claims", async () => {
    const { code, stdout } = await run(
      ...[
        "simulate",
        "ci-fleet",
        "--duration",
        "70s",
        "--fault",
        "per-instance-counters=3",
        "--out",
        "apart",
      ],
    );
    expect(code).toBe(1);
    expect(stdout).toContain("the fault per-instance-counters=3 is injected: every process counts alone");
    expect(await json("apart", "run.json")).toMatchObject({
      command: "npx spillway simulate ci-fleet --seed 7 --duration 70s --fault per-instance-counters=3",
      notes: [expect.stringContaining("per-instance-counters=3")],
    });
    expect(await json("apart", "verdict.json")).toMatchObject({ verdict: "violated" });
    const trace = await readFile(join(folder, "apart", "trace.ndjson"), "utf8");
    expect(trace.slice(0, trace.indexOf("\n"))).not.toContain("fault");
  });

  test.each([
    [["simulate", "herd", "--fault", "lost-expry"], "did you mean lost-expiry?"],
    [["simulate", "herd", "--fault", "skewed-nodes=0"], "seconds between the two clocks"],
    [["simulate", "herd", "--fault", "user-key-from-header"], "spillway serve --fault user-key-from-header"],
    [["simulate"], "name a scenario"],
  ])("%j is a usage error with a next step", async (words, next) => {
    const { code, stderr } = await run(...words);
    expect(code).toBe(2);
    expect(stderr).toContain(next);
  });
});
