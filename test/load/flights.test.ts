// Calls on the way, over a dispatcher that does what a test says, by a clock that only the test moves.
import type { Dispatcher } from "undici";
import { describe, expect, test } from "vitest";
import { bodyMost } from "../../src/connect/send.ts";
import type { RawAnswer } from "../../src/load/answer.ts";
import { Flights } from "../../src/load/node/flights.ts";
import { Scheduler } from "../../src/load/node/scheduler.ts";
import { VirtualClock } from "./virtual-run.ts";

const start = 1_000_000;

/** A call as the dispatcher has it. */
interface Dispatched {
  readonly handler: Dispatcher.DispatchHandler;
  /** Reason for which it was aborted; `null` if it was not. */
  aborted: string | null;
  /** Writes it to a connection. */
  write(): void;
  answer(status: number, headers?: Record<string, string | string[]>, ...chunks: readonly string[]): void;
  fail(error: Error): void;
}

interface Landed {
  readonly name: string;
  readonly answer: RawAnswer;
  readonly sentMs: number;
  readonly receivedMs: number;
}

function flying({ most = 10, timeoutMs = 1_000, keepsBody = false, keepsHeaders = false } = {}) {
  const clock = new VirtualClock(start);
  const scheduler = new Scheduler(clock);
  const flights = new Flights({ clock, scheduler, timeoutMs, most });
  const calls: Dispatched[] = [];
  const landed: Landed[] = [];
  const dropped: string[] = [];
  const controller = (call: Dispatched) =>
    ({
      abort: ({ message }: Error) => {
        call.aborted = message;
      },
    }) as Dispatcher.DispatchController;
  /** Acts while a call is dispatched, as undici may. */
  let whileLeaving: (call: Dispatched) => void = () => undefined;
  const dispatcher = {
    dispatch(_options: unknown, handler: Required<Dispatcher.DispatchHandler>) {
      const call: Dispatched = {
        handler,
        aborted: null,
        write: () => handler.onRequestStart(controller(call), undefined),
        answer(status, headers = {}, ...chunks) {
          handler.onResponseStart(controller(call), status, headers, "");
          for (const chunk of chunks) handler.onResponseData(controller(call), Buffer.from(chunk));
          handler.onResponseEnd(controller(call), {});
        },
        fail: (error) => handler.onResponseError(controller(call), error),
      };
      calls.push(call);
      whileLeaving(call);
      return true;
    },
  } as unknown as Dispatcher;
  const route = { dispatcher, options: {} as Dispatcher.DispatchOptions, keepsBody, keepsHeaders };
  const send = (name: string, { dueMs = clock.now(), endMs = start + 60_000 } = {}): void =>
    flights.send(route, {
      dueMs,
      endMs,
      landed: (answer, sentMs, receivedMs) => landed.push({ name, answer, sentMs, receivedMs }),
      dropped: () => dropped.push(name),
    });
  const leaving = (act: typeof whileLeaving): void => {
    whileLeaving = act;
  };
  const pass = (ms: number): void => {
    let isOver = false;
    clock.after(ms, () => {
      isOver = true;
    });
    while (!isOver) clock.next();
  };
  return { flights, pass, calls, landed, dropped, send, leaving };
}

const nothing = { status: 0, headers: {}, body: null, error_code: 0 };

describe("a call", () => {
  test("is answered with its status, its headers and the times of its writing and its answer", () => {
    const { pass, calls, landed, send } = flying();
    send("a");
    pass(3);
    calls[0]?.write();
    pass(20);
    calls[0]?.answer(200, { "ratelimit-limit": "5", "ratelimit-remaining": ["5", "5"], other: "x" }, "body");
    expect(landed).toHaveLength(1);
    expect(landed[0]).toMatchObject({ name: "a", sentMs: start + 3, receivedMs: start + 23 });
    const { headers, ...answer } = (landed[0] as Landed).answer;
    expect(answer).toEqual({ status: 200, body: null, error_code: 0, error: "" });
    const given = Object.entries(headers).filter(([, value]) => value !== undefined);
    expect(given).toEqual([
      ["Ratelimit-Limit", "5"],
      ["Ratelimit-Remaining", "5, 5"],
    ]);
  });

  test("has all headers in lower case, and its body, where somebody reads them", () => {
    const { calls, landed, send } = flying({ keepsBody: true, keepsHeaders: true });
    send("a");
    calls[0]?.write();
    calls[0]?.answer(201, { "X-Own": ["a", "b"] }, "bo", "dy");
    expect(landed[0]?.answer).toMatchObject({ status: 201, headers: { "x-own": "a, b" }, body: "body" });
  });

  test("has the body of a refusal always, and no more of it than the most", () => {
    const { calls, landed, send } = flying();
    send("a");
    calls[0]?.write();
    calls[0]?.answer(429, {}, "x".repeat(bodyMost), "y", "z");
    const body = String(landed[0]?.answer.body);
    expect([body.length, body.slice(-2)]).toEqual([bodyMost + 1, "xy"]);
  });

  test("is answered after what comes before the answer", () => {
    const { calls, landed, send } = flying();
    send("a");
    calls[0]?.write();
    calls[0]?.handler.onResponseStart?.({} as Dispatcher.DispatchController, 103, { link: "x" }, "");
    expect(landed).toEqual([]);
    calls[0]?.answer(200);
    expect(landed.map(({ answer }) => answer.status)).toEqual([200]);
  });

  test("whose answer breaks off has none, but a reason", () => {
    const { calls, landed, send } = flying({ keepsBody: true });
    send("a");
    calls[0]?.write();
    calls[0]?.handler.onResponseStart?.({} as Dispatcher.DispatchController, 200, {}, "");
    calls[0]?.fail(Object.assign(new Error("x"), { code: "ECONNRESET" }));
    expect(landed[0]?.answer).toEqual({ ...nothing, error: expect.stringMatching(/\w/) });
  });

  test("that fails while it leaves lands after it has left", () => {
    const { pass, landed, send, leaving } = flying();
    leaving((call) => call.fail(new Error("no way")));
    send("a");
    expect(landed).toEqual([]);
    pass(1);
    expect(landed.map(({ answer, sentMs }) => [answer.status, sentMs])).toEqual([[0, start]]);
  });

  test("is never written twice, and lands once", () => {
    const { calls, landed, send } = flying();
    send("a");
    calls[0]?.write();
    expect(calls[0]?.aborted).toBeNull();
    calls[0]?.write();
    expect(calls[0]?.aborted).toBe("given up");
    calls[0]?.answer(200);
    calls[0]?.fail(new Error("late"));
    expect(landed).toHaveLength(1);
  });
});

