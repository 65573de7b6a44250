// Listening, and its end.
// @module-tag real-time
// @module-tag paced
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { type ServeOptions, type Serving, serve } from "../../src/service/serve.ts";
import { deferred, token } from "./deployment.ts";

const headers = { authorization: `Bearer ${token("alice@acme").token}` };
const query = JSON.stringify({ query: "{ viewer { user { name } } }" });
const post = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: query };
const started: Serving[] = [];
afterEach(() => Promise.all(started.splice(0).map((serving) => serving.close())));

async function start(options: Partial<ServeOptions> = {}): Promise<Serving> {
  const serving = await serve({ port: 0, rules: parseRules({}), tokens: [token("alice@acme")], ...options });
  started.push(serving);
  return serving;
}

describe("serve", () => {
  test("answers at its URL, by the wall clock", async () => {
    const { url } = await start();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const before = Date.now();
    const answer = await fetch(`${url}/v2/organizations/acme/rate_limit`, { headers });
    const { scopes } = (await answer.json()) as { scopes: { rest: { reset: number; reset_at: string } } };
    const resetAtMs = Date.parse(scopes.rest.reset_at);
    expect(resetAtMs).toBeGreaterThan(before);
    expect(resetAtMs).toBeLessThanOrEqual(Date.now() + 60_000);
    expect(resetAtMs % 60_000).toBe(0);
  });

  test.each([
    ["localhost", /^http:\/\/(127\.0\.0\.1|\[::1\]):\d+$/],
    ["0.0.0.0", /^http:\/\/127\.0\.0\.1:\d+$/],
  ])("on %s it gives a URL that can be called", async (host, expected) => {
    const { url } = await start({ host });
    expect(url).toMatch(expected);
    expect((await fetch(`${url}/v2/user`, { headers })).status).toBe(200);
  });

  test("a port in use", async () => {
    const { url } = await start();
    const port = Number(new URL(url).port);
    await expect(start({ port })).rejects.toMatchObject({
      code: "PORT_IN_USE",
      exitCode: 3,
      message: expect.stringContaining(`port ${port}`),
      hint: expect.stringContaining("--port 0"),
    });
  });

  test.each([
    ["no address of this machine", { host: "192.0.2.1" }],
    ["no address", { host: "no such host.invalid" }],
    ["no port", { port: 65_536 }],
  ])("%s", async (_, where) => {
    await expect(start(where)).rejects.toMatchObject({
      code: "USAGE",
      problems: [{ path: "host:port", allowed: expect.any(String) }],
    });
  });

  test("drops idle keys from time to time", async () => {
    const swept = deferred<number>();
    const limiter = new Limiter(parseRules({}));
    const sweep = limiter.sweep.bind(limiter);
    limiter.sweep = (nowMs) => {
      swept.resolve(nowMs);
      return sweep(nowMs);
    };
    await start({ store: limiter, sweepEveryMs: 1, now: () => 1234 });
    expect(await swept.promise).toBe(1234);
  });
});

describe("close", () => {
  test("finishes the calls on their way, takes no new connection, and may be called twice", async () => {
    let complete = (): void => {};
    const inFlight = deferred();
    const serving = await start({
      executionDelayMs: 1,
      sleep: () => {
        inFlight.resolve();
        return new Promise((resolve) => {
          complete = resolve;
        });
      },
    });
    const answer = fetch(`${serving.url}/v1/graphql`, post);
    await inFlight.promise;
    const closed = [serving.close(), serving.close()];
    await expect(fetch(`${serving.url}/v2/user`, { headers })).rejects.toThrow();
    complete();
    expect((await answer).status).toBe(200);
    expect(await (await answer).json()).toMatchObject({ data: { viewer: { user: { name: "alice" } } } });
    await Promise.all(closed);
  });

  test("does not wait for connections that are kept alive and idle", async () => {
    const serving = await start();
    for (let call = 0; call < 5; call++)
      await (await fetch(`${serving.url}/v2/user`, { headers, keepalive: true })).text();
    const silent = connect(Number(new URL(serving.url).port), "127.0.0.1");
    await new Promise((resolve) => silent.once("connect", resolve));
    const ended = new Promise((resolve) => silent.once("close", resolve));
    await serving.close();
    await ended;
  });

  test("cuts off a request that never comes to its end", async () => {
    const serving = await start({ closeWithinMs: 50 });
    const halfway = connect(Number(new URL(serving.url).port), "127.0.0.1");
    const arrived = new Promise((resolve) =>
      serving.app.server.once("connection", (socket) => socket.once("data", resolve)),
    );
    halfway.write("GET /v2/user HTTP/1.1\r\nHost: ");
    await arrived;
    await serving.close();
    expect(serving.app.server.listening).toBe(false);
  });
});
