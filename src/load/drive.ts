// One client in real time: asks its state machine what to send, sends it when it is due, tells it the answers. Both
// drivers run it. In k6 a client with one call at a time blocks meanwhile; in Node none does.
import { counted } from "../rules/words.ts";
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

export interface DrivenClient {
  readonly behaviour: Behaviour;
  readonly onRefused: RefusalPolicy;
  readonly record: ClientRecord;
  /** Time at which the client was meant to begin, ms since the epoch. */
  readonly startMs: number;
  /** End of the run, ms since the epoch. Calls that are due then or later are dropped. */
  readonly endMs: number;
}

/** World that a client is driven in. */
export interface ClientWorld {
  /** Returns the time, ms since the epoch. */
  now(): number;
  /** Calls `action` once, at `atMs` or later, but never within this call. */
  at(atMs: number, action: () => void): void;
  /**
   * Sends a call. Later it fills in `event` with the answer and the call's costs, and then tells `told` once what became
   * of the call.
   * @param call the call; its `atMs` is the first time at which it could leave, and lateness counts from there
   */
  send(call: Readonly<PlannedCall>, event: ClientEvent, told: ToldOutcome): void;
}

/** Receiver of a call's fate. One of these functions is called, once. */
export interface ToldOutcome {
  answered(): void;
  /** Tells that telling the client, or writing its answer down, went wrong. */
  failed(thrown: unknown): void;
  /** Tells that the call was not sent, because the run ended first. */
  dropped(): void;
}

/** A world that can block: k6, where each client has a thread of its own. */
export interface StillWorld extends ClientWorld {
  /** Blocks for a time, ms. */
  sleep(ms: number): void;
  /** Sends, and blocks until the call is answered or given up. Fills in `event`. */
  request(call: Readonly<PlannedCall>, event: ClientEvent): void;
}

/**
 * Drives a client until nothing of it is planned or on the way. A run then needs to cut nobody off, and every call has
 * its line (k6 does not count an iteration that it cuts off).
 *
 * A client with one call at a time blocks for each answer: promises would cost k6 a quarter of its throughput. The
 * promise rejects if the behaviour throws or asks for something impossible, as in the simulator. It does so once the
 * calls on the way are answered; nothing more is sent.
 */
export async function drive(client: DrivenClient, world: StillWorld): Promise<void> {
  if (client.behaviour.inFlightMost === 1) driveInTurn(client, world);
  else await new Promise<void>((resolve, reject) => driveFreely(client, world, resolve, reject));
}

/**
 * Does the same for any number of calls at a time, without blocking.
 * @param over called once, at the client's end
 * @param failed called once in place of `over`, if `drive` would reject
 */
export function driveFreely(
  client: DrivenClient,
  world: ClientWorld,
  over: () => void,
  failed: (thrown: unknown) => void,
): void {
  new Drive(client, world, over, failed).begin();
}

function startEvent({ startMs, endMs }: DrivenClient): ClientEvent {
  const event = createEvent();
  event.nowMs = startMs;
  event.endMs = endMs;
  return event;
}

/** Asks the client what to send. @throws whatever the behaviour throws; RangeError for calls that cannot be sent */
function ask(client: DrivenClient, event: ClientEvent, out: ClientOut, open: number): void {
  const { behaviour } = client;
  step(behaviour, client.onRefused, client.record, event, out);
  if (open + out.count > behaviour.inFlightMost)
    throw new RangeError(
      `${counted(open + out.count, "call")} planned or on the way, its inFlightMost is ${behaviour.inFlightMost}`,
    );
  for (let n = 0; n < out.count; n++) {
    const call = out.calls[n];
    if (call === undefined || !Number.isSafeInteger(call.atMs) || call.atMs < client.startMs)
      throw new RangeError(`a call at ${call?.atMs}, which is no time since the client began`);
    if (behaviour.calls[call.template] === undefined)
      throw new RangeError(`call ${call.template}, its calls are 0 to ${behaviour.calls.length - 1}`);
  }
}

/** Fills in the event's call; the world fills in the answer. */
function tellCall(event: ClientEvent, call: Readonly<PlannedCall>): void {
  event.kind = ANSWERED;
  event.template = call.template;
  event.page = call.page;
  event.attempt = call.attempt;
  event.wantedMs = call.wantedMs;
  event.delayMs = call.delayMs;
}

/** Drives a client with one call at a time. */
function driveInTurn(client: DrivenClient, world: StillWorld): void {
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
    tellCall(event, call);
    world.request(call, event);
    if (out.stopped) return;
    nowMs = event.nowMs;
  }
}

/** Drives a client with any number of calls at a time. */
class Drive {
  readonly #client: DrivenClient;
  readonly #world: ClientWorld;
  readonly #over: () => void;
  readonly #failed: (thrown: unknown) => void;
  readonly #event: ClientEvent;
  readonly #out = new ClientOut();
  /** Number of calls that are planned or on the way. */
  #open = 0;
  /** True if the client stopped or failed, so that it is told nothing more. */
  #stopped = false;
  #settled = false;
  #failure: { readonly thrown: unknown } | null = null;

  constructor(client: DrivenClient, world: ClientWorld, over: () => void, failed: (thrown: unknown) => void) {
    this.#client = client;
    this.#world = world;
    this.#over = over;
    this.#failed = failed;
    this.#event = startEvent(client);
  }

  begin(): void {
    this.#turn();
    this.#settle();
  }

  /** Lets the client act on `#event`. */
  #turn(): void {
    if (this.#stopped) return;
    const { nowMs } = this.#event;
    try {
      ask(this.#client, this.#event, this.#out, this.#open);
      for (const call of this.#out.calls.slice(0, this.#out.count))
        this.#plan({ ...call, atMs: Math.max(call.atMs, nowMs) });
    } catch (thrown) {
      this.#fail(thrown);
    }
    this.#stopped ||= this.#out.stopped;
  }

  #plan(call: PlannedCall): void {
    const { endMs } = this.#client;
    const nowMs = this.#world.now();
    if (call.atMs >= endMs || nowMs >= endMs) return;
    this.#open += 1;
    if (call.atMs <= nowMs) this.#launch(call);
    else this.#world.at(call.atMs, () => this.#launchLate(call));
  }

  /** Launches a call whose time has come, unless the run ended meanwhile. */
  #launchLate(call: PlannedCall): void {
    if (this.#world.now() >= this.#client.endMs) this.#close();
    else this.#launch(call);
  }

  #launch(call: PlannedCall): void {
    const told: ToldOutcome = {
      answered: () => this.#answered(call),
      failed: (thrown) => {
        this.#fail(thrown);
        this.#close();
      },
      dropped: () => this.#close(),
    };
    try {
      if (this.#failure === null) this.#world.send(call, this.#event, told);
      else this.#close();
    } catch (thrown) {
      told.failed(thrown);
    }
  }

  #answered(call: PlannedCall): void {
    this.#open -= 1;
    tellCall(this.#event, call);
    this.#turn();
    this.#settle();
  }

  #fail(thrown: unknown): void {
    this.#failure ??= { thrown };
    this.#stopped = true;
  }

  #close(): void {
    this.#open -= 1;
    this.#settle();
  }

  #settle(): void {
    if (this.#open > 0 || this.#settled) return;
    this.#settled = true;
    if (this.#failure === null) this.#over();
    else this.#failed(this.#failure.thrown);
  }
}
