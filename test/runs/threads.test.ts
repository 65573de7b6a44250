// Threads that only pretend: what is sent to them, what their words do, and how their end is told. The clock is the
// test's.
import { EventEmitter } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import workers from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { JobOutcome, PlanJob } from "../../src/plan/job.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { type JobThread, type JobThreads, readScenario, startJobs } from "../../src/runs/job-thread.ts";
import { createRunner } from "../../src/runs/plan-runner.ts";
import { sent } from "../../src/runs/sent-error.ts";
import { graceMs } from "../../src/runs/thread-end.ts";
import { openTraceFile } from "../../src/runs/trace-thread.ts";

class Pretended extends EventEmitter {
  static readonly all: Pretended[] = [];
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly entry: string;
  readonly options: { workerData: unknown; argv?: string[]; stdout?: boolean; stderr?: boolean };
  readonly heard: unknown[] = [];
  terminated = 0;
  /** False for a thread in native code, which does not end. */
  ends = true;

  constructor(entry: URL, options: Pretended["options"]) {
    super();
    this.entry = String(entry);
    this.options = options;
    Pretended.all.push(this);
  }

  postMessage(message: unknown): void {
    this.heard.push(message);
  }

  async terminate(): Promise<number> {
    this.terminated += 1;
    if (!this.ends) return new Promise(() => undefined);
    this.emit("exit", 1);
    return 1;
  }

  says(message: object): void {
    this.emit("message", message);
  }
}

const { Worker } = workers;
beforeEach(() => {
  Pretended.all.length = 0;
  Object.assign(workers, { Worker: Pretended });
  syncBuiltinESMExports();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
});
afterEach(() => {
  for (const { stdout, stderr } of Pretended.all) for (const stream of [stdout, stderr]) stream.end();
  vi.useRealTimers();
  Object.assign(workers, { Worker });
  syncBuiltinESMExports();
});

const thread = (at = 0): Pretended => Pretended.all[at] as Pretended;
const ready = { kind: "ready", scenario: null, limiter: null };
const later = (ms: number) => vi.advanceTimersByTimeAsync(ms);
/** Waits for a thread to be started, through files that are written before. */
async function started(count = 1): Promise<void> {
  while (Pretended.all.length < count) await new Promise(setImmediate);
}
const caught = async (promise: Promise<unknown>): Promise<SpillwayError> => {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Error);
  return error as SpillwayError;
};

/** Threads without files, of which the first is ready. */
async function threads(signal = new AbortController().signal) {
  const starting = startJobs({}, { importMs: 500, signal });
  await started();
  thread().says(ready);
  return starting;
}

/** All events of a job, and its result. */
async function told(job: AsyncGenerator<unknown, unknown, undefined>, seen: unknown[] = []) {
  for (;;) {
    const { done, value } = await job.next();
    if (done === true) return { seen, result: value };
    seen.push(value);
  }
}

