// The deployment as several processes behind one port. This one listens, gives connections out in turn, and may
// hold the counters that the others ask for; each of the others is a whole deployment (`worker.ts`).
import { createServer, type Server } from "node:net";
import type { Rules } from "../rules/rules.ts";
import type { Token } from "../rules/tokens.ts";
import type { Arrangement } from "./arrangement.ts";
import type { Change } from "./copy.ts";
import type { Letter, Reply } from "./letters.ts";
import { bind, urlOf } from "./listen.ts";
import { Team } from "./team.ts";

/** The task of a worker. Plain JSON. */
export interface WorkerTask {
  readonly rules: Rules;
  readonly tokens: readonly Token[];
  /** Its own part: all counters; a copy to read from; nothing, so that it asks for each answer. */
  readonly own: "counters" | "copy" | "nothing";
  /** Delay until its copy hears of a change, ms. */
  readonly lagMs: number;
  readonly executionDelayMs: number;
  readonly closeWithinMs: number;
}

export type ToWorker =
  | { readonly kind: "begin"; readonly task: WorkerTask }
  | { readonly kind: "connection" }
  | { readonly kind: "reply"; readonly reply: Reply }
  | { readonly kind: "change"; readonly change: Change }
  | { readonly kind: "end" };

export type FromWorker =
  | { readonly kind: "ready" }
  | { readonly kind: "ending" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "letter"; readonly letter: Letter }
  | { readonly kind: "unexpected"; readonly message: string };

export interface WorkersOptions {
  readonly rules: Rules;
  readonly tokens: readonly Token[];
  readonly workers: number;
  readonly arrangement: Arrangement;
  /** 0 for any free one. */
  readonly port?: number;
  readonly host?: string;
  readonly executionDelayMs?: number;
  readonly sweepEveryMs?: number;
  /** Time that `close` waits for calls on their way before it cuts them off, ms. */
  readonly closeWithinMs?: number;
  /** The program of a worker; `worker.js` beside this module where it is left out. */
  readonly workerFile?: string;
  /** Longest time that workers may take to start, ms. */
  readonly startWithinMs?: number;
  /** First wait before a worker that ended by itself is started again, ms; each further one is twice as long. */
  readonly restartAfterMs?: number;
  /** Time that a worker has to say that it is ending, ms; then it is taken for blocked and killed. */
  readonly answerWithinMs?: number;
  /** Told of an error that nobody meant, and of a worker that ended by itself. */
  readonly onUnexpected?: (error: Error) => void;
}

/** A deployment of several processes that is listening. */
export interface ServingWorkers {
  /** Without a slash at its end: `http://127.0.0.1:4100`. */
  readonly url: string;
  /** The workers' process ids. */
  readonly pids: readonly number[];
  /** Takes no new connection and waits for the calls on their way. May be called again. */
  close(): Promise<void>;
}

const SWEEP_EVERY_MS = 60_000;

/**
 * Starts a deployment of several processes.
 * @throws SpillwayError `WORKER_FAILED` where a worker cannot start, `PORT_IN_USE` and `USAGE` as `serve`
 */
export async function serveWorkers(options: WorkersOptions): Promise<ServingWorkers> {
  const team = new Team(options);
  try {
    await team.start();
    const server = createServer({ pauseOnConnect: true }, (socket) => team.take(socket));
    await bind(server, options.port ?? 4100, options.host ?? "127.0.0.1");
    return serving(server, team, options.sweepEveryMs ?? SWEEP_EVERY_MS);
  } catch (error) {
    team.kill();
    throw error;
  }
}

function serving(server: Server, team: Team, sweepEveryMs: number): ServingWorkers {
  const sweeping = setInterval(() => team.sweep(), sweepEveryMs);
  sweeping.unref();
  let closed: Promise<void> | null = null;
  return {
    url: urlOf(server),
    get pids() {
      return team.pids;
    },
    close() {
      clearInterval(sweeping);
      server.close();
      closed ??= team.end();
      return closed;
    },
  };
}
