// A thread that does a verb's work and runs the code of the user's files. An endless loop there stops neither the
// terminal nor Ctrl-C, and `process.exit` ends only the thread.
import { Worker } from "node:worker_threads";
import { digestOf, type LoadedScenario } from "../load/scenario-file.ts";
import { type BundledModule, type PlacedModule, placeModules } from "../load/user-module.ts";
import { noteStuck } from "./interrupt.ts";
import { eventsOf } from "./job-events.ts";
import type { EventOf, JobName, ResultOf, TaskOf } from "./jobs.ts";
import { scenarioOf } from "./scenario-data.ts";
import { errorOf, received } from "./sent-error.ts";
import { endedBy, graceMs, type ThreadEnd } from "./thread-end.ts";
import { entryNamed } from "./thread-entry.ts";
import type { FromThread, ThreadData, ToThread } from "./thread-messages.ts";

/** The user's files whose code a thread runs. */
export interface JobFiles {
  /** Name of a built-in scenario, or a path. */
  readonly scenario?: string | undefined;
  /** Path of the adapter. */
  readonly adapter?: string | undefined;
  /** True if the adapter has to take a policy, not rules. */
  readonly byPolicy?: boolean | undefined;
}

export interface JobOptions {
  /** Longest time for importing the files, ms. */
  readonly importMs: number;
  /** Signal that asks the job to end. The job is ended `graceMs` later. */
  readonly signal: AbortSignal;
}

/** Threads that have imported the same files. */
export interface JobThreads<S extends LoadedScenario | null = LoadedScenario | null> {
  /** Scenario without its clients' functions, which stay in the threads; `null` if no scenario was named. */
  readonly scenario: S;
  /** Name of the limiter; `null` if no adapter was named. */
  readonly limiter: string | null;
  /** The first thread. */
  readonly thread: JobThread;
  /** Starts another thread. @throws as `startJobs` does */
  another(): Promise<JobThread>;
  /** Ends all threads, even while they work. */
  close(): Promise<void>;
}

/**
 * Starts a thread that has imported the user's files.
 * @throws SpillwayError for each file as `bundleScenarioFile` and `bundleAdapterFile` do; its `SCENARIO_INVALID` or
 *   `ADAPTER_INVALID` if importing throws, takes too long, ends the process, or never ends; `INTERRUPTED`
 */
