// Runs test files over a workshop's sources by a host, and ends the host where a file takes too long.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Event, Order } from "./host.ts";

export interface Trial {
  /** The file that failed or took too long; `null` where all passed. */
  readonly failed: { readonly file: string; readonly test: string; readonly hung: boolean } | null;
  /** Ms of each file that ended. */
  readonly times: ReadonlyMap<string, number>;
}

export class Bench {
  readonly #root: string;
  readonly #env: NodeJS.ProcessEnv;
  #host: ChildProcess | null = null;

  /** @param env what the host knows besides this process's environment */
  constructor(root: string, env: NodeJS.ProcessEnv = {}) {
    this.#root = root;
    this.#env = env;
  }

  /**
   * Runs test files until one fails.
   * @param limitMs how long one of them may take
   * @throws Error where the host ends before they do
   */
  async run(order: Order, limitMs: (file: string) => number): Promise<Trial> {
    const host = await this.start();
    const times = new Map<string, number>();
    let failed: Trial["failed"] = null;
    await new Promise<void>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      let file = order.tests[0] ?? "";
      const settle = (work: () => void): void => {
        clearTimeout(timer);
        host.removeAllListeners("message").removeAllListeners("exit");
        work();
      };
      const wait = (next: string): void => {
        file = next;
        clearTimeout(timer);
        timer = setTimeout(() => {
          failed = { file, test: "", hung: true };
          settle(resolve);
          this.end();
        }, limitMs(file));
      };
      host.on("exit", () => settle(() => reject(new Error("the tests' process ended before its tests"))));
      host.on("message", (event: Event) => {
        if (event.kind === "started") wait(event.file);
        if (event.kind === "done") settle(resolve);
        if (event.kind !== "ended") return;
        times.set(event.file, event.ms);
        if (event.failed !== null) failed ??= { file: event.file, test: event.failed, hung: false };
      });
      wait(file);
      host.send(order);
    });
    return { failed, times };
  }

  /** Starts the host, where none runs. Two of one workshop are started one after the other: each bundles itself first. */
  async start(): Promise<ChildProcess> {
    if (this.#host !== null) return this.#host;
    // A group of its own: what tests started ends with it.
    const host = fork("test/support/run.mjs", ["test/mutants/host.ts", this.#root], {
      cwd: this.#root,
      env: { ...process.env, ...this.#env },
      detached: true,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#host = host;
    const [first] = (await Promise.race([once(host, "message"), once(host, "exit")])) as [Event | number];
    if (typeof first === "object") return host;
    throw new Error("the tests' process did not start");
  }

  /** Ends the host and all that it started; what it runs is rejected. */
  end(): void {
    const { pid } = this.#host ?? {};
    this.#host = null;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch (error) {
      // It was over already.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}