describe("a job's thread", () => {
  test("is the built entry, with its data, and prints to standard error alone", async () => {
    const { scenario, limiter, close } = await threads();
    expect([scenario, limiter]).toEqual([null, null]);
    const { entry, options } = thread();
    expect(entry).toMatch(/\/dist\/src\/runs\/job-thread-entry\.js$/);
    expect(options).toMatchObject({ argv: process.argv.slice(2), stdout: true, stderr: true });
    expect(options.workerData).toEqual({ scenario: null, adapter: null, flag: new SharedArrayBuffer(4) });
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      thread().stdout.write("out");
      thread().stderr.write("err");
      await later(0);
      expect(write.mock.calls.map(([text]) => String(text)).sort()).toEqual(["err", "out"]);
    } finally {
      write.mockRestore();
      await close();
    }
  });

  test("does a job: each event that was taken is acknowledged, and the result comes last", async () => {
    const { thread: one, close } = await threads();
    const seen: unknown[] = [];
    const job = told(one.run("plan", "the task" as never), seen);
    await later(0);
    expect(thread().heard).toEqual([{ kind: "job", name: "plan", task: "the task" }]);
    thread().says({ kind: "event", event: "a" });
    await later(0);
    expect([seen, thread().heard.slice(1)]).toEqual([["a"], [{ kind: "taken" }]]);
    thread().says({ kind: "event", event: "b" });
    thread().says({ kind: "done", result: 7 });
    expect(await job).toEqual({ seen: ["a", "b"], result: 7 });
    expect(vi.getTimerCount()).toBe(0);
    await close();
  });

  test("fails with the error that it tells", async () => {
    const { thread: one, close } = await threads();
    const job = caught(told(one.run("plan", {} as never)));
    await later(0);
    thread().says({ kind: "failed", error: sent(new SpillwayError("USAGE", "no such plan")) });
    expect(await job).toMatchObject({ code: "USAGE", message: "no such plan" });
    await close();
  });

  test.each<[string, (one: Pretended) => void, string]>([
    [
      "says that nothing is left to do",
      (one) => {
        one.says({ kind: "idle" });
        one.emit("exit", 0);
      },
      "a thread ended: idle",
    ],
    [
      "leaves by process.exit",
      (one) => {
        one.says({ kind: "exit", code: "3", stack: "" });
        one.emit("exit", 3);
      },
      "a thread ended: exit",
    ],
    [
      "throws what nobody catches",
      (one) => {
        one.emit("error", new RangeError("no luck"));
        one.emit("exit", 1);
      },
      "no luck",
    ],
    ["throws what is no error", (one) => one.emit("error", "odd") && one.emit("exit", 1), '"odd" was thrown'],
    ["just ends", (one) => one.emit("exit", 0), "a thread ended: exit"],
  ])("that %s fails its job, and every later one", async (_, end, message) => {
    const { thread: one, close } = await threads();
    const job = caught(told(one.run("plan", {} as never)));
    await later(0);
    end(thread());
    expect((await job).message).toBe(message);
    expect((await caught(told(one.run("plan", {} as never)))).message).toBe(message);
    await close();
  });

  test("that is interrupted is asked to end, and is ended after its grace", async () => {
    const controller = new AbortController();
    const { thread: one, close } = await threads(controller.signal);
    const job = caught(told(one.run("plan", {} as never)));
    await later(0);
    const flag = new Int32Array((thread().options.workerData as { flag: SharedArrayBuffer }).flag);
    expect(flag[0]).toBe(0);
    controller.abort();
    expect(flag[0]).toBe(1);
    await later(graceMs - 1);
    expect(thread().terminated).toBe(0);
    await later(1);
    expect(await job).toMatchObject({
      code: "INTERRUPTED",
      message: "interrupted: the work did not return within 2 s, and was ended",
    });
    expect(thread().terminated).toBe(1);
    await close();
  });

  test("that ends its job within its grace goes on", async () => {
    const controller = new AbortController();
    const { thread: one, close } = await threads();
    const job = told(one.run("plan", {} as never, controller.signal));
    await later(0);
    controller.abort();
    thread().says({ kind: "done", result: 1 });
    expect((await job).result).toBe(1);
    await later(10 * graceMs);
    expect([thread().terminated, vi.getTimerCount()]).toEqual([0, 0]);
    await close();
  });

  test("has its grace for a job that begins after the interrupt, too", async () => {
    const { thread: one, close } = await threads();
    const job = caught(told(one.run("plan", {} as never, AbortSignal.abort())));
    await later(graceMs);
    expect(await job).toMatchObject({ code: "INTERRUPTED" });
    await close();
  });

  test("in native code is given up 3 s later, and the process ends with it", async () => {
    const controller = new AbortController();
    const { thread: one, close } = await threads(controller.signal);
    thread().ends = false;
    const job = caught(told(one.run("plan", {} as never)));
    await later(0);
    controller.abort();
    await later(graceMs + 2_999);
    const over = vi.fn();
    void job.then(over);
    await later(0);
    expect(over).not.toHaveBeenCalled();
    await later(1);
    expect((await job).message).toBe(
      "interrupted: the work did not return within 2 s, and cannot be stopped: it is native, so the whole process ends",
    );
    thread().ends = true;
    await close();
  });
});

