// The schemas that read plan.json and replay.json back: a folder may have been edited, cut off, or written by another
// version.
import * as v from "valibot";

const text = v.string("text");
const amount = v.number("a number");
const maybe = v.nullable(amount);
const whole = v.pipe(amount, v.safeInteger("a whole number"));
const ms = v.pipe(
  v.number("milliseconds since the epoch"),
  // The span that a Date can have.
  v.check((value) => Math.abs(value) <= 8.64e15, "milliseconds since the epoch"),
);
const yes = v.boolean("true or false");
const version = v.literal(1, "1, the version that this spillway reads");

const value = v.union([amount, text], "a number or text");
const interval = v.nullable(v.object({ low: amount, high: amount }));
const state = v.picklist(["holds", "fails", "unclear"], '"holds", "fails" or "unclear"');
const figures = v.array(
  v.object({ figure: text, measured: whole, mean: maybe, interval, least: maybe, most: maybe }),
);
const answer = v.variant("kind", [
  v.object({ kind: v.literal("value"), value: amount, holds: amount, fails: amount }),
  v.object({ kind: v.picklist(["all", "none"]) }),
  v.object({
    kind: v.literal("not-monotone"),
    evidence: v.array(v.object({ value, state, held: whole, replications: whole })),
  }),
  v.object({ kind: v.literal("too-noisy"), holds: maybe, fails: maybe, replicationsMore: maybe }),
  v.object({
    kind: v.literal("choices"),
    holding: v.array(text),
    failing: v.array(text),
    unclear: v.array(text),
  }),
  v.object({ kind: v.literal("frontier"), holding: whole, failing: whole, unclear: whole }),
]);

export const planSchema = v.object({
  format: v.literal("spillway-plan", '"spillway-plan"'),
  version,
  question: v.looseObject({
    scenario: text,
    description: v.nullable(text),
    seed: whole,
    durationMs: amount,
    vary: v.array(
      v.object({
        path: text,
        unit: v.picklist(["count", "ms", "share", "choice"]),
        range: text,
        from: value,
        to: value,
        values: whole,
      }),
    ),
    goals: v.array(v.object({ figure: text, bound: text, value: amount })),
    find: v.nullable(v.picklist(["largest", "smallest"])),
    share: amount,
    confidence: amount,
    replicationsMost: whole,
    command: v.nullable(text),
  }),
  points: v.array(
    v.object({
      values: v.array(value),
      replications: whole,
      held: v.nullable(whole),
      heldShare: interval,
      state: v.nullable(state),
      figures,
    }),
  ),
  answer: v.nullable(answer),
  heatMap: v.nullable(
    v.object({
      xs: v.array(value),
      ys: v.array(value),
      cells: v.array(v.array(whole)),
      figures: v.array(text),
      frontier: v.array(
        v.object({ x: value, holds: v.nullable(value), fails: v.nullable(value), monotone: yes }),
      ),
    }),
  ),
  storm: v.nullable(
    v.object({
      trigger: v.picklist(["outage", "burst"]),
      unit: v.picklist(["ms", "count"]),
      atMs: amount,
      windowMs: amount,
      withinWindows: maybe,
      answer,
      from: amount,
      to: amount,
      triggers: v.array(
        v.object({
          size: amount,
          replications: whole,
          recovered: whole,
          recoveredShare: v.object({ low: amount, high: amount }),
          state,
          windowsToRecover: maybe,
        }),
      ),
      series: v.array(v.object({ size: amount, shares: v.array(maybe) })),
    }),
  ),
  comparison: v.nullable(
    v.object({
      populations: v.array(text),
      alternatives: v.array(
        v.object({
          population: v.nullable(text),
          policy: text,
          limits: text,
          asIs: yes,
          replications: whole,
          held: v.nullable(whole),
          figures,
        }),
      ),
    }),
  ),
  simulations: whole,
  sentences: v.array(text),
  notes: v.array(text),
});

const owner = v.picklist(["organization", "user"]);
const scope = v.picklist(["rest", "graphql"]);
const headroom = v.array(
  v.object({
    owner,
    scope,
    org: v.nullable(text),
    windows: whole,
    windowsOver: whole,
    windowsFull: v.optional(whole, 0),
    useMax: amount,
    useP99: amount,
    useP50: amount,
    smallestLimit: amount,
  }),
);
const slots = v.array(
  v.object({ atMs: ms, calls: whole, refusedByOrganization: whole, refusedByUser: whole }),
);
const waits = v.object({ p50: maybe, p95: maybe, p99: maybe, max: maybe });

