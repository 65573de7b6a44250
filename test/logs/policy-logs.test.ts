// Whole logs read by policies: what tells their callers, their rows by operation, and what they are refused for, in
// `pinned/policies.txt`. `npm test -- test/logs/policy-logs.test.ts -u` writes it anew; read the difference.
import { expect, test } from "vitest";
import { type CallerFlags, callerMapping } from "../../src/logs/caller-sources.ts";
import { type LogSettings, readLogs } from "../../src/logs/read-logs.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { chunks } from "../trace/samples.ts";
import { digest, fileOf, lines, usualSettings } from "./reading.ts";

const window = { kind: "fixed-window", limit: 9, windowSeconds: 60 } as const;
const input = {
  version: 2,
  name: "models",
  quotas: {
    calls: { algorithm: window, key: ["tenant"] },
    tokens: { algorithm: window, key: ["user", "model"] },
    late: { algorithm: window, key: ["user"], charge: { when: "reserve-settle" } },
  },
  operations: {
    ask: { uses: { calls: 1, tokens: "declared" } },
    list: { uses: { calls: 1 } },
    long: { uses: { late: { atMost: 5 } } },
  },
  routes: [
    { path: "/limits", operation: "status" },
    { path: "/{model}/ask", methods: ["POST"], operation: "ask" },
    { path: "/long", operation: "long" },
    { path: "/list/**", operation: "list" },
  ],
  auth: { header: "X-Key", form: "{token}", attributes: ["tenant", "user"] },
} as const;
const policy = parsePolicy(input as unknown as PolicyInput);
const one = parsePolicy({
  version: 2,
  name: "one",
  quotas: { calls: { algorithm: window, key: ["user"] } },
  operations: { call: { uses: { calls: 1 } } },
  routes: [{ path: "/**", operation: "call" }],
  auth: { attributes: ["user"] },
});
const byAddress = parsePolicy({
  version: 2,
  name: "by address",
  quotas: { calls: { algorithm: window, key: ["ip"] } },
  operations: { call: { uses: { calls: 1 } } },
  routes: [{ path: "/**", operation: "call" }],
});

const row = (...fields: readonly (string | number)[]): string => fields.join(",");
const whole = lines(
  "time,user,tenant,model,method,path,cost,actual,status",
  row(1767323045, "ann", "acme", "", "POST", "/small/ask", 5, 3, 200),
  row(1767323046, "ann", "acme", "big", "GET", "/list/a?b=c", "", "", 200),
  row(1767323047, "", "acme", "big", "get", "/limits", "", "", 200),
  row(1767323048, "bob", "", "big", "POST", "/large/ask", 5, "", 429),
  row(1767323049, "bob", "acme", "big", "POST", "/large/ask", "", "", 200),
  row(1767323050, "bob", "acme", "big", "GET", "/long", 4, "", 200),
  row(1767323051, "bob", "acme", "big", "GET", "/users/4711/x", "", "", 404),
  row(1767323052, "bob", "acme", "big", "GET", "/list/a", "1.5", "", 200),
  row(1767323053, "bob", "acme", "big", "GET", "/list/a", "", "", 401),
);
const byOperation = lines(
  "time,user,tenant,model,operation",
  row(1767323045, "ann", "acme", "big", "list"),
  row(1767323046, "ann", "acme", "big", "lst"),
  row(1767323047, "ann", "acme", "", "ask"),
);
const pathless = lines("time,ip", row(1767323045, "203.0.113.9"), row(1767323046, ""));
const requests = lines(
  '203.0.113.9 - ann [02/Jan/2026:03:04:05 +0000] "POST /small/ask HTTP/1.1" 200 5',
  '203.0.113.9 - - [02/Jan/2026:03:04:06 +0000] "-" 400 5',
);
const members = lines(
  '{"time":1767323045,"who":{"name":"ann"},"org":"acme","req":"GET /list/1 HTTP/2","kind":"big"}',
  '{"time":1767323046,"who":{"name":"ghp_secret"},"req":"/long"}',
);

