// The laws on a limiter's decisions: refusal-justified, recovers, unenforced-never-refuses and never-rolls-back.
import { refusedEarly } from "./early-refusals.ts";
import { alsoGreedy } from "./greedy.ts";
import { type Breach, type Opinion, spanText } from "./law.ts";
import { isKnown, overLooks, type QuotaJudge } from "./looks.ts";
import type { QuotaCallEvent } from "./quotas/script.ts";
import { isWindow, type Look, type QuotaKey, type Sight } from "./sight.ts";
import type { CountSpan } from "./window-book.ts";

export const decided = ({ event }: Pick<Look, "event">): QuotaCallEvent | null =>
  "admitted" in event ? event : null;

/** Tells whether a count lacks room for its call; `null` if that is unknown, such as within a rounding. */
export function lacksRoom(
  { found, rule, clockMs }: Sight,
  isExact: boolean,
  count: CountSpan | null = found?.used ?? null,
): boolean | null {
  if (found === null || count === null) return null;
  const { needed, limit, roomAtMs } = found;
  if (isWindow(rule)) {
    const least = count.least + needed > limit;
    return least === count.most + needed > limit ? least : null;
  }
  if (roomAtMs === null) return true;
  if (!isExact && Math.abs(roomAtMs - clockMs) <= 1) return null;
  return roomAtMs > clockMs;
}

/** Returns the counts that a call found, as text: `the call found team 3 of 5, own 2 of 2, and takes 1`. */
function foundText(sights: readonly Sight[]): string {
  const counts = sights.map(({ quota, found, limit, isEnforced }) => {
    const name = sights.length === 1 ? "" : `${quota} `;
    const used = found?.used ? spanText(found.used) : "?";
    return `${name}${used} of ${found?.limit ?? limit}${isEnforced ? "" : " (not enforced)"}`;
  });
  const needed = new Set(sights.map(({ found }) => found?.needed));
  return `the call found ${counts.join(", ")}, and takes ${[...needed].join(" and ")}`;
}

/** Returns text like `refused by team`, or `refused` if there is one count only. */
const refusedText = ({ refusedBy }: QuotaCallEvent, sights: readonly Sight[]): string =>
  refusedBy && sights.length > 1 ? `refused by ${refusedBy}` : "refused";

/** Judges that a call is refused if and only if some enforced quota lacks room for it. */
const refusedRightly = overLooks(({ isExact }) => (look) => {
  const call = decided(look);
  if (call === null) return [];
  const enforced = look.sights.filter((sight) => sight.isEnforced);
  const lacking = enforced.map((sight) => lacksRoom(sight, isExact));
  const isLacking = lacking.includes(true) ? true : lacking.includes(null) ? null : false;
  const culprit = enforced[lacking.indexOf(true)] ?? null;
  if (isLacking === null || isLacking !== call.admitted)
    return [[isLacking === null ? null : "kept", culprit]];
  const [expected, got] = isLacking
    ? ["a refusal", "admitted"]
    : ["admitted", refusedText(call, look.sights)];
  return [[{ expected, got, arithmetic: foundText(look.sights) }, culprit]];
});

/** Judges that refused calls lacked room; with known counts also that calls that lacked room are refused. */
export const refusalJustified = alsoGreedy((trial) =>
  isKnown(trial.script) ? refusedRightly(trial) : refusedEarly(trial),
);

/** Judges that a count of which nothing is used any more refuses no call that fits its limit. */
const renews = overLooks(() => (look) => {
  const call = decided(look);
  if (call === null) return [];
  const { sights } = look;
  const isFresh = ({ sure, fresh, found, limit }: Sight): boolean =>
    sure && fresh && (found?.needed ?? 0) <= limit;
  const renewed = sights.filter((sight) => isFresh(sight) && sight.isRenewed);
  if (call.admitted) return renewed.map((sight) => ["kept", sight] as const);
  const refuser = sights.find(({ quota }) => quota === call.refusedBy);
  const guilty = refuser ?? (sights.every(isFresh) ? renewed[0] : undefined);
  if (guilty === undefined || !renewed.includes(guilty)) return [];
  const over = isWindow(guilty.rule) ? "that window ended" : "it is full again";
  const arithmetic = `${over}, nothing was charged since, and ${guilty.found?.needed} <= ${guilty.limit}`;
  return [[{ expected: "admitted", got: refusedText(call, sights), arithmetic }, guilty]];
});

/** Number of window lengths after which a caller's earlier calls no longer count, by any algorithm. */
export const idleWindows = 2;

/**
 * Judges that a caller without calls for two window lengths is admitted, since each limiter over time has forgotten the
 * earlier ones. Counted refusals may be put off, at most a limit's worth into each later window.
 */
