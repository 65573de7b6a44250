// The smallest request and response with which Express-style middleware can run. They have the members that such
// middleware uses; the use of any other fails with its name, which the law's report shows.
import type { HttpAnswer } from "../wire/answer.ts";

/** Function of `(request, response, next)`, of any types. */
export type Middleware = (request: never, response: never, next: (error?: unknown) => void) => unknown;

/** Members of a request that middleware reads. */
export interface MiddlewareRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly ip: string;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, string>>;
}

type Listener = (...args: unknown[]) => void;
type Value = string | number | readonly string[];

/** Response with the members that middleware calls. It is over once it ended or the next handler was called. */
class FakeResponse {
  statusCode = 200;
  headersSent = false;
  writableEnded = false;
  readonly locals: Record<string, unknown> = {};
  readonly #headers = new Map<string, string>();
  readonly #listeners = new Map<string, readonly Listener[]>();

  get finished(): boolean {
    return this.writableEnded;
  }

  setHeader(name: string, value: Value): this {
    this.#headers.set(name.toLowerCase(), String(value));
    return this;
  }

  getHeader(name: string): string | undefined {
    return this.#headers.get(name.toLowerCase());
  }

  readonly get = this.getHeader;

  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase());
  }

  getHeaders(): Record<string, string> {
    return Object.fromEntries(this.#headers);
  }

  removeHeader(name: string): void {
    this.#headers.delete(name.toLowerCase());
  }

  /** Sets one header or several, as Express's `set` does. */
  set(name: string | Readonly<Record<string, Value>>, value: Value = ""): this {
    if (typeof name === "string") return this.setHeader(name, value);
    for (const [each, own] of Object.entries(name)) this.setHeader(each, own);
    return this;
  }

  readonly header = this.set;

  append(name: string, value: Value): this {
    const before = this.getHeader(name);
    return this.setHeader(name, before === undefined ? value : `${before}, ${value}`);
  }

  readonly appendHeader = this.append;

  type(_type: string): this {
    return this;
  }

  status(code: number): this {
    this.statusCode = code;
    return this;
  }

  sendStatus(code: number): this {
    return this.status(code).end();
  }

  writeHead(code: number, ...rest: readonly unknown[]): this {
    const headers = rest.at(-1);
    if (typeof headers === "object" && headers !== null) this.set(headers as Record<string, Value>);
    this.headersSent = true;
    return this.status(code);
  }

  write(_chunk?: unknown): boolean {
    this.headersSent = true;
    return true;
  }

  /** Sends a body. Express 4 and older also take `send(status, body)`. */
  send(...args: readonly unknown[]): this {
    const [code] = args;
    if (args.length > 1 && typeof code === "number") this.status(code);
    return this.end();
  }

  json(...args: readonly unknown[]): this {
    return this.send(...args);
  }

  /** Calls the first of the functions, as Express's `format` does for a request that accepts any type. */
  format(byType: Readonly<Record<string, () => unknown>>): this {
    Object.values(byType)[0]?.();
    return this;
  }

  end(_chunk?: unknown): this {
    if (this.writableEnded) return this;
    this.headersSent = true;
    this.writableEnded = true;
    this.emit("finish");
    this.emit("close");
    return this;
  }

  on(event: string, listener: Listener): this {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
    return this;
  }

  readonly once = this.on;

  off(event: string, listener: Listener): this {
    const left = (this.#listeners.get(event) ?? []).filter((known) => known !== listener);
    this.#listeners.set(event, left);
    return this;
  }

  readonly removeListener = this.off;

  emit(event: string, ...args: unknown[]): boolean {
    const listeners = this.#listeners.get(event) ?? [];
    for (const listener of listeners) listener.apply(this, args);
    return listeners.length > 0;
  }
}

function requestOf(usual: Partial<MiddlewareRequest>): Record<string, unknown> {
  const { ip = "127.0.0.1", headers = {}, url = "/" } = usual;
  const socket = { remoteAddress: ip, encrypted: false };
  const get = (name: string): string | undefined => headers[name.toLowerCase()];
  return {
    method: "GET",
    path: url.split("?")[0],
    baseUrl: "",
    query: {},
    params: {},
    cookies: {},
    protocol: "http",
    secure: false,
    hostname: "localhost",
    ...usual,
    url,
    originalUrl: url,
    headers,
    ip,
    ips: [],
    socket,
    connection: socket,
    get,
    header: get,
    on: () => {},
    once: () => {},
    // Express's settings, all of them off.
    app: { get: () => false, set: () => {}, enabled: () => false },
  };
}

/** Error of an answer that is given twice: Node's code for it, and what the middleware did. */
const answeredTwice = (): Error =>
  Object.assign(new Error("next() was called after the answer had ended: return where the answer ends"), {
    name: "ERR_HTTP_HEADERS_SENT",
  });

/** Middleware with its requests. An error that comes after its answer fails the next request. */
export class MiddlewareSession {
  readonly #middleware: Middleware;
  #late: { readonly error: unknown } | null = null;

  constructor(middleware: Middleware) {
    this.#middleware = middleware;
  }

  /**
   * Runs one request. If the middleware calls `next`, the handler after it answers 200.
   * @throws whatever the middleware throws, rejects with or passes to `next`; an error named `ERR_HTTP_HEADERS_SENT` if
   *   it calls `next` after the answer ended, now or in an earlier request
   */
  async run(request: Partial<MiddlewareRequest>): Promise<HttpAnswer> {
    const answer = await new Promise<HttpAnswer>((resolve, reject) => {
      const response = new FakeResponse();
      const failed = (error: unknown): void => {
        if (response.writableEnded) this.#late = { error };
        reject(error);
      };
      response.on("close", () => resolve({ status: response.statusCode, headers: response.getHeaders() }));
      const fake = Object.assign(requestOf(request), { res: response });
      Object.assign(response, { req: fake });
      const next = (error?: unknown): void => {
        if (error !== undefined && error !== null && error !== "route") failed(error);
        else if (response.writableEnded) failed(answeredTwice());
        else response.end();
      };
      const run = async (): Promise<unknown> => this.#middleware(fake as never, response as never, next);
      run().catch(failed);
    });
    const late = this.#late;
    this.#late = null;
    if (late !== null) throw late.error;
    return answer;
  }
}
