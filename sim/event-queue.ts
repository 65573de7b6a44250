// The next events in virtual time: a hierarchical timing wheel over whole milliseconds. Events are integers, and their
// lists lie in one typed array. Nothing is allocated per event once the array has room for the most events that wait
// at once.
//
// Events of one instant come out in the order of scheduling. That order changes what a limiter decides, so that "same
// seed, same bytes" depends on it.
//
// An instant is a number of three digits to the base of 1024, after the number of its block (2^30 ms, 12 days). An
// event waits at the level of the highest digit in which its instant differs from now, in that digit's slot. At
// level 0, a slot is one millisecond:
//
//   now    ... 3 | 17 | 200 | 5
//   event  ... 3 | 17 | 200 | 9      level 0, slot 9: the last digit alone differs
//   event  ... 3 | 17 | 411 | 0      level 1, slot 411, until now comes to 3 | 17 | 411 | 0
//   event  ... 3 | 80 |   2 | 7      level 2, slot 80
//   event  ... 4 |  0 |   0 | 0      another block: far
//
// 1. Events of a level are earlier than events of higher levels. Within a level, lower slots are earlier, since the
//    digits in front are those of now. So the lowest used slot of the lowest used level has the next event. If that
//    slot is longer than a millisecond, now moves to its start, since no event is before it. Its events are placed
//    anew: they share one more digit with now, and come to a lower level.
// 2. Ties stay in order. An event's instant and now alone decide its slot, so that events of one instant are always in
//    one list; events are appended to a list, and taken from its front. A list that is placed anew is read from its
//    front, into slots without events of its instants: an event is put there directly only if it shares that digit
//    with now, and none did before this moment.
//
// A slot's list is a chain of chunks of seven events, each a line of the processor's cache. With a million events, a
// list of single events costs a cache miss for each event appended, placed anew or taken; a chain costs an eighth.

import { doublesInLines, intsOf } from "../src/engine/lines.ts";

/** Result of `pop` if no event is left. */
export const NOTHING = -1;

const BITS = 10;
const SLOTS = 1 << BITS;
const LEVELS = 3;
const BLOCK_MS = 2 ** (BITS * LEVELS);
/** Number of 32-bit words in a level's bitmap. */
const WORDS = SLOTS / 32;

/**
 * Number of integers per chunk: the position where the chain goes on (if free: the next free chunk), then an unused
 * one. Then come the events, each with its place in the block. A position gives its chunk and its place in the chunk.
 */
const CHUNK = 16;
const FIRST = 2;
const EVENT = 2;

/** Position that means no event and no free chunk, since the first chunk is never used. */
const NONE = 0;

const chunksOf = (count: number): Int32Array<ArrayBuffer> => intsOf(doublesInLines((count * CHUNK) / 2));

/** Returns the number of the lowest set bit. */
const lowestBit = (word: number): number => 31 - Math.clz32(word & -word);

/** Queue of events, each a 32-bit integer from 0, by their instants. */
export class EventQueue {
  #chunks: Int32Array<ArrayBuffer>;
  #free = NONE;
  /** End of the chunks that have been used so far. */
  #used = CHUNK;
  #size = 0;
  /** Position of the first event by slot, `NONE` if the list is empty, and position behind the last event. */
  readonly #heads = new Int32Array(LEVELS * SLOTS);
  readonly #ends = new Int32Array(LEVELS * SLOTS);
  /** Bits of the slots in use; `#levels` has a bit for each of these words that is not 0. */
  readonly #words = new Int32Array(LEVELS * WORDS);
  readonly #levels = new Int32Array(LEVELS);
  /** Events of later blocks, in the order of scheduling. */
  #far: { readonly timeMs: number; readonly event: number }[] = [];
  #blockMs: number;
  /** Now, ms from the start of its block. */
  #place: number;
  /** Place up to which `ahead` has told of events. */
  #seen = 0;

