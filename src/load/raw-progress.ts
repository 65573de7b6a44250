// The progress of k6, by its raw file. k6 itself counts iterations, each of which is a client's whole life.
import { open } from "node:fs/promises";
import type { QuotaCall } from "../trace/quota-record.ts";
import type { TraceCall } from "../trace/record.ts";
import { REFUSED } from "../wire/outcome.ts";
import { type SeenWindow, TightestWindow } from "./tightest-window.ts";

export interface RunProgress {
  readonly elapsedMs: number;
  /** Number of calls that have their line. */
  readonly calls: number;
  readonly refused: number;
  /** Window with the least left; `null` if none is known. */
  readonly tightest: SeenWindow | null;
  /** Lateness that 99 of 100 calls had at most, ms; `null` under k6, which does not tell it. */
  readonly lateMs: number | null;
}

/** Number of lines whose windows are read at each look; the others are only counted. */
const linesRead = 200;

/** Follows the file as it grows. It misses calls that are split between two chunks: progress is for the eye. */
export class RawProgress {
  readonly #startedMs = Date.now();
  readonly #timer: NodeJS.Timeout | null = null;
  readonly #path: string;
  readonly #tightest = new TightestWindow();
  #read = Promise.resolve();
  #offset = 0;
  #calls = 0;
  #refused = 0;

  constructor(path: string, report: ((progress: RunProgress) => void) | undefined) {
    this.#path = path;
    if (report === undefined) return;
    this.#timer = setInterval(() => {
      this.#read = this.#read.then(() => this.#follow(report)).catch(() => undefined);
    }, 500);
  }

  async end(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#read;
  }

  async #follow(report: (progress: RunProgress) => void): Promise<void> {
    const file = await open(this.#path, "r");
    let last = "";
    try {
      const buffer = Buffer.allocUnsafe(1 << 20);
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, buffer.length, this.#offset);
        if (bytesRead === 0) break;
        this.#offset += bytesRead;
        last = buffer.toString("latin1", 0, bytesRead);
        this.#calls += occurrences(last, '{"sent":');
        const refusals = [`"status":${REFUSED},"scopeName"`, '"outcome":"refused"'];
        for (const mark of refusals) this.#refused += occurrences(last, mark);
      }
    } finally {
      await file.close();
    }
    for (const line of last.split("\n").slice(1, -1).slice(-linesRead)) this.#see(line);
    const nowMs = Date.now();
    report({
      elapsedMs: nowMs - this.#startedMs,
      calls: this.#calls,
      refused: this.#refused,
      tightest: this.#tightest.read(nowMs),
      lateMs: null,
    });
  }

  #see(line: string): void {
    if (!line.startsWith('{"sent":')) return;
    const call = JSON.parse(line) as TraceCall | QuotaCall;
    if (!("scope" in call)) return;
    const { organization, user } = this.#tightest.pair(call.org, call.user ?? "", call.scope);
    organization.see(call.limit, call.remaining, call.reset, call.received);
    user.see(call.userLimit, call.userRemaining, call.userReset, call.received);
  }
}

const occurrences = (text: string, mark: string): number => text.split(mark).length - 1;
