// The laws that compare two runs of one script under a policy, with something changed that must not matter.
import type { FixedWindow, Policy } from "../../policy/policy.ts";
import type { Breach, Compared, Judgement, Opinion, Trial } from "../law.ts";
import { looksOf, nameOfCount, type QuotaLook, type QuotaSight, type QuotasKind } from "./ledger.ts";
import type { QuotaCallOp, QuotaEvent, QuotaHistory, QuotaOp, QuotaScript } from "./script.ts";
import { isWindow, lacksRoom, newTally, type QuotaJudge, withoutOps } from "./sight-laws.ts";

type QuotaJudgement = Judgement<QuotasKind>;

const silent = (history: QuotaHistory): QuotaJudgement => ({ history, judged: 0, violation: null });

interface Comparing {
  /** Indexes in the history, from the first that is compared to the first that is not. */
  readonly from?: number;
  readonly until?: number;
  /** Delay of the other run's operations, ms; they stand at the same indexes then. */
  readonly shiftMs?: number;
  /** The only quota that is compared, and its decisions. */
  readonly quota?: string;
  /** Only who was admitted is compared. */
  readonly decisions?: boolean;
}

/** Compares the answers of a run with those of another that has some of its operations, or all of them shifted. */
function compared(
  { script }: Trial<QuotasKind>,
  history: QuotaHistory,
  other: Compared<QuotasKind>,
  options: Comparing = {},
): QuotaJudgement {
  const { from = 0, until = Number.POSITIVE_INFINITY, shiftMs = 0 } = options;
  const there = new Map(other.history.map((event) => [event.op, event]));
  const tally = newTally();
  // Fractions round: what is within a rounding of an edge may be either.
  const close = script.isExact ? null : closeCalls(script, history);
  for (const [at, event] of history.entries()) {
    const twin = shiftMs === 0 ? there.get(event.op) : other.history[at];
    if (twin === undefined || at < from) continue;
    if (at >= until || close?.has(at)) break;
    const opinion = same(event, twin, {
      ...options,
      shiftMs,
      decisions: options.decisions === true || close !== null,
    });
    tally.add(opinion, at, null);
    if (opinion !== null && opinion !== "kept") break;
  }
  return { history, compared: other, judged: tally.judged, violation: tally.violation };
}

/** Calls at which a bucket has room within a ms. */
function closeCalls(script: QuotaScript, history: QuotaHistory): Set<number> {
  const close = looksOf(script, history).filter(({ sights }) =>
    sights.some((sight) => lacksRoom(sight, false) === null && sight.found !== null),
  );
  return new Set(close.map(({ at }) => at));
}

type Members = ReadonlyMap<string, number | string | boolean | null>;

/** Facts that an event shows, by names; instants as they are. */
function membersOf(event: QuotaEvent, { quota, decisions }: Comparing): Members {
  const members = new Map<string, number | string | boolean | null>();
  if ("admitted" in event) {
    members.set("admitted", event.admitted);
    if (quota === undefined) members.set("refusedBy", event.refusedBy ?? null);
  }
  if (decisions === true || !("said" in event)) return members;
  for (const reading of event.said.readings ?? []) {
    if (quota !== undefined && reading.quota !== quota) continue;
    for (const name of ["limit", "remaining", "used", "resetAtMs"] as const)
      members.set(`${reading.quota} ${name}`, reading[name] ?? null);
  }
  for (const reading of event.read?.readings ?? []) {
    if (quota !== undefined && reading.quota !== quota) continue;
    const whose = reading.quota ?? "the answer's";
    for (const name of ["limit", "remaining", "used"] as const)
      members.set(`${whose} ${name}`, reading[name]);
    members.set(`${whose} reset after`, reading.reset?.afterMs ?? null);
    members.set(`${whose} resetAt`, reading.reset?.atMs ?? null);
  }
  return members;
}

function same(here: QuotaEvent, there: QuotaEvent, options: Comparing): Opinion {
  const mine = membersOf(here, options);
  let isCompared = false;
  for (const [name, other] of membersOf(there, options)) {
    const value = mine.get(name);
    const isInstant = /resetAt(?:Ms)?$/.test(name);
    const theirs = isInstant && typeof other === "number" ? other - (options.shiftMs ?? 0) : other;
    if (value === undefined || value === null || theirs === null) continue;
    isCompared = true;
    if (value !== theirs) return differs(name, value, theirs);
  }
  return isCompared ? "kept" : null;
}

