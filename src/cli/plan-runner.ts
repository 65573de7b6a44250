// Who does a plan's jobs: this thread while there is little to do, then several of their own. The outcomes are the
// same.
import { setImmediate } from "node:timers/promises";
import { Piscina } from "piscina";
import type { Job, Outcome } from "../plan/job.ts";
import { runJob } from "../plan/run-job.ts";
import { SpillwayError } from "../rules/errors.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { PlanTask, SentError } from "./plan-worker.ts";

/** Told of each job as it ends. */
type OnDone = (job: Job, outcome: Outcome) => void;

/** Does jobs. */
export interface Runner {
  /**
   * Does all of them, in any order.
   * @throws what the first job that fails throws; where the signal is aborted, its reason
   */
  run(jobs: readonly Job[], onDone: OnDone): Promise<void>;
  close(): Promise<void>;
}

/** So long a thread works before signals have their turn, ms. */
const turnMs = 50;
/** Threads take their time to start and to get fast; a plan that is over by then needs none. */
const aloneMs = 500;

/**
 * Runs jobs in this thread, and after half a second in threads of their own.
 * @param threads 1: in this thread alone
 */
export function createRunner(
  threads: number,
  scenario: Scenario,
  task: PlanTask,
  signal: AbortSignal,
): Runner {
  const here = new Here(scenario, task, signal, threads === 1 ? Number.POSITIVE_INFINITY : aloneMs);
  let there: Runner | null = null;
  return {
    async run(jobs, onDone) {
      const done = await here.run(jobs, onDone);
      if (done === jobs.length) return;
      there ??= runInThreads(threads, task, signal);
      await there.run(jobs.slice(done), onDone);
    },
    close: async () => there?.close(),
  };
}

/** This thread, for as long as it is given. */
class Here {
  readonly #scenario: Scenario;
  readonly #task: PlanTask;
  readonly #signal: AbortSignal;
  #leftMs: number;

  constructor(scenario: Scenario, task: PlanTask, signal: AbortSignal, leftMs: number) {
    this.#scenario = scenario;
    this.#task = task;
    this.#signal = signal;
    this.#leftMs = leftMs;
  }

  /** Runs jobs until its time is up. @returns how many it did */
  async run(jobs: readonly Job[], onDone: OnDone): Promise<number> {
    const startedMs = Date.now();
    const endsMs = startedMs + this.#leftMs;
    let turnAtMs = startedMs + turnMs;
    let done = 0;
    this.#signal.throwIfAborted();
    for (const job of jobs) {
      const nowMs = Date.now();
      if (nowMs >= endsMs) break;
      if (nowMs >= turnAtMs) {
        await setImmediate();
        this.#signal.throwIfAborted();
        turnAtMs = nowMs + turnMs;
      }
      onDone(job, runJob(this.#scenario, this.#task.figures, job));
      done += 1;
    }
    this.#leftMs -= Date.now() - startedMs;
    return done;
  }
}

const workerFile = new URL("./plan-worker.js", import.meta.url).href;

/** Threads of their own, each with the scenario's file loaded. */
function runInThreads(threads: number, task: PlanTask, signal: AbortSignal): Runner {
  const pool = new Piscina({
    filename: workerFile,
    workerData: task,
    minThreads: threads,
    maxThreads: threads,
  });
  const stop = (): void => void pool.destroy();
  signal.addEventListener("abort", stop, { once: true });
  return {
    async run(jobs, onDone) {
      signal.throwIfAborted();
      const one = async (job: Job): Promise<void> => {
        const answer: Outcome | { readonly error: SentError } = await pool.run(job);
        if ("error" in answer) throw received(answer.error);
        onDone(job, answer);
      };
      const results = await Promise.allSettled(jobs.map(one));
      signal.throwIfAborted();
      // The first in the order of the jobs, so that the same error is told whichever thread was first.
      const failed = results.find((result) => result.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    },
    async close() {
      signal.removeEventListener("abort", stop);
      await pool.destroy();
    },
  };
}

function received({ code, summary, problems, hint }: SentError): SpillwayError {
  return new SpillwayError(code, summary, { problems, ...(hint === undefined ? {} : { hint }) });
}
