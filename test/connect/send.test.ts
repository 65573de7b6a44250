// One call at a time over real sockets on loopback: what comes back, why nothing does, and the way there.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Server as SocketServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { NoAnswer } from "../../src/connect/no-answer.ts";
import { type Ask, bodyMost, openSender, type Send, type SendOptions } from "../../src/connect/send.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { tokenOf } from "../probe/virtual.ts";
import { pem, secureService, tunnelProxy } from "./tls.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function opened(options: SendOptions = {}): Send {
  const sender = openSender(options);
  closers.push(() => sender.close());
  return sender.send;
}

async function listen(server: Server | SocketServer): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const answering = (listener: RequestListener): Promise<string> => listen(createServer(listener));

const get = (url: string): Ask => ({ method: "GET", url, token: "t" });

describe("the sender", () => {
  const ask = (url: string, options: SendOptions = {}) => opened(options)(get(url), undefined);

  test("gives status, headers as they came and the body; follows no redirect", async () => {
    let asked = 0;
    const url = await answering((_request, response) => {
      asked += 1;
      response.writeHead(
        302,
        [
          ["Location", "/elsewhere"],
          ["RateLimit-Limit", "5"],
          ["RateLimit-Limit", "5"],
        ].flat(),
      );
      response.end("moved");
    });
    expect(await ask(url)).toMatchObject({
      status: 302,
      body: "moved",
      headers: { location: "/elsewhere", "ratelimit-limit": "5, 5" },
    });
    expect(asked).toBe(1);
  });

  test("cuts a body without end", async () => {
    const url = await answering((_request, response) => {
      const more = (): void => {
        while (response.writable && response.write("x".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    });
    expect((await ask(url)).body).toHaveLength(bodyMost);
  });

  test.each<[string, () => Promise<string>, string]>([
    ["nobody listens", async () => "http://127.0.0.1:1", "refused"],
    [
      "no HTTP",
      () => listen(createSocketServer((socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n"))),
      "no http",
    ],
    ["a connection that closes", () => listen(createSocketServer((socket) => socket.destroy())), "reset"],
    [
      "no TLS",
      async () => (await answering((_, response) => response.end())).replace("http:", "https:"),
      "no tls",
    ],
    ["no answer", () => answering(() => {}), "timeout"],
  ])("%s", async (_what, start, reason) => {
    await expect(ask(await start(), { timeoutMs: 300 })).rejects.toMatchObject({ name: "NoAnswer", reason });
  });

  test("an interruption is none of the target's doing", async () => {
    const controller = new AbortController();
    const url = await answering(() => controller.abort());
    const asking = opened()(get(url), controller.signal);
    await expect(asking).rejects.toMatchObject({ name: "AbortError" });
  });

  test("sends method, query, token and body as they were asked for", async () => {
    const url = await answering(async (request, response) => {
      const chunks = await request.setEncoding("utf8").toArray();
      const { method, url: path, headers } = request;
      const { authorization, "content-type": type, "content-length": length } = headers;
      response.end(JSON.stringify([method, path, authorization, type, length, chunks.join("")]));
    });
    const send = opened();
    const sent = async (ask: Ask) => JSON.parse((await send(ask, undefined)).body) as unknown;
    const post = { ...get(`${url}/v1/graphql?a=1`), method: "POST" } as const;
    expect(await sent({ ...post, body: "{}" })).toEqual([
      "POST",
      "/v1/graphql?a=1",
      "Bearer t",
      "application/json",
      "2",
      "{}",
    ]);
    expect(await sent(post)).toEqual(["POST", "/v1/graphql?a=1", "Bearer t", null, "0", ""]);
    expect((await send({ ...get(url), method: "HEAD" }, undefined)).body).toBe("");
  });

  test("a token that no header can hold is a RangeError, time after time", async () => {
    const [url, send] = [await answering((_, response) => response.end()), opened()];
    const wrong = { ...get(url), token: "t\n" };
    await expect(send(wrong, undefined)).rejects.toThrow(RangeError);
    await expect(send(wrong, undefined)).rejects.toThrow(RangeError);
    expect((await send(get(url), undefined)).status).toBe(200);
  });

  test("makes calls over one connection", async () => {
    const ports = new Set<number | undefined>();
    const url = await answering((request, response) => {
      ports.add(request.socket.remotePort);
      response.end();
    });
    const send = opened();
    for (let call = 0; call < 3; call++) await send(get(url), undefined);
    expect(ports.size).toBe(1);
  });
});

describe("a target of https", () => {
  const token = tokenOf("prober");
  const started = async (asksForClients: boolean) => {
    const service = await secureService({ rules: parseRules({}), tokens: [token] }, { asksForClients });
    closers.push(() => service.close());
    return service;
  };
  const status = (base: string): Ask => ({
    method: "GET",
    url: `${base}/v2/organizations/acme/rate_limit`,
    token: token.token,
  });
  const ca = pem("ca");
  const tls = { ca, cert: pem("client"), key: pem("client-key") };

  test("is trusted by the word of an authority of one's own, and not without", async () => {
    const { url } = await started(false);
    expect(await opened({ tls: { ca } })(status(url), undefined)).toMatchObject({ status: 200 });
    await expect(opened()(status(url), undefined)).rejects.toMatchObject({
      reason: "untrusted",
      message: "a certificate that nobody known here vouches for",
    });
  });

  test("that asks for certificates lets in who has one, and nobody else", async () => {
    const { url } = await started(true);
    expect(await opened({ tls })(status(url), undefined)).toMatchObject({ status: 200 });
    await expect(opened({ tls: { ca } })(status(url), undefined)).rejects.toBeInstanceOf(NoAnswer);
  });

  test("is reached through a proxy if it is elsewhere, and never if it is this machine", async () => {
    const { url, port } = await started(true);
    const proxy = await tunnelProxy(port);
    closers.push(() => proxy.close());
    const send = opened({ tls, proxy: { url: proxy.url, except: "" } });
    expect(await send(status("https://staging.test"), undefined)).toMatchObject({ status: 200 });
    expect(proxy.asked).toEqual(["staging.test:443"]);
    expect(await send(status(url), undefined)).toMatchObject({ status: 200 });
    expect(proxy.asked).toHaveLength(1);
  });

  test("is not reached where the proxy refuses, and the proxy's password is not told", async () => {
    const proxy = await tunnelProxy(1);
    closers.push(() => proxy.close());
    const send = opened({ proxy: { url: proxy.url.replace("secret", "wrong"), except: "" } });
    await expect(send(status("https://staging.test"), undefined)).rejects.toMatchObject({
      name: "NoAnswer",
      message: expect.stringMatching(/^(?!.*wrong).*407/),
    });
  });
});
