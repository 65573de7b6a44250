// One decision over both windows: our two doors, the bound of two `Map.get(string)`, and npm's limiters
// asked twice (none of them charges two windows all-or-nothing).
import LocalStore from "@fastify/rate-limit/store/LocalStore.js";
import { MemoryStore as ExpressStore } from "express-rate-limit";
import { MemoryStore as HonoStore } from "hono-rate-limiter";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { Limiter } from "../../src/engine/limiter.ts";
import { PolicyLimiter } from "../../src/engine/policy-limiter.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { type BenchRow, median, sized } from "./row.ts";

const START = 1_800_000_000_000;
const ROUNDS = sized(7, 1);
const callCount = sized(500_000, 10_000);

interface World {
  readonly organizations: readonly string[];
  readonly users: readonly string[];
  /** User of each call, drawn at random (a fixed generator, so that all contenders see the same). */
  readonly calls: Int32Array;
  readonly organizationOf: Int32Array;
}

function makeWorld(userCount: number, organizationCount: number, callCount: number): World {
  let state = 12_345;
  const draw = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state >>> 8;
  };
  return {
    organizations: Array.from({ length: organizationCount }, (_, index) => `organization-${index}`),
    users: Array.from({ length: userCount }, (_, index) => `user-${index}`),
    organizationOf: Int32Array.from({ length: userCount }, (_, index) => index % organizationCount),
    calls: Int32Array.from({ length: callCount }, () => draw() % userCount),
  };
}

/** A contender makes a fresh state, then decides every call of the world; it returns something to keep. */
type Contender = (world: World) => () => number | Promise<number>;

const rules = parseRules({});
/** Place of the operation in the policy of the rules. */
const REST = 0;
const at = (index: number): number => START + (index >> 7); // 128 decisions a millisecond: windows do roll
const nameOf = (world: World, user: number): string => world.users[user] ?? "";
const organizationName = (world: World, user: number): string =>
  world.organizations[world.organizationOf[user] ?? 0] ?? "";

const twoMapGets: Contender = (world) => {
  const organizations = new Map(world.organizations.map((name, index) => [name, index]));
  const users = new Map(world.users.map((name, index) => [name, index]));
  return () => {
    let sum = 0;
    for (const user of world.calls)
      sum += (organizations.get(organizationName(world, user)) ?? 0) + (users.get(nameOf(world, user)) ?? 0);
    return sum;
  };
};

const handles: Contender = (world) => {
  const limiter = new PolicyLimiter(policyOf(rules));
  const { core } = limiter;
  const users = Int32Array.from(world.users, (user, index) =>
    limiter.handleOf({ organization: organizationName(world, index), user }, "rest"),
  );
  // A client keeps its handle: it is at hand when it calls, as the names are for the others.
  const callers = world.calls.map((user) => users[user] ?? 0);
  return () => {
    let refused = 0;
    for (let index = 0; index < callers.length; index++)
      if (core.decide(callers[index] ?? 0, REST, 1, at(index)) >= 0) refused += 1;
    return refused;
  };
};

const strings: Contender = (world) => {
  const limiter = new Limiter(rules);
  return () => {
    let refused = 0;
    for (let index = 0; index < world.calls.length; index++) {
      const user = world.calls[index] ?? 0;
      const call = {
        organization: organizationName(world, user),
        user: nameOf(world, user),
        scope: "rest",
        cost: 1,
      } as const;
      if (!limiter.decide(call, at(index)).admitted) refused += 1;
    }
    return refused;
  };
};

/** A peer that counts one key, asked for the organization's and then for the user's. */
function twice(count: (key: string, limit: number) => unknown): (world: World) => Promise<number> {
  return async (world) => {
    for (const user of world.calls) {
      await count(organizationName(world, user), 200);
      await count(nameOf(world, user), 50);
    }
    return 0;
  };
}

const hono: Contender = (world) => {
  const store = new HonoStore();
  store.init({ windowMs: 60_000 } as Parameters<typeof store.init>[0]);
  const run = twice((key) => store.increment(key));
  return () => run(world);
};
const express: Contender = (world) => {
  const store = new ExpressStore();
  store.init({ windowMs: 60_000 } as Parameters<typeof store.init>[0]);
  const run = twice((key) => store.increment(key));
  return async () => run(world);
};
const fastify: Contender = (world) => {
  const store = new LocalStore(false, false, world.users.length + world.organizations.length);
  return () => {
    let total = 0;
    const counted = (_error: unknown, { current }: { current: number }): void => {
      total += current;
    };
    for (const user of world.calls) {
      store.incr(organizationName(world, user), counted, 60_000, 200);
      store.incr(nameOf(world, user), counted, 60_000, 50);
    }
    return total;
  };
};
const flexible: Contender = (world) => {
  const organization = new RateLimiterMemory({ points: 1e9, duration: 60 });
  const single = new RateLimiterMemory({ points: 1e9, duration: 60 });
  return async () => {
    for (const user of world.calls) {
      await organization.consume(organizationName(world, user));
      await single.consume(nameOf(world, user));
    }
    return 0;
  };
};

const contenders: Readonly<Record<string, Contender>> = {
  "two Map.get(string)": twoMapGets,
  "spillway, integer handles": handles,
  "spillway, string ids": strings,
  "hono-rate-limiter x2": hono,
  "@fastify/rate-limit x2": fastify,
  "express-rate-limit x2": express,
  "rate-limiter-flexible x2": flexible,
};
const ours = ["spillway, integer handles", "spillway, string ids"];

/** Nanoseconds per decision of every contender, medians of interleaved rounds. */
async function measure(world: World): Promise<Map<string, number>> {
  const ready = Object.entries(contenders).map(([name, make]) => ({
    name,
    run: make(world),
    samples: [] as number[],
  }));
  for (let round = 0; round <= ROUNDS; round++)
    for (const { run, samples } of ready) {
      const begin = process.hrtime.bigint();
      await run();
      const nanoseconds = Number(process.hrtime.bigint() - begin) / world.calls.length;
      if (round > 0) samples.push(nanoseconds);
    }
  return new Map(ready.map(({ name, samples }) => [name, median(samples)]));
}

/** The rows of one world: every contender against the bound, ours against the fastest peer too. */
async function rowsOf(label: string, world: World): Promise<BenchRow[]> {
  const figures = await measure(world);
  const bound = figures.get("two Map.get(string)") ?? Number.NaN;
  const bars: Readonly<Record<string, string>> = { [ours[0] ?? ""]: "<= 0.2", [ours[1] ?? ""]: "<= 1.5" };
  const rows = [...figures].map(([name, value]): BenchRow => {
    const row = {
      name: `${label}: ${name}`,
      value,
      unit: "ns/decision",
      ratio: value / bound,
      against: "two Map.get(string)",
    };
    const bar = label === "100k users" ? bars[name] : undefined;
    return bar === undefined ? row : { ...row, bar };
  });
  const peers = [...figures].filter(([name]) => name.endsWith("x2"));
  const [fastest, time] = peers.reduce((best, peer) => (peer[1] < best[1] ? peer : best));
  for (const name of ours) {
    const value = figures.get(name) ?? Number.NaN;
    rows.push({
      name: `${label}: ${name}, times faster`,
      value,
      unit: "ns/decision",
      ratio: time / value,
      against: fastest,
      bar: ">= 5",
    });
  }
  return rows;
}

export async function run(): Promise<BenchRow[]> {
  return [
    ...(await rowsOf("1k users", makeWorld(1_000, 1, callCount))),
    ...(await rowsOf("100k users", makeWorld(100_000, 1_000, callCount))),
  ];
}
