// nginx's limit_req with its default status: a refusal has no headers and is not a 429.
import type { Preset } from "../preset.ts";

const page = [
  "<html>",
  "<head><title>503 Service Temporarily Unavailable</title></head>",
  "<body>",
  "<center><h1>503 Service Temporarily Unavailable</h1></center>",
  "<hr><center>nginx/1.22.1</center>",
  "</body>",
  "</html>",
  "",
].join("\r\n");

export const nginx: Preset = {
  title: "nginx's limit_req, with its default status 503",
  wire: { revision: "1.22", outcomes: [{ outcome: "refused", status: [503] }] },
  policy: {
    version: 2,
    name: "nginx",
    quotas: {
      requests: {
        algorithm: { kind: "token-bucket", capacity: 6, refill: { amount: 1, everyMs: 1000 } },
        key: ["client"],
        shown: { retryAfter: false },
      },
    },
    operations: { call: { uses: { requests: 1 }, samples: [{ path: "/" }] } },
    routes: [{ path: "/**", operation: "call" }],
    wire: "nginx",
  },
  notes: [
    "The limits are the documentation's example: `rate=1r/s` and `burst=5`. A bucket has room for one call more than `burst`.",
    "A key is any variable, mostly the IP address; here a token stands for a client.",
    "Without `nodelay`, calls that fit wait until their rate is kept; the policy lets them pass at once.",
    "Any 503 counts as a refusal: nothing tells it from a failure of the server behind. `limit_req_status 429` in a configuration tells them apart.",
  ],
  sources: [
    { at: "nginx.org/en/docs/http/ngx_http_limit_req_module.html", kind: "documented", seen: "2026-11-22" },
    {
      at: "nginx/nginx src/http/modules/ngx_http_limit_req_module.c",
      kind: "source",
      seen: "2026-11-22",
    },
    { at: "nginx 1.22.1, run with burst=5 nodelay", kind: "observed", seen: "2026-11-23" },
  ],
  answers: [
    {
      title: "The sixth of six calls at once",
      seen: "2026-11-23",
      operation: "call",
      answer: { status: 200, headers: { server: "nginx/1.22.1" }, body: "ok" },
      shows: { outcome: "admitted", readings: [] },
    },
    {
      title: "The seventh",
      seen: "2026-11-23",
      operation: "call",
      answer: {
        status: 503,
        headers: {
          server: "nginx/1.22.1",
          date: "Mon, 23 Nov 2026 15:16:03 GMT",
          "content-type": "text/html",
        },
        body: page,
      },
      shows: { outcome: "refused", by: "requests", retryAfter: null, readings: [] },
    },
  ],
};
