// A Redis whose clock is ours: it stands still, and moves when it is told to. It takes long: its client comes with the
// limiters of npm, which are installed first.
// @module-tag long
// @module-tag redis-server
// @module-tag faketime
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { RealRedis } from "./redis.ts";
import { installStrangers } from "./strangers.ts";

const atMs = Date.UTC(2026, 0, 1);
let redis: RealRedis;

beforeAll(async () => {
  await installStrangers();
  redis = await RealRedis.start();
});

afterAll(() => redis.stop());

beforeEach(async () => {
  redis.setNow(atMs);
  await redis.clear();
});

/** Returns the time that a key has left, ms; -2 where there is none, -1 where it never expires. */
const left = (key: string): Promise<unknown> =>
  redis.client.eval("return redis.call('PTTL', KEYS[1])", 1, key);

const put = (key: string, ms: number): Promise<unknown> =>
  redis.client.eval("return redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])", 1, key, ms);

test("a key lives as long as the clock says, and has 0 ms left in its last one", async () => {
  await put("window", 10_000);
  redis.setNow(atMs + 1);
  expect(await left("window")).toBe(9_999);
  redis.setNow(atMs + 10_000);
  expect(await left("window")).toBe(0);
  redis.setNow(atMs + 10_001);
  expect(await left("window")).toBe(-2);
});

test("a key without an end has none, and a clock that stands still ages nothing", async () => {
  await redis.client.eval("return redis.call('SET', KEYS[1], 1)", 1, "for ever");
  await put("window", 10_000);
  redis.setNow(atMs);
  expect([await left("for ever"), await left("window")]).toEqual([-1, 10_000]);
});

test("its own time is ours to the millisecond, far from today, too", async () => {
  const times = Array.from({ length: 1000 }, (_, ms) => atMs + 3_001 * ms);
  for (const nowMs of [...times, Date.UTC(2064, 1, 29, 12, 0, 0, 7), 5_000]) {
    redis.setNow(nowMs);
    const [seconds, micros] = await redis.client.time();
    expect(Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)).toBe(nowMs);
  }
});

test("a stopped Redis answers no more", async () => {
  const other = await RealRedis.start();
  await other.client.flushall();
  await other.stop();
  await expect(other.client.flushall()).rejects.toThrow();
});
