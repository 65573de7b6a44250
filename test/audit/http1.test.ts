// Answers of HTTP/1 on a bare connection, however their bytes come.
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readMessages } from "../../src/audit/http1.ts";

const ok = "HTTP/1.1 200 OK\r\n";
/** Bytes, the method that they answer, and what they say; the last two end with the connection. */
const answers = {
  told: [
    "GET",
    `${ok}Content-Length: 5\r\nX-A: 1\r\nx-a:  2\r\n\r\nhello`,
    200,
    { "content-length": "5", "x-a": "1, 2" },
    "hello",
  ],
  empty: ["GET", `HTTP/1.0 404 Not Found\r\ncontent-length: 0\r\n\r\n`, 404, { "content-length": "0" }, ""],
  chunks: [
    "GET",
    `${ok}Transfer-Encoding: Chunked\r\n\r\n3;x=1\r\nab\u00e9\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n`,
    200,
    { "transfer-encoding": "Chunked" },
    "ab\ufffd0123456789abcdef",
  ],
  trailed: [
    "GET",
    `${ok}transfer-encoding: chunked\r\ntrailer: Sum\r\n\r\n2\r\nhi\r\n0\r\nSum: 7\r\nMore: 1\r\n\r\n`,
    200,
    { "transfer-encoding": "chunked", trailer: "Sum" },
    "hi",
  ],
  none: ["GET", "HTTP/1.1 204 No Content\r\n\r\n", 204, {}, ""],
  unchanged: [
    "GET",
    "HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n",
    304,
    { "content-length": "7" },
    "",
  ],
  head: ["HEAD", `${ok}content-length: 7\r\n\r\n`, 200, { "content-length": "7" }, ""],
  continued: [
    "GET",
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n${ok}content-length: 2\r\n\r\nhi`,
    200,
    { "content-length": "2" },
    "hi",
  ],
  odd: ["GET", "SPDY 200\r\ncontent-length: 0\r\n\r\n", 0, { "content-length": "0" }, ""],
} as const;

class FakeSocket extends EventEmitter {
  timeoutMs = 0;
  setTimeout(timeoutMs: number): void {
    this.timeoutMs = timeoutMs;
  }
}

function connected(methods: readonly string[], headOnly = false) {
  const socket = new FakeSocket();
  const read = readMessages(socket as unknown as Socket, methods, 1234, headOnly);
  return { socket, read };
}

test("answers one behind the other, cut anywhere", async () => {
  const names = fc.array(fc.constantFrom(...Object.values(answers)), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(names, fc.array(fc.nat(200), { maxLength: 12 }), async (sent, cuts) => {
      const bytes = Buffer.from(sent.map(([, text]) => text).join(""), "latin1");
      const { socket, read } = connected(sent.map(([method]) => method));
      let from = 0;
      for (const at of [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)) {
        if (at > from) socket.emit("data", bytes.subarray(from, at));
        from = at;
      }
      const said = (await read).map(({ status, headers, body }) => [status, headers, body]);
      expect(said).toEqual(sent.map(([, , status, headers, body]) => [status, headers, body]));
    }),
    { numRuns: 150 },
  );
});

test("a body without a length ends with the connection", async () => {
  const { socket, read } = connected(["GET"]);
  socket.emit("data", Buffer.from(`${ok}a: 1\r\n\r\nto the `));
  socket.emit("data", Buffer.from("end"));
  socket.emit("end");
  expect(await read).toMatchObject([{ status: 200, headers: { a: "1" }, body: "to the end" }]);
  expect(socket.timeoutMs).toBe(1234);
});

test("the head alone, where that is asked for", async () => {
  const { socket, read } = connected(["GET"], true);
  socket.emit("data", Buffer.from(`${ok}content-length: 9\r\n\r\nhalf`));
  expect(await read).toMatchObject([{ status: 200, body: "" }]);
});

test.each([
  ["nothing", ""],
  ["half a head", ok],
  ["half a body", `${ok}content-length: 9\r\n\r\nhalf`],
  ["half of its chunks", `${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`],
  ["half a chunk", `${ok}transfer-encoding: chunked\r\n\r\n3\r\nab`],
  ["no end of its chunks", `${ok}transfer-encoding: chunked\r\n\r\n0\r\n`],
  ["a chunk of no size", `${ok}transfer-encoding: chunked\r\n\r\nzz\r\n\r\n`],
])("a connection that ends with %s is reset", async (_, text) => {
  const { socket, read } = connected(["GET"]);
  if (text !== "") socket.emit("data", Buffer.from(text));
  socket.emit("end");
  await expect(read).rejects.toMatchObject({ code: "ECONNRESET" });
});

test("an error of the socket is the reader's", async () => {
  const { socket, read } = connected(["GET"]);
  socket.emit("error", new Error("broken"));
  await expect(read).rejects.toThrow("broken");
});
