// Buckets under audit: no count of theirs is shown, so admissions and refusals alone tell.
// @module-tag real-time
// @module-tag paced
import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { experiments } from "../../src/audit/experiments.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { audited, found } from "./deployment.ts";
import { listening, type Started } from "./strangers.ts";

/** No answer shows a count. */
const bare = parsePolicy({
  version: 2,
  name: "buckets",
  quotas: {
    requests: {
      algorithm: { kind: "token-bucket", capacity: 20, refill: { amount: 2, everyMs: 1000 } },
      key: ["client"],
    },
  },
  operations: { call: { uses: { requests: 1 }, samples: [{ path: "/" }] } },
  routes: [{ path: "/**", operation: "call" }],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["client"] },
  wire: { revision: "2026", readings: [], retryAfter: [{ header: "Retry-After", form: "delta-s" }] },
});

/** A bucket of twenty, two a second, as a proxy may have it: no answer shows a count. */
async function bareBucket(keyOf: (request: IncomingMessage) => string | null, grainMs = 1): Promise<Started> {
  const levels = new Map<string, { level: number; at: number }>();
  return listening((request, reply) => {
    const key = keyOf(request);
    const now = Math.floor(Date.now() / grainMs) * grainMs;
    const { level, at } = levels.get(key ?? "") ?? { level: 20, at: now };
    const has = Math.min(20, level + ((now - at) * 2) / 1000);
    const isRoom = key === null || has >= 1;
    if (key !== null) levels.set(key, { level: has - (isRoom ? 1 : 0), at: now });
    reply.writeHead(isRoom ? 200 : 429).end();
  });
}

const tokenOf = ({ headers }: IncomingMessage): string => String(headers.authorization).toLowerCase();

test.concurrent.each<readonly [string, (request: IncomingMessage) => string | null, readonly string[]]>([
  ["a right bucket", tokenOf, []],
  [
    "that lets HEAD pass",
    (request) => (request.method === "HEAD" ? null : tokenOf(request)),
    ["twin-head: conserved"],
  ],
  [
    "a bucket that believes who is forwarded",
    (request) => String(request.headers["x-forwarded-for"] ?? tokenOf(request)),
    ["twin-forwarded-for: isolated"],
  ],
  ["a bucket by path", (request) => tokenOf(request) + request.url, ["twin-query-string: conserved"]],
])("no answer shows the count: %s", async (_name, keyOf, expected) => {
  const names = ["other-user", "twin-head", "twin-query-string", "twin-forwarded-for"];
  const { url, close } = await bareBucket(keyOf);
  try {
    const made = await audited(url, bare, {
      experiments: experiments.filter(({ name }) => names.includes(name)),
      maxMs: 120_000,
    });
    const tried = made.result.rows.filter(({ name }) => name !== "agreement");
    const named = tried.flatMap(({ name, broken }) => broken.map(({ law }) => `${name}: ${law}`));
    const why = made.result.rows.map(({ name, state, why: because }) => `${name} ${state} ${because}`);
    expect(named, [...found(made), ...why].join("\n")).toEqual(expected);
    expect(tried.filter(({ state }) => state === "kept").length, why.join("\n")).toBe(4 - expected.length);
    // The oracle sees by the trace alone that a bucket has too much room.
    const agreement = made.result.rows.find(({ name }) => name === "agreement");
    expect(agreement?.state).toBe(expected.length === 0 ? "kept" : "broken");
  } finally {
    await close();
  }
});

test.concurrent("a bucket that is refilled in whole seconds is a right one", async () => {
  const { url, close } = await bareBucket(tokenOf, 1000);
  try {
    const own = experiments.filter(({ name }) => name === "burst-is-bounded");
    const made = await audited(url, bare, { experiments: own, maxMs: 60_000 });
    expect(found(made)).toEqual([]);
  } finally {
    await close();
  }
});
