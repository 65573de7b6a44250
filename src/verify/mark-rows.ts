// A window's marks while it is open: rows of numbers, since an object a mark would cost more to make and to keep than
// all the judging of most windows. Whoever has something to explain asks for objects. All windows' rows lie in one
// array, a few to a piece; the pieces of windows that are over are used again.
import type { Owner } from "../rules/rules.ts";
import type { Mark, Role } from "./mark.ts";

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
const ROW = 16;

const rowsPerPiece = 4;
const PIECE = rowsPerPiece * ROW;
const NONE = -1;

export const CLAMPED = 1;
const SURE = 2;
const ECHOES_USER = 4;
const HAS_COST = 8;
const HAS_ACTUAL = 16;
const HAS_RESET_AT = 32;
const roleShift = 6;
/** No bit of these is set where the role is `admitted`. */
export const NOT_ADMITTED = 3 << roleShift;
const roles: readonly Role[] = ["admitted", "refused", "status", "other"];
const ownerShift = 8;
const owners: readonly (Owner | null)[] = [null, "organization", "user"];

const opens = ({ least, most, clamped }: Mark): boolean => least > 0 && least === most && !clamped;

/** Number of a window's marks of each role. */
export class RoleCounts {
  size = 0;
  admitted = 0;
  refused = 0;
  refusedByOrganization = 0;
  refusedByUser = 0;
  status = 0;

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

/** The rows of all windows that are open. */
export class MarkStore {
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

  #grow(): void {
    const numbers = new Float64Array(2 * this.numbers.length);
    numbers.set(this.numbers);
    this.numbers = numbers;
    const next = new Int32Array(2 * this.next.length).fill(NONE);
    next.set(this.next);
    this.next = next;
  }
}

/** One window's. */
export class MarkRows {
  readonly #store: MarkStore;
  #first = NONE;
  #last = NONE;
  size = 0;
  readonly roles = new RoleCounts();
  /** The highest count that was shown, and the lowest before a charge. */
  highest = 0;
  lowest = Number.POSITIVE_INFINITY;
  /** The row of the mark that shows its own charge alone, the first that was sent. */
  #openerRow = NONE;
  #openerSent = Number.POSITIVE_INFINITY;
  /** The earliest sending. */
  firstSent = Number.POSITIVE_INFINITY;

  constructor(store: MarkStore) {
    this.#store = store;
  }

  /** Keeps what a mark says, and not the mark. @returns where, for `at` */
  add(mark: Mark): number {
    const inPiece = this.size % rowsPerPiece;
    if (inPiece === 0) this.#append();
    const { numbers } = this.#store;
    const at = this.#last * PIECE + inPiece * ROW;
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
    this.size += 1;
    this.roles.add(mark);
    this.firstSent = Math.min(this.firstSent, mark.sent);
    this.highest = Math.max(this.highest, mark.count);
    this.lowest = Math.min(this.lowest, mark.count - mark.least);
    if (mark.count === mark.least && mark.sent < this.#openerSent && opens(mark)) {
      this.#openerRow = at;
      this.#openerSent = mark.sent;
    }
    return at;
  }

  #append(): void {
    const piece = this.#store.take();
    if (this.#first === NONE) this.#first = piece;
    else this.#store.next[this.#last] = piece;
    this.#last = piece;
  }

  /** The mark whose charge is the window's first, by its count; `null` where none shows it. */
  get opener(): Mark | null {
    return this.#openerRow === NONE ? null : this.at(this.#openerRow);
  }

  /** A mark as an object of its own. */
  at(place: number): Mark {
    const { numbers } = this.#store;
    const get = (column: number): number => numbers[place + column] ?? 0;
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

  /** Copies one column, in the order the marks came; `into` has room for `size`. */
  copy(column: number, into: Float64Array): void {
    const { numbers, next } = this.#store;
    let row = 0;
    for (let piece = this.#first; row < this.size; piece = next[piece] ?? NONE)
      for (let at = piece * PIECE + column; at < (piece + 1) * PIECE && row < this.size; at += ROW, row++)
        into[row] = numbers[at] ?? 0;
  }

  /** All marks in the order they came, as objects. */
  all(): Mark[] {
    return this.sentBefore(Number.POSITIVE_INFINITY);
  }

  /** The marks that were sent before an instant. */
  sentBefore(instant: number): Mark[] {
    const found: Mark[] = [];
    if (this.firstSent >= instant) return found;
    const { numbers, next } = this.#store;
    let row = 0;
    for (let piece = this.#first; row < this.size; piece = next[piece] ?? NONE)
      for (let inPiece = 0; inPiece < rowsPerPiece && row < this.size; inPiece++, row++) {
        const place = piece * PIECE + inPiece * ROW;
        if ((numbers[place + SENT] ?? 0) < instant) found.push(this.at(place));
      }
    return found;
  }

  /** Gives up all marks; nothing may be asked of these rows any more. */
  release(): void {
    if (this.#first !== NONE) this.#store.give(this.#first, this.#last);
    this.#first = NONE;
    this.#last = NONE;
    this.size = 0;
  }
}
