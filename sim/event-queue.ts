// The next events in virtual time: a hierarchical timing wheel over whole milliseconds. Its events are integers
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
// 2. Ties stay in order. Where an event waits follows from its instant and now alone, so events of one instant are
//    always in one list; a list is appended to, and taken from the front. A list that is placed anew is walked from
//    its front, into slots that have nothing of its instants yet: an event is put there directly only if it shares
//    that digit with now, and none did before this moment.
//
// A slot's list is a chain of chunks of seven events, each a line of the processor's cache: with a million events,
// a list of single ones costs a miss for every event that is appended to, placed anew or taken; this one an eighth.

/** Result of `pop` where nothing is left. */
export const NOTHING = -1;

const BITS = 10;
const SLOTS = 1 << BITS;
const LEVELS = 3;
const BLOCK_MS = 2 ** (BITS * LEVELS);
/** 32-bit words of a level's bitmap. */
const WORDS = SLOTS / 32;

/**
 * Integers a chunk: where the chain goes on (of a free chunk: the next free one), nothing, then the events, each
 * with its place in the block. A position in the array tells its chunk and its place in the chunk.
 */
const CHUNK = 16;
const FIRST = 2;
const EVENT = 2;

/** No position of an event, and no free chunk: the first chunk is never used. */
const NONE = 0;

/** The number of the lowest bit that is set. */
const lowestBit = (word: number): number => 31 - Math.clz32(word & -word);

/** Events, each a 32-bit integer from 0, by their instants. */
export class EventQueue {
  #chunks: Int32Array<ArrayBuffer>;
  #free = NONE;
  /** End of the chunks that were ever in use. */
  #used = CHUNK;
  #size = 0;
  /** Of each slot's list the position of the first event, `NONE` where it is empty, and that behind the last. */
  readonly #heads = new Int32Array(LEVELS * SLOTS);
  readonly #ends = new Int32Array(LEVELS * SLOTS);
  /** A bit for each slot in use, and in `#levels` one for each of these words that is not 0. */
  readonly #words = new Int32Array(LEVELS * WORDS);
  readonly #levels = new Int32Array(LEVELS);
  /** Events of later blocks, in order of scheduling. */
  #far: { readonly timeMs: number; readonly event: number }[] = [];
  #blockMs: number;
  /** Now, ms from the start of its block. */
  #place: number;
  /** As a place: up to there `ahead` has told. */
  #seen = 0;

  /**
   * @param startMs no event is earlier; a safe integer >= 0
   * @param capacity how many events it has room for at first, however they lie; it grows
   */
  constructor(startMs: number, capacity = 1024) {
    this.#blockMs = Math.floor(startMs / BLOCK_MS) * BLOCK_MS;
    this.#place = startMs - this.#blockMs;
    // The last chunk of each list may be nearly empty.
    const lists = Math.min(capacity, LEVELS * SLOTS);
    this.#chunks = new Int32Array(CHUNK * (2 + Math.ceil(capacity / 7) + lists));
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
    if (place >= this.#place && place < BLOCK_MS && (place | 0) === place) this.#put(event, place);
    else if (Number.isSafeInteger(timeMs) && place >= BLOCK_MS) this.#far.push({ timeMs, event });
    else throw new RangeError(`an event at ${timeMs} cannot be scheduled at ${this.nowMs}`);
    this.#size += 1;
  }

  /** Takes the next event out and moves to its instant, `nowMs`; `NOTHING` where there is none. */
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

  /** True if now has come to what `ahead` has not told of. */
  get isAtUnseen(): boolean {
    return this.#place >= this.#seen;
  }

  /**
   * Tells what waits next, in order, without taking it out: so many instants that their events are `enough`, or
   * what is left of this second (of 1024 ms).
   * @param out filled from its start, as far as there is room
   * @returns how many were told
   */
  ahead(out: Int32Array, enough: number): number {
    let count = 0;
    let slot = this.#place & (SLOTS - 1);
    for (; slot < SLOTS && count < enough; slot = this.#usedFrom(slot + 1))
      count = this.#tell(slot, out, count);
    this.#seen = (this.#place & -SLOTS) + slot;
    return count;
  }

  /** Adds a slot's events to those that were told. */
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

  /** The lowest slot in use of level 0, from one on; `SLOTS` where there is none. */
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
   * Moves to the start of the first block that has events, and places them. It looks at all that is far, once in
   * 12 days of virtual time: beside what happens in between that is nothing.
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

  /** Puts an event of this block where it has to wait. */
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

  /** The position of the first event of a list that was empty. */
  #begin(slot: number, level: number, digit: number): number {
    const word = level * WORDS + (digit >>> 5);
    this.#words[word] = (this.#words[word] as number) | (1 << (digit & 31));
    this.#levels[level] = (this.#levels[level] as number) | (1 << (digit >>> 5));
    const first = this.#take() + FIRST;
    this.#heads[slot] = first;
    return first;
  }

  /** The position for one more event of a list. */
  #room(slot: number): number {
    const end = this.#ends[slot] as number;
    if (end % CHUNK !== 0) return end;
    const first = this.#take() + FIRST;
    this.#chunks[end - CHUNK] = first;
    return first;
  }

  /** The position behind that of an event which has been read, `NONE` at the list's end; frees chunks that are read. */
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

  /** The lowest digit whose slot is in use at a level; there is one. */
  #lowestSlot(level: number): number {
    const word = lowestBit(this.#levels[level] as number);
    return word * 32 + lowestBit(this.#words[level * WORDS + word] as number);
  }

  /** A chunk, one that was freed if there is one. */
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
    const larger = new Int32Array(2 * this.#chunks.length);
    larger.set(this.#chunks);
    this.#chunks = larger;
  }
}
