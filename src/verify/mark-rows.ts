// The marks of all windows that are open: rows of numbers in one array, a few to a piece, since an object a mark would cost
// more to make and to keep than all the judging of most windows. Pieces of windows that are over are used again.
import type { Owner } from "../rules/rules.ts";
import type { CallRole, Mark } from "./mark.ts";

/** Places of a mark's numbers in its row; `BITS` holds what is no number. */
const LINE = 0;
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
export const ROW = 16;

export const rowsPerPiece = 4;
export const PIECE = rowsPerPiece * ROW;
/** No piece, row or window. */
export const NONE = -1;

export const CLAMPED = 1;
const SURE = 2;
const ECHOES_USER = 4;
const HAS_COST = 8;
const HAS_ACTUAL = 16;
const HAS_RESET_AT = 32;
const roleShift = 6;
/** No bit of these is set where the role is `admitted`. */
export const NOT_ADMITTED = 3 << roleShift;
const roles: readonly CallRole[] = ["admitted", "refused", "status", "other"];
const ownerShift = 8;
const owners: readonly (Owner | null)[] = [null, "organization", "user"];

const roleOf = (bits: number): CallRole => roles[(bits >> roleShift) & 3] ?? "other";
const refuserOf = (bits: number): Owner | null => owners[bits >> ownerShift] ?? null;

/** Number of a window's marks of each role. */
export class RoleCounts {
  size = 0;
  admitted = 0;
  refused = 0;
  refusedByOrganization = 0;
  refusedByUser = 0;
  status = 0;

  clear(): void {
    this.size = 0;
    this.admitted = 0;
    this.refused = 0;
    this.refusedByOrganization = 0;
    this.refusedByUser = 0;
    this.status = 0;
  }

  /** @param bits a row's `BITS` */
  addBits(bits: number): void {
    if ((bits & NOT_ADMITTED) !== 0) {
      this.add({ role: roleOf(bits), refusedBy: refuserOf(bits) });
      return;
    }
    this.size += 1;
    this.admitted += 1;
  }

  add({ role, refusedBy }: Pick<Mark, "role" | "refusedBy">): void {
    this.size += 1;
    if (role === "admitted") this.admitted += 1;
    else if (role === "status") this.status += 1;
    else if (role === "refused") {
      this.refused += 1;
      if (refusedBy === "organization") this.refusedByOrganization += 1;
      if (refusedBy === "user") this.refusedByUser += 1;
    }
  }
}

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
  numbers = new Float64Array(64 * PIECE);
  /** By piece: the one after it, of the same window or of those that are free. */
  next = new Int32Array(64).fill(NONE);
  #free = NONE;
  #used = 0;

  /** A piece that nobody uses. */
  take(): number {
    const piece = this.#free;
    if (piece !== NONE) {
      this.#free = this.next[piece] ?? NONE;
      this.next[piece] = NONE;
      return piece;
    }
    if (this.#used === this.next.length) this.#grow();
    this.#used += 1;
    return this.#used - 1;
  }

  /** Takes back pieces that hang together. */
  give(first: number, last: number): void {
    this.next[last] = this.#free;
    this.#free = first;
  }

  /** Writes what a mark says, and does not keep the mark. @param at a row's first place */
  write(at: number, mark: Mark): void {
    const { numbers } = this;
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
  }

  /** A mark as an object of its own. */
  at(place: number): Mark {
    const get = (column: number): number => this.numbers[place + column] ?? 0;
    const bits = get(BITS);
    return {
      line: get(LINE),
      sent: get(SENT),
      received: get(RECEIVED),
      role: roleOf(bits),
      refusedBy: refuserOf(bits),
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

  #grow(): void {
    const numbers = new Float64Array(2 * this.numbers.length);
    numbers.set(this.numbers);
    this.numbers = numbers;
    const next = new Int32Array(2 * this.next.length).fill(NONE);
    next.set(this.next);
    this.next = next;
  }
}
