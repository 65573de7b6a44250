// The laws that compare two runs of one script: status-free, isolated, time-translates, snapshot-equals and
// all-or-nothing. Each plays the script again with something changed that must not matter.
import { organizationLimit, type Rules, semanticsOf, userLimit } from "../rules/rules.ts";
import { lacksRoom } from "./decisions.ts";
import type { History } from "./history.ts";
import { type Judge, type Judgement, type Opinion, OpinionTally, type Trial } from "./law.ts";
import { HistoryLedger, type Sight, sightsOf } from "./ledger.ts";
import { comparison } from "./runs.ts";
import { type CallOp, type Op, type Script, without } from "./script.ts";

const silent = (history: History): Judgement => ({ history, judged: 0, violation: null });

/** A run with status calls answers as one without them. */
export const statusFree: Judge = async (trial) => {
  const ops = without(trial.script.ops, "snapshot");
  const history = await trial.play(ops);
  const from = ops.findIndex((op) => op.do === "status");
  if (from < 0) return silent(history);
  const compared = { label: "without the status calls", history: await trial.play(without(ops, "status")) };
  return comparison(trial, history, compared, { from });
};

/** A run that is stored and restored on its way answers as one that never stopped. */
export const snapshotEquals: Judge = async (trial) => {
  const { ops } = trial.script;
  const from = ops.findIndex((op) => op.do === "snapshot");
  const history = await trial.play(ops);
  if (from < 0) return silent(history);
  const compared = { label: "without stopping", history: await trial.play(without(ops, "snapshot")) };
  return comparison(trial, history, compared, { from });
};

/** Shifting all times by a common multiple of all window lengths shifts all answers by the same. */
export const timeTranslates: Judge = async (trial) => {
  const { script, play } = trial;
  const ops = without(script.ops, "snapshot");
  const history = await play(ops);
  const shiftMs = shiftSeconds(script.pick, commonMultiple(script.rules, ops)) * 1000;
  const last = ops.reduce((latest, { atMs }) => Math.max(latest, atMs), 0);
  // `Date` ends at 8.64e15 ms; a window of a century in common with one of 7 s passes it.
  if (last + shiftMs > 8e15) return silent(history);
  const shifted = await play(ops.map((op) => ({ ...op, atMs: op.atMs + shiftMs })));
  const compared = { label: `with all times ${shiftMs / 1000} s later`, history: shifted };
  return comparison(trial, history, compared, { shiftMs });
};

/** A few multiples, or some years of them: times beyond 2038 are times too. */
function shiftSeconds(pick: number, multiple: number): number {
  const years = Math.ceil(1_200_000_000 / (60 * multiple));
  return (pick + 1) * multiple * (pick % 2 === 0 ? 1 : years);
}

/** The least common multiple, in seconds, of the lengths of all windows that a script touches. */
function commonMultiple(rules: Rules, ops: readonly Op[]): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  let multiple = 1;
  for (const op of ops) {
    if (op.do !== "call" && op.do !== "status") continue;
    for (const scope of ["rest", "graphql"] as const)
      for (const { windowSeconds } of [
        organizationLimit(rules, op.organization, scope),
        userLimit(rules, op.organization, op.user, scope),
      ])
        multiple *= windowSeconds / divisor(multiple, windowSeconds);
  }
  return multiple;
}

/** The call that an operation is, completes or is about; `null` for those that concern everybody. */
type CallOf = (op: Op) => CallOp | null;

/** The operations on one organization's windows of one scope. */
function ownOps(ops: readonly Op[], here: CallOp, callOf: CallOf): readonly Op[] {
  return ops.filter((op) => {
    if (op.do === "status") return false;
    const about = op.do === "enforce" ? op : callOf(op);
    return about === null || (about.organization === here.organization && about.scope === here.scope);
  });
}

/** One call of each kind that `nameOf` tells apart. */
function distinct(ops: readonly Op[], nameOf: (op: CallOp) => string): CallOp[] {
  const calls = new Map<string, CallOp>();
  for (const op of ops) if (op.do === "call" && !calls.has(nameOf(op))) calls.set(nameOf(op), op);
  return [...calls.values()];
}

/** Calls of other organizations, users or scopes change nothing here. */
export const isolated: Judge = async (trial) => {
  const { script, play } = trial;
  const ops = without(script.ops, "snapshot");
  const calls = new Map(ops.flatMap((op) => (op.do === "call" ? [[op.id, op] as const] : [])));
  const callOf: CallOf = (op) => (op.do === "call" || op.do === "settle" ? (calls.get(op.id) ?? null) : null);
  const history = await play(ops);
  let judged = 0;
  for (const here of distinct(ops, ({ organization, scope }) => `${scope} ${organization}`)) {
    const own = ownOps(ops, here, callOf);
    if (own.length < ops.length) {
      const label = `with the calls of ${here.organization} in ${here.scope} alone`;
      const found = await comparison(trial, history, { label, history: await play(own) });
      if (found.violation !== null) return found;
      judged += found.judged;
    }
    const found = await isolatedUsers(trial, own, callOf);
    if (found.violation !== null) return found;
    judged += found.judged;
  }
  return { history, judged, violation: null };
};

/**
 * Each user of one organization and scope, with the others and without. Others may use up the organization's
 * window: what they must not change is the user's own, for as long as the organization's has room for everybody.
 */
