// A job is what `simulate` would have done: the same figures, the same windows.
import { describe, expect, test } from "vitest";
import { simulate } from "../../sim/simulate.ts";
import { jobKey, type PlanJob, replicationSeed } from "../../src/plan/job.ts";
import { changeScenario } from "../../src/plan/paths.ts";
import { runJob } from "../../src/plan/run-job.ts";
import { withTrigger } from "../../src/plan/trigger.ts";
import { summarize } from "../../src/summary/summarizer.ts";
import { herd } from "./worlds.ts";

const changes = [{ path: "herd.clients", value: 12 }];
const figures = [
  { population: null, name: "refusedShare" },
  { population: "herd", name: "waitP95Ms" },
  { population: "nobody", name: "refused" },
] as const;

describe("figures", () => {
  test.each([0, 1, 5])("replication %i has those of simulate with its seed", (replication) => {
    const job: PlanJob = { variant: { changes, trigger: null, windowMs: null }, replication };
    const { header, calls } = simulate(changeScenario(herd(), changes), {
      seed: replicationSeed(30, replication),
    });
    const summary = summarize(header, calls);
    expect(runJob(herd(), figures, job)).toEqual({
      figures: [
        summary.figures.refusedShare,
        summary.populations.find(({ name }) => name === "herd")?.figures.waitP95Ms,
        null,
      ],
      windows: null,
    });
  });
});

test("windows count every call that a quota counts, by when it was sent, refused ones apart", () => {
  const trigger = { kind: "outage", atMs: 60_000, size: 10_000 } as const;
  const job: PlanJob = { variant: { changes: [], trigger, windowMs: 60_000 }, replication: 0 };
  const { calls } = simulate(withTrigger(herd(), trigger), { seed: 30 });
  const windows = [
    [0, 0],
    [0, 0],
  ];
  const { startAtMs } = herd();
  for (const { kind, sent, status } of calls) {
    const window = windows[Math.floor((sent - startAtMs) / 60_000)];
    if (kind !== "call" || window === undefined) continue;
    window[0] = (window[0] ?? 0) + 1;
    if (status === 429 || status === 503) window[1] = (window[1] ?? 0) + 1;
  }
  expect(runJob(herd(), [], job)).toEqual({ figures: [], windows });
});

test("different jobs have different keys", () => {
  const trigger = { kind: "burst", atMs: 60_000, size: 3 } as const;
  const keys = [
    { changes: [], trigger: null, windowMs: null },
    { changes, trigger: null, windowMs: null },
    { changes: [{ path: "herd.clients", value: 13 }], trigger: null, windowMs: null },
    { changes: [], trigger, windowMs: null },
    { changes: [], trigger: { ...trigger, kind: "outage" as const }, windowMs: null },
    { changes: [], trigger, windowMs: 60_000 },
  ].flatMap((variant) => [0, 1].map((replication) => jobKey({ variant, replication })));
  expect(new Set(keys).size).toBe(keys.length);
});
