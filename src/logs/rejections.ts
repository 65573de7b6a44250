// Rows that could not be read: counted, the first of them kept to be shown.
import type { UnreadRow } from "./rows.ts";

const examplesMost = 5;
/** A line that is shown is cut behind so many characters. */
const textMost = 160;

/** The counts of logs while they are read. */
export class LogTally {
  read = 0;
  unread = 0;
  readonly examples: UnreadRow[] = [];

  /** @param text gives the line, tokens struck out; only asked for where it is kept */
  reject(file: string, line: number, why: string, text: () => string): void {
    this.unread += 1;
    // Of each reason one example is more than five of the first.
    const alike = this.examples.filter((each) => each.why === why).length;
    if (this.examples.length >= examplesMost || alike >= 2) return;
    const whole = text();
    this.examples.push({
      file,
      line,
      why,
      text: whole.length <= textMost ? whole : `${whole.slice(0, textMost)}...`,
    });
  }
}
