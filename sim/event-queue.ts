// What happens next in virtual time: a hierarchical timing wheel over whole milliseconds. Its events are integers
// and its lists run through one typed array, so that nothing is allocated per event once it has grown to the most
// events that ever wait at once.
//
// Ties come out first scheduled, first out: that order changes what a limiter decides, so it is part of what "same
// seed, same bytes" means.
//
// An instant is a number of three digits to the base of 1024, with the number of its block (2^30 ms, 12 days) in
// front. An event waits at the level of the highest digit in which its instant differs from now, in the slot of
// that digit; at level 0, a slot is one millisecond:
//
//   now    ... 3 | 17 | 200 | 5
//   event  ... 3 | 17 | 200 | 9      level 0, slot 9: the last digit alone differs
//   event  ... 3 | 17 | 411 | 0      level 1, slot 411, until now comes to 3 | 17 | 411 | 0
//   event  ... 3 | 80 |   2 | 7      level 2, slot 80
//   event  ... 4 |  0 |   0 | 0      another block: far
//
// 1. Whatever waits at a level is earlier than whatever waits above it, and slots of a level are earlier the lower
//    they are, since the digits in front are those of now. So the next event is in the lowest slot in use of the
//    lowest level in use. Where that is no millisecond yet, now moves to the start of that slot, which has nothing
//    before it, and its events are placed anew: they share one more digit with now, and come to a lower level.
// 2. Ties stay in order. Events of one instant are placed by that instant and now alone, so they wait in one list
//    all the time; a list is appended to, and taken from the front. A list that is placed anew is walked from its
//    front, into slots in which nothing of this instant can be yet: to be placed there directly, an event of this
//    instant would have to share that digit with now, and it does only from that moment on.

/** What `pop` returns where nothing is left. */
export const NOTHING = -1;

const BITS = 10;
const SLOTS = 1 << BITS;
const LEVELS = 3;
const BLOCK_MS = 2 ** (BITS * LEVELS);
/** The list of what is in later blocks: behind the lists of all slots. */
const FAR = LEVELS * SLOTS;
/** 32-bit words of a level's bitmap. */
const WORDS = SLOTS / 32;

/** Integers a record, and what they are. A free record's `NEXT` is the next free one. */
const RECORD = 4;
const NEXT = 0;
const EVENT = 1;
/** The instant: its place in its block, and its block. */
const PLACE = 2;
const BLOCK = 3;

/** No record. */
const NONE = -1;

/** The position of the lowest bit that is set. */
const lowestBit = (word: number): number => 31 - Math.clz32(word & -word);

/** Events, each an integer from 0 to 2^31 - 1, by their instants. */
export class EventQueue {
  #records: Int32Array<ArrayBuffer>;
  #free = NONE;
  /** Records that were ever in use. */
  #used = 0;
  #size = 0;
  /** First and last record of each slot's list. */
  readonly #heads = new Int32Array(FAR + 1).fill(NONE);
  readonly #tails = new Int32Array(FAR + 1).fill(NONE);
  /** A bit for each slot in use, and in `#levels` one for each of these words that is not 0. */
  readonly #words = new Int32Array(LEVELS * WORDS);
  readonly #levels = new Int32Array(LEVELS);
  #block: number;
  #blockMs: number;
  /** Now, ms from the start of its block. */
  #place: number;

  /**
   * @param startMs no event is earlier; a safe integer >= 0
   * @param capacity how many events it has room for at first; it grows
   */
  constructor(startMs: number, capacity = 1024) {
    this.#block = Math.floor(startMs / BLOCK_MS);
    this.#blockMs = this.#block * BLOCK_MS;
    this.#place = startMs - this.#blockMs;
    this.#records = new Int32Array(RECORD * capacity);
  }

  get size(): number {
    return this.#size;
  }

  /** Now: the instant of the event that was popped last. */
  get nowMs(): number {
    return this.#blockMs + this.#place;
  }

