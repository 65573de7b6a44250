// k6's lines on standard error, in bounded memory: a full disk gives one line for each lost record, and each client
// that is cut off gives one.

const distinctMost = 100;
const lineMost = 1_000;

/** Lines that are no complaints: the run accounts for each elsewhere. */
const expected: readonly RegExp[] = [
  /^$/,
  // Time-outs and broken connections: the trace has a line for each.
  /^Request Failed$/,
  // Clients that were cut off have no end line.
  /^setTimeout \d+ was stopped because the VU iteration was interrupted$/,
  /^thresholds on metrics? .* (?:has|have) been crossed$/,
  /^test run was aborted because k6 received/,
  /^No script iterations fully finished/,
  // A run of two or three seconds has no dashboard.
  /^The test run was short, report generation was skipped/,
];

/** Counts equal lines, and keeps the first hundred kinds. */
export class ErrorLines {
  /** Number of lines that k6 could not write to the raw file. */
  linesFailed = 0;
  count = 0;
  readonly #kinds = new Map<string, number>();
  #rest = "";

  add(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = (lines.pop() ?? "").slice(0, lineMost);
    for (const line of lines) this.#addLine(line.trimEnd());
  }

  /** Returns all kinds, one line for each, with its count. */
  text(): string {
    return [...this.#all()].map(([line, times]) => `${times} x ${line}\n`).join("");
  }

  /** Returns the lines that the run does not account for elsewhere. */
  complaints(): string[] {
    return [...this.#all()]
      .filter(([line]) => !expected.some((pattern) => pattern.test(line)))
      .map(([line, times]) => (times === 1 ? line : `${line} (${times} times)`));
  }

  #all(): Map<string, number> {
    if (this.#rest !== "") this.#addLine(this.#rest);
    this.#rest = "";
    return this.#kinds;
  }

  #addLine(line: string): void {
    this.count += 1;
    // k6's logger writes this for each line that it cannot write, and goes on.
    if (line.startsWith("Failed to write to log")) this.linesFailed += 1;
    const kind = line.slice(0, lineMost);
    const times = this.#kinds.get(kind);
    if (times !== undefined || this.#kinds.size < distinctMost) this.#kinds.set(kind, (times ?? 0) + 1);
  }
}
