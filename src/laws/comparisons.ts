// The laws that compare two runs of one script: status-free, isolated, time-translates, snapshot-equals, all-or-nothing
// and give-back. Each law plays the script again with one change that must not matter.
import type { Policy } from "../policy/policy.ts";
import { nextId } from "./again.ts";
import { lacksRoom } from "./decisions.ts";
import type { Judgement, Opinion, Trial } from "./law.ts";
import { looksOf, OpinionTally, type Played, played, type QuotaJudge, withoutOps } from "./looks.ts";
import type { CallerAttributes, QuotaCallOp, QuotaHistory, QuotaOp } from "./quotas/script.ts";
import { comparison } from "./runs.ts";
import { countShown, isWindow, type Look, type QuotasKind, type Sight } from "./sight.ts";

/** Makes a law: a run with operations of a kind answers like one without them. */
const leavesNoTrace =
  (kind: "status" | "snapshot", label: string): QuotaJudge =>
  async (trial) => {
    const { ops: all } = trial.script;
    const ops = kind === "snapshot" ? all : withoutOps(all, "snapshot");
    const history = await trial.play(ops);
    const from = ops.findIndex((op) => op.do === kind);
    if (from < 0) return new OpinionTally().of(history);
    const other = await trial.play(withoutOps(ops, kind));
    return comparison(trial, history, { label, history: other }, { from });
  };

export const statusFree = leavesNoTrace("status", "without the status calls");
/** Judges that a limiter that is stored and restored answers like one that never stops. */
export const snapshotEquals = leavesNoTrace("snapshot", "without stopping");

/** Judges that shifting all times by a common multiple of all window lengths shifts all answers alike. */
export const timeTranslates: QuotaJudge = async (trial) => {
  const { script, play } = trial;
  const { ops, history, looks } = await played(trial);
  const shiftMs = shiftSeconds(script.pick, commonMultiple(looks)) * 1000;
  const last = ops.reduce((latest, { atMs }) => Math.max(latest, atMs), 0);
  // `Date` ends at 8.64e15 ms; a common multiple of a century's window and one of 7 s is past it.
  if (!Number.isSafeInteger(shiftMs) || last + shiftMs > 8e15) return new OpinionTally().of(history);
  const shifted = await play(ops.map((op) => ({ ...op, atMs: op.atMs + shiftMs })));
  const label = `with all times ${shiftMs / 1000} s later`;
  return comparison(trial, history, { label, history: shifted }, { shiftMs });
};

/** Returns a shift, seconds: a few multiples, or enough of them to reach years beyond 2038. */
function shiftSeconds(pick: number, multiple: number): number {
  const years = Math.ceil(1_200_000_000 / (60 * multiple));
  return (pick + 1) * multiple * (pick % 2 === 0 ? 1 : years);
}

/** Returns the least common multiple of the lengths of all windows that a script touches, seconds. */
function commonMultiple(looks: readonly Look[]): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  const windows = looks.flatMap(({ sights }) => sights.filter(({ rule }) => isWindow(rule)));
  return windows
    .map(({ lengthMs }) => lengthMs / 1000)
    .reduce((multiple, seconds) => (multiple * seconds) / divisor(multiple, seconds), 1);
}

/** Returns the ids of the calls that use each count, by the count's name. */
function callsByCount(looks: readonly Look[]): Map<string, Set<number>> {
  const counts = new Map<string, Set<number>>();
  for (const { event, sights } of looks)
    if ("admitted" in event)
      for (const { name } of sights) counts.set(name, (counts.get(name) ?? new Set()).add(event.op.id));
  return counts;
}

/** Judges that calls that do not use a count change nothing for its calls, while counts shared with them have room. */
export const isolated: QuotaJudge = async (trial) => {
  const whole = await played(trial);
  const { ops, history, looks } = whole;
  const counts = callsByCount(looks);
  const calls = ops.filter((op) => op.do === "call").length;
  const seen = new Set<string>();
  let judged = 0;
  for (const [name, ids] of counts) {
    const form = [...ids].join();
    if (ids.size === calls || seen.has(form)) continue;
    seen.add(form);
    const met = [...counts].filter(([, those]) => [...those].some((id) => ids.has(id)));
    const own = met.filter(([, those]) => [...those].every((id) => ids.has(id))).map(([other]) => other);
    const shared = met.flatMap(([other]) => (own.includes(other) ? [] : [quotaOf(other)]));
    const found = await alone(trial, whole, {
      ...{ name, ids, own: new Set(own) },
      quotas: new Set(own.map(quotaOf).filter((quota) => !shared.includes(quota))),
    });
    if (found.violation !== null) return found;
    judged += found.judged;
  }
  return { history, judged, violation: null };
};

/** A count's calls (`ids`), the counts that only these calls use (`own`), and the quotas with only such counts. */
interface Alone {
  readonly name: string;
  readonly ids: ReadonlySet<number>;
  readonly own: ReadonlySet<string>;
  readonly quotas: ReadonlySet<string>;
}

const quotaOf = (name: string): string => (JSON.parse(name) as [string])[0];