describe("threads of the same files", () => {
  test("are ended together; none is started after that", async () => {
    const { another, close } = await threads();
    const second = another();
    await started(2);
    thread(1).says(ready);
    await second;
    await close();
    expect(Pretended.all.map(({ terminated }) => terminated)).toEqual([1, 1]);
    expect((await caught(another())).message).toBe("these threads are closed");
    expect(Pretended.all).toHaveLength(2);
  });

  test("that cannot be imported are told by their file, and ended", async () => {
    const starting = caught(startJobs({ scenario: "steady" }, { importMs: 500, signal: neverAborted() }));
    await started();
    const { workerData } = thread().options as {
      workerData: { scenario: { path: string }; adapter: unknown };
    };
    expect([workerData.adapter, workerData.scenario.path]).toEqual([null, expect.stringMatching(/steady/)]);
    thread().says({ kind: "importing", name: "scenario" });
    thread().says({ kind: "failed", error: sent(new SpillwayError("SCENARIO_INVALID", "no scenario")) });
    expect(await starting).toMatchObject({ code: "SCENARIO_INVALID", message: "no scenario" });
    expect(thread().terminated).toBe(1);
  });

  test("that take too long to import are ended", async () => {
    const starting = caught(startJobs({}, { importMs: 500, signal: neverAborted() }));
    await started();
    await later(499);
    expect(thread().terminated).toBe(0);
    await later(1);
    expect((await starting).message).toBe("a thread ended: late");
  });

  test("that are interrupted while they import are ended at once", async () => {
    const controller = new AbortController();
    const starting = caught(startJobs({}, { importMs: 500, signal: controller.signal }));
    await started();
    controller.abort();
    await later(0);
    expect(await starting).toMatchObject({ code: "INTERRUPTED" });
  });

  test("that could not start at all tell why, as it came", async () => {
    const starting = caught(startJobs({}, { importMs: 500, signal: neverAborted() }));
    await started();
    const why = Object.assign(new Error("no thread"), { code: "ERR_WORKER_INIT_FAILED" });
    thread().emit("error", why);
    thread().emit("exit", 1);
    expect(await starting).toBe(why);
  });

  test("are not needed for a scenario as data: it is read, and its thread is ended", async () => {
    const reading = readScenario("steady", { importMs: 500, signal: neverAborted() });
    await started();
    const data = { name: "mine", populations: [] };
    thread().says({ ...ready, scenario: data });
    const { scenario, path, digest } = await reading;
    expect([scenario, path]).toEqual([data, expect.stringMatching(/steady/)]);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(thread().terminated).toBe(1);
  });
});

const neverAborted = () => new AbortController().signal;

describe("a plan's runner", () => {
  const job = (replication: number): PlanJob => ({
    variant: { changes: [], trigger: null, windowMs: null },
    replication,
  });
  const jobs = [0, 1, 2, 3, 4, 5].map(job);

  /** Threads of which each takes so many ms a job, or fails at some. */
  function pretended(ms: number, failing: readonly number[] = []) {
    const byThread: number[][] = [];
    const one = (): JobThread => {
      const done: number[] = [];
      byThread.push(done);
      return {
        async *run(_name: string, task: { job: PlanJob; figures: string }) {
          await new Promise((resolve) => setTimeout(resolve, ms));
          const { replication } = task.job;
          if (failing.includes(replication)) throw new Error(`job ${replication} of ${task.figures}`);
          done.push(replication);
          return { figures: [replication], windows: null };
        },
      } as unknown as JobThread;
    };
    const another = vi.fn(async () => one());
    return { byThread, another, threads: { thread: one(), another } as unknown as JobThreads };
  }

  async function done(most: number, { threads: all }: ReturnType<typeof pretended>, times = 1) {
    const runner = createRunner(most, all, { figures: "those" } as never);
    const outcomes: [number, JobOutcome][] = [];
    for (let time = 0; time < times; time++) {
      const running = runner.run(jobs, ({ replication }, outcome) => outcomes.push([replication, outcome]));
      running.catch(() => undefined);
      await later(10_000);
      await running;
    }
    return outcomes;
  }

  test("does jobs one after the other while there is little to do", async () => {
    const all = pretended(80);
    expect(await done(4, all)).toEqual(jobs.map((_, at) => [at, { figures: [at], windows: null }]));
    expect([all.byThread, all.another.mock.calls.length]).toEqual([[[0, 1, 2, 3, 4, 5]], 0]);
  });

  test("takes more threads after half a second, and keeps them", async () => {
    const all = pretended(250);
    expect((await done(3, all, 2)).length).toBe(12);
    expect(all.another).toHaveBeenCalledTimes(2);
    expect(all.byThread.map((those) => those.length)).toEqual([6, 3, 3]);
    expect(all.byThread[0]?.slice(0, 3)).toEqual([0, 1, 2]);
  });

  test("counts the time of all its runs together", async () => {
    const all = pretended(50);
    await done(2, all, 2);
    expect(all.another).toHaveBeenCalledTimes(1);
  });

  test("has one thread for ever where one is the most", async () => {
    const all = pretended(1_000);
    await done(1, all);
    expect(all.byThread).toEqual([[0, 1, 2, 3, 4, 5]]);
  });

  test("fails with the first job that fails, whichever thread is faster; the others are done", async () => {
    const all = pretended(10, [4, 2]);
    const outcomes: number[] = [];
    const runner = createRunner(1, all.threads, { figures: "those" } as never);
    const running = caught(runner.run(jobs, ({ replication }) => outcomes.push(replication)));
    await later(1_000);
    expect([(await running).message, outcomes]).toEqual(["job 2 of those", [0, 1, 3, 5]]);
  });

  test("fails where a thread that is needed cannot start, after the jobs", async () => {
    const all = pretended(600);
    all.another.mockRejectedValue(new Error("no thread"));
    const outcomes: number[] = [];
    const runner = createRunner(2, all.threads, { figures: "those" } as never);
    const running = caught(runner.run(jobs, ({ replication }) => outcomes.push(replication)));
    await later(10_000);
    expect([(await running).message, outcomes]).toEqual(["no thread", [0, 1, 2, 3, 4, 5]]);
  });
});

