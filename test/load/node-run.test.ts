// Parts that the Node driver alone has to get right: its connections, its own clock, and its end.
// @module-tag real-time
// @module-tag paced
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { describe, expect, test } from "vitest";
import type { NodeOutcome } from "../../src/load/by-node.ts";
import { connectionsMost } from "../../src/load/node/run.ts";
import {
  type Behaviour,
  burst,
  defineScenario,
  type PopulationInput,
  pipelinesQuery,
  poller,
  rest,
  worker,
} from "../../src/scenario/index.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { testFolder } from "./folder.ts";
import {
  counted,
  fakeTarget,
  plainHeaders,
  readTraceFile,
  runNode,
  scenarioFile,
  tokensOf,
  wideRules,
} from "./support.ts";
import { runVirtually, type VirtualAnswer, VirtualClock, virtualNetwork } from "./virtual-run.ts";

const folder = testFolder();

const start = 1_800_000_000_000;
const user = rest("/v2/user");

type Answering = (call: Dispatcher.DispatchOptions, number: number, clock: VirtualClock) => VirtualAnswer;

/** A run in virtual time, against a network of the test's own. */
async function virtual(
  populations: Readonly<Record<string, PopulationInput>>,
  answer: Answering,
  duration: string,
  more: {
    readonly timeoutMs?: number;
    readonly clock?: VirtualClock;
    readonly dispatch?: Dispatcher["dispatch"];
    readonly graphqlUrl?: string;
  } = {},
): Promise<{ outcome: NodeOutcome; calls: TraceCall[]; most: number }> {
  const scenario = defineScenario({ name: "virtual", duration, populations });
  const clock = more.clock ?? new VirtualClock(start);
  const network = virtualNetwork(clock, (call, number) => answer(call, number, clock), more.dispatch);
  const trace = join(folder.path, "virtual.ndjson");
  const caller = { organization: "acme", user: "user-0", token: "token" };
  const outcome = await runVirtually(scenario, {
    callers: scenario.populations.map(() => [caller]),
    base: "http://127.0.0.1:1/base",
    timeoutMs: more.timeoutMs ?? 30_000,
    trace,
    clock,
    graphqlUrl: more.graphqlUrl,
    open: network.open,
  });
  return { outcome, calls: (await readTraceFile(trace)).calls, most: network.most() };
}

const ok: VirtualAnswer = { afterMs: 5, status: 200 };
const isStatus = ({ url }: IncomingMessage): boolean => url?.endsWith("/rate_limit") === true;
const statusBody = '{"scopes":{"rest":{},"graphql":{}}}';
const answered = (request: IncomingMessage, response: ServerResponse): void =>
  void response.writeHead(200, plainHeaders).end(isStatus(request) ? statusBody : "{}");

test.each([
  ["http://127.0.0.1:1", "/"],
  ["http://127.0.0.1:1/graphql/", "/graphql/"],
])("queries to %s are posted to %s", async (graphqlUrl, path) => {
  const asked = new Set<string>();
  const querying = { clients: 1, behaviour: poller({ every: "1s", call: pipelinesQuery(5) }) };
  const answer: Answering = (call) => {
    asked.add(String(call.path));
    return ok;
  };
  await virtual({ querying }, answer, "2s", { graphqlUrl });
  expect([...asked]).toEqual([path]);
});

