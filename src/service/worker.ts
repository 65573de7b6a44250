// One of several processes of a deployment: the entry that `serveWorkers` starts. The listening process sends it
// connections over Node's channel, and also its rules, its tokens, and the order to end.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { buildApp } from "./app.ts";
import { RemoteCounters } from "./letters.ts";
import type { FromWorker, ToWorker, WorkerTask } from "./team.ts";

/** Time between two closings of idle connections while the worker ends, ms. */
const IDLE_CHECK_MS = 20;

const post = (message: FromWorker): void => {
  process.send?.(message);
};

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
      await wait(IDLE_CHECK_MS);
    }
    clearTimeout(cut);
  }
}

async function run({ rules, tokens, executionDelayMs, closeWithinMs }: WorkerTask): Promise<void> {
  const counters = new RemoteCounters((letter) => post({ kind: "letter", letter }));
  const app = buildApp({
    rules,
    tokens,
    now: Date.now,
    sleep: wait,
    store: counters,
    executionDelayMs,
    onUnexpected: ({ message }) => post({ kind: "unexpected", message }),
  });
  const connections = new Connections(app.server);
  await app.ready();
  process.on("message", (message: ToWorker, socket: unknown) => {
    switch (message.kind) {
      case "connection":
        // A connection that was closed on its way here is no `Socket`.
        if (socket instanceof Socket) connections.take(app.server, socket);
        break;
      case "reply":
        counters.take(message.reply);
        break;
      case "end":
        // The team takes a worker that does not say so for blocked.
        post({ kind: "ending" });
        // Answers now tell their callers to close.
        void app.close().then(async () => {
          await connections.end(closeWithinMs);
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
