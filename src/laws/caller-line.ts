// The line of the user's file that called the kit: a failure that points there helps, one that points here does not.

/** `file:///x/y.test.js:5:1`, `/x/y.test.js:5:1`, with or without parentheses, at the end of a frame. */
const position = /\(?((?:file:\/\/)?(?:\/|[A-Za-z]:)[^()\n]*):(\d+):(\d+)\)?$/;

export class CallerLine {
  /** The frames from the caller's on, as they stand in a stack; empty where the runtime shows none. */
  readonly #frames: readonly string[];

  /** @param callee the function of the kit that was called */
  constructor(callee: (...args: never[]) => unknown) {
    const here: { stack?: string } = {};
    (Error as { captureStackTrace?: (target: object, above: unknown) => void }).captureStackTrace?.(
      here,
      callee,
    );
    this.#frames = (here.stack ?? "").split("\n").slice(1);
  }

  /** An error with these lines as its message, thrown by the caller's line. */
  failure(lines: readonly string[]): Error {
    const error = new Error(lines.join("\n"));
    error.stack = [`Error: ${error.message}`, ...this.#frames].join("\n");
    return error;
  }

  /**
   * Calls a function as if the caller's line did: node:test tells where `test` was called. So the call is compiled
   * under the caller's name, on its line; where code must not be made of text, the function is called from here.
   */
  call<A extends unknown[]>(target: (...args: A) => unknown, ...args: A): void {
    const [, file, line = "1", column = "1"] = position.exec(this.#frames[0] ?? "") ?? [];
    const there = file === undefined ? null : calledAt(file, Number(line), Number(column));
    if (there === null) target(...args);
    else there(target, args);
  }
}

type Call = (target: unknown, args: unknown[]) => void;

/** A call as code that stands at a place of a file; `null` where no code may be made of text. */
function calledAt(file: string, line: number, column: number): Call | null {
  // `new Function` puts two lines before the body.
  const before = "\n".repeat(Math.max(0, line - 3)) + " ".repeat(Math.max(0, column - 1));
  try {
    return new Function("target", "args", `${before}target(...args);\n//# sourceURL=${file}`) as Call;
  } catch {
    return null;
  }
}
