// The files of `serve`: sample tokens and a certificate, deleted at its end, and the user's own certificates.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { unwritable } from "../files/unwritable.ts";
import { readServerTls } from "./connection-options.ts";

/** Options of `serve` that say whether and how it speaks TLS. */
export interface TlsArgs {
  readonly tls: boolean;
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly host: string;
}

interface Secure {
  readonly cert: string;
  readonly key: string;
  /** True if the server made the certificate itself. */
  readonly isOwn: boolean;
}

/** Returns the server's certificate; `null` without TLS. @throws SpillwayError as `readServerTls` does */
export async function tlsOf({ tls, tlsCert, tlsKey, host }: TlsArgs): Promise<Secure | null> {
  const given = await readServerTls(tlsCert, tlsKey);
  if (given !== null) return { ...given, isOwn: false };
  if (!tls) return null;
  const { selfSigned } = await import("../service/self-signed.ts");
  return { ...selfSigned([host], Date.now()), isOwn: true };
}

/** Keeps the certificate that clients of this run must trust. @returns its file; `null` if there is none */
export const keepCertificate = (secure: Secure | null): string | null =>
  secure?.isOwn === true ? keep("certificate.pem", secure.cert, "the certificate") : null;

export const keepTokens = (tokens: readonly { readonly token: string }[]): string =>
  keep("tokens.json", `${JSON.stringify(tokens, null, 2)}\n`, "the sample tokens");

/**
 * Writes a file that only this user can read. This process deletes it at any end but `kill -9`, since nobody else needs
 * it. It is written at once, because a file still being written would stay behind.
 */
function keep(name: string, text: string, what: string): string {
  const file = join(mkdtempSync(join(tmpdir(), "spillway-")), name);
  process.once("exit", () => rmSync(dirname(file), { recursive: true, force: true }));
  try {
    writeFileSync(file, text, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    throw unwritable(
      what,
      file,
      cause,
      "name a file of your own: --tokens FILE, or --tls-cert and --tls-key",
    );
  }
  return file;
}
