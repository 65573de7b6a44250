// The thread that reads a trace (`trace-thread.ts`).
import { parentPort, workerData } from "node:worker_threads";
import { CallBatch } from "../trace/batch.ts";
import { Names } from "../trace/names.ts";
import { openTrace } from "../trace/read.ts";
import { sent } from "./sent-error.ts";
import { traceFileBytes } from "./trace-bytes.ts";
import type { FromTraceThread, ToTraceThread } from "./trace-thread-messages.ts";

/** Number of batches that may wait to be used. */
const waitingMost = 6;

const free: ArrayBuffer[] = [];
let waiting = 0;
let wake: () => void = () => undefined;

parentPort?.on("message", (buffer: ToTraceThread) => {
  free.push(buffer);
  waiting -= 1;
  wake();
});

/** Sends a batch, then waits until there is room for one more. A verb returns the batches that it has used. */
async function send(message: FromTraceThread, transfer: readonly ArrayBuffer[]): Promise<void> {
  parentPort?.postMessage(message, transfer);
  waiting += 1;
  while (waiting >= waitingMost)
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
}

async function read(path: string): Promise<void> {
  let names = new Names();
  const newBatch = (all: Names): CallBatch => {
    names = all;
    return new CallBatch(all, free.pop());
  };
  const trace = await openTrace(traceFileBytes(path), { newBatch });
  const header = trace.version === 1 ? trace.header : null;
  parentPort?.postMessage({ kind: "header", header } satisfies FromTraceThread);
  if (trace.version === 2) return;
  await sendBatches(trace.batches, () => names);
  parentPort?.postMessage({ kind: "end" } satisfies FromTraceThread);
}

async function sendBatches(batches: AsyncIterable<CallBatch>, names: () => Names): Promise<void> {
  let known = 0;
  for await (const batch of batches) {
    batch.keepTexts();
    const { buffer, size, bytes } = batch;
    const all = names();
    const added: string[] = [];
    for (; known < all.size; known++) added.push(all.text(known));
    await send({ kind: "batch", buffer, size, bytes, names: added }, [buffer, bytes.buffer]);
  }
}

read(workerData as string)
  .catch((error: unknown) => {
    parentPort?.postMessage({ kind: "failed", error: sent(error) } satisfies FromTraceThread);
  })
  .finally(() => parentPort?.close());