const differs = (name: string, here: unknown, there: unknown): Breach => ({
  expected: `${name} ${there}, as in the other run`,
  got: `${name} ${here}`,
  arithmetic: "the two runs differ only in what must not matter",
});

/** A run with status calls answers as one without them. */
export const statusFree: QuotaJudge = async (trial) => {
  const ops = withoutOps(trial.script.ops, "snapshot");
  const history = await trial.play(ops);
  const from = ops.findIndex((op) => op.do === "status");
  if (from < 0) return silent(history);
  const label = "without the status calls";
  return compared(trial, history, { label, history: await trial.play(withoutOps(ops, "status")) }, { from });
};

/** A run that is stored and restored on its way answers as one that never stopped. */
export const snapshotEquals: QuotaJudge = async (trial) => {
  const { ops } = trial.script;
  const from = ops.findIndex((op) => op.do === "snapshot");
  const history = await trial.play(ops);
  if (from < 0) return silent(history);
  const label = "without stopping";
  return compared(
    trial,
    history,
    { label, history: await trial.play(withoutOps(ops, "snapshot")) },
    { from },
  );
};

/** Shifting all times by a common multiple of all window lengths shifts all answers by the same. */
export const timeTranslates: QuotaJudge = async (trial) => {
  const { script, play } = trial;
  const ops = withoutOps(script.ops, "snapshot");
  const history = await play(ops);
  const shiftMs = commonMultiple(script.policy) * 1000 * (script.pick + 1);
  const last = ops.reduce((latest, { atMs }) => Math.max(latest, atMs), 0);
  if (!Number.isSafeInteger(shiftMs) || last + shiftMs > 8e15) return silent(history);
  const shifted = await play(ops.map((op) => ({ ...op, atMs: op.atMs + shiftMs })));
  const label = `with all times ${shiftMs / 1000} s later`;
  return compared(trial, history, { label, history: shifted }, { shiftMs });
};

/** The windows of a policy, those of overrides among them. */
function windowsOf({ quotas, overrides }: Policy): readonly (FixedWindow & { readonly name: string })[] {
  return Object.entries(quotas).flatMap(([name, { algorithm }]) => {
    if (algorithm.kind !== "fixed-window") return [];
    const others = overrides.flatMap(({ quotas: changed }) => changed[name]?.windowSeconds ?? []);
    return [algorithm.windowSeconds, ...others].map((windowSeconds) => ({
      ...algorithm,
      windowSeconds,
      name,
    }));
  });
}

/** The first quota whose windows are of a calendar, and differ in length; `undefined` where none are. */
export const calendarQuota = (policy: Policy): string | undefined =>
  windowsOf(policy).find(({ anchor }) => typeof anchor === "object" && "calendar" in anchor)?.name;

/** The least common multiple of all windows, seconds. */
function commonMultiple(policy: Policy): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  return windowsOf(policy).reduce(
    (multiple, { windowSeconds }) => (multiple * windowSeconds) / divisor(multiple, windowSeconds),
    1,
  );
}

/** Calls of callers that share no count change nothing here; nor do those of others, of one's own counts. */
export const isolated: QuotaJudge = async (trial) => {
  const { script, play } = trial;
  const ops = withoutOps(script.ops, "snapshot");
  const history = await play(ops);
  const looks = looksOf(script, history);
  const counts = new Map<string, Set<number>>();
  for (const { event, sights } of looks)
    if ("admitted" in event)
      for (const sight of sights) {
        const name = nameOfCount(sight);
        counts.set(name, (counts.get(name) ?? new Set()).add(event.op.id));
      }
  const calls = ops.filter((op) => op.do === "call").length;
  let judged = 0;
  for (const [name, ids] of counts) {
    if (ids.size === calls) continue;
    const found = await alone(trial, { ops, history, looks }, name, ids);
    if (found.violation !== null) return found;
    judged += found.judged;
  }
  return { history, judged, violation: null };
};

