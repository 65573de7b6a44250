// Looks at what the next events will ask for, before they do. With many clients nearly all of that is far away in
// memory; an event that comes to it by itself waits several times, one place telling the next. Looked at for many
// events at once, place by place, the waits pass side by side. It changes nothing.
import * as Client from "./client-table.ts";
import type { NumericDeployment } from "./deployment.ts";
import { KIND_BITS, SEND, START } from "./event-kinds.ts";
import type { EventQueue } from "./event-queue.ts";
import type { PlannedTable } from "./planned-table.ts";

/** Fewer clients ask for little, which is near anyhow. */
const few = 8192;
/** So many events are looked at, and those of the instant with which they are so many. */
const enough = 64;
const most = 1024;

export class LookAhead {
  readonly #queue: EventQueue;
  readonly #clients: Client.ClientTable;
  readonly #planned: PlannedTable;
  readonly #deployment: NumericDeployment;
  readonly #events = new Int32Array(most);
  readonly #near = new Int32Array(most);
  /** Of all that was read: no compiler may leave the reading out. */
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

  /** To be called when now comes to events that were not looked at (`EventQueue.isAtUnseen`). */
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

  /** `#near` has the clients that begin or send then. What their calls ask for later on is near by then. */
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
