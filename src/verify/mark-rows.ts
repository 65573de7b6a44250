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

export class MarkRows {
  /** All rows, `ROW` numbers each. */
  readonly numbers: number[] = [];
  /** Which roles there are, bit by bit. */
  roles = 0;

  get size(): number {
    return this.numbers.length / ROW;
  }

  /** Keeps what a mark says, and not the mark. @returns its row */
  add(mark: Mark): number {
    const row = this.size;
    this.roles |= roleBit[mark.role];
    this.numbers.push(
      mark.line,
      mark.sent,
      mark.received,
      mark.count,
      mark.least,
      mark.most,
      mark.held,
      bitsOf(mark),
      mark.limit,
      mark.cost ?? 0,
      mark.asked,
      mark.actual ?? 0,
      mark.reset,
      mark.resetAt ?? 0,
      mark.end.from,
      mark.end.to,
    );
    return row;
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

  get limit(): number {
    return this.numbers[LIMIT] ?? 0;
  }

  /** All marks in the order they came, as objects. */
  all(): Mark[] {
    return Array.from({ length: this.size }, (_, row) => this.at(row));
  }

  /** The marks that were sent before an instant. */
  sentBefore(instant: number): Mark[] {
    const { numbers } = this;
    const found: Mark[] = [];
    for (let row = 0, at = SENT; at < numbers.length; row++, at += ROW)
      if ((numbers[at] ?? 0) < instant) found.push(this.at(row));
    return found;
  }

  /** Forgets all but the first mark. */
  forget(): void {
    this.numbers.length = Math.min(ROW, this.numbers.length);
  }
}
