// Recordings with next to nothing in them: each is refused with a code, or fitted to what little there is.
import { describe, expect, test } from "vitest";
import { fitScenario } from "../../sim/fit/fit.ts";
import { Recorder, recordedUntil } from "../../sim/fit/recording.ts";
import { fittedScenario, fittedSource } from "../../sim/fit/source.ts";
import { simulate } from "../../sim/simulate.ts";
import type { LogBatch } from "../../src/logs/rows.ts";
import { poller, rest, waitReset, worker } from "../../src/scenario/index.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";
import { codedError } from "../support/coded-error.ts";
import { recorded, traced, world } from "./recordings.ts";

const pipelines = rest("/v2/organizations/:org/pipelines");

const header: TraceHeader = {
  format: "spillway-trace",
  version: 1,
  source: "other",
  scenario: null,
  seed: null,
  target: null,
  startedAt: Date.UTC(2026, 0, 1),
  clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
  rules: null,
  complete: false,
  lost: 0,
};

function call(atMs: number, more: Partial<TraceCall> = {}): TraceCall {
  return {
    sent: header.startedAt + atMs,
    received: header.startedAt + atMs + 10,
    client: "one/0",
    call: atMs,
    org: "acme",
    user: "alice",
    scope: "rest",
    kind: "call",
    cost: 1,
    status: 200,
    scopeName: null,
    limit: null,
    remaining: null,
    reset: null,
    userScopeName: null,
    userLimit: null,
    userRemaining: null,
    userReset: null,
    ...more,
  };
}

/** Simulates what was fitted: it must be a scenario that runs. */
const callsOf = (calls: readonly TraceCall[]): number => {
  const scenario = fittedScenario(fitScenario(recorded(header, calls)));
  return [...simulate(scenario).calls].length;
};

describe("nothing to fit", () => {
  test("an empty trace", () => {
    const error = codedError(() => recorded(header, []));
    expect(error.code).toBe("TRACE_INVALID");
    expect(error.message).toBe(
      "there is nothing to fit\n  FILES: got no call, allowed: a trace or a log with at least one call of the API",
    );
  });

  test("calls that no quota counts alone", () => {
    const error = codedError(() => recorded(header, [call(0, { kind: "other", status: 401, cost: null })]));
    expect(error.message).toContain("no call but 1 that no quota counts");
  });
});

