// Experiments against servers that err now and then, each in one way: in a number that they show, a word, a status; and
// against one that keeps another policy than it is held to. By experiment: how often it is kept, broken and not exercised,
// and a digest of all that it says. `npm test -- test/audit/erring.test.ts -u` writes `pinned/erring*.txt` anew; read the
// difference.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { experiments } from "../../src/audit/experiments.ts";
import { seededRandom } from "../../src/faults/random.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Sent, Served } from "./played.ts";
import { linesOf, policyInput, server } from "./rooms-and-queries.ts";

/** Adds to the number in each header whose name ends so. */
const added =
  (end: string, by: number) =>
  ({ headers = {}, ...sent }: Sent): Sent => ({
    ...sent,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) =>
        name.endsWith(end) ? [name, String(Math.max(0, Number(value) + by))] : [name, value],
      ),
    ),
  });
const answered =
  (status: number) =>
  (sent: Sent): Sent => ({ ...sent, status });
const without =
  (end: string) =>
  ({ headers = {}, ...sent }: Sent): Sent => ({
    ...sent,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !name.endsWith(end))),
  });

const errors: Readonly<Record<string, (sent: Sent) => Sent>> = {
  "one more left": added("left", 1),
  "one less left": added("left", -1),
  "four less left": added("left", -4),
  "three seconds more": added("reset", 3),
  "two seconds less": added("reset", -2),
  "another limit": added("limit", 1),
  "a longer wait": added("after", 4),
  "no wait": without("after"),
  "nothing left shown": without("left"),
  "no end": without("reset"),
  "503": answered(503),
  "429": answered(429),
  "200": answered(200),
  "404": answered(404),
};

/** A right server that makes an error in a share of its answers. */
function erring(error: (sent: Sent) => Sent, share: number, seed: number): Served {
  const random = seededRandom(seed);
  const right = server();
  return (shot, nowMs) => {
    const sent = right(shot, nowMs);
    return random() < share ? error(sent) : sent;
  };
}

/** Sends a request of such a shape; one stands for all. */
const shapes = /^(?:status|twin)-(?!head|is-true|reset|while|forwarded|http-1|cut-off-while-s)/;
const names = experiments
  .map(({ name }) => name)
  .filter((name) => !shapes.test(name) && !name.includes("quer"));

test("servers that err now and then", async () => {
  const lines = Object.values(errors).flatMap((error) => linesOf(() => erring(error, 0.25, 1), names));
  await expect(rowsOf(lines)).toMatchFileSnapshot("./pinned/erring.txt");
});

type Changed = { -readonly [Member in keyof typeof policyInput]: (typeof policyInput)[Member] } & {
  quotas: Record<string, Record<string, unknown>>;
  operations: Record<string, Record<string, unknown>>;
};
const graphql = {
  ...{ method: "POST", path: "/query", headers: { "content-type": "application/json" } },
  ...{
    body: { query: "query ($first: Int) { rooms(first: $first) { id } }", variables: { first: 4 } },
    cost: 4,
  },
  dearer: { pointer: "/variables/first", costEach: 1 },
};
const policies: readonly ((policy: Changed) => object)[] = [
  (policy) => policy,
  ({ operations, ...policy }) => ({
    ...policy,
    operations: { ...operations, query: { ...operations["query"], samples: [graphql] } },
  }),
  ({ operations, quotas, ...policy }) => ({
    ...policy,
    quotas: {
      ...quotas,
      shared: { ...quotas["shared"], charge: { refused: "counted", refusedByOther: "charged" } },
    },
    operations: { ...operations, call: { ...operations["call"], relation: "each-alone" } },
  }),
  ({ quotas, ...policy }) => ({
    ...policy,
    quotas: { ...quotas, own: { ...quotas["own"], enforced: false } },
  }),
  ({ quotas, ...policy }) => ({
    ...policy,
    quotas: {
      ...quotas,
      points: { ...quotas["points"], charge: { when: "reserve-settle", fits: "any-left" } },
    },
  }),
  ({ routes, ...policy }) => ({ ...policy, routes: routes.slice(1) }),
  ({ wire, ...policy }) => ({
    ...policy,
    wire: { ...wire, readings: wire.readings.slice(0, 1), retryAfter: [], outcomes: [] },
  }),
];

/** Those, and all that are about queries. */
const all = experiments.map(({ name }) => name).filter((name) => !shapes.test(name));

test("servers that keep another policy", async () => {
  const lines = policies.flatMap((change) => {
    const policy = parsePolicy(change(structuredClone(policyInput) as unknown as Changed));
    return [
      ...linesOf(() => server(), all, policy, { users: 5 }),
      ...linesOf(() => erring(added("left", -1), 0.25, 2), names, policy, { users: 5 }),
    ];
  });
  await expect(rowsOf(lines)).toMatchFileSnapshot("./pinned/erring-policies.txt");
});

test("right servers that are far away break nothing", async () => {
  const lines = [60, 170, 450, 1_100].flatMap((tripMs) =>
    linesOf(() => server(), names, undefined, { users: 4, tripMs }),
  );
  expect(lines.filter((line) => line.includes("broken"))).toEqual([]);
  await expect(rowsOf(lines)).toMatchFileSnapshot("./pinned/erring-far.txt");
});

/** Numbers and a digest of each experiment's lines. */
function rowsOf(lines: readonly string[]): string {
  const said = new Map<string, string[]>();
  for (const line of lines) {
    const [, name = "", words = ""] = /^- \w+ ([\w.-]+)(.*)$/s.exec(line) ?? [];
    said.set(name, [...(said.get(name) ?? []), words]);
  }
  const rows = [...said].map(([name, all]) => {
    const times = (word: string): number => all.filter((words) => words.includes(word)).length;
    const digest = createHash("sha256").update(all.join("\n")).digest("hex").slice(0, 8);
    return `${name}: ${times(": kept")} kept, ${times("broken")} broken, ${times("not exercised")} not exercised; ${digest}`;
  });
  return `${rows.join("\n")}\n`;
}
