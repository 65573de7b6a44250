// One client in real time: asks its state machine what to send, sends it when it is due, tells it the answers.
// It runs in k6 and, for its tests, in Node: both have promises and `setTimeout`.
import {
  ANSWERED,
  type Behaviour,
  type ClientEvent,
  ClientOut,
  type ClientRecord,
  createEvent,
  type PlannedCall,
  type RefusalPolicy,
  step,
} from "../scenario/client.ts";

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
  /** Waits, doing nothing else. */
  sleep(ms: number): void;
  /** Sends, and waits for the answer, or until it is given up; `event` is told of it. */
  request(call: Readonly<PlannedCall>, event: ClientEvent): void;
  /** Sends; later, once, tells `event` of the answer and calls `answered`, or `failed` with what went wrong. */
  send(
    call: Readonly<PlannedCall>,
    event: ClientEvent,
    answered: () => void,
    failed: (thrown: unknown) => void,
  ): void;
}

/**
 * Drives a client to its own end: nothing planned, nothing on the way. So a run needs to cut nobody off, and
 * every call has its line (k6 counts an iteration that it cuts off nowhere).
 *
 * A client that has one call at a time waits for each answer: promises would cost k6 a quarter of its
 * throughput. Rejects where the behaviour throws or asks for what cannot be (the simulator refuses the same),
 * once the calls on the way are answered; nothing more is sent then.
 */
export async function drive(client: Driven, world: World): Promise<void> {
  if (client.behaviour.inFlightMost === 1) driveInTurn(client, world);
  else await new Promise<void>((resolve, reject) => new Drive(client, world, resolve, reject).begin());
}

function startEvent({ startMs, endMs }: Driven): ClientEvent {
  const event = createEvent();
  event.nowMs = startMs;
  event.endMs = endMs;
  return event;
}

/** Asks the client what to send. @throws whatever the behaviour throws; RangeError for what cannot be sent */
function ask(client: Driven, event: ClientEvent, out: ClientOut, open: number): void {
  const { behaviour } = client;
  step(behaviour, client.onRefused, client.record, event, out);
  if (open + out.count > behaviour.inFlightMost)
    throw new RangeError(
      `${open + out.count} calls planned or on the way, its inFlightMost is ${behaviour.inFlightMost}`,
    );
  for (let n = 0; n < out.count; n++) {
    const call = out.calls[n];
    if (call === undefined || !Number.isSafeInteger(call.atMs))
      throw new RangeError(`a call at ${call?.atMs}, which is no time`);
    if (behaviour.calls[call.template] === undefined)
      throw new RangeError(`call ${call.template}, its calls are 0 to ${behaviour.calls.length - 1}`);
  }
}

/** Tells of the call that was answered; the answer itself is the world's. */
function tellCall(event: ClientEvent, { behaviour }: Driven, call: Readonly<PlannedCall>): void {
  event.kind = ANSWERED;
  event.template = call.template;
  event.cost = behaviour.calls[call.template]?.cost ?? 0;
  event.page = call.page;
  event.attempt = call.attempt;
  event.wantedMs = call.wantedMs;
  event.delayMs = call.delayMs;
}

/** One call at a time. */
function driveInTurn(client: Driven, world: World): void {
  const { endMs } = client;
  const event = startEvent(client);
  const out = new ClientOut();
  let nowMs = world.now();
  for (;;) {
    ask(client, event, out, 0);
    const call = out.calls[0];
    if (out.count === 0 || call === undefined || call.atMs >= endMs) return;
    if (call.atMs > nowMs) {
      world.sleep(call.atMs - nowMs);
      nowMs = world.now();
    }
    if (nowMs >= endMs) return;
    tellCall(event, client, call);
    world.request(call, event);
    if (out.stopped) return;
    nowMs = event.nowMs;
  }
}

/** Several calls at a time. */
class Drive {
  readonly #client: Driven;
  readonly #world: World;
  readonly #resolve: () => void;
  readonly #reject: (thrown: unknown) => void;
  readonly #event: ClientEvent;
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
    this.#event = startEvent(client);
  }

  begin(): void {
    this.#turn();
    this.#settle();
  }

  /** Lets the client act on `#event`. */
  #turn(): void {
    if (this.#over) return;
    try {
      ask(this.#client, this.#event, this.#out, this.#open);
      for (const call of this.#out.calls.slice(0, this.#out.count)) this.#plan({ ...call });
    } catch (thrown) {
      this.#fail(thrown);
    }
    this.#over ||= this.#out.stopped;
  }

  #plan(call: PlannedCall): void {
    const { endMs } = this.#client;
    const nowMs = this.#world.now();
    if (call.atMs >= endMs || nowMs >= endMs) return;
    this.#open += 1;
    if (call.atMs <= nowMs) this.#launch(call);
    else setTimeout(() => this.#launch(call), call.atMs - nowMs);
  }

  #launch(call: PlannedCall): void {
    const failed = (thrown: unknown): void => {
      this.#fail(thrown);
      this.#close();
    };
    try {
      if (this.#failure === null) this.#world.send(call, this.#event, () => this.#answered(call), failed);
      else this.#close();
    } catch (thrown) {
      failed(thrown);
    }
  }

  #answered(call: PlannedCall): void {
    this.#open -= 1;
    tellCall(this.#event, this.#client, call);
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
