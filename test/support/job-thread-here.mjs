// A job's thread without a thread. A thread's start, and a job in it before its code is optimized, take longer than all
// else in most command lines. Messages go through a channel, as to a thread.
import { EventEmitter } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import { PassThrough } from "node:stream";
import workers from "node:worker_threads";

const RealWorker = workers.Worker;
let threads = 0;
let last = Promise.resolve();

/** Loads one entry after the other, since each takes its port and its data while it is loaded. */
class JobThreadHere extends EventEmitter {
  stdout = new PassThrough();
  stderr = new PassThrough();
  #port;

  constructor(entry, { workerData }) {
    super();
    const { port1, port2 } = new workers.MessageChannel();
    this.#port = port1.on("message", (message) => this.emit("message", message));
    threads += 1;
    const url = `${entry}?${threads}`;
    last = last.then(async () => {
      const before = { parentPort: workers.parentPort, workerData: workers.workerData };
      Object.assign(workers, { parentPort: port2, workerData });
      syncBuiltinESMExports();
      await import(url).catch((error) => this.emit("error", error));
      Object.assign(workers, before);
      syncBuiltinESMExports();
    });
  }

  postMessage(message) {
    this.#port.postMessage(message);
  }

  async terminate() {
    this.#port.close();
    this.stdout.end();
    this.stderr.end();
    this.emit("exit", 1);
  }
}

function Worker(entry, options) {
  const isJob = String(entry).endsWith("/job-thread-entry.js");
  return isJob ? new JobThreadHere(entry, options) : new RealWorker(entry, options);
}

const clockOf = () => ({
  timers: { Date, setTimeout, clearTimeout, setInterval, clearInterval },
  now: performance.now,
  hrtime: process.hrtime,
});

/**
 * Runs jobs in this thread from now on, for code that Node has loaded.
 * @returns a function that restores threads; it throws if unfinished user code has kept its clock
 */
export function runJobsHere() {
  const { exit } = process;
  const clock = clockOf();
  const heard = ["beforeExit", "uncaughtExceptionMonitor"].map((name) => [name, process.listeners(name)]);
  workers.Worker = Worker;
  syncBuiltinESMExports();
  return () => {
    workers.Worker = RealWorker;
    syncBuiltinESMExports();
    // Undoes what the entry does to a process that it takes for its own.
    process.exit = exit;
    for (const [name, before] of heard)
      for (const listener of process.listeners(name))
        if (!before.includes(listener)) process.off(name, listener);
    const kept = clockOf().timers.Date !== clock.timers.Date;
    Object.assign(globalThis, clock.timers);
    performance.now = clock.now;
    process.hrtime = clock.hrtime;
    if (kept) throw new Error("code of the user's is not done, and keeps its clock: this job needs a thread");
  };
}
