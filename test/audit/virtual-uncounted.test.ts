// Windows without counts under audit in virtual time: what the experiments say of right ones, and of those that are each
// wrong in one way. `npm test -- test/audit/virtual-uncounted.test.ts -u` writes `pinned/uncounted.md` anew; read the
// difference.
import { expect, test } from "vitest";
import type { Shot } from "../../src/audit/step.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Served } from "./played.ts";
import { linesOf, textOf } from "./rooms-and-queries.ts";

const [limit, lengthMs] = [12, 10_000];

const policyOf = (anchor: "epoch" | "first-request") =>
  parsePolicy({
    version: 2,
    name: "uncounted",
    quotas: {
      own: {
        algorithm: { kind: "fixed-window", limit, windowSeconds: lengthMs / 1000, anchor },
        key: ["user"],
      },
    },
    operations: { call: { uses: { own: 1 }, samples: [{ path: "/calls" }, { path: "/others" }] } },
    routes: [{ path: "/**", operation: "call" }],
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["organization", "user"] },
    wire: {
      revision: "2026",
      readings: [],
      retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    },
  });

interface Kept {
  /** Units that a window admits. */
  readonly size?: number;
  readonly ms?: number;
  /** Begin of one of the grid's windows, ms; `null`: windows open with their first call. */
  readonly gridMs?: number | null;
  readonly key?: (shot: Shot) => string;
  readonly cost?: (shot: Shot) => number;
  readonly refusedCost?: number;
  /** Seconds that a refusal tells beyond the right ones; `null` tells none. */
  readonly wait?: number | null;
  readonly status?: (right: number, call: number) => number;
  /** Ms by which the clocks of two servers differ, which answer in turn. */
  readonly apartMs?: number;
}

const served =
  (anchor: "epoch" | "first-request") =>
  ({
    size = limit,
    ms = lengthMs,
    gridMs = anchor === "epoch" ? 0 : null,
    key = ({ caller }) => String(caller?.name),
    cost = () => 1,
    refusedCost = 0,
    wait = 0,
    status = (right) => right,
    apartMs = 0,
  }: Kept): Served => {
    const windows = new Map<string, { beginMs: number; used: number }>();
    let calls = 0;
    return (shot, ownMs) => {
      calls += 1;
      const nowMs = ownMs - (calls % 2) * apartMs;
      const known = windows.get(key(shot));
      const beginMs = gridMs === null ? nowMs : Math.floor((nowMs - gridMs) / ms) * ms + gridMs;
      const isOld =
        known === undefined || (gridMs === null ? nowMs >= known.beginMs + ms : beginMs > known.beginMs);
      const window = isOld ? { beginMs, used: 0 } : known;
      windows.set(key(shot), window);
      const isRefused = window.used + cost(shot) > size;
      window.used += isRefused ? refusedCost : cost(shot);
      if (!isRefused) return { status: status(200, calls) };
      const seconds = Math.ceil((window.beginMs + ms - nowMs) / 1000) + (wait ?? 0);
      const headers = wait === null ? {} : { "retry-after": String(Math.max(0, seconds)) };
      return { status: status(429, calls), headers };
    };
  };

const servers: Readonly<Record<string, Kept>> = {
  right: {},
  "one more": { size: limit + 1 },
  "one less": { size: limit - 1 },
  "another grid": { gridMs: 3_210 },
  "opened by their first call": { gridMs: null },
  "servers whose clocks differ": { apartMs: 400 },
  "half as long": { ms: lengthMs / 2 },
  "twice as long": { ms: 2 * lengthMs },
  "refusals cost one": { refusedCost: 1 },
  "asks to wait for nothing": { wait: -99 },
  "asks to wait too long": { wait: 2 },
  "tells no wait": { wait: null },
  "HEAD is free": { cost: ({ method }) => (method === "HEAD" ? 0 : 1) },
  "HEAD costs two": { cost: ({ method }) => (method === "HEAD" ? 2 : 1) },
  "one for all": { key: () => "all" },
  "one for each path": { key: ({ caller, path }) => `${caller?.name} ${path}` },
  "another path has no limit": { cost: ({ path }) => (path === "/others" ? 0 : 1) },
  "another path costs two": { cost: ({ path }) => (path === "/others" ? 2 : 1) },
  "all is admitted": { size: 1000 },
  "refuses by 503": { status: (right) => (right === 429 ? 503 : right) },
  "breaks now and then": { status: (right, call) => (call % 9 === 0 ? 500 : right) },
};

const names = [
  ...[
    "burst-is-bounded",
    "emptied-has-room-again",
    "emptied-leaves-others",
    "emptied-wait-is-honest",
    "other-user",
  ],
  ...["twin-head", "twin-query-string", "other-requests"],
];

test.each(["epoch", "first-request"] as const)("what is said of those of the anchor %s", async (anchor) => {
  const text = textOf(servers, served(anchor), names, policyOf(anchor));
  await expect(text).toMatchFileSnapshot(`./pinned/uncounted-${anchor}.md`);
});

/** Delays of waits that end late, ms, by their number. */
const delays: Readonly<Record<string, (wait: number) => number>> = {
  "a little": () => 200,
  "now and then by most of a window": (wait) => (wait % 11 === 0 ? 8_900 : 0),
  "always by a third of a window": () => 3_300,
  "by a second, and less": (wait) => (wait * 137) % 1_000,
};

test.each(Object.keys(delays))("nothing is wrong with a right grid where waits end late: %s", (name) => {
  const lateMs = delays[name] as (wait: number) => number;
  const lines = linesOf(() => served("epoch")({ gridMs: 3_210 }), names, policyOf("epoch"), {
    lateMs,
    untilMs: 1_000_000,
  });
  expect(lines.filter((line) => !/: (kept|not exercised: .*)$/.test(line))).toEqual([]);
  const isKept = (line: string): boolean => line.endsWith(": kept");
  expect(lines.filter(isKept).length).toBe(name.startsWith("always") ? 0 : names.length);
});

test.each([17, 18, 19])(
  "nothing is wrong with a right grid, however late waits end from the %d. on",
  (from) => {
    const said = Array.from({ length: 35 }, (_, index) =>
      linesOf(
        () => served("epoch")({ gridMs: 3_210 }),
        ["burst-is-bounded", "twin-head"],
        policyOf("epoch"),
        {
          lateMs: (wait) => (wait >= from && wait % 2 === from % 2 ? 290 * index : 0),
          untilMs: 1_000_000,
        },
      ),
    ).flat();
    expect(said.filter((line) => line.includes("broken"))).toEqual([]);
    expect(said.filter((line) => line.endsWith(": kept")).length).toBeGreaterThan(9);
  },
);
