// The audit's sockets: undici for plain calls, Node for HTTP/2, and raw connections for what no tidy client sends:
// pipelining, HTTP/1.0, requests that break off. Tokens go into requests, and nowhere else.
import { connect as connectHttp2 } from "node:http2";
import { connect, isIP, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { brotliDecompressSync, gunzipSync, inflateSync, type ZlibOptions } from "node:zlib";
import type { Dispatcher } from "undici";
import { type ConnectionOptions, openDispatcher } from "../connect/connection.ts";
import { reasonOf } from "../connect/no-answer.ts";
import type { Target } from "../connect/target.ts";
import { credentialOf } from "../policy/match.ts";
import type { Policy } from "../policy/policy.ts";
import { headerTexts } from "../wire/fields.ts";
import { type Message, readMessages } from "./http1.ts";
import type { Shot } from "./step.ts";

export interface WiresOptions extends ConnectionOptions {
  readonly target: Target;
  readonly auth: Policy["auth"];
  /** Tokens by callers' index. */
  readonly tokens: readonly string[];
  /** Longest wait for an answer, ms. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The answer that came back; `status` is 0 if none did. */
export interface Raw extends Message {
  readonly sentMs: number;
  readonly error: string | null;
}

const connectionsMost = 64;

export class Wires {
  readonly #options: WiresOptions;
  readonly #dispatcher: Dispatcher;

  constructor(options: WiresOptions) {
    this.#options = options;
    const { target, tls, proxy, timeoutMs } = options;
    const limits = { connections: connectionsMost, connectTimeoutMs: timeoutMs };
    this.#dispatcher = openDispatcher(target, { tls, proxy, ...limits });
  }

  close(): Promise<void> {
    return this.#dispatcher.destroy();
  }

  /** Makes calls at once; pipelined ones go over one connection. */
  async sendAll(shots: readonly Shot[]): Promise<Raw[]> {
    if (shots.some(({ way }) => way === "pipelined")) return this.#raw(shots, "1.1", null);
    return Promise.all(shots.map((shot) => this.send(shot)));
  }

  /** Makes one call, once. */
  async send(shot: Shot): Promise<Raw> {
    if (shot.way === "kept" || shot.way === "lone") return this.#kept(shot);
    if (shot.way === "http/2") return this.#http2(shot);
    const version = shot.way === "http/1.0" ? "1.0" : "1.1";
    const [raw] = await this.#raw([shot], version, shot.way.startsWith("cut-") ? shot.way : null);
    return raw as Raw;
  }

  #headers({ caller, headers, body }: Shot): Record<string, string> {
    const { auth, tokens } = this.#options;
    const token = caller === null ? undefined : tokens[caller.index];
    const credential = token === undefined ? {} : { [auth.header.toLowerCase()]: credentialOf(auth, token) };
    const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
    const all: Record<string, string> = {
      "user-agent": "spillway",
      ...(body === null ? {} : { "content-type": "application/json" }),
      ...credential,
      ...Object.fromEntries(own),
    };
    // An experiment may change the case of the credential's scheme, so the token replaces `$TOKEN`.
    for (const [name, value] of Object.entries(all)) all[name] = value.replaceAll("$TOKEN", token ?? "");
    return all;
  }

  async #kept(shot: Shot): Promise<Raw> {
    const { target, timeoutMs, signal } = this.#options;
    const timeout = AbortSignal.timeout(timeoutMs);
    const sentMs = Date.now();
    try {
      const answer = await this.#dispatcher.request({
        origin: target.origin,
        path: pathOf(target, shot),
        method: shot.method as Dispatcher.HttpMethod,
        headers: this.#headers(shot),
        body: shot.body,
        reset: shot.way === "lone",
        signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      });
      const bytes = new BodyBytes();
      for await (const chunk of answer.body) if (!bytes.add(chunk as Uint8Array)) break;
      const receivedMs = Date.now();
      const headers = headerTexts(answer.headers);
      const body = bytes.text(headers["content-encoding"]);
      return { sentMs, receivedMs, status: answer.statusCode, headers, body, error: null };
    } catch (cause) {
      signal?.throwIfAborted();
      return none(sentMs, timeout.aborted ? "timeout" : reasonOf(cause as NodeJS.ErrnoException));
    }
  }

  async #http2(shot: Shot): Promise<Raw> {
    const { target, tls = {}, timeoutMs, signal } = this.#options;
    const session = connectHttp2(target.origin, defined(tls));
    const stop = (): void => session.destroy(new Error("interrupted"));
    signal?.addEventListener("abort", stop);
    const sentMs = Date.now();
    try {
      return await new Promise<Raw>((resolve, reject) => {
        session.on("error", reject);
        const timer = setTimeout(
          () => reject(Object.assign(new Error("timeout"), { code: "ETIMEDOUT" })),
          timeoutMs,
        );
        timer.unref();
        const stream = session.request({
          ":method": shot.method,
          ":path": pathOf(target, shot),
          ...this.#headers(shot),
        });
        let head: Record<string, string | string[] | number | undefined> = {};
        const bytes = new BodyBytes();
        stream.on("response", (given) => {
          head = given as typeof head;
        });
        stream.on("data", (chunk: Buffer) => {
          if (!bytes.add(chunk)) stream.close();
        });
        stream.on("error", reject);
        stream.on("end", () => {
          const named = Object.entries(head).filter(([name]) => !name.startsWith(":"));
          const headers = Object.fromEntries(
            named.map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : String(value)]),
          );
          clearTimeout(timer);
          const status = Number(head[":status"] ?? 0);
          const body = bytes.text(headers["content-encoding"]);
          resolve({ sentMs, receivedMs: Date.now(), status, headers, body, error: null });
        });
        stream.end(shot.body ?? undefined);
      });
    } catch (cause) {
      signal?.throwIfAborted();
      return none(sentMs, reasonOf(cause as NodeJS.ErrnoException));
    } finally {
      signal?.removeEventListener("abort", stop);
      session.destroy();
    }
  }

  /** Sends requests as bytes on a connection of their own. */
  async #raw(shots: readonly Shot[], version: "1.0" | "1.1", cut: string | null): Promise<Raw[]> {
    const { timeoutMs, signal } = this.#options;
    const bytes = shots.map((shot, at) => this.#bytes(shot, version, at === shots.length - 1));
    const sentMs = Date.now();
    let socket: Socket | null = null;
    const stop = (): void => void socket?.destroy(new Error("interrupted"));
    signal?.addEventListener("abort", stop);
    try {
      socket = await this.#connect();
      const text = bytes.join("");
      if (cut === "cut-sending") {
        socket.write(text.slice(0, Math.floor(text.indexOf("\r\n\r\n") / 2)));
        await new Promise((resolve) => setTimeout(resolve, 30));
        return [none(sentMs, "cut off")];
      }
      const methods = shots.map(({ method }) => method);
      const holdMs = shots[0]?.holdMs ?? 0;
      const messages = readMessages(socket, methods, timeoutMs + holdMs, cut === "cut-reading");
      const half = holdMs === 0 ? 0 : halfOf(text);
      if (half > 0) {
        socket.write(text.slice(0, half));
        // An answer that comes before the request is complete counts, too.
        await Promise.race([sleep(holdMs, undefined, { signal }), messages.catch(() => undefined)]);
      }
      socket.write(text.slice(half));
      if (cut === "cut-waiting") {
        // Waits as long as a request is on its way, but for no answer.
        messages.catch(() => undefined);
        await new Promise<void>((resolve) => socket?.end(() => resolve()));
        await new Promise((resolve) => setTimeout(resolve, 30));
        return [none(sentMs, "cut off")];
      }
      return (await messages).map((message) => ({ sentMs, error: null, ...message }));
    } catch (cause) {
      signal?.throwIfAborted();
      return shots.map(() => none(sentMs, reasonOf(cause as NodeJS.ErrnoException)));
    } finally {
      signal?.removeEventListener("abort", stop);
      socket?.destroy();
    }
  }

  #bytes(shot: Shot, version: string, isLast: boolean): string {
    const { target } = this.#options;
    const fields: Record<string, string> = {
      host: new URL(target.origin).host,
      ...this.#headers(shot),
      ...(shot.body === null ? {} : { "content-length": String(Buffer.byteLength(shot.body)) }),
      ...(isLast ? { connection: "close" } : {}),
    };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
    return `${shot.method} ${pathOf(target, shot)} HTTP/${version}\r\n${lines.join("\r\n")}\r\n\r\n${shot.body ?? ""}`;
  }

  #connect(): Promise<Socket> {
    const { target, tls = {}, timeoutMs } = this.#options;
    const { protocol, hostname, port } = new URL(target.origin);
    const host = hostname.replace(/^\[|\]$/g, "");
    const isSecure = protocol === "https:";
    const at = { host, port: Number(port || (isSecure ? 443 : 80)) };
    return new Promise((resolve, reject) => {
      const socket = isSecure
        ? connectTls({ ...at, ...(isIP(host) === 0 ? { servername: host } : {}), ...defined(tls) }, () =>
            resolve(socket),
          )
        : connect(at, () => resolve(socket));
      socket.setTimeout(timeoutMs, () =>
        socket.destroy(Object.assign(new Error("timeout"), { code: "ETIMEDOUT" })),
      );
      socket.on("error", reject);
    });
  }
}

