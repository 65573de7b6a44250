// The processes of a deployment: starts them, talks to them, replaces those that end by themselves, and ends them.
import { type ChildProcess, fork } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import type { Store } from "../engine/store.ts";
import { SpillwayError } from "../rules/errors.ts";
import { printableLines } from "../rules/printable.ts";
import type { AppOptions } from "./app.ts";
import { answerLetter, type Letter, type Reply } from "./letters.ts";
import { CLOSE_WITHIN_MS, type ListenOptions } from "./listen.ts";

/** The task of a worker, as plain JSON. */
export type WorkerTask = Required<
  Pick<WorkersOptions, "rules" | "tokens" | "executionDelayMs" | "closeWithinMs">
>;

export type ToWorker =
  | { readonly kind: "begin"; readonly task: WorkerTask }
  | { readonly kind: "connection" }
  | { readonly kind: "reply"; readonly reply: Reply }
  | { readonly kind: "end" };

export type FromWorker =
  | { readonly kind: "ready" }
  | { readonly kind: "ending" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "letter"; readonly letter: Letter }
  | { readonly kind: "unexpected"; readonly message: string };

export interface WorkersOptions
  extends Pick<AppOptions, "rules" | "tokens" | "executionDelayMs">,
    Omit<ListenOptions, "now"> {
  readonly workers: number;
  /** Counters that the workers ask, in turn: the first worker the first, and so on. */
  readonly stores: readonly Store[];
  /** Starts a worker's process. Default: forks the package's own program. */
  readonly fork?: (() => ChildProcess) | undefined;
  /** Receives each unexpected error, and news of workers that ended by themselves. */
  readonly onUnexpected?: (error: Error) => void;
}

/** Longest time that workers may take to start, ms. */
const START_WITHIN_MS = 20_000;
/** Most characters kept of the output of a worker that fails to start. */
const SAID_MOST = 4_000;
/** Time beyond its own patience that a worker has to end before it is killed. */
const KILL_AFTER_MS = 2_000;
/** Time in which a worker must say that it is ending, ms. A worker that does not is taken for blocked, and killed. */
const ANSWER_WITHIN_MS = 2_000;
/** Wait before a worker that ended by itself is started again, ms; it doubles each further time. */
const RESTART_AFTER_MS = 100;
/** Most restarts of a worker. A worker that has lived for `STEADY_MS` counts anew. */
const RESTARTS_MOST = 6;
const STEADY_MS = 60_000;

/** Starts the program of a worker. It gets everything over the channel, so that no process list shows tokens. */
export const forkWorker = (file: string): ChildProcess =>
  fork(file, [], { execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] });

const ownWorkerFile = fileURLToPath(new URL("./worker-entry.js", import.meta.url));

/** A worker's place in the team. The worker in it may change. */
interface Seat {
  readonly store: Store;
  restarts: number;
  restart: NodeJS.Timeout | undefined;
  member: Member | null;
}

/** A worker, from its start to its end. */
interface Member {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  /** Fulfilled when the worker says that it is ending. */
  readonly ending: Promise<unknown>;
  isReady: boolean;
}

/** The workers of a deployment. */
export class Team {
  readonly #options: WorkersOptions;
  readonly #seats: readonly Seat[];
  readonly #task: WorkerTask;
  #isOver = false;
  #next = 0;

