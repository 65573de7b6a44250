// The laws that compare two runs of one script: status-free, isolated, time-translates, snapshot-equals and
// all-or-nothing. Each plays the script again with something changed that must not matter.
import { organizationLimit, type Rules, semanticsOf, userLimit } from "../rules/rules.ts";
import { lacksRoom } from "./decisions.ts";
import type { History, HistoryEvent, PartialReading } from "./history.ts";
import { type Breach, type Compared, type Judge, type Judgement, type Opinion, Tally } from "./law.ts";
import { Ledger, type Sight, sightsOf } from "./ledger.ts";
import { type CallOp, type Op, type Terms, without } from "./script.ts";

/** Which part of an answer two runs are compared by. */
type Part = "organization" | "user";

const both: readonly Part[] = ["organization", "user"];

/** The numbers of an answer by path. What one run does not show is not compared. */
function numbersOf(event: HistoryEvent, parts: readonly Part[]): Map<string, unknown> {
  const numbers = new Map<string, unknown>();
  const add = (path: string, reading: PartialReading | null | undefined): void => {
    for (const [field, value] of Object.entries(reading ?? {})) numbers.set(`${path}.${field}`, value);
  };
  if ("decision" in event) {
    numbers.set("admitted", event.decision.admitted);
    numbers.set("refusedBy", event.decision.refusedBy ?? undefined);
  }
  const readings = "decision" in event ? event.decision : "readings" in event ? event.readings : {};
  for (const part of parts) add(part, readings[part]);
  if ("status" in event) {
    add("rest", event.status.rest);
    add("graphql", event.status.graphql);
  }
  return numbers;
}

/** The first number that differs between two answers to the same operation, or "kept", or `null` (none shown). */
function same(here: HistoryEvent, there: HistoryEvent, parts: readonly Part[], shiftMs = 0): Opinion {
  const mine = numbersOf(here, parts);
  let compared = false;
  for (const [path, other] of numbersOf(there, parts)) {
    const value = mine.get(path) ?? undefined;
    const theirs =
      path.endsWith("resetAtMs") && typeof other === "number" ? other - shiftMs : (other ?? undefined);
    if (value === undefined || theirs === undefined) continue;
    compared = true;
    if (value !== theirs) return differs(path, value, theirs);
  }
  return compared ? "kept" : null;
}

const differs = (path: string, here: unknown, there: unknown): Breach => ({
  expected: `${path} ${there}, as in the other run`,
  got: `${path} ${here}`,
  arithmetic: "the two runs differ only in what must not matter",
});

/** Compares the answers of a run with those of another that has some of its operations. */
function comparison(
  history: History,
  compared: Compared,
  options: { parts?: readonly Part[]; until?: number; from?: number } = {},
): Judgement {
  const tally = new Tally();
  const there = new Map(compared.history.map((event) => [event.op, event]));
  for (const [at, event] of history.entries()) {
    const other = there.get(event.op);
    if (other === undefined || at < (options.from ?? 0)) continue;
    if (at >= (options.until ?? Number.POSITIVE_INFINITY)) break;
    tally.add(same(event, other, options.parts ?? both), at, null);
  }
  return { history, compared, judged: tally.judged, violation: tally.violation };
}

const silent = (history: History): Judgement => ({ history, judged: 0, violation: null });

/** A run with status calls answers as one without them. */
export const statusFree: Judge = async ({ script, play }) => {
  const ops = without(script.ops, "snapshot");
  const history = await play(ops);
  const from = ops.findIndex((op) => op.do === "status");
  if (from < 0) return silent(history);
  const compared = { label: "without the status calls", history: await play(without(ops, "status")) };
  return comparison(history, compared, { from });
};

/** A run that is stored and restored on its way answers as one that never stopped. */
export const snapshotEquals: Judge = async ({ script, play }) => {
  const from = script.ops.findIndex((op) => op.do === "snapshot");
  const history = await play(script.ops);
  if (from < 0) return silent(history);
  const compared = { label: "without stopping", history: await play(without(script.ops, "snapshot")) };
  return comparison(history, compared, { from });
};

