// Behaviour that only a socket shows: bytes as they come, bodies too large, callers that go away.
// @module-tag real-time
// @module-tag paced
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { Deployment, deferred, token } from "./deployment.ts";

const authorization = `Authorization: Bearer ${token("alice@acme").token}`;
const open: Deployment[] = [];
afterEach(() => Promise.all(open.splice(0).map(({ app }) => app.close())));

/** Listens on a free loopback port; closed after the test. */
async function listening(service = new Deployment()): Promise<{ service: Deployment; port: number }> {
  open.push(service);
  await service.app.listen({ port: 0, host: "127.0.0.1" });
  return { service, port: (service.app.server.address() as AddressInfo).port };
}

/** Sends bytes as they are, and reads until the server closes. */
function raw(port: number, ...parts: readonly (string | Buffer)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
    for (const part of parts) socket.write(part);
  });
}

const get = (target: string, ...headers: readonly string[]): string =>
  `${[`GET ${target} HTTP/1.1`, "Host: x", "Connection: close", ...headers].join("\r\n")}\r\n\r\n`;

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
const headerOf = (answer: string, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)\r$`, "im").exec(answer)?.[1];
const bodyOf = (answer: string): { message: string } =>
  JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4));

describe("paths are taken as they stand", () => {
  test.each([
    ["/v2/organizations/acme/../globex/rate_limit", 404, "199"],
    ["/v2/organizations/acme/./rate_limit", 404, "199"],
    ["/v2/organizations/../user", 404, undefined],
    ["/v2/organizations/globex/../acme/rate_limit", 404, undefined],
    ["/v2/organizations/%2e%2e/user", 404, undefined],
    ["/v2/../v2/user", 404, undefined],
    ["/v2/organizations/acme%2Frate_limit", 404, undefined],
    ["/v2/organizations/ac%6de/rate_limit", 200, "200"],
    ["/v2/organizations/acme/rate_limit#fragment", 200, "200"],
    ["http://elsewhere/v2/organizations/acme/rate_limit", 200, "200"],
    ["/v2/organizations/%FF/rate_limit", 404, undefined],
    ["/v2/organizations/acme/%C3%28", 404, "199"],
    ["*", 404, undefined],
  ])("%s: %i", async (target, status, remaining) => {
    const { port } = await listening();
    const answer = await raw(port, get(target, authorization));
    expect(statusOf(answer)).toBe(status);
    expect(headerOf(answer, "RateLimit-Remaining")).toBe(remaining);
  });

  test("a path that is no valid UTF-8 is checked in the same order", async () => {
    const { service, port } = await listening();
    expect(statusOf(await raw(port, get("/v2/organizations/acme/%FF")))).toBe(401);
    expect(bodyOf(await raw(port, get("/v2/organizations/globex/%FF", authorization))).message).toBe(
      "No organization found",
    );
    expect(bodyOf(await raw(port, get("/nowhere/%FF", authorization))).message).toBe("Not found");
    expect(await service.counted()).toEqual({ rest: 0, graphql: 0 });
  });
});

test("a client that waits for 100 before its body is told to go on, answered and charged", async () => {
  const { service, port } = await listening();
  const body = JSON.stringify({ query: "{ viewer { user { name } } }" });
  const head = [
    ...["POST /v1/graphql HTTP/1.1", "Host: x", "Connection: close", authorization],
    ...["Content-Type: application/json", `Content-Length: ${body.length}`, "Expect: 100-continue"],
  ];
  const told = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk) => {
      if (text === "") socket.write(body);
      text += String(chunk);
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
  });
  const [goOn = "", ...answer] = told.split("\r\n\r\n");
  expect(goOn).toBe("HTTP/1.1 100 Continue");
  expect(statusOf(answer.join("\r\n\r\n"))).toBe(200);
  expect((await service.counted()).graphql).toBeGreaterThan(0);
});

describe("HEAD", () => {
  test.each(["/v2/organizations/acme/rate_limit", "/v2/organizations/acme/pipelines"])(
    "%s: GET's headers without the body",
    async (target) => {
      const { port } = await listening();
      const [got, head] = await Promise.all(
        [get(target, authorization), get(target, authorization).replace("GET", "HEAD")].map((bytes) =>
          raw(port, bytes),
        ),
      );
      expect(statusOf(head ?? "")).toBe(200);
      expect(headerOf(head ?? "", "Content-Length")).toBe(headerOf(got ?? "", "Content-Length"));
      expect(head?.slice(head.indexOf("\r\n\r\n"))).toBe("\r\n\r\n");
    },
  );
});

describe("headers", () => {
  test("stand on the wire as the documentation writes them", async () => {
    const { port } = await listening();
    const answer = await raw(port, get("/v2/user", authorization));
    expect(answer.split("\r\n").filter((line) => line.startsWith("RateLimit-"))).toEqual([
      "RateLimit-Scope: rest",
      "RateLimit-Remaining: 199",
      "RateLimit-Limit: 200",
      "RateLimit-Reset: 58",
      "RateLimit-User-Scope: rest_user",
      "RateLimit-User-Remaining: 49",
      "RateLimit-User-Limit: 50",
      "RateLimit-User-Reset: 58",
    ]);
  });

  test("over 16 KiB are answered 431", async () => {
    const { service, port } = await listening();
    const answer = await raw(port, get("/v2/user", authorization, `X-Long: ${"x".repeat(17_000)}`));
    expect(statusOf(answer)).toBe(431);
    expect(bodyOf(answer)).toMatchObject({ message: expect.any(String) });
    expect(statusOf(await raw(port, get(`/v2/organizations/${"a".repeat(17_000)}`, authorization)))).toBe(
      431,
    );
    expect(statusOf(await raw(port, get(`/v2/organizations/${"a".repeat(15_000)}`, authorization)))).toBe(
      404,
    );
    expect(await service.counted()).toEqual({ rest: 0, graphql: 0 });
  });

  test("bytes beyond ASCII in a token are no token", async () => {
    const { port } = await listening();
    const request = Buffer.from(get("/v2/user", "Authorization: Bearer \u00e9\u00ff"), "latin1");
    expect(statusOf(await raw(port, request))).toBe(401);
  });

  test.each([
    ["the same token", authorization],
    ["an unknown token", "authorization: Bearer nobody"],
    ["no token", "AUTHORIZATION:"],
  ])("two Authorization headers are answered 401, whichever is first: %s", async (_, other) => {
    const { service, port } = await listening();
    for (const headers of [
      [authorization, other],
      [other, authorization],
    ]) {
      const answer = await raw(port, get("/v2/user", ...headers));
      expect([statusOf(answer), headerOf(answer, "RateLimit-Remaining")]).toEqual([401, undefined]);
    }
    expect(await service.counted()).toEqual({ rest: 0, graphql: 0 });
  });

  test("what is no HTTP is answered 400", async () => {
    const { port } = await listening();
    const answer = await raw(port, "HELLO\r\n\r\n");
    expect(statusOf(answer)).toBe(400);
    expect(bodyOf(answer)).toMatchObject({ message: expect.any(String) });
  });
});

describe("bodies", () => {
  const megabytes = Buffer.alloc(2 * 1_048_576, 0x20);
  const head = (...headers: readonly string[]): string =>
    `${["POST /v1/graphql HTTP/1.1", "Host: x", authorization, "Content-Type: application/json", ...headers].join("\r\n")}\r\n\r\n`;
  const chunked = Buffer.concat([
    Buffer.from(`${megabytes.length.toString(16)}\r\n`),
    megabytes,
    Buffer.from("\r\n0\r\n\r\n"),
  ]);

  test.each([
    ["announced", [head("Connection: close", `Content-Length: ${megabytes.length}`), megabytes]],
    ["in chunks", [head("Connection: close", "Transfer-Encoding: chunked"), chunked]],
  ])(
    "2 MiB %s: 413 with the eight headers, read by a client that sends all of it first",
    async (_, parts) => {
      const { service, port } = await listening();
      const answer = await raw(port, ...parts);
      expect(statusOf(answer)).toBe(413);
      expect(headerOf(answer, "RateLimit-Scope")).toBe("graphql");
      expect(headerOf(answer, "RateLimit-User-Remaining")).toBe("5000");
      expect(await service.counted()).toEqual({ rest: 0, graphql: 0 });
    },
  );

  test("2 MiB do not end the connection: the next request is answered", async () => {
    const { port } = await listening();
    const answers = await raw(
      port,
      head(`Content-Length: ${megabytes.length}`),
      megabytes,
      get("/v2/user", authorization),
    );
    expect([...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(["413", "200"]);
  });

  test("invalid UTF-8: 400 with the eight headers", async () => {
    const { port } = await listening();
    const body = Buffer.from('{"query":"{ viewer { user { name } } }","variables":{"x":"\u00ff"}}', "latin1");
    const answer = await raw(port, head("Connection: close", `Content-Length: ${body.length}`), body);
    expect(statusOf(answer)).toBe(400);
    expect(headerOf(answer, "RateLimit-Remaining")).toBe("20000");
  });

  test("to a REST resource they are not read: 405", async () => {
    const { port } = await listening();
    const request = `POST /v2/user HTTP/1.1\r\nHost: x\r\n${authorization}\r\nContent-Length: ${megabytes.length}\r\n\r\n`;
    const answers = await raw(port, request, megabytes, get("/v2/user", authorization));
    expect([...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(["405", "200"]);
  });
});

describe("connections", () => {
  test("requests in one packet are each counted", async () => {
    const { service, port } = await listening();
    const one = get("/v2/user", authorization).replace("Connection: close\r\n", "");
    const answers = await raw(port, one.repeat(4) + get("/v2/user", authorization));
    expect([...answers.matchAll(/^RateLimit-Remaining: (\d+)/gm)].map(([, left]) => left)).toEqual([
      "199",
      "198",
      "197",
      "196",
      "195",
    ]);
    expect((await service.counted()).rest).toBe(5);
  });

  test("requests of one connection may be of different callers", async () => {
    const { port } = await listening();
    const requests = ["alice@acme", "bob@acme", "bob@globex", "alice@acme", "alice@globex"].map((name) =>
      get("/v2/user", `Authorization: Bearer ${token(name).token}`),
    );
    const kept = requests.slice(0, -1).map((request) => request.replace("Connection: close\r\n", ""));
    const answers = await raw(port, kept.join("") + requests.at(-1));
    expect([...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      "200",
      "200",
      "401",
      "200",
      "200",
    ]);
    expect([...answers.matchAll(/^RateLimit-User-Remaining: (\d+)/gm)].map(([, left]) => left)).toEqual([
      "49",
      "49",
      "48",
      "49",
    ]);
  });

  test("HEAD has no body", async () => {
    const { port } = await listening();
    const answer = await raw(port, get("/v2/user", authorization).replace("GET", "HEAD"));
    expect([statusOf(answer), answer.split("\r\n\r\n")[1]]).toEqual([200, ""]);
    expect(Number(headerOf(answer, "Content-Length"))).toBeGreaterThan(0);
  });

  test("a query whose caller has gone still completes, and gives back", async () => {
    let complete = (): void => {};
    const admitted = deferred();
    const service = new Deployment(
      {},
      {
        executionDelayMs: 1,
        sleep: () => {
          admitted.resolve();
          return new Promise((resolve) => {
            complete = resolve;
          });
        },
      },
    );
    const { port } = await listening(service);
    const gone = deferred();
    service.app.server.on("connection", (socket: Socket) => socket.on("close", () => gone.resolve()));
    const body = JSON.stringify({
      query: "{ organization { pipelines(first: 500) { edges { node { slug } } } } }",
    });
    const caller = connect(port, "127.0.0.1");
    caller.write(
      `POST /v1/graphql HTTP/1.1\r\nHost: x\r\n${authorization}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await admitted.promise;
    expect((await service.counted()).graphql).toBe(503);
    caller.destroy();
    await gone.promise;
    complete();
    expect((await service.counted()).graphql).toBe(13);
  });
});