/** Plays one count's calls alone, and compares until a count that they share with others lacks room. */
async function alone(
  trial: Trial<QuotasKind>,
  { ops, history, looks }: Played,
  count: Alone,
): Promise<Judgement<QuotasKind>> {
  const calls = ops.filter((op) => op.do === "call" && count.ids.has(op.id));
  const own = ops.filter((op) => {
    if (op.do === "call" || op.do === "settle") return count.ids.has(op.id);
    if (op.do === "enforce") return calls.some((call) => concerns(op, call, trial.script.policy));
    return op.do !== "status";
  });
  const other = await trial.play(own);
  const until = Math.min(
    crowdedFrom(looks, count, history),
    crowdedFrom(looksOf(trial.script, other), count, history),
  );
  const [quota, key] = JSON.parse(count.name) as [string, CallerAttributes];
  const who = Object.values(key).join("/");
  const label = `with the calls ${who === "" ? "" : `of ${who} `}in ${quota} alone`;
  return comparison(trial, history, { label, history: other }, { quotas: count.quotas, until });
}

/** Tells whether an enforce operation switches a count that a call uses, or one that such a count is enforced with. */
function concerns(op: QuotaOp, call: QuotaOp, { operations, quotas }: Policy): boolean {
  if (op.do !== "enforce" || call.do !== "call") return false;
  const used = Object.keys(operations[call.operation]?.uses ?? {});
  const isUsed = used.some((name) => {
    const enforced = quotas[name]?.enforced;
    return name === op.quota || (typeof enforced === "object" && enforced.with === op.quota);
  });
  return isUsed && quotas[op.quota]?.key.every((name) => op.caller[name] === call.caller[name]) === true;
}

/** Returns the index in `reference` of the first of these calls that found no room in a count shared with others. */
function crowdedFrom(looks: readonly Look[], { ids, own }: Alone, reference: QuotaHistory): number {
  for (const { event, sights } of looks) {
    if (!("admitted" in event) || !ids.has(event.op.id)) continue;
    const others = sights.filter((sight) => !own.has(sight.name));
    const isTight = (sight: Sight): boolean =>
      sight.isEnforced && lacksRoom(sight, true, sight.sure ? sight.before : null) !== false;
    if (others.some((sight) => sight.quota === event.refusedBy || isTight(sight)))
      return reference.findIndex(({ op }) => op === event.op);
  }
  return Number.POSITIVE_INFINITY;
}

/** Returns refused calls that are charged nowhere; none if the clock steps back, as the law would drop their times. */
function freeRefusals(looks: readonly Look[]): ReadonlySet<QuotaOp> {
  if (looks.some(({ event }, at) => event.op.atMs < (looks[at - 1]?.event.op.atMs ?? 0))) return new Set();
  return new Set(
    looks.flatMap(({ event, sights }) =>
      "admitted" in event && !event.admitted && sights.every(({ charge }) => charge === null)
        ? [event.op]
        : [],
    ),
  );
}

/** Judges that refusals leave counts they do not charge alone, and that leaving free refusals out changes no answer. */
export const allOrNothing: QuotaJudge = async (trial) => {
  const { ops, history, looks } = await played(trial);
  const tally = new OpinionTally();
  for (const { event, sights, at } of looks)
    if ("admitted" in event && !event.admitted)
      for (const sight of sights) tally.add(untouched(sight), at, sight);
  const left = freeRefusals(looks);
  if (tally.violation !== null || left.size === 0) return tally.of(history);
  const rest = await trial.play(ops.filter((op) => !left.has(op)));
  const second = await comparison(trial, history, { label: "without the refused calls", history: rest });
  return { ...second, judged: tally.judged + second.judged };
};

/** Judges that a window that a refusal does not charge shows the same count as before. */
function untouched({ current, charge, last, fresh, sure, rule, shown: [shown] }: Sight): Opinion {
  const before = last ?? (fresh ? 0 : null);
  if (charge !== null || current === null || before === null || !sure || !isWindow(rule)) return null;
  // `remaining` may show another count than `used`.
  const other = shown === undefined ? null : countShown({ ...shown, used: null }, rule);
  const got = current === before ? (other ?? before) : current;
  if (got === before) return "kept";
  const name = shown?.name ?? "used";
  return {
    expected: `${name} ${before}, as before the refused call`,
    got: `${name} ${got}`,
    arithmetic: "a refused call is not charged here",
  };
}

/**
 * Judges that a free refusal changes no later decision. If a script has free refusals, it is played with calls at its
 * end that use up the rest, and once more without the refused calls.
 */
export const giveBack: QuotaJudge = async (trial) => {
  const { ops, history: first, looks } = await played(trial);
  if (freeRefusals(looks).size === 0) return new OpinionTally().of(first);
  const longer = [...ops, ...closingOf(looks, nextId(first))];
  const history = await trial.play(longer);
  const left = freeRefusals(looksOf(trial.script, history.slice(0, ops.length)));
  const rest = await trial.play(longer.filter((op) => !left.has(op)));
  const label = "without the refused calls";
  return comparison(trial, history, { label, history: rest }, { decisions: true });
};

/** Greatest number of calls added at a script's end to use up the rest. */
const closingMost = 40;

/** Returns calls at the script's end, by the caller refused last, that use up the rest. */
function closingOf(looks: readonly Look[], id: number): readonly QuotaCallOp[] {
  const refused = looks.findLast(({ event }) => "admitted" in event && !event.admitted);
  const atMs = looks.at(-1)?.event.op.atMs;
  if (refused?.event.op.do !== "call" || atMs === undefined) return [];
  const { caller, operation } = refused.event.op;
  const limit = Math.min(...refused.sights.map((sight) => sight.limit));
  return Array.from({ length: Math.min(limit + 1, closingMost) }, (_, n) => ({
    ...{ do: "call" as const, caller, operation, cost: 1 },
    ...{ id: id + n, atMs },
  }));
}
