// Reads the memory that the next events will need, before they happen. With many clients nearly all of this memory is
// outside the cache. A single event would wait several times, since one place names the next. Reads for many events
// at once, place by place, let these waits overlap. The reads change nothing.
import * as Client from "./client-table.ts";
import type { NumericDeployment } from "./deployment.ts";
import { KIND_BITS, SEND, START } from "./event-kinds.ts";
import type { EventQueue } from "./event-queue.ts";
import type { PlannedTable } from "./planned-table.ts";

/** Number of clients below which a look costs more than it saves, since most is in the cache. */
const few = 65_536;
/** Number of events at which a look ends, after the whole instant that reaches it; at most `most` events. */
const enough = 64;
const most = 1024;

export class LookAhead {
  readonly #queue: EventQueue;
  readonly #clients: Client.ClientTable;
  readonly #planned: PlannedTable;
  readonly #deployment: NumericDeployment;
  readonly #events = new Int32Array(most);
  readonly #near = new Int32Array(most);
  /** Sum of all numbers read, so that no compiler leaves the reads out. */
  #sum = 0;

  constructor(
    queue: EventQueue,
    clients: Client.ClientTable,
    planned: PlannedTable,
    deployment: NumericDeployment,
  ) {
    this.#queue = queue;
    this.#clients = clients;
    this.#planned = planned;
    this.#deployment = deployment;
  }

  /** Reads for the next events. Call it when now reaches events not yet looked at (`EventQueue.isAtUnseen`). */
  look(): void {
    if (this.#clients.ints.length < few * Client.INTS) return;
    const count = this.#lookAtPlanned(this.#queue.ahead(this.#events, enough));
    const [callers, near] = [this.#events, this.#near];
    const { ints } = this.#clients;
    for (let at = 0; at < count; at++)
      callers[at] = ints[(near[at] as number) * Client.INTS + Client.CALLER] as number;
    let sum = 0;
    for (let at = 0; at < count; at++) {
      sum ^= this.#clients.record(near[at] as number).random0;
      sum ^= this.#deployment.lookAt(callers[at] as number);
    }
    this.#sum ^= sum;
  }

  /** Puts the clients that begin or send into `#near`, and returns their number. Other events find all in the cache. */
  #lookAtPlanned(events: number): number {
    let count = 0;
    for (let at = 0; at < events; at++) {
      const event = this.#events[at] as number;
      const kind = event & ((1 << KIND_BITS) - 1);
      const subject = event >>> KIND_BITS;
      if (kind === START) this.#near[count++] = subject;
      else if (kind === SEND) this.#near[count++] = this.#planned.clientOf(subject);
    }
    return count;
  }
}
