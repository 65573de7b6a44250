// The team of workers: processes that only pretend, and a clock that the test moves.
import type { ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { type AddressInfo, createServer, Socket } from "node:net";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { printableLines } from "../../src/rules/printable.ts";
import { Team, type ToWorker, type WorkersOptions } from "../../src/service/team.ts";
import { serveWorkers } from "../../src/service/workers.ts";
import { token } from "./deployment.ts";

/** A worker's process that does nothing by itself. */
class Pretended extends EventEmitter {
  readonly pid: number;
  connected = true;
  readonly stderr = new PassThrough();
  readonly heard: ToWorker[] = [];
  readonly sockets: unknown[] = [];
  readonly killed: unknown[] = [];
  sendError: Error | null = null;

  constructor(pid: number) {
    super();
    this.pid = pid;
  }

  send(message: ToWorker, ...more: unknown[]): void {
    this.heard.push(message);
    if (more.length > 1) this.sockets.push(more[0]);
    (more.at(-1) as (error: Error | null) => void)(this.sendError);
  }

  kill(signal: unknown): void {
    this.killed.push(signal);
  }

  /** Ends, as a process does: without a channel, with `exit` before `close`. */
  end(code: number | null, signal: string | null = null): void {
    this.connected = false;
    this.emit("exit", code, signal);
    this.emit("close", code, signal);
  }
}

const rules = parseRules({});
const tokens = [token("alice@acme")];
const startMs = Date.UTC(2026, 0, 1);

function teamOf(options: Partial<WorkersOptions> = {}) {
  const children: Pretended[] = [];
  const told: string[] = [];
  const team = new Team({
    ...{ rules, tokens, workers: 2, stores: [new Limiter(rules)], closeWithinMs: 5_000 },
    fork() {
      children.push(new Pretended(100 + children.length));
      return children.at(-1) as Pretended & ChildProcess;
    },
    onUnexpected: ({ message }) => told.push(message),
    ...options,
  });
  const child = (at: number): Pretended => children[at] as Pretended;
  const ready = (...at: number[]) => at.map((one) => child(one).emit("message", { kind: "ready" }));
  return { team, children, told, child, ready };
}

/** A team of two that are ready. */
async function started(options: Partial<WorkersOptions> = {}) {
  const made = teamOf(options);
  const start = made.team.start();
  made.ready(0, 1);
  await start;
  return made;
}

const tick = () => vi.advanceTimersByTimeAsync(0);
const later = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: startMs });
});
afterEach(() => {
  vi.useRealTimers();
});

const caught = async (promise: Promise<unknown>): Promise<SpillwayError> => {
  const error = await promise.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SpillwayError);
  return error as SpillwayError;
};