  /**
   * Schedules an event, now at the earliest.
   * @param timeMs a safe integer
   * @throws RangeError where it is in the past, or none
   */
  push(timeMs: number, event: number): void {
    const place = timeMs - this.#blockMs;
    if (place >= this.#place && place < BLOCK_MS && (place | 0) === place) {
      this.#put(this.#record(event, place, 0), place);
      return;
    }
    if (!Number.isSafeInteger(timeMs) || place < this.#place)
      throw new RangeError(`an event at ${timeMs} cannot be scheduled at ${this.nowMs}`);
    const block = Math.floor(timeMs / BLOCK_MS);
    this.#append(FAR, this.#record(event, timeMs - block * BLOCK_MS, block));
  }

  /** Takes the next event out and moves to its instant, `nowMs`; `NOTHING` where there is none. */
  pop(): number {
    let slot = this.#place & (SLOTS - 1);
    if (this.#heads[slot] === NONE) {
      if (this.#size === 0) return NOTHING;
      this.#advance();
      slot = this.#place & (SLOTS - 1);
    }
    const record = this.#heads[slot] as number;
    const at = record * RECORD;
    const next = this.#records[at + NEXT] as number;
    this.#heads[slot] = next;
    if (next === NONE) this.#clear(slot);
    this.#records[at + NEXT] = this.#free;
    this.#free = record;
    this.#size -= 1;
    return this.#records[at + EVENT] as number;
  }

  /** Moves to the instant of the next event; there is one. */
  #advance(): void {
    while (this.#levels[0] === 0) {
      if (this.#levels[1] !== 0) this.#enter(1);
      else if (this.#levels[2] !== 0) this.#enter(2);
      else this.#enterBlock();
    }
    this.#place = (this.#place & -SLOTS) | this.#lowestSlot(0);
  }

  /** Moves to the start of the lowest slot in use of a level, and places its events anew. */
  #enter(level: number): void {
    const digit = this.#lowestSlot(level);
    const shift = level * BITS;
    // The digits in front stay, this one is the slot's, those behind are 0.
    this.#place = (this.#place & (-SLOTS << shift)) | (digit << shift);
    const slot = level * SLOTS + digit;
    let record = this.#heads[slot] as number;
    this.#heads[slot] = NONE;
    this.#clear(slot);
    while (record !== NONE) {
      const at = record * RECORD;
      const next = this.#records[at + NEXT] as number;
      this.#put(record, this.#records[at + PLACE] as number);
      record = next;
    }
  }

  /**
   * Moves to the start of the first block that has events, and places them. It looks at all that is far, once in
   * 12 days of virtual time: next to what happens in between that is nothing.
   */
  #enterBlock(): void {
    let record = this.#heads[FAR] as number;
    let first = Number.MAX_SAFE_INTEGER;
    for (let far = record; far !== NONE; far = this.#records[far * RECORD + NEXT] as number)
      first = Math.min(first, this.#records[far * RECORD + BLOCK] as number);
    this.#block = first;
    this.#blockMs = first * BLOCK_MS;
    this.#place = 0;
    this.#heads[FAR] = NONE;
    while (record !== NONE) {
      const at = record * RECORD;
      const next = this.#records[at + NEXT] as number;
      if (this.#records[at + BLOCK] === first) this.#put(record, this.#records[at + PLACE] as number);
      else this.#append(FAR, record);
      record = next;
    }
  }

  /** Puts a record of this block where it has to wait. */
  #put(record: number, place: number): void {
    const differing = place ^ this.#place;
    const level = differing < SLOTS ? 0 : differing < SLOTS * SLOTS ? 1 : 2;
    const digit = (place >>> (level * BITS)) & (SLOTS - 1);
    const word = level * WORDS + (digit >>> 5);
    this.#words[word] = (this.#words[word] as number) | (1 << (digit & 31));
    this.#levels[level] = (this.#levels[level] as number) | (1 << (digit >>> 5));
    this.#append(level * SLOTS + digit, record);
  }

  #append(slot: number, record: number): void {
    this.#records[record * RECORD + NEXT] = NONE;
    if (this.#heads[slot] === NONE) this.#heads[slot] = record;
    else this.#records[(this.#tails[slot] as number) * RECORD + NEXT] = record;
    this.#tails[slot] = record;
  }

  /** Marks a slot as not in use. */
  #clear(slot: number): void {
    const word = slot >>> 5;
    const left = (this.#words[word] as number) & ~(1 << (slot & 31));
    this.#words[word] = left;
    if (left !== 0) return;
    const level = slot >>> BITS;
    this.#levels[level] = (this.#levels[level] as number) & ~(1 << (word & 31));
  }

  /** The lowest digit whose slot is in use at a level; there is one. */
  #lowestSlot(level: number): number {
    const word = lowestBit(this.#levels[level] as number);
    return word * 32 + lowestBit(this.#words[level * WORDS + word] as number);
  }

  /** A record, filled in, one that was freed if there is one. */
  #record(event: number, place: number, block: number): number {
    let record = this.#free;
    if (record === NONE) {
      record = this.#used++;
      if (this.#used * RECORD > this.#records.length) this.#grow();
    } else this.#free = this.#records[record * RECORD + NEXT] as number;
    this.#size += 1;
    const at = record * RECORD;
    this.#records[at + EVENT] = event;
    this.#records[at + PLACE] = place;
    this.#records[at + BLOCK] = block;
    return record;
  }

  #grow(): void {
    const larger = new Int32Array(2 * this.#records.length);
    larger.set(this.#records);
    this.#records = larger;
  }
}
