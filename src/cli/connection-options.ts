// Options for the way to a target: certificates to trust and to show, and the proxy.
import { createSecureContext } from "node:tls";
import type { ConnectionOptions } from "../connect/connection.ts";
import { readText } from "../files/read-file.ts";
import type { Environment } from "../load/program.ts";
import { SpillwayError } from "../rules/errors.ts";
import { type OptionArgs, option, type VerbOptions } from "./verb.ts";

export const connectionOptions = {
  ca: option.text(
    "FILE",
    "trust the authorities in FILE (PEM) instead of the usual ones, for a target of https",
  ),
  cert: option.text("FILE", "present the client certificate in FILE (PEM); it needs --key"),
  key: option.text("FILE", "use the private key in FILE (PEM) for --cert"),
} as const satisfies VerbOptions;

/**
 * Reads the certificates and the proxy of a connection to `url`.
 * @param url the target's URL; `undefined` if the run starts the target
 * @throws SpillwayError `USAGE` if options do not fit, `FILE_UNREADABLE` if a file is not what it should be
 */
export async function readConnection(
  { ca, cert, key }: OptionArgs<typeof connectionOptions>,
  url: string | undefined,
  env: Environment = process.env,
): Promise<ConnectionOptions> {
  const given = Object.entries({ "--ca": ca, "--cert": cert, "--key": key });
  const [first] = given.filter(([, path]) => path !== undefined);
  if (first !== undefined && url?.startsWith("https:") !== true)
    throw new SpillwayError("USAGE", `${first[0]} needs a --target of https://`);
  requireBoth("--cert", cert, "--key", key);
  const tls = {
    ca: await readPem("--ca", ca),
    cert: await readPem("--cert", cert),
    key: await readPem("--key", key),
  };
  requireMatch(tls.cert, tls.key, `${cert} and ${key}`);
  const proxy = env["https_proxy"] || env["HTTPS_PROXY"] || "";
  if (proxy === "") return { tls };
  return { tls, proxy: { url: proxy, except: env["no_proxy"] || env["NO_PROXY"] || "" } };
}

/**
 * Reads a server's certificate and its key, for TLS.
 * @throws SpillwayError `USAGE` if one of them is missing, `FILE_UNREADABLE` if a file is not what it should be
 */
export async function readServerTls(
  certPath: string | undefined,
  keyPath: string | undefined,
): Promise<{ readonly cert: string; readonly key: string } | null> {
  const cert = await readPem("--tls-cert", certPath);
  const key = await readPem("--tls-key", keyPath);
  requireBoth("--tls-cert", cert, "--tls-key", key);
  if (cert === undefined || key === undefined) return null;
  requireMatch(cert, key, `${certPath} and ${keyPath}`);
  return { cert, key };
}

async function readPem(option: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const isKey = option.endsWith("key");
  const what = isKey ? "a private key" : "a certificate";
  const text = await readText(path, `file of ${option}`);
  if ((isKey ? /-----BEGIN [A-Z ]*PRIVATE KEY-----/ : /-----BEGIN [A-Z ]*CERTIFICATE-----/).test(text))
    return text;
  // The text is not shown, because it may be a secret.
  throw unusable(path, `text without ${what}`, `${what} in PEM`);
}

function requireBoth(certOption: string, cert: unknown, keyOption: string, key: unknown): void {
  if ((cert === undefined) === (key === undefined)) return;
  throw new SpillwayError("USAGE", `${certOption} and ${keyOption} go together`, {
    hint: "a file that holds both is given twice",
  });
}

/** Refuses a key that does not fit its certificate: each call would fail. */
function requireMatch(cert: string | undefined, key: string | undefined, path: string): void {
  if (cert === undefined || key === undefined) return;
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    const { code = "an error" } = cause as NodeJS.ErrnoException;
    throw unusable(path, code, "a certificate and its own private key, which no passphrase protects", cause);
  }
}

function unusable(path: string, got: string, allowed: string, cause?: unknown): SpillwayError {
  return new SpillwayError("FILE_UNREADABLE", "a file of the connection cannot be used", {
    problem: { path, got, allowed },
    cause,
  });
}
