// The k6 entry, which a bundle exports. `prepare` runs in k6's init, once in each VU.
import "./missing.ts";
import { sleep } from "k6";
import exec from "k6/execution";
import type { Options } from "k6/options";
import { type ClientRecord, startRecord } from "../../scenario/client.ts";
import type { Stay } from "../../scenario/fleet.ts";
import { type Population, type Scenario, startDelayMs } from "../../scenario/scenario.ts";
import { userPlace } from "../../scenario/seats.ts";
import { drive } from "../drive.ts";
import { stayInRun } from "../stays.ts";
import { Client, CutOff } from "./client.ts";
import { k6Options } from "./options.ts";
import { readSettings, type Settings } from "./settings.ts";

/** The members that a bundle exports. */
export interface PreparedBundle {
  readonly options: Options;
  client(): Promise<void>;
  /** Returns k6's own figures as a file in place of its text. */
  handleSummary(data: unknown): Record<string, string>;
}

/** @param scenario a scenario file's default export */
export function prepare(scenario: Scenario): PreparedBundle {
  const settings = readSettings(scenario);
  return {
    options: k6Options(settings),
    client: () => runClient(settings),
    handleSummary: (data) => ({ [__ENV["SUMMARY"] ?? "summary.json"]: JSON.stringify(data, null, 2) }),
  };
}

/**
 * Runs a client's whole life. Its first line tells that it began, and when its population did; its last one that it
 * ended. A client without a last line was cut off, and its calls on the way are lost. k6 would hide a behaviour that
 * throws (it ends with 0). The error is therefore written down and ends the run.
 */
async function runClient(settings: Settings): Promise<void> {
  const { scenario } = settings;
  const { name, iterationInTest: index, startTime } = exec.scenario;
  const place = scenario.populations.findIndex((one) => one.name === name);
  const population = scenario.populations[place];
  if (population === undefined)
    return exec.test.abort(
      `no population ${name}: leave --vus, --iterations, --duration and --stage out, and give the duration by -e DURATION_MS`,
    );
  const record = startRecord(population.behaviour, scenario.seed, place, index, userPlace(population, index));
  const runEndMs = startTime + scenario.durationMs;
  const stay = stayOf(settings, place, population, record, index, startTime, runEndMs);
  if (stay === null || stay.startMs >= stay.endMs) return;
  const { startMs, endMs } = stay;
  const callers = settings.callers[place] ?? [];
  const caller = callers[index % callers.length];
  if (caller === undefined) throw new Error(`no user for ${name}/${index}`);
  const client = `${name}/${index}`;
  sleepUntil(startMs);
  const write = (line: string): void => {
    if (settings.trace) console.log(line);
  };
  write(`{"start":"${client}","at":${startTime}}`);
  try {
    const { behaviour, onRefused } = population;
    const world = new Client(settings, population, client, caller);
    await drive({ behaviour, onRefused, record, startMs, endMs }, world);
  } catch (thrown) {
    if (thrown instanceof CutOff) return;
    const message = thrown instanceof Error ? `${thrown.message}\n${thrown.stack ?? ""}` : String(thrown);
    write(JSON.stringify({ error: client, message }));
    write(`{"end":"${client}"}`);
    exec.test.abort(`client ${client} failed: ${message}`);
  }
  write(`{"end":"${client}"}`);
}

/** Returns when a client is meant to begin and to end, ms since the epoch; `null` if it never comes. */
function stayOf(
  settings: Settings,
  place: number,
  population: Population,
  record: ClientRecord,
  index: number,
  runStartMs: number,
  runEndMs: number,
): Stay | null {
  const stays = settings.stays[place] ?? null;
  if (population.arrivals === null)
    return { startMs: runStartMs + startDelayMs(population, record), endMs: runEndMs };
  if (stays === null) return { startMs: Date.now(), endMs: runEndMs };
  const stay = stays[index];
  return stay === undefined ? null : stayInRun(population.arrivals, stay, runStartMs, runEndMs);
}

function sleepUntil(atMs: number): void {
  const waitMs = atMs - Date.now();
  if (waitMs > 0) sleep(waitMs / 1000);
}
