// A verb of the tests' own: its help, line by line, and what is said of words that it cannot use.
import { describe, expect, test } from "vitest";
import { programHelp, verbHelp } from "../../src/cli/help.ts";
import {
  importMsOf,
  repeatCommand,
  requireDuration,
  requireSeed,
  requireWhole,
} from "../../src/cli/run-options.ts";
import { kebab, rejectOddValues, unknownVerb, unparsed } from "../../src/cli/usage-mistake.ts";
import {
  dashed,
  defineVerb,
  operandUsage,
  optionUsage,
  verbUsage,
  withoutDashes,
  yargsCommand,
} from "../../src/cli/verb.ts";
import { SpillwayError } from "../../src/rules/errors.ts";

const ran: unknown[] = [];
const verb = defineVerb({
  name: "measure",
  summary: "measure something",
  notes: ["A note that has more words than a line of forty characters can hold."],
  operands: [
    { name: "thing", describe: "what is measured", required: true },
    { name: "others", describe: "more of it", required: false, many: true },
  ],
  options: {
    every: {
      argument: "TIME",
      type: "string",
      alias: ["e", "each"],
      default: "5s",
      describe: "look every TIME",
    },
    unit: {
      argument: "UNIT",
      type: "string",
      choices: ["metre", "mile"],
      describe: "say it in UNIT",
      group: "Words",
    },
    size: { argument: "SIZE", type: "number", demandOption: true, array: true, describe: "take SIZE" },
    quiet: { type: "boolean", default: false, negatable: true, describe: "say less" },
  },
  examples: { "$0 measure it --size 3": "measure it" },
  handler: (args) => void ran.push(args),
});
const common = [
  "Common options:",
  "      --json        print the result as",
  "                    JSON on standard",
  "                    output, text on",
];

test("is used as its operands and options say", () => {
  expect(verbUsage(verb)).toBe("npx spillway measure THING [OTHERS...] [options]");
  expect(Object.entries(verb.options).map(([name, option]) => optionUsage(name, option))).toEqual([
    ...["--every, --each TIME", "--unit UNIT", "--size SIZE", "--[no-]quiet"],
  ]);
  expect(verb.operands.map(operandUsage)).toEqual(["THING", "[OTHERS...]"]);
});

describe("help", () => {
  const lines = verbHelp(verb, 40).split("\n");

  test("has each part in its order, wrapped at the terminal's width, forty characters at least", () => {
    expect(lines.slice(0, 22)).toEqual([
      "npx spillway measure THING [OTHERS...] [options]",
      "",
      "Measure something.",
      "",
      "A note that has more words than a line",
      "of forty characters can hold.",
      "",
      "Arguments:",
      "  THING        what is measured",
      "  [OTHERS...]  more of it",
      "",
      "Options:",
      "  -e, --every, --each TIME  look every",
      "                            TIME",
      "                            [default:",
      "                            5s]",
      "      --size SIZE           take SIZE",
      "                            [may be",
      "                            repeated]",
      "                            [required]",
      "      --[no-]quiet          say less",
      "",
    ]);
    expect(lines.slice(22, 27)).toEqual([
      "Words:",
      "      --unit UNIT  say it in UNIT [one",
      "                   of metre, mile]",
      "",
      common[0],
    ]);
    expect(verbHelp(verb, 10)).toBe(verbHelp(verb, 40));
    expect(verbHelp(verb, 5_000)).toBe(verbHelp(verb, 110));
    expect(verbHelp(verb, undefined)).toBe(verbHelp(verb, 100));
    expect(verbHelp(verb, 60)).not.toBe(verbHelp(verb, 40));
    for (const line of lines.slice(3, 40)) expect(line.length).toBeLessThanOrEqual(40);
  });

  test("of the program has a row for each verb, and a longer name on a line of its own", () => {
    const long = { ...verb, name: "measure-everything-in-sight" };
    const text = programHelp([verb, long], 80).split("\n");
    const at = text.indexOf("Verbs:");
    expect(text.slice(at, at + 4)).toEqual([
      "Verbs:",
      `  ${"measure THING [OTHERS...]".padEnd(34)}  measure something`,
      "  measure-everything-in-sight THING [OTHERS...]",
      `${" ".repeat(38)}measure something`,
    ]);
    for (const status of ["0", "1", "2", "3", "130", "70"])
      expect(
        text.some((line) => line.startsWith(`  ${status.padEnd(3)}  `)),
        status,
      ).toBe(true);
  });
});