const cases: readonly (readonly [
  string,
  typeof policy,
  string,
  Partial<CallerFlags>,
  Partial<LogSettings>,
])[] = [
  ["columns of the attributes' names", policy, whole, {}, {}],
  [
    "an option in place of a column",
    policy,
    whole,
    { values: { tenant: "beta", model: "m" } },
    { graphqlCost: 7 },
  ],
  ["another column", policy, whole, { columns: { model: "user" } }, { paths: ["/list/*"] }],
  ["a column of operations", policy, byOperation, {}, { graphqlCost: 2 }],
  ["no paths, and one operation", one, pathless, {}, {}],
  ["no paths, and several", policy, pathless, { values: { tenant: "t", model: "m" } }, {}],
  ["an access log", policy, requests, { values: { tenant: "t" } }, { graphqlCost: 1 }],
  [
    "an organization for all rows",
    policy,
    requests,
    { hasOrganization: true },
    { organization: "acme", graphqlCost: 1 },
  ],
  [
    "members of objects",
    policy,
    members,
    { columns: { user: "who.name", model: "kind" }, values: { tenant: "t" } },
    {},
  ],
  [
    "a column of another name that tells who calls",
    one,
    lines("time,acct,path", "1767323045,big,/x", "1767323046,small,/x"),
    { columns: { user: "acct" } },
    {},
  ],
  [
    "addresses with those of proxies, beside users",
    byAddress,
    lines(
      "time,user,ip,path",
      '1767323045,ann,"203.0.113.9, 10.0.0.7",/x',
      '1767323046,ann,"203.0.113.9, 10.0.0.8",/x',
      "1767323047,bob,203.0.113.9:5678,/x",
    ),
    {},
    {},
  ],
  ["nothing that tells the tenant", policy, requests, {}, {}],
  ["nothing that tells who calls", one, lines("time,path", "1767323045,/x"), {}, {}],
  ["an option of no attribute", policy, whole, { values: { tenat: "t" } }, {}],
  ["a column that is not there", policy, whole, { columns: { model: "modl" } }, {}],
  ["no route for any row", one, lines("time,user,path", "1767323045,a,/x"), {}, { paths: ["/y"] }],
];

test("logs by policies", async () => {
  const told: string[] = [];
  for (const [name, by, log, flags, settings] of cases) {
    try {
      const file = await fileOf("log", () => chunks(log));
      const given = { columns: {}, values: {}, hasOrganization: false, ...flags };
      const callers = callerMapping(by, file, given, "log");
      const rows = readLogs([{ ...file, callers }], {
        ...usualSettings,
        digest,
        policy: by,
        unreadMost: 0.9,
        ...settings,
      });
      const all: string[] = [];
      for await (const batch of rows.batches)
        for (let at = 0; at < batch.count; at++) {
          const { organization, user, attributes } = rows.callers[batch.caller[at] ?? -1] ?? {};
          const numbers = [batch.kind, batch.cost, batch.actual, batch.status].map((column) => column[at]);
          all.push(
            `${(batch.atMs[at] ?? 0) / 1000}: ${organization}/${user} ${JSON.stringify(attributes)} ${numbers.join(" ")}`,
          );
        }
      const sources = [...callers.sources].map(
        ([attribute, source]) => `${attribute} by ${JSON.stringify(source)}`,
      );
      const { read, unread, unrouted, paths, anonymous } = rows;
      const why = rows.examples.map(({ line, why: reason }) => `line ${line}: ${reason}`);
      told.push(
        [
          `# ${name}`,
          ...sources,
          ...all,
          ...why,
          JSON.stringify({ read, unread, unrouted, paths, anonymous }),
        ].join("\n"),
      );
    } catch (error) {
      if (!(error instanceof SpillwayError)) throw error;
      const { code, message, problems, hint } = error;
      told.push(`# ${name}\n${code}: ${message.split("\n")[0]}\n${JSON.stringify(problems)}\n${hint}`);
    }
  }
  await expect(`${told.join("\n\n")}\n`).toMatchFileSnapshot("./pinned/policies.txt");
});
