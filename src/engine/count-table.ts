// Counts, in one buffer that is seen as doubles and as 32-bit integers.
//
//   record (32 bytes)   | link, profile | endsAt | count | seenMs |
//   as doubles          |               |    1   |   2   |    3   |
//   as integers         |   0  |   1    |        |       |        |
//
// Limits stand apart, in profiles: most counts of a quota share one, which stays in the cache.
import { doublesInLines, intsOf } from "./lines.ts";

/** Number of doubles in a record, and in a profile. */
export const DOUBLES = 4;
export const INTS = 8;
/** End of the open window, ms since the epoch; 0 if none is open, and for a bucket. */
export const ENDS_AT = 1;
/** Count of a window, or the parts that a bucket lacks. */
export const COUNT = 2;
/** Latest time at which a call of this count was decided, ms since the epoch (POLICY.md §2.1). */
export const SEEN = 3;
export const LINK = 0;
/** Twice the profile's number, plus 1 if the quota is enforced; below 0 if the record has no count. */
export const PROFILE = 1;

/** End of a window that is not open. No open window has this end: windows end after the epoch. */
export const NOT_OPEN = 0;

/** Numbers of an algorithm, which gives them their meaning. */
export interface CountProfile {
  readonly limit: number;
  readonly first: number;
  readonly second: number;
}

/** State of a count, for snapshots. */
export interface CountState {
  readonly endsAt: number;
  readonly count: number;
  readonly seenMs: number;
}

export class CountTable {
  doubles = doublesInLines(64 * DOUBLES);
  ints = intsOf(this.doubles);
  /** Profiles, four doubles each: three numbers, and one unused. */
  profiles = new Float64Array(4 * DOUBLES);
  #known = 0;

  begin(record: number, profile: CountProfile, enforced: boolean): void {
    this.reserve(record + 1);
    this.write(record, { endsAt: NOT_OPEN, count: 0, seenMs: 0 });
    this.ints[record * INTS + PROFILE] = 2 * this.#profile(profile) + Number(enforced);
  }

  /** Marks a record as having no count. */
  clear(record: number): void {
    this.ints[record * INTS + PROFILE] = -1;
  }

  has(record: number): boolean {
    return (this.ints[record * INTS + PROFILE] as number) >= 0;
  }

  /** Makes room for a number of records. */
  reserve(records: number): void {
    let size = this.doubles.length;
    while (records * DOUBLES > size) size *= 2;
    if (size === this.doubles.length) return;
    const larger = doublesInLines(size);
    larger.set(this.doubles);
    this.doubles = larger;
    this.ints = intsOf(larger);
  }

  /** Returns the place of a record's numbers in `profiles`. */
  profileAt(record: number): number {
    return ((this.ints[record * INTS + PROFILE] as number) >> 1) * DOUBLES;
  }

  limit(record: number): number {
    return this.profiles[this.profileAt(record)] as number;
  }

  isEnforced(record: number): boolean {
    return ((this.ints[record * INTS + PROFILE] as number) & 1) === 1;
  }

  setEnforced(record: number, enforced: boolean): void {
    const at = record * INTS + PROFILE;
    this.ints[at] = ((this.ints[at] as number) & ~1) + Number(enforced);
  }

  read(record: number): CountState {
    const { doubles } = this;
    const at = record * DOUBLES;
    const [endsAt, count, seenMs] = [ENDS_AT, COUNT, SEEN].map((member) => doubles[at + member] as number);
    return { endsAt, count, seenMs } as CountState;
  }

  write(record: number, { endsAt, count, seenMs }: CountState): void {
    const at = record * DOUBLES;
    this.doubles[at + ENDS_AT] = endsAt;
    this.doubles[at + COUNT] = count;
    this.doubles[at + SEEN] = seenMs;
  }

  #profile({ limit, first, second }: CountProfile): number {
    const profiles = this.profiles;
    for (let place = 0; place < this.#known; place++) {
      const at = place * DOUBLES;
      if (profiles[at] === limit && profiles[at + 1] === first && profiles[at + 2] === second) return place;
    }
    if ((this.#known + 1) * DOUBLES > profiles.length) {
      this.profiles = new Float64Array(2 * profiles.length);
      this.profiles.set(profiles);
    }
    this.profiles.set([limit, first, second], this.#known * DOUBLES);
    return this.#known++;
  }
}

/**
 * Returns the place of a link among the integers of a block. The first links lie in the records of counts, the others
 * in records of links alone.
 */
export const linkAt = (counts: number, link: number): number =>
  link < counts ? link * INTS + LINK : counts * INTS + link - counts;

/** Returns the number of records that a block of counts and links takes. */
export const blockSize = (counts: number, links: number): number =>
  counts + Math.ceil(Math.max(0, links - counts) / INTS);