const log = {
  files: v.array(text),
  rows: whole,
  unread: whole,
  examples: v.array(v.object({ file: text, line: whole, text, why: text })),
  // Replays kept by earlier versions lack it.
  unplaced: v.optional(whole, 0),
  status: whole,
  other: whole,
  firstAt: v.nullable(ms),
  lastAt: v.nullable(ms),
};
const recorded = v.nullable(
  v.object({
    calls: whole,
    refused: whole,
    both: whole,
    onlyInLog: whole,
    onlyInReplay: whole,
    // Replays kept by earlier versions lack it.
    seemsFiltered: v.optional(yes, false),
  }),
);
const demand = { wishes: whole, retries: whole, untold: whole, untoldUsers: whole };
const reaction = {
  onRefused: text,
  seed: whole,
  independent: yes,
  calls: whole,
  // Replays kept by earlier versions lack it.
  retries: v.optional(whole, 0),
  leftOut: whole,
  attempts: whole,
  refusals: whole,
  admittedAtOnce: whole,
  admittedLater: whole,
  gaveUp: whole,
  unfinished: whole,
  waits,
  waitsOfRefused: waits,
  waitedMs: amount,
  endsLaterMs: amount,
  slotMs: amount,
  users: v.array(
    v.object({
      org: text,
      user: text,
      calls: whole,
      refusals: whole,
      gaveUp: whole,
      unfinished: whole,
      waitMaxMs: amount,
      endsLaterMs: amount,
    }),
  ),
};
const expectations = v.array(v.object({ figure: text, bound: text, actual: maybe, held: yes }));

const rulesReplaySchema = v.object({
  format: v.literal("spillway-replay", '"spillway-replay"'),
  version,
  log: v.object({
    ...log,
    rest: whole,
    graphql: whole,
  }),
  interrupted: yes,
  // Checked by `parseRules`.
  rules: v.record(text, v.unknown(), "rules"),
  totals: v.object({
    calls: whole,
    admitted: whole,
    refused: whole,
    refusedByOrganization: whole,
    refusedByUser: whole,
    hopeless: whole,
    points: whole,
    users: whole,
    usersRefused: whole,
    organizations: whole,
  }),
  slotMs: amount,
  slots,
  users: v.array(
    v.object({
      org: text,
      user: text,
      calls: whole,
      refused: whole,
      refusedByOrganization: whole,
      refusedByUser: whole,
      firstRefusedAt: v.nullable(ms),
      lastRefusedAt: v.nullable(ms),
      restUseMax: maybe,
      graphqlUseMax: maybe,
    }),
  ),
  headroom,
  organizations: headroom,
  smallestLimits: v.array(
    v.object({
      owner,
      scope,
      limit: whole,
      smallest: whole,
      org: text,
      user: v.nullable(text),
      windowEndsAt: ms,
    }),
  ),
  refusingWindows: v.array(
    v.object({
      org: text,
      user: v.nullable(text),
      scope,
      opensAt: ms,
      endsAt: ms,
      limit: whole,
      refused: whole,
      firstRefusedAt: ms,
    }),
  ),
  refusingWindowsSeen: whole,
  recorded,
  demand: v.optional(
    v.nullable(
      v.object({
        ...demand,
        limits: v.array(v.object({ owner, scope, limit: whole, low: whole, high: whole })),
      }),
    ),
    null,
  ),
  reaction: v.nullable(
    v.object({
      ...reaction,
      refusedByOrganization: whole,
      refusedByUser: whole,
      slots,
    }),
  ),
  expectations,
});

const byQuota = v.array(whole);
const key = v.record(text, text, "texts by attribute");
const quotaSlots = v.array(v.object({ atMs: ms, calls: whole, refusedBy: byQuota }));
const quotaHeadroom = v.array(
  v.object({
    quota: text,
    key: v.nullable(key),
    windows: whole,
    windowsOver: whole,
    windowsFull: v.optional(whole, 0),
    useMax: amount,
    useP99: amount,
    useP50: amount,
    smallestLimit: amount,
  }),
);

const quotaReplaySchema = v.object({
  format: v.literal("spillway-replay", '"spillway-replay"'),
  version: v.literal(2, "1 or 2, the versions that this spillway reads"),
  log: v.object({ ...log, operations: v.record(text, whole), unrouted: whole, paths: v.array(text) }),
  interrupted: yes,
  // Checked by `parsePolicy`.
  policy: v.record(text, v.unknown(), "a policy"),
  totals: v.object({
    calls: whole,
    admitted: whole,
    refused: whole,
    refusedBy: byQuota,
    hopeless: whole,
    costs: v.record(text, whole),
    users: whole,
    usersRefused: whole,
    organizations: whole,
  }),
  slotMs: amount,
  slots: quotaSlots,
  users: v.array(
    v.object({
      org: text,
      user: text,
      calls: whole,
      refused: whole,
      refusedBy: byQuota,
      firstRefusedAt: v.nullable(ms),
      lastRefusedAt: v.nullable(ms),
      useMax: v.array(maybe),
    }),
  ),
  headroom: quotaHeadroom,
  counts: quotaHeadroom,
  smallestLimits: v.array(v.object({ quota: text, key, limit: whole, smallest: whole, windowEndsAt: ms })),
  refusingWindows: v.array(
    v.object({ quota: text, key, opensAt: ms, endsAt: ms, limit: whole, refused: whole, firstRefusedAt: ms }),
  ),
  refusingWindowsSeen: whole,
  recorded,
  demand: v.nullable(
    v.object({
      ...demand,
      limits: v.array(v.object({ quota: text, limit: whole, low: whole, high: whole })),
    }),
  ),
  reaction: v.nullable(v.object({ ...reaction, refusedBy: byQuota, slots: quotaSlots })),
  expectations,
});

/** A replay under rules, or under a policy. */
export const replaySchema = v.variant("version", [rulesReplaySchema, quotaReplaySchema]);
