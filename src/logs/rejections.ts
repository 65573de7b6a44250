// Rows that could not be read: counted, and the first of them kept to be shown.
import type { UnreadRow } from "./rows.ts";

const examplesMost = 5;
/** Greatest length of a shown line, characters. */
const textMost = 160;

/** The counts of logs while they are read. */
export class LogTally {
  read = 0;
  unread = 0;
  /** Of `unread`: last lines without their end, cut by whoever copied the log. */
  cut = 0;
  readonly examples: UnreadRow[] = [];
  /** Sentences that people should know about the logs. */
  readonly notes: string[] = [];

  /** @param text returns the line without tokens; called only if the line is kept */
  reject(file: string, line: number, why: string, text: () => string): void {
    this.unread += 1;
    // One example of each reason tells more than five of the first one.
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
