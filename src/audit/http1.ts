// Reads answers of HTTP/1 from a bare connection: heads, and bodies of a given length, in chunks, or up to the end of
// the connection.
import type { Socket } from "node:net";
import type { Got } from "../connect/send.ts";

export interface Message extends Got {
  readonly receivedMs: number;
}

/** A message and the bytes after it; `null` while the message is incomplete. */
type Parsed = { readonly message: Got; readonly rest: Buffer } | null;

/**
 * Reads the answers to requests of these methods, in order.
 * @param headOnly resolves once the first answer's head is there
 */
export function readMessages(
  socket: Socket,
  methods: readonly string[],
  timeoutMs: number,
  headOnly: boolean,
): Promise<Message[]> {
  return new Promise((resolve, reject) => {
    const messages: Message[] = [];
    let bytes: Buffer = Buffer.alloc(0);
    const read = (isOver: boolean): void => {
      for (let method = methods[messages.length]; method !== undefined; method = methods[messages.length]) {
        const parsed = parseMessage(bytes, method === "HEAD" || headOnly, isOver);
        if (parsed === null) break;
        bytes = parsed.rest;
        messages.push({ receivedMs: Date.now(), ...parsed.message });
      }
      if (messages.length === methods.length) resolve(messages);
      else if (isOver) reject(Object.assign(new Error("closed"), { code: "ECONNRESET" }));
    };
    socket.on("data", (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      read(false);
    });
    socket.on("end", () => read(true));
    socket.on("error", reject);
    socket.setTimeout(timeoutMs);
  });
}

function parseMessage(bytes: Buffer, isBodiless: boolean, isOver: boolean): Parsed {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const [first = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1] ?? 0);
  const rest = bytes.subarray(end + 4);
  // 100 and other 1xx answers come before the final answer.
  if (status >= 100 && status < 200) return parseMessage(rest, isBodiless, isOver);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  if (isBodiless || status === 204 || status === 304) return { message: { status, headers, body: "" }, rest };
  if (/chunked/i.test(headers["transfer-encoding"] ?? "")) return parseChunks(rest, status, headers);
  const length = headers["content-length"];
  if (length === undefined)
    return isOver
      ? { message: { status, headers, body: rest.toString("utf8") }, rest: Buffer.alloc(0) }
      : null;
  const most = Number(length);
  if (rest.length < most) return null;
  const body = rest.subarray(0, most).toString("utf8");
  return { message: { status, headers, body }, rest: rest.subarray(most) };
}

function parseChunks(bytes: Buffer, status: number, headers: Record<string, string>): Parsed {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return null;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16);
    if (!Number.isSafeInteger(size)) return null;
    at = lineEnd + 2;
    if (size === 0) {
      // Trailers may come before the empty line.
      const end = bytes.indexOf("\r\n\r\n", lineEnd);
      if (end === -1) return null;
      const body = Buffer.concat(parts).toString("utf8");
      return { message: { status, headers, body }, rest: bytes.subarray(end + 4) };
    }
    // Behind a chunk that is not all there, no line is found.
    parts.push(bytes.subarray(at, at + size));
    at += size + 2;
  }
}
