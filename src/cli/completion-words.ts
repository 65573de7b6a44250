// Words that a user may type at each place of a command: from the verbs' own data, and names that options take.
import { faultNames } from "../faults/choice.ts";
import { builtInScenarios } from "../load/scenario-file.ts";
import { presets as policyPresets } from "../policy/presets.ts";
import { figureKinds, judgedFigureKinds } from "../rules/figures.ts";
import { limiterLawNames } from "../rules/laws.ts";
import { presets } from "../rules/presets.ts";
import { commonOptions, option, type Verb, type VerbOption } from "./verb.ts";

/** Values that an argument takes: known words, and paths. */
export interface CompletionValues {
  readonly words: readonly string[];
  readonly paths: "none" | "files" | "folders";
}

export interface CompletedOption {
  /** Flags as a user types them: `--out`, `-o`; `--color`, `--no-color`. */
  readonly flags: readonly string[];
  readonly describe: string;
  readonly isRepeatable: boolean;
  /** Name of the argument, and the values it takes; `null` for a switch. */
  readonly argument: { readonly name: string; readonly values: CompletionValues } | null;
}

export interface CompletedVerb {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  readonly operands: readonly {
    readonly name: string;
    readonly many: boolean;
    readonly values: CompletionValues;
  }[];
}

/** Returns the words that may follow each verb. */
export async function completedVerbs(verbs: readonly Verb[]): Promise<CompletedVerb[]> {
  const known = await knownValues();
  const help = { help: option.flag("print the help of this verb", { alias: "h" }) } as const;
  return verbs.map(({ name, summary, operands, options }) => ({
    name,
    summary,
    options: Object.entries({ ...options, ...commonOptions, ...help }).map(([option, data]) =>
      completedOption(option, data, known),
    ),
    operands: operands.map((operand) => ({
      name: operand.name.toUpperCase(),
      many: operand.many === true,
      values: known[operand.name] ?? none,
    })),
  }));
}

const none: CompletionValues = { words: [], paths: "none" };
const files: CompletionValues = { words: [], paths: "files" };
const folders: CompletionValues = { words: [], paths: "folders" };
const only = (words: readonly string[]): CompletionValues => ({ words, paths: "none" });

/** Returns values by the name of an operand or an argument; by the option's name if its argument's is ambiguous. */
async function knownValues(): Promise<Readonly<Record<string, CompletionValues>>> {
  const bounds = only(Object.keys({ ...figureKinds, ...judgedFigureKinds }));
  const scenarios: CompletionValues = { words: await builtInScenarios(), paths: "files" };
  return {
    scenario: scenarios,
    trace: files,
    files,
    folder: folders,
    dir: folders,
    shell: only(["bash", "zsh"]),
    FILE: files,
    DIR: folders,
    RULES: { words: Object.keys({ ...presets, ...policyPresets }), paths: "files" },
    SCENARIO: scenarios,
    BOUND: bounds,
    "NAME[=RATE]": only(["list", ...faultNames]),
    "--law": only(limiterLawNames),
  };
}

function completedOption(
  name: string,
  { alias = [], argument, array, choices, describe, negatable }: VerbOption,
  known: Readonly<Record<string, CompletionValues>>,
): CompletedOption {
  const negated = negatable === true ? [`--no-${name}`] : [];
  const flags = [
    `--${name}`,
    ...negated,
    ...[alias].flat().map((other) => (other.length === 1 ? `-${other}` : `--${other}`)),
  ];
  const chosen = choices === undefined ? undefined : only(choices.map(String));
  return {
    flags,
    describe,
    isRepeatable: array === true,
    argument:
      argument === undefined
        ? null
        : { name: argument, values: chosen ?? known[`--${name}`] ?? known[argument] ?? none },
  };
}
