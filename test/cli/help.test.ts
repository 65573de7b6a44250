// Texts of `--help`, and of words that cannot be used: in plain English, by each verb's own data.
import { describe, expect, test, vi } from "vitest";
import { runCommand } from "../../src/cli/command-line.ts";
import { verbHelp } from "../../src/cli/help.ts";
import { optionUsage, type VerbOption } from "../../src/cli/verb.ts";
import { allVerbs } from "../../src/cli/verbs.ts";
import { codedErrorOf } from "../support/coded-error.ts";

const verbs = await allVerbs();

/** Returns the text that a command printed on standard output. */
async function printed(...words: string[]): Promise<string> {
  let text = "";
  const write = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    text += chunk;
    return true;
  });
  const aside = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  await runCommand(words).finally(() => {
    write.mockRestore();
    aside.mockRestore();
  });
  return text;
}

/** The coded error of a command. */
const mistake = (...words: string[]) => codedErrorOf(runCommand(words));

const quoted = (text: string): string =>
  text.slice(1, -1).replaceAll(" ", "\u0000").replaceAll(">", "\u0001");

describe("--help", () => {
  test("names every verb, the exit codes, and where scenarios and figures are listed", async () => {
    const help = await printed("--help");
    for (const { name, summary } of verbs) {
      expect(help).toMatch(new RegExp(`^  ${name}\\b`, "m"));
      expect(help.replace(/\s+/g, " ")).toContain(summary);
    }
    for (const code of [0, 1, 2, 3, 130, 70]) expect(help).toMatch(new RegExp(`^  ${code} +\\w`, "m"));
    expect(verbs.map(({ name }) => name)).toEqual(expect.arrayContaining(["scenarios", "figures"]));
  });

  test.each(verbs)("of $name is the same by help VERB, VERB --help and VERB -h", async ({ name }) => {
    const help = await printed("help", name);
    expect(await printed(name, "--help")).toBe(help);
    expect(await printed(name, "-h")).toBe(help);
    expect(help).toContain(`npx spillway ${name}`);
    expect(help).toContain("Exit codes: 0 held");
  });

  test("values of options that are left out stay what scripts rely on", () => {
    const set = (value: unknown): boolean => value !== undefined && value !== false;
    const defaults = verbs.map(({ name, options }) => {
      const named = Object.entries(options).map(([option, { default: value }]) => [option, value] as const);
      return [name, Object.fromEntries(named.filter(([, value]) => set(value)))] as const;
    });
    const paths = {
      "status-path": "/v2/organizations/:organization/rate_limit",
      "graphql-path": "/v1/graphql",
      "allow-unread": "1%",
    };
    expect(Object.fromEntries(defaults.filter(([, values]) => Object.keys(values).length > 0))).toEqual({
      demo: { duration: "25s", runs: 50, seed: 7 },
      simulate: { trace: true },
      swarm: { seed: 1 },
      replay: { seed: 1, ...paths },
      fit: { check: true, ...paths },
      serve: { port: 4100, host: "127.0.0.1", rules: "default", users: 30, seed: 1 },
      audit: { "max-time": "5m", spend: "100%" },
      probe: { budget: 80, points: 30_000, timeout: "10s" },
      status: { every: "5s" },
      report: { pictures: true },
    });
  });

  test.each(verbs)("of $name has phrases with their arguments, and common options last", (verb) => {
    const help = verbHelp(verb, 100);
    for (const [name, option] of Object.entries(verb.options)) {
      const { argument, type, choices, describe: phrase } = option;
      const isSwitch = type === "boolean";
      expect(argument === undefined, `--${name} has an argument unless it is a switch`).toBe(isSwitch);
      if (argument !== undefined && choices === undefined)
        for (const word of argument.match(/[A-Z]{2,}/g) ?? [])
          expect(
            ["RATE", "SEED", "NUMBER"].includes(word) || phrase.includes(word),
            `--${name}: ${phrase}`,
          ).toBe(true);
      expect(phrase, `--${name}`).toMatch(/^(with --[\w-]+, )?[a-z]+ /);
      expect(help).toContain(optionUsage(name, option));
    }
    const placeOf = ([name, option]: [string, VerbOption]): number => help.indexOf(optionUsage(name, option));
    expect(help.search(/--json {2,}print/)).toBeGreaterThan(
      Math.max(...Object.entries(verb.options).map(placeOf), 0),
    );
    expect(help.split("\n").filter((line) => line.length > 100 && !line.startsWith("  ")).length).toBe(0);
  });

  test.each(verbs.flatMap((verb) => verb.examples.map(([command]) => command)))(
    "the example %s can be used",
    async (command) => {
      // The words of a shell, up to its own signs.
      const [, name = "", rest = ""] =
        /\$0 ([a-z]+) ?([^|>&]*)/.exec(command.replace(/'[^']*'/g, quoted)) ?? [];
      const words = rest.split(/\s+/).map((word) => word.replaceAll("\u0000", " ").replaceAll("\u0001", ">"));
      const verb = verbs.find((known) => known.name === name);
      if (verb === undefined) throw new Error(`${command} names no verb`);
      const run = vi.spyOn(verb, "run").mockResolvedValue();
      await runCommand([name, ...words.filter((word) => word !== "")]);
      expect(run).toHaveBeenCalledOnce();
    },
  );
});

test("a lone - is the value of the option before it, and else an operand", async () => {
  const verb = verbs.find(({ name }) => name === "map");
  if (verb === undefined) throw new Error("map is a verb");
  const run = vi.spyOn(verb, "run").mockResolvedValue();
  await runCommand(["map", "--from", "-", "first.txt"]);
  expect(run).toHaveBeenLastCalledWith(expect.objectContaining({ from: ["-"], files: ["first.txt"] }));
  await runCommand(["map", "--force", "-"]);
  expect(run).toHaveBeenLastCalledWith(expect.objectContaining({ force: true, files: ["-"] }));
});

describe("words that cannot be used", () => {
  test.each([
    [["frobnicate", "--help"], "there is no such verb", "VERB", "npx spillway --help"],
    [["help", "chek"], "there is no such verb", "VERB", "did you mean check?"],
    [["verify"], "verify needs TRACE", "TRACE", "npx spillway verify reports/ci-fleet-load"],
    [["plan"], "plan needs SCENARIO", "SCENARIO", "npx spillway plan herd"],
    [["replay"], "replay needs FILES", "FILES", "npx spillway replay access.log"],
    [["map"], "map needs answers", "FILES", "curl -si URL"],
    [["probe"], "probe needs --target URL", "--target URL", "npx spillway probe --target"],
    [["verify", "x", "--jsn"], "words", "--jsn", "did you mean --json?"],
    [["check", "twice"], "words", "twice", "npx spillway check --help"],
    [["simulate", "steady", "--seed"], "--seed needs a value", "--seed", "--help"],
    [["plan", "herd", "--csv", "--json"], "--csv and --json exclude each other", "--csv", "--help"],
    [["plan", "herd", "--find", "largst"], "--find cannot be used", "--find", "did you mean largest?"],
    [["simulate", "herd", "--world", "7/3"], "--world and SCENARIO exclude", "--world", "--help"],
    [["simulate", "steady", "--out", ""], "--out needs a value", "--out", "--help"],
    [["simulate", "steady", "--seed", "x"], "--seed needs a number", "--seed", "--help"],
  ])("%j", async (words, summary, path, hint) => {
    const error = await mistake(...words);
    expect(error.code).toBe("USAGE");
    expect(error.exitCode).toBe(2);
    expect(error.message).toContain(summary);
    expect(error.problems[0]?.path).toBe(path);
    expect(error.hint).toContain(hint);
  });
});

describe("lists", () => {
  test("scenarios have descriptions, durations and files", async () => {
    const found = JSON.parse(await printed("scenarios", "--json")) as { name: string; description: string }[];
    expect(found.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["ci-fleet", "herd", "lone-client", "steady"]),
    );
    const text = await printed("scenarios");
    for (const { name, description } of found) {
      expect(description).not.toBe("");
      expect(text).toMatch(new RegExp(`^${name} +${description}`, "m"));
    }
  });

  test("figures have units and meanings", async () => {
    const found = JSON.parse(await printed("figures", "--json")) as Record<string, unknown>[];
    expect(found).toContainEqual({
      name: "waitP95Ms",
      unit: "ms",
      meaning: "95% of the jobs had their answer within this time of being wanted",
      judged: false,
      bounds: '"<250ms", "<=2s", "<1m30s"',
      replay: true,
    });
    expect(await printed("figures")).toMatch(/^refusedShare +share +refused calls/m);
  });
});
