// Fetches a file over HTTP into memory. It follows redirects, uses the environment's proxy, and retries nothing.
import { type Dispatcher, EnvHttpProxyAgent, request } from "undici";
import { isLoopback } from "../connect/target.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import type { Environment } from "./program.ts";

export interface DownloadOptions {
  readonly env: Environment;
  /** True if plain HTTP may be used beyond this machine, because a checksum from elsewhere proves the file. */
  readonly isPlainAllowed: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Longest time without a byte, ms. */
  readonly stallMs: number;
  /** Takes the number of bytes that have come, and the number of all; `null` if the server does not tell it. */
  readonly onBytes?: ((done: number, all: number | null) => void) | undefined;
}

/** Greatest size of a download, bytes. An archive of k6 has some 30 million. */
const sizeMost = 512 * 1024 * 1024;
const redirectsMost = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches a file.
 * @throws SpillwayError `DOWNLOAD_FAILED` saying what came instead
 */
export async function download(url: string, options: DownloadOptions): Promise<Buffer> {
  const { env, stallMs, signal } = options;
  const agent = new EnvHttpProxyAgent({
    httpProxy: "",
    httpsProxy: env["https_proxy"] || env["HTTPS_PROXY"] || "",
    noProxy: [env["no_proxy"] || env["NO_PROXY"] || "", "localhost", "127.0.0.1", "[::1]"].join(","),
    connect: { timeout: stallMs },
    headersTimeout: stallMs,
    bodyTimeout: stallMs,
  });
  let at = url;
  try {
    for (let hop = 0; hop <= redirectsMost; hop++) {
      requireSafe(at, options);
      const response = await request(at, {
        dispatcher: agent,
        signal,
        headers: { "user-agent": "spillway" },
      });
      const next = await redirected(at, response);
      if (next === null) return await bodyOf(at, response, options);
      at = next;
    }
    throw downloadFailed(url, `more than ${redirectsMost} redirects`, "the file");
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof SpillwayError) throw cause;
    throw downloadFailed(at, reasonOf(cause as NodeJS.ErrnoException, options), "the file", cause);
  } finally {
    await agent.destroy();
  }
}

/** Returns a `DOWNLOAD_FAILED`. It shows the address without user and query, which may hold secrets. */
export function downloadFailed(url: string, got: string, allowed: string, cause?: unknown): SpillwayError {
  return new SpillwayError("DOWNLOAD_FAILED", "k6 cannot be fetched", {
    problem: { path: withoutSecrets(url), got, allowed },
    hint: "HTTPS_PROXY names a proxy; --from URL --sha256 HEX fetches from another place; or name a k6 by K6_PATH",
    cause,
  });
}

const withoutSecrets = (url: string): string => url.replace(/\/\/[^/]*@/, "//").replace(/[?#].*$/s, "");

function requireSafe(url: string, { isPlainAllowed }: DownloadOptions): void {
  const { protocol = "", hostname = "" } = URL.canParse(url) ? new URL(url) : {};
  if (protocol === "https:") return;
  if (protocol === "http:" && (isPlainAllowed || isLoopback(hostname))) return;
  throw downloadFailed(url, quote(protocol), "an address that begins with https://");
}

/** Returns the address that a redirect leads to; `null` for any other answer. */
async function redirected(
  url: string,
  { statusCode, headers, body }: Dispatcher.ResponseData,
): Promise<string | null> {
  if (!redirects.has(statusCode)) return null;
  await body.dump();
  const { location } = headers;
  if (typeof location === "string" && URL.canParse(location, url)) return new URL(location, url).href;
  throw downloadFailed(url, `${statusCode}, a redirect to ${quote(location)}`, "an address");
}

async function bodyOf(
  url: string,
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { onBytes }: DownloadOptions,
): Promise<Buffer> {
  if (statusCode !== 200) throw downloadFailed(url, String(statusCode), "200 and the file");
  const length = Number(headers["content-length"] ?? Number.NaN);
  const chunks: Buffer[] = [];
  let done = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    done += chunk.length;
    if (done > sizeMost) throw downloadFailed(url, `more than ${sizeMost} bytes`, "an archive of k6");
    onBytes?.(done, Number.isFinite(length) ? length : null);
  }
  return Buffer.concat(chunks);
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "no such host",
  ECONNRESET: "the connection was cut",
  UND_ERR_SOCKET: "the connection was cut",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the connection was cut",
  ERR_TLS_CERT_ALTNAME_INVALID: "a certificate of another host",
};
const stalls: ReadonlySet<string> = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

function reasonOf({ code = "", message }: NodeJS.ErrnoException, { stallMs }: DownloadOptions): string {
  if (stalls.has(code)) return `no byte for ${stallMs} ms`;
  return reasons[code] ?? (message || code);
}