describe("a server that drops kept connections", () => {
  /** Clients whose every call has a page of its own, so that one that comes twice is seen. */
  const pages = `duration: "1500ms", populations: { readers: { clients: 8, behaviour: pager({ call: rest("/v2/things?page=:page"), pages: 100_000, perPage: 9, every: "1h" }) } }`;

  /** Runs the pagers against a server that sometimes drops the connection of a request. */
  async function dropped(drop: (response: ServerResponse, socket: Socket, number: number) => boolean) {
    const path = await scenarioFile(folder.path, "pages", pages);
    const seen = new Map<string, number>();
    const reused = new Set<Socket>();
    let [number, drops] = [0, 0];
    const target = await fakeTarget((request, response) => {
      if (isStatus(request)) return answered(request, response);
      const name = `${request.headers.authorization} ${request.url}`;
      // Counted first: what the server did must not be done again.
      seen.set(name, (seen.get(name) ?? 0) + 1);
      const { socket } = request;
      const isReused = reused.has(socket);
      reused.add(socket);
      if (isReused && drop(response, socket, number++)) drops += 1;
      else response.writeHead(200, { ...plainHeaders, Link: '<x>; rel="next"' }).end("{}");
    });
    const tokens = tokensOf(8);
    const result = await runNode(path, join(folder.path, "pages"), { target: { url: target.url, tokens } });
    await target.close();
    return { result, seen, drops, ...(await readTraceFile(result.trace)) };
  }

  test.each<[string, (response: ServerResponse, socket: Socket, number: number) => boolean]>([
    ["after it counted", (_, socket, number) => number % 5 === 0 && Boolean(socket.destroy())],
    [
      "by a reset, after it counted",
      (_, socket, number) => number % 5 === 0 && Boolean(socket.resetAndDestroy()),
    ],
    [
      "in the middle of an answer",
      (response, socket, number) => {
        if (number % 5 !== 0) return false;
        response.writeHead(200, { ...plainHeaders, "Content-Length": "100" }).write("{");
        setImmediate(() => socket.destroy());
        return true;
      },
    ],
    [
      "right behind an answer, without a word of it",
      (response, socket) => {
        response
          .writeHead(200, { ...plainHeaders, Link: '<x>; rel="next"' })
          .end("{}", () => socket.destroy());
        return true;
      },
    ],
  ])("%s: nothing is sent twice", async (name, drop) => {
    const { header, calls, seen, drops } = await dropped(drop);
    expect(drops).toBeGreaterThan(5);
    expect([...seen.values()].filter((times) => times > 1)).toEqual([]);
    const unanswered = calls.filter(({ status }) => status === 0);
    // Whatever reached the server has its one line; what it did not get to read has one, too.
    expect(calls.length).toBeGreaterThanOrEqual(seen.size);
    expect(calls.length - unanswered.length).toBeLessThanOrEqual(seen.size);
    if (!name.startsWith("right behind")) expect(unanswered.length).toBeGreaterThanOrEqual(drops);
    expect(new Set(unanswered.map(({ error }) => error)).size).toBeLessThanOrEqual(2);
    expect(header).toMatchObject({ complete: true, lost: 0 });
  });
});

test("what undici would send again is stopped before it leaves", async () => {
  const aborted: unknown[] = [];
  const clock = new VirtualClock(start);
  const once = { one: { clients: 1, behaviour: burst({ call: user, size: 1 }) } };
  const { calls, outcome } = await virtual(once, () => ok, "1s", {
    clock,
    dispatch(_call, handler) {
      const controller = { abort: (reason: unknown) => aborted.push(reason) } as unknown;
      handler.onRequestStart?.(controller as Dispatcher.DispatchController, null);
      clock.after(5, () => {
        // As it does with what stood behind the head of a pipeline that broke.
        handler.onRequestStart?.(controller as Dispatcher.DispatchController, null);
        handler.onResponseError?.(controller as Dispatcher.DispatchController, new Error("given up"));
      });
      return true;
    },
  });
  expect(aborted).toHaveLength(1);
  expect(calls).toMatchObject([{ status: 0, error: "given up" }]);
  expect(outcome.account.lost).toBe(0);
});

