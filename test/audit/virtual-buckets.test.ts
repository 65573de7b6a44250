// Buckets under audit in virtual time: what the experiments say of right ones, of those that are each wrong in one way, and
// of those that a refill in steps explains. `npm test -- test/audit/virtual-buckets.test.ts -u` writes `pinned/buckets.md`
// anew; read the difference.
import { expect, test } from "vitest";
import type { Shot } from "../../src/audit/step.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Served } from "./played.ts";
import { textOf } from "./rooms-and-queries.ts";

const [capacity, perSecond] = [12, 1];
const bucket = (size: number, key: string) => ({
  algorithm: { kind: "token-bucket", capacity: size, refill: { amount: 2 * perSecond, everyMs: 2000 } },
  key: [key],
});
/** A user's bucket, and a larger one of its organization; no answer shows a count. */
const policy = parsePolicy({
  version: 2,
  name: "buckets",
  quotas: { own: bucket(capacity, "user"), shared: bucket(40, "organization") },
  operations: {
    call: { uses: { own: 1, shared: 1 }, samples: [{ path: "/calls" }] },
    heavy: { uses: { own: 3 }, samples: [{ path: "/heavy" }] },
  },
  routes: [
    { path: "/heavy", operation: "heavy" },
    { path: "/**", operation: "call" },
  ],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["organization", "user"] },
  wire: {
    revision: "2026",
    readings: [],
    retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    outcomes: [{ outcome: "refused", by: "{quota}", status: [429], body: { "/by": "{quota}" } }],
  },
} as never);

interface Kept {
  /** Units that a bucket holds, and that come back in a second. */
  readonly size?: number;
  readonly rate?: number;
  /** Ms in which units come back, together. */
  readonly stepMs?: number;
  readonly refusedCost?: number;
  readonly key?: (shot: Shot) => string;
  readonly cost?: (units: number, shot: Shot) => number;
  /** Seconds that a refusal tells beyond the right ones; `null` tells none. */
  readonly wait?: number | null;
  readonly by?: string;
  readonly status?: (right: number, call: number) => number;
}

function served({
  size = capacity,
  rate = perSecond,
  stepMs = 1,
  refusedCost = 0,
  key = ({ caller }) => String(caller?.name),
  cost = (units) => units,
  wait = 0,
  by = "own",
  status = (right) => right,
}: Kept): Served {
  const buckets = new Map<string, { left: number; atMs: number }>();
  let calls = 0;
  return (shot, nowMs) => {
    const atMs = Math.floor(nowMs / stepMs) * stepMs;
    const units = cost(shot.path.startsWith("/heavy") ? 3 : 1, shot);
    const known = buckets.get(key(shot)) ?? { left: size, atMs };
    const left = Math.min(size, known.left + ((atMs - known.atMs) * rate) / 1000);
    const isRefused = left < units;
    buckets.set(key(shot), { left: left - (isRefused ? refusedCost : units), atMs });
    calls += 1;
    if (!isRefused) return { status: status(200, calls) };
    const seconds = Math.ceil((units - left) / rate) + (wait ?? 0);
    const headers = wait === null ? {} : { "retry-after": String(Math.max(0, seconds)) };
    return { status: status(429, calls), headers, body: JSON.stringify({ by }) };
  };
}

const servers: Readonly<Record<string, Kept>> = {
  right: {},
  "one more": { size: capacity + 1 },
  "five more": { size: capacity + 5 },
  "one less": { size: capacity - 1 },
  "three less": { size: capacity - 3 },
  "twice as fast": { rate: 2 * perSecond },
  "half as fast": { rate: perSecond / 2 },
  "steps of a quarter": { stepMs: 250 },
  "steps of a second": { stepMs: 1000 },
  "one more, in steps of a second": { size: capacity + 1, stepMs: 1000 },
  "a step that comes within a burst": { stepMs: 40, rate: 25 },
  "refusals cost one": { refusedCost: 1 },
  "refusals cost a quarter": { refusedCost: 0.25 },
  "asks to wait for nothing": { wait: -9 },
  "asks to wait too long": { wait: 2 },
  "tells no wait": { wait: null },
  "names the other bucket": { by: "shared" },
  "HEAD is free": { cost: (units, { method }) => (method === "HEAD" ? 0 : units) },
  "HEAD costs two": { cost: (units, { method }) => (method === "HEAD" ? 2 * units : units) },
  "one for all": { key: () => "all" },
  "one for each path": { key: ({ caller, path }) => `${caller?.name} ${path}` },
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
    "twin-head",
  ],
  ...["twin-query-string", "twin-pipelined", "each-caller-apart", "refusal-names-the-quota"],
];

test("what is said of them", async () => {
  await expect(textOf(servers, served, names, policy)).toMatchFileSnapshot("./pinned/buckets.md");
});
