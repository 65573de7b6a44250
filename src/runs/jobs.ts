// The jobs by name. Each is loaded when it runs.
import type { Job } from "./job.ts";

const jobs = {
  check: async () => (await import("./check-job.ts")).checkJob,
  interleavings: async () => (await import("./check-job.ts")).interleavingsJob,
  load: async () => (await import("./load-job.ts")).loadJob,
  measure: async () => (await import("./simulate-job.ts")).measureJob,
  plan: async () => (await import("./plan-job.ts")).planJob,
  simulate: async () => (await import("./simulate-job.ts")).simulateJob,
  swarm: async () => (await import("./swarm-job.ts")).swarmJob,
};

type Jobs = { readonly [N in keyof typeof jobs]: Awaited<ReturnType<(typeof jobs)[N]>> };

export type JobName = keyof Jobs;
export type TaskOf<N extends JobName> = Parameters<Jobs[N]>[0];
export type EventOf<N extends JobName> =
  ReturnType<Jobs[N]> extends AsyncGenerator<infer Event, unknown, undefined> ? Event : never;
export type ResultOf<N extends JobName> =
  ReturnType<Jobs[N]> extends AsyncGenerator<unknown, infer Result, undefined> ? Result : never;

export const jobNamed = (name: JobName): Promise<Job<never, unknown, unknown>> => jobs[name]();