/** Shifting all times by a common multiple of all window lengths shifts all answers by the same. */
export const timeTranslates: Judge = async ({ script, play }) => {
  const ops = without(script.ops, "snapshot");
  const history = await play(ops);
  const shiftMs = shiftSeconds(script.pick, commonMultiple(script.rules, ops)) * 1000;
  const last = ops.reduce((latest, { atMs }) => Math.max(latest, atMs), 0);
  // `Date` ends at 8.64e15 ms; a window of a century in common with one of 7 s passes it.
  if (!Number.isSafeInteger(shiftMs) || last + shiftMs > 8e15) return silent(history);
  const shifted = await play(ops.map((op) => ({ ...op, atMs: op.atMs + shiftMs })));
  const tally = new Tally();
  for (const [at, event] of history.entries()) {
    const other = shifted[at];
    if (other !== undefined) tally.add(same(event, other, both, shiftMs), at, null);
  }
  const compared = { label: `with all times ${shiftMs / 1000} s later`, history: shifted };
  return { history, compared, judged: tally.judged, violation: tally.violation };
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
export const isolated: Judge = async ({ script, play }) => {
  const ops = without(script.ops, "snapshot");
  const calls = new Map(ops.flatMap((op) => (op.do === "call" ? [[op.id, op] as const] : [])));
  const callOf: CallOf = (op) => (op.do === "call" || op.do === "settle" ? (calls.get(op.id) ?? null) : null);
  const history = await play(ops);
  let judged = 0;
  for (const here of distinct(ops, ({ organization, scope }) => `${scope} ${organization}`)) {
    const own = ownOps(ops, here, callOf);
    if (own.length < ops.length) {
      const label = `with the calls of ${here.organization} in ${here.scope} alone`;
      const found = comparison(history, { label, history: await play(own) });
      if (found.violation !== null) return found;
      judged += found.judged;
    }
    const found = await isolatedUsers(script, own, callOf, play);
    if (found.violation !== null) return found;
    judged += found.judged;
  }
  return { history, judged, violation: null };
};

/**
 * Each user of one organization and scope, with the others and without. Others may use up the organization's
 * window: what they must not change is the user's own, for as long as the organization's has room for everybody.
 */
async function isolatedUsers(
  terms: Terms,
  ops: readonly Op[],
  callOf: CallOf,
  play: (ops: readonly Op[]) => Promise<History>,
): Promise<Judgement> {
  const users = distinct(ops, ({ user }) => user);
  if (users.length < 2) return silent([]);
  const history = await play(ops);
  const crowded = tightFrom(terms, history, history);
  let judged = 0;
  for (const { user } of users) {
    const alone = await play(ops.filter((op) => (callOf(op)?.user ?? user) === user));
    const until = Math.min(crowded, tightFrom(terms, alone, history));
    const label = `with ${user}'s calls alone`;
    const found = comparison(history, { label, history: alone }, { parts: ["user"], until });
    if (found.violation !== null) return found;
    judged += found.judged;
  }
  return { history, judged, violation: null };
}

/** Index in `reference` of the first operation at which a run's organization may have refused. */
function tightFrom(terms: Terms, history: History, reference: History): number {
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
export const allOrNothing: Judge = async ({ script, play }) => {
  const ops = without(script.ops, "snapshot");
  const history = await play(ops);
  const tally = new Tally();
  const ledger = new Ledger(script);
  const left = new Set<Op>();
  for (const [at, event] of history.entries()) {
    const sights = ledger.look(event);
    if (!("decision" in event) || event.decision.admitted) continue;
    if (chargesNothing(script.rules, event.op, event.decision.refusedBy)) left.add(event.op);
    for (const sight of sights) tally.add(untouched(sight), at, sight);
  }
  const judged = { history, judged: tally.judged, violation: tally.violation };
  // Leaving out a call also leaves out the time that it has seen, which counts where the clock steps back.
  const steps = ops.some((op, at) => op.atMs < (ops[at - 1]?.atMs ?? 0));
  if (tally.violation !== null || left.size === 0 || steps) return judged;
  const rest = await play(ops.filter((op) => !left.has(op)));
  const second = comparison(history, { label: "without the refused calls", history: rest });
  return { ...second, judged: tally.judged + second.judged };
};

/** Whether a refusal is charged nowhere under these rules (SPEC.md §8). */
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
