// Finds the line of the user's file that called the kit, so that failures point there and not into the kit.

/** Position at the end of a stack frame: `file:///x/y.test.js:5:1` or `/x/y.test.js:5:1`, perhaps in parentheses. */
const position = /\(?((?:file:\/\/)?(?:\/|[A-Za-z]:)[^()\n]*):(\d+):(\d+)\)?$/;

export class CallerLine {
  /** Lines of the stack from the caller's on; empty if the runtime shows none. */
  readonly #frames: readonly string[];

  /** @param callee function of the kit that the user's code called */
  constructor(callee: (...args: never[]) => unknown) {
    const here: { stack?: string } = {};
    (Error as { captureStackTrace?: (target: object, above: unknown) => void }).captureStackTrace?.(
      here,
      callee,
    );
    this.#frames = (here.stack ?? "").split("\n").slice(1);
  }

  /** Returns an error with these lines as its message, whose stack begins at the caller's line. */
  failure(lines: readonly string[]): Error {
    const error = new Error(lines.join("\n"));
    error.stack = [`Error: ${error.message}`, ...this.#frames].join("\n");
    return error;
  }

  /**
   * Calls a function as if from the caller's line, since node:test tells where `test` was called. The call is
   * compiled under the name and line of the caller's file; if code from text is forbidden, the call is made here.
   */
  call<A extends unknown[]>(target: (...args: A) => unknown, ...args: A): void {
    const [, file, line = "1", column = "1"] = position.exec(this.#frames[0] ?? "") ?? [];
    const there = file === undefined ? null : calledAt(file, Number(line), Number(column));
    if (there === null) target(...args);
    else there(target, args);
  }
}

type Call = (target: unknown, args: unknown[]) => void;

/** Compiles a call that seems to stand at a place of a file; `null` if code from text is forbidden. */
function calledAt(file: string, line: number, column: number): Call | null {
  // `new Function` puts two lines before the body.
  const before = "\n".repeat(Math.max(0, line - 3)) + " ".repeat(Math.max(0, column - 1));
  try {
    return new Function("target", "args", `${before}target(...args);\n//# sourceURL=${file}`) as Call;
  } catch {
    return null;
  }
}