describe("an answer", () => {
  const one = (behaviour: Behaviour) => ({ one: { clients: 1, behaviour } });

  test("with a doubled header is written as k6 writes it", async () => {
    const headers = {
      "ratelimit-remaining": ["5", "5"],
      "ratelimit-limit": "9",
      "ratelimit-user-reset": "soon",
    };
    const { calls } = await virtual(one(burst({ call: user, size: 1 })), () => ({ ...ok, headers }), "1s");
    expect(calls[0]).toMatchObject({ limit: 9, remaining: "5, 5", userReset: "soon", reset: null });
  });

  test("comes after 103 and its like", async () => {
    const path = await scenarioFile(
      folder.path,
      "hints",
      `duration: "1s", populations: { one: { clients: 1, behaviour: burst({ call: user, size: 1 }) } }`,
    );
    const target = await fakeTarget((request, response) => {
      response.writeEarlyHints({ link: "</style.css>; rel=preload" });
      answered(request, response);
    });
    const options = { target: { url: target.url, tokens: tokensOf(1) } };
    const result = await runNode(path, join(folder.path, "hints"), options);
    await target.close();
    expect((await readTraceFile(result.trace)).calls).toMatchObject([{ status: 200, remaining: 150 }]);
  });

  test("to GraphQL is read for errors; a refusal's body is kept, others are not", async () => {
    const answers = [
      {
        status: 200,
        body: '{"errors":[{"message":"no such field"}]}',
        headers: { "ratelimit-complexity-actual": "0" },
      },
      { status: 200, body: '{"data":{}}', headers: { "ratelimit-complexity-actual": "4" } },
      { status: 429, body: '{"scope":"graphql"}' },
    ];
    const { calls } = await virtual(
      one(worker({ calls: [{ call: pipelinesQuery(1) }], jobs: 3 })),
      (_, number) => ({ ...ok, ...answers[number], status: answers[number]?.status ?? 500 }),
      "1s",
    );
    expect(calls.map(({ kind }) => kind)).toEqual(["other", "call", "call"]);
    expect(calls[2]).toMatchObject({ refusal: { scope: "graphql" } });
    const { calls: plain } = await virtual(
      one(worker({ calls: [{ call: user }], jobs: 2 })),
      (call, number) => ({ ...ok, status: number === 0 ? 200 : 429, body: `{"path":"${call.path}"}` }),
      "1s",
    );
    expect(plain[0]).not.toHaveProperty("body");
    expect(plain[1]).toMatchObject({ refusal: { path: "/base/v2/user" } });
  });

  test("that does not end in time is none, however it trickles", async () => {
    const path = await scenarioFile(
      folder.path,
      "trickle",
      `duration: "1s", populations: { one: { clients: 1, behaviour: burst({ call: user, size: 2 }) } }`,
    );
    const target = await fakeTarget((request, response) => {
      if (isStatus(request)) return answered(request, response);
      response.writeHead(200, plainHeaders);
      const trickling = setInterval(() => response.write("."), 50);
      response.on("close", () => clearInterval(trickling));
    });
    const options = { target: { url: target.url, tokens: tokensOf(1) }, timeoutMs: 300 };
    const result = await runNode(path, join(folder.path, "trickle"), options);
    await target.close();
    const { calls } = await readTraceFile(result.trace);
    expect(calls.map(({ status, error, limit }) => [status, error, limit])).toEqual([
      [0, "timeout", null],
      [0, "timeout", null],
    ]);
  });
});

describe("time", () => {
  test("gives up at the deadline, to the millisecond, and asks on", async () => {
    const { calls, outcome } = await virtual(
      { one: { clients: 2, behaviour: poller({ every: "700ms", call: user }) } },
      (_, number) => (number % 3 === 0 ? { afterMs: 0, status: null } : ok),
      "4s",
      { timeoutMs: 500, clock: new VirtualClock(start, 1) },
    );
    const late = calls.filter(({ status }) => status === 0);
    expect(late.length).toBeGreaterThan(2);
    for (const { sent, received, error } of late) expect([received - sent, error]).toEqual([500, "timeout"]);
    expect(calls).toHaveLength(12);
    expect(outcome.account).toMatchObject({ cutOff: 0, lost: 0 });
  });

  test("that the generator loses is measured as lateness, waiting for the target is not", async () => {
    const { outcome, calls } = await virtual(
      {
        // Due while its answer is on the way: late, and none of the generator's doing.
        patient: { clients: 1, behaviour: poller({ every: "100ms", call: user }) },
        busy: { clients: 1, behaviour: poller({ every: "250ms", call: pipelinesQuery(3) }) },
      },
      ({ path }, number, clock) => {
        // The whole process stands still for 300 ms, once.
        if (number === 6) clock.stall(300);
        return { ...ok, afterMs: path.endsWith("graphql") ? 5 : 400 };
      },
      "5s",
    );
    const waited = (scope: string): number =>
      Math.max(...calls.filter((call) => call.scope === scope).map(({ sent, wanted = 0 }) => sent - wanted));
    expect(waited("graphql")).toBeGreaterThan(0);
    expect(waited("rest")).toBeGreaterThanOrEqual(300);
    expect(outcome.lateness).toMatchObject({
      calls: calls.length,
      p50Ms: 0,
      maxMs: waited("graphql"),
    });
  });

  test("no more calls than connections are on the way, others wait and are late", async () => {
    const { outcome, calls, most } = await virtual(
      { crowd: { clients: 3, behaviour: burst({ call: user, size: 600, every: "1s" }) } },
      () => ({ ...ok, afterMs: 80 }),
      "1s",
    );
    expect(most).toBe(connectionsMost);
    expect(calls).toHaveLength(1_800);
    expect(outcome.lateness).toMatchObject({ calls: 1_800, p50Ms: 0, maxMs: 80 });
  });

  test("nothing that waited for a connection is sent after the end", async () => {
    const { calls, outcome } = await virtual(
      { crowd: { clients: 2, behaviour: burst({ call: user, size: connectionsMost }) } },
      () => ({ ...ok, afterMs: 1_500 }),
      "1s",
    );
    expect(calls).toHaveLength(connectionsMost);
    expect(outcome.account).toMatchObject({ clients: 2, cutOff: 0, lost: 0 });
  });
});