async function isolatedUsers(trial: Trial, ops: readonly Op[], callOf: CallOf): Promise<Judgement> {
  const { script: terms, play } = trial;
  const users = distinct(ops, ({ user }) => user);
  if (users.length < 2) return silent([]);
  const history = await play(ops);
  const crowded = tightFrom(terms, history, history);
  let judged = 0;
  for (const { user } of users) {
    const alone = await play(ops.filter((op) => (callOf(op)?.user ?? user) === user));
    const until = Math.min(crowded, tightFrom(terms, alone, history));
    const label = `with ${user}'s calls alone`;
    const found = await comparison(trial, history, { label, history: alone }, { parts: ["user"], until });
    if (found.violation !== null) return found;
    judged += found.judged;
  }
  return { history, judged, violation: null };
}

/** Index in `reference` of the first operation at which a run's organization may have refused. */
function tightFrom(terms: Script, history: History, reference: History): number {
  for (const sight of sightsOf(terms, history)) {
    if (sight.owner !== "organization" || !("decision" in sight.event)) continue;
    const { op, decision } = sight.event;
    const tight = sight.enforced && lacksRoom(sight, op.cost, sight.sure ? sight.before : null) !== false;
    if (tight || decision.refusedBy === "organization")
      return reference.findIndex((event) => event.op === op);
  }
  return Number.POSITIVE_INFINITY;
}

/** Leaving out the refused calls changes no other answer; where refusals are charged, only the named window. */
export const allOrNothing: Judge = async (trial) => {
  const { script, play } = trial;
  const ops = without(script.ops, "snapshot");
  const history = await play(ops);
  const tally = new OpinionTally();
  const ledger = new HistoryLedger(script);
  for (const [at, event] of history.entries()) {
    const sights = ledger.look(event);
    if (!("decision" in event) || event.decision.admitted) continue;
    for (const sight of sights) tally.add(untouched(sight), at, sight);
  }
  const judged = { history, judged: tally.judged, violation: tally.violation };
  const left = freeRefusals(script, history);
  if (tally.violation !== null || left.size === 0) return judged;
  const rest = await play(ops.filter((op) => !left.has(op)));
  const second = await comparison(trial, history, { label: "without the refused calls", history: rest });
  return { ...second, judged: tally.judged + second.judged };
};

/**
 * The limiter leaves no trace of a refused call, in whom it lets through afterwards. Where others were refused, the
 * script is played with calls at its end that use up what is left, and once more without the refused calls.
 */
export const giveBack: Judge = async (trial) => {
  const { script, play } = trial;
  const ops = without(script.ops, "snapshot");
  const first = await play(ops);
  if (freeRefusals(script, first).size === 0) return silent(first);
  const longer = [...ops, ...closingOf(script, first)];
  const history = await play(longer);
  const left = freeRefusals(script, history.slice(0, ops.length));
  const rest = await play(longer.filter((op) => !left.has(op)));
  return comparison(
    trial,
    history,
    { label: "without the refused calls", history: rest },
    { decisions: true },
  );
};

/** The most calls that look for what is left at the end of a script. */
const closingMost = 40;

/** Calls of whoever was refused last, at the end and one after the other, that use up what is left. */
function closingOf(script: Script, history: History): readonly CallOp[] {
  const refused = history.findLast((event) => "decision" in event && !event.decision.admitted);
  const last = history.at(-1);
  if (refused === undefined || last === undefined || !("decision" in refused)) return [];
  const { organization, user, scope } = refused.op;
  const { limit } = userLimit(script.rules, organization, user, scope);
  const id = 1 + Math.max(...history.map(({ op }) => ("id" in op ? op.id : 0)));
  return Array.from({ length: Math.min(limit + 1, closingMost) }, (_, n) => ({
    ...{ do: "call" as const, organization, user, scope, cost: 1 },
    id: id + n,
    atMs: last.op.atMs,
  }));
}

/**
 * The refused calls that are charged nowhere, and may be left out. Empty where the clock steps back: with a call the
 * time that it has seen is left out, too. A limiter by key may open a window for a call that can never fit.
 */
function freeRefusals({ rules, keyed }: Script, history: History): ReadonlySet<Op> {
  if (history.some(({ op }, at) => op.atMs < (history[at - 1]?.op.atMs ?? 0))) return new Set();
  const free = history.flatMap((event) => {
    if (!("decision" in event) || event.decision.admitted) return [];
    const { organization, user, scope, cost } = event.op;
    const isHopeless = keyed === true && cost > userLimit(rules, organization, user, scope).limit;
    return isHopeless || !chargesNothing(rules, event.op, event.decision.refusedBy) ? [] : [event.op];
  });
  return new Set(free);
}

/** Tells whether a refusal is charged nowhere under these rules (SPEC.md §8). */
function chargesNothing(rules: Rules, { scope }: CallOp, refusedBy: string | null | undefined): boolean {
  const { refused, refusedByUser } = semanticsOf(rules, scope);
  if (refused === "counted") return false;
  return refusedByUser === "charges-nothing" || refusedBy === "organization";
}

/** A window that a refusal does not charge shows what it showed before. */
function untouched({ current, charge, shown, fresh, sure }: Sight): Opinion {
  const before = shown ?? (fresh ? 0 : null);
  if (charge !== null || current === null || before === null || !sure) return null;
  if (current === before) return "kept";
  return {
    expected: `current ${before}, as before the refused call`,
    got: `current ${current}`,
    arithmetic: "a refused call is charged to no window",
  };
}
