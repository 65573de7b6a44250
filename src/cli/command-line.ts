// Runs a command by its words: prints help or the version, or runs the verb with yargs's values. Throws errors.
import { version } from "../runs/version.ts";
import { programHelp, verbHelp } from "./help.ts";
import { rejectOddValues, unknownVerb, unparsed } from "./usage-mistake.ts";
import { dashed, endOfOptions, type Verb, withoutDashes, yargsCommand } from "./verb.ts";
import { allVerbs, verbNamed } from "./verbs.ts";
import { commandParser } from "./yargs.ts";

/**
 * Runs a command.
 * @param words the words after the program's name
 * @throws SpillwayError `USAGE`, and those of the verb
 */
export async function runCommand(words: readonly string[]): Promise<void> {
  const options = words.slice(0, endOfOptions(words));
  const isHelp = words[0] === "help" || options.includes("--help") || options.includes("-h");
  const [name] = (words[0] === "help" ? words.slice(1) : words).filter((word) => !word.startsWith("-"));
  const verb = name === undefined ? null : await verbNamed(name);
  if (name === undefined && isHelp) print(programHelp(await allVerbs(), process.stdout.columns));
  else if (name === undefined && words.includes("--version")) print(version);
  else if (verb === null) throw unknownVerb(name, await allVerbs());
  else if (isHelp) print(verbHelp(verb, process.stdout.columns));
  else await parse(verb, words);
}

/** Returns the words with the verb first: yargs would take it for the value of a switch before it. */
function verbFirst({ name }: Verb, words: readonly string[]): string[] {
  const place = words.indexOf(name);
  return [name, ...words.slice(0, place), ...words.slice(place + 1)];
}

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

async function parse(verb: Verb, words: readonly string[]): Promise<void> {
  await commandParser()
    .scriptName("spillway")
    .command(yargsCommand(verb))
    .strict()
    .middleware((argv) => rejectOddValues(verb, argv, words))
    .version(false)
    .help(false)
    .exitProcess(false)
    .fail((message, error?: Error) => {
      if (error !== undefined && error.name !== "YError") throw error;
      throw unparsed(dashed(message ?? error?.message ?? "these words cannot be used"), verb, words);
    })
    .parseAsync(withoutDashes(verbFirst(verb, words)));
}
