// Calls on the way. Each leaves once, and lands once: it is answered or given up.
import type { Dispatcher } from "undici";
import { reasonOf } from "../../connect/no-answer.ts";
import { bodyMost } from "../../connect/send.ts";
import { goHeaders, headerText, headerTexts } from "../../wire/fields.ts";
import { isRefusal } from "../../wire/outcome.ts";
import type { RawAnswer } from "../answer.ts";
import { LatenessMeter } from "./lateness.ts";
import type { RunClock, Scheduler } from "./scheduler.ts";

/** A request that is ready to leave, again and again. */
export interface ReadyRequest {
  readonly dispatcher: Dispatcher;
  readonly options: Dispatcher.DispatchOptions;
  /** True if somebody reads the bodies of answers other than refusals. */
  readonly keepsBody: boolean;
  /** True if somebody reads other headers than the default API's. All headers then have names in lower case. */
  readonly keepsHeaders: boolean;
}

/** Sender of a call. Either `landed` or `dropped` is called, once, and only after `send` has returned. */
export interface CallSender {
  /** First time at which the call could leave, ms since the epoch. */
  readonly dueMs: number;
  /** Time from which the call is dropped, ms since the epoch. */
  readonly endMs: number;
  /** @param sentMs time just before the call was written to its connection; the planned time if it never was */
  landed(answer: RawAnswer, sentMs: number, receivedMs: number): void;
  dropped(): void;
}

export interface FlightsOptions {
  readonly clock: RunClock;
  readonly scheduler: Scheduler;
  readonly timeoutMs: number;
  /** Greatest number of calls on the way. Further calls wait for one to land. */
  readonly most: number;
}

export class Flights {
  readonly lateness = new LatenessMeter();
  readonly #options: FlightsOptions;
  /** Flights in the order of their deadlines: all have the same time. */
  readonly #onTheWay = new Set<Flight>();
  readonly #waiting = new Set<Flight>();
  #isWatching = false;
  #isClosed = false;

  constructor(options: FlightsOptions) {
    this.#options = options;
  }

  send(route: ReadyRequest, sender: CallSender): void {
    if (this.#isClosed) return;
    const flight = new Flight(route, sender, this.#options, (landed) => this.#landed(landed));
    if (this.#onTheWay.size < this.#options.most) this.#leave(flight);
    else this.#waiting.add(flight);
  }

  /**
   * Ends all flights: nothing leaves or lands any more.
   * @returns number of calls that were sent and have no answer
   */
  close(): number {
    this.#isClosed = true;
    let sent = 0;
    for (const flight of this.#onTheWay) {
      if (flight.isSent) sent += 1;
      flight.cut();
    }
    return sent;
  }

  #leave(flight: Flight): void {
    const { clock, scheduler, timeoutMs } = this.#options;
    const nowMs = clock.now();
    const { dueMs, endMs } = flight.sender;
    if (nowMs >= endMs) {
      scheduler.at(nowMs, () => flight.sender.dropped());
      return;
    }
    this.lateness.left(dueMs, nowMs);
    this.#onTheWay.add(flight);
    if (!this.#isWatching) this.#watch(nowMs + timeoutMs);
    flight.leave(nowMs);
  }

  #landed(flight: Flight): void {
    if (this.#isClosed) return;
    this.#onTheWay.delete(flight);
    flight.tell();
    for (const next of this.#waiting) {
      if (this.#onTheWay.size >= this.#options.most) return;
      this.#waiting.delete(next);
      this.#leave(next);
    }
  }

  #watch(atMs: number): void {
    this.#isWatching = true;
    this.#options.scheduler.at(atMs, () => this.#giveUpLate());
  }

  /** Gives up calls that are on the way for too long. Looks again when the next one may be. */
  #giveUpLate(): void {
    const { clock, timeoutMs } = this.#options;
    const nowMs = clock.now();
    for (const flight of this.#onTheWay) {
      if (flight.leftMs + timeoutMs > nowMs) break;
      flight.giveUp("timeout");
    }
    const [first] = this.#onTheWay;
    this.#isWatching = false;
    if (first !== undefined) this.#watch(first.leftMs + timeoutMs);
  }
}

class Flight implements Dispatcher.DispatchHandler {
  readonly sender: CallSender;
  leftMs = 0;
  /** True if the call was written to a connection. */
  isSent = false;
  readonly #route: ReadyRequest;
  readonly #options: FlightsOptions;
  readonly #landed: (flight: Flight) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #isOver = false;
  #isLeaving = false;
  #sentMs = 0;
  #receivedMs = 0;
  #status = 0;
  #headers: RawAnswer["headers"] = {};
  #chunks: Buffer[] | null = null;
  #size = 0;
  #error = "";

  constructor(
    route: ReadyRequest,
    sender: CallSender,
    options: FlightsOptions,
    landed: (flight: Flight) => void,
  ) {
    this.#route = route;
    this.sender = sender;
    this.#options = options;
    this.#landed = landed;
  }

  leave(nowMs: number): void {
    this.leftMs = nowMs;
    this.#sentMs = nowMs;
    this.#isLeaving = true;
    this.#route.dispatcher.dispatch(this.#route.options, this);
    this.#isLeaving = false;
  }

  /** Tells the sender what came. */
  tell(): void {
    const answer: RawAnswer = {
      status: this.#status,
      headers: this.#headers,
      body: this.#chunks === null ? null : Buffer.concat(this.#chunks).toString("utf8"),
      error_code: 0,
      error: this.#error,
    };
    this.sender.landed(answer, this.#sentMs, this.#receivedMs);
  }

  giveUp(error: string): void {
    this.#land(0, error);
    this.#controller?.abort(new Error(error));
  }

  /** Ends the flight without telling the sender. */
  cut(): void {
    this.#isOver = true;
    this.#controller?.abort(new Error("the run is over"));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // A call that was given up must not leave, and no call may leave twice, whatever undici does.
    if (this.#isOver || this.isSent) {
      controller.abort(new Error("given up"));
      return;
    }
    this.isSent = true;
    this.#sentMs = this.#options.clock.now();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // A status such as 103 comes before the answer.
    if (status < 200) return;
    this.#status = status;
    this.#headers = this.#route.keepsHeaders ? headerTexts(headers) : canonical(headers);
    if (this.#route.keepsBody || isRefusal(status)) this.#chunks = [];
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#chunks === null || this.#size > bodyMost) return;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  onResponseEnd(): void {
    this.#land(this.#status, "");
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#land(0, reasonOf(error));
  }

  #land(status: number, error: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#receivedMs = this.#options.clock.now();
    this.#status = status;
    this.#error = error;
    if (status === 0) {
      // An answer whose body broke off counts as none.
      this.#headers = {};
      this.#chunks = null;
    }
    const { scheduler } = this.#options;
    if (this.#isLeaving) scheduler.at(this.#receivedMs, () => this.#landed(this));
    else this.#landed(this);
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Names of the headers that anybody reads, as Go spells them and as undici does. */
const headerNames = [...Object.values(goHeaders), "Link"].map((name) => [name, name.toLowerCase()] as const);

/** Returns the headers that anybody reads. A header that came twice is written `5, 5`, as k6 does. */
function canonical(headers: Headers): RawAnswer["headers"] {
  const found: Record<string, string | undefined> = {};
  for (const [name, key] of headerNames) found[name] = headerText(headers[key]);
  return found;
}
