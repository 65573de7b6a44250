// One client in real time: asks its state machine what to send, sends it when it is due, tells it the answers.
// It runs in k6 and, for its tests, in Node: both have promises and `setTimeout`.
import {
  ANSWERED,
  type Behaviour,
  ClientOut,
  type ClientRecord,
  createEvent,
  type PlannedCall,
  type RefusalPolicy,
  step,
} from "../scenario/client.ts";
import type { Reading } from "./answer.ts";

export interface Driven {
  readonly behaviour: Behaviour;
  readonly onRefused: RefusalPolicy;
  readonly record: ClientRecord;
  /** When the client was meant to begin, ms since the epoch. */
  readonly startMs: number;
  /** When the run ends: what is due then or later is dropped. */
  readonly endMs: number;
}

/** What a client is driven in: k6, or a test. */
export interface World {
  /** Ms since the epoch. */
  now(): number;
  /** Sends at once; resolves when the answer is there or is given up. */
  send(call: Readonly<PlannedCall>): Promise<Reading>;
}

/**
 * Drives a client to its own end: nothing planned, nothing on the way. So a run needs to cut nobody off, and
 * every call has its line (k6 counts an iteration that it cuts off nowhere).
 *
 * Rejects where the behaviour throws or asks for what cannot be (the simulator refuses the same), once the calls
 * on the way are answered; nothing more is sent then.
 */
export function drive(client: Driven, world: World): Promise<void> {
  return new Promise((resolve, reject) => new Drive(client, world, resolve, reject).begin());
}

class Drive {
  readonly #client: Driven;
  readonly #world: World;
  readonly #resolve: () => void;
  readonly #reject: (thrown: unknown) => void;
  readonly #event = createEvent();
  readonly #out = new ClientOut();
  /** Calls that are planned or on the way. */
  #open = 0;
  /** It stopped or failed: it is told nothing more. */
  #over = false;
  #failure: { readonly thrown: unknown } | null = null;

  constructor(client: Driven, world: World, resolve: () => void, reject: (thrown: unknown) => void) {
    this.#client = client;
    this.#world = world;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#event.nowMs = client.startMs;
    this.#event.endMs = client.endMs;
  }

  begin(): void {
    this.#turn();
    this.#settle();
  }

  /** Lets the client act on `#event`. */
  #turn(): void {
    if (this.#over) return;
    const { behaviour, onRefused, record } = this.#client;
    try {
      step(behaviour, onRefused, record, this.#event, this.#out);
      const wanted = this.#open + this.#out.count;
      if (wanted > behaviour.inFlightMost)
        throw new RangeError(
          `${wanted} calls planned or on the way, its inFlightMost is ${behaviour.inFlightMost}`,
        );
      for (const call of this.#out.calls.slice(0, this.#out.count)) this.#plan({ ...call });
    } catch (thrown) {
      this.#fail(thrown);
    }
    this.#over ||= this.#out.stopped;
  }

  /** @throws RangeError where no such call can be sent */
  #plan(call: PlannedCall): void {
    const { behaviour, endMs } = this.#client;
    if (!Number.isSafeInteger(call.atMs)) throw new RangeError(`a call at ${call.atMs}, which is no time`);
    if (behaviour.calls[call.template] === undefined)
      throw new RangeError(`call ${call.template}, its calls are 0 to ${behaviour.calls.length - 1}`);
    const nowMs = this.#world.now();
    if (Math.max(call.atMs, nowMs) >= endMs) return;
    this.#open += 1;
    if (call.atMs <= nowMs) this.#launch(call);
    else setTimeout(() => this.#launch(call), call.atMs - nowMs);
  }

  #launch(call: PlannedCall): void {
    const failed = (thrown: unknown): void => {
      this.#fail(thrown);
      this.#close();
    };
    if (this.#failure === null)
      this.#world.send(call).then((reading) => this.#answered(call, reading), failed);
    else this.#close();
  }

  #answered(call: PlannedCall, reading: Reading): void {
    this.#open -= 1;
    const event = this.#event;
    event.kind = ANSWERED;
    event.template = call.template;
    event.cost = this.#client.behaviour.calls[call.template]?.cost ?? 0;
    event.page = call.page;
    event.attempt = call.attempt;
    event.wantedMs = call.wantedMs;
    event.delayMs = call.delayMs;
    Object.assign(event, reading);
    this.#turn();
    this.#settle();
  }

  #fail(thrown: unknown): void {
    this.#failure ??= { thrown };
    this.#over = true;
  }

  #close(): void {
    this.#open -= 1;
    this.#settle();
  }

  #settle(): void {
    if (this.#open > 0) return;
    if (this.#failure === null) this.#resolve();
    else this.#reject(this.#failure.thrown);
  }
}
