// The deployment as several processes behind one port. This process listens, gives out connections in turn, and may
// hold the counters that the others ask. Each of the others is a whole deployment (`worker.ts`).
import { createServer, type Server } from "node:net";
import { bind, SWEEP_EVERY_MS, urlOf } from "./listen.ts";
import { Team, type WorkersOptions } from "./team.ts";

/** A deployment of several processes that is listening. */
export interface ServingWorkers {
  /** URL without a slash at its end: `http://127.0.0.1:4100`. */
  readonly url: string;
  /** Process ids of the workers. */
  readonly pids: readonly number[];
  /** Takes no new connection, and waits for calls on their way. Callers may call it again. */
  close(): Promise<void>;
}

/**
 * Starts a deployment of several processes.
 * @throws SpillwayError `WORKER_FAILED` if a worker cannot start, `PORT_IN_USE` and `USAGE` as `serve` does
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
