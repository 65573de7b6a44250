// Turns that work without end of its own leaves to others: to signals, the terminal, another thread.

/** Longest time without a turn, ms: nobody notices it, and a turn takes long beside a single call. */
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

  /** Says that a turn was left. */
  took(): void {
    this.#dueMs = this.#nowMs() + turnMs;
  }
}

/** Makes a listener that hands on the news of each turn, and awaits that; the others it passes over. */
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