  /**
   * @param startMs earliest instant of an event, a safe integer >= 0
   * @param capacity number of events that fit at first, at any instants; the queue grows
   */
  constructor(startMs: number, capacity = 1024) {
    this.#blockMs = Math.floor(startMs / BLOCK_MS) * BLOCK_MS;
    this.#place = startMs - this.#blockMs;
    // The last chunk of each list may be nearly empty.
    const lists = Math.min(capacity, LEVELS * SLOTS);
    this.#chunks = chunksOf(2 + Math.ceil(capacity / 7) + lists);
  }

  get size(): number {
    return this.#size;
  }

  /** Instant of the event that was popped last. */
  get nowMs(): number {
    return this.#blockMs + this.#place;
  }

  /**
   * Schedules an event at now or later.
   * @param timeMs a safe integer
   * @throws RangeError if `timeMs` is in the past, or no safe integer
   */
  push(timeMs: number, event: number): void {
    const place = timeMs - this.#blockMs;
    if (place >= this.#place && place < BLOCK_MS && (place | 0) === place) this.#put(event, place);
    else if (Number.isSafeInteger(timeMs) && place >= BLOCK_MS) this.#far.push({ timeMs, event });
    else throw new RangeError(`an event at ${timeMs} cannot be scheduled at ${this.nowMs}`);
    this.#size += 1;
  }

  /** Removes and returns the next event, and moves now to its instant; `NOTHING` if there is none. */
  pop(): number {
    let slot = this.#place & (SLOTS - 1);
    if (this.#heads[slot] === NONE) {
      if (this.#size === 0) return NOTHING;
      this.#advance();
      slot = this.#place & (SLOTS - 1);
    }
    const at = this.#heads[slot] as number;
    const event = this.#chunks[at] as number;
    const next = this.#following(at, this.#ends[slot] as number);
    this.#heads[slot] = next;
    if (next === NONE) this.#clear(slot);
    this.#size -= 1;
    return event;
  }

  /** True if now has reached events that `ahead` has not told of. */
  get isAtUnseen(): boolean {
    return this.#place >= this.#seen;
  }

  /**
   * Copies the next events in order, without removing them: instant by instant until there are `enough`, or until the
   * current span of 1024 ms ends.
   * @param out takes the events from its start, as far as there is room
   * @returns number of copied events
   */
  ahead(out: Int32Array, enough: number): number {
    let count = 0;
    let slot = this.#place & (SLOTS - 1);
    for (; slot < SLOTS && count < enough; slot = this.#usedFrom(slot + 1))
      count = this.#tell(slot, out, count);
    this.#seen = (this.#place & -SLOTS) + slot;
    return count;
  }

  /** Adds a slot's events to `out`, behind the `told` ones. */
  #tell(slot: number, out: Int32Array, told: number): number {
    const end = this.#ends[slot] as number;
    let count = told;
    let at = this.#heads[slot] as number;
    while (at !== NONE && at !== end && count < out.length) {
      out[count++] = this.#chunks[at] as number;
      at += EVENT;
      if (at !== end && at % CHUNK === 0) at = this.#chunks[at - CHUNK] as number;
    }
    return count;
  }

  /** Returns the lowest used slot of level 0 from `slot` on; `SLOTS` if there is none. */
  #usedFrom(slot: number): number {
    let word = slot >>> 5;
    let bits = word < WORDS ? (this.#words[word] as number) & (-1 << (slot & 31)) : 0;
    while (bits === 0) {
      word += 1;
      if (word >= WORDS) return SLOTS;
      bits = this.#words[word] as number;
    }
    return word * 32 + lowestBit(bits);
  }

  /** Moves now to the instant of the next event, which must exist. */
  #advance(): void {
    while (this.#levels[0] === 0) {
      if (this.#levels[1] !== 0) this.#enter(1);
      else if (this.#levels[2] !== 0) this.#enter(2);
      else this.#enterBlock();
    }
    this.#place = (this.#place & -SLOTS) | this.#lowestSlot(0);
  }

  /** Moves now to the start of the lowest used slot of a level, and places its events anew. */
  #enter(level: number): void {
    const digit = this.#lowestSlot(level);
    const shift = level * BITS;
    // The digits in front stay, this digit becomes the slot's, and the digits behind become 0.
    this.#place = (this.#place & (-SLOTS << shift)) | (digit << shift);
    const slot = level * SLOTS + digit;
    const end = this.#ends[slot] as number;
    let at = this.#heads[slot] as number;
    this.#heads[slot] = NONE;
    this.#clear(slot);
    while (at !== NONE) {
      const event = this.#chunks[at] as number;
      const place = this.#chunks[at + 1] as number;
      at = this.#following(at, end);
      this.#put(event, place);
    }
  }

  /**
   * Moves now to the start of the first block that has events, and places these. It reads all far events, but only once
   * in 12 days of virtual time.
   */
  #enterBlock(): void {
    const far = this.#far;
    const firstMs = far.reduce((first, { timeMs }) => Math.min(first, timeMs), Number.MAX_SAFE_INTEGER);
    this.#blockMs = Math.floor(firstMs / BLOCK_MS) * BLOCK_MS;
    this.#place = 0;
    this.#seen = 0;
    this.#far = far.filter(({ timeMs }) => timeMs >= this.#blockMs + BLOCK_MS);
    for (const { timeMs, event } of far)
      if (timeMs < this.#blockMs + BLOCK_MS) this.#put(event, timeMs - this.#blockMs);
  }

  /** Puts an event of this block into its slot. */
  #put(event: number, place: number): void {
    const differing = place ^ this.#place;
    const level = differing < SLOTS ? 0 : differing < SLOTS * SLOTS ? 1 : 2;
    const digit = (place >>> (level * BITS)) & (SLOTS - 1);
    const slot = level * SLOTS + digit;
    const at = this.#heads[slot] === NONE ? this.#begin(slot, level, digit) : this.#room(slot);
    this.#chunks[at] = event;
    this.#chunks[at + 1] = place;
    this.#ends[slot] = at + EVENT;
  }

  /** Begins an empty list, and returns the position of its first event. */
  #begin(slot: number, level: number, digit: number): number {
    const word = level * WORDS + (digit >>> 5);
    this.#words[word] = (this.#words[word] as number) | (1 << (digit & 31));
    this.#levels[level] = (this.#levels[level] as number) | (1 << (digit >>> 5));
    const first = this.#take() + FIRST;
    this.#heads[slot] = first;
    return first;
  }

