// Reasons why a call has no answer, or one from elsewhere: short names for traces, and the words for people.
import { quote } from "../rules/errors.ts";
import { isRedirect } from "../wire/outcome.ts";

/** A call without an answer. Whether it was counted is unknown. */
export class NoAnswer extends Error {
  /** A name of `reasonWords`, or else the error's own message. */
  readonly reason: string;

  constructor(reason: string, message: string = inWords(reason), cause?: unknown) {
    super(message, { cause });
    this.name = "NoAnswer";
    this.reason = reason;
  }
}

const closed = "the connection was closed without an answer";

const reasonWords: Readonly<Record<string, string>> = {
  timeout: "no answer in time",
  refused: "connection refused",
  reset: closed,
  "unknown host": "no such host",
  unreachable: "no route to the host",
  untrusted: "a certificate that nobody known here vouches for",
  "no tls": "no TLS there (is it http://?)",
  "no http": "something that is no HTTP",
};

/** Returns a reason in words for people. */
export const inWords = (reason: string): string => reasonWords[reason] ?? reason;

/** Returns the next step if a target gives no answer, for people. */
export const hintFor = (reason: string | null): string =>
  reason === "untrusted"
    ? "trust it by the file of its certificate, or of the authority that signed it: --ca FILE"
    : "is it running, and is this its address?";

/** Returns a redirect in words; `null` for any other status. The query is left out: it may hold secrets. */
export const redirectOf = (
  status: number,
  location: string | null | undefined,
): { readonly got: string; readonly hint: string } | null =>
  isRedirect(status)
    ? {
        got: `${status}, a redirect to ${quote(location?.split(/[?#]/)[0] ?? "nowhere")}`,
        hint: "name the address that it leads to: redirects are not followed",
      }
    : null;

const reasonsByCode: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: "reset",
  ECONNRESET: "reset",
  EPIPE: "reset",
  ECONNREFUSED: "refused",
  ENOTFOUND: "unknown host",
  EAI_AGAIN: "unknown host",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  ETIMEDOUT: "timeout",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  DEPTH_ZERO_SELF_SIGNED_CERT: "untrusted",
  SELF_SIGNED_CERT_IN_CHAIN: "untrusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "untrusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "untrusted",
  EPROTO: "no tls",
  ERR_SSL_WRONG_VERSION_NUMBER: "no tls",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "no tls",
};

/** Greatest length of a message in a line of a trace, characters. */
const messageMost = 200;

/** Returns the reason of an error of the connection: a known one by its code, any other by its message. */
export function reasonOf({ name, code = "", message }: NodeJS.ErrnoException): string {
  if (name === "HTTPParserError") return "no http";
  return reasonsByCode[code] ?? (message || code).slice(0, messageMost);
}
