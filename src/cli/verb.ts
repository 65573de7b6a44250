// A verb of the command line as data: its operands, options and examples. yargs parses by it, `--help` shows it, and
// mistakes are explained by it.
import type { CommandModule, Options } from "yargs";
import { SpillwayError } from "../rules/errors.ts";

/** The command as it works in a clone and beside an installed package alike: neither has `spillway` on the PATH. */
export const program = "npx spillway";

/** An option as yargs takes it, with its argument's name. `demandOption` is checked here, not by yargs. */
export interface VerbOption extends Options {
  /** Name of the argument in help, in capitals: `TIME`. Absent for switches. */
  readonly argument?: string;
  /** Help: a verb phrase with the argument's name in it. */
  readonly describe: string;
  /** True if `--no-NAME` is an option, too. */
  readonly negatable?: boolean;
}

export type VerbOptions = Readonly<Record<string, VerbOption>>;

type Remarks = Omit<VerbOption, "type" | "argument" | "describe">;

/** Makes an option that takes an argument. */
const taking =
  <T extends "string" | "number">(type: T) =>
  <const R extends Remarks = Record<never, never>>(argument: string, describe: string, remarks?: R) =>
    ({ type, argument, describe, ...remarks }) as { type: T; argument: string; describe: string } & R;

/** Makers of options, by their values: texts, numbers, and flags, which take no argument. */
export const option = {
  text: taking("string"),
  number: taking("number"),
  flag: <const R extends Remarks = Record<never, never>>(describe: string, remarks?: R) =>
    ({ type: "boolean", describe, ...remarks }) as { type: "boolean"; describe: string } & R,
} as const;

/** A word without an option's name before it. */
export interface Operand {
  readonly name: string;
  /** Help: a noun phrase. */
  readonly describe: string;
  readonly required: boolean;
  /** True if the operand takes several words. */
  readonly many?: boolean;
}

/** A command after the program's name, and its purpose as a verb phrase. `$0` stands for the program. */
export type Example = readonly [command: string, purpose: string];

export interface Verb {
  readonly name: string;
  /** Help: a verb phrase of one line. */
  readonly summary: string;
  /** Paragraphs for which the options' lines have no room. */
  readonly notes: readonly string[];
  readonly operands: readonly Operand[];
  readonly options: VerbOptions;
  /** At least one example. The first is shown if a required word is missing. */
  readonly examples: readonly [Example, ...Example[]];
  /** Runs the verb with the values that yargs parsed. */
  run(argv: unknown): Promise<void> | void;
}

interface VerbInput<O extends VerbOptions, P extends readonly Operand[]>
  extends Pick<Verb, "name" | "summary"> {
  readonly notes?: readonly string[];
  readonly operands?: P;
  readonly options: O;
  /** At least one example: purposes by command. */
  readonly examples: Readonly<Record<string, string>>;
  handler(args: ArgsOf<O, P>): Promise<void> | void;
}

export function defineVerb<const O extends VerbOptions, const P extends readonly Operand[] = readonly []>({
  handler,
  operands,
  notes = [],
  examples: purposes,
  ...rest
}: VerbInput<O, P>): Verb {
  const [first, ...others] = Object.entries(purposes);
  if (first === undefined) throw new RangeError(`${rest.name} has no example`);
  const run = (argv: unknown) => handler(argv as ArgsOf<O, P>);
  return { ...rest, operands: operands ?? [], notes, examples: [first, ...others], run };
}

/** Options of every verb; help shows them last. */
export const commonOptions = {
  json: option.flag(
    "print the result as JSON on standard output, text on standard error; errors are JSON, too",
  ),
  debug: option.flag("print stack traces of errors"),
  color: option.flag("print colors, or none [default: on a terminal; NO_COLOR and FORCE_COLOR are honored]", {
    negatable: true,
  }),
} as const satisfies VerbOptions;

/** Returns an option as a user types it: `--duration TIME`, `--rules, --policy RULES`, `--[no-]color`. */
export function optionUsage(name: string, { alias = [], argument, negatable }: VerbOption): string {
  const names = [name, ...[alias].flat().filter((other) => other.length > 1)];
  const flags = names.map((each) => `--${negatable === true ? "[no-]" : ""}${each}`).join(", ");
  return argument === undefined ? flags : `${flags} ${argument}`;
}

/** Returns an operand as a user types it: `[SCENARIO]`, `FILES...`. */
export function operandUsage({ name, required, many = false }: Operand): string {
  const word = `${name.toUpperCase()}${many ? "..." : ""}`;
  return required ? word : `[${word}]`;
}

/** Returns a verb as a user types it: `npx spillway verify TRACE [options]`. */
export const verbUsage = ({ name, operands }: Verb): string =>
  [program, name, ...operands.map(operandUsage), "[options]"].join(" ");

type Camel<S> = S extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : S;

