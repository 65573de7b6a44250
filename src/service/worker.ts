// One of several processes of a deployment: the entry that `serveWorkers` starts. The listening process sends it
// connections over Node's channel, and also its rules, its tokens, and the order to end.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { Limiter } from "../engine/limiter.ts";
import { buildApp } from "./app.ts";
import { ReadCopy } from "./copy.ts";
import type { Counters } from "./gate.ts";
import { RemoteCounters } from "./letters.ts";
import type { FromWorker, ToWorker, WorkerTask } from "./team.ts";

const SWEEP_EVERY_MS = 60_000;
/** Time between two closings of idle connections while the worker ends, ms. */
const IDLE_CHECK_MS = 20;

const post = (message: FromWorker): void => {
  process.send?.(message);
};

/** Counters that this process asks, and the other receivers of messages from the channel. */
interface Wiring {
  readonly store: Counters;
  readonly remote: RemoteCounters;
  readonly copy: ReadCopy | null;
}

function wire({ rules, own, lagMs }: WorkerTask): Wiring {
  const remote = new RemoteCounters((letter) => post({ kind: "letter", letter }));
  if (own === "counters") return { store: new Limiter(rules), remote, copy: null };
  if (own === "nothing") return { store: remote, remote, copy: null };
  // Timers of equal length end in the order in which they began.
  const copy = new ReadCopy(remote, rules, (act) => setTimeout(act, lagMs));
  return { store: copy, remote, copy };
}

/** Connections, each with its number of calls on their way. */
class Connections {
  readonly #calls = new Map<Socket, number>();

  constructor(server: Server) {
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#count(socket, 1);
      response.once("close", () => this.#count(socket, -1));
    });
  }

  take(server: Server, socket: Socket): void {
    this.#calls.set(socket, 0);
    socket.once("close", () => this.#calls.delete(socket));
    socket.setNoDelay(true);
    server.emit("connection", socket);
    socket.resume();
  }

  #count(socket: Socket, change: number): void {
    const calls = this.#calls.get(socket);
    if (calls !== undefined) this.#calls.set(socket, calls + change);
  }

  /** Ends idle connections now, and the others once idle, or at the latest after `withinMs`. */
  async end(withinMs: number): Promise<void> {
    const endIdle = (): void => {
      for (const [socket, calls] of this.#calls) if (calls === 0) socket.destroy();
    };
    const cut = setTimeout(() => {
      for (const socket of this.#calls.keys()) socket.destroy();
    }, withinMs);
    while (this.#calls.size > 0) {
      endIdle();
      await new Promise((resolve) => setTimeout(resolve, IDLE_CHECK_MS));
    }
    clearTimeout(cut);
  }
}

function start(task: WorkerTask): { readonly app: FastifyInstance; readonly wiring: Wiring } {
  const wiring = wire(task);
  const { rules, tokens, executionDelayMs } = task;
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const app = buildApp({
    rules,
    tokens,
    now: Date.now,
    sleep,
    store: wiring.store,
    executionDelayMs,
    onUnexpected: ({ message }) => post({ kind: "unexpected", message }),
  });
  setInterval(() => wiring.store.sweep(Date.now()), SWEEP_EVERY_MS).unref();
  return { app, wiring };
}

async function run(task: WorkerTask): Promise<void> {
  const { app, wiring } = start(task);
  const connections = new Connections(app.server);
  await app.ready();
  process.on("message", (message: ToWorker, socket: unknown) => {
    switch (message.kind) {
      case "connection":
        // A connection that was closed on its way here is no `Socket`.
        if (socket instanceof Socket) connections.take(app.server, socket);
        break;
      case "reply":
        wiring.remote.take(message.reply);
        break;
      case "change":
        wiring.copy?.hear(message.change);
        break;
      case "end":
        // The team takes a worker that does not say so for blocked.
        post({ kind: "ending" });
        // Answers now tell their callers to close.
        void app.close().then(async () => {
          await connections.end(task.closeWithinMs);
          process.exit(0);
        });
    }
  });
  post({ kind: "ready" });
}

// Ctrl-C reaches every process of the terminal, but only the listening process decides when to end. If that process is
// gone, there is nobody left to serve.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.on("disconnect", () => process.exit(0));
process.once("message", (message: ToWorker) => {
  if (message.kind !== "begin") return;
  run(message.task).catch((error: unknown) => {
    post({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  });
});
