// Small drawn logs, replayed under drawn rules and policies, with callers that react: `pinned/drawn.txt` holds what each
// sums up to, and a digest of the whole result. `npm test -- test/replay/pinned-drawn.test.ts -u` writes it anew.
import { expect, test } from "vitest";
import { type ReplayOptions, replay, replayQuotas } from "../../sim/replay/replay.ts";
import { reactionOf } from "../../src/cli/replay-options.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { switchValues } from "../../src/rules/switches.ts";
import { digestOf } from "../support/digest.ts";
import { type Chance, chanceOf, pick, whole } from "../worlds/chance.ts";
import { logOf, noon, type Row } from "./rows.ts";

const kinds = ["rest", "rest", "rest", "graphql", "graphql", "status", "other"] as const;

/** Rows of some minutes; in some logs nobody knows how long calls took, or how they were answered. */
function rowsOf(chance: Chance): Row[] {
  const [gapMs, users] = [pick(chance, [300, 1_500, 6_000]), whole(chance, 1, 5)];
  const [knowsEnds, knowsStatus, refused] = [
    chance.next() < 0.7,
    chance.next() < 0.7,
    pick(chance, [0, 0.2]),
  ];
  let atMs = noon + whole(chance, 0, 9) * 7_777;
  return Array.from({ length: whole(chance, 20, 120) }, (): Row => {
    atMs += chance.next() < 0.2 ? 0 : Math.floor(chance.exponential(gapMs));
    const kind = pick(chance, kinds);
    const cost = kind === "graphql" ? whole(chance, 1, 9) : 1;
    const row = {
      atMs,
      user: `u${whole(chance, 1, users)}`,
      org: pick(chance, ["acme", "acme", "b"]),
      kind,
      cost,
    };
    return {
      ...row,
      ...(kind === "graphql" && chance.next() < 0.7 ? { actual: whole(chance, 0, cost) } : {}),
      ...(knowsEnds ? { durationMs: whole(chance, 0, pick(chance, [50, 9_000])) } : {}),
      ...(knowsStatus ? { status: chance.next() < refused ? 429 : pick(chance, [200, 200, 200, 503]) } : {}),
    };
  });
}

function rulesOf(chance: Chance) {
  const scope = () => ({ limit: whole(chance, 2, 14), windowSeconds: pick(chance, [10, 60]) });
  return parseRules({
    organization: { rest: scope(), graphql: scope() },
    user: { rest: scope(), graphql: scope() },
    semantics: Object.fromEntries(
      Object.entries(switchValues).map(([name, values]) => [name, pick<string | boolean>(chance, values)]),
    ),
  });
}

/** The same two operations under other algorithms, charges and keys. */
function policyOf(chance: Chance): Policy {
  const algorithm = () =>
    pick(chance, [
      {
        kind: "fixed-window",
        limit: whole(chance, 2, 12),
        windowSeconds: pick(chance, [5, 60]),
        anchor: "epoch",
      },
      { kind: "fixed-window", limit: whole(chance, 2, 12), windowSeconds: 30, anchor: "first-request" },
      { kind: "fixed-window", limit: whole(chance, 9, 30), anchor: { calendar: "day", zone: "UTC" } },
      {
        kind: "token-bucket",
        capacity: whole(chance, 3, 12),
        refill: { amount: 1, everyMs: pick(chance, [500, 4_000]) },
      },
    ]);
  const quota = (key: readonly string[], refused = ["nothing", "counted"]) => ({
    ...{ algorithm: algorithm(), key, enforced: pick(chance, [true, true, true, false]) },
    charge: {
      when: pick(chance, ["admission", "completion", "reserve-settle"]),
      refused: pick(chance, refused),
    },
  });
  const operation = (uses: object) => ({ uses, samples: [] });
  return parsePolicy({
    ...{ version: 2, name: "drawn" },
    quotas: {
      all: quota(pick(chance, [[], ["organization"]]), ["nothing"]),
      own: quota(["organization", "user"], ["nothing"]),
      points: quota(["user"], ["nothing"]),
    },
    operations: {
      rest: operation({ all: 1, own: pick(chance, [1, 2]) }),
      graphql: operation({ all: 1, points: "declared" }),
    },
  });
}

function optionsOf(chance: Chance, figure: string): ReplayOptions {
  const word = pick(chance, ["none", "waitReset", "waitReset+0..5s", "retryAfter", "exponential"]);
  const choices = { independent: chance.next() < 0.3, keepRefused: chance.next() < 0.3 };
  const reaction = { ...reactionOf(word, whole(chance, 1, 9)), ...choices };
  return { expect: { [figure]: "<20%" }, ...(chance.next() < 0.7 ? { reaction } : {}) };
}

test("small drawn logs are replayed as ever", async () => {
  const lines: string[] = [];
  for (let seed = 1; seed <= 60; seed++) {
    const chance = chanceOf(seed, 99);
    const rows = rowsOf(chance);
    const options = optionsOf(chance, "refusedShare");
    if (seed % 2 === 0) {
      const result = await replay(logOf(rows), rulesOf(chance), options);
      lines.push(`rules ${seed}: ${digestOf(result, 16)} ${JSON.stringify(result.totals)}`);
      continue;
    }
    const quotas = rows.filter(({ kind }) => kind === "rest" || kind === "graphql");
    const counts = { unrouted: 0, paths: [] };
    const result = await replayQuotas({ ...logOf(quotas), ...counts }, policyOf(chance), options);
    lines.push(`policy ${seed}: ${digestOf(result, 16)} ${JSON.stringify(result.totals)}`);
  }
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./pinned/drawn.txt");
});