describe("little to fit", () => {
  test("one call is one client with one job", () => {
    const model = fitScenario(recorded(header, [call(0)]));
    expect(model.populations).toMatchObject([
      { callers: 1, calls: 1, behaviour: { kind: "worker" }, onRefused: { kind: "unknown" } },
    ]);
    expect(callsOf([call(0)])).toBeGreaterThanOrEqual(1);
  });

  test("two calls", () => {
    expect(callsOf([call(0), call(4000)])).toBeGreaterThanOrEqual(2);
  });

  test("one caller alone", () => {
    const { populations, unexplained } = fitScenario(
      traced(world({ one: { clients: 1, behaviour: poller({ every: "7s", call: pipelines }) } })),
    );
    expect(populations).toMatchObject([{ callers: 1, behaviour: { kind: "poller", everyMs: 7000 } }]);
    expect(unexplained).toBe(0);
  });

  test("refusals alone, and nothing after them: unknown, and said in the source", () => {
    const calls = [0, 1, 2].map((n) =>
      call(n, { client: `one/${n}`, user: `u${n}`, status: 429, attempt: 0 }),
    );
    const model = fitScenario(recorded(header, calls));
    expect(model.populations.map(({ onRefused }) => onRefused.kind)).toEqual(["unknown"]);
    expect(fittedSource(model)).toContain(
      "// Nothing was seen after a refusal: what they do then is unknown, none is assumed.\n      onRefused: none(),",
    );
    expect(callsOf(calls)).toBeGreaterThanOrEqual(1);
  });

  test("no refusals at all: unknown, and said in the source", () => {
    expect(fittedSource(fitScenario(recorded(header, [call(0), call(9000)])))).toContain(
      "// None was refused: what they would do is unknown, none is assumed.\n      onRefused: none(),",
    );
  });

  test("calls without answers", () => {
    expect(callsOf([0, 5000, 10_000, 15_000].map((ms) => call(ms, { status: 0 })))).toBeGreaterThanOrEqual(4);
  });

  test("calls all at one instant", () => {
    const calls = Array.from({ length: 50 }, (_, n) => call(0, { call: n }));
    expect(fitScenario(recorded(header, calls)).populations).toMatchObject([
      { behaviour: { kind: "burst", size: 50 } },
    ]);
    expect(callsOf(calls)).toBeGreaterThanOrEqual(50);
  });

  test("costs unknown, users unknown, names that are no names", () => {
    const calls = [0, 3000, 6000, 9000].map((ms) =>
      call(ms, { client: "ü ber/ 1", user: null, cost: null, org: "globex" }),
    );
    const model = fitScenario(recorded(header, calls));
    expect(model.populations).toMatchObject([{ name: "poller-3s", organization: "globex" }]);
    expect(callsOf(calls)).toBeGreaterThanOrEqual(4);
  });

  test("organizations whose names no scenario can say", () => {
    const orgs = ["a b", "a-b", "\u001b[31m", "acme"];
    const calls = orgs.flatMap((org, n) =>
      [0, 3000, 6000, 9000].map((ms) => call(ms + n, { org, client: `one/${n}`, user: `u${n}` })),
    );
    const { populations } = fitScenario(recorded(header, calls));
    expect(populations.map(({ organization }) => organization).sort()).toEqual([
      "31m",
      "a-b",
      "a-b-2",
      "acme",
    ]);
    expect(callsOf(calls)).toBeGreaterThanOrEqual(16);
  });

  test("a start that the header puts decades before the first call is none", () => {
    const recording = recorded({ ...header, startedAt: 0 }, [call(0), call(4000)]);
    expect(recording.startedAtMs).toBe(header.startedAt);
  });

  test.each([
    [0, true],
    [1, false],
  ])("a start a day and %d ms before the first call is one: %s", (moreMs, isStart) => {
    const startedAt = header.startedAt - 24 * 3_600_000 - moreMs;
    const recording = recorded({ ...header, startedAt }, [call(0), call(4000)]);
    expect(recording.startedAtMs).toBe(isStart ? startedAt : header.startedAt);
  });

  test("calls of quotas need a policy by which they are told", () => {
    const words = "calls of quotas are told by a policy";
    expect(() => new Recorder().addQuotas({} as never)).toThrow(new RangeError(words));
  });

  test("a year between two calls is a mistake", () => {
    const error = codedError(() => recorded(header, [call(0), call(400 * 24 * 3_600_000)]));
    expect(error.code).toBe("TRACE_INVALID");
    expect(error.message).toContain("calls from 2026-01-01T00:00:00.000Z to 2027-02-05T00:00:00.010Z");
  });

  test("more at once than any client can have on the way", () => {
    const calls = Array.from({ length: 10_001 }, (_, n) => call(0, { call: n }));
    expect(fitScenario(recorded(header, calls)).populations).toMatchObject([
      { behaviour: { kind: "worker" } },
    ]);
    expect(callsOf(calls)).toBeGreaterThan(0);
  });

  test("the first part of a recording that ends before anything was answered", () => {
    const recording = recorded(header, [call(0), call(4000), call(8000)]);
    expect(recordedUntil(recording, header.startedAt + 5000).calls).toBe(2);
    expect(fitScenario(recordedUntil(recording, header.startedAt)).populations).toEqual([]);
  });
});

describe("rules", () => {
  test("are those that headers showed, where the trace names none", () => {
    const shown = { limit: 80, reset: 41, userLimit: 30, userReset: 17 };
    const { rules, rulesFrom } = fitScenario(
      recorded(header, [call(0, shown), call(1000, { ...shown, reset: 40 })]),
    );
    expect(rulesFrom).toBe("headers");
    expect(rules.organization.rest).toEqual({ limit: 80, windowSeconds: 60, enforced: true });
    expect(rules.user.rest).toEqual({ limit: 30, windowSeconds: 20 });
    expect(rules.organization.graphql).toEqual({ limit: 20_000, windowSeconds: 300, enforced: true });
  });

  test("are the defaults where nothing shows them, and the source says so", () => {
    const model = fitScenario(recorded(header, [call(0)]));
    expect(model.rulesFrom).toBe("defaults");
    expect(fittedSource(model)).toContain("// Nothing says what the rules were: these are the defaults.");
  });

  test("are those that were given, before the trace's own", () => {
    const behaviour = worker({ calls: [{ call: pipelines }], think: "1s" });
    const recording = traced(world({ a: { clients: 3, behaviour, onRefused: waitReset({ of: "both" }) } }));
    const rules = { ...fitScenario(recording).rules, users: { "acme/x": { rest: { limit: 7 } } } };
    expect(fitScenario(recording, { rules })).toMatchObject({ rules, rulesFrom: "given" });
  });
});

describe("a programmer's mistakes", () => {
  test("a name that no scenario can have", () => {
    expect(() => fitScenario(recorded(header, [call(0)]), { name: "no name" })).toThrow(RangeError);
  });

  test("a batch with a caller that the log has not", () => {
    const batch: LogBatch = {
      count: 1,
      atMs: Float64Array.of(1),
      durationMs: Float64Array.of(1),
      caller: Int32Array.of(3),
      kind: Uint8Array.of(0),
      cost: Int32Array.of(1),
      actual: Int32Array.of(-1),
      status: Int16Array.of(200),
    };
    expect(() => new Recorder().addBatch(batch, [])).toThrow(RangeError);
  });
});
