// Does a plan's runs: in one thread while there is little to do, then in several. The outcomes are the same.
import type { JobOutcome, PlanJob } from "../plan/job.ts";
import { resultOf } from "./job-events.ts";
import type { JobThread, JobThreads } from "./job-thread.ts";
import type { PlanSetting } from "./plan-job.ts";

/** Takes each job as it ends. */
type OnDone = (job: PlanJob, outcome: JobOutcome) => void;

export interface Runner {
  /**
   * Does all jobs, in any order.
   * @throws what the first job that fails throws
   */
  run(jobs: readonly PlanJob[], onDone: OnDone): Promise<void>;
}

/** Longest time, ms, of a plan that needs only one thread. Threads need time to start and to get fast. */
const aloneMs = 500;

/**
 * Returns a runner of one thread, which becomes several after half a second.
 * @param most greatest number of threads, at least 1
 */
export function createRunner(most: number, threads: JobThreads, setting: PlanSetting): Runner {
  const ready = [threads.thread];
  let leftMs = most === 1 ? Number.POSITIVE_INFINITY : aloneMs;
  return {
    async run(jobs, onDone) {
      const startedMs = Date.now();
      const waiting = jobs.entries();
      const failures = new Map<number, unknown>();
      const working: Promise<void>[] = [];
      const grow = (): void => {
        if (Date.now() - startedMs < leftMs) return;
        leftMs = Number.POSITIVE_INFINITY;
        for (let count = 1; count < most; count += 1) working.push(joined());
      };
      const joined = async (): Promise<void> => {
        try {
          const thread = await threads.another();
          ready.push(thread);
          await work(thread);
        } catch (error) {
          failures.set(jobs.length, error);
        }
      };
      const work = async (thread: JobThread): Promise<void> => {
        for (const [index, job] of waiting) {
          try {
            onDone(job, await resultOf(thread.run("plan", { ...setting, job }), () => undefined));
          } catch (error) {
            failures.set(index, error);
          }
          grow();
        }
      };
      working.push(...ready.map(work));
      // More may come while the first are awaited.
      for (const one of working) await one;
      leftMs -= Date.now() - startedMs;
      // Throws the first failure in the order of jobs: the error must not depend on the threads' speed.
      if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
    },
  };
}