describe("a run that is cut short", () => {
  const busy = `duration: "60s", populations: { busy: { clients: 6, behaviour: worker({ calls: [{ call: user }], think: "2ms" }) } }`;

  test("keeps what it has, and counts what was on the way", async () => {
    const path = await scenarioFile(folder.path, "stopped", busy);
    const control = new AbortController();
    const hung = new Set<string | undefined>();
    const requests = { answered: 0, left: 0 };
    const target = await fakeTarget((request, response) => {
      if (isStatus(request)) return answered(request, response);
      // From the hundredth on, each client's next call is left without an answer.
      if (requests.answered < 100) requests.answered += 1;
      else {
        requests.left += 1;
        hung.add(request.headers.authorization);
        if (hung.size === 6) control.abort();
        return;
      }
      answered(request, response);
    });
    const options = { target: { url: target.url, tokens: tokensOf(6) }, signal: control.signal };
    const result = await runNode(path, join(folder.path, "stopped"), options);
    await target.close();
    const { header, calls } = await readTraceFile(result.trace);
    expect(result).toMatchObject({ interrupted: true, failure: null });
    expect(calls).toHaveLength(requests.answered);
    expect(header).toMatchObject({ complete: true, lost: requests.left });
    expect(requests.left).toBe(6);
    expect(result.account).toMatchObject({ clients: 6, cutOff: 6 });
    expect(result.notes).toEqual([
      "6 clients cut off before their end",
      "up to 6 calls may have been sent that the trace has no line of",
    ]);
  });

  test("before its first call has lost nothing", async () => {
    const path = await scenarioFile(folder.path, "late", busy);
    const service = counted();
    const running = runNode(path, join(folder.path, "late"), {
      adjustments: { rules: wideRules },
      target: service,
      signal: AbortSignal.abort(),
    });
    await expect(running).rejects.toThrow("aborted");
    expect(service.requests()).toBe(0);
  });

  test("leaves no connection behind", async () => {
    const path = await scenarioFile(folder.path, "closed", busy.replace("60s", "300ms"));
    const open = new Set<Socket>();
    const target = await fakeTarget(answered);
    target.server.on("connection", (socket) => {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
    });
    const options = { target: { url: target.url, tokens: tokensOf(6) } };
    await runNode(path, join(folder.path, "closed"), options);
    while (open.size > 0) await wait(10);
    await target.close();
  });
});

test("no token is in any file, error or result", async () => {
  const path = await scenarioFile(
    folder.path,
    "secret",
    `duration: "300ms", populations: { three: { clients: 3, behaviour: worker({ calls: [{ call: user }], think: "20ms" }) } }`,
  );
  // A target that gives back what it was given.
  const target = await fakeTarget((request, response) => {
    if (isStatus(request)) return answered(request, response);
    const body = JSON.stringify({ message: `${request.headers.authorization} has exceeded the limit` });
    response.writeHead(429, plainHeaders).end(body);
  });
  const options = { target: { url: target.url, tokens: tokensOf(3) } };
  const result = await runNode(path, join(folder.path, "secret"), options);
  await target.close();
  const { text } = await readTraceFile(result.trace);
  expect(text).toContain('"refusal":{"message":"Bearer <token> has exceeded the limit"}');
  expect(text + JSON.stringify(result)).not.toContain("secret-token");
});