/** Returns the position of half of the body, or of the head if there is no body. */
function halfOf(text: string): number {
  const head = text.indexOf("\r\n\r\n") + 4;
  return head < text.length ? Math.floor((head + text.length) / 2) : Math.floor(head / 2);
}

const pathOf = ({ base, origin }: Target, { path }: Shot): string => base.slice(origin.length) + path;

const none = (sentMs: number, error: string): Raw => ({
  sentMs,
  receivedMs: Date.now(),
  status: 0,
  headers: {},
  body: "",
  error,
});

function defined(tls: NonNullable<ConnectionOptions["tls"]>): Record<string, string> {
  return Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}

/** Most bytes of a body, more than any status or refusal has. */
const bodyMost = 1 << 20;
const limits: ZlibOptions = { maxOutputLength: bodyMost };

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gunzipSync(bytes, limits),
  deflate: (bytes) => inflateSync(bytes, limits),
  br: (bytes) => brotliDecompressSync(bytes, { maxOutputLength: bodyMost }),
};

/** Collects a body, up to a bound. */
export class BodyBytes {
  readonly #chunks: Buffer[] = [];
  #length = 0;

  /** Adds a chunk. @returns false if the body is now too long */
  add(chunk: Uint8Array): boolean {
    this.#chunks.push(Buffer.from(chunk));
    this.#length += chunk.byteLength;
    return this.#length <= bodyMost;
  }

  /** Returns the body as text; its bytes as they are if they are not in that coding. */
  text(coding: string | undefined): string {
    const bytes = Buffer.concat(this.#chunks);
    const decode = decoders[coding?.trim().toLowerCase() ?? ""];
    if (decode === undefined) return bytes.toString("utf8");
    try {
      return decode(bytes).toString("utf8");
    } catch {
      return bytes.toString("utf8");
    }
  }
}
