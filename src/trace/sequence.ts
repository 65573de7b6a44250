// Checks across lines: the order of the lines, and that no call occurs twice.
import { quote, type SpillwayError } from "../rules/errors.ts";
import { CallNumbers } from "./call-numbers.ts";
import type { Names } from "./names.ts";
import { traceError } from "./trace-error.ts";

/** Greatest distance of a line from the order of `received`, ms (FORMAT.md). */
export const outOfOrderMsMost = 120_000;

export class SequenceChecks {
  readonly #names: Names;
  readonly #anyOrder: boolean;
  readonly #numbers = new CallNumbers();
  #latest = Number.NEGATIVE_INFINITY;

  constructor(names: Names, anyOrder: boolean) {
    this.#names = names;
    this.#anyOrder = anyOrder;
  }

  /** @throws SpillwayError `TRACE_INVALID` if this line cannot come next */
  add(line: number, received: number, client: number, call: number): void {
    if (received > this.#latest) this.#latest = received;
    else if (!this.#anyOrder && received < this.#latest - outOfOrderMsMost)
      throw this.#outOfOrder(line, received);
    if (this.#numbers.add(client, call)) return;
    throw traceError("a call stands in this trace twice", line, {
      member: "call",
      got: `${quote(this.#names.text(client))} ${call} again`,
      allowed: "each pair of client and call once",
    });
  }

  #outOfOrder(line: number, received: number): SpillwayError {
    return traceError(
      "this trace is not in the order of received",
      line,
      {
        member: "received",
        got: `${received}, ${(this.#latest - received) / 1000} s before a line above`,
        allowed: `lines in the order of received, give or take ${outOfOrderMsMost / 1000} s`,
      },
      "npx spillway verify --sort puts it in order first, in memory",
    );
  }
}
