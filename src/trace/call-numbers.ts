// Which calls a trace has held so far. Clients number their calls from 0 and their lines come almost in that
// order, so "all below n" and a few beyond remember a client in constant space, however long the trace.

interface Seen {
  /** Every number below this was seen. */
  below: number;
  /** The others that were seen; `null` while there are none. */
  beyond: Set<number> | null;
}

export class CallNumbers {
  readonly #clients = new Map<string, Seen>();

  /** @returns `false` where this pair was there before */
  add(client: string, call: number): boolean {
    const seen = this.#clients.get(client);
    if (seen === undefined) {
      this.#clients.set(
        client,
        call === 0 ? { below: 1, beyond: null } : { below: 0, beyond: new Set([call]) },
      );
      return true;
    }
    if (call === seen.below) {
      seen.below += 1;
      while (seen.beyond?.delete(seen.below)) seen.below += 1;
      return true;
    }
    if (call < seen.below || seen.beyond?.has(call)) return false;
    seen.beyond ??= new Set();
    seen.beyond.add(call);
    return true;
  }
}