type ScalarOf<O extends VerbOption> = O extends { readonly choices: readonly (infer C)[] }
  ? C
  : O["type"] extends "boolean"
    ? boolean
    : O["type"] extends "number"
      ? number
      : string;

type ValueOf<O extends VerbOption> = O extends { readonly array: true }
  ? readonly ScalarOf<O>[]
  : ScalarOf<O>;

/** Names of options that always have a value. */
type Given<O> = {
  [N in keyof O]: O[N] extends { readonly default: unknown } | { readonly demandOption: true } ? N : never;
}[keyof O];

/** Values that yargs parses from options, by their names and by the same names in camel case. */
export type OptionArgs<O extends VerbOptions> = {
  readonly [N in Given<O> as N | (Camel<N> & string)]: ValueOf<O[N]>;
} & { readonly [N in Exclude<keyof O, Given<O>> as N | (Camel<N> & string)]?: ValueOf<O[N]> | undefined };

type WordsOf<P extends Operand> = P extends { readonly many: true } ? readonly string[] : string;
type OperandArgs<P extends Operand> = {
  readonly [One in P as One extends { readonly required: true } ? One["name"] : never]: WordsOf<One>;
} & {
  readonly [One in P as One extends { readonly required: true } ? never : One["name"]]?:
    | WordsOf<One>
    | undefined;
};

/** Values that yargs parses from a verb's operands and options. */
export type ArgsOf<O extends VerbOptions, P extends readonly Operand[] = readonly []> = OptionArgs<O> &
  OptionArgs<typeof commonOptions> &
  OperandArgs<P[number]>;

/** Stands for a `-` that begins no option. */
const dash = "\u0000";

/** Returns the place of `--`, which ends the options; the number of words if none does. */
export const endOfOptions = (words: readonly string[]): number =>
  words.includes("--") ? words.indexOf("--") : words.length;

/** Shields a lone `-`, which yargs would drop, and what begins with `-` behind `--`, where no options are any more. */
export function withoutDashes(words: readonly string[]): string[] {
  const end = endOfOptions(words);
  const shielded = (word: string, at: number): string =>
    word === "-" || at > end ? word.replace(/^-/, dash) : word;
  return words.map(shielded).filter((_, at) => at !== end);
}

/** Puts each lone `-` back. */
export const dashed = (text: string): string => text.replaceAll(dash, "-");

const dashedValue = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(dashedValue) : typeof value === "string" ? dashed(value) : value;

/** Returns the verb as yargs takes it. Its options are hidden; otherwise yargs lays out an unused help text in each run. */
export function yargsCommand(verb: Verb): CommandModule {
  const { name, operands, options } = verb;
  const common: VerbOptions = commonOptions;
  const words = operands.map((operand) => `[${operand.name}${operand.many === true ? ".." : ""}]`);
  return {
    command: [name, ...words].join(" "),
    describe: false,
    builder(yargs) {
      for (const { name: operand, many = false } of operands)
        yargs.positional(operand, { type: "string", array: many, hidden: true });
      for (const [option, { argument, demandOption: _, ...rest }] of Object.entries({
        ...options,
        ...common,
      }))
        yargs.option(option, { ...rest, ...(argument !== undefined && takesValue(rest)), hidden: true });
      return yargs;
    },
    async handler(parsed) {
      const argv = Object.fromEntries(
        Object.entries(parsed).map(([name, value]) => [name, dashedValue(value)]),
      );
      requireGiven(verb, argv);
      await verb.run(argv);
    },
  };
}

/** Makes a list take one value at a time, so that the next word is an operand again. */
const takesValue = ({ array }: Options): Options => (array === true ? { nargs: 1 } : { requiresArg: true });

function requireGiven(verb: Verb, argv: Readonly<Record<string, unknown>>): void {
  const isMissing = (name: string): boolean => {
    const value = argv[name];
    return value === undefined || (Array.isArray(value) && value.length === 0);
  };
  const missing = [
    ...verb.operands
      .filter(({ name, required }) => required && isMissing(name))
      .map(({ name, describe }) => ({ path: name.toUpperCase(), allowed: describe })),
    ...Object.entries(verb.options)
      .filter(([name, { demandOption }]) => demandOption === true && isMissing(name))
      .map(([name, option]) => {
        const path = optionUsage(name, option);
        return { path, allowed: `${path}, to ${option.describe}` };
      }),
  ];
  if (missing.length === 0) return;
  const names = missing.map(({ path }) => path).join(" and ");
  throw new SpillwayError("USAGE", `${verb.name} needs ${names}`, {
    problems: missing.map((problem) => ({ ...problem, got: "nothing" })),
    hint: exampleCommand(verb.examples[0]),
  });
}

/** Returns an example's command as it can be pasted. */
export const exampleCommand = ([command]: Example): string => command.replaceAll("$0", program);