describe("a trace's thread", () => {
  const path = join(tmpdir(), "none-of-it-is-read");

  async function opened(signal = neverAborted()) {
    const stat = await import("node:fs/promises").then(({ default: fs }) =>
      vi.spyOn(fs, "stat").mockResolvedValue({ isFile: () => true, size: 10 } as never),
    );
    syncBuiltinESMExports();
    const opening = openTraceFile(path, { sort: false, signal, threadBytesLeast: 10 });
    opening.catch(() => undefined);
    await started();
    stat.mockRestore();
    syncBuiltinESMExports();
    return opening;
  }

  test("is the built entry with the trace's path; what it throws ends the reading", async () => {
    const opening = caught(opened());
    await started();
    expect(thread().entry).toMatch(/\/dist\/src\/runs\/trace-thread-entry\.js$/);
    expect(thread().options).toEqual({ workerData: path });
    thread().emit("error", new Error("no luck"));
    expect((await opening).message).toBe("no luck");
    expect(thread().terminated).toBe(1);
  });

  test("that ends before its work ends the reading", async () => {
    const opening = caught(opened());
    await started();
    thread().emit("exit", 9);
    expect((await opening).message).toBe("a thread that reads a trace ended: 9");
  });

  test("tells its own mistakes as they are", async () => {
    const opening = caught(opened());
    await started();
    thread().says({ kind: "failed", error: sent(new SpillwayError("TRACE_INVALID", "no trace")) });
    expect(await opening).toMatchObject({ code: "TRACE_INVALID", message: "no trace" });
  });

  test("gets each buffer back once it was used, and is ended with the last batch", async () => {
    const controller = new AbortController();
    const opening = opened(controller.signal);
    await started();
    thread().says({ kind: "header", header: { a: 1 } });
    const trace = await opening;
    expect(trace).toMatchObject({ version: 1, header: { a: 1 } });
    const batches = (trace as unknown as { batches: AsyncGenerator<{ size: number }> }).batches;
    const [one, two] = [new ArrayBuffer(1 << 20), new ArrayBuffer(1 << 20)];
    const bytes = new Uint8Array(1);
    const next = batches.next();
    thread().says({ kind: "batch", buffer: one, size: 3, bytes, names: ["ann"] });
    expect((await next).value).toMatchObject({ size: 3, bytes });
    expect(thread().heard).toEqual([]);
    thread().says({ kind: "batch", buffer: two, size: 1, bytes, names: [] });
    thread().says({ kind: "end" });
    expect((await batches.next()).value).toMatchObject({ size: 1 });
    expect(thread().heard).toEqual([one]);
    expect([(await batches.next()).done, thread().terminated, thread().heard.length]).toEqual([true, 1, 2]);
  });

  test("ends with the reason of the signal", async () => {
    const controller = new AbortController();
    const opening = opened(controller.signal);
    await started();
    thread().says({ kind: "header", header: {} });
    const { batches } = (await opening) as unknown as { batches: AsyncGenerator<unknown> };
    const next = caught(batches.next());
    controller.abort(new Error("enough"));
    expect((await next).message).toBe("enough");
    expect(thread().terminated).toBe(1);
  });
});
