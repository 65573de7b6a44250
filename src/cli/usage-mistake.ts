// Mistakes in the words of a command, in plain English. yargs says which words it could not use; the verb's own data
// says which words can be used instead.
import { closest } from "../rules/closest.ts";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import { commonOptions, optionUsage, program, type Verb, type VerbOption, verbUsage } from "./verb.ts";

const knownOptions = (verb: Verb): Readonly<Record<string, VerbOption>> => ({
  ...verb.options,
  ...commonOptions,
});

/** Returns the error for a first word that names no verb, or for no word at all. */
export function unknownVerb(word: string | undefined, verbs: readonly Verb[]): SpillwayError {
  const names = verbs.map(({ name }) => name);
  const meant = word === undefined ? null : closest(word, names);
  return new SpillwayError("USAGE", word === undefined ? "a verb is missing" : "there is no such verb", {
    problem: { path: "VERB", got: word === undefined ? "nothing" : quote(word), allowed: names.join(", ") },
    hint: meant === null ? `${program} --help shows the verbs` : `did you mean ${meant}?`,
  });
}

type Explain = (verb: Verb, first: string, second: string) => SpillwayError;

const explanations: readonly (readonly [RegExp, Explain])[] = [
  [/^Not enough arguments following: (\S+)/, withoutValue],
  [/^Arguments (\S+) and (\S+) are mutually exclusive/, exclusive],
  [/^Invalid values:\s+Argument: (\S+), Given: (.*), Choices:/s, notAChoice],
];

/** Returns the error for words that yargs could not parse. @param message yargs's. @param words the command's */
export function unparsed(message: string, verb: Verb, words: readonly string[]): SpillwayError {
  const [, unknown] = /^Unknown arguments?: (.*)$/s.exec(message) ?? [];
  if (unknown !== undefined) return unknownWords(verb, unknown, words);
  for (const [syntax, explain] of explanations) {
    const found = syntax.exec(message);
    if (found !== null) return explain(verb, found[1] ?? "", found[2] ?? "");
  }
  return new SpillwayError("USAGE", message, { hint: helpHint(verb) });
}

/** Returns the option that a word most likely means, with its value; `null` if none is like it. */
function optionFor(word: string, names: readonly string[]): string | null {
  if (/^https?:/.test(word) && names.includes("target")) return `--target ${word}`;
  const name = closest(word, names);
  return name === null ? null : `--${name}`;
}

function unknownWords(verb: Verb, list: string, words: readonly string[]): SpillwayError {
  const names = Object.keys(knownOptions(verb));
  // yargs reports `--keep-aliv` in camel case as well.
  const unknown = [...new Set(list.split(", ").map((word) => (words.includes(word) ? word : kebab(word))))];
  const meant = unknown.map((word) => optionFor(word, names));
  const told = unknown.map((word, index): Problem => {
    const option = words.find((given) => isOption(given, word));
    if (option === undefined)
      return { path: word, got: "a word too many", allowed: meant[index] ?? verbUsage(verb) };
    const allowed = meant[index] ?? names.map((name) => `--${name}`).join(", ");
    return { path: option.replace(/=.*$/s, ""), got: "an unknown option", allowed };
  });
  // yargs takes each letter of `-abc` for an option.
  const problems = [...new Map(told.map((problem) => [problem.path, problem])).values()];
  const likely = meant.find((option) => option !== null);
  return new SpillwayError("USAGE", `${verb.name} cannot use all of these words`, {
    problems,
    hint: likely === undefined ? helpHint(verb) : `did you mean ${likely}?`,
  });
}

/** Tells whether yargs reports a given option by this word: by its name, or by a letter of several. */
const isOption = (given: string, word: string): boolean =>
  (given.startsWith("-") && kebab(given.replace(/^-+|=.*$/gs, "")) === kebab(word)) ||
  (/^-[^-]/.test(given) && word.length === 1 && given.includes(word));

/** Returns `in-runs` for `inRuns`. */
export const kebab = (word: string): string => word.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function withoutValue(verb: Verb, name: string): SpillwayError {
  const option = optionNamed(verb, name);
  const usage = option === undefined ? `--${name}` : optionUsage(...option);
  return new SpillwayError("USAGE", `--${option?.[0] ?? name} needs a value`, {
    problem: { path: `--${option?.[0] ?? name}`, got: "nothing", allowed: usage },
    hint: helpHint(verb),
  });
}

function exclusive(verb: Verb, first: string, second: string): SpillwayError {
  return new SpillwayError("USAGE", `--${first} and ${labelOf(verb, second)} exclude each other`, {
    problem: { path: `--${first}`, got: `beside ${labelOf(verb, second)}`, allowed: "one of the two" },
    hint: helpHint(verb),
  });
}

const labelOf = ({ operands }: Verb, name: string): string =>
  operands.some((operand) => operand.name === name) ? name.toUpperCase() : `--${name}`;

function notAChoice(verb: Verb, name: string, given: string): SpillwayError {
  const choices = optionNamed(verb, name)?.[1].choices?.map(String) ?? [];
  const word = given.replace(/^"(.*)"$/s, "$1");
  const meant = closest(word, choices);
  return new SpillwayError("USAGE", `--${name} cannot be used`, {
    problem: { path: `--${name}`, got: quote(word), allowed: choices.join(", ") },
    hint: meant === null ? helpHint(verb) : `did you mean ${meant}?`,
  });
}

const optionNamed = (verb: Verb, name: string): [string, VerbOption] | undefined =>
  Object.entries(knownOptions(verb)).find(
    ([known, { alias = [] }]) => known === name || [alias].flat().includes(name),
  );

const helpHint = ({ name }: Verb): string => `${program} ${name} --help shows what can be used`;

/**
 * Refuses values that yargs lets pass: empty texts, malformed numbers, repeated options, and switches with a value
 * (yargs takes `--json=yes` for no JSON).
 * @param words the words of the command
 */
export function rejectOddValues(
  verb: Verb,
  argv: Readonly<Record<string, unknown>>,
  words: readonly string[],
): void {
  for (const [name, option] of Object.entries(knownOptions(verb))) {
    const value = argv[name];
    const fail = (summary: string, got: string): SpillwayError =>
      new SpillwayError("USAGE", summary, {
        problem: { path: `--${name}`, got, allowed: optionUsage(name, option) },
        hint: helpHint(verb),
      });
    const given = words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
    if (option.type === "boolean" && given !== undefined && !/^(true|false)$/.test(given))
      throw fail(`--${name} takes no value`, quote(given));
    if ([value].flat().includes("")) throw fail(`--${name} needs a value`, "an empty text");
    if (Array.isArray(value) && option.array !== true)
      throw fail(`--${name} was given ${value.length} times; once is allowed`, `${value.length} values`);
    if (typeof value === "number" && Number.isNaN(value)) throw fail(`--${name} needs a number`, "text");
  }
}