export function startJobs(
  files: JobFiles & { readonly scenario: string },
  options: JobOptions,
): Promise<JobThreads<LoadedScenario>>;
export function startJobs(files: JobFiles, options: JobOptions): Promise<JobThreads>;
export async function startJobs(files: JobFiles, options: JobOptions): Promise<JobThreads> {
  const bundles = await bundled(files);
  const { placed, remove } = await placeModules(bundles);
  const threads: JobThread[] = [];
  let isClosed = false;
  const another = async (): Promise<JobThread> => {
    if (isClosed) throw new RangeError("these threads are closed");
    const thread = new JobThread(placed, options);
    threads.push(thread);
    await thread.ready;
    return thread;
  };
  const close = async (): Promise<void> => {
    isClosed = true;
    await Promise.all(threads.map((thread) => thread.end()));
    await remove();
  };
  try {
    const thread = await another();
    const { scenario: data, limiter } = await thread.ready;
    const bundle = bundles.find(({ kind }) => kind.name === "scenario");
    const scenario =
      data === null || bundle === undefined
        ? null
        : { scenario: scenarioOf(data), path: bundle.path, digest: digestOf(bundle) };
    return { scenario, limiter, thread, another, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Returns a scenario as data. Its file is imported in a thread that ends at once.
 * @throws SpillwayError as `startJobs` does
 */
export async function readScenario(scenario: string, options: JobOptions): Promise<LoadedScenario> {
  const threads = await startJobs({ scenario }, options);
  await threads.close();
  return threads.scenario;
}

async function bundled({ adapter, byPolicy = false, scenario }: JobFiles): Promise<BundledModule[]> {
  const bundles: BundledModule[] = [];
  if (adapter !== undefined)
    bundles.push(await (await import("./adapter-file.ts")).bundleAdapterFile(adapter, byPolicy));
  if (scenario !== undefined)
    bundles.push(await (await import("../load/scenario-file.ts")).bundleScenarioFile(scenario));
  return bundles;
}

type Ready = Extract<FromThread, { kind: "ready" }>;

/** Bounds of the wait for a message. */
interface Limits {
  readonly signal: AbortSignal;
  /** Time that the thread may go on once the signal is aborted, ms. */
  readonly graceMs: number;
  /** Time that importing may take, ms; `null` for a message without such a bound. */
  readonly importMs: number | null;
}

/** Longest time for a thread's end, ms. A thread that takes longer is in native code. */
const endMs = 3_000;

class JobThread {
  /** Resolves when the files are imported. */
  readonly ready: Promise<Ready>;
  readonly #worker: Worker;
  readonly #modules: readonly PlacedModule[];
  readonly #signal: AbortSignal;
  readonly #flag = new Int32Array(new SharedArrayBuffer(4));
  /** True if some of the user's code may have run. */
  #hasBegun = false;
  #importing: PlacedModule | null;
  #end: ThreadEnd | null = null;
  #isOver = false;
  #heard: (message: FromThread) => void = () => undefined;
  #failed: (error: Error) => void = () => undefined;

  constructor(modules: readonly PlacedModule[], { importMs, signal }: JobOptions) {
    const named = (name: string): PlacedModule | null =>
      modules.find(({ kind }) => kind.name === name) ?? null;
    const workerData: ThreadData = {
      scenario: named("scenario"),
      adapter: named("adapter"),
      flag: this.#flag.buffer as SharedArrayBuffer,
    };
    this.#modules = modules;
    this.#signal = signal;
    this.#importing = modules[0] ?? null;
    this.#worker = new Worker(entryNamed("job-thread-entry"), {
      workerData,
      argv: process.argv.slice(2),
      stdout: true,
      stderr: true,
    });
    // Standard output belongs to the verb.
    this.#worker.stdout.pipe(process.stderr, { end: false });
    this.#worker.stderr.pipe(process.stderr, { end: false });
    this.#worker.on("message", (message: FromThread) => this.#hear(message, named));
    this.#worker.on("error", (thrown: unknown) => this.#note({ kind: "uncaught", error: errorOf(thrown) }));
    this.#worker.on("exit", (code) => this.#over({ kind: "exit", code: String(code), stack: "" }));
    this.ready = this.#until<Ready>("ready", { signal, graceMs: 0, importMs });
    this.ready.catch(() => undefined);
  }

  /**
   * Does a job; only one at a time.
   * @param signal ends this job, if another signal than the thread's
   * @returns its events, then its result
   * @throws what the job throws; `SCENARIO_FAILED` or `ADAPTER_FAILED` if the user's code ends the thread;
   *   `INTERRUPTED`
   */
  run<N extends JobName>(
    name: N,
    task: TaskOf<N>,
    signal = this.#signal,
  ): AsyncGenerator<EventOf<N>, ResultOf<N>, undefined> {
    return eventsOf<EventOf<N>, ResultOf<N>>(async (tell) => {
      const heard = (event: unknown): void => {
        tell(event as EventOf<N>).then(() => this.#send({ kind: "taken" }));
      };
      const limits = { signal, graceMs, importMs: null };
      const done = this.#until<Extract<FromThread, { kind: "done" }>>("done", limits, heard);
      this.#send({ kind: "job", name, task });
      return (await done).result as ResultOf<N>;
    });
  }

  /** Ends the thread, even while it works. */
  async end(): Promise<void> {
    this.#note({ kind: "stopped", isNative: false });
    const ended = this.#worker.terminate().then(() => true);
    const isEnded = await Promise.race([ended, passed(endMs)]);
    if (isEnded) return;
    if (this.#end?.kind === "stopped") this.#end = { kind: "stopped", isNative: true };
    this.#over({ kind: "idle" });
    noteStuck();
  }

  #send(message: ToThread): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromThread, named: (name: string) => PlacedModule | null): void {
    this.#hasBegun = true;
    if (message.kind === "importing") this.#importing = named(message.name);
    else if (message.kind === "idle" || message.kind === "exit") this.#note(message);
    else {
      if (message.kind === "ready") this.#importing = null;
      this.#heard(message);
    }
  }

  /** Notes a cause of the end. The first one counts. */
  #note(end: ThreadEnd): void {
    this.#end ??= end;
  }

  #over(end: ThreadEnd): void {
    this.#note(end);
    this.#isOver = true;
    this.#failed(this.#error());
  }

  /** Returns the error of the end. Call it once the thread is over: messages from before may come after an error. */
  #error(): Error {
    const end = this.#end ?? { kind: "idle" };
    const isUnstarted = end.kind === "uncaught" && !this.#hasBegun;
    return endedBy(isUnstarted ? { ...end, kind: "unstarted" } : end, this.#modules, this.#importing);
  }

  /** Waits for a message. */
  #until<M extends FromThread>(
    kind: M["kind"],
    { signal, graceMs: waitMs, importMs }: Limits,
    onEvent: (event: unknown) => void = () => undefined,
  ): Promise<M> {
    const timers: NodeJS.Timeout[] = [];
    const stopAfter = (ms: number, end: ThreadEnd): void => {
      const stop = (): void => {
        this.#note(end);
        void this.end();
      };
      timers.push(setTimeout(stop, ms));
    };
    const ask = (): void => {
      Atomics.store(this.#flag, 0, 1);
      stopAfter(waitMs, { kind: "stopped", isNative: false });
    };
    if (importMs !== null) stopAfter(importMs, { kind: "late", importMs });
    if (signal.aborted) ask();
    else signal.addEventListener("abort", ask, { once: true });
    return new Promise<M>((resolve, reject) => {
      this.#failed = reject;
      this.#heard = (message) => {
        if (message.kind === "event") onEvent(message.event);
        else if (message.kind === "failed") reject(received(message.error));
        else if (message.kind === kind) resolve(message as M);
      };
      if (this.#isOver) reject(this.#error());
    }).finally(() => {
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener("abort", ask);
    });
  }
}

export type { JobThread };

const passed = (ms: number): Promise<false> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(false), ms).unref();
  });