interface Whole {
  readonly ops: readonly QuotaOp[];
  readonly history: QuotaHistory;
  readonly looks: readonly QuotaLook[];
}

/** One count's calls alone, until another quota of theirs has no room. */
async function alone(
  trial: Trial<QuotasKind>,
  { ops, history, looks }: Whole,
  name: string,
  ids: ReadonlySet<number>,
): Promise<QuotaJudgement> {
  const [quota] = JSON.parse(name) as [string];
  const own = ops.filter((op) =>
    op.do === "call" || op.do === "settle" ? ids.has(op.id) : op.do !== "status",
  );
  const other = await trial.play(own);
  const until = Math.min(
    crowdedFrom(looks, ids, { name, quota }, history),
    crowdedFrom(looksOf(trial.script, other), ids, { name, quota }, history),
  );
  const label = `with the calls alone that ${quota} counts together`;
  return compared(trial, history, { label, history: other }, { quota, until });
}

/** Index in `reference` of the first of these calls that found no room in another count. */
function crowdedFrom(
  looks: readonly QuotaLook[],
  ids: ReadonlySet<number>,
  { name, quota }: { readonly name: string; readonly quota: string },
  reference: QuotaHistory,
): number {
  for (const { event, sights } of looks) {
    if (!("admitted" in event) || !ids.has(event.op.id)) continue;
    const isTight = (sight: QuotaSight): boolean =>
      nameOfCount(sight) !== name && sight.isEnforced && lacksRoom(sight, true) !== false;
    const isOthers = event.refusedBy != null && event.refusedBy !== quota;
    if (isOthers || sights.some(isTight)) return reference.findIndex(({ op }) => op === event.op);
  }
  return Number.POSITIVE_INFINITY;
}

/** Refused calls that are charged nowhere. None where the clock steps back: with a call its time is left out, too. */
function freeRefusals(looks: readonly QuotaLook[]): ReadonlySet<QuotaOp> {
  if (looks.some(({ event }, at) => event.op.atMs < (looks[at - 1]?.event.op.atMs ?? 0))) return new Set();
  return new Set(
    looks.flatMap(({ event, sights }) =>
      "admitted" in event && !event.admitted && sights.every(({ charge }) => charge === 0) ? [event.op] : [],
    ),
  );
}

/** Leaving out the refused calls that are charged nowhere changes no other answer. */
export const allOrNothing: QuotaJudge = async (trial) => {
  const { script, play } = trial;
  const ops = withoutOps(script.ops, "snapshot");
  const history = await play(ops);
  const looks = looksOf(script, history);
  const tally = newTally();
  const shown = new Map<string, number>();
  for (const { event, sights, at } of looks)
    for (const sight of sights) {
      const left =
        sight.shown.find(({ by, remaining }) => by === "said" && remaining !== null)?.remaining ?? null;
      const name = `${nameOfCount(sight)} ${sight.right.resetAtMs}`;
      const before = shown.get(name);
      if (left !== null) shown.set(name, left);
      const isFree = "admitted" in event && !event.admitted && sight.charge === 0 && isWindow(sight.rule);
      if (!isFree || left === null || before === undefined) continue;
      const arithmetic = `a refused call is not charged to ${sight.quota}`;
      const breach = { expected: `remaining ${before}, as before`, got: `remaining ${left}`, arithmetic };
      tally.add(left === before ? "kept" : breach, at, sight);
    }
  const left = freeRefusals(looks);
  const judged = { history, judged: tally.judged, violation: tally.violation };
  if (tally.violation !== null || left.size === 0) return judged;
  const rest = await play(ops.filter((op) => !left.has(op)));
  const second = compared(trial, history, { label: "without the refused calls", history: rest });
  return { ...second, judged: tally.judged + second.judged };
};

/** The most calls that look for what is left at the end of a script. */
const closingMost = 40;

