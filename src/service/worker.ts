// One of several processes of a deployment: what `worker-entry.ts` does in the process that the team starts. The
// listening process sends it connections over Node's channel, and also its rules, its tokens, and the order to end.
import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { buildApp } from "./app.ts";
import { RemoteCounters } from "./letters.ts";
import type { FromWorker, ToWorker, WorkerTask } from "./team.ts";

/** The process of a worker: its channel to the team, its signals and its end. */
export type WorkerProcess = Pick<NodeJS.Process, "on" | "once" | "send" | "exit">;

/** Connections, each with its number of calls on their way. */
class Connections {
  readonly #calls = new Map<Socket, number>();
  #isEnding = false;

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
    if (calls === undefined) return;
    this.#calls.set(socket, calls + change);
    if (this.#isEnding && calls + change === 0) socket.destroy();
  }

  /** Ends idle connections now, and the others once idle, or at the latest after `withinMs`. */
  async end(withinMs: number): Promise<void> {
    this.#isEnding = true;
    const sockets = [...this.#calls.keys()];
    const closed = sockets.map((socket) => once(socket, "close"));
    for (const [socket, calls] of this.#calls) if (calls === 0) socket.destroy();
    setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, withinMs).unref();
    await Promise.all(closed);
  }
}

/** Serves the connections that the team sends, from its order to begin to its order to end. */
export function beWorker(worker: WorkerProcess): void {
  // Ctrl-C reaches every process of the terminal, but only the listening process decides when to end. If that process
  // is gone, there is nobody left to serve.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) worker.on(signal, () => {});
  worker.on("disconnect", () => worker.exit(0));
  worker.once("message", (message: ToWorker) => {
    if (message.kind !== "begin") return;
    run(worker, message.task).catch((error: unknown) => {
      post(worker, { kind: "failed", message: error instanceof Error ? error.message : String(error) });
    });
  });
}

const post = (worker: WorkerProcess, message: FromWorker): void => {
  worker.send?.(message);
};

async function run(worker: WorkerProcess, task: WorkerTask): Promise<void> {
  const { rules, tokens, executionDelayMs, closeWithinMs } = task;
  const counters = new RemoteCounters((letter) => post(worker, { kind: "letter", letter }));
  const app = buildApp({
    rules,
    tokens,
    now: Date.now,
    sleep: wait,
    store: counters,
    executionDelayMs,
    onUnexpected: ({ message }) => post(worker, { kind: "unexpected", message }),
  });
  const connections = new Connections(app.server);
  await app.ready();
  worker.on("message", (message: ToWorker, socket: unknown) => {
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
        post(worker, { kind: "ending" });
        // Answers now tell their callers to close.
        void app.close().then(async () => {
          await connections.end(closeWithinMs);
          worker.exit(0);
        });
    }
  });
  post(worker, { kind: "ready" });
}
