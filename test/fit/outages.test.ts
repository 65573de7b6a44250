// Outages are fitted: spells in which calls of several callers failed, as scenarios have them.
import { describe, expect, test } from "vitest";
import { fitScenario } from "../../sim/fit/fit.ts";
import { outagesIn } from "../../sim/fit/outages.ts";
import type { RecordedCall } from "../../sim/fit/recorded-call.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { fittedScenario, fittedSource } from "../../sim/fit/source.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { recordingOf, worldRules } from "../worlds/recorded.ts";
import { timeOuts } from "../worlds/time-outs.ts";
import { mondayMs, play, type Row } from "../worlds/world.ts";

/** Two callers, a call each five seconds; `failing` says which of the calls fail, and how. */
function polls(failing: (second: number, caller: number) => Partial<Row> | null): Row[] {
  return Array.from({ length: 2_000 }, (_, tick) =>
    [0, 1].map((caller): Row => {
      const atMs = mondayMs + 5_000 * tick + 1_000 * caller;
      return { atMs, durationMs: 80, user: `user-${caller}`, status: 200, ...failing(5 * tick, caller) };
    }),
  ).flat();
}
/** The same callers' calls, of which those at these places fail. */
const failed = (places: readonly number[]): Row[] =>
  polls(() => null).map((row, index) => (places.includes(index) ? { ...row, status: 503 } : row));
const isOut = (second: number): boolean => second >= 3_000 && second < 3_300;

describe("outages of a recording", () => {
  test("calls of all callers that fail for minutes are one", () => {
    const rows = polls((second) => (isOut(second) ? { status: 503, durationMs: 5 } : null));
    expect(outagesIn(recordingOf(rows))).toEqual([
      { atMs: 3_000_000, forMs: 297_000, answer: 503, share: 1 },
    ]);
  });

  test("calls that wait in vain get no answer", () => {
    const rows = polls((second) => (isOut(second) ? { status: 504, durationMs: 4_000 } : null));
    expect(outagesIn(recordingOf(rows))).toMatchObject([{ answer: "none" }]);
  });

  test("a part of the calls may run into it", () => {
    const rows = polls((second, caller) =>
      isOut(second) && (second / 5 + caller) % 2 === 0 ? { status: 503 } : null,
    );
    expect(outagesIn(recordingOf(rows))).toMatchObject([{ share: 0.5 }]);
  });

  test("begin at the recording's start, and are of five failures at least", () => {
    const first = (calls: number) =>
      polls((second, caller) => (second / 5 + caller < calls && second < 100 ? { status: 503 } : null));
    const failing = (calls: number) => first(calls).filter(({ status }) => status === 503).length;
    expect([failing(2), failing(3)]).toEqual([3, 5]);
    expect(outagesIn(recordingOf(first(3)))).toEqual([{ atMs: 0, forMs: 11_000, answer: 503, share: 1 }]);
    // The fifth failure comes hours later, or came hours before.
    for (const places of [
      [0, 1, 2, 3, 3_000],
      [0, 3_000, 3_001, 3_002, 3_003],
    ])
      expect(outagesIn(recordingOf(failed(places)))).toEqual([]);
  });

  test("need as many other calls if they come before the other failures as if they come after them", () => {
    const found = (calls: number, places: readonly number[]): number =>
      outagesIn(recordingOf(failed(places).slice(0, calls))).length;
    const sizes = Array.from({ length: 51 }, (_, at) => 100 + 4 * at);
    const first = sizes.map((calls) => found(calls, [0, 1, 2, 3, 4, 90]));
    const last = sizes.map((calls) => found(calls, [0, 90, 91, 92, 93, 94]));
    expect(first).toEqual(last);
    expect(new Set(first)).toEqual(new Set([0, 1]));
  });

  test("do not stand out where more than a fifth of the calls failed", () => {
    const found = (count: number) =>
      outagesIn(recordingOf(failed(Array.from({ length: count }, (_, place) => place)))).length;
    expect([800, 801].map(found)).toEqual([1, 0]);
  });

  test("last to the end of the second of their last failure", () => {
    const lengthOf = (lastMs: number) => {
      const calls = Array.from({ length: 2_000 }, (_, place): RecordedCall => {
        const atMs = 500_000 + (place === 30 ? lastMs : 1_000 * place);
        return { atMs, endMs: atMs + 5, status: place >= 20 && place <= 30 ? 503 : 200 } as RecordedCall;
      });
      const recording = { callers: [{ calls }], calls: 2_000, startedAtMs: 500_000 } as unknown as Recording;
      return outagesIn(recording).map(({ atMs, forMs }) => [atMs, forMs]);
    };
    expect([30_000, 30_998, 30_999].map(lengthOf)).toEqual(Array(3).fill([[20_000, 11_000]]));
    expect(lengthOf(29_999)).toEqual([[20_000, 10_000]]);
  });

  test("are fifty at most, the likeliest ones, in the order of time", () => {
    // Of every 1,000 calls the first seven fail, and once six.
    const calls = Array.from({ length: 51_000 }, (_, place): RecordedCall => {
      const fails = place % 1_000 < (place < 30_000 || place >= 31_000 ? 7 : 6);
      return { atMs: 1_000 * place, endMs: 1_000 * place + 5, status: fails ? 503 : 200 } as RecordedCall;
    });
    const found = outagesIn({ callers: [{ calls }], calls: 51_000, startedAtMs: 0 } as unknown as Recording);
    const all = Array.from({ length: 51 }, (_, outage) => outage).filter((outage) => outage !== 30);
    expect(found.map(({ atMs }) => atMs / 1_000_000)).toEqual(all);
  });

  test("one call in a hundred, one caller alone, a log without statuses: none", () => {
    const few = polls((second, caller) => (second % 500 === 0 && caller === 0 ? { status: 503 } : null));
    const own = polls((second, caller) => (isOut(second) && caller === 0 ? { status: 503 } : null));
    const unknown = polls(() => ({ status: 0 }));
    for (const rows of [few, own, unknown]) expect(outagesIn(recordingOf(rows))).toEqual([]);
  });

  test("a week's outages are in the scenario, and its callers try again as soon as they did", () => {
    const { rows } = play(timeOuts, { firstDay: 0, days: 2, seed: 1, agents: 6 });
    const model = fitScenario(recordingOf(rows), { rules: parseRules(worldRules) });
    expect(model.outages.length).toBeGreaterThan(0);
    expect(fittedScenario(model).outages).toEqual(model.outages);
    expect(fittedSource(model)).toMatch(/fallback: "\d+ms",\s+unanswered: true/);
  });
});
