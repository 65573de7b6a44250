// The simulator's world around the limiter: trips that take time and get lost, clients that give up, servers with a
// queue, outages, clocks that differ. A real run has its own.
import type { Duration, Mistakes } from "./mistakes.ts";
import { parseSpread, type Spread, type SpreadInput } from "./spread.ts";

/** Times and losses of calls on their way. */
export interface NetworkInput {
  /**
   * Time of one way, at least 1 ms, drawn for each trip. Default: 2 to 8 ms. The bound keeps order: two calls that took
   * no time at the same instant would each be answered before the other was sent.
   */
  readonly latency?: SpreadInput;
  /**
   * Time there and back together, at least 1 ms, in place of `latency`. It is drawn once for each call; half of it
   * (rounded down) is the way there. Clients measure this as `received - sent` of calls that do not queue.
   */
  readonly roundTrip?: SpreadInput;
  /** Run time of an admitted GraphQL query, until it is settled and answered. Default: 5 to 20 ms. */
  readonly execution?: SpreadInput;
  /**
   * Lateness of calls that clients waited to send, since timers wake late, later on a busy machine. It is drawn for
   * each such call. Default: none.
   */
  readonly lateness?: SpreadInput;
  /**
   * Share of trips that get lost, from 0 to 0.99. Default: 0. The deployment never hears of a lost request; a call
   * whose answer is lost was charged. In both cases the client waits until its `timeout`.
   */
  readonly loss?: number;
  /**
   * Longest wait of a client for an answer; in k6, the request's timeout. Default: 30 s. The client then goes on as
   * with status 0 (the trace's `error` is `timeout`). The call may have been charged, or be charged later; its late
   * answer is dropped.
   */
  readonly timeout?: Duration;
}

/** Servers behind the limiter, so that load costs time. */
export interface ServiceInput {
  /** Number of calls that are served at once, 1 to 10,000. */
  readonly servers: number;
  /** Time for which a REST call holds a server. A query holds one for its `network.execution` in addition. */
  readonly time: SpreadInput;
  /**
   * Greatest number of calls that may wait for a server, first in, first out: 0 or more. Default: no bound. A further
   * call is answered 503 without rate-limit headers, though it was charged.
   */
  readonly queue?: number;
}

/** Time in which nobody is served. Calls that were taken in before are still answered. */
export interface OutageInput {
  /** Start of the outage, counted from the run's start. */
  readonly at: Duration;
  /** Length of the outage. */
  readonly for: Duration;
  /**
   * Answer to a call that arrives meanwhile: 503 at once without rate-limit headers, or no answer at all. No window
   * counts such a call.
   */
  readonly answer: 503 | "none";
  /** Share of calls that meet the outage, above 0 and up to 1. Default: 1. */
  readonly share?: number;
}

export interface ClocksInput {
  /**
   * Greatest difference between two clients' clocks, up to a minute. No client's clock is behind the deployment's. Each
   * clock is drawn once and stays as it is; traces show each client's own clock (`clock.errorMs` is the bound).
   */
  readonly apart: Duration;
}

/** A network, checked. */
export interface Network {
  readonly latencyMs: Spread;
  /** Replaces `latencyMs` if it is not `null`. */
  readonly roundTripMs: Spread | null;
  readonly executionMs: Spread;
  readonly latenessMs: Spread;
  /** Share of all trips. */
  readonly loss: number;
  readonly timeoutMs: number;
}

/** Servers, checked. */
export interface Service {
  readonly servers: number;
  readonly timeMs: Spread;
  /** `null` if there is no bound. */
  readonly queue: number | null;
}

/** An outage, checked: from `atMs` of the run until `forMs` later, that instant excluded. */
export interface Outage {
  readonly atMs: number;
  readonly forMs: number;
  readonly answer: 503 | "none";
  /** Share of the calls that arrive meanwhile. */
  readonly share: number;
}

/** Clocks, checked. */
export interface Clocks {
  readonly apartMs: number;
}

