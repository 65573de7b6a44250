// The counts of one quota, in one buffer seen as doubles and as 32-bit integers.
//
//   record (32 bytes)   | endsAt | count | seenMs | link, profile |
//   as doubles          |    0   |   1   |    2   |               |
//   as integers         |        |       |        |   6  |   7    |
//
// Limits stand apart, in profiles: most counts of a quota share one, and it stays in the cache.

/** Doubles a record. */
export const DOUBLES = 4;
/** Integers a record. */
const INTS = 8;
/** End of the open window, ms since the epoch; 0 where none is open, and of a bucket. */
export const ENDS_AT = 0;
/** A window's count, or the parts that a bucket lacks. */
export const COUNT = 1;
/** The latest time that a call of this count was decided at (POLICY.md §2.1). */
export const SEEN = 2;
/** Row of another quota's count, which calls of this one touch, too: it is at hand without a look elsewhere. */
const LINK = 6;
/** Twice the place of the profile, and 1 more where the quota is enforced. */
const PROFILE = 7;

/** No window is open. No open one has this end: windows end after the epoch. */
export const NOT_OPEN = 0;

/** The numbers of an algorithm: what they mean is the algorithm's. */
export interface Profile {
  readonly limit: number;
  readonly first: number;
  readonly second: number;
}

/** Memory of a count, for snapshots. */
export interface CountState {
  readonly endsAt: number;
  readonly count: number;
  readonly seenMs: number;
}

export class CountTable {
  doubles = new Float64Array(0);
  #ints = new Int32Array(0);
  #used = 0;
  readonly #free: number[] = [];
  readonly #profiles: Profile[] = [];

  /** A fresh record; the row is the lowest never used, or one that was given back. */
  take(profile: Profile, enforced: boolean): number {
    const row = this.#free.pop() ?? this.#used++;
    this.begin(row, profile, enforced);
    return row;
  }

  give(row: number): void {
    this.#free.push(row);
  }

  /** Begins a fresh record in a row of the caller's choice, in a table of which no row was taken. */
  begin(row: number, profile: Profile, enforced: boolean): void {
    while (row * DOUBLES >= this.doubles.length) this.#grow();
    this.write(row, { endsAt: NOT_OPEN, count: 0, seenMs: 0 });
    this.#ints[row * INTS + PROFILE] = 2 * this.#profile(profile) + Number(enforced);
  }

  profile(row: number): Profile {
    return this.#profiles[(this.#ints[row * INTS + PROFILE] as number) >> 1] as Profile;
  }

  isEnforced(row: number): boolean {
    return ((this.#ints[row * INTS + PROFILE] as number) & 1) === 1;
  }

  setEnforced(row: number, enforced: boolean): void {
    const at = row * INTS + PROFILE;
    this.#ints[at] = ((this.#ints[at] as number) & ~1) + Number(enforced);
  }

  link(row: number): number {
    return this.#ints[row * INTS + LINK] as number;
  }

  setLink(row: number, link: number): void {
    this.#ints[row * INTS + LINK] = link;
  }

  read(row: number): CountState {
    const at = row * DOUBLES;
    const { doubles } = this;
    return {
      endsAt: doubles[at + ENDS_AT] as number,
      count: doubles[at + COUNT] as number,
      seenMs: doubles[at + SEEN] as number,
    };
  }

  write(row: number, { endsAt, count, seenMs }: CountState): void {
    const at = row * DOUBLES;
    this.doubles[at + ENDS_AT] = endsAt;
    this.doubles[at + COUNT] = count;
    this.doubles[at + SEEN] = seenMs;
  }

  #profile({ limit, first, second }: Profile): number {
    const known = this.#profiles.findIndex(
      (other) => other.limit === limit && other.first === first && other.second === second,
    );
    return known >= 0 ? known : this.#profiles.push({ limit, first, second }) - 1;
  }

  #grow(): void {
    const larger = new Float64Array(Math.max(64 * DOUBLES, this.doubles.length * 2));
    larger.set(this.doubles);
    this.doubles = larger;
    this.#ints = new Int32Array(larger.buffer);
  }
}
