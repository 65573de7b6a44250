// The thread that jobs run in: it imports the user's modules, then does one job after the other.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { importScenario } from "../load/scenario-file.ts";
import { quote } from "../rules/errors.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { JobContext, JobLimiter } from "./job.ts";
import { type JobName, jobNamed } from "./jobs.ts";
import { dataOf } from "./scenario-data.ts";
import { sent } from "./sent-error.ts";
import { eventsMost, type FromThread, type ThreadData, type ToThread } from "./thread-messages.ts";

const port = parentPort as MessagePort;
const { scenario, adapter, flag } = workerData as ThreadData;
const asked = new Int32Array(flag);
const signal = {
  get aborted(): boolean {
    return Atomics.load(asked, 0) !== 0;
  },
};

const post = (message: FromThread): void => port.postMessage(message);

process.on("beforeExit", () => post({ kind: "idle" }));
// Node itself calls `process.exit` after an error that nobody caught, and tells the main thread of the error.
let hasFailed = false;
process.on("uncaughtExceptionMonitor", () => {
  hasFailed = true;
});
const exit = process.exit.bind(process);
process.exit = (code) => {
  if (hasFailed) return exit(code);
  post({ kind: "exit", code: code === undefined ? "" : quote(code), stack: new Error("exit").stack ?? "" });
  return exit(code);
};

async function limiterOf(): Promise<JobLimiter | null> {
  if (adapter === null) return null;
  post({ kind: "importing", name: "adapter" });
  return (await import("./simulated-limiter.ts")).importInVirtualTime(adapter);
}

async function scenarioOf(): Promise<Scenario | null> {
  if (scenario === null) return null;
  post({ kind: "importing", name: "scenario" });
  return importScenario(scenario);
}

async function main(): Promise<void> {
  const limiter = await limiterOf();
  const context: JobContext = { limiter, scenario: await scenarioOf(), signal };
  const data = context.scenario === null ? null : dataOf(context.scenario);
  serve(context);
  post({ kind: "ready", scenario: data, limiter: limiter?.factory.name ?? null });
}

/** Does the jobs that it is given. While a job runs, the port alone does not keep the thread alive. */
function serve(context: JobContext): void {
  let free = eventsMost;
  let wake = (): void => undefined;
  const room = async (): Promise<void> => {
    free -= 1;
    if (free > 0) return;
    port.ref();
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    port.unref();
  };
  const work = async (name: JobName, task: unknown): Promise<void> => {
    port.unref();
    try {
      const events = (await jobNamed(name))(task as never, context);
      let next = await events.next();
      for (; next.done !== true; next = await events.next()) {
        post({ kind: "event", event: next.value });
        await room();
      }
      post({ kind: "done", result: next.value });
    } catch (error) {
      post({ kind: "failed", error: sent(error) });
    } finally {
      port.ref();
    }
  };
  port.on("message", (message: ToThread) => {
    if (message.kind === "job") return void work(message.name, message.task);
    free += 1;
    wake();
  });
}

main().catch((error: unknown) => post({ kind: "failed", error: sent(error) }));