/** Default of a client's longest wait for an answer, ms. */
const defaultTimeoutMs = 30_000;

export const clocksApartMostMs = 60_000;
export const serversMost = 10_000;
export const queueMost = 10_000_000;
/** Longest trip and longest service, ms: a day. A longer one is a mistake in units. */
export const tripMostMs = 24 * 3_600_000;

/** Checks a scenario's `network` and adds what is wrong to `mistakes`. */
export function parseNetwork(value: unknown, mistakes: Mistakes): Network {
  const fallback: Network = {
    latencyMs: { least: 2, most: 8 },
    roundTripMs: null,
    executionMs: { least: 5, most: 20 },
    latenessMs: { least: 0, most: 0 },
    loss: 0,
    timeoutMs: defaultTimeoutMs,
  };
  const names = ["latency", "roundTrip", "execution", "lateness", "loss", "timeout"];
  if (value === undefined || !mistakes.members("network", value, names)) return fallback;
  const { latency, roundTrip, execution, lateness, loss, timeout } = value;
  if (latency !== undefined && roundTrip !== undefined)
    mistakes.add("network.roundTrip", roundTrip, "nothing beside network.latency");
  return {
    latencyMs:
      latency === undefined
        ? fallback.latencyMs
        : parseSpread("network.latency", latency, mistakes, 1, tripMostMs),
    roundTripMs:
      roundTrip === undefined ? null : parseSpread("network.roundTrip", roundTrip, mistakes, 1, tripMostMs),
    executionMs:
      execution === undefined
        ? fallback.executionMs
        : parseSpread("network.execution", execution, mistakes, 0, tripMostMs),
    latenessMs:
      lateness === undefined
        ? fallback.latenessMs
        : parseSpread("network.lateness", lateness, mistakes, 0, tripMostMs),
    loss: loss === undefined ? 0 : parseLoss(loss, mistakes),
    timeoutMs: mistakes.duration("network.timeout", timeout ?? defaultTimeoutMs, 1),
  };
}

function parseLoss(value: unknown, mistakes: Mistakes): number {
  if (typeof value === "number" && value >= 0 && value <= 0.99) return value;
  mistakes.add("network.loss", value, "a share of trips, from 0 to 0.99");
  return 0;
}

export function parseService(value: unknown, mistakes: Mistakes): Service | null {
  if (value === undefined || !mistakes.members("service", value, ["servers", "time", "queue"])) return null;
  const { servers, time, queue } = value;
  return {
    servers: mistakes.whole("service.servers", servers, 1, serversMost),
    timeMs: parseSpread("service.time", time, mistakes, 0, tripMostMs),
    queue: queue === undefined ? null : mistakes.whole("service.queue", queue, 0, queueMost),
  };
}

export function parseOutages(value: unknown, mistakes: Mistakes): Outage[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    mistakes.add("outages", value, 'a list such as [{ at: "1m", for: "30s", answer: 503 }]');
    return [];
  }
  return value.flatMap((outage: unknown, index) => {
    const path = `outages.${index}`;
    if (!mistakes.members(path, outage, ["at", "for", "answer", "share"])) return [];
    const { answer, share = 1 } = outage;
    const isShare = typeof share === "number" && share > 0 && share <= 1;
    if (!isShare) mistakes.add(`${path}.share`, share, "a share of calls, above 0 and up to 1");
    if (answer !== 503 && answer !== "none") mistakes.add(`${path}.answer`, answer, '503 or "none"');
    return {
      atMs: mistakes.duration(`${path}.at`, outage["at"], 0),
      forMs: mistakes.duration(`${path}.for`, outage["for"], 0),
      answer: answer === "none" ? "none" : 503,
      share: isShare ? share : 1,
    };
  });
}

export function parseClocks(value: unknown, mistakes: Mistakes): Clocks {
  if (value === undefined || !mistakes.members("clocks", value, ["apart"])) return { apartMs: 0 };
  return { apartMs: mistakes.duration("clocks.apart", value["apart"], 0, clocksApartMostMs) };
}
