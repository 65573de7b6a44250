// Shapes of the same request: another way to send it, another spelling of it, headers that change nothing.
import type { Experiment } from "../experiment.ts";
import type { Lab } from "../lab.ts";
import type { Shot } from "../step.ts";

export interface RequestShape {
  /** Name after `twin-` or `status-`. */
  readonly name: string;
  /** Words after `a call`: `by HEAD`, `with a query string`. */
  readonly what: string;
  readonly law?: Experiment["law"];
  readonly needs?: string;
  /** Returns why a request cannot have this shape; `null` if it can. */
  readonly lacks?: (lab: Lab, plain: Shot) => string | null;
  /** Returns the request in this shape, in one or more ways. */
  make(plain: Shot, lab: Lab): readonly Shot[];
  readonly together?: boolean;
  /** Charges that the shape allows, in plain calls. Default: 1. */
  readonly charges?: "nothing" | "once at most";
}

const withHeader = (plain: Shot, headers: Record<string, string>): Shot => ({
  ...plain,
  headers: { ...plain.headers, ...headers },
});
const isGet = (_lab: Lab, plain: Shot): string | null =>
  plain.method === "GET" ? null : "the sample is no GET";

/** Time after which a call that nobody waits for may still be charged, ms. The next experiment begins later. */
export const lateMs = 500;

