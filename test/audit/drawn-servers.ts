// Drawn servers, each wrong in up to two ways, under drawn policies: what some experiments find, by a digest of their words;
// and plans of audits of drawn policies.
import { experiments } from "../../src/audit/experiments.ts";
import { tasksOf } from "../../src/audit/plan.ts";
import { planned } from "../../src/audit/run.ts";
import type { Shot } from "../../src/audit/step.ts";
import { parseTarget } from "../../src/connect/target.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { digestOf } from "../support/digest.ts";
import { type Chance, chanceOf, pick, whole } from "../worlds/chance.ts";
import { limits, linesOf, policyInput, server, type Wrong, windowMs } from "./rooms-and-queries.ts";

const isHead = ({ method }: Shot): boolean => method === "HEAD";

/** One difference from a right server. */
function wrongOf(chance: Chance): Wrong {
  const each = whole(chance, 2, 9);
  const headers = pick<Readonly<Record<string, string>>>(chance, [
    {},
    { "retry-after": "3" },
    { "x-own-left": "1" },
  ]);
  return pick<Wrong>(chance, [
    ...[
      {},
      { more: whole(chance, -3, 2) },
      { key: ({ path }: Shot) => path },
      { key: ({ method }: Shot) => method },
    ],
    { cost: (units, shot) => (isHead(shot) ? 0 : units) },
    { cost: (units, shot) => (shot.path.includes("?") ? 2 * units : units) },
    { cost: (units, _, made) => (made % each === 0 ? 0 : units) },
    { cost: (units, _, made) => (made % each === 0 ? units + 1 : units) },
    { cost: (units, shot) => (shot.way === "cut-sending" || shot.way.startsWith("cut") ? 0 : units) },
    ...[{ refusedCost: whole(chance, 1, 2) }, { statusCost: 1 }, { chargesEach: true }],
    { ends: (endMs, nowMs, isRefused) => (isRefused ? nowMs + windowMs : endMs) },
    { ends: (endMs, nowMs) => Math.max(endMs, nowMs + 500 * each) },
    { ends: (endMs) => endMs - 100 * each },
    { keeps: (used, leftMs) => (leftMs < 1_000 * each ? Math.max(0, used - 1) : used) },
    ...[{ shows: whole(chance, -2, 2) }, { showsMs: whole(chance, -3_000, 3_000) }],
    { refused: (right) => ({ ...right, status: pick(chance, [403, 503]) }) },
    { refused: (right) => ({ ...right, headers: { ...right.headers, ...headers } }) },
    { refused: (right) => ({ ...right, by: right.by === "own" ? "shared" : "own" }) },
  ]);
}

/** The policy of rooms and queries, or one that is not quite what the servers keep. */
function policyOf(chance: Chance): unknown {
  const quota = (name: keyof typeof limits) => {
    const { algorithm, ...rest } = policyInput.quotas[name];
    const anchor = pick(chance, ["first-request", "first-request", "epoch"]);
    const limit = limits[name] + pick(chance, [0, 0, 0, 1, -2]);
    return {
      ...{ ...rest, algorithm: { ...algorithm, limit, anchor } },
      enforced: pick(chance, [true, true, true, true, false]),
      charge: {
        refused: pick(chance, ["nothing", "nothing", "counted"]),
        when: name === "points" ? pick(chance, ["admission", "reserve-settle"]) : "admission",
      },
    };
  };
  const readings = policyInput.wire.readings.filter(() => chance.next() < 0.9);
  const routes = pick(chance, [policyInput.routes, policyInput.routes, policyInput.routes.slice(1)]);
  return {
    ...{ ...policyInput, routes, wire: { ...policyInput.wire, readings } },
    quotas: { own: quota("own"), shared: quota("shared"), points: quota("points") },
  };
}

/** Returns what some experiments find of a drawn server, in short, with a digest of their words. */
export function foundOf(seed: number): string {
  const chance = chanceOf(seed, 44);
  const policy = parsePolicy(policyOf(chance));
  const names = experiments.map(({ name }) => name).filter(() => chance.next() < 0.15);
  const lateMs = whole(chance, 0, 400);
  const options = {
    ...{ users: whole(chance, 1, 6), tripMs: pick(chance, [2, 4, 40, 300]) },
    ...{ lateMs: (wait: number) => (wait % 2) * lateMs, untilMs: pick(chance, [9_000, 60_000, 200_000]) },
  };
  const wrong = { ...wrongOf(chance), ...wrongOf(chance) };
  const said = linesOf(() => server(wrong), names, policy, options);
  const count = (word: string): number => said.filter((line) => line.includes(`: ${word}`)).length;
  const states = [count("kept"), count("broken"), count("not exercised"), count("lacks")].join(" ");
  return `${seed} ${Object.keys(wrong).join("+") || "right"}: ${states} of ${said.length}, ${digestOf(said)}`;
}

/** Returns the plan of an audit of a drawn policy, in short, with a digest. */
export function planOf(seed: number): string {
  const chance = chanceOf(seed, 45);
  const bucket = {
    kind: "token-bucket",
    capacity: whole(chance, 5, 90),
    refill: { amount: 2, everyMs: whole(chance, 1, 9_000) },
  };
  const daily = {
    kind: "fixed-window",
    limit: whole(chance, 5, 9_000),
    anchor: { calendar: "day", zone: "UTC" },
  };
  const { own, shared, points } = policyInput.quotas;
  const changed = { ...shared, algorithm: pick<object>(chance, [shared.algorithm, bucket, daily]) };
  const quotas = {
    own,
    shared: changed,
    points: { ...points, algorithm: pick<object>(chance, [points.algorithm, bucket]) },
  };
  const of = policyOf(chance) as typeof policyInput;
  const policy = parsePolicy({
    ...of,
    quotas: pick<object>(chance, [of.quotas, quotas, { ...quotas, own: { ...own, key: [] } }]),
  });
  const groups = whole(chance, 1, 4);
  const tokens = Array.from({ length: whole(chance, 1, 30) }, (_, user) => ({
    ...{
      token: `t${user}`,
      attributes: {
        organization: `o${user % groups}`,
        user: `u${Math.floor(user / pick(chance, [1, 1, 2]))}`,
      },
    },
  }));
  const { plan } = planned({
    ...{ policy, rules: null, tokens, experiments, timeoutMs: 1_000 },
    ...{
      alone: chance.next() < 0.7,
      spend: pick(chance, [1, 0.5, 0.1]),
      maxMs: pick(chance, [2_000, 60_000, 600_000]),
    },
    ...pick(chance, [{}, {}, { unsettled: "nobody said a limit" }]),
    target: parseTarget("target", "http://127.0.0.1:4100"),
  });
  const { calls, empties, rests, ms, lone, lanes, left } = plan;
  const tasks = tasksOf(plan).map(({ experiment, subject }) => [
    experiment.name,
    subject.operation,
    subject.callers,
  ]);
  const why = left.map(({ task, why }) => [task.experiment.name, task.subject.operation, why]);
  const packed = lanes.map(({ inTurn, beside }) => `${inTurn.length}+${beside.length}`).join(" ");
  return `${seed}: ${calls} calls, ${empties} emptied, ${rests} rests, ${ms} ms, ${lone.length} alone, ${packed}, ${digestOf([tasks, why])}`;
}
