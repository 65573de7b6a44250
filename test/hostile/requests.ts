// Requests that somebody may send to the reference deployment, byte for byte, and how it answers. A new one joins by
// one line.
import { gzipSync } from "node:zlib";

/** Answer to a request: its status, and whose headers it owes (SPEC.md §5). */
export interface Expected {
  readonly status: number;
  readonly owed: "rest" | "graphql" | null;
}

/** A request as it is sent, for the token of a user of `acme`. */
export interface HostileRequest extends Expected {
  bytes(token: string): Buffer;
}

const end = "\r\n\r\n";
const head = (first: string, token: string, ...more: readonly string[]): string =>
  [first, "Host: x", "Connection: close", `Authorization: Bearer ${token}`, ...more].join("\r\n") + end;

const get = (
  target: string,
  status: number,
  owed: Expected["owed"],
  ...more: readonly string[]
): HostileRequest => ({
  status,
  owed,
  bytes: (token) => Buffer.from(head(`GET ${target} HTTP/1.1`, token, ...more), "latin1"),
});

const post = (body: string | Buffer, status = 200, ...more: readonly string[]): HostileRequest => ({
  status,
  owed: "graphql",
  bytes: (token) => {
    const content = Buffer.from(body);
    const fields = [`Content-Length: ${content.length}`, "Content-Type: application/json", ...more];
    return Buffer.concat([Buffer.from(head("POST /v1/graphql HTTP/1.1", token, ...fields)), content]);
  },
});

const query = (text: string, more: object = {}): HostileRequest =>
  post(JSON.stringify({ query: text, ...more }));

const aliases = (count: number, field: string, prefix: string): string =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}: ${field}`).join(" ");
const nested = (count: number, open: string, inner: string, close: string): string =>
  open.repeat(count) + inner + close.repeat(count);
const fragments = (count: number, last: string): string =>
  Array.from(
    { length: count },
    (_, n) => `fragment F${n} on User { ...${n === count - 1 ? last : `F${n + 1}`} }`,
  ).join(" ");

/** Requests by what they try. */
export const requests: Readonly<Record<string, HostileRequest>> = {
  "introspection of 200,000 names": query(
    `{ __schema { ...S } } fragment S on __Schema { ${aliases(100, "types { ...T }", "t")} }
     fragment T on __Type { ${aliases(100, "fields { ...F }", "f")} } fragment F on __Field { ${aliases(20, "name", "n")} }`,
  ),
  "introspection of millions of names": query(
    `{ __schema { ...S } } fragment S on __Schema { ${aliases(500, "types { ...T }", "t")} }
     fragment T on __Type { ${aliases(500, "fields { ...F }", "f")} } fragment F on __Field { ${aliases(500, "name", "n")} }`,
  ),
  "leaves beside leaves": query(
    `{ organization { pipelines(first: 10) { edges { node { builds(first: 240) { edges { node { ${aliases(900, "message", "m")} } } } } } } } }`,
  ),
  "a name of 900,000 letters": query(
    `{ organization { pipelines { edges { node { ${"n".repeat(900_000)}: slug } } } } }`,
  ),
  "10,000 braces": query(nested(10_000, "{ a ", "", "}")),
  "4,000 braces": query(nested(4000, "{a", "", "}")),
  "braces that nobody closes": query("{a".repeat(200_000)),
  "10,000 brackets of a value": query(
    `{ organization { pipelines(first: ${nested(4000, "[", "1", "]")}) { count } } }`,
  ),
  "a query of nothing but strings": query(`{ organization(slug: "${"{".repeat(500_000)}") { slug } }`),
  "fragments in a circle": query(`{ viewer { user { ...F0 } } } ${fragments(1000, "F0")}`),
  "fragments in a row": query(
    `{ viewer { user { ...F0 } } } ${fragments(1000, "name").replace("...name", "name")}`,
  ),
  "one field 2,400 times": query(`{ viewer { ${"user{name}".repeat(2400)} } }`),
  "an alias that means two things": query(`{ viewer { user { ${"a: name a: email ".repeat(1600)} } } }`),
  "unknown fields": query(`{ viewer { user { ${aliases(3000, "nobody", "a")} } } }`),
  "variables in 100,000 brackets": post(
    `{"query": "query ($v: Int) { organization { pipelines(first: $v) { count } } }", "variables": {"v": ${nested(100_000, "[", "1", "]")}}}`,
  ),
  "a body in 500,000 brackets": post(nested(500_000, "[", "", "]"), 400),
  "a body in brackets that nobody closes": post("[".repeat(1_000_000), 400),
  "a body whose query stands twice": post('{"query": "{ x }", "query": "{ __typename }"}'),
  "a body with a prototype": post('{"__proto__": {"query": "{ __typename }"}, "constructor": 1}', 400),
  "variables with a prototype": post('{"query": "{ __typename }", "variables": {"__proto__": {"a": 1}}}'),
  "a body of no UTF-8": post(Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 400),
  "a body above 1 MiB": post("x".repeat(1_048_577), 413),
  "a body that is packed": post(gzipSync("x".repeat(10_000_000)), 400, "Content-Encoding: gzip"),
  "another content type": {
    status: 415,
    owed: "graphql",
    bytes: (token) =>
      Buffer.from(
        `${head("POST /v1/graphql HTTP/1.1", token, "Content-Type: text/plain", "Content-Length: 2")}{}`,
      ),
  },
  "two tokens": {
    status: 401,
    owed: null,
    bytes: (token) => Buffer.from(head("GET /v2/user HTTP/1.1", token, "authorization: Bearer other")),
  },
  "the same token twice": {
    status: 401,
    owed: null,
    bytes: (token) => Buffer.from(head("GET /v2/user HTTP/1.1", token, `AUTHORIZATION: Bearer ${token}`)),
  },
  "two tokens of a query": {
    status: 401,
    owed: null,
    bytes: (token) =>
      Buffer.from(`${head("POST /v1/graphql HTTP/1.1", token, "Authorization: x", "Content-Length: 2")}{}`),
  },
  "a path out of the organization": get("/v2/organizations/acme/../globex", 404, "rest"),
  "a slug that is a prototype": get("/v2/organizations/__proto__/rate_limit", 404, null),
  "a slug of 12,000 letters": get(`/v2/organizations/${"a".repeat(12_000)}`, 404, null),
  "a number that is none": get("/v2/organizations/acme/pipelines/web/builds/1e999", 404, "rest"),
  "a page beyond all pages": get(
    "/v2/organizations/acme/pipelines?page=99999999999999999999&per_page=1e9",
    200,
    "rest",
  ),
  "headers without end": get("/v2/user", 431, null, `X: ${"x".repeat(40_000)}`),
  "two lengths": get("/v2/user", 400, null, "Content-Length: 1", "Content-Length: 2"),
  "a length and chunks": get("/v2/user", 400, null, "Content-Length: 4", "Transfer-Encoding: chunked"),
  "a bare carriage return": get("/v2/user", 400, null, "X: a\rY: b"),
};