describe("the start", () => {
  test("ends its workers if the port is taken", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void taken.close());
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const children: Pretended[] = [];
    const fork = () => {
      const child = new Pretended(100);
      children.push(child);
      queueMicrotask(() => child.emit("message", { kind: "ready" }));
      return child as Pretended & ChildProcess;
    };
    const options = { rules, tokens, workers: 2, stores: [new Limiter(rules)], port, fork };
    expect(await caught(serveWorkers(options))).toMatchObject({ code: "PORT_IN_USE" });
    expect(children.map(({ killed }) => killed)).toEqual([["SIGKILL"], ["SIGKILL"]]);
  });

  test("is over when the last worker is ready; each was told its task, and the first seat comes first", async () => {
    const { team, child, ready } = teamOf({ executionDelayMs: 7 });
    let isOver = false;
    const start = team.start().then(() => {
      isOver = true;
    });
    const task = { rules, tokens, executionDelayMs: 7, closeWithinMs: 5_000 };
    for (const one of [0, 1]) expect(child(one).heard).toEqual([{ kind: "begin", task }]);
    expect(team.pids).toEqual([]);
    ready(1);
    await tick();
    expect([team.pids, isOver]).toEqual([[101], false]);
    ready(0);
    await start;
    expect(team.pids).toEqual([100, 101]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("has a task with times of its own where none are named", async () => {
    const { child } = await started({ closeWithinMs: undefined as never });
    expect(child(0).heard).toEqual([
      { kind: "begin", task: { rules, tokens, executionDelayMs: 0, closeWithinMs: 10_000 } },
    ]);
  });

  test.each<[string, (one: Pretended) => void, string]>([
    [
      "says that it failed",
      (one) => one.emit("message", { kind: "failed", message: "no rules" }),
      "no rules",
    ],
    ["cannot be spawned", (one) => one.emit("error", new Error("spawn EAGAIN")), "spawn EAGAIN"],
    ["ends with a status", (one) => one.end(9), "it ended with status 9"],
    ["is killed", (one) => one.end(null, "SIGSEGV"), "it ended with SIGSEGV"],
  ])("fails where a worker %s, which is killed and leaves no timer", async (_, fail, got) => {
    const { team, child, told } = teamOf({ workers: 1 });
    const start = team.start();
    fail(child(0));
    const error = await caught(start);
    expect(error).toMatchObject({
      code: "WORKER_FAILED",
      message: expect.stringContaining("a worker of the deployment cannot start"),
      problems: [{ path: "worker", got, allowed: "a process that serves" }],
      hint: "are there too many processes, or too little memory? --workers 1 needs none beside this one",
    });
    expect(child(0).killed).toEqual(["SIGKILL"]);
    expect([vi.getTimerCount(), told]).toEqual([0, []]);
  });

  test("names the cause of a worker that cannot be spawned", async () => {
    const { team, child } = teamOf({ workers: 1 });
    const start = team.start();
    const cause = new Error("spawn EAGAIN");
    child(0).emit("error", cause);
    expect((await caught(start)).cause).toBe(cause);
  });

  test("names the error among the last words of a worker", async () => {
    const { team, child } = teamOf({ workers: 1 });
    const start = team.start();
    child(0).stderr.write("node:internal\n    throw new Error(1)\nTypeErr");
    child(0).stderr.write("or: no such thing\n    at there\n");
    child(0).end(1);
    expect((await caught(start)).problems[0]?.got).toBe("it ended with status 1 (TypeError: no such thing)");
  });

  test("knows the last 4,000 characters that a worker said", async () => {
    const got = async (rest: number) => {
      const { team, child } = teamOf({ workers: 1 });
      const start = team.start();
      child(0).stderr.write(`TypeError: old\n${"x".repeat(rest)}`);
      child(0).end(1);
      return (await caught(start)).problems[0]?.got;
    };
    expect(await got(3_985)).toBe("it ended with status 1 (TypeError: old)");
    expect(await got(3_986)).toBe("it ended with status 1 (ypeError: old)");
    expect(await got(4_000)).toBe("it ended with status 1");
  });

  test("waits 20 s for a worker", async () => {
    const { team, child } = teamOf({ workers: 1 });
    const start = caught(team.start());
    await later(19_999);
    expect(child(0).killed).toEqual([]);
    await later(1);
    expect((await start).problems[0]?.got).toBe("it was not ready within 20000 ms");
    expect(child(0).killed).toEqual(["SIGKILL"]);
  });
});

describe("a worker that works", () => {
  const call = { organization: "acme", user: "ann", scope: "rest", cost: 1 } as const;

  test("asks its seat's counters, by the team's clock", async () => {
    const stores = [new Limiter(rules), new Limiter(rules)];
    const { child } = await started({ stores, workers: 2 });
    const letter = { number: 3, question: { ask: "decide", call } } as const;
    child(1).emit("message", { kind: "letter", letter });
    const expected = new Limiter(rules).decide(call, startMs);
    expect(child(1).heard.slice(1)).toEqual([{ kind: "reply", reply: { number: 3, answer: expected } }]);
    expect(child(0).heard).toHaveLength(1);
    const counts = stores.map((store) => store.status("acme", startMs).rest.current);
    expect(counts).toEqual([0, 1]);
  });

  test("is not answered once its channel is closed", async () => {
    const { child } = await started();
    child(0).connected = false;
    const question = { ask: "status", organization: "acme" } as const;
    child(0).emit("message", { kind: "letter", letter: { number: 1, question } });
    expect(child(0).heard).toHaveLength(1);
  });

  test("has its unexpected errors told, and its output passed on without what a terminal obeys", async () => {
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      const { child, told } = await started();
      child(1).emit("message", { kind: "unexpected", message: "the disk is full" });
      expect(told).toEqual(["the disk is full"]);
      child(0).stderr.write("a warning\u001b[2J\n");
      await tick();
      expect(write.mock.calls).toEqual([[printableLines("a warning\u001b[2J\n")]]);
    } finally {
      write.mockRestore();
    }
  });

  test("gets connections in turn; one without a channel gets none", async () => {
    const { team, child } = await started();
    const sockets = Array.from({ length: 5 }, () => new Socket());
    for (const socket of sockets.slice(0, 3)) team.take(socket);
    expect(child(0).sockets).toEqual([sockets[0], sockets[2]]);
    expect(child(1).sockets).toEqual([sockets[1]]);
    expect(child(0).heard.slice(1)).toEqual([{ kind: "connection" }, { kind: "connection" }]);
    child(1).connected = false;
    team.take(sockets[3] as Socket);
    child(0).sendError = new Error("gone");
    team.take(sockets[4] as Socket);
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, false, false, true, true]);
  });

  test("has its counters swept by the team's clock", async () => {
    const swept: number[] = [];
    const store = Object.assign(new Limiter(rules), { sweep: (nowMs: number) => swept.push(nowMs) });
    const { team } = await started({ stores: [store, store] });
    await later(5);
    team.sweep();
    expect(swept).toEqual([startMs + 5, startMs + 5]);
  });
});

