// Turns that unbounded work leaves to others: to signals, the terminal, another thread.

/** Longest time without a turn, ms. Nobody notices it, and a turn takes long compared with a single call. */
const turnMs = 50;

/** Tells when the next turn is due. */
export class Turns {
  readonly #nowMs: () => number;
  #dueMs: number;

  /** @param nowMs a clock */
  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
    this.#dueMs = nowMs() + turnMs;
  }

  get areDue(): boolean {
    return this.#nowMs() >= this.#dueMs;
  }

  /** Notes that a turn was left. */
  took(): void {
    this.#dueMs = this.#nowMs() + turnMs;
  }
}

/** Returns a listener that passes on one event at each turn, and awaits that; it drops the others. */
export function inTurns<News>(
  tell: (news: News) => Promise<void>,
): (news: News) => Promise<void> | undefined {
  const turns = new Turns();
  return (news) => {
    if (!turns.areDue) return undefined;
    turns.took();
    return tell(news);
  };
}
