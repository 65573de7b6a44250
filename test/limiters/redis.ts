// A Redis of our own, from Debian's package, whose keys grow older when our clock moves.
//
// All that a limiter on Redis knows of time is when its keys expire. So instead of waiting d ms, `setNow` takes
// d from what every key has left to live, and removes the keys that have nothing left. Redis's own clock goes on
// meanwhile: to keep it out of the answers, one of our milliseconds is 10,000 of Redis's (a window of 60 s is set
// up as one of 600,000 s), and a run would have to take five seconds to be off by half a millisecond.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "./strangers.ts";

/** How many of Redis's milliseconds are one of ours. */
export const unitsOfTime = 10_000;

/** What is used of ioredis. */
export interface RedisClient {
  readonly status: string;
  connect(): Promise<void>;
  disconnect(): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  flushall(): Promise<unknown>;
  eval(script: string, keys: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
  evalsha(sha: string, keys: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
}

const ageing = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left >= 0 then
    left = left - tonumber(ARGV[1])
    if left < tonumber(ARGV[2]) then redis.call('DEL', key) else redis.call('PEXPIRE', key, left) end
  end
end`;

export class RealRedis {
  readonly client: RedisClient;
  readonly #server: ChildProcess;
  readonly #folder: string;
  #nowMs: number | null = null;

  private constructor(client: RedisClient, server: ChildProcess, folder: string) {
    this.client = client;
    this.#server = server;
    this.#folder = folder;
    process.once("exit", this.#end);
  }

  /** Leaves no server and no folder behind, however the process ends. */
  readonly #end = (): void => {
    this.#server.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  };

  /** @throws Error where there is no redis-server, or it does not answer within ten seconds */
  static async start(): Promise<RealRedis> {
    const folder = mkdtempSync(join(tmpdir(), "spillway-redis-"));
    const port = await freePort();
    const words = [
      "--port",
      `${port}`,
      "--bind",
      "127.0.0.1",
      "--save",
      "",
      "--appendonly",
      "no",
      "--dir",
      folder,
    ];
    const server = spawn("redis-server", words, { stdio: "ignore" });
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
      const client = await Promise.race([connected(port), failed]);
      return new RealRedis(client, server, folder);
    } catch (error) {
      server.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Forgets all keys, and what time it was. */
  async clear(): Promise<void> {
    await this.client.flushall();
  }

  /** Moves the time of all keys on, as far as the clock moved. */
  async setNow(nowMs: number): Promise<void> {
    const byMs = nowMs - (this.#nowMs ?? nowMs);
    this.#nowMs = nowMs;
    // The clock of another run: its first limiter clears all keys anyway.
    if (byMs <= 0) return;
    await this.client.eval(ageing, 0, byMs * unitsOfTime, unitsOfTime / 2);
  }

  async stop(): Promise<void> {
    this.client.disconnect();
    const ended = new Promise((resolve) => this.#server.once("exit", resolve));
    this.#end();
    await ended;
    process.off("exit", this.#end);
  }
}

async function connected(port: number): Promise<RedisClient> {
  const Client = load<{ Redis: new (options: object) => RedisClient }>("ioredis").Redis;
  const retry = (times: number): number | null => (times > 200 ? null : 50);
  const client = new Client({ host: "127.0.0.1", port, lazyConnect: true, retryStrategy: retry });
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
