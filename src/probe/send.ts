// One HTTP call at a time. `fetch` would follow redirects, try again by itself and read bodies without end: a
// probe must know each call it made, and make none elsewhere.
import http from "node:http";
import https from "node:https";

/** One call to make. */
export interface Ask {
  readonly method: "GET" | "HEAD" | "POST";
  readonly url: string;
  /** Sent as `Authorization: Bearer`; kept nowhere. */
  readonly token: string;
  /** JSON, or text that is meant to be none. */
  readonly body?: string | undefined;
  /** Further headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An answer as it came. */
export interface Got {
  readonly status: number;
  /** Names in lower case; a doubled header is joined by ", ". */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** At most `bodyMost` characters of it. */
  readonly body: string;
}

/** Makes one call; rejects with `NoAnswer` where none came. */
export type Send = (ask: Ask, signal: AbortSignal | undefined) => Promise<Got>;

/** Why no answer came: whether the call was counted is unknown. */
export class NoAnswer extends Error {
  /** `timeout`, `refused`, `reset`, `tls`, `no such host`, `not http`, or Node's own code. */
  readonly reason: string;

  constructor(reason: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "NoAnswer";
    this.reason = reason;
  }
}

/** More than any status or refusal. */
export const bodyMost = 1 << 20;
const timeoutDefaultMs = 10_000;

/** A sender over Node's client; connections are reused, so that `sent` is close to when the target reads it. */
export function httpSender(timeoutMs: number = timeoutDefaultMs): Send {
  const options = { keepAlive: true, maxSockets: 2 };
  const plain = new http.Agent(options);
  const secure = new https.Agent(options);
  return async (ask, signal) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const either = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
    try {
      return await exchange(ask, ask.url.startsWith("https:") ? secure : plain, either);
    } catch (cause) {
      signal?.throwIfAborted();
      if (timeout.aborted) throw new NoAnswer("timeout", `no answer within ${timeoutMs} ms`, cause);
      const { reason, message } = named(cause as NodeJS.ErrnoException);
      throw new NoAnswer(reason, message, cause);
    }
  };
}

function exchange(
  { method, url, token, body, headers: more }: Ask,
  agent: http.Agent,
  signal: AbortSignal,
): Promise<Got> {
  const headers: http.OutgoingHttpHeaders = {
    authorization: `Bearer ${token}`,
    "user-agent": "spillway-probe",
    ...more,
  };
  if (body !== undefined) {
    headers["content-type"] = "application/json";
    headers["content-length"] = Buffer.byteLength(body);
  } else if (method === "POST") headers["content-length"] = 0;
  const start = agent instanceof https.Agent ? https.request : http.request;
  return new Promise((resolve, reject) => {
    const request = start(url, { method, headers, agent, signal }, (response) => {
      let text = "";
      const done = (): void =>
        resolve({ status: response.statusCode ?? 0, headers: joined(response.headers), body: text });
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length <= bodyMost) return;
        text = text.slice(0, bodyMost);
        done();
        request.destroy();
      });
      response.on("end", done);
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

function joined(headers: http.IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
}

const reasons: Readonly<Record<string, readonly [reason: string, message: string]>> = {
  ECONNREFUSED: ["refused", "connection refused"],
  ENOTFOUND: ["no such host", "no such host"],
  EAI_AGAIN: ["no such host", "no such host"],
  ECONNRESET: ["reset", "the connection was closed without an answer"],
  EPIPE: ["reset", "the connection was closed without an answer"],
  EHOSTUNREACH: ["unreachable", "no route to the host"],
  ENETUNREACH: ["unreachable", "no route to the host"],
  EPROTO: ["tls", "no TLS there (is it http://?)"],
};

function named({ code = "error", message }: NodeJS.ErrnoException): { reason: string; message: string } {
  const known = reasons[code];
  if (known !== undefined) return { reason: known[0], message: known[1] };
  if (code.startsWith("HPE_")) return { reason: "not http", message: `no HTTP there (${message})` };
  if (/CERT|TLS|SSL/.test(code))
    return { reason: "tls", message: `a certificate that nobody vouches for (${code})` };
  return { reason: code, message };
}
