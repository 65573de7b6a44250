// A worker in this process: its channel and its end are pretended, its connections are real ones on loopback.
import { EventEmitter, once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { answerLetter } from "../../src/service/letters.ts";
import type { FromWorker, ToWorker, WorkerTask } from "../../src/service/team.ts";
import { beWorker, type WorkerProcess } from "../../src/service/worker.ts";
import { deferred, token } from "./deployment.ts";

const rules = parseRules({});
const authorization = `Authorization: Bearer ${token("alice@acme").token}\r\n`;
const userCall = `GET /v2/user HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`;

class Pretended extends EventEmitter {
  readonly said: FromWorker[] = [];
  readonly exits: unknown[] = [];
  readonly store = new Limiter(rules);
  /** Letters wait for it; none if they are answered at once. */
  held: Promise<void> | null = null;

  send(message: FromWorker): boolean {
    this.said.push(message);
    this.emit(`said ${message.kind}`);
    if (message.kind === "letter") void this.#reply(message);
    return true;
  }

  async #reply({ letter }: Extract<FromWorker, { kind: "letter" }>): Promise<void> {
    await this.held;
    this.tell({ kind: "reply", reply: answerLetter(this.store, letter, 1_000) });
  }

  exit(code: unknown): void {
    this.exits.push(code);
    this.emit("exits");
  }

  tell(message: ToWorker, handle?: unknown): void {
    this.emit("message", message, handle);
  }

  kinds(): string[] {
    return this.said.map(({ kind }) => kind);
  }
}

let server: Server;
const clients: Socket[] = [];
beforeEach(async () => {
  server = createServer({ pauseOnConnect: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.close();
});

async function begun(task: Partial<WorkerTask> = {}) {
  const worker = new Pretended();
  beWorker(worker as unknown as WorkerProcess);
  const ready = once(worker, "said ready");
  const whole = { rules, tokens: [token("alice@acme")], executionDelayMs: 0, closeWithinMs: 60_000, ...task };
  worker.tell({ kind: "begin", task: whole });
  await ready;
  /** Connects a client to the worker. */
  const client = async () => {
    const taken = once(server, "connection") as Promise<[Socket]>;
    const socket = connect((server.address() as { port: number }).port, "127.0.0.1");
    clients.push(socket);
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    const [inWorker] = await taken;
    const delays: unknown[] = [];
    const setNoDelay = inWorker.setNoDelay.bind(inWorker);
    inWorker.setNoDelay = (isOn) => {
      delays.push(isOn);
      return setNoDelay(isOn);
    };
    worker.tell({ kind: "connection" }, inWorker);
    const closed = once(socket, "close");
    const answered = async () => {
      while (!text.endsWith("}")) await once(socket, "data");
      const [head = "", body = ""] = text.split("\r\n\r\n");
      text = "";
      return { head, body: JSON.parse(body) as object };
    };
    return { socket, inWorker, delays, closed, answered };
  };
  return { worker, client };
}

test("a worker says that it is ready, and answers by the counters of the team", async () => {
  const { worker, client } = await begun();
  const { socket, answered, delays } = await client();
  expect(delays).toEqual([true]);
  socket.write(userCall);
  expect((await answered()).head).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\nratelimit-remaining: 199\r\n/is);
  socket.write(userCall);
  expect((await answered()).head).toMatch(/ratelimit-remaining: 198\r\n/i);
  expect(worker.kinds()).toEqual(["ready", "letter", "letter"]);
  expect(worker.store.status("acme", 1_000).rest.current).toBe(2);
});

test("a worker tells the team of errors that nobody meant", async () => {
  const { worker, client } = await begun();
  Object.assign(worker.store, {
    decide() {
      throw new Error("on fire");
    },
  });
  const { socket, answered } = await client();
  socket.write(userCall);
  expect((await answered()).body).toEqual({ message: "Internal error" });
  expect(worker.said.at(-1)).toEqual({ kind: "unexpected", message: "on fire" });
});

test("a worker keeps queries in flight for the time of its task", async () => {
  const { worker, client } = await begun({ executionDelayMs: 1 });
  const { socket, answered } = await client();
  const body = JSON.stringify({ query: "{ viewer { user { name } } }" });
  const type = "Content-Type: application/json\r\n";
  const length = `Content-Length: ${body.length}\r\n`;
  socket.write(`POST /v1/graphql HTTP/1.1\r\nHost: x\r\n${type}${length}${authorization}\r\n${body}`);
  expect((await answered()).body).toEqual({ data: { viewer: { user: { name: "alice" } } } });
  expect(worker.kinds()).toContain("letter");
});

describe("a worker's first message", () => {
  test("is its task; another one begins nothing", () => {
    const worker = new Pretended();
    beWorker(worker as unknown as WorkerProcess);
    worker.tell({ kind: "end" });
    expect([worker.said, worker.listenerCount("message")]).toEqual([[], 0]);
  });

  test("may be one by which it cannot begin: that is told", async () => {
    const worker = new Pretended();
    beWorker(worker as unknown as WorkerProcess);
    const failed = once(worker, "said failed");
    const task = { rules, tokens: null as never, executionDelayMs: 0, closeWithinMs: 1 };
    worker.tell({ kind: "begin", task });
    await failed;
    expect(worker.said).toEqual([{ kind: "failed", message: expect.stringMatching(/null/) }]);
  });
});

test("signals of the terminal do not end a worker; the end of the team does", () => {
  const worker = new Pretended();
  beWorker(worker as unknown as WorkerProcess);
  const heard = ["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => worker.emit(signal));
  expect([heard, worker.exits]).toEqual([[true, true, true], []]);
  worker.emit("disconnect");
  expect(worker.exits).toEqual([0]);
});

describe("a worker's end", () => {
  test("lets calls on their way finish, and ends idle connections at once", async () => {
    const { worker, client } = await begun();
    const [idle, halfway, gone, busy] = [await client(), await client(), await client(), await client()];
    // One that has been answered, and is idle again.
    idle.socket.write(userCall);
    await idle.answered();
    halfway.socket.write("GET /v2/user HTTP/1.1\r\nHost: ");
    const hold = deferred();
    worker.held = hold.promise;
    const asked = once(worker, "said letter");
    busy.socket.write(userCall);
    await asked;
    const askedToo = once(worker, "said letter");
    gone.socket.write(userCall);
    await askedToo;
    const left = once(gone.inWorker, "close");
    gone.socket.destroy();
    await left;
    const over = once(worker, "exits");
    worker.tell({ kind: "end" });
    expect(worker.said.at(-1)).toEqual({ kind: "ending" });
    await Promise.all([idle.closed, halfway.closed]);
    expect([busy.inWorker.destroyed, worker.exits]).toEqual([false, []]);
    hold.resolve();
    expect((await busy.answered()).head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    await busy.closed;
    await over;
    expect(worker.exits).toEqual([0]);
  });

  test("cuts off a call that takes longer than its patience", async () => {
    const { worker, client } = await begun({ closeWithinMs: 1 });
    worker.held = deferred().promise;
    const { socket, closed } = await client();
    const asked = once(worker, "said letter");
    socket.write(userCall);
    await asked;
    const over = once(worker, "exits");
    worker.tell({ kind: "end" });
    await Promise.all([closed, over]);
    expect(worker.exits).toEqual([0]);
  });

  test("does not wait for a connection that was closed on its way", async () => {
    const { worker } = await begun();
    worker.tell({ kind: "connection" }, undefined);
    const over = once(worker, "exits");
    worker.tell({ kind: "end" });
    await over;
  });
});