const forgets = overLooks(() => {
  const latest = new Map<string, number>();
  const putOff = new Map<string, number>();
  return (look) => {
    const call = decided(look);
    return look.sights.flatMap((sight): [Opinion, QuotaKey][] => {
      const { limit, lengthMs, rule, name } = sight;
      const { atMs } = look.event.op;
      const idleMs = atMs - (latest.get(name) ?? Number.POSITIVE_INFINITY);
      latest.set(name, atMs);
      if (call === null) return [];
      const { cost } = call.op;
      const late = putOff.get(name) ?? 0;
      const waits = !call.admitted && rule.charge.refused === "counted";
      putOff.set(name, late + (waits ? cost : 0));
      const windows = idleWindows + Math.ceil(late / limit);
      if (idleMs < windows * lengthMs || cost > limit) return [];
      if (call.admitted) return [["kept", sight]];
      if (call.refusedBy && call.refusedBy !== sight.quota) return [];
      const arithmetic = `nobody called for ${idleMs / 1000} s, and ${cost} <= ${limit}`;
      return [[{ expected: "admitted", got: "refused", arithmetic }, sight]];
    });
  };
});

/** Judges that a caller is admitted again after its window, or after two window lengths without a call. */
export const recovers: QuotaJudge = (trial) => (isKnown(trial.script) ? renews(trial) : forgets(trial));

/** Judges that a quota that is not enforced refuses nothing, and still counts. */
export const unenforcedNeverRefuses = overLooks(() => (look) => {
  const call = decided(look);
  const { sights } = look;
  const off = sights.filter(({ isEnforced }) => !isEnforced);
  const [first] = off;
  if (call === null || first === undefined) return [];
  if (call.admitted) return [["kept", first], ...sights.map((sight) => [stillCounts(sight), sight] as const)];
  const named = off.find(({ quota }) => quota === call.refusedBy);
  const guilty = named ?? (off.length === sights.length ? first : undefined);
  if (guilty === undefined) return [];
  const arithmetic = `enforced is false; ${foundText(sights)}`;
  return [[{ expected: "admitted", got: refusedText(call, sights), arithmetic }, guilty]];
});

function stillCounts({ current, after, before, charge, sure, rule, shown: [shown] }: Sight): Opinion {
  if (current === null || !sure || !isWindow(rule)) return null;
  if (after.least <= current && current <= after.most) return "kept";
  const name = shown?.name ?? "used";
  return {
    expected: `${name} ${spanText(after)}`,
    got: `${name} ${current}`,
    arithmetic: `counting goes on while unenforced: ${spanText(before)} + ${charge === null ? 0 : spanText(charge)}`,
  };
}

/** Judges that after a step back in time no window reopens, and no call is admitted that lacked room before it. */
export const neverRollsBack = overLooks(({ isExact }) => {
  const latest = new Map<string, number>();
  return ({ sights }) => sights.map((sight) => [reopened(sight, latest) ?? extra(sight, isExact), sight]);
});

/** Returns the end of a window that the limiter said, ms; `null` if it said none. */
const toldEnd = ({ rule, shown }: Sight): number | null =>
  isWindow(rule) ? (shown.find(({ by }) => by === "said")?.reset ?? null) : null;

/** Judges a window's end, and keeps the latest end that calls were told. A status reading moves no clock. */
function reopened(sight: Sight, latest: Map<string, number>): Breach | null {
  const { atMs, do: what } = sight.event.op;
  const told = toldEnd(sight);
  if (told === null) return null;
  const known = latest.get(sight.name) ?? 0;
  if (what !== "status") latest.set(sight.name, Math.max(known, told));
  if (atMs >= sight.clockMs || told >= known) return null;
  return {
    expected: `a reset ${known - atMs} ms after this or later`,
    got: `a reset ${told - atMs} ms after this`,
    arithmetic: `the clock stepped back by ${sight.clockMs - atMs} ms, and a window that was over is open again`,
  };
}

function extra(sight: Sight, isExact: boolean): Opinion {
  const { event, clockMs, isEnforced, before, limit, sure, found } = sight;
  if (event.op.atMs >= clockMs) return null;
  const call = decided(sight);
  if (call === null) return toldEnd(sight) === null ? null : "kept";
  if (!call.admitted || !isEnforced) return "kept";
  const lacks = lacksRoom(sight, isExact, sure ? before : null);
  if (lacks !== true) return lacks === null ? null : "kept";
  return {
    expected: "a refusal",
    got: "admitted",
    arithmetic: `at the later time it had ${spanText(before)} of ${limit}, and the call takes ${found?.needed}`,
  };
}
