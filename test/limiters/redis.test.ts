// A Redis whose keys grow older when our clock moves, and not otherwise.
// @module-tag redis-server
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { RealRedis, unitsOfTime } from "./redis.ts";
import { installStrangers } from "./strangers.ts";

const atMs = Date.UTC(2026, 0, 1);
let redis: RealRedis;

beforeAll(async () => {
  await installStrangers();
  redis = await RealRedis.start();
});

afterAll(() => redis.stop());

beforeEach(async () => {
  await redis.setNow(atMs);
  await redis.clear();
});

/** What a key has left, in our milliseconds; -2 where there is none, -1 where it never expires. */
async function left(key: string): Promise<number> {
  const units = Number(await redis.client.eval("return redis.call('PTTL', KEYS[1])", 1, key));
  return units < 0 ? units : Math.round(units / unitsOfTime);
}

const put = (key: string, ms: number): Promise<unknown> =>
  redis.client.eval("return redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])", 1, key, ms * unitsOfTime);

test("a key has so much less to live as the clock moved, and ends at its very millisecond", async () => {
  await put("window", 10_000);
  await redis.setNow(atMs + 1);
  expect(await left("window")).toBe(9_999);
  await redis.setNow(atMs + 9_999);
  expect(await left("window")).toBe(1);
  await redis.setNow(atMs + 10_000);
  expect(await left("window")).toBe(-2);
});

test("a key without an end has none, and a clock that stands or steps back ages nothing", async () => {
  await redis.client.eval("return redis.call('SET', KEYS[1], 1)", 1, "for ever");
  await put("window", 10_000);
  await redis.setNow(atMs);
  await redis.setNow(atMs - 5_000);
  expect([await left("for ever"), await left("window")]).toEqual([-1, 10_000]);
  await redis.setNow(atMs - 4_000);
  expect([await left("for ever"), await left("window")]).toEqual([-1, 9_000]);
});

test("a stopped Redis answers no more", async () => {
  const other = await RealRedis.start();
  await other.client.flushall();
  await other.stop();
  await expect(other.client.flushall()).rejects.toThrow();
});
