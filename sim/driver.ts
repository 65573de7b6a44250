// Tells clients what happened, takes their plans, and guards against what a behaviour may do wrong: an
// exception, a time that is none, calls without end.
import { SpillwayError } from "../src/rules/errors.ts";
import { ABSENT, ANSWERED, ClientOut, createEvent, STARTED, step } from "../src/scenario/client.ts";
import type { HeaderValue } from "../src/trace/record.ts";
import type { Flight, SimulatedClient } from "./client.ts";
import type { Answer } from "./deployment.ts";

/** Drives the clients of one simulation. */
export class Driver {
  readonly #event = createEvent();
  readonly #out = new ClientOut();
  readonly #plan: (flight: Flight, atMs: number) => void;

  /** @param plan takes each call that a client asks for, and when to send it */
  constructor(endMs: number, plan: (flight: Flight, atMs: number) => void) {
    this.#event.endMs = endMs;
    this.#plan = plan;
  }

  /** A client begins. */
  start(client: SimulatedClient, nowMs: number): void {
    const { endMs } = this.#event;
    Object.assign(this.#event, createEvent(), { kind: STARTED, nowMs, endMs });
    this.#step(client);
  }

  /** A client has its answer. */
  receive(flight: Flight, answer: Answer, nowMs: number): void {
    const { client, call, page } = flight;
    client.open -= 1;
    if (client.stopped) return;
    const event = this.#event;
    event.kind = ANSWERED;
    event.nowMs = nowMs;
    event.template = flight.template;
    event.cost = call.cost;
    event.page = page;
    event.hasNextPage = answer.status === 200 && (call.lastPage === undefined || page < call.lastPage);
    event.attempt = flight.attempt;
    event.wantedMs = flight.wantedMs;
    event.delayMs = flight.delayMs;
    event.status = answer.status;
    event.limit = shown(answer.limit);
    event.remaining = shown(answer.remaining);
    event.reset = shown(answer.reset);
    event.userLimit = shown(answer.userLimit);
    event.userRemaining = shown(answer.userRemaining);
    event.userReset = shown(answer.userReset);
    event.retryAfter = shown(answer.retryAfter ?? null);
    this.#step(client);
  }

  #step(client: SimulatedClient): void {
    const { behaviour, onRefused } = client.population;
    const out = this.#out;
    try {
      step(behaviour, onRefused, client.record, this.#event, out);
    } catch (cause) {
      throw this.#failure(
        client,
        cause instanceof Error ? cause.message : String(cause),
        "no exception",
        cause,
      );
    }
    client.open += out.count;
    if (client.open > behaviour.inFlightMost)
      throw this.#failure(
        client,
        `${client.open} calls planned or on the way`,
        `at most ${behaviour.inFlightMost}, the inFlightMost of its behaviour`,
      );
    for (let index = 0; index < out.count; index++) this.#take(client, index);
    client.stopped = out.stopped;
  }

  #take(client: SimulatedClient, index: number): void {
    const planned = this.#out.calls[index];
    if (planned === undefined) return;
    const { template, page, attempt, wantedMs, delayMs, atMs } = planned;
    const { calls } = client.population.behaviour;
    const call = calls[template];
    if (call === undefined)
      throw this.#failure(client, `call ${template}`, `0 to ${calls.length - 1}, an index of its calls`);
    if (!Number.isSafeInteger(atMs))
      throw this.#failure(client, `a call at ${atMs}`, "a time in whole ms since the epoch");
    const flight = { client, call, template, page, attempt, wantedMs, delayMs, number: 0, sentMs: 0 };
    this.#plan(flight, Math.max(atMs, this.#event.nowMs));
  }

  #failure(client: SimulatedClient, got: string, allowed: string, cause?: unknown): SpillwayError {
    const when = new Date(this.#event.nowMs).toISOString();
    return new SpillwayError("SCENARIO_FAILED", `a client of this scenario failed at ${when}`, {
      problems: [{ path: `${client.id} (${client.population.behaviour.name})`, got, allowed }],
      hint: "look at this population's behaviour and onRefused",
      cause,
    });
  }
}

function shown(value: HeaderValue): number {
  return typeof value === "number" ? value : ABSENT;
}
