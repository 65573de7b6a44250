// Runs test files over a workshop's sources by a host, and ends the host where a file takes too long.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Order, Outcome } from "./host.ts";

export interface Trial {
  /** The first test that failed, or what is wrong; `null` where all passed. */
  readonly failed: string | null;
  /** True if its time was over. */
  readonly hung: boolean;
  readonly ms: number;
}

/** Orders after which a host is begun anew. */
const mostOrders = 200;

export class Bench {
  readonly #root: string;
  readonly #env: NodeJS.ProcessEnv;
  #host: ChildProcess | null = null;
  /** Orders of the host that runs. */
  #orders = 0;

  /** @param env what the host knows besides this process's environment */
  constructor(root: string, env: NodeJS.ProcessEnv = {}) {
    this.#root = root;
    this.#env = env;
  }

  /**
   * Runs a test file until a test fails. It fails, too, where the host ends before it does: it took all memory, say.
   * @param limitMs how long it may take
   * @throws Error where this bench is ended meanwhile
   */
  async run(order: Order, limitMs: number): Promise<Trial> {
    // Node keeps modules that were evaluated.
    if (this.#orders >= mostOrders) this.end();
    const host = await this.start();
    this.#orders += 1;
    const over = new AbortController();
    const { signal } = over;
    const startedMs = performance.now();
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      over.abort();
    }, limitMs);
    host.send(order);
    try {
      const ended = once(host, "message", { signal });
      const gone = once(host, "exit", { signal });
      const [said] = (await Promise.race([ended, gone])) as [Outcome | number];
      if (typeof said === "object" && said !== null) return { ...said, hung: false };
      if (this.#host !== host) throw new Error("the tests' process was ended before its tests");
      this.end();
      return { failed: "the tests' process ended", hung: false, ms: performance.now() - startedMs };
    } catch (error) {
      if (!hung) throw error;
      this.end();
      return { failed: "", hung: true, ms: performance.now() - startedMs };
    } finally {
      clearTimeout(timer);
      over.abort();
    }
  }

  /** Starts the host, where none runs. Two of one workshop are started one after the other: each bundles itself first. */
  async start(): Promise<ChildProcess> {
    if (this.#host !== null) return this.#host;
    // A group of its own: what tests started ends with it.
    const host = fork("test/support/run.mjs", ["test/mutants/host.ts", this.#root], {
      cwd: this.#root,
      env: { ...process.env, ...this.#env },
      detached: true,
      execArgv: ["--experimental-vm-modules", "--no-warnings"],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#host = host;
    const [first] = (await Promise.race([once(host, "message"), once(host, "exit")])) as [
      Outcome | "ready" | number,
    ];
    if (first === "ready") return host;
    throw new Error("the tests' process did not start");
  }

  /** Ends the host and all that it started; what it runs is rejected. */
  end(): void {
    const { pid } = this.#host ?? {};
    this.#host = null;
    this.#orders = 0;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch (error) {
      // It was over already.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}
