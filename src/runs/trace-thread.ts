// Reads a trace in a thread of its own, so that reading and judging overlap. Columns go to and fro in a few buffers,
// which nobody copies. If none is free, the reading waits.
import { stat } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { CallBatch } from "../trace/batch.ts";
import { callsOf } from "../trace/call-stream.ts";
import { type AnyTraceReading, openTrace } from "../trace/read.ts";
import { received } from "./sent-error.ts";
import { entryNamed } from "./thread-entry.ts";
import { traceBytes } from "./trace-bytes.ts";
import type { FromTraceThread, ToTraceThread } from "./trace-thread-messages.ts";

export interface TraceFileOptions {
  /** True to sort, as for `openTrace`. Such a trace is read in this thread. */
  readonly sort: boolean;
  /** Ends the reading with its reason. */
  readonly signal: AbortSignal;
  /** Least size of a file that has a thread, bytes. A smaller one is read before a thread has begun. */
  readonly threadBytesLeast?: number;
}

/**
 * Opens a trace as `openTrace` does. A large file is read in a thread of its own.
 * @param path a file, a named pipe, or `-` for standard input
 * @throws as `openTrace` and `traceBytes` do
 */
export async function openTraceFile(
  path: string,
  { sort, signal, threadBytesLeast = 1 << 22 }: TraceFileOptions,
): Promise<AnyTraceReading> {
  const isLarge = !sort && path !== "-" && (await isFileOf(threadBytesLeast, path));
  const trace = isLarge ? await openInThread(path, signal) : null;
  return trace ?? openTrace(traceBytes(path, signal), { sort });
}

export const isFileOf = (bytesLeast: number, path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile() && found.size >= bytesLeast,
    () => false,
  );

/** @returns `null` for a trace of version 2: its calls are objects, which take longer to send than to read */
async function openInThread(path: string, signal: AbortSignal): Promise<AnyTraceReading | null> {
  const thread = new TraceThread(path, signal);
  try {
    const { header } = (await thread.next()) as Extract<FromTraceThread, { kind: "header" }>;
    if (header === null) {
      thread.end();
      return null;
    }
    const batches = batchesOf(thread);
    return { version: 1, header, calls: callsOf(batches), batches };
  } catch (error) {
    thread.end();
    throw error;
  }
}

async function* batchesOf(thread: TraceThread): AsyncGenerator<CallBatch, void> {
  const texts: string[] = [];
  const names = { text: (number: number): string => texts[number] ?? "" };
  try {
    for (let message = await thread.next(); message.kind === "batch"; message = await thread.next()) {
      texts.push(...message.names);
      const batch = new CallBatch(names, message.buffer);
      batch.size = message.size;
      batch.bytes = message.bytes;
      yield batch;
      thread.giveBack(message.buffer);
    }
  } finally {
    thread.end();
  }
}

class TraceThread {
  readonly #worker: Worker;
  readonly #signal: AbortSignal;
  readonly #messages: FromTraceThread[] = [];
  #failure: Error | null = null;
  #wake: () => void = () => undefined;
  readonly #onAbort = (): void => this.#fail(this.#signal.reason as Error);

  constructor(path: string, signal: AbortSignal) {
    this.#signal = signal;
    this.#worker = new Worker(entryNamed("trace-thread-entry"), { workerData: path });
    this.#worker.on("message", (message: FromTraceThread) => {
      this.#messages.push(message);
      this.#wake();
    });
    this.#worker.on("error", (error: Error) => this.#fail(error));
    this.#worker.on("exit", (code) => this.#fail(new Error(`a thread that reads a trace ended: ${code}`)));
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }

  /** Returns the thread's next message. @throws what ended the reading */
  async next(): Promise<Exclude<FromTraceThread, { kind: "failed" }>> {
    for (;;) {
      if (this.#signal.aborted) throw this.#signal.reason;
      const message = this.#messages.shift();
      if (message?.kind === "failed") throw received(message.error);
      if (message !== undefined) return message;
      if (this.#failure !== null) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  giveBack(buffer: ToTraceThread): void {
    this.#worker.postMessage(buffer, [buffer]);
  }

  /** Ends the thread, even while it works. */
  end(): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#worker.removeAllListeners("exit");
    void this.#worker.terminate();
  }
}
