// Clients that come and go, for real, whoever drives: each comes when the simulator lets it come, and a fleet's go when they
// are to go.
// @module-tag real-time
// @module-tag paced
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { LoadResult } from "../../src/load/load.ts";
import { possibleStays } from "../../src/scenario/scenario.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { judge } from "../../src/verify/judge.ts";
import { testFolder } from "./folder.ts";
import { countingService, drivers, fakeTarget, readTraceFile, scenarioFile, wideRules } from "./support.ts";

const folder = testFolder();

const kinds = `duration: "4s", populations: {
  random: { arrivals: { executor: "poisson-arrival-rate", rate: 8, preAllocatedVUs: 20 }, behaviour: burst({ call: user, size: 1 }) },
  day: { arrivals: { executor: "business-day", rates: Array(24).fill(18_000), preAllocatedVUs: 20 }, behaviour: burst({ call: user, size: 1 }) },
  fleet: {
    arrivals: { executor: "ramping-vus", startVUs: 1, stages: [{ target: 5, duration: "1s" }, { target: 1, duration: "1s" }, { target: 3, duration: "1s" }] },
    behaviour: worker({ calls: [{ call: user }], think: { median: "50ms", p95: "90ms" } }),
  },
}`;
for (const { driver, needs, run } of drivers)
  describe(`by ${driver}`, needs, () => {
    describe("clients come as they would in virtual time", () => {
      let result: LoadResult;
      let calls: TraceCall[];
      let startedAt: number;
      beforeAll(async () => {
        const path = await scenarioFile(folder.path, "kinds", kinds);
        const target = {
          start: ({ tokens }: { tokens: Parameters<typeof countingService>[1] }) =>
            countingService(wideRules, tokens),
        };
        result = await run(path, join(folder.path, "kinds"), { adjustments: { rules: wideRules }, target });
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

      /** When each client first wanted to call, by its index. What is sent may be late on a busy machine, this is not. */
      const wantedBy = (population: string): Map<number, number> => {
        const first = new Map<number, number>();
        for (const { client, wanted = Number.NaN } of of(population)) {
          const index = Number(client.split("/")[1]);
          first.set(index, Math.min(wanted, first.get(index) ?? wanted));
        }
        return first;
      };

      test.each([
        ["random", 0, false],
        ["day", 1, true],
        ["fleet", 2, false],
      ] as const)("%s: each at its instant", (name, place, byTheClock) => {
        const stays = [...possibleStays(result.scenario, place)];
        const wanted = wantedBy(name);
        // By the run's start: where that was for this population, its first client shows.
        const sinceMs = byTheClock
          ? result.scenario.startAtMs
          : (wanted.get(0) ?? Number.NaN) - (stays[0]?.startMs ?? Number.NaN);
        for (const [index, ms] of wanted) expect(ms - sinceMs).toBe(stays[index]?.startMs);
        // By the clock, nobody comes who was due before k6 had begun: late, that is, and never in a burst.
        const begun = startedAt + (byTheClock ? 1_000 : 0);
        const expected = stays.filter(
          ({ startMs }) => sinceMs + startMs >= begun && sinceMs + startMs < startedAt + 3_000,
        );
        expect(wanted.size).toBeGreaterThanOrEqual(expected.length);
        for (const ms of wanted.values()) expect(ms).toBeGreaterThanOrEqual(startedAt);
        expect(expected.length).toBeGreaterThanOrEqual(3);
      });

      test("nothing is sent before it is wanted", () => {
        expect(calls.length).toBeGreaterThan(50);
        for (const call of calls) expect(call.sent).toBeGreaterThanOrEqual(call.wanted ?? Number.NaN);
      });

      test("fleet: nobody wants anything after the end of the stay", () => {
        const stays = [...possibleStays(result.scenario, 2)];
        const sinceMs = (wantedBy("fleet").get(0) ?? Number.NaN) - (stays[0]?.startMs ?? Number.NaN);
        for (const { client, wanted = Number.NaN } of of("fleet"))
          expect(wanted - sinceMs).toBeLessThan(stays[Number(client.split("/")[1])]?.endMs ?? Number.NaN);
      });
    });

    test("a scenario's time-out is the requests': a slow answer is none", async () => {
      const slow = await fakeTarget((_request, response) => {
        setTimeout(() => response.end("{}"), 30_000).unref();
      });
      try {
        const body = `duration: "1s", outages: [{ at: 0, for: "1s", answer: 503 }], network: { timeout: "300ms" }, populations: { one: { clients: 1, behaviour: burst({ call: user, size: 1 }) } }`;
        const path = await scenarioFile(folder.path, "slow", body);
        const result = await run(path, join(folder.path, "slow"), {
          target: { start: async () => ({ url: slow.url, close: async () => {} }) },
          adjustments: { rules: wideRules },
        });
        const { calls } = await readTraceFile(result.trace);
        expect(result.notes[0]).toBe("the scenario's outages: in virtual time only, the target is as it is");
        expect(calls).toHaveLength(1);
        expect(calls[0]).toMatchObject({ status: 0, error: "timeout", limit: null });
      } finally {
        await slow.close();
      }
    }, 60_000);
  });
