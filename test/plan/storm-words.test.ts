// A storm's answer in words, of each kind, for both triggers.
import { expect, test } from "vitest";
import { stormSentence } from "../../src/plan/sentences.ts";
import type { PlanStorm } from "../../src/summary/plan-result.ts";

const storm = (change: Partial<PlanStorm>): PlanStorm => ({
  ...{ trigger: "burst", unit: "count", atMs: 60_000, windowMs: 60_000, withinWindows: null },
  ...{ answer: { kind: "all" }, from: 5, to: 2_000, triggers: [], series: [] },
  ...change,
});
const recovers = (size: number, windowsToRecover: number | null): PlanStorm["triggers"][number] => ({
  ...{
    size,
    replications: 8,
    recovered: 8,
    recoveredShare: { low: 0.6, high: 1 },
    state: "holds",
    windowsToRecover,
  },
});
const outage = { trigger: "outage", unit: "ms" } as const;
const sure = "(95% confidence)";

test.each<[Partial<PlanStorm>, string]>([
  [
    {
      answer: { kind: "value", value: 200, holds: 200, fails: 210 },
      triggers: [recovers(100, 9), recovers(200, 2.26)],
      share: 0.9995,
    },
    `The load does not recover by the end of 5 min from a burst of 210 calls; from a burst of 200 calls it does, in 2.3 windows of 1 min after it is over, in 99.95% of runs ${sure}.`,
  ],
  [
    {
      ...outage,
      answer: { kind: "value", value: 1_000, holds: 1_000, fails: 90_000 },
      triggers: [recovers(1_000, 1)],
      share: 0.9995,
      withinWindows: 1,
    },
    `The load does not recover within 1 window of 1 min from an outage of 1 min 30 s; from an outage of 1 s it does, in 1 window of 1 min after it is over, in 99.95% of runs ${sure}.`,
  ],
  [
    {},
    `The load recovers in 50% of runs from every burst tried, up to a burst of 2,000 calls, by the end of 5 min ${sure}.`,
  ],
  [
    { answer: { kind: "none" }, withinWindows: 2 },
    `The load does not recover within 2 windows of 1 min in 50% of runs even from a burst of 5 calls ${sure}.`,
  ],
  [
    { answer: { kind: "too-noisy", holds: 10, fails: 90, replicationsMore: 8 } },
    "The runs differ too much to say which burst is too much: the load surely recovers from a burst of 10 calls, surely not from a burst of 90 calls.",
  ],
  [
    { ...outage, answer: { kind: "too-noisy", holds: null, fails: null, replicationsMore: null } },
    "The runs differ too much to say which outage is too much: the load surely recovers from none of those tried, surely not from none of those tried.",
  ],
  [
    { answer: { kind: "not-monotone", evidence: [] } },
    "Whether the load recovers does not go by the size of the burst: see the table.",
  ],
])("a storm of %j", (change, sentence) => {
  expect(stormSentence(storm(change), { durationMs: 300_000, confidence: 0.95, share: 0.5 })).toBe(sentence);
});
