// Recordings for tests: what a scenario leaves, as a trace with all that it tells, or as a log that tells users and
// instants alone.
import { Recorder, type Recording } from "../../sim/fit/recording.ts";
import { simulate } from "../../sim/simulate.ts";
import { GRAPHQL_CALL, type LogBatch, REST_CALL, STATUS_CALL } from "../../src/logs/rows.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import type { PopulationInput, Scenario, ScenarioInput } from "../../src/scenario/scenario.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";

export function world(
  populations: Readonly<Record<string, PopulationInput>>,
  more: Partial<ScenarioInput> = {},
): Scenario {
  return defineScenario({ name: "recorded", duration: "10m", populations, ...more });
}

export function recorded(header: TraceHeader, calls: Iterable<TraceCall>): Recording {
  const recorder = new Recorder(header);
  for (const call of calls) recorder.add(call);
  return recorder.finish();
}

/** Returns the trace of a simulation of the scenario. */
export function traced(scenario: Scenario, seed = 1): Recording {
  const { header, calls } = simulate(scenario, { seed });
  return recorded(header, calls);
}

/** The same, under clients' names that tell nothing of their populations. */
export function tracedNameless(scenario: Scenario, seed = 1): Recording {
  const { header, calls } = simulate(scenario, { seed });
  const names = new Map<string, string>();
  const nameOf = (client: string): string => {
    const name = names.get(client) ?? `${names.size}`;
    names.set(client, name);
    return name;
  };
  const nameless = [...calls].map((call) => ({ ...call, client: nameOf(call.client) }));
  return recorded(header, nameless);
}

export interface LoggedOptions {
  readonly seed?: number;
  /** As coarse as the log's clock is, in ms. */
  readonly resolutionMs?: number;
}

/** Returns the server's log of the same simulation. */
export function logged(scenario: Scenario, { seed = 1, resolutionMs = 1 }: LoggedOptions = {}): Recording {
  const { calls } = simulate(scenario, { seed });
  const rows = [...calls].sort((a, b) => a.sent - b.sent);
  const callers: { organization: string; user: string }[] = [];
  const places = new Map<string, number>();
  const placeOf = ({ org, user }: TraceCall): number => {
    const name = `${org}/${user}`;
    const known = places.get(name);
    if (known !== undefined) return known;
    places.set(name, callers.length);
    return callers.push({ organization: org, user: user ?? "" }) - 1;
  };
  const batch: LogBatch = {
    count: rows.length,
    atMs: new Float64Array(rows.map(({ sent }) => Math.floor(sent / resolutionMs) * resolutionMs)),
    durationMs: new Float64Array(rows.map(({ sent, received }) => received - sent)),
    caller: new Int32Array(rows.map(placeOf)),
    kind: Uint8Array.from(rows, ({ kind, scope }) =>
      kind === "status" ? STATUS_CALL : scope === "rest" ? REST_CALL : GRAPHQL_CALL,
    ),
    cost: new Int32Array(rows.map(({ cost }) => cost ?? 0)),
    actual: new Int32Array(rows.map(({ actual }) => actual ?? -1)),
    status: new Int16Array(rows.map(({ status }) => status)),
  };
  const recorder = new Recorder();
  recorder.addBatch(batch, callers);
  return recorder.finish();
}

/** Returns a log of one caller's calls: instant, duration, status. */
export function loggedCalls(
  calls: readonly (readonly [atMs: number, durationMs: number, status: number])[],
): Recording {
  const recorder = new Recorder();
  const zeros = new Int32Array(calls.length);
  recorder.addBatch(
    {
      count: calls.length,
      atMs: Float64Array.from(calls, ([atMs]) => atMs),
      durationMs: Float64Array.from(calls, ([, durationMs]) => durationMs),
      status: Int16Array.from(calls, ([, , status]) => status),
      kind: new Uint8Array(calls.length).fill(REST_CALL),
      ...{ caller: zeros, cost: zeros, actual: new Int32Array(calls.length).fill(-1) },
    },
    [{ organization: "acme", user: "ann" }],
  );
  return recorder.finish();
}
