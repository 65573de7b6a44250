// Checks across lines: the order of the lines, and that no call occurs twice.
import { quote, type SpillwayError } from "../rules/errors.ts";
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

// The calls that a trace has held so far. A client's numbers come almost in order, so that few ranges suffice for any
// length: one, and one more for each number that was left out.

/** Numbers from `from` up to, but not including, `to`. */
interface Range {
  from: number;
  to: number;
}

export class CallNumbers {
  /** Highest range of each client. */
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  /** Lower ranges of each client, lowest first, none touching another. */
  readonly #lower = new Map<number, Range[]>();

  /** Adds a call. @param client small number @returns `false` if this pair was there before */
  add(client: number, call: number): boolean {
    if (this.#to[client] !== call) return this.#addElsewhere(client, call);
    this.#to[client] = call + 1;
    return true;
  }

  #addElsewhere(client: number, call: number): boolean {
    while (client >= this.#to.length) {
      this.#from.push(0);
      this.#to.push(0);
    }
    const from = this.#from[client] as number;
    const to = this.#to[client] as number;
    if (call < from) return this.#addBelow(client, call, from);
    if (call < to) return false;
    if (call > to && from < to) {
      const lower = this.#lower.get(client);
      if (lower === undefined) this.#lower.set(client, [{ from, to }]);
      else lower.push({ from, to });
    }
    if (call > to) this.#from[client] = call;
    this.#to[client] = call + 1;
    return true;
  }

  #addBelow(client: number, call: number, highest: number): boolean {
    const lower = this.#lower.get(client) ?? [];
    let index = lower.length;
    while (index > 0 && call < (lower[index - 1]?.to ?? 0)) index -= 1;
    const next = lower[index];
    if (next !== undefined && call >= next.from) return false;
    const previous = lower[index - 1];
    const joinsPrevious = previous?.to === call;
    if (next === undefined && call + 1 === highest) {
      this.#from[client] = joinsPrevious ? previous.from : call;
      if (joinsPrevious) lower.pop();
    } else if (joinsPrevious) {
      previous.to = call + 1;
      if (next?.from === call + 1) {
        previous.to = next.to;
        lower.splice(index, 1);
      }
    } else if (next?.from === call + 1) next.from = call;
    else lower.splice(index, 0, { from: call, to: call + 1 });
    if (lower.length === 0) this.#lower.delete(client);
    else this.#lower.set(client, lower);
    return true;
  }
}
