// Colours. Each code carries a number that is drawn at the program's start. The terminal thus tells it from a code in a
// user's name. Words are always coloured, and a line that is printed keeps its colours only where they are wanted.
import { randomUUID } from "node:crypto";
import picocolors from "picocolors";
import { printable } from "../rules/printable.ts";

const mark = `\u001b${randomUUID()}`;
const codes = new RegExp(`${mark}(\\[\\d+m)`);
const allCodes = new RegExp(codes, "g");

/** Parts of the process that say whether colours are wanted. */
interface Surroundings {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: { readonly isTTY?: boolean };
}

/** Tells which colour the words of a command ask for: none by `--no-color` or `--color=false`; `null` if they do not say. */
export function askedColor(words: readonly string[]): boolean | null {
  if (words.includes("--no-color") || words.includes("--color=false")) return false;
  return words.includes("--color") || words.includes("--color=true") ? true : null;
}

/** Tells whether text is coloured. picocolors alone also colours pipes under `CI` or on Windows, and by `FORCE_COLOR=0`. */
export function isColored({ argv, env, stdout }: Surroundings): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = env;
  const asked = askedColor(argv);
  if (asked !== null) return asked;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return !["0", "false"].includes(FORCE_COLOR);
  return stdout.isTTY === true && TERM !== "dumb";
}

const hasColors = isColored(process);
const colors = picocolors.createColors(true);

function marked(color: (text: string) => string): (text: string) => string {
  const [begin = "", end = ""] = color("|")
    .split("|")
    .map((code) => code.replace("\u001b", mark));
  return (text) => (text === "" ? "" : `${begin}${text}${end}`);
}

/** Colours for the terminal's text. */
export const pc = {
  bold: marked(colors.bold),
  dim: marked(colors.dim),
  red: marked(colors.red),
  green: marked(colors.green),
  yellow: marked(colors.yellow),
  cyan: marked(colors.cyan),
} as const;

/** Returns text without its colours. */
export const uncolored = (text: string): string => text.replace(allCodes, "");

/** Most characters of a line for people. Only somebody's name makes a line longer. */
const lineMost = 2_000;

/**
 * Returns a line to print: only `pc`'s control characters remain, and the middle of a long line is left out.
 * @param isColored false if the line is printed without colours
 */
export function printedLine(text: string, isColored: boolean = hasColors): string {
  const bare = uncolored(text);
  if (bare.length > lineMost)
    return printable(`${bare.slice(0, lineMost / 2)} … ${bare.slice(-lineMost / 2)}`);
  if (!isColored) return printable(bare);
  return text
    .split(codes)
    .map((part, index) => (index % 2 === 1 ? `\u001b${part}` : printable(part)))
    .join("");
}
