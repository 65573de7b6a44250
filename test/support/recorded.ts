// A terminal that keeps what a command says, with its colours as tags: `<red>violated</>`.
import { pc, uncolored } from "../../src/cli/colors.ts";
import type { Terminal } from "../../src/cli/terminal.ts";

const tags = Object.entries(pc).flatMap(([name, color]) => {
  const [begin = "", end = ""] = color("|").split("|");
  return [
    [begin, `<${name}>`],
    [end, "</>"],
  ] as const;
});

/** Returns a text with its colours as tags. */
export const tagged = (text: string): string =>
  tags.reduce((told, [code, tag]) => told.replaceAll(code, tag), text);

interface Recorded {
  readonly terminal: Terminal;
  /** Lines for people, without their colours. */
  readonly lines: string[];
  /** The same lines with colours as tags. */
  readonly tagged: string[];
  /** Results for machines, lines of results and documents. */
  readonly results: unknown[];
  /** Words of progress. */
  readonly progress: string[];
  /** Pictures, each in the place of the one before. */
  readonly pictures: string[][];
}

/** Makes a terminal that keeps what it is told. */
export function recorded(): Recorded {
  const kept: Recorded = {
    terminal: {
      say: (...lines) => {
        kept.lines.push(...lines.map(uncolored));
        kept.tagged.push(...lines.map(tagged));
      },
      redraw: (lines) => void kept.pictures.push(lines.map(tagged)),
      result: (value) => void kept.results.push(value),
      resultLine: (value) => void kept.results.push(value),
      document: (text) => void kept.results.push(text),
      progress: (text) => void kept.progress.push(uncolored(typeof text === "string" ? text : text())),
    },
    ...{ lines: [], tagged: [], results: [], progress: [], pictures: [] },
  };
  return kept;
}

/** Returns the lines that a function says, with colours as tags. */
export function saidBy(say: (terminal: Terminal) => void): string[] {
  const { terminal, tagged: lines } = recorded();
  say(terminal);
  return lines;
}
