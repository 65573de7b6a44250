// Clients that k6 has no word for, for real: each comes when the simulator lets it come, and a fleet's go when they
// are to go.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LoadResult } from "../../src/load/load.ts";
import { staysOf } from "../../src/scenario/scenario.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { judge } from "../../src/verify/judge.ts";
import {
  countingService,
  fakeTarget,
  k6,
  newFolder,
  readTraceFile,
  removed,
  run,
  scenarioFile,
  wideRules,
} from "./support.ts";

let folder = "";
beforeAll(async () => {
  folder = await newFolder();
  await k6();
});
afterAll(() => removed(folder));

const kinds = `duration: "4s", populations: {
  random: { arrivals: { executor: "poisson-arrival-rate", rate: 8, preAllocatedVUs: 20 }, behaviour: burst({ call: user, size: 1 }) },
  day: { arrivals: { executor: "business-day", rates: Array(24).fill(18_000), preAllocatedVUs: 20 }, behaviour: burst({ call: user, size: 1 }) },
  cron: { arrivals: { executor: "cron", schedule: "* * * * *", clients: 9, spread: "1s", preAllocatedVUs: 9 }, behaviour: burst({ call: user, size: 1 }) },
  fleet: {
    arrivals: { executor: "ramping-vus", startVUs: 1, stages: [{ target: 5, duration: "1s" }, { target: 1, duration: "1s" }, { target: 3, duration: "1s" }] },
    behaviour: worker({ calls: [{ call: user }], think: "50ms" }),
  },
}`;
/** A VU that has slept may wake up so late on a machine with a load. */
const lateMs = 400;

describe("clients come as they would in virtual time", () => {
  let result: LoadResult;
  let calls: TraceCall[];
  let startedAt: number;
  beforeAll(async () => {
    const path = await scenarioFile(folder, "kinds", kinds);
    const target = {
      start: ({ tokens }: { tokens: Parameters<typeof countingService>[1] }) =>
        countingService(wideRules, tokens),
    };
    result = await run(path, join(folder, "kinds"), { adjustments: { rules: wideRules }, target });
    const { header, calls: read } = await readTraceFile(result.trace);
    calls = read;
    startedAt = header.startedAt;
    const lines = calls.map((call, index) => ({ line: index + 2, call }));
    expect(await judge(header, lines)).toMatchObject({ verdict: "ok", violations: [] });
  }, 60_000);

  const of = (population: string): TraceCall[] =>
    calls.filter(({ client }) => client.startsWith(`${population}/`));

  test("nothing failed, and nobody was cut off", () => {
    expect(result.failure).toBeNull();
    expect(result.account).toMatchObject({ cutOff: 0, lost: 0, unanswered: 0 });
  });

  test.each([
    ["random", 0, () => startedAt],
    ["day", 1, () => result.scenario.startAtMs],
    ["cron", 2, () => result.scenario.startAtMs],
  ] as const)("%s: each at its instant", (name, place, since) => {
    const due = Array.from(staysOf(result.scenario, place), ({ startMs }) => since() + startMs);
    // By the clock, what was due before k6 had begun comes at once, what is due after its end not at all.
    const wanted = of(name).map((call) => call.wanted ?? Number.NaN);
    for (const ms of wanted) expect(due.some((one) => Math.abs(one - ms) <= 20)).toBe(true);
    const expected = due.filter((ms) => ms < startedAt + 4_000 - 20);
    expect(wanted.length).toBeGreaterThanOrEqual(expected.length);
    if (name !== "cron") expect(wanted.length).toBeGreaterThan(8);
    for (const call of of(name)) {
      expect(call.sent).toBeGreaterThanOrEqual(call.wanted ?? Number.NaN);
      expect(call.sent - Math.max(startedAt, call.wanted ?? 0)).toBeLessThan(lateMs);
    }
  });

  test("fleet: each is there for its stay, and sends nothing after it", () => {
    const stays = [...staysOf(result.scenario, 3)];
    expect(new Set(of("fleet").map(({ client }) => client)).size).toBe(stays.length);
    for (const [index, { startMs, endMs }] of stays.entries()) {
      const own = of("fleet").filter(({ client }) => client === `fleet/${index}`);
      const sent = own.map((call) => call.sent - startedAt);
      expect(Math.min(...sent) - startMs).toBeGreaterThanOrEqual(-20);
      expect(Math.min(...sent) - startMs).toBeLessThan(lateMs);
      expect(Math.max(...sent) - endMs).toBeLessThan(20);
    }
  });
});

test("a scenario's time-out is the requests': a slow answer is none", async () => {
  const slow = await fakeTarget((_request, response) => {
    setTimeout(() => response.end("{}"), 3_000);
  });
  try {
    const body = `duration: "1s", network: { timeout: "300ms" }, populations: { one: { clients: 1, behaviour: burst({ call: user, size: 1 }) } }`;
    const path = await scenarioFile(folder, "slow", body);
    const result = await run(path, join(folder, "slow"), {
      target: { start: async () => ({ url: slow.url, close: async () => {} }) },
      adjustments: { rules: wideRules },
    });
    const { calls } = await readTraceFile(result.trace);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({ status: 0, error: "timeout", limit: null });
    expect((calls[0]?.received ?? 0) - (calls[0]?.sent ?? 0)).toBeLessThan(2_500);
  } finally {
    await slow.close();
  }
}, 60_000);