  /** Returns the position for one more event of a list. */
  #room(slot: number): number {
    const end = this.#ends[slot] as number;
    if (end % CHUNK !== 0) return end;
    const first = this.#take() + FIRST;
    this.#chunks[end - CHUNK] = first;
    return first;
  }

  /** Returns the position after an event that was read, `NONE` at the list's end; frees chunks read to their end. */
  #following(at: number, end: number): number {
    const next = at + EVENT;
    if (next !== end && next % CHUNK !== 0) return next;
    const chunk = at & -CHUNK;
    const following = next === end ? NONE : (this.#chunks[chunk] as number);
    this.#chunks[chunk] = this.#free;
    this.#free = chunk;
    return following;
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

  /** Returns the lowest digit whose slot is in use at a level; one must be. */
  #lowestSlot(level: number): number {
    const word = lowestBit(this.#levels[level] as number);
    return word * 32 + lowestBit(this.#words[level * WORDS + word] as number);
  }

  /** Returns a chunk, a freed one if there is one. */
  #take(): number {
    const chunk = this.#free;
    if (chunk !== NONE) {
      this.#free = this.#chunks[chunk] as number;
      return chunk;
    }
    if (this.#used === this.#chunks.length) this.#grow();
    this.#used += CHUNK;
    return this.#used - CHUNK;
  }

  #grow(): void {
    const larger = chunksOf((2 * this.#chunks.length) / CHUNK);
    larger.set(this.#chunks);
    this.#chunks = larger;
  }
}