/** A refused call that is free leaves no trace in whom the limiter lets through afterwards. */
export const giveBack: QuotaJudge = async (trial) => {
  const { script, play } = trial;
  const ops = withoutOps(script.ops, "snapshot");
  const first = await play(ops);
  if (freeRefusals(looksOf(script, first)).size === 0) return silent(first);
  const longer = [...ops, ...closingOf(first)];
  const history = await play(longer);
  const left = freeRefusals(looksOf(script, history.slice(0, ops.length)));
  const rest = await play(longer.filter((op) => !left.has(op)));
  const label = "without the refused calls";
  return compared(trial, history, { label, history: rest }, { decisions: true });
};

/** Calls of whoever was refused last, at the end and one after the other, that use up what is left. */
function closingOf(history: QuotaHistory): readonly QuotaCallOp[] {
  const refused = history.findLast((event) => "admitted" in event && !event.admitted);
  const last = history.at(-1);
  if (refused?.op.do !== "call" || last === undefined) return [];
  const { caller, operation } = refused.op;
  const id = nextId(history);
  return Array.from({ length: closingMost }, (_, n) => ({
    ...{ do: "call" as const, caller, operation, cost: 1 },
    id: id + n,
    atMs: last.op.atMs,
  }));
}

const nextId = (history: QuotaHistory): number =>
  1 + Math.max(-1, ...history.map(({ op }) => ("id" in op ? op.id : 0)));

/** So many refusals of a script are put to the test: each takes another run. */
const testedMost = 3;

/** A caller who waits alone as long as the refusal said is admitted, or refused by another quota. */
export const honestWait: QuotaJudge = async ({ script, play }) => {
  const ops = withoutOps(script.ops, "snapshot");
  const history = await play(ops);
  const tally = newTally();
  const promises = looksOf(script, history).flatMap((look) => promiseOf(look, script.isExact) ?? []);
  for (const { look, refuser, waitMs, words } of promises.slice(-testedMost)) {
    const { op } = look.event as { readonly op: QuotaCallOp };
    const again: QuotaCallOp = { ...op, id: nextId(history), atMs: op.atMs + waitMs };
    const tried = await play([...ops.slice(0, look.at + 1), again]);
    const last = tried.at(-1);
    if (last === undefined || !("admitted" in last)) continue;
    if (!last.admitted && last.refusedBy && last.refusedBy !== refuser.quota) continue;
    const arithmetic = `the refusal before said ${words}, the caller waited so long, and nobody else called`;
    const breach = { expected: "admitted", got: "refused again", arithmetic };
    tally.add(last.admitted ? "kept" : breach, tried.length - 1, refuser);
    if (!last.admitted) return { history: tried, judged: tally.judged, violation: tally.violation };
  }
  return { history, judged: tally.judged, violation: null };
};

interface PromisedWait {
  readonly look: QuotaLook;
  readonly refuser: QuotaSight;
  readonly waitMs: number;
  readonly words: string;
}

/**
 * The wait that a refusal told. What the policy itself rounds down is added: the shortfall of the right advice. A clock
 * that stepped back waits for nothing.
 */
function promiseOf(look: QuotaLook, isExact: boolean): PromisedWait | null {
  const { event, sights, answer } = look;
  if (!("admitted" in event) || event.admitted) return null;
  const { op, retryAtMs, read } = event;
  const refuser =
    sights.find(({ quota }) => quota === event.refusedBy) ?? (sights.length === 1 ? sights[0] : undefined);
  const roomAtMs = refuser?.found?.roomAtMs ?? null;
  if (refuser === undefined || roomAtMs === null || refuser.clockMs !== op.atMs) return null;
  const moment = isExact || isWindow(refuser.rule) ? 0 : 1;
  const told = (advice: typeof read): number | null =>
    advice?.retryAfter == null
      ? null
      : (advice.retryAfter.afterMs ?? (advice.retryAfter.atMs as number) - op.atMs);
  const advised = told(read);
  const right = told(answer);
  const short = right === null ? 0 : Math.max(0, roomAtMs - op.atMs - right);
  const waitMs =
    Math.ceil(retryAtMs === null ? (advised ?? Number.NaN) + short : retryAtMs - op.atMs) + moment;
  if (!Number.isSafeInteger(waitMs) || waitMs < 0 || op.atMs + waitMs > 8e15) return null;
  return { look, refuser, waitMs, words: `to come back after ${(waitMs - moment) / 1000} s` };
}
