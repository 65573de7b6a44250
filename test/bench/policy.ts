// The engine: five quotas a call beside two, buckets beside windows, names beside handles.
import { PolicyLimiter } from "../../src/engine/policy-limiter.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { type BenchRow, median, sized } from "./row.ts";

const START = 1_800_000_000_000;
const ROUNDS = sized(9, 1);
const userCount = 100_000;
const organizationCount = 1_000;

/** User of each call, by a fixed generator. */
function drawnCalls(count: number): Int32Array {
  let state = 12_345;
  return Int32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) % userCount;
  });
}

const calls = drawnCalls(sized(500_000, 20_000));
const at = (index: number): number => START + (index >> 7); // 128 decisions a millisecond: windows do roll
const rules = parseRules({});
const callers = Array.from({ length: userCount }, (_, index) => ({
  organization: `organization-${index % organizationCount}`,
  user: `user-${index}`,
}));

/** A policy of so many quotas on each call, by organization and by user in turn. */
function manyQuotas(count: number, algorithm: (index: number) => object): Policy {
  const names = Array.from({ length: count }, (_, index) => `q${index}`);
  return parsePolicy({
    version: 2,
    name: "many",
    quotas: Object.fromEntries(
      names.map((name, index) => [
        name,
        { algorithm: algorithm(index), key: index % 2 === 0 ? ["organization"] : ["organization", "user"] },
      ]),
    ),
    operations: { rest: { uses: Object.fromEntries(names.map((name) => [name, 1])) } },
  });
}

const limitOf = (index: number): number => (index % 2 === 0 ? 200 : 50);
const window = (index: number) => ({ kind: "fixed-window", limit: limitOf(index), windowSeconds: 60 });
const bucket = (index: number) => ({
  kind: "token-bucket",
  capacity: limitOf(index),
  refill: { amount: limitOf(index), everyMs: 60_000 },
});

/** The core by policy, every caller known. */
function coreOf(policy: Policy): () => number {
  const limiter = new PolicyLimiter(policy);
  const users = Int32Array.from(callers, (caller) => limiter.handleOf(caller, "rest"));
  const handles = calls.map((user) => users[user] ?? 0);
  const operation = Object.keys(policy.operations).indexOf("rest");
  const { core } = limiter;
  return () => {
    let refused = 0;
    for (let index = 0; index < handles.length; index++)
      refused += core.decide(handles[index] ?? 0, operation, 1, at(index));
    return refused;
  };
}

function namesOf(policy: Policy): () => number {
  const limiter = new PolicyLimiter(policy);
  return () => {
    let refused = 0;
    for (let index = 0; index < calls.length; index++) {
      const caller = callers[calls[index] ?? 0] ?? { organization: "", user: "" };
      if (limiter.decide({ caller, operation: "rest", cost: 1 }, at(index)).refusedBy !== null) refused += 1;
    }
    return refused;
  };
}

export async function run(): Promise<BenchRow[]> {
  const contenders: Readonly<Record<string, () => number>> = {
    "two windows": coreOf(policyOf(rules)),
    "five windows": coreOf(manyQuotas(5, window)),
    "two buckets": coreOf(manyQuotas(2, bucket)),
    "two windows, by names": namesOf(policyOf(rules)),
  };
  const samples = new Map(Object.keys(contenders).map((name) => [name, [] as number[]]));
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, decideAll] of Object.entries(contenders)) {
      const begin = process.hrtime.bigint();
      decideAll();
      const nanoseconds = Number(process.hrtime.bigint() - begin) / calls.length;
      if (round > 0) samples.get(name)?.push(nanoseconds);
    }
  const row = (name: string, against: string, bar?: string): BenchRow => {
    const value = median(samples.get(name) ?? []);
    return {
      name,
      value,
      unit: "ns/decision",
      ratio: value / median(samples.get(against) ?? []),
      against,
      ...(bar === undefined ? {} : { bar }),
    };
  };
  return [
    row("five windows", "two windows", "<= 2.5"),
    row("two buckets", "two windows", "<= 1.3"),
    row("two windows, by names", "two windows"),
  ];
}
