// Who does a plan's jobs: this thread, or several of their own. The outcomes are the same.
import { setImmediate } from "node:timers/promises";
import { Piscina } from "piscina";
import type { Job, Outcome } from "../plan/job.ts";
import { runJob } from "../plan/run-job.ts";
import { SpillwayError } from "../rules/errors.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { PlanTask, SentError } from "./plan-worker.ts";

/** Does jobs. */
export interface Runner {
  /**
   * Does all of them, in any order.
   * @param onDone told of each as it ends
   * @throws what the first job that fails throws; where the signal is aborted, its reason
   */
  run(jobs: readonly Job[], onDone: (job: Job, outcome: Outcome) => void): Promise<void>;
  close(): Promise<void>;
}

/** So long a thread works before signals have their turn, ms. */
const turnMs = 50;

/** This thread. */
export function runHere(scenario: Scenario, { figures }: PlanTask, signal: AbortSignal): Runner {
  return {
    async run(jobs, onDone) {
      let turnAt = Date.now() + turnMs;
      for (const job of jobs) {
        onDone(job, runJob(scenario, figures, job));
        if (Date.now() < turnAt) continue;
        await setImmediate();
        signal.throwIfAborted();
        turnAt = Date.now() + turnMs;
      }
    },
    close: async () => undefined,
  };
}

const workerFile = new URL("./plan-worker.js", import.meta.url).href;

/** Threads of their own, each with the scenario's file loaded. */
export function runInThreads(threads: number, task: PlanTask, signal: AbortSignal): Runner {
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
