// The laws that compare two runs of one script: status-free, isolated, time-translates, snapshot-equals and
// all-or-nothing. Each plays the script again with something changed that must not matter.
import { organizationLimit, type Rules, semanticsOf, userLimit } from "../rules/rules.ts";
import { lacksRoom } from "./decisions.ts";
import type { History, HistoryEvent, PartialReading } from "./history.ts";
import { type Breach, type Compared, type Judge, type Judgement, type Opinion, Tally } from "./law.ts";
import { Ledger, type Sight, sightsOf } from "./ledger.ts";
import { type CallOp, type Op, without } from "./script.ts";

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
  const shiftMs = (script.pick + 1) * commonMultiple(script.rules, ops) * 1000;
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

/** Whether an operation concerns one organization's windows of one scope. */
function concerns(here: CallOp, calls: ReadonlyMap<number, CallOp>) {
  const alike = ({ organization, scope }: CallOp): boolean =>
    organization === here.organization && scope === here.scope;
  return (op: Op): boolean => {
    if (op.do === "call") return alike(op);
    if (op.do === "settle") return alike(calls.get(op.id) ?? here);
    if (op.do === "enforce") return op.organization === here.organization && op.scope === here.scope;
    return op.do === "sweep";
  };
}

/** Calls of other organizations, users or scopes change nothing here. */
export const isolated: Judge = async ({ script, play }) => {
  const ops = without(script.ops, "snapshot");
  const history = await play(ops);
  const calls = new Map(ops.flatMap((op) => (op.do === "call" ? [[op.id, op] as const] : [])));
  const here = [...calls.values()][script.pick % Math.max(1, calls.size)];
  if (here === undefined) return silent(history);
  const own = ops.filter(concerns(here, calls));
  const broad = {
    label: `with the calls of ${here.organization} in ${here.scope} alone`,
    history: own.length < ops.length ? await play(own) : history,
  };
  const first = own.length < ops.length ? comparison(history, broad) : silent(history);
  if (first.violation !== null) return first;
  const mine = own.filter((op) => {
    const call = op.do === "call" ? op : op.do === "settle" ? calls.get(op.id) : undefined;
    return call === undefined || call.user === here.user;
  });
  if (mine.length === own.length) return first;
  // Others may use up the organization's window: what they must not change is the user's, and only as long as
  // the organization's window has had room for everybody, with them and without them.
  const narrow = { label: `with ${here.user}'s calls alone`, history: await play(mine) };
  const until = Math.min(
    tightFrom(script.rules, broad.history, broad.history),
    tightFrom(script.rules, narrow.history, broad.history),
  );
  const second = comparison(broad.history, narrow, { parts: ["user"], until });
  return { ...second, judged: first.judged + second.judged };
};

/** Index in `reference` of the first operation at which a run's organization may have refused. */
function tightFrom(rules: Rules, history: History, reference: History): number {
  for (const sight of sightsOf(rules, history)) {
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
  const ledger = new Ledger(script.rules);
  const left = new Set<Op>();
  for (const [at, event] of history.entries()) {
    const sights = ledger.look(event);
    if (!("decision" in event) || event.decision.admitted) continue;
    if (chargesNothing(script.rules, event.op, event.decision.refusedBy)) left.add(event.op);
    for (const sight of sights) tally.add(untouched(sight), at, sight);
  }
  const judged = { history, judged: tally.judged, violation: tally.violation };
  if (tally.violation !== null || left.size === 0) return judged;
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
function untouched({ reading, charge, shown, fresh, sure }: Sight): Opinion {
  const current = reading.current ?? null;
  const before = shown ?? (fresh ? 0 : null);
  if (charge !== null || current === null || before === null || !sure) return null;
  if (current === before) return "kept";
  return {
    expected: `current ${before}, as before the refused call`,
    got: `current ${current}`,
    arithmetic: "a refused call is charged to no window",
  };
}
