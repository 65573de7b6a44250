// The first clients' calls, mark by mark: true to the trace, each population seen, bounded whatever the run.
import { describe, expect, it } from "vitest";
import { summarize } from "../../src/summary/summarizer.ts";
import type { PopulationSummary } from "../../src/summary/summary.ts";
import {
  callOutcomes,
  outcomeOf,
  rowsOf,
  TimelineCollector,
  timelineMarksMost,
  timelineRowsMost,
} from "../../src/summary/timeline.ts";
import { tellerOf } from "../../src/summary/told.ts";
import { traceCall, traceHeader } from "./traces.ts";

function populations(...sizes: readonly number[]): PopulationSummary[] {
  const calls = sizes.flatMap((size, place) =>
    Array.from({ length: size }, (_, index) => traceCall({ client: `p${place}/${index}`, call: index })),
  );
  return [...summarize(traceHeader(), calls).populations];
}

describe("which clients have a row", () => {
  it.each([
    [[30], [12]],
    [[3], [3]],
    [
      [30, 1],
      [11, 1],
    ],
    [
      [2, 30, 30],
      [2, 5, 5],
    ],
  ])("of populations of %j clients: %j", (sizes, rows) => {
    expect([...rowsOf(populations(...sizes)).values()]).toEqual(rows);
  });

  it("gives none to a population that only asks for the status", () => {
    const calls = [traceCall({ client: "watch/0", kind: "status" }), traceCall({ client: "agents/0" })];
    const { populations } = summarize(traceHeader(), calls);
    expect(rowsOf(populations)).toEqual(new Map([["agents", 1]]));
    const collector = new TimelineCollector(populations);
    for (const client of ["watch/0", "agents/0"]) collector.add(client, "admitted", 0);
    expect(collector.finish().rows.map(({ client }) => client)).toEqual(["agents/0"]);
  });

  it("takes those that were answered first, and sorts them by their numbers", () => {
    const collector = new TimelineCollector(populations(30));
    for (const index of [29, 10, 9, ...Array.from({ length: 27 }, (_, other) => other)])
      collector.add(`p0/${index}`, "admitted", index);
    const clients = collector.finish().rows.map(({ client }) => client);
    expect(clients).toHaveLength(timelineRowsMost);
    expect([clients[0], clients.at(-3), clients.at(-1)]).toEqual(["p0/0", "p0/9", "p0/29"]);
  });

  it("sorts a client without a number before the others of its population", () => {
    const collector = new TimelineCollector(populations(3, 1));
    for (const client of ["p1/0", "p0/1", "p0/first"]) collector.add(client, "admitted", 0);
    expect(collector.finish().rows.map(({ client }) => client)).toEqual(["p0/first", "p0/1", "p1/0"]);
  });
});

describe("what a mark says", () => {
  it.each([
    ["admitted", { status: 200 }, null],
    ["admitted", { status: 404 }, null],
    ["refusedByUser", { status: 429 }, "user"],
    ["refusedByOrganization", { status: 429 }, "organization"],
    ["refusedByUnknown", { status: 429 }, null],
    ["unanswered", { status: 0 }, null],
    ["unanswered", { status: 503 }, null],
  ] as const)("%s for %j by %s", (outcome, call, owner) => {
    const told = tellerOf(traceHeader()).told(traceCall(call));
    expect(outcomeOf({ ...told, owner })).toBe(outcome);
  });

  it("keeps each call apart while there is room", () => {
    const collector = new TimelineCollector(populations(1));
    collector.add("p0/0", "admitted", 5);
    collector.add("p0/0", "refusedByUser", 5);
    collector.add("p0/0", "admitted", 6);
    const { rows, slotMs } = collector.finish();
    expect(slotMs).toBe(1);
    expect(rows[0]?.marks).toEqual([
      { atMs: 5, outcome: "admitted", count: 1 },
      { atMs: 5, outcome: "refusedByUser", count: 1 },
      { atMs: 6, outcome: "admitted", count: 1 },
    ]);
  });

  it("ends where there would be too many, and counts the rest", () => {
    const collector = new TimelineCollector(populations(20, 20));
    const outcomes = callOutcomes.length;
    const calls = 20_000 * outcomes;
    for (let index = 0; index < calls; index++)
      collector.add(
        `p${index % 2}/${(index >> 1) % 6}`,
        callOutcomes[index % outcomes] ?? "admitted",
        index * 3,
      );
    const { rows, untilMs } = collector.finish();
    const marks = rows.flatMap((row) => row.marks);
    expect(marks).toHaveLength(timelineMarksMost);
    expect(untilMs).toBe(timelineMarksMost * 3);
    expect(Math.max(...marks.map(({ atMs }) => atMs))).toBeLessThan(untilMs ?? 0);
    expect(rows.reduce((sum, { counts }) => sum + counts.unanswered, 0)).toBe(calls / outcomes);
    for (const { marks } of rows)
      expect(marks.map(({ atMs }) => atMs)).toEqual(marks.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
  });

  it("stays bounded where answers come out of order", () => {
    const collector = new TimelineCollector(populations(12));
    for (let index = 0; index < 20_000; index++)
      collector.add(`p0/${index % 12}`, "admitted", 1_000_000 - index * 40);
    const { rows, untilMs } = collector.finish();
    expect(rows.flatMap(({ marks }) => marks).length).toBeLessThanOrEqual(timelineMarksMost);
    for (const { marks } of rows) for (const { atMs } of marks) expect(atMs).toBeLessThan(untilMs ?? 0);
  });

  it("merges what no picture could tell apart, no more than it must, and loses none: bursts every minute", () => {
    const collector = new TimelineCollector(populations(12));
    const calls = Array.from({ length: 100 * 120 }, (_, call) => ({
      client: `p0/${call % 12}`,
      atMs: Math.floor(call / 120) * 60_000 + Math.floor((call % 120) / 12) * 5,
    }));
    for (const { client, atMs } of calls) collector.add(client, "admitted", atMs);
    const { rows, slotMs, untilMs } = collector.finish();
    const marksIn = (lengthMs: number): number =>
      new Set(calls.map(({ client, atMs }) => `${client} ${Math.floor(atMs / lengthMs)}`)).size;
    expect(untilMs).toBeNull();
    expect(slotMs).toBeLessThan((100 * 60_000) / 1_500);
    const marks = rows.flatMap((row) => row.marks);
    expect(marks).toHaveLength(marksIn(slotMs));
    expect(marks.length).toBeLessThanOrEqual(timelineMarksMost);
    expect(marksIn(slotMs / 2)).toBeGreaterThan(0.75 * timelineMarksMost);
    expect(marks.reduce((sum, { count }) => sum + count, 0)).toBe(calls.length);
  });
});
