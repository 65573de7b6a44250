// A Redis of our own, from Debian's package, whose clock is ours: under libfaketime it reads the time from a file. Keys
// then expire at their very millisecond, and a key that lives its last one has 0 ms left, as on any Redis.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "./strangers.ts";

/** The part that is used of ioredis. */
export interface RedisClient {
  readonly status: string;
  connect(): Promise<void>;
  disconnect(): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  call(...words: string[]): Promise<unknown>;
  flushall(): Promise<unknown>;
  time(): Promise<readonly (string | number)[]>;
  eval(script: string, keys: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
  evalsha(sha: string, keys: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
}

/**
 * The environment of a process whose time is what the file says. The C library's `malloc` stands in for jemalloc, which
 * asks for the time while libfaketime is loaded.
 */
const clockedBy = (file: string): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  TZ: "UTC",
  LD_PRELOAD: "/usr/$LIB/faketime/libfaketime.so.1:libc.so.6",
  FAKETIME_TIMESTAMP_FILE: file,
  FAKETIME_NO_CACHE: "1",
  DONT_FAKE_MONOTONIC: "1",
});

export class RealRedis {
  readonly client: RedisClient;
  readonly port: number;
  readonly #server: ChildProcess;
  readonly #folder: string;
  /** File that its time is read from, open. */
  readonly #clock: number;

  private constructor(
    client: RedisClient,
    port: number,
    server: ChildProcess,
    folder: string,
    clock: number,
  ) {
    this.client = client;
    this.port = port;
    this.#server = server;
    this.#folder = folder;
    this.#clock = clock;
    process.once("exit", this.#end);
  }

  /** Leaves no server and no folder behind, however the process ends. */
  readonly #end = (): void => {
    this.#server.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  };

  /** @throws Error where there is no redis-server or no libfaketime, or it does not answer within ten seconds */
  static async start(): Promise<RealRedis> {
    const folder = mkdtempSync(join(tmpdir(), "spillway-redis-"));
    const port = await freePort();
    const words = [
      "--port",
      `${port}`,
      "--bind",
      "127.0.0.1",
      // A round trip takes a third less of the processor's time than by TCP, and the tests make some 100,000.
      "--unixsocket",
      join(folder, "socket"),
      "--save",
      "",
      "--appendonly",
      "no",
      "--dir",
      folder,
    ];
    const file = join(folder, "now");
    const clock = openSync(file, "w");
    tellTime(clock, Date.UTC(2026, 0, 1));
    const server = spawn("redis-server", words, { stdio: "ignore", env: clockedBy(file) });
    const failed = new Promise<never>((_, reject) => {
      server.once("error", (cause) =>
        reject(
          new Error("redis-server cannot be started; on Debian: apt-get install redis-server", { cause }),
        ),
      );
      server.once("exit", (code) => reject(new Error(`redis-server ended with status ${code}`)));
    });
    failed.catch(() => {});
    try {
      const client = await Promise.race([connected(join(folder, "socket")), failed]);
      if (Number((await client.time())[0]) !== Date.UTC(2026, 0, 1) / 1000)
        throw new Error("redis-server reads a clock of its own; on Debian: apt-get install faketime");
      return new RealRedis(client, port, server, folder, clock);
    } catch (error) {
      server.kill("SIGKILL");
      closeSync(clock);
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Forgets all keys. */
  async clear(): Promise<void> {
    await this.client.flushall();
  }

  /** Sets its clock, back as well as on. */
  setNow(nowMs: number): void {
    tellTime(this.#clock, nowMs);
  }

  async stop(): Promise<void> {
    this.client.disconnect();
    const ended = new Promise((resolve) => this.#server.once("exit", resolve));
    this.#end();
    await ended;
    closeSync(this.#clock);
    process.off("exit", this.#end);
  }
}

/**
 * Writes the time over the one before, in one go: it is always as long, and a file put in its place by `rename` takes a
 * ms on some disks. It is 5 us more than was asked for: libfaketime reads it as a double, which may be a little less
 * than the ms that was meant.
 */
function tellTime(clock: number, nowMs: number): void {
  writeSync(clock, new Date(nowMs).toISOString().replace("T", " ").replace("Z", "005"), 0);
}

async function connected(path: string): Promise<RedisClient> {
  const Client = load<{ Redis: new (options: object) => RedisClient }>("ioredis").Redis;
  const retry = (times: number): number | null => (times > 200 ? null : 50);
  const client = new Client({ path, lazyConnect: true, retryStrategy: retry });
  client.on("error", () => {});
  await client.flushall();
  return client;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => (typeof address === "object" && address !== null ? resolve(address.port) : reject()));
    });
  });
}
