// The deployment as several processes behind one port. This one listens, gives connections out in turn, and may
// hold the counters that the others ask for; each of the others is a whole deployment (`worker.ts`).
import { type ChildProcess, fork } from "node:child_process";
import { createServer, type Server, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { SlowStore, Store } from "../engine/store.ts";
import { SpillwayError } from "../rules/errors.ts";
import type { Rules } from "../rules/rules.ts";
import type { Token } from "../rules/tokens.ts";
import type { Arrangement } from "./arrangement.ts";
import type { Change } from "./copy.ts";
import { answerLetter, type Letter, type Reply } from "./letters.ts";
import { bind, urlOf } from "./listen.ts";

/** What a worker is told to be. Plain JSON. */
export interface WorkerTask {
  readonly rules: Rules;
  readonly tokens: readonly Token[];
  /** What it has of its own: all counters; a copy to read from; nothing, so that it asks for each answer. */
  readonly own: "counters" | "copy" | "nothing";
  /** How much later its copy hears of a change. */
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
  /** How long `close` waits for calls on their way before it cuts them off, in ms. */
  readonly closeWithinMs?: number;
  /** The program of a worker; `worker.js` beside this module where it is left out. */
  readonly workerFile?: string;
  /** How long workers may take to start, in ms. */
  readonly startWithinMs?: number;
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
const CLOSE_WITHIN_MS = 10_000;
const START_WITHIN_MS = 20_000;
/** How much is kept of what a worker that does not start says. */
const SAID_MOST = 4_000;
/** How much longer than its own patience a worker is given to end before it is killed. */
const KILL_AFTER_MS = 2_000;

const ownWorkerFile = fileURLToPath(new URL("./worker.js", import.meta.url));

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
    pids: team.pids,
    close() {
      clearInterval(sweeping);
      server.close();
      closed ??= team.end();
      return closed;
    },
  };
}

/** One worker, from its start to its end. */
interface Member {
  readonly child: ChildProcess;
  readonly store: Store | SlowStore;
  readonly ended: Promise<unknown>;
}

/** The workers. */
class Team {
  readonly #options: WorkersOptions;
  readonly #members: Member[];
  readonly #task: WorkerTask;
  #next = 0;
  #ending = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
    const { rules, tokens, arrangement, executionDelayMs = 0, closeWithinMs = CLOSE_WITHIN_MS } = options;
    const { own, lagMs = 0 } = arrangement;
    this.#task = { rules, tokens, own, lagMs, executionDelayMs, closeWithinMs };
    const storeOf = arrangement.storesOf((change) => this.#tellAll({ kind: "change", change }));
    const file = options.workerFile ?? ownWorkerFile;
    this.#members = Array.from({ length: options.workers }, (_, worker) => {
      // Whatever the tokens are, no process list shows them: all that a worker needs comes over the channel.
      const child = fork(file, [], { execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] });
      const ended = new Promise((resolve) => child.once("close", resolve).once("error", resolve));
      return { child, store: storeOf(worker), ended };
    });
  }

  get pids(): number[] {
    return this.#members.map(({ child }) => child.pid ?? 0);
  }

  /** @throws SpillwayError `WORKER_FAILED` */
  async start(): Promise<void> {
    await Promise.all(this.#members.map((member) => this.#startOne(member)));
    for (const member of this.#members) {
      member.child.once("exit", (code, signal) => this.#lose(member, signal ?? `status ${code}`));
    }
  }

  async #startOne({ child, store }: Member): Promise<void> {
    const patienceMs = this.#options.startWithinMs ?? START_WITHIN_MS;
    const began = new AbortController();
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-SAID_MOST);
    });
    const ready = new Promise<void>((resolve, reject) => {
      child.on("message", (message: FromWorker) => {
        if (message.kind === "ready") resolve();
        else if (message.kind === "failed") reject(notStarted(message.message));
        else this.#hear(child, store, message);
      });
      child.once("error", (cause) => reject(notStarted(cause.message, cause)));
      child.once("close", (code, signal) => reject(notStarted(endOf(code, signal, said))));
      wait(patienceMs, null, { signal: began.signal }).then(
        () => reject(notStarted(`it was not ready within ${patienceMs} ms`)),
        () => {},
      );
    });
    send(child, { kind: "begin", task: this.#task });
    await ready.finally(() => began.abort());
    child.stderr?.on("data", (text: string) => process.stderr.write(text));
  }

  #hear(child: ChildProcess, store: Store | SlowStore, message: FromWorker): void {
    if (message.kind === "unexpected") this.#options.onUnexpected?.(new Error(message.message));
    if (message.kind !== "letter") return;
    void answerLetter(store, message.letter, Date.now, wait).then((reply) =>
      send(child, { kind: "reply", reply }),
    );
  }

  #lose(member: Member, how: string): void {
    this.#members.splice(this.#members.indexOf(member), 1);
    if (this.#ending) return;
    const left = this.#members.length;
    const text = `worker ${member.child.pid} ended with ${how}; ${left} ${left === 1 ? "is" : "are"} left`;
    this.#options.onUnexpected?.(new Error(text));
  }

  /** Gives a connection to the next worker in turn. */
  take(socket: Socket): void {
    const member = this.#members[this.#next % this.#members.length];
    this.#next += 1;
    if (member === undefined || !member.child.connected) socket.destroy();
    else member.child.send({ kind: "connection" }, socket, (error) => error && socket.destroy());
  }

  sweep(): void {
    for (const store of new Set(this.#members.map((member) => member.store))) store.sweep(Date.now());
  }

  #tellAll(message: ToWorker): void {
    for (const { child } of this.#members) send(child, message);
  }

  /** Lets the workers finish what is on its way, and ends those that do not come to an end. */
  async end(): Promise<void> {
    this.#ending = true;
    const ended = Promise.all(this.#members.map((member) => member.ended));
    this.#tellAll({ kind: "end" });
    const over = new AbortController();
    const late = wait(this.#task.closeWithinMs + KILL_AFTER_MS, null, { signal: over.signal }).then(
      () => this.kill(),
      () => {},
    );
    await ended.finally(() => over.abort());
    await late;
  }

  kill(): void {
    this.#ending = true;
    for (const { child } of this.#members) child.kill("SIGKILL");
  }
}

/** How a worker ended that was to start, and what it said last. */
function endOf(code: number | null, signal: NodeJS.Signals | null, said: string): string {
  const error = /^\w*Error\b.*$/m.exec(said)?.[0];
  return `it ended with ${signal ?? `status ${code}`}${error === undefined ? "" : ` (${error})`}`;
}

/** One that has just ended hears nothing more. */
function send(child: ChildProcess, message: ToWorker): void {
  if (child.connected) child.send(message, () => {});
}

const notStarted = (got: string, cause?: unknown): SpillwayError =>
  new SpillwayError("WORKER_FAILED", "a worker of the deployment cannot start", {
    problems: [{ path: "worker", got, allowed: "a process that serves" }],
    hint: "are there too many processes, or too little memory? --workers 1 needs none beside this one",
    cause,
  });