describe("a call that is late", () => {
  test("is given up when its time is over, and its answer is ignored", () => {
    const { pass, calls, landed, send } = flying();
    send("a");
    calls[0]?.write();
    pass(999);
    expect(landed).toEqual([]);
    pass(1);
    expect(landed[0]).toMatchObject({ answer: { ...nothing, error: "timeout" }, receivedMs: start + 1_000 });
    expect(calls[0]?.aborted).toBe("timeout");
    calls[0]?.answer(200);
    expect(landed).toHaveLength(1);
  });

  test("is given up alone; the next one in its own time", () => {
    const { pass, calls, landed, send } = flying();
    send("a");
    pass(400);
    send("b");
    pass(600);
    expect(landed.map(({ name }) => name)).toEqual(["a"]);
    pass(399);
    expect(landed).toHaveLength(1);
    pass(1);
    expect(landed.map(({ name }) => name)).toEqual(["a", "b"]);
    // Nothing was on the way for a while.
    pass(5_000);
    send("c");
    pass(1_000);
    expect(landed.map(({ name, receivedMs }) => [name, receivedMs - start])).toEqual([
      ["a", 1_000],
      ["b", 1_400],
      ["c", 7_400],
    ]);
    expect(calls).toHaveLength(3);
  });

  test("that was given up before it was written is not written any more", () => {
    const { pass, calls, landed, send } = flying();
    send("a");
    pass(1_000);
    expect(landed[0]).toMatchObject({ sentMs: start });
    calls[0]?.write();
    expect(calls[0]?.aborted).toBe("given up");
  });
});

describe("more calls than may be on the way", () => {
  test("wait for one to land, in their order", () => {
    const { calls, landed, send } = flying({ most: 2 });
    for (const name of ["a", "b", "c", "d"]) send(name);
    expect(calls).toHaveLength(2);
    for (const at of [1, 0]) calls[at]?.write();
    calls[1]?.answer(200);
    expect([calls.length, landed.map(({ name }) => name)]).toEqual([3, ["b"]]);
    calls[2]?.write();
    calls[2]?.answer(200);
    calls[0]?.answer(200);
    expect([calls.length, landed.map(({ name }) => name)]).toEqual([4, ["b", "c", "a"]]);
  });

  test("are dropped where their end has come meanwhile, and not a moment before", () => {
    const { pass, calls, dropped, send } = flying({ most: 1 });
    send("a");
    send("over", { endMs: start + 50 });
    send("just", { endMs: start + 51 });
    pass(50);
    calls[0]?.write();
    calls[0]?.answer(200);
    expect([calls.length, dropped]).toEqual([2, []]);
    pass(0);
    expect(dropped).toEqual(["over"]);
  });

  test("are late by the time since they were due", () => {
    const { flights, pass, calls, send } = flying({ most: 1 });
    send("a");
    send("b");
    pass(70);
    calls[0]?.write();
    calls[0]?.answer(200);
    expect(flights.lateness.read()).toMatchObject({ calls: 2, maxMs: 70 });
  });
});

describe("the close", () => {
  test("cuts all calls, tells how many had been sent, and lets nothing leave or land after it", () => {
    const { flights, calls, landed, send } = flying({ most: 2 });
    for (const name of ["a", "b", "c"]) send(name);
    calls[0]?.write();
    expect(flights.close()).toBe(1);
    expect(calls.map(({ aborted }) => aborted)).toEqual(["the run is over", null]);
    calls[1]?.write();
    expect(calls[1]?.aborted).toBe("given up");
    calls[0]?.answer(200);
    send("d");
    expect([calls.length, landed]).toEqual([2, []]);
  });
});