export const shapes: readonly RequestShape[] = [
  { name: "head", what: "by HEAD", lacks: isGet, make: (plain) => [{ ...plain, method: "HEAD" }] },
  {
    name: "query-string",
    what: "with a query string",
    make: (plain) => [{ ...plain, path: `${plain.path}${plain.path.includes("?") ? "&" : "?"}spillway=1` }],
  },
  {
    name: "trailing-slash",
    what: "with a slash at the end",
    lacks: (_lab, { path }) => (/\/(?:\?|$)/.test(path) ? "the path ends with a slash" : null),
    make: (plain) => [{ ...plain, path: plain.path.replace(/\/?(?=\?|$)/, "/") }],
  },
  {
    name: "letter-case-of-path",
    what: "with capital letters in the path",
    lacks: (_lab, { path }) => (capitals(path) === path ? "the path ends without a letter" : null),
    make: (plain) => [{ ...plain, path: capitals(plain.path) }],
  },
  {
    name: "letter-case-of-name",
    what: "with capital letters in a name of the path",
    lacks: (lab, plain) => (named(lab, plain) === null ? "no name stands in the path" : null),
    make: (plain, lab) => {
      const name = named(lab, plain) ?? "";
      return [{ ...plain, path: plain.path.replace(name, name.toUpperCase()) }];
    },
  },
  {
    name: "letter-case-of-scheme",
    what: "with the credential's scheme in other letters",
    lacks: (lab) => (/^[A-Za-z]+ \{token\}$/.test(formOf(lab)) ? null : "the credential has no scheme"),
    make: (plain, lab) => [
      withHeader(plain, { [lab.policy.auth.header]: formOf(lab).toLowerCase().replace("{token}", "$TOKEN") }),
      withHeader(plain, { [lab.policy.auth.header]: formOf(lab).toUpperCase().replace("{TOKEN}", "$TOKEN") }),
    ],
  },
  {
    name: "percent-encoded",
    what: "with a letter of the path in percent-encoding",
    lacks: (_lab, plain) => (encoded(plain.path) === plain.path ? "the path ends without a letter" : null),
    make: (plain) => [{ ...plain, path: encoded(plain.path) }],
  },
  {
    name: "gzip",
    what: "with Accept-Encoding",
    make: (plain) => [
      withHeader(plain, { "Accept-Encoding": "gzip" }),
      withHeader(plain, { "Accept-Encoding": "gzip, deflate, br" }),
    ],
  },
  {
    name: "if-none-match",
    what: "with If-None-Match",
    lacks: isGet,
    make: (plain) => [withHeader(plain, { "If-None-Match": "*" })],
  },
  {
    name: "with-a-body",
    what: "with a body that nobody asks for",
    lacks: isGet,
    make: (plain) => [
      { ...plain, body: "{}", headers: { ...plain.headers, "Content-Type": "application/json" } },
    ],
  },
  {
    name: "forwarded-for",
    what: "with a header that names another address or user",
    law: "isolated",
    make: (plain) => [
      withHeader(plain, { "X-Forwarded-For": "203.0.113.7" }),
      withHeader(plain, { Forwarded: "for=203.0.113.8;proto=https;by=203.0.113.1" }),
      withHeader(plain, { "X-Real-IP": "203.0.113.9" }),
      withHeader(plain, { "X-User-Id": "somebody-else" }),
      withHeader(plain, {
        "X-Client-IP": "203.0.113.10",
        "True-Client-IP": "203.0.113.10",
        "CF-Connecting-IP": "203.0.113.10",
      }),
    ],
  },
  {
    name: "other-client",
    what: "with the headers of another client",
    law: "isolated",
    make: (plain) => [
      withHeader(plain, { "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0)" }),
      withHeader(plain, { Accept: "application/json;q=0.9, */*", "Accept-Language": "de, en;q=0.5" }),
      withHeader(plain, { Cookie: "spillway=1" }),
    ],
  },
  {
    name: "method-override",
    what: "with X-HTTP-Method-Override",
    make: (plain) => [
      withHeader(plain, { "X-HTTP-Method-Override": plain.method === "GET" ? "HEAD" : "GET" }),
      withHeader(plain, { "X-HTTP-Method-Override": "OPTIONS" }),
    ],
  },
  {
    name: "on-a-connection-of-its-own",
    what: "on a fresh connection",
    make: (plain) => [0, 1].map(() => ({ ...plain, way: "lone" as const })),
  },
  {
    name: "pipelined",
    what: "behind others on one connection, which wait for no answer",
    make: (plain) => [0, 1, 2].map(() => ({ ...plain, way: "pipelined" as const })),
    together: true,
  },
  { name: "http-1.0", what: "by HTTP/1.0", make: (plain) => [{ ...plain, way: "http/1.0" }] },
  {
    name: "http-2",
    what: "by HTTP/2",
    needs: "a target of https that speaks HTTP/2",
    lacks: (lab) => (lab.isTls ? null : "the target is no https"),
    make: (plain) => [
      { ...plain, way: "http/2" },
      withHeader({ ...plain, way: "http/2" }, { "Accept-Encoding": "gzip" }),
    ],
  },
  {
    name: "cut-off-while-sending",
    what: "cut off within its head",
    make: (plain) => [{ ...plain, way: "cut-sending" }],
    charges: "nothing",
  },
  {
    name: "cut-off-while-waiting",
    what: "whose client leaves before the answer",
    make: (plain) => [{ ...plain, way: "cut-waiting" }],
    charges: "once at most",
  },
  {
    name: "cut-off-while-reading",
    what: "whose client leaves after the answer's head",
    make: (plain) => [{ ...plain, way: "cut-reading" }],
  },
];

const encoded = (path: string): string =>
  path.replace(/[a-z](?=[^/?]*\/?(?:\?|$))/, (text) => `%${text.charCodeAt(0).toString(16)}`);

/** Returns the path with capital letters in its last segment. */
const capitals = (path: string): string =>
  path.replace(/[^/?]+(?=\/?(?:\?|$))/, (text) => text.toUpperCase());

const formOf = ({ policy }: Lab): string => [policy.auth.form].flat()[0] ?? "{token}";

/** Returns the caller's name in the path, if it has a letter with another case; otherwise `null`. */
function named({ policy }: Lab, { caller, path }: Shot): string | null {
  const values = policy.auth.attributes.flatMap((name) => caller?.attributes[name] ?? []);
  return values.find((value) => value !== value.toUpperCase() && path.split("/").includes(value)) ?? null;
}
