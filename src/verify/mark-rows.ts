// A window's marks while it is open: numbers in one row after the other, since an object a mark would cost more to
// make and to keep than all the judging of most windows. Whoever has something to explain asks for objects.
import type { Owner } from "../rules/rules.ts";
import type { Mark, Role } from "./mark.ts";

/** Where in its row a mark's numbers stand; the last one holds what is no number, bit by bit. */
export const LINE = 0;
export const SENT = 1;
export const RECEIVED = 2;
export const COUNT = 3;
export const LEAST = 4;
export const MOST = 5;
export const HELD = 6;
export const BITS = 7;
const LIMIT = 8;
const COST = 9;
const ASKED = 10;
const ACTUAL = 11;
const RESET = 12;
const RESET_AT = 13;
const END_FROM = 14;
const END_TO = 15;
/** How many numbers a row has. */
export const ROW = 16;

export const CLAMPED = 1;
const SURE = 2;
const ECHOES_USER = 4;
const HAS_COST = 8;
const HAS_ACTUAL = 16;
const HAS_RESET_AT = 32;
const roleShift = 6;
const roles: readonly Role[] = ["admitted", "refused", "status", "other"];
const ownerShift = 8;
const owners: readonly (Owner | null)[] = [null, "organization", "user"];

/** The bit of a role in `MarkRows.roles`. */
export const roleBit: Readonly<Record<Role, number>> = { admitted: 1, refused: 2, status: 4, other: 8 };

function bitsOf(mark: Mark): number {
  const role = mark.role === "admitted" ? 0 : roles.indexOf(mark.role);
  const owner = mark.refusedBy === null ? 0 : mark.refusedBy === "organization" ? 1 : 2;
  return (
    (mark.clamped ? CLAMPED : 0) |
    (mark.sure ? SURE : 0) |
    (mark.echoesUser ? ECHOES_USER : 0) |
    (mark.cost === null ? 0 : HAS_COST) |
    (mark.actual === null ? 0 : HAS_ACTUAL) |
    (mark.resetAt === null ? 0 : HAS_RESET_AT) |
    (role << roleShift) |
    (owner << ownerShift)
  );
}

/** Arrays of windows that are over, for windows to come: making one costs more than filling it. */
const spares: number[][] = [];
const sparesMost = 4096;
/** A longer one is not worth keeping for the next window, which mostly is small. */
const spareLengthMost = 256 * ROW;

export class MarkRows {
  /** All rows, `ROW` numbers each; behind `size` rows there may be others' remains. */
  readonly numbers: number[] = spares.pop() ?? [];
  size = 0;
  /** Which roles there are, bit by bit. */
  roles = 0;
  /** The highest count that was shown, and the lowest before a charge. */
  highest = 0;
  lowest = Number.POSITIVE_INFINITY;
  /** The earliest sending. */
  firstSent = Number.POSITIVE_INFINITY;

  /** Keeps what a mark says, and not the mark. @returns its row */
  add(mark: Mark): number {
    const { numbers, size } = this;
    const at = size * ROW;
    if (at >= numbers.length) for (let column = 0; column < ROW; column++) numbers.push(0.5);
    numbers[at + LINE] = mark.line;
    numbers[at + SENT] = mark.sent;
    numbers[at + RECEIVED] = mark.received;
    numbers[at + COUNT] = mark.count;
    numbers[at + LEAST] = mark.least;
    numbers[at + MOST] = mark.most;
    numbers[at + HELD] = mark.held;
    numbers[at + BITS] = bitsOf(mark);
    numbers[at + LIMIT] = mark.limit;
    numbers[at + COST] = mark.cost ?? 0;
    numbers[at + ASKED] = mark.asked;
    numbers[at + ACTUAL] = mark.actual ?? 0;
    numbers[at + RESET] = mark.reset;
    numbers[at + RESET_AT] = mark.resetAt ?? 0;
    numbers[at + END_FROM] = mark.end.from;
    numbers[at + END_TO] = mark.end.to;
    this.size = size + 1;
    this.roles |= roleBit[mark.role];
    this.firstSent = Math.min(this.firstSent, mark.sent);
    this.highest = Math.max(this.highest, mark.count);
    this.lowest = Math.min(this.lowest, mark.count - mark.least);
    return size;
  }

  /** A mark as an object of its own. */
  at(row: number): Mark {
    const get = (column: number): number => this.numbers[row * ROW + column] ?? 0;
    const bits = get(BITS);
    return {
      line: get(LINE),
      sent: get(SENT),
      received: get(RECEIVED),
      role: roles[(bits >> roleShift) & 3] ?? "other",
      refusedBy: owners[bits >> ownerShift] ?? null,
      cost: (bits & HAS_COST) === 0 ? null : get(COST),
      asked: get(ASKED),
      actual: (bits & HAS_ACTUAL) === 0 ? null : get(ACTUAL),
      sure: (bits & SURE) !== 0,
      limit: get(LIMIT),
      count: get(COUNT),
      clamped: (bits & CLAMPED) !== 0,
      reset: get(RESET),
      resetAt: (bits & HAS_RESET_AT) === 0 ? null : get(RESET_AT),
      echoesUser: (bits & ECHOES_USER) !== 0,
      end: { from: get(END_FROM), to: get(END_TO) },
      least: get(LEAST),
      most: get(MOST),
      held: get(HELD),
    };
  }

  /** All marks in the order they came, as objects. */
  all(): Mark[] {
    return Array.from({ length: this.size }, (_, row) => this.at(row));
  }

  /** The marks that were sent before an instant. */
  sentBefore(instant: number): Mark[] {
    const found: Mark[] = [];
    if (this.firstSent >= instant) return found;
    for (let row = 0; row < this.size; row++)
      if ((this.numbers[row * ROW + SENT] ?? 0) < instant) found.push(this.at(row));
    return found;
  }

  /** Gives up all marks; nothing may be asked of these rows any more. */
  release(): void {
    this.size = 0;
    if (spares.length < sparesMost && this.numbers.length <= spareLengthMost) spares.push(this.numbers);
  }
}
