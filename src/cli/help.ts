// The text of `--help`, of a verb and of the program. The verb's own options come first, those of every verb last.
import { capitalized } from "../rules/words.ts";
import {
  commonOptions,
  exampleCommand,
  operandUsage,
  optionUsage,
  program,
  type Verb,
  type VerbOption,
  verbUsage,
} from "./verb.ts";

/** Row of two columns under a title. */
type Row = readonly [left: string, right: string];

/** Width of the left column, characters. A longer entry gets a line of its own. */
const leftMost = 34;
const widthMost = 110;

const exitCodes: readonly Row[] = [
  ["0", "every law and every expectation held"],
  [
    "1",
    "a law or an expectation was violated, or no value that was searched for holds; of check, swarm and audit also where they were interrupted since",
  ],
  [
    "2",
    "the command or its input cannot be used, or nothing could be judged; of check, a limiter that does not repeat its answers",
  ],
  ["3", "the target or the driver could not be reached or run, or a program is missing"],
  ["130", "interrupted; what was done is kept"],
  ["70", "a bug in spillway"],
];

const exitLine = `Exit codes: 0 held, 1 violated, 2 unusable input, 3 unreachable or missing, 130 interrupted, 70 a bug. ${program} --help explains them.`;

/** Returns the program's help: every verb, further reading, exit codes. @param columns width of the terminal */
export function programHelp(verbs: readonly Verb[], columns: number | undefined): string {
  const width = widthOf(columns);
  return paragraphs([
    `${program} VERB [options]`,
    "Checks, simulates and load-tests API rate limits.",
    table(
      "Verbs",
      verbs.map(({ name, operands, summary }) => [[name, ...operands.map(operandUsage)].join(" "), summary]),
      width,
    ),
    table("Options", [...optionRows(commonOptions), ["    --version", "print the version"], helpRow], width),
    examples([
      ["$0 demo", "see every part work on this machine, in under a minute"],
      ["$0 check --adapter my-limiter.ts", "look for a counterexample to each law of your limiter"],
      ["$0 simulate ci-fleet", "run a scenario in virtual time, with a report"],
      ["$0 help plan", "show the options of a verb"],
    ]),
    table("Exit codes", exitCodes, width),
  ]);
}

/** Returns the help of one verb. @param columns width of the terminal */
export function verbHelp(verb: Verb, columns: number | undefined): string {
  const { summary, notes, operands, options } = verb;
  const width = widthOf(columns);
  const given = Object.entries(options);
  const titles = new Set(given.map(([, option]) => titleOf(option)));
  const rowsOf = (title: string): Row[] =>
    optionRows(Object.fromEntries(given.filter(([, option]) => titleOf(option) === title)));
  return paragraphs([
    verbUsage(verb),
    wrap(sentence(summary), width).join("\n"),
    ...notes.map((note) => wrap(note, width).join("\n")),
    table(
      "Arguments",
      operands.map((operand) => [operandUsage(operand), operand.describe]),
      width,
    ),
    ...[...titles].map((title) => table(title, rowsOf(title), width)),
    table("Common options", [...optionRows(commonOptions), helpRow], width),
    examples(verb.examples),
    wrap(exitLine, width).join("\n"),
  ]);
}

const titleOf = ({ group = "Options" }: VerbOption): string => group;
const helpRow: Row = ["-h, --help", "print this help"];

const paragraphs = (texts: readonly string[]): string => texts.filter((text) => text !== "").join("\n\n");
const widthOf = (columns = 100): number => Math.max(40, Math.min(widthMost, columns));
const sentence = (phrase: string): string => `${capitalized(phrase)}.`;

const optionRows = (options: Readonly<Record<string, VerbOption>>): Row[] =>
  Object.entries(options).map(([name, option]) => {
    const letter = [option.alias ?? []].flat().find((other) => other.length === 1);
    return [
      `${letter === undefined ? "    " : `-${letter}, `}${optionUsage(name, option)}`,
      `${option.describe}${remarks(option)}`,
    ];
  });

/** Returns the values that an option takes, and its default. */
function remarks({ argument = "", array, choices, default: usual, demandOption }: VerbOption): string {
  const all = choices?.join(", ") ?? "";
  return [
    all === "" || argument.includes("|") ? "" : ` [one of ${all}]`,
    array === true ? " [may be repeated]" : "",
    demandOption === true ? " [required]" : "",
    usual === undefined || usual === false ? "" : ` [default: ${usual}]`,
  ].join("");
}

function table(title: string, rows: readonly Row[], width: number): string {
  if (rows.length === 0) return "";
  const left = Math.min(leftMost, Math.max(...rows.map(([name]) => name.length)));
  const indent = " ".repeat(left + 4);
  const lines = rows.flatMap(([name, text]) => {
    const [first = "", ...more] = wrap(text, width - left - 4);
    const rest = more.map((line) => `${indent}${line}`);
    if (name.length > left) return [`  ${name}`, `${indent}${first}`, ...rest];
    return [`  ${name.padEnd(left)}  ${first}`, ...rest];
  });
  return [`${title}:`, ...lines].join("\n");
}

/** Returns the examples. Each command stands on a line of its own, unbroken, so that it can be pasted. */
const examples = (given: Verb["examples"]): string =>
  ["Examples:", ...given.flatMap((example) => [`  ${exampleCommand(example)}`, `      ${example[1]}`])].join(
    "\n",
  );

/** Breaks a text at its spaces; a word wider than a line gets a line of its own. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
