// The targets that a run may load. Node and k6, whose JavaScript has no `URL`, read the same words. The syntax is
// therefore narrow, so that two parsers cannot disagree about the host.
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";

/** A target's URL, in the parts that calls need. */
export interface Target {
  /** URL that paths are appended to, without a slash at the end. */
  readonly base: string;
  /** URL as it was given: a slash at its end may make it another resource. */
  readonly url: string;
  /** `http://127.0.0.1:4100`. */
  readonly origin: string;
  /** Host in lower case; an IPv6 address in its brackets. */
  readonly host: string;
}

const syntax = /^(https?:\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?)((?:\/[\w.~%-]+)*)(\/?)$/i;
const allowed = "http://HOST[:PORT][/PATH] or https://..., no user, no query";

/** @throws SpillwayError `TARGET_NOT_ALLOWED` naming `field` if the text is no such URL */
export function parseTarget(field: string, text: string): Target {
  const [, origin = "", host = "", path = "", slash = ""] = partsOf(text);
  if (origin === "") {
    const meant = `http://${text}`;
    throw refused(
      { path: field, got: withoutSecrets(text), allowed },
      partsOf(meant).length > 0 ? `did you mean ${meant}?` : undefined,
    );
  }
  const base = origin + path;
  return { base, url: base + slash, origin: origin.toLowerCase(), host: host.toLowerCase() };
}

/**
 * Returns the parts of a URL; none of a port above 65535, or an address that is none. k6 has no `URL`, and is given what
 * Node has read.
 */
const partsOf = (text: string): readonly string[] =>
  globalThis.URL?.canParse(text) === false ? [] : (syntax.exec(text) ?? []);

/** Quotes a URL without its password: a mistyped URL may hold one. */
const withoutSecrets = (text: string): string => quote(text.replace(/\/\/[^/]*@/, "//...@"));

const refused = (problem: Problem, hint: string | undefined): SpillwayError =>
  new SpillwayError("TARGET_NOT_ALLOWED", "this target may not be loaded", { problem, hint });

/** Tells whether the host is this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/**
 * Allows loopback, and the one other host that the user named.
 * @param option the option that names it
 * @throws SpillwayError `TARGET_NOT_ALLOWED`
 */
export function requireAllowed(
  field: string,
  { host }: Target,
  allowHost: string | null,
  option = "--allow-host ",
): void {
  if (isLoopback(host) || host === allowHost?.toLowerCase()) return;
  const got = allowHost === null ? `${host}, which is elsewhere` : `${host}, with ${option}${allowHost}`;
  throw refused(
    { path: field, got, allowed: `this machine, or ${option}${host}` },
    "one that is not on this machine needs its host named twice, exactly: load only what is yours",
  );
}