  constructor(options: WorkersOptions) {
    this.#options = options;
    const { rules, tokens, stores, executionDelayMs = 0, closeWithinMs = CLOSE_WITHIN_MS } = options;
    this.#task = { rules, tokens, executionDelayMs, closeWithinMs };
    this.#seats = Array.from({ length: options.workers }, (_, seat) => ({
      store: stores[seat % stores.length] as Store,
      restarts: 0,
      restart: undefined,
      member: null,
    }));
  }

  /** Workers that are ready, by the order of seats: a fault may affect every second worker. */
  get #members(): Member[] {
    return this.#seats.flatMap(({ member }) => (member?.isReady ? [member] : []));
  }

  get pids(): number[] {
    return this.#members.map(({ child }) => child.pid as number);
  }

  /** Starts all workers. @throws SpillwayError `WORKER_FAILED` */
  async start(): Promise<void> {
    await Promise.all(this.#seats.map((seat) => this.#startOne(seat)));
  }

  async #startOne(seat: Seat): Promise<void> {
    const child = (this.#options.fork ?? (() => forkWorker(ownWorkerFile)))();
    const ended = new Promise((resolve) => child.once("close", resolve).once("error", resolve));
    const ending = new Promise<void>((resolve) => {
      child.on("message", (message: FromWorker) => {
        if (message.kind === "ending") resolve();
        else this.#hear(child, seat.store, message);
      });
    });
    const member = { child, ended, ending, isReady: false };
    seat.member = member;
    await this.#untilReady(member).catch((error: unknown) => {
      child.kill("SIGKILL");
      throw error;
    });
    const beganMs = Date.now();
    child.once("exit", (code, signal) => {
      if (Date.now() - beganMs > STEADY_MS) seat.restarts = 0;
      seat.member = null;
      this.#replace(seat, `worker ${child.pid} ended with ${signal ?? `status ${code}`}`);
    });
  }

  async #untilReady(member: Member): Promise<void> {
    const { child } = member;
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      if (member.isReady) process.stderr.write(printableLines(text));
      else said = (said + text).slice(-SAID_MOST);
    });
    let late: NodeJS.Timeout | undefined;
    const ready = new Promise<void>((resolve, reject) => {
      child.on("message", (message: FromWorker) => {
        if (message.kind === "ready") resolve();
        else if (message.kind === "failed") reject(notStarted(message.message));
      });
      child.once("error", (cause) => reject(notStarted(cause.message, cause)));
      child.once("close", (code, signal) => reject(notStarted(endOf(code, signal, said))));
      const isLate = (): void => reject(notStarted(`it was not ready within ${START_WITHIN_MS} ms`));
      late = setTimeout(isLate, START_WITHIN_MS);
    });
    send(child, { kind: "begin", task: this.#task });
    await ready.finally(() => clearTimeout(late));
    member.isReady = true;
  }

  #hear(child: ChildProcess, store: Store, message: FromWorker): void {
    if (message.kind === "unexpected") this.#tell(message.message);
    if (message.kind === "letter")
      send(child, { kind: "reply", reply: answerLetter(store, message.letter, Date.now()) });
  }

  /** Starts a worker in place of one that ended by itself, after a wait, and only a few times. */
  #replace(seat: Seat, how: string): void {
    if (this.#isOver) return;
    const left = this.#members.length;
    const rest = `${left} ${left === 1 ? "is" : "are"} left`;
    if (seat.restarts === RESTARTS_MOST) {
      this.#tell(`${how}; it was started again ${RESTARTS_MOST} times, and is not any more; ${rest}`);
      return;
    }
    const inMs = RESTART_AFTER_MS * 2 ** seat.restarts;
    seat.restarts += 1;
    this.#tell(`${how}; another is started in ${inMs} ms; ${rest}`);
    const restart = (): void => {
      this.#startOne(seat).catch((error: unknown) => {
        this.#replace(seat, `a worker cannot start: ${reasonOf(error)}`);
      });
    };
    seat.restart = setTimeout(restart, inMs);
  }

  #tell(text: string): void {
    this.#options.onUnexpected?.(new Error(text));
  }

  /** Gives a connection to the next worker in turn. */
  take(socket: Socket): void {
    const members = this.#members;
    const member = members[this.#next % members.length];
    this.#next += 1;
    if (member?.child.connected)
      member.child.send({ kind: "connection" }, socket, (error) => error && socket.destroy());
    else socket.destroy();
  }

  sweep(): void {
    for (const store of this.#options.stores) store.sweep(Date.now());
  }

  /** Lets the workers finish calls on their way, and kills those that are blocked or do not end. */
  async end(): Promise<void> {
    const members = this.#members;
    this.#stop(({ isReady }) => !isReady);
    await Promise.all(members.map((member) => this.#endOne(member)));
  }

  async #endOne({ child, ended, ending }: Member): Promise<void> {
    const kill = (): void => void child.kill("SIGKILL");
    const blocked = setTimeout(kill, ANSWER_WITHIN_MS);
    const late = setTimeout(kill, this.#task.closeWithinMs + KILL_AFTER_MS);
    void ending.then(() => clearTimeout(blocked));
    send(child, { kind: "end" });
    await ended;
    clearTimeout(blocked);
    clearTimeout(late);
  }

  kill(): void {
    this.#stop(() => true);
  }

  /** Starts no more workers, and kills some. */
  #stop(isKilled: (member: Member) => boolean): void {
    this.#isOver = true;
    for (const { member, restart } of this.#seats) {
      clearTimeout(restart);
      if (member !== null && isKilled(member)) member.child.kill("SIGKILL");
    }
  }
}

/** Describes the end of a worker that failed to start, with its last words. */
function endOf(code: number | null, signal: NodeJS.Signals | null, said: string): string {
  const error = /^\w*Error\b.*$/m.exec(said)?.[0];
  return `it ended with ${signal ?? `status ${code}`}${error === undefined ? "" : ` (${error})`}`;
}

const reasonOf = (error: unknown): string =>
  error instanceof SpillwayError ? (error.problems[0]?.got ?? "") : String(error);

/** Sends a message, unless the worker has ended and hears nothing more. */
function send(child: ChildProcess, message: ToWorker): void {
  if (child.connected) child.send(message, () => {});
}

const notStarted = (got: string, cause?: unknown): SpillwayError =>
  new SpillwayError("WORKER_FAILED", "a worker of the deployment cannot start", {
    problem: { path: "worker", got, allowed: "a process that serves" },
    hint: "are there too many processes, or too little memory? --workers 1 needs none beside this one",
    cause,
  });
