// The marks of all open windows, as rows of numbers in one array, some to a piece. An object for each mark would cost
// more than all the judging of most windows. A row has the length of a processor's cache line. Pieces of windows that
// are over are used again.
import type { Owner } from "../rules/rules.ts";
import type { Span } from "./clock.ts";
import type { CallRole, Mark } from "./mark.ts";

/** Places of a mark's numbers in its row. */
export const SENT = 0;
export const RECEIVED = 1;
export const END_FROM = 2;
export const END_TO = 3;
export const ROW = 8;
/** Places of its whole numbers, behind the numbers. `BITS` holds what is no number. */
export const LINE = 8;
export const COUNT = 9;
export const LIMIT = 10;
export const COST = 11;
export const ACTUAL = 12;
export const RESET = 13;
/** Points that its call may hold. The call leaves them charged, except as the bits say. */
export const HELD = 14;
export const BITS = 15;

export const rowsPerPiece = 4;
export const PIECE = rowsPerPiece * ROW;
/** Marks the absence of a piece, row or window. */
export const NONE = -1;

export const CLAMPED = 1;
export const SURE = 2;
export const HAS_COST = 4;
export const HAS_ACTUAL = 8;
/** Bit: the call leaves anything from 0 to `HELD` charged. */
const UP_TO = 16;
/** Bit: the call leaves `ACTUAL` charged. */
const SETTLED = 32;
/** Bit: the call asks for nothing, whatever its cost. */
const FREE = 64;
/** Bit: the mark says more than a row can, and is kept as an object. */
export const ODD = 128;
const roleShift = 8;
/** Mask of the role: all its bits are 0 if the role is `admitted`. */
export const NOT_ADMITTED = 3 << roleShift;
const roles: readonly CallRole[] = ["admitted", "refused", "status", "other"];
const ownerShift = 10;
const owners: readonly (Owner | null)[] = [null, "organization", "user"];

const roleOf = (bits: number): CallRole => roles[(bits >> roleShift) & 3] ?? "other";
const refuserOf = (bits: number): Owner | null => owners[bits >> ownerShift] ?? null;

/** Returns the bits of a role, and of the owner whose window refused. */
export const roleBits = (role: CallRole, refusedBy: Owner | null): number =>
  (roles.indexOf(role) << roleShift) | (owners.indexOf(refusedBy) << ownerShift);

/** Number of a window's marks, by role. */
export class RoleCounts {
  size = 0;
  admitted = 0;
  refused = 0;
  refusedByOrganization = 0;
  refusedByUser = 0;
  status = 0;

