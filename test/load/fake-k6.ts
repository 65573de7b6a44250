// k6 in time of the test's own: a bundle's clients run in this process, and its network is a function.
import { setImmediate } from "node:timers/promises";
import { compileFunction } from "node:vm";
import { transform } from "esbuild";
import type { PreparedBundle } from "../../src/load/k6/entry.ts";
import { VirtualClock } from "./virtual-run.ts";

export interface FakeAnswer {
  /** 0: none came. */
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly error?: string;
  readonly afterMs?: number;
}

interface Params {
  readonly headers: Readonly<Record<string, string>>;
  readonly tags: { readonly name: string };
  readonly timeout: number;
}

export interface FakeK6Options {
  readonly env: Readonly<Record<string, string>>;
  /** Texts by path. */
  readonly files?: Readonly<Record<string, string>>;
  readonly startMs: number;
  readonly answer: (url: string, number: number) => FakeAnswer;
}

const globals = ["module", "require", "__ENV", "open", "console", "setTimeout", "Date"] as const;
/** A bundle as a function of the globals that k6 has. */
export type Loadable = (...given: unknown[]) => void;

export async function loadable(bundle: string): Promise<Loadable> {
  const { code } = await transform(bundle, { format: "cjs" });
  return compileFunction(code, [...globals]) as Loadable;
}

export class FakeK6 {
  readonly #clock: VirtualClock;
  readonly #startMs: number;
  readonly #answer: FakeK6Options["answer"];
  #calls = 0;
  #scenario = { name: "", iterationInTest: 0, startTime: 0 };
  /** Lines that the bundle wrote. */
  readonly lines: string[] = [];
  /** Requests as lines: ms since the start, method and URL, body, name and timeout, and the credential. */
  readonly asked: string[] = [];
  /** Outcomes of checks, and samples of metrics, in their order. */
  readonly told: string[] = [];

  readonly bundle: PreparedBundle;

  /** Loads a bundle, as each VU's init does. @throws what the bundle throws */
  constructor(load: Loadable, { env, files = {}, startMs, answer }: FakeK6Options) {
    this.#clock = new VirtualClock(startMs);
    this.#startMs = startMs;
    this.#answer = answer;
    const now = (): number => this.#clock.now();
    class FakeDate extends Date {
      static override now = now;
    }
    const module = { exports: {} };
    load(
      module,
      (name: string) => this.#module(name),
      env,
      (path: string) => {
        if (files[path] === undefined) throw new Error(`there is no ${path}`);
        return files[path];
      },
      { log: (line: string) => void this.lines.push(line) },
      (action: () => void, ms: number) => void this.#clock.after(ms, action),
      FakeDate,
    );
    this.bundle = module.exports as PreparedBundle;
  }

  /** Runs one iteration of a scenario to its end. @returns the ms since the start, then. @throws why it aborts the run */
  async run(name: string, iterationInTest = 0): Promise<number> {
    this.#scenario = { name, iterationInTest, startTime: this.#startMs };
    let isOver = false;
    const ended = this.bundle.client().finally(() => {
      isOver = true;
    });
    ended.catch(() => {});
    for (await setImmediate(); !isOver; await setImmediate())
      if (!this.#clock.next()) throw new Error("a client waits for nothing");
    await ended;
    return this.#clock.now() - this.#startMs;
  }

  #request(method: string, url: string, body: string | null, params: Params) {
    const { headers, tags, timeout } = params;
    const { Authorization: credential, ...rest } = headers;
    const more = Object.entries(rest).map(([name, value]) => `, ${name}: ${value}`);
    this.asked.push(
      `${this.#clock.now() - this.#startMs} ${method} ${url} ${body}, ${tags.name} in ${timeout} ms by ${credential}${more.join("")}`,
    );
    const { afterMs = 10, status, ...answer } = this.#answer(url, this.#calls++);
    const response = { status, headers: {}, body: "", error: "", ...answer };
    return { afterMs, response: { ...response, error_code: response.error === "" ? 0 : 1000 } };
  }

  #module(name: string): object {
    const { told } = this;
    class SharedArray {
      constructor(_name: string, make: () => unknown[]) {
        // biome-ignore lint/correctness/noConstructorReturn: k6's own is an array, too.
        return make();
      }
    }
    class Metric {
      readonly #name: string;
      constructor(metric: string) {
        this.#name = metric;
      }
      add(value: unknown): void {
        told.push(`${this.#name} ${value}`);
      }
    }
    const http = {
      expectedStatuses: (range: object, ...more: number[]) => JSON.stringify([range, ...more]),
      setResponseCallback: (statuses: string) => void told.push(`expects ${statuses}`),
      request: (method: string, url: string, body: string | null, params: Params) => {
        const { afterMs, response } = this.#request(method, url, body, params);
        this.#clock.stall(afterMs);
        return response;
      },
      asyncRequest: (method: string, url: string, body: string | null, params: Params) => {
        const { afterMs, response } = this.#request(method, url, body, params);
        return new Promise((resolve) => this.#clock.after(afterMs, () => resolve(response)));
      },
    };
    const scenario = () => this.#scenario;
    const modules: Readonly<Record<string, object>> = {
      k6: {
        sleep: (seconds: number) => this.#clock.stall(Math.round(1000 * seconds)),
        check: (_value: unknown, checks: object) => void told.push(JSON.stringify(checks)),
      },
      "k6/http": { default: http },
      "k6/execution": {
        default: {
          get scenario() {
            return scenario();
          },
          test: {
            abort: (reason: string) => {
              throw new Error(reason.split("\n")[0]);
            },
          },
        },
      },
      "k6/metrics": { Rate: Metric, Trend: Metric },
      "k6/data": { SharedArray },
      "k6/encoding": {},
    };
    return { __esModule: true, ...modules[name] };
  }
}