/** Summary, problems and next step of a mistake. */
function mistake(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    if (error instanceof SpillwayError) return said(error);
    throw error;
  }
  return null;
}
const said = ({ message, problems, hint }: SpillwayError) => [
  message.split("\n")[0],
  ...problems.map(({ path, got, allowed }) => `${path}: ${got}: ${allowed}`),
  hint,
];
const help = "npx spillway measure --help shows what can be used";

describe("a mistake", () => {
  test.each([
    ["measur", ["there is no such verb", 'VERB: "measur": measure', "did you mean measure?"]],
    ["zzz", ["there is no such verb", 'VERB: "zzz": measure', "npx spillway --help shows the verbs"]],
    [undefined, ["a verb is missing", "VERB: nothing: measure", "npx spillway --help shows the verbs"]],
  ])("verb %s", (word, words) => {
    expect(said(unknownVerb(word, [verb]))).toEqual(words);
  });

  test.each<[string, readonly string[], readonly unknown[]]>([
    [
      "Not enough arguments following: e",
      [],
      ["--every needs a value", "--every: nothing: --every, --each TIME", help],
    ],
    ["Not enough arguments following: zzz", [], ["--zzz needs a value", "--zzz: nothing: --zzz", help]],
    [
      "Arguments unit and thing are mutually exclusive",
      [],
      ["--unit and THING exclude each other", "--unit: beside THING: one of the two", help],
    ],
    [
      "Arguments unit and size are mutually exclusive",
      [],
      ["--unit and --size exclude each other", "--unit: beside --size: one of the two", help],
    ],
    [
      'Invalid values:\n  Argument: unit, Given: "mole", Choices: x',
      [],
      ["--unit cannot be used", '--unit: "mole": metre, mile', "did you mean mile?"],
    ],
    [
      'Invalid values:\n  Argument: unit, Given: "zzz", Choices: x',
      [],
      ["--unit cannot be used", '--unit: "zzz": metre, mile', help],
    ],
    [
      "Unknown arguments: evry, evry",
      ["--evry=3"],
      [
        "measure cannot use all of these words",
        "--evry: an unknown option: --every",
        "did you mean --every?",
      ],
    ],
    [
      "Unknown argument: more",
      ["more"],
      [
        "measure cannot use all of these words",
        "more: a word too many: npx spillway measure THING [OTHERS...] [options]",
        help,
      ],
    ],
    [
      "Unknown argument: zzZz",
      ["--zz-zz"],
      [
        "measure cannot use all of these words",
        "--zz-zz: an unknown option: --every, --unit, --size, --quiet, --json, --debug, --color",
        help,
      ],
    ],
    [
      "Unknown arguments: x, y",
      ["-xy"],
      [
        "measure cannot use all of these words",
        "-xy: an unknown option: --every, --unit, --size, --quiet, --json, --debug, --color",
        help,
      ],
    ],
    [
      "Unknown arguments: xy, z",
      ["-vxy", "xy", "--xyz=3", "z"],
      [
        "measure cannot use all of these words",
        "xy: a word too many: npx spillway measure THING [OTHERS...] [options]",
        "z: a word too many: npx spillway measure THING [OTHERS...] [options]",
        help,
      ],
    ],
    [
      "Unknown arguments: http://x, evry",
      ["http://x", "--evry"],
      [
        "measure cannot use all of these words",
        "http://x: a word too many: npx spillway measure THING [OTHERS...] [options]",
        "--evry: an unknown option: --every",
        "did you mean --every?",
      ],
    ],
    ["something else", [], ["something else", help]],
  ])("%j", (message, words, told) => {
    expect(said(unparsed(message, verb, words))).toEqual(told);
  });

  test.each<[object, readonly string[], readonly unknown[] | null]>([
    [{ every: "5s", quiet: true }, ["--quiet=true"], null],
    [{ quiet: true }, ["--quiet=yes"], ["--quiet takes no value", '--quiet: "yes": --[no-]quiet', help]],
    [{ every: "" }, [], ["--every needs a value", "--every: an empty text: --every, --each TIME", help]],
    [
      { every: ["1s", "2s"] },
      [],
      ["--every was given 2 times; once is allowed", "--every: 2 values: --every, --each TIME", help],
    ],
    [{ size: [1, 2] }, [], null],
    [{ size: ["1", ""] }, [], ["--size needs a value", "--size: an empty text: --size SIZE", help]],
    [{ size: Number.NaN }, [], ["--size needs a number", "--size: text: --size SIZE", help]],
    [{ json: true }, ["--json=yes"], ["--json takes no value", '--json: "yes": --json', help]],
  ])("values %j of %j", (argv, words, told) => {
    expect(mistake(() => rejectOddValues(verb, argv as Record<string, unknown>, words))).toEqual(told);
  });

  test("what is missing is named with an example; what is there is handed on", async () => {
    const { handler } = yargsCommand(verb);
    const run = async (argv: object): Promise<unknown> => {
      try {
        return await handler(argv as never);
      } catch (error) {
        return said(error as SpillwayError);
      }
    };
    expect(await run({})).toEqual([
      "measure needs THING and --size SIZE",
      "THING: nothing: what is measured",
      "--size SIZE: nothing: --size SIZE, to take SIZE",
      "npx spillway measure it --size 3",
    ]);
    expect(await run({ thing: "it", size: [] })).toEqual([
      "measure needs --size SIZE",
      expect.any(String),
      expect.any(String),
    ]);
    const [dash] = withoutDashes(["-"]);
    expect(await run({ thing: dash, size: [3], others: [dash, "-x"] })).toBeUndefined();
    expect(ran).toEqual([{ thing: "-", size: [3], others: ["-", "-x"] }]);
    expect([withoutDashes(["-", "-x"])[1], dashed(`a${dash}b`), kebab("inRunsOf")]).toEqual([
      "-x",
      "a-b",
      "in-runs-of",
    ]);
  });
});

