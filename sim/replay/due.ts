// The events that are due later, by time: a binary heap over two typed arrays. (The simulator's wheel is faster, but it
// tells the next event only by moving to it, and here the log decides how far time moves.)

export class DueHeap {
  #times = new Float64Array(64);
  #items = new Int32Array(64);
  #size = 0;

  /** Time of the first event, ms; infinity if there is none. */
  get firstMs(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : (this.#times[0] as number);
  }

  push(timeMs: number, item: number): void {
    if (this.#size === this.#times.length) this.#grow();
    let at = this.#size++;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if ((this.#times[parent] as number) <= timeMs) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#times[at] = timeMs;
    this.#items[at] = item;
  }

  /** Takes the first event out. There must be one. */
  pop(): number {
    const first = this.#items[0] as number;
    this.#size -= 1;
    const timeMs = this.#times[this.#size] as number;
    const item = this.#items[this.#size] as number;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= this.#size) break;
      const right = left + 1;
      const isRight = right < this.#size && (this.#times[right] as number) < (this.#times[left] as number);
      const child = isRight ? right : left;
      if ((this.#times[child] as number) >= timeMs) break;
      this.#move(child, at);
      at = child;
    }
    this.#times[at] = timeMs;
    this.#items[at] = item;
    return first;
  }

  #move(from: number, to: number): void {
    this.#times[to] = this.#times[from] as number;
    this.#items[to] = this.#items[from] as number;
  }

  #grow(): void {
    const times = new Float64Array(2 * this.#times.length);
    times.set(this.#times);
    this.#times = times;
    const items = new Int32Array(2 * this.#items.length);
    items.set(this.#items);
    this.#items = items;
  }
}
