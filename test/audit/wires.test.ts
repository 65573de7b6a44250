// An audit's calls as bytes: what each way of sending writes, when, and what it makes of what comes back.
import { getEventListeners, once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Shot } from "../../src/audit/step.ts";
import { Wires } from "../../src/audit/wires.ts";
import { parseTarget } from "../../src/connect/target.ts";

const ok = "HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\ncontent-length: 2\r\n\r\nhi";
/** Texts of each connection, as they came. */
const came: string[][] = [];
let answer = (_text: string, socket: Socket): void => void socket.write(ok);
const server = createServer((socket) => {
  const own: string[] = [];
  came.push(own);
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    own.push(chunk.toString());
    answer(own.join(""), socket);
  });
});
let port = 0;
let wires: Wires;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);
  wires = made();
});
afterAll(async () => {
  await wires.close();
  server.close();
});
afterEach(() => {
  came.length = 0;
  answer = (_text, socket) => void socket.write(ok);
});

const made = (signal?: AbortSignal, timeoutMs = 5_000): Wires =>
  new Wires({
    target: parseTarget("target", `http://127.0.0.1:${port}/api`),
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
    tokens: ["secret-0", "secret-1"],
    ...{ timeoutMs, signal },
  } as never);
const shot = (more: Partial<Shot> = {}): Shot =>
  ({
    ...{ way: "kept", method: "GET", path: "/a?b=1", headers: {}, body: null, operation: "call", cost: 1 },
    caller: { index: 1, name: "ann", attributes: { user: "ann" } },
    ...more,
  }) as Shot;
const head = (version: string, ...lines: string[]): string =>
  [
    `GET /api/a?b=1 HTTP/${version}`,
    `host: 127.0.0.1:${port}`,
    "user-agent: spillway",
    "authorization: Bearer secret-1",
    ...lines,
  ].join("\r\n");
const told = { status: 200, error: null, body: "hi", headers: { "x-a": "1, 2", "content-length": "2" } };
const cut = { status: 0, error: "cut off", body: "", headers: {} };

test.each(["kept", "lone"] as const)(
  "%s: a request of a client, with the caller's credential",
  async (way) => {
    expect(await wires.send(shot({ way }))).toMatchObject(told);
    const [text = ""] = came.flat();
    expect(text.split("\r\n")[0]).toBe("GET /api/a?b=1 HTTP/1.1");
    expect(text).toContain("authorization: Bearer secret-1\r\n");
    expect(/connection: close/i.test(text)).toBe(way === "lone");
  },
);

test("a connection of its own leaves nothing behind on the signal that interrupts it", async () => {
  const { signal } = new AbortController();
  await made(signal).send(shot({ way: "http/1.0" }));
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("HTTP/1.0 on a connection of its own", async () => {
  expect(await wires.send(shot({ way: "http/1.0" }))).toMatchObject(told);
  expect(came).toEqual([[`${head("1.0", "connection: close")}\r\n\r\n`]]);
});

test("nobody's call has no credential, and own headers take the place of the usual ones", async () => {
  const headers = { "User-Agent": "other", "X-Was": "T $TOKEN", Authorization: "token $TOKEN" };
  await wires.send(shot({ way: "http/1.0", caller: null, headers: { "User-Agent": "other" } }));
  await wires.send(shot({ way: "http/1.0", headers }));
  expect(came.map(([text = ""]) => text.split("\r\n").slice(2, -2))).toEqual([
    ["user-agent: other", "connection: close"],
    ["user-agent: other", "authorization: token secret-1", "x-was: T secret-1", "connection: close"],
  ]);
});

test("pipelined calls go over one connection, the last of which closes it", async () => {
  const body = '{"x":"\u00e9"}';
  answer = (text, socket) => {
    if (text.endsWith(body)) socket.write(ok + ok);
  };
  const shots = [shot({ way: "pipelined" }), shot({ way: "pipelined", method: "POST", body })];
  expect(await wires.sendAll(shots)).toMatchObject([told, told]);
  const type = ["user-agent: spillway", "content-type: application/json", "authorization: Bearer secret-1"];
  const posted = [
    "POST /api/a?b=1 HTTP/1.1",
    `host: 127.0.0.1:${port}`,
    ...type,
    "content-length: 10",
    "connection: close",
  ].join("\r\n");
  expect(came.map((texts) => texts.join(""))).toEqual([`${head("1.1")}\r\n\r\n${posted}\r\n\r\n${body}`]);
});

test("calls at once have connections of their own", async () => {
  const own = made();
  expect(await own.sendAll([shot({ way: "lone" }), shot({ way: "lone" })])).toMatchObject([told, told]);
  expect(came).toHaveLength(2);
  await own.close();
});

test("cut off while sending, half of the head is there", async () => {
  expect(await wires.send(shot({ way: "cut-sending" }))).toMatchObject(cut);
  const whole = head("1.1", "connection: close");
  expect(came.map((texts) => texts.join(""))).toEqual([whole.slice(0, Math.floor(whole.length / 2))]);
});

test("cut off while waiting, all of the request is there", async () => {
  answer = () => {};
  expect(await wires.send(shot({ way: "cut-waiting" }))).toMatchObject(cut);
  expect(came).toEqual([[`${head("1.1", "connection: close")}\r\n\r\n`]]);
});

test.each([
  ["half of its head", null],
  ["its head and half of its body", "0123456789"],
])("a call that is held sends %s first, and an answer ends the hold", async (_, body) => {
  const method = body === null ? "GET" : "POST";
  const held = { way: "slow", body, method } as const;
  answer = (text, socket) => {
    if (text.endsWith(body ?? "\r\n\r\n")) socket.write(ok);
  };
  expect(await wires.send(shot({ ...held, holdMs: 5 }))).toMatchObject(told);
  answer = (_text, socket) => void socket.write(ok);
  expect(await wires.send(shot({ ...held, holdMs: 200_000 }))).toMatchObject(told);
  const text = came[0]?.join("") ?? "";
  const half = body === null ? text.slice(0, Math.floor(text.length / 2)) : text.slice(0, -5);
  expect(came[1]?.[0]).toBe(half);
});

test("a long body is read as far as a mebibyte, and the rest is left", async () => {
  const most = 1 << 20;
  answer = (_text, socket) =>
    void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${9 * most}\r\n\r\n${"x".repeat(3 * most)}`);
  const { body, status } = await wires.send(shot({ way: "lone" }));
  expect(status).toBe(200);
  expect(body.length).toBeGreaterThan(most);
  expect(body.length).toBeLessThan(2 * most);
});

test.each(["kept", "http/1.0"] as const)("%s: why there was no answer", async (way) => {
  answer = (_text, socket) => void socket.destroy();
  expect(await wires.send(shot({ way }))).toMatchObject({ status: 0, error: "reset", headers: {}, body: "" });
  answer = () => {};
  const hasty = made(undefined, 60);
  expect(await hasty.send(shot({ way }))).toMatchObject({ status: 0, error: "timeout" });
  await hasty.close();
});

test.each(["kept", "http/1.0"] as const)("%s: an interrupted call is thrown", async (way) => {
  const stop = new AbortController();
  answer = () => stop.abort(new Error("interrupted by hand"));
  const stopped = made(stop.signal, 600_000);
  await expect(stopped.send(shot({ way }))).rejects.toThrow("interrupted by hand");
  await stopped.close();
});
