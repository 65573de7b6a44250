// What happens next in virtual time: a binary heap by time, then by order of scheduling. Ties come out first
// scheduled, first out: that order changes what a limiter decides, so it is part of what "same seed, same
// bytes" means.

/** Instants with what happens at them. */
export class EventQueue<T> {
  readonly #times: number[] = [];
  readonly #orders: number[] = [];
  readonly #events: T[] = [];
  #scheduled = 0;

  get size(): number {
    return this.#times.length;
  }

  /** The instant of the next event; `Infinity` where there is none. */
  get nextMs(): number {
    return this.#times[0] ?? Number.POSITIVE_INFINITY;
  }

  push(timeMs: number, event: T): void {
    const order = this.#scheduled++;
    let at = this.#times.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isAfter(parent, timeMs, order)) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#put(at, timeMs, order, event);
  }

  /** Takes the next event out; its instant was `nextMs`. */
  pop(): T | undefined {
    const first = this.#events[0];
    const timeMs = this.#times.pop();
    const order = this.#orders.pop();
    const event = this.#events.pop();
    const size = this.#times.length;
    if (timeMs === undefined || order === undefined || event === undefined || size === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && this.#isAfter(child, this.#times[child + 1], this.#orders[child + 1]))
        child += 1;
      if (this.#isAfter(child, timeMs, order)) break;
      this.#move(child, at);
      at = child;
    }
    this.#put(at, timeMs, order, event);
    return first;
  }

  #isAfter(at: number, timeMs = 0, order = 0): boolean {
    const time = this.#times[at] as number;
    return time > timeMs || (time === timeMs && (this.#orders[at] as number) > order);
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#times[from] as number, this.#orders[from] as number, this.#events[from] as T);
  }

  #put(at: number, timeMs: number, order: number, event: T): void {
    this.#times[at] = timeMs;
    this.#orders[at] = order;
    this.#events[at] = event;
  }
}