describe("a worker that ends by itself", () => {
  test("is replaced in its seat, with its seat's counters", async () => {
    const { team, child, children, told, ready } = await started();
    child(0).end(null, "SIGKILL");
    expect(told).toEqual(["worker 100 ended with SIGKILL; another is started in 100 ms; 1 is left"]);
    expect(team.pids).toEqual([101]);
    await later(99);
    expect(children).toHaveLength(2);
    await later(1);
    ready(2);
    await tick();
    expect(team.pids).toEqual([102, 101]);
  });

  test("again and again is given up, after waits that double", async () => {
    const { children, told, child, ready } = await started();
    child(1).end(0);
    for (let at = 2; at < 8; at++) {
      await later(100 * 2 ** (at - 2) - 1);
      expect(children).toHaveLength(at);
      await later(1);
      ready(at);
      await later(60_000);
      child(at).end(5);
    }
    expect(told).toEqual([
      "worker 101 ended with status 0; another is started in 100 ms; 1 is left",
      ...[200, 400, 800, 1600, 3200].map(
        (ms, at) => `worker ${102 + at} ended with status 5; another is started in ${ms} ms; 1 is left`,
      ),
      "worker 107 ended with status 5; it was started again 6 times, and is not any more; 1 is left",
    ]);
    child(0).end(0);
    expect(told.at(-1)).toBe("worker 100 ended with status 0; another is started in 100 ms; 0 are left");
  });

  test("counts anew after more than a minute", async () => {
    const { told, child, ready } = await started();
    child(0).end(1);
    await later(100);
    ready(2);
    await later(60_001);
    child(2).end(1);
    expect(told.map((text) => /in \d+ ms/.exec(text)?.[0])).toEqual(["in 100 ms", "in 100 ms"]);
  });

  test("and cannot start again is tried again, and it is said why", async () => {
    let isBroken = false;
    const made = teamOf({
      fork() {
        if (isBroken) throw new Error("too many files");
        const child = new Pretended(200 + made.children.length);
        made.children.push(child);
        return child as Pretended & ChildProcess;
      },
    });
    const start = made.team.start();
    made.ready(0, 1);
    await start;
    made.child(0).end(1);
    await later(100);
    made.child(2).end(3);
    await tick();
    isBroken = true;
    await later(200);
    expect(made.told).toEqual([
      "worker 200 ended with status 1; another is started in 100 ms; 1 is left",
      "a worker cannot start: it ended with status 3; another is started in 200 ms; 1 is left",
      "a worker cannot start: Error: too many files; another is started in 400 ms; 1 is left",
    ]);
  });
});

describe("the end", () => {
  test("is told to each worker, and is over when the last one has ended", async () => {
    const { team, child, told } = await started();
    let isOver = false;
    const end = team.end().then(() => {
      isOver = true;
    });
    for (const one of [0, 1]) {
      expect(child(one).heard.slice(1)).toEqual([{ kind: "end" }]);
      child(one).emit("message", { kind: "ending" });
    }
    child(0).end(0);
    await tick();
    expect(isOver).toBe(false);
    child(1).end(0);
    await end;
    expect([child(0).killed, child(1).killed, told, vi.getTimerCount()]).toEqual([[], [], [], 0]);
  });

  test("of a worker that ends at once leaves no timer", async () => {
    const { team, child } = await started();
    const end = team.end();
    child(0).end(0);
    child(1).end(0);
    await end;
    expect([child(0).killed, child(1).killed, vi.getTimerCount()]).toEqual([[], [], 0]);
  });

  test("kills a worker that does not say within 2 s that it ends, and one that takes 2 s too long", async () => {
    const { team, child } = await started();
    void team.end();
    child(1).emit("message", { kind: "ending" });
    await later(1_999);
    expect(child(0).killed).toEqual([]);
    await later(1);
    expect([child(0).killed, child(1).killed]).toEqual([["SIGKILL"], []]);
    await later(4_999);
    expect(child(1).killed).toEqual([]);
    await later(1);
    expect(child(1).killed).toEqual(["SIGKILL"]);
  });

  test("kills a worker that is not ready yet, and starts no other", async () => {
    const { team, child, children, told } = await started();
    child(0).end(1);
    child(1).end(1);
    await later(100);
    child(3).end(1);
    await tick();
    const end = team.end();
    expect(child(2).killed).toEqual(["SIGKILL"]);
    child(2).end(null, "SIGKILL");
    await end;
    await later(60_000);
    expect([children.length, told.length, team.pids]).toEqual([4, 3, []]);
  });

  test("by force kills all, ready or not, and says nothing of it", async () => {
    const { team, child, children, told } = await started({ workers: 2 });
    child(0).end(1);
    await later(100);
    team.kill();
    expect([child(1).killed, child(2).killed]).toEqual([["SIGKILL"], ["SIGKILL"]]);
    child(1).end(null, "SIGKILL");
    child(2).end(null, "SIGKILL");
    await later(60_000);
    expect([children.length, told.length, vi.getTimerCount()]).toEqual([3, 1, 0]);
  });

  test("leaves no connection without an end", async () => {
    const { team, child } = await started();
    child(0).end(1);
    child(1).end(1);
    const socket = new Socket();
    team.take(socket);
    expect(socket.destroyed).toBe(true);
    team.kill();
  });
});
