// One run by Node and the same clients driven one by one, as k6 does it: the same calls at the same instants.
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import ciFleet from "../../scenarios/ci-fleet.ts";
import herd from "../../scenarios/herd.ts";
import loneClient from "../../scenarios/lone-client.ts";
import steady from "../../scenarios/steady.ts";
import type { Caller } from "../../src/load/callers.ts";
import { drive, type StillWorld } from "../../src/load/drive.ts";
import { plannedStays, stayInRun } from "../../src/load/stays.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import { callPath } from "../../src/scenario/calls.ts";
import { type ClientEvent, type PlannedCall, startRecord } from "../../src/scenario/client.ts";
import type { Stay } from "../../src/scenario/fleet.ts";
import {
  aimd,
  burst,
  defineScenario,
  exponential,
  looker,
  pager,
  pipelinesQuery,
  poller,
  rest,
  retryAfter,
  type Scenario,
  sessions,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import { startDelayMs } from "../../src/scenario/scenario.ts";
import { userPlace } from "../../src/scenario/seats.ts";
import { newFolder, readTraceFile, removed } from "./support.ts";
import { runVirtually, VirtualClock, virtualNetwork } from "./virtual-run.ts";

const start = 1_800_000_000_000;
const durationMs = 20_000;
const user = rest("/v2/user");
const builds = rest("/v2/organizations/:org/builds?page=:page");

const mixed = defineScenario({
  name: "mixed",
  duration: "20s",
  populations: {
    workers: {
      clients: 3,
      startWithin: "900ms",
      behaviour: worker({
        calls: [{ call: user, weight: 2 }, { call: pipelinesQuery(9) }],
        think: { median: "200ms", p95: "900ms" },
      }),
      onRefused: waitReset({ of: "both", jitter: "300ms" }),
    },
    eager: { clients: 1, behaviour: worker({ calls: [{ call: user }] }), onRefused: retryAfter() },
    pollers: { clients: 2, behaviour: poller({ every: "330ms", call: user }) },
    crowds: {
      clients: 2,
      behaviour: burst({ call: user, size: 9, every: "1700ms" }),
      onRefused: exponential({ first: "200ms", most: "3s" }),
    },
    pagers: { clients: 1, behaviour: pager({ call: builds, pages: 5, parallel: 3, every: "2s" }) },
    polite: { clients: 1, behaviour: looker({ calls: [{ call: user }], leave: 2, think: "70ms" }) },
    tuned: { clients: 1, behaviour: aimd({ call: user, start: 240 }) },
    // Clients of one user begin by events of its own.
    repositories: {
      clients: 5,
      user: 2,
      behaviour: sessions({
        of: worker({ calls: [{ call: user }], think: "400ms", jobs: 4 }),
        wakes: { at: "* * * * *", late: "9s", within: "1s", by: "user" },
      }),
    },
    visitors: {
      arrivals: { executor: "poisson-arrival-rate", rate: 3, preAllocatedVUs: 9 },
      behaviour: worker({ calls: [{ call: user }], think: "50ms", jobs: 3 }),
    },
    crowd: {
      arrivals: {
        executor: "ramping-arrival-rate",
        startRate: 3_000,
        stages: [
          { target: 3_000, duration: "100ms" },
          { target: 1, duration: "100ms" },
        ],
        preAllocatedVUs: 9,
      },
      behaviour: burst({ call: user, size: 1 }),
    },
    // The run starts at a full minute.
    ticks: {
      arrivals: { executor: "cron", schedule: "* * * * *", clients: 9, spread: "5s", preAllocatedVUs: 9 },
      behaviour: burst({ call: user, size: 1 }),
    },
    fleet: {
      arrivals: {
        executor: "ramping-vus",
        startVUs: 1,
        stages: [
          { target: 4, duration: "6s" },
          { target: 0, duration: "6s" },
        ],
      },
      behaviour: worker({ calls: [{ call: user }], think: "400ms" }),
    },
  },
});

let folder = "";
beforeAll(async () => {
  folder = await newFolder();
});
afterEach(() => void vi.useRealTimers());
afterAll(() => removed(folder));

interface Made {
  readonly at: number;
  readonly path: string;
  readonly attempt: number;
  readonly wanted: number;
}

interface Life {
  readonly name: string;
  readonly place: number;
  readonly index: number;
  readonly caller: Caller;
}

/** Every client as a user of its own, so that its calls are known by their token. */
function livesOf(scenario: Scenario): Life[] {
  return scenario.populations.flatMap((population, place) => {
    const count = population.clients ?? [...plannedStays(scenario, place)].length;
    return Array.from({ length: count }, (_, index) => {
      const name = `${population.name}/${index}`;
      return { name, place, index, caller: { organization: "acme", user: name, token: name } };
    });
  });
}

/** Returns the answer to a client's n-th call, whoever else calls: one in four is refused. */
function answerOf(name: string, call: number) {
  let draw = call * 2_654_435_761;
  for (const letter of name) draw = Math.imul(draw ^ letter.charCodeAt(0), 2_246_822_519);
  draw = Math.imul(draw ^ (draw >>> 15), 3_266_489_917) >>> 0;
  const isRefused = draw % 4 === 0;
  return {
    afterMs: 3 + (draw % 97),
    status: isRefused ? 429 : 200,
    remaining: isRefused ? 0 : 1 + (draw % 5),
    reset: 1 + (draw % 3),
    hasNextPage: draw % 7 !== 0,
  };
}

/** A client alone, standing still where it can. */
async function drivenAlone(scenario: Scenario, { name, place, index, caller }: Life): Promise<Made[]> {
  const population = scenario.populations[place];
  if (population === undefined) throw new RangeError(`no population ${place}`);
  const { behaviour, onRefused, arrivals } = population;
  const record = startRecord(behaviour, scenario.seed, place, index, userPlace(population, index));
  const endMs = start + durationMs;
  let stay: Stay | null = { startMs: start, endMs };
  if (arrivals === null) stay = { startMs: start + startDelayMs(population, record), endMs };
  else {
    const planned = [...plannedStays(scenario, place)][index];
    stay = planned === undefined ? null : stayInRun(arrivals, planned, start, endMs);
  }
  if (stay === null) return [];
  vi.useFakeTimers({ now: stay.startMs });
  const made: Made[] = [];
  const begin = ({ template, page, attempt, wantedMs }: Readonly<PlannedCall>): number => {
    const call = behaviour.calls[template];
    const path = call === undefined ? "" : callPath(call, caller.organization, page);
    return made.push({ at: Date.now() - start, path, attempt, wanted: wantedMs - start }) - 1;
  };
  const end = (event: ClientEvent, number: number): void => {
    const { status, remaining, reset, hasNextPage } = answerOf(name, number);
    const shown = { limit: 9, remaining, reset, userLimit: 9, userRemaining: remaining, userReset: reset };
    Object.assign(event, { nowMs: Date.now(), status, hasNextPage, retryAfter: reset, ...shown });
  };
  const world: StillWorld = {
    now: () => Date.now(),
    sleep: (ms) => void vi.setSystemTime(Date.now() + ms),
    at: (atMs, action) => void setTimeout(action, atMs - Date.now()),
    request(call, event) {
      const number = begin(call);
      vi.setSystemTime(Date.now() + answerOf(name, number).afterMs);
      end(event, number);
    },
    send(call, event, told) {
      const number = begin(call);
      setTimeout(() => {
        end(event, number);
        told.answered();
      }, answerOf(name, number).afterMs);
    },
  };
  const driving = drive({ behaviour, onRefused, record, ...stay }, world);
  await vi.runAllTimersAsync();
  await driving;
  return made;
}

/** All of them at once, by Node; timers are over a millisecond early. */
async function drivenTogether(scenario: Scenario, lives: readonly Life[]): Promise<Map<string, Made[]>> {
  const clock = new VirtualClock(start, 1);
  const paths = new Map<string, string[]>(lives.map(({ name }) => [name, []]));
  const network = virtualNetwork(clock, ({ headers, path }) => {
    const words = headers as string[];
    const name = words[words.indexOf("Authorization") + 1]?.slice("Bearer ".length) ?? "";
    const sent = paths.get(name) ?? [];
    const { afterMs, status, remaining, reset, hasNextPage } = answerOf(name, sent.push(path) - 1);
    const window = (prefix: string) => ({
      [`${prefix}limit`]: "9",
      [`${prefix}remaining`]: String(remaining),
      [`${prefix}reset`]: String(reset),
    });
    const shown = { ...window("ratelimit-"), ...window("ratelimit-user-"), "retry-after": String(reset) };
    return { afterMs, status, headers: hasNextPage ? { ...shown, link: '<x>; rel="next"' } : shown };
  });
  const trace = join(folder, `${scenario.name}.ndjson`);
  const { account } = await runVirtually(scenario, {
    callers: scenario.populations.map((_, place) =>
      lives.filter((life) => life.place === place).map(({ caller }) => caller),
    ),
    base: "http://127.0.0.1:1",
    timeoutMs: 30_000,
    trace,
    clock,
    open: network.open,
  });
  expect(account).toMatchObject({ lost: 0, cutOff: 0, errors: [] });
  expect(clock.timersMost).toBe(1);
  const { calls } = await readTraceFile(trace);
  const made = new Map<string, Made[]>(lives.map(({ name }) => [name, []]));
  for (const { client, call, sent, wanted = 0, attempt = 0 } of calls.toSorted((a, b) => a.call - b.call))
    made.get(client)?.push({
      at: sent - start,
      path: paths.get(client)?.[call] ?? "",
      attempt,
      wanted: wanted - start,
    });
  return made;
}

describe.each([mixed, steady, ciFleet, herd, loneClient])("the clients of $name", (written) => {
  test("make the same calls at the same instants, all by one timer that is over too early", async () => {
    const scenario = adjustScenario(written, { durationMs, startAtMs: start });
    const lives = livesOf(scenario);
    const together = await drivenTogether(scenario, lives);
    let total = 0;
    for (const life of lives) {
      const alone = await drivenAlone(scenario, life);
      expect(together.get(life.name), life.name).toEqual(alone);
      total += alone.length;
    }
    expect(total).toBeGreaterThan(30);
    if (written === mixed)
      expect(
        lives.filter(({ name }) => name.startsWith("ticks/") && together.get(name)?.length),
      ).toHaveLength(9);
  });
});