  /** @param counts counts to begin with */
  begin(counts: RoleCounts): void {
    this.size = counts.size;
    this.admitted = counts.admitted;
    this.refused = counts.refused;
    this.refusedByOrganization = counts.refusedByOrganization;
    this.refusedByUser = counts.refusedByUser;
    this.status = counts.status;
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

const isWhole = (value: number | null): boolean => value === null || (value | 0) === value;

/** Returns the bits of what a mark leaves charged; `ODD` if the bits cannot say it. */
export function chargeBits({
  least,
  most,
  held,
  actual,
}: Pick<Mark, "least" | "most" | "held" | "actual">): number {
  if (least === held && most === held) return 0;
  if (most === held && least === 0) return UP_TO;
  return least === most && least === actual ? SETTLED : ODD;
}

/** Returns the most that a row leaves charged. */
export const mostOf = (bits: number, held: number, actual: number): number =>
  (bits & SETTLED) === 0 ? held : actual;

/** Returns the least that a row leaves charged. @param most most that it leaves charged */
export const leastOf = (bits: number, most: number): number => ((bits & UP_TO) === 0 ? most : 0);

function bitsOf(mark: Mark): number {
  const { line, count, limit, cost, actual, reset, held, asked, resetAt, echoesUser } = mark;
  const seen = (mark.clamped ? CLAMPED : 0) | roleBits(mark.role, mark.refusedBy);
  const fits = [line, count, limit, cost, actual, reset, held].every(isWhole);
  if (!fits || resetAt !== null || echoesUser || (asked !== cost && asked !== 0)) return ODD | seen;
  return (
    (mark.sure ? SURE : 0) |
    (cost === null ? 0 : HAS_COST) |
    (actual === null ? 0 : HAS_ACTUAL) |
    (asked === 0 ? FREE : 0) |
    chargeBits(mark) |
    seen
  );
}

export class MarkRows {
  numbers = new Float64Array(64 * PIECE);
  wholes = new Int32Array(this.numbers.buffer);
  /** Next piece of each piece: of the same window, or of the free ones. */
  next = new Int32Array(64).fill(NONE);
  /** The mark that `write` writes next, as a row. */
  readonly given = new Float64Array(ROW);
  readonly givenWholes = new Int32Array(this.given.buffer);
  #given: Mark | null = null;
  readonly #odd = new Map<number, Mark>();
  #free = NONE;
  #used = 0;

  take(): number {
    const piece = this.#free;
    if (piece !== NONE) {
      this.#free = this.next[piece] as number;
      this.next[piece] = NONE;
      return piece;
    }
    if (this.#used === this.next.length) this.#grow();
    this.#used += 1;
    return this.#used - 1;
  }

  /** Takes back a chain of pieces. */
  release(first: number, last: number): void {
    if (this.#odd.size > 0)
      for (let piece = first; piece !== NONE; piece = this.next[piece] as number)
        for (let row = piece * PIECE; row < (piece + 1) * PIECE; row += ROW)
          if (((this.wholes[2 * row + BITS] as number) & ODD) !== 0) this.#odd.delete(row);
    this.next[last] = this.#free;
    this.#free = first;
  }

  /** Moves a row to the place of a forgotten one. */
  move(from: number, to: number): void {
    this.wholes.copyWithin(2 * to, 2 * from, 2 * (from + ROW));
    if (this.#odd.size === 0) return;
    const odd = this.#odd.get(from);
    if (odd === undefined) return;
    this.#odd.delete(from);
    this.#odd.set(to, odd);
  }

  forget(row: number): void {
    if (this.#odd.size > 0) this.#odd.delete(row);
  }

  /** Makes a mark the next one to be written. */
  give(mark: Mark): void {
    const { given, givenWholes } = this;
    given[SENT] = mark.sent;
    given[RECEIVED] = mark.received;
    given[END_FROM] = mark.end.from;
    given[END_TO] = mark.end.to;
    givenWholes[LINE] = mark.line;
    givenWholes[COUNT] = mark.count;
    givenWholes[LIMIT] = mark.limit;
    givenWholes[COST] = mark.cost ?? 0;
    givenWholes[ACTUAL] = mark.actual ?? 0;
    givenWholes[RESET] = mark.reset;
    givenWholes[HELD] = mark.held;
    givenWholes[BITS] = bitsOf(mark);
    this.#given = mark;
  }

  /** Writes the given mark. @param at a row's first place */
  write(at: number): void {
    const { numbers, wholes, given, givenWholes } = this;
    // The two kinds of numbers are copied separately: whole numbers that are moved as halves of a float may change.
    numbers[at + SENT] = given[SENT] as number;
    numbers[at + RECEIVED] = given[RECEIVED] as number;
    numbers[at + END_FROM] = given[END_FROM] as number;
    numbers[at + END_TO] = given[END_TO] as number;
    wholes[2 * at + LINE] = givenWholes[LINE] as number;
    wholes[2 * at + COUNT] = givenWholes[COUNT] as number;
    wholes[2 * at + LIMIT] = givenWholes[LIMIT] as number;
    wholes[2 * at + COST] = givenWholes[COST] as number;
    wholes[2 * at + ACTUAL] = givenWholes[ACTUAL] as number;
    wholes[2 * at + RESET] = givenWholes[RESET] as number;
    wholes[2 * at + HELD] = givenWholes[HELD] as number;
    wholes[2 * at + BITS] = givenWholes[BITS] as number;
    if (((givenWholes[BITS] as number) & ODD) !== 0 && this.#given !== null) this.#odd.set(at, this.#given);
  }

  /** Returns a mark as an object of its own. */
  at(place: number): Mark {
    return this.#odd.get(place) ?? copyOf(new RowMark(this, place));
  }

  /** Returns a mark that reads its row: it takes a few bytes, and is valid until the row is given up. */
  view(place: number): Mark {
    return this.#odd.get(place) ?? new RowMark(this, place);
  }

  /** The given mark, as an object of its own. */
  get givenMark(): Mark {
    return copyOf(new RowMark({ numbers: this.given, wholes: this.givenWholes }, 0));
  }

  #grow(): void {
    const numbers = new Float64Array(2 * this.numbers.length);
    numbers.set(this.numbers);
    this.numbers = numbers;
    this.wholes = new Int32Array(numbers.buffer);
    const next = new Int32Array(2 * this.next.length).fill(NONE);
    next.set(this.next);
    this.next = next;
  }
}

/** A mark that reads its row at each access. */
class RowMark implements Mark {
  readonly #rows: Pick<MarkRows, "numbers" | "wholes">;
  readonly #at: number;

  constructor(rows: Pick<MarkRows, "numbers" | "wholes">, at: number) {
    this.#rows = rows;
    this.#at = at;
  }

  #number(column: number): number {
    return this.#rows.numbers[this.#at + column] as number;
  }

  #whole(column: number): number {
    return this.#rows.wholes[2 * this.#at + column] as number;
  }

  get line(): number {
    return this.#whole(LINE);
  }

  get sent(): number {
    return this.#number(SENT);
  }

  get received(): number {
    return this.#number(RECEIVED);
  }

  get role(): CallRole {
    return roleOf(this.#whole(BITS));
  }

  get refusedBy(): Owner | null {
    return refuserOf(this.#whole(BITS));
  }

  get cost(): number | null {
    return (this.#whole(BITS) & HAS_COST) === 0 ? null : this.#whole(COST);
  }

  get asked(): number {
    return (this.#whole(BITS) & FREE) === 0 ? (this.cost ?? 0) : 0;
  }

  get actual(): number | null {
    return (this.#whole(BITS) & HAS_ACTUAL) === 0 ? null : this.#whole(ACTUAL);
  }

  get sure(): boolean {
    return (this.#whole(BITS) & SURE) !== 0;
  }

  get limit(): number {
    return this.#whole(LIMIT);
  }

  get count(): number {
    return this.#whole(COUNT);
  }

  get clamped(): boolean {
    return (this.#whole(BITS) & CLAMPED) !== 0;
  }

  get reset(): number {
    return this.#whole(RESET);
  }

  get resetAt(): null {
    return null;
  }

  get echoesUser(): boolean {
    return false;
  }

  get end(): Span {
    return { from: this.#number(END_FROM), to: this.#number(END_TO) };
  }

  get least(): number {
    return leastOf(this.#whole(BITS), this.most);
  }

  get most(): number {
    return mostOf(this.#whole(BITS), this.held, this.#whole(ACTUAL));
  }

  get held(): number {
    return this.#whole(HELD);
  }
}

const copyOf = (mark: Mark): Mark => ({
  line: mark.line,
  sent: mark.sent,
  received: mark.received,
  role: mark.role,
  refusedBy: mark.refusedBy,
  cost: mark.cost,
  asked: mark.asked,
  actual: mark.actual,
  sure: mark.sure,
  limit: mark.limit,
  count: mark.count,
  clamped: mark.clamped,
  reset: mark.reset,
  resetAt: null,
  echoesUser: false,
  end: mark.end,
  least: mark.least,
  most: mark.most,
  held: mark.held,
});
