// Answers to a client under a policy: the line that each gives, and what the client is told of it.
import { expect, test } from "vitest";
import type { RawAnswer } from "../../src/load/answer.ts";
import { PolicyBook, PolicyLedger } from "../../src/load/policy-ledger.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { graphql, rest, status } from "../../src/scenario/calls.ts";
import { type CallTemplate, createEvent } from "../../src/scenario/client.ts";

const startMs = 1_795_305_600_000;
const policy = parsePolicy({
  version: 2,
  name: "pages",
  quotas: {
    calls: { algorithm: { kind: "fixed-window", limit: 9, windowSeconds: 60 }, key: ["user"] },
    points: { algorithm: { kind: "fixed-window", limit: 90, windowSeconds: 60 }, key: ["user"] },
  },
  operations: { call: { uses: { calls: 1 } }, query: { uses: { points: "declared" } } },
  routes: [
    { path: "/limits", operation: "status" },
    { path: "/graphql", operation: "query" },
    { path: "/v2/**", operation: "call" },
  ],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
  wire: {
    revision: "1",
    readings: [
      {
        on: ["admitted", "refused", "status"],
        headers: { "X-Left": "{remaining}", "X-Most": "{limit}", "X-Reset": "{reset}" },
        reset: { form: "delta-s", means: "window-end" },
      },
      { on: ["status"], body: { "/{quota}": "{remaining}" } },
    ],
    retryAfter: [{ header: "Retry-After", form: "delta-s" }],
  },
});
const ledger = new PolicyLedger(new PolicyBook(policy), "agents/7", {
  organization: "acme",
  user: "ann",
  token: "a-secret",
  attributes: { user: "ann" },
});
const shown = { "x-left": "4", "x-most": "9", "x-reset": "30" };
const begin = `{"sent":${startMs},"received":${startMs + 5},"client":"agents/7","call":3,"caller":{"user":"ann"}`;
const reading = '"readings":[["calls",9,4,null,30000]]';
const end = `"wanted":${startMs - 100},"attempt":2}`;
const nothing = { limit: -1, remaining: -1, reset: -1 };
const calls = { limit: 9, remaining: 4, reset: 30 };

test.each<
  [
    name: string,
    template: CallTemplate,
    answer: Partial<RawAnswer>,
    line: string,
    told: object,
    is?: { isRefusal?: boolean; isCounted?: boolean },
  ]
>([
  [
    "an admitted call",
    rest("/v2/a"),
    { headers: { ...shown, date: "Sun, 22 Nov 2026 00:00:01 GMT", link: '</b>; rel="next"' } },
    `"operation":"call","cost":1,"status":200,"outcome":"admitted",${reading},"date":1795305601000`,
    { ...calls, status: 200, hasNextPage: true },
  ],
  [
    "a refusal, with its advice",
    rest("/v2/a"),
    { status: 429, headers: { ...shown, "x-left": "0", "retry-after": "12" }, body: "Slow down" },
    `"operation":"call","cost":1,"status":429,"outcome":"refused","readings":[["calls",9,0,null,30000]],"by":"calls","retryAfterMs":12000`,
    { ...calls, remaining: 0, retryAfter: 12, status: 429 },
    { isRefusal: true },
  ],
  [
    "a query that declares its cost, without readings",
    graphql("{ a }", { cost: 7 }),
    { headers: { date: "soon", link: '</a>; rel="prev", </c>; rel=next' } },
    '"operation":"query","cost":7,"status":200,"outcome":"admitted","readings":[]',
    { ...nothing, cost: 7, userCost: 7, status: 200, hasNextPage: true },
  ],
  [
    "a status, whose body shows each quota",
    status(),
    { body: '{"calls":4,"points":80}' },
    '"operation":"status","cost":null,"status":200,"outcome":"admitted","readings":[["calls",null,4,null,null],["points",null,80,null,null]]',
    { limit: -1, remaining: 4, userLimit: -1, userRemaining: 80, status: 200 },
    { isCounted: false },
  ],
  [
    "a status that is no JSON",
    status(),
    { body: "fine", headers: shown },
    '"operation":"status","cost":null,"status":200,"outcome":"admitted","readings":[],"unread":["body"]',
    { ...nothing, status: 200 },
    { isCounted: false },
  ],
  [
    "a call that no quota counts",
    rest("/elsewhere", { cost: 5 }),
    { status: 404, body: "<html>" },
    '"operation":"other","cost":null,"status":404,"outcome":"admitted","readings":[]',
    { ...nothing, status: 404 },
    { isCounted: false },
  ],
  [
    "a body that was cut, and a link to no next page",
    rest("/v2/a"),
    { headers: { ...shown, link: '</n>; rel="prev"; title="rel=next"' }, body: ' {"a":' },
    `"operation":"call","cost":1,"status":200,"outcome":"admitted",${reading},"unread":["body"]`,
    { ...calls, status: 200, hasNextPage: false },
  ],
  [
    "no answer",
    rest("/v2/a"),
    { status: 0, headers: shown, error: "timeout" },
    '"operation":"call","cost":1,"status":0,"outcome":"unknown","readings":[],"error":"timeout"',
    { ...nothing, status: 0 },
    { isCounted: false },
  ],
])("%s", (_name, template, answer, line, told, { isRefusal = false, isCounted = true } = {}) => {
  const planned = { atMs: startMs, template: 0, page: 0, attempt: 2, wantedMs: startMs - 100, delayMs: 0 };
  const raw = { status: 200, headers: {}, body: "", error_code: 0, error: "", ...answer };
  const event = createEvent();
  expect(ledger.page(template).take(3, planned, raw, startMs, startMs + 5, event)).toBe(
    `${begin},${line},${end}`,
  );
  expect(event).toMatchObject({ ...told, nowMs: startMs + 5 });
  expect([ledger.fault, ledger.isRefusal, ledger.isCounted]).toEqual([null, isRefusal, isCounted]);
});
