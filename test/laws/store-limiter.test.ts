// A store that counts, as a limiter: the forms of its counts, and when a key is forgotten.
import { expect, test } from "vitest";
import { type CountingStore, parseRules, type StoreCount, storeLimiter } from "../../src/laws/index.ts";

const rules = parseRules({ user: { rest: { limit: 2, windowSeconds: 10 } } });
const ann = { organization: "acme", user: "ann", scope: "rest", cost: 1 } as const;
const made = async (store: CountingStore) =>
  storeLimiter({ name: "hits", create: () => store }).create(rules);

const decided = async (count: unknown) =>
  (await made({ increment: () => count as StoreCount })).decide(ann, 5);

test.each<[unknown, boolean, object]>([
  [2, true, { current: 2 }],
  [3, false, { current: 3 }],
  [{ totalHits: 1, current: 8, resetTime: new Date(9) }, true, { current: 1, resetAtMs: 9 }],
  [{ current: 3, resetTime: 12 }, false, { current: 3, resetAtMs: 12 }],
  [{ count: 2 }, true, { current: 2 }],
])("a count of %j admits: %s", async (count, admitted, user) => {
  expect(await decided(count)).toMatchObject({ admitted, user });
});

test.each([[undefined], [null], [{}], [{ totalHits: "1" }]])("%j is no count", async (count) => {
  await expect(decided(count)).rejects.toThrow(`a count was expected, got ${JSON.stringify(count)}`);
});

test("each key is forgotten before its first use, and a reading changes no count", async () => {
  const asked: unknown[] = [];
  const store: CountingStore = {
    increment: (key, nowMs) => {
      asked.push(["increment", key, nowMs]);
      return 1;
    },
    get: (key, nowMs) => {
      asked.push(["get", key, nowMs]);
      return key === "acme/bob" ? null : { count: 1, resetTime: 20 };
    },
    reset: (key) => void asked.push(["reset", key]),
    close: () => void asked.push("close"),
  };
  const limiter = await made(store);
  await limiter.decide(ann, 1);
  expect(await limiter.status?.("acme", 2, "ann")).toEqual({ rest: { current: 1, resetAtMs: 20 } });
  expect(await limiter.status?.("acme", 3, "bob")).toEqual({ rest: {} });
  await limiter.close?.();
  expect(asked).toEqual([
    ["reset", "acme/ann"],
    ["increment", "acme/ann", 1],
    ["get", "acme/ann", 2],
    ["reset", "acme/bob"],
    ["get", "acme/bob", 3],
    "close",
  ]);
});

test("a store without more has neither a status nor an end", async () => {
  const { status, close } = await made({ increment: () => 1 });
  expect([status, close]).toEqual([undefined, undefined]);
});
