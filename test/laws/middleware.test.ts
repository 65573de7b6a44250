// The response that middleware of Express's kind is run with does what Node's and Express's do.
import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { type Middleware, MiddlewareSession } from "../../src/laws/middleware.ts";

/** Members that Express adds to Node's response. */
interface Reply extends ServerResponse {
  set(name: string | Record<string, unknown>, value?: unknown): this;
  header(name: string | Record<string, unknown>, value?: unknown): this;
  append(name: string, value: unknown): this;
  get(name: string): string | undefined;
  type(name: string): this;
  status(code: number): this;
  sendStatus(code: number): this;
  send(...args: unknown[]): this;
  json(...args: unknown[]): this;
  format(byType: Record<string, () => unknown>): this;
}

interface Request {
  readonly [member: string]: unknown;
  get(name: string): string | undefined;
  header(name: string): string | undefined;
  readonly app: { get(name: string): boolean; enabled(name: string): boolean };
  readonly socket: { readonly encrypted: boolean };
}

type Next = (error?: unknown) => void;

const sessionOf = (middleware: (request: Request, response: Reply, next: Next) => unknown) =>
  new MiddlewareSession(middleware as Middleware);

const run = (middleware: (request: Request, response: Reply, next: Next) => unknown) =>
  sessionOf(middleware).run({ url: "/a?b=1", headers: { "x-key": "one" } });

test.each<[string, number, Record<string, string>, (response: Reply, next: Next) => unknown]>([
  ["next", 200, {}, (_, next) => next()],
  ["next('route')", 200, {}, (_, next) => next("route")],
  [
    "setHeader, of any case, the last one",
    200,
    { a: "2" },
    (r) => r.setHeader("A", 1).setHeader("a", 2).end(),
  ],
  ["set, of one", 200, { a: "1" }, (r) => r.set("A", 1).end()],
  ["header, of several", 200, { a: "1", b: "2,3" }, (r) => r.header({ A: 1, B: ["2", "3"] }).end()],
  ["append", 200, { a: "1, 2" }, (r) => r.append("a", 1).appendHeader("A", "2").end()],
  [
    "removeHeader",
    200,
    {},
    (r) => {
      r.setHeader("a", 1).removeHeader("A");
      r.end();
    },
  ],
  ["status and send", 429, {}, (r) => r.status(429).type("json").send("no")],
  ["sendStatus", 503, {}, (r) => r.sendStatus(503)],
  ["json", 200, {}, (r) => r.json({})],
  ["send of a number alone, which is a body", 200, {}, (r) => r.send(429)],
  ["send of a status and a body, as Express 4 has it", 429, {}, (r) => r.send(429, "no")],
  ["json of a status and a body", 429, {}, (r) => r.json(429, {})],
  [
    "format, by its first type",
    429,
    {},
    (r) => r.format({ html: () => r.status(429).end(), json: () => r.end() }),
  ],
  ["writeHead with headers", 429, { a: "1" }, (r) => r.writeHead(429, { A: 1 }).end()],
  ["writeHead with a reason and headers", 429, { a: "1" }, (r) => r.writeHead(429, "No", { A: 1 }).end()],
  ["writeHead alone", 429, {}, (r) => r.writeHead(429).end("no")],
  [
    "end once",
    200,
    { a: "1" },
    (r) => {
      r.set("a", 1).end().status(500).end();
    },
  ],
])("%s", async (_, status, headers, act) => {
  expect(await run((_request, response, next) => act(response, next))).toEqual({ status, headers });
});

test("it tells what it has, and when it is over", async () => {
  const seen: unknown[] = [];
  await run((request, r) => {
    const state = (): unknown[] => [r.headersSent, r.finished, r.writableEnded];
    const never = (): void => void seen.push("never");
    r.on("finish", never).off("finish", never).once("close", never).removeListener("close", never);
    r.on("finish", () => seen.push("finish")).once("close", () => seen.push("close"));
    seen.push(...state(), r.hasHeader("A"), r.get("a"), r.emit("none"));
    r.set("a", 1);
    seen.push(r.hasHeader("A"), r.get("A"), r.getHeader("a"), r.write("x"), ...state());
    seen.push(
      request.get("X-Key"),
      request.header("x-none"),
      request.path,
      request.originalUrl,
      request.res === r,
      (r.req as unknown) === request,
    );
    seen.push(
      request.secure,
      request.app.get("trust proxy"),
      request.app.enabled("etag"),
      request.socket.encrypted,
    );
    r.end();
    seen.push(...state());
  });
  expect(seen).toEqual([
    ...[false, false, false, false, undefined, false],
    ...[true, "1", "1", true, true, false, false],
    ...["one", undefined, "/a", "/a?b=1", true, true],
    ...[false, false, false, false],
    ...["finish", "close", true, true, true],
  ]);
});

test("writeHead tells that the head is sent", async () => {
  let isSent = false;
  await run((_request, r) => {
    isSent = r.writeHead(200).headersSent;
    r.end();
  });
  expect(isSent).toBe(true);
});

test.each<[string, (next: Next) => unknown]>([
  [
    "throws",
    () => {
      throw new Error("odd");
    },
  ],
  ["rejects", () => Promise.reject(new Error("odd"))],
  ["passes to next", (next) => next(new Error("odd"))],
])("what it %s is thrown", async (_, act) => {
  await expect(run((_request, _response, next) => act(next))).rejects.toThrow("odd");
});

test("next(null) lets the request pass", async () => {
  expect(await run((_request, _response, next) => next(null))).toEqual({ status: 200, headers: {} });
});

describe("an answer that has ended", () => {
  const twice = { name: "ERR_HTTP_HEADERS_SENT", message: expect.stringContaining("next() was called") };

  test.each<[string, (request: Request, response: Reply, next: Next) => unknown]>([
    [
      "next at once",
      (_, r, next) => {
        r.sendStatus(429);
        next();
      },
    ],
    [
      "next of an async function",
      async (_, r, next) => {
        r.sendStatus(429);
        next();
      },
    ],
    [
      "next twice",
      (_, __, next) => {
        next();
        next();
      },
    ],
  ])("is no answer after %s", async (_, middleware) => {
    await expect(run(middleware)).rejects.toMatchObject(twice);
  });

  test("fails the next request if the middleware goes on later", async () => {
    let goOn = (): void => undefined;
    const session = sessionOf((_, r, next) => {
      r.sendStatus(429);
      goOn = next;
    });
    expect(await session.run({})).toMatchObject({ status: 429 });
    goOn();
    await expect(session.run({})).rejects.toMatchObject(twice);
    expect(await session.run({})).toMatchObject({ status: 429 });
  });

  test("is no answer after a throw", async () => {
    const broken = run((_, r) => {
      r.sendStatus(429);
      throw new TypeError("too late");
    });
    await expect(broken).rejects.toThrow("too late");
  });
});
