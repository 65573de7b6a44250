// The processes of a deployment: started, spoken to, replaced where one ends by itself, and ended.
import { type ChildProcess, fork } from "node:child_process";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { SlowStore, Store } from "../engine/store.ts";
import { SpillwayError } from "../rules/errors.ts";
import { printableLines } from "../rules/printable.ts";
import type { Rules } from "../rules/rules.ts";
import type { Token } from "../rules/tokens.ts";
import type { Arrangement } from "./arrangement.ts";
import type { CounterChange } from "./copy.ts";
import { answerLetter, type Letter, type Reply } from "./letters.ts";

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
  | { readonly kind: "change"; readonly change: CounterChange }
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

const CLOSE_WITHIN_MS = 10_000;
const START_WITHIN_MS = 20_000;
/** Characters that are kept of what a worker says that does not start. */
const SAID_MOST = 4_000;
/** Time beyond its own patience that a worker has to end before it is killed. */
const KILL_AFTER_MS = 2_000;
/** A worker that has not said by then that it is ending is blocked, and is killed. */
const ANSWER_WITHIN_MS = 2_000;
const RESTART_AFTER_MS = 100;
/** So often a worker is started again; one that has lived for `STEADY_MS` begins to count anew. */
const RESTARTS_MOST = 6;
const STEADY_MS = 60_000;

const ownWorkerFile = fileURLToPath(new URL("./worker.js", import.meta.url));

/** The place of a worker in the team: who is in it may change. */
interface Seat {
  readonly store: Store | SlowStore;
  restarts: number;
}

/** One worker, from its start to its end. */
interface Member {
  readonly child: ChildProcess;
  readonly seat: Seat;
  readonly ended: Promise<unknown>;
  /** Fulfilled when it says that it is ending. */
  readonly ending: Promise<unknown>;
}

/** The workers. */
export class Team {
  readonly #options: WorkersOptions;
  readonly #seats: readonly Seat[];
  /** Those who are ready. */
  readonly #members: Member[] = [];
  /** Those who are not ready yet, too. */
  readonly #children = new Set<ChildProcess>();
  readonly #task: WorkerTask;
  readonly #over = new AbortController();
  #next = 0;

  constructor(options: WorkersOptions) {
    this.#options = options;
    const { rules, tokens, arrangement, executionDelayMs = 0, closeWithinMs = CLOSE_WITHIN_MS } = options;
    const { own, lagMs = 0 } = arrangement;
    this.#task = { rules, tokens, own, lagMs, executionDelayMs, closeWithinMs };
    const storeOf = arrangement.storesOf((change) => this.#tellAll({ kind: "change", change }));
    this.#seats = Array.from({ length: options.workers }, (_, seat) => ({
      store: storeOf(seat),
      restarts: 0,
    }));
  }

  get pids(): number[] {
    return this.#members.map(({ child }) => child.pid ?? 0);
  }

  /** @throws SpillwayError `WORKER_FAILED` */
  async start(): Promise<void> {
    await Promise.all(this.#seats.map((seat) => this.#startOne(seat)));
  }

  async #startOne(seat: Seat): Promise<void> {
    // Whatever the tokens are, no process list shows them: all that a worker needs comes over the channel.
    const file = this.#options.workerFile ?? ownWorkerFile;
    const child = fork(file, [], { execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] });
    this.#children.add(child);
    const ended = new Promise((resolve) => child.once("close", resolve).once("error", resolve));
    const ending = new Promise<void>((resolve) => {
      child.on("message", (message: FromWorker) => {
        if (message.kind === "ending") resolve();
        else this.#hear(child, seat.store, message);
      });
    });
    void ended.then(() => this.#children.delete(child));
    await this.#untilReady(child).catch((error: unknown) => {
      child.kill("SIGKILL");
      throw error;
    });
    child.stderr?.on("data", (text: string) => process.stderr.write(printableLines(text)));
    const member = { child, seat, ended, ending };
    this.#members.push(member);
    // Turns go by seats, whoever was ready first: a fault may be of every other one.
    this.#members.sort((a, b) => this.#seats.indexOf(a.seat) - this.#seats.indexOf(b.seat));
    const beganMs = Date.now();
    child.once("exit", (code, signal) => {
      if (Date.now() - beganMs > STEADY_MS) seat.restarts = 0;
      this.#members.splice(this.#members.indexOf(member), 1);
      this.#replace(seat, `worker ${child.pid} ended with ${signal ?? `status ${code}`}`);
    });
  }

  async #untilReady(child: ChildProcess): Promise<void> {
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
  }

  #hear(child: ChildProcess, store: Store | SlowStore, message: FromWorker): void {
    if (message.kind === "unexpected") this.#tell(message.message);
    if (message.kind !== "letter") return;
    void answerLetter(store, message.letter, Date.now, wait).then((reply) =>
      send(child, { kind: "reply", reply }),
    );
  }

  /** Starts a worker in the place of one that ended by itself, after a while, and not for ever. */
  #replace(seat: Seat, how: string): void {
    const { signal } = this.#over;
    if (signal.aborted) return;
    const left = this.#members.length;
    const rest = `${left} ${left === 1 ? "is" : "are"} left`;
    if (seat.restarts === RESTARTS_MOST) {
      this.#tell(`${how}; it was started again ${RESTARTS_MOST} times, and is not any more; ${rest}`);
      return;
    }
    const inMs = (this.#options.restartAfterMs ?? RESTART_AFTER_MS) * 2 ** seat.restarts;
    seat.restarts += 1;
    this.#tell(`${how}; another is started in ${inMs} ms; ${rest}`);
    wait(inMs, null, { signal })
      .then(() => this.#startOne(seat))
      .catch((error: unknown) => {
        if (!signal.aborted) this.#replace(seat, `a worker cannot start: ${reasonOf(error)}`);
      });
  }

  #tell(text: string): void {
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
    for (const store of new Set(this.#seats.map((seat) => seat.store))) store.sweep(Date.now());
  }

  #tellAll(message: ToWorker): void {
    for (const { child } of this.#members) send(child, message);
  }

  /** Lets the workers finish what is on its way, and ends those that are blocked or do not come to an end. */
  async end(): Promise<void> {
    this.#over.abort();
    const members = [...this.#members];
    const ready = new Set(members.map(({ child }) => child));
    for (const child of this.#children) if (!ready.has(child)) child.kill("SIGKILL");
    this.#tellAll({ kind: "end" });
    await Promise.all(members.map((member) => this.#endOne(member)));
  }

  async #endOne({ child, ended, ending }: Member): Promise<void> {
    const kill = (): boolean => child.kill("SIGKILL");
    const blocked = setTimeout(kill, this.#options.answerWithinMs ?? ANSWER_WITHIN_MS);
    const late = setTimeout(kill, this.#task.closeWithinMs + KILL_AFTER_MS);
    void ending.then(() => clearTimeout(blocked));
    await ended;
    clearTimeout(blocked);
    clearTimeout(late);
  }

  kill(): void {
    this.#over.abort();
    for (const child of this.#children) child.kill("SIGKILL");
  }
}

/** Describes the end of a worker that was to start, and its last words. */
function endOf(code: number | null, signal: NodeJS.Signals | null, said: string): string {
  const error = /^\w*Error\b.*$/m.exec(said)?.[0];
  return `it ended with ${signal ?? `status ${code}`}${error === undefined ? "" : ` (${error})`}`;
}

const reasonOf = (error: unknown): string =>
  error instanceof SpillwayError ? (error.problems[0]?.got ?? error.message) : String(error);

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