test("a command that repeats a run has the options that were given, each as often as it was", () => {
  const given = {
    vary: ["a=1..2", "b=x y"],
    compare: true,
    resume: false,
    seed: 0,
    rules: undefined,
    find: "largest",
  };
  expect(repeatCommand("plan", "herd", given)).toBe(
    "npx spillway plan herd --vary a=1..2 --vary 'b=x y' --compare --seed 0 --find largest",
  );
  expect(repeatCommand("simulate", ["--world", "7"], {})).toBe("npx spillway simulate --world 7");
});

test.each<[string, () => unknown, unknown]>([
  ["seed 0", () => requireSeed(0), 0],
  ["seed -1", () => requireSeed(-1), "--seed: -1: a whole number from 0 to 2^53 - 1"],
  ["seed 2^53", () => requireSeed(2 ** 53), "--seed: 9007199254740992: a whole number from 0 to 2^53 - 1"],
  ["the least", () => requireWhole("--n", 3, 3, 5), 3],
  ["the most", () => requireWhole("--n", 5, 3, 5), 5],
  ["below", () => requireWhole("--n", 2, 3, 5), "--n: 2: a whole number from 3 to 5"],
  ["above", () => requireWhole("--n", 6, 3, 5), "--n: 6: a whole number from 3 to 5"],
  ["a part", () => requireWhole("--n", 3.5, 3, 5), "--n: 3.5: a whole number from 3 to 5"],
  ["1 ms", () => requireDuration("--every", "1ms"), 1],
  ["a year", () => requireDuration("--every", "8784h"), 8_784 * 3_600_000],
  [
    "more",
    () => requireDuration("--every", "8785h"),
    '--every: "8785h": "90s", "5m", "1m30s", at most a year',
  ],
  [
    "nothing",
    () => requireDuration("--every", "0ms"),
    '--every: "0ms": "90s", "5m", "1m30s", at most a year',
  ],
  ["the usual wait for a file", () => importMsOf({}), 30_000],
  ["another", () => importMsOf({ importTimeout: "2m" }), 120_000],
])("%s", (_, read, value) => {
  const told = (): unknown => {
    try {
      return read();
    } catch (error) {
      return said(error as SpillwayError)[1];
    }
  };
  expect(told()).toBe(value);
});
