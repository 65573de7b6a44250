// Where fixed windows lie, if a limiter does not say it: found by a window that is filled before an edge of a grid.
import { expect, test } from "vitest";
import { type KeyedKind, keyedLimiter } from "../../src/laws/index.ts";
import { anchored } from "../../src/laws/shown-anchor.ts";

const startMs = Date.UTC(2026, 0, 1);
type WindowOf = (nowMs: number, madeMs: number, windowMs: number, firstMs: number) => number;

/** A limiter whose windows are numbered by the time; that of the first request has no number. */
function windowed(windowOf: WindowOf | null, more: Partial<KeyedKind> = {}, extra = 0) {
  let clockMs = 0;
  return keyedLimiter({
    ...{ name: "mine", algorithm: "fixed-window", ...more },
    setNow(nowMs) {
      clockMs = nowMs;
    },
    create({ limit, windowMs }) {
      const madeMs = clockMs;
      const counts = new Map<string, number>();
      const opened = new Map<string, number>();
      const first = new Map<string, number>();
      return {
        consume(key, _cost, nowMs) {
          const known = opened.get(key) ?? nowMs;
          const openedMs = nowMs >= known + windowMs ? nowMs : known;
          opened.set(key, openedMs);
          const firstMs = first.get(key) ?? nowMs;
          first.set(key, firstMs);
          const number = windowOf === null ? openedMs : windowOf(nowMs, madeMs, windowMs, firstMs);
          const window = `${key} ${number}`;
          const count = (counts.get(window) ?? 0) + 1;
          counts.set(window, count);
          return count <= limit + extra;
        },
      };
    },
  });
}

const ofEpoch: WindowOf = (nowMs, _, windowMs) => Math.floor(nowMs / windowMs);
const ofStart: WindowOf = (nowMs, madeMs, windowMs) => Math.floor((nowMs - madeMs) / windowMs);
const beside: WindowOf = (nowMs, _, windowMs) => Math.floor((nowMs - 350) / windowMs);
const ofKey: WindowOf = (nowMs, _, windowMs, firstMs) => Math.floor((nowMs - firstMs) / windowMs);
const tooShort: WindowOf = (nowMs, _, windowMs) => Math.floor(nowMs / (0.7 * windowMs));
const late: WindowOf = (nowMs, _, windowMs) => Math.floor((nowMs - 1) / windowMs);

const limitOf = (limit: number) => ({ user: { rest: { limit, windowSeconds: 10 } } });
const found = async (
  factory: ReturnType<typeof windowed>,
  given?: Parameters<typeof anchored>[1],
): Promise<string> => {
  const { algorithm, semantics, fromStart } = await anchored(factory, given, startMs);
  if (algorithm === "token-bucket") return "own";
  if (fromStart === true) return "start";
  return semantics?.anchor?.join() === "epoch" ? "epoch" : "unknown";
};

test.each<[string, string, ReturnType<typeof windowed>]>([
  ["the epoch's", "epoch", windowed(ofEpoch)],
  ["the epoch's, each with its end", "epoch", windowed(late, { end: "inclusive" })],
  ["its own, from its start on", "start", windowed(ofStart)],
  ["beside the epoch's", "own", windowed(beside)],
  ["beside the epoch's, each with its end", "own", windowed(beside, { end: "inclusive" })],
  ["a key's, from its first call on", "own", windowed(ofKey)],
  ["none that is known, as its windows are too short", "unknown", windowed(tooShort)],
  ["none, but the first request's", "unknown", windowed(null)],
  ["none that is known, as it admits one too many", "unknown", windowed(ofEpoch, {}, 1)],
  ["none that is known, as it admits one too few", "unknown", windowed(ofEpoch, {}, -1)],
])("a limiter's grid is %s", async (_, grid, factory) => {
  expect(await found(factory)).toBe(grid);
  expect(await found(factory, limitOf(5))).toBe(grid);
});

test("a window of up to 200 calls is filled, and none of more", async () => {
  expect(await found(windowed(ofEpoch), limitOf(200))).toBe("epoch");
  expect(await found(windowed(ofEpoch), limitOf(201))).toBe("unknown");
});

test("a limiter that says its anchor is not asked, and one that fails says nothing", async () => {
  const saying = windowed(ofStart, { anchor: "epoch" });
  expect(await anchored(saying, undefined, startMs)).toBe(saying);
  const failing = windowed(() => {
    throw new TypeError("odd");
  });
  expect(await anchored(failing, undefined, startMs)).toBe(failing);
});
