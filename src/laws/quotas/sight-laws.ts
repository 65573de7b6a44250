// The laws on one run under a policy: what counts show, whom the limiter lets through, and what its answers say.
import { lowestTerms } from "../../policy/checks.ts";
import type { FixedWindow, Quota, TokenBucket } from "../../policy/policy.ts";
import { quote } from "../../rules/errors.ts";
import type { Judge } from "../law.ts";
import { type Breach, type Opinion, OpinionTally } from "../law.ts";
import {
  looksOf,
  nameOfCount,
  type QuotaKey,
  type QuotaLook,
  type QuotaSight,
  type QuotasKind,
  type ShownCount,
} from "./ledger.ts";
import type { QuotaCallEvent, QuotaOp, QuotaScript } from "./script.ts";

export type QuotaJudge = Judge<QuotasKind>;

/** A count's key alone. */
const keyAlone = ({ quota, key }: QuotaKey): QuotaKey => ({ quota, key });
export const newTally = (): OpinionTally<QuotasKind> => new OpinionTally<QuotasKind>(keyAlone);

export const withoutOps = (ops: readonly QuotaOp[], kind: QuotaOp["do"]): readonly QuotaOp[] =>
  ops.filter((op) => op.do !== kind);

type Heard = readonly (readonly [Opinion, QuotaKey | null])[];

/** A law over one run. `begin` gives each run a memory of its own. */
function overLooks(begin: (script: QuotaScript) => (look: QuotaLook) => Heard): QuotaJudge {
  return async ({ script, play }) => {
    const history = await play(withoutOps(script.ops, "snapshot"));
    const judge = begin(script);
    const tally = newTally();
    for (const look of looksOf(script, history))
      for (const [opinion, count] of judge(look)) tally.add(opinion, look.at, count);
    return { history, judged: tally.judged, violation: tally.violation };
  };
}

function overCounts(begin: (script: QuotaScript) => (sight: QuotaSight) => Opinion): QuotaJudge {
  return overLooks((script) => {
    const judge = begin(script);
    return ({ sights }) => sights.map((sight) => [judge(sight), sight]);
  });
}

/** A law over what counts show; the first breach of those that a count shows at once. */
const overShown = (
  judge: (shown: ShownCount, sight: QuotaSight, script: QuotaScript) => Opinion,
): QuotaJudge =>
  overCounts((script) => (sight) => firstOf(sight.shown.map((shown) => judge(shown, sight, script))));

const firstOf = (opinions: readonly Opinion[]): Opinion =>
  opinions.find((opinion) => opinion !== null && opinion !== "kept") ??
  (opinions.includes("kept") ? "kept" : null);

export const isWindow = ({ algorithm }: Quota): boolean => algorithm.kind === "fixed-window";
const byWhom = ({ by }: ShownCount): string =>
  by === "said" ? "the limiter says so" : "its answer shows it";

const agrees = (
  member: string,
  got: number | null,
  right: number | null,
  within: number,
  why: string,
): Opinion =>
  got === null || right === null
    ? null
    : Math.abs(got - right) <= within
      ? "kept"
      : { expected: `${member} ${right}`, got: `${member} ${got}`, arithmetic: why };

/** Fractions of a bucket round: one unit, where its limiter does not count in whole numbers. */
const unitsOff = ({ rule }: QuotaSight, { isExact }: QuotaScript): number =>
  isWindow(rule) || isExact ? 0 : 1;

/** Time in which a bucket gets one unit back, ms. */
function unitMs({ algorithm }: Quota): number {
  if (algorithm.kind !== "token-bucket") return 0;
  const { amount, everyMs } = lowestTerms(algorithm.refill);
  return Math.ceil(everyMs / amount);
}

/** A count never passes its limit, where calls must fit whole and refusals are free. */
export const bounded = overShown(({ remaining, used, limit }, sight) => {
  const { rule, isEnforced, limit: most } = sight;
  const { when, fits, refused, refusedByOther } = rule.charge;
  const mayPass = sight.mayPass || when === "completion" || fits === "any-left" || refused === "counted";
  if (mayPass || refusedByOther === "charged" || !isEnforced || (used === null && remaining === null))
    return null;
  const bound = limit ?? most;
  const breach = (member: string, got: number): Breach => ({
    expected: `${member} from 0 to ${bound}`,
    got: `${member} ${got}`,
    arithmetic: `the limit is ${bound}`,
  });
  if (used !== null && (used < 0 || used > bound)) return breach("used", used);
  if (remaining !== null && (remaining < 0 || remaining > bound)) return breach("remaining", remaining);
  return "kept";
});

/** A count is the sum of what was charged: each admitted call once, and nothing else. */
export const conserved = overShown((shown, sight, script) => {
  const { used, remaining, right } = shown;
  const off = unitsOff(sight, script);
  const why = `${countText(sight)} (${byWhom(shown)})`;
  return firstOf([
    agrees("used", used, right.used, off, why),
    agrees("remaining", remaining, right.remaining, off, why),
  ]);
});

/** `2 used before, and this call costs 1`. */
function countText({ found, charge, right: { used } }: QuotaSight): string {
  if (found !== null) return `${found.used} used before, and this call is charged ${charge}`;
  return charge === 0
    ? `${used} used so far`
    : `${used} used, of which this ${charge > 0 ? "added" : "gave back"} ${Math.abs(charge)}`;
}

export const remainingAgrees = overShown((shown, { rule, limit: most }) => {
  const { used, remaining, limit, right } = shown;
  if (used === null || remaining === null) return null;
  const rest = (bound: number, count: number): number =>
    rule.shown.remaining === "signed" ? bound - count : Math.max(0, bound - count);
  // A format that rounds its numbers does not add up itself.
  if (right.used !== null && right.remaining !== rest(right.limit ?? most, right.used)) return null;
  return agrees("remaining", remaining, rest(limit ?? most, used), 0, `${limit ?? most} - ${used}`);
});

export const limitAgrees = overShown((shown) =>
  agrees("limit", shown.limit, shown.right.limit, 0, `the policy says so (${byWhom(shown)})`),
);

export const resetAgrees = overShown((shown, sight, { isExact }) => {
  const { reset, right, by } = shown;
  const { rule, event } = sight;
  const what = isWindow(rule) ? "the window ends then" : "the bucket is full then";
  const within = isWindow(rule) || isExact ? 0 : Math.max(unitMs(rule), by === "answer" ? 1000 : 1);
  if (reset === null || right.reset === null) return null;
  if (Math.abs(reset - right.reset) <= within) return "kept";
  const text = (ms: number): string =>
    by === "answer" ? `reset ${ms / 1000} s` : `reset ${(ms - event.op.atMs) / 1000} s after this`;
  return { expected: text(right.reset), got: text(reset), arithmetic: `${what} (${byWhom(shown)})` };
});

/** Within a window a count never falls, but by what completed calls give back. */
export const monotone = overCounts(() => {
  const last = new Map<string, { readonly endsAt: number; readonly used: number }>();
  return (sight) => {
    if (!isWindow(sight.rule) || sight.clockMs !== sight.event.op.atMs) return null;
    const shown = sight.shown.find(
      ({ by, used, remaining }) => by === "said" && (used ?? remaining) !== null,
    );
    const used = shown === undefined ? null : (shown.used ?? sight.limit - (shown.remaining as number));
    if (used === null) return null;
    const name = nameOfCount(sight);
    const before = last.get(name);
    const endsAt = sight.right.resetAtMs;
    last.set(name, { endsAt, used });
    if (before === undefined || before.endsAt !== endsAt) return null;
    const least = before.used + Math.min(0, sight.charge);
    if (used >= least) return "kept";
    return {
      expected: `used ${least} or more`,
      got: `used ${used}`,
      arithmetic: `this window showed ${before.used} before`,
    };
  };
});

const decided = ({ event }: { readonly event: QuotaLook["event"] }): QuotaCallEvent | null =>
  "admitted" in event ? event : null;

/** Tells whether a count lacks room for its call; `null` within a rounding of it. */
export function lacksRoom({ found, rule, clockMs, limit }: QuotaSight, isExact: boolean): boolean | null {
  if (found === null) return null;
  if (isWindow(rule)) return found.needed > limit - found.used;
  if (found.roomAtMs === null) return true;
  if (!isExact && Math.abs(found.roomAtMs - clockMs) <= 1) return null;
  return found.roomAtMs > clockMs;
}

const foundText = (sights: readonly QuotaSight[]): string =>
  sights
    .map(({ quota, found, limit, isEnforced }) => {
      const off = isEnforced ? "" : " (not enforced)";
      return `${quota} ${found?.used ?? "?"} of ${limit}${off}, and takes ${found?.needed ?? "?"}`;
    })
    .join("; ");

/** A call is refused if and only if some enforced quota lacks room for it. */
export const refusalJustified = overLooks(({ isExact }) => (look) => {
  const call = decided(look);
  if (call === null) return [];
  const enforced = look.sights.filter((sight) => sight.isEnforced);
  const lacking = enforced.map((sight) => lacksRoom(sight, isExact));
  const arithmetic = `the call found ${foundText(look.sights)}`;
  const isLacking = lacking.includes(true) ? true : lacking.includes(null) ? null : false;
  const opinion: Opinion =
    isLacking === null
      ? null
      : isLacking !== call.admitted
        ? "kept"
        : call.admitted
          ? { expected: "a refusal", got: "admitted", arithmetic }
          : { expected: "admitted", got: refusedText(call), arithmetic };
  return [[opinion, enforced[lacking.indexOf(true)] ?? null]];
});

const refusedText = ({ refusedBy }: QuotaCallEvent): string =>
  refusedBy ? `refused by ${refusedBy}` : "refused";

/** A count of which nothing is used any more refuses no call that fits its limit. */
export const recovers = overLooks(() => (look) => {
  const call = decided(look);
  if (call === null) return [];
  const renewed = look.sights.filter(({ isRenewed, found }) => isRenewed && found?.roomAtMs !== null);
  if (call.admitted) return renewed.map((sight) => ["kept", sight] as const);
  const refuser = look.sights.find(({ quota }) => quota === call.refusedBy);
  const guilty = refuser ?? (renewed.length === look.sights.length ? renewed[0] : undefined);
  if (guilty === undefined || !renewed.includes(guilty)) return [];
  const over = isWindow(guilty.rule) ? "its window ended" : "it is full again";
  const arithmetic = `${over}, nothing was charged since, and ${guilty.found?.needed} <= ${guilty.limit}`;
  return [[{ expected: "admitted", got: refusedText(call), arithmetic }, guilty]];
});

export const unenforcedNeverRefuses = overLooks(() => (look) => {
  const call = decided(look);
  if (call === null) return [];
  const off = look.sights.filter(({ isEnforced }) => !isEnforced);
  const [first] = off;
  if (first === undefined) return [];
  if (call.admitted) return [["kept", first]];
  const named = off.find(({ quota }) => quota === call.refusedBy);
  const guilty = named ?? (off.length === look.sights.length ? first : undefined);
  if (guilty === undefined) return [];
  const arithmetic = `${guilty.quota} is not enforced; the call found ${foundText(look.sights)}`;
  return [[{ expected: "admitted", got: refusedText(call), arithmetic }, guilty]];
});

/** At a time that steps back nothing is admitted for which the later time has no room, and no window reopens. */
export const neverRollsBack = overLooks(({ isExact }) => {
  const latest = new Map<string, number>();
  return ({ sights, event }) =>
    sights.map((sight) => {
      const isBack = event.op.atMs < sight.clockMs;
      const told = isWindow(sight.rule) ? (sight.shown.find(({ by }) => by === "said")?.reset ?? null) : null;
      const name = nameOfCount(sight);
      const known = latest.get(name) ?? 0;
      if (told !== null && event.op.do !== "status") latest.set(name, Math.max(known, told));
      return [isBack ? steppedBack(sight, told, known, isExact) : null, sight] as const;
    });
});

function steppedBack(sight: QuotaSight, told: number | null, known: number, isExact: boolean): Opinion {
  const { event, clockMs, isEnforced } = sight;
  const by = `the clock stepped back by ${clockMs - event.op.atMs} ms`;
  if (told !== null && told < known)
    return {
      expected: `a reset ${known - event.op.atMs} ms after this or later`,
      got: `${told - event.op.atMs} ms after this`,
      arithmetic: `${by}, and a window that was over is open again`,
    };
  const call = decided(sight);
  if (call === null) return told === null ? null : "kept";
  if (!call.admitted || !isEnforced) return "kept";
  const lacks = lacksRoom(sight, isExact);
  if (lacks !== true) return lacks === null ? null : "kept";
  return {
    expected: "a refusal",
    got: "admitted",
    arithmetic: `${by}; at the later time the call found ${foundText([sight])}`,
  };
}

/** Every reading that the policy's format promises is there, in a form of its own. */
export const headersPresent = overLooks(() => ({ event, answer }) => {
  const read = "read" in event ? event.read : null;
  if (read === null || answer === null) return [];
  const breach = (expected: string, got: string): Breach => ({
    expected,
    got,
    arithmetic: "the policy's wire says so",
  });
  const [unread] = read.unread;
  if (unread !== undefined) return [[breach(`a documented form of ${unread.at}`, quote(unread.text)), null]];
  return answer.readings.map((promised) => {
    const theirs = read.readings.filter(({ quota }) => quota === promised.quota);
    const seen = theirs.length > 0 ? theirs : read.readings.filter(({ quota }) => quota !== null);
    const lacking = (["limit", "remaining", "used", "reset"] as const).find(
      (member) => promised[member] !== null && !seen.some((one) => one[member] !== null),
    );
    const name = promised.quota === null ? "" : ` of ${promised.quota}`;
    return [lacking === undefined ? "kept" : breach(`${lacking}${name}`, "an answer without it"), null];
  });
});

/** A refusal names the first quota that lacks room, and its answer says the same as the decision. */
export const refusalAgrees = overLooks(({ isExact }) => (look) => {
  const call = decided(look);
  if (call === null) return [];
  if (call.isAtOdds) {
    const said = call.admitted ? "admitted" : "refused";
    const arithmetic = "the answer is read by the policy's wire";
    return [[{ expected: `an answer that says ${said}`, got: `${call.read?.outcome}`, arithmetic }, null]];
  }
  if (call.admitted) return [];
  const { read } = call;
  const answered = read?.by != null && look.answer?.by != null ? [[look.answer.by, read.by] as const] : [];
  const other = answered.find(([right, got]) => right !== got);
  if (other !== undefined)
    return [
      [
        { expected: `an answer that names ${other[0]}`, got: other[1], arithmetic: `${other[0]} refused` },
        null,
      ],
    ];
  const named = look.sights.find(({ quota }) => quota === call.refusedBy);
  if (named === undefined) return [];
  const lacking = look.sights.filter((sight) => sight.isEnforced && lacksRoom(sight, isExact) === true);
  const unsure = look.sights.some((sight) => lacksRoom(sight, isExact) === null);
  if (unsure || lacking.length === 0) return [];
  const [first] = lacking;
  if (first === named) return [["kept", named]];
  return [
    [
      {
        expected: `a refusal that names ${first?.quota}`,
        got: named.quota,
        arithmetic: `${lacking.map(({ quota }) => quota).join(" and ")} lack room, in this order`,
      },
      named,
    ],
  ];
});

/** A charge of a count, or what is given back. */
interface Charged {
  readonly sight: QuotaSight;
  readonly atMs: number;
  readonly cost: number;
}

/** Units that admitted calls add to each count, and give back, in order. */
function chargedBy(looks: readonly QuotaLook[]): Map<string, Charged[]> {
  const tracks = new Map<string, Charged[]>();
  for (const { event, sights } of looks) {
    if (event.op.do !== "settle" && decided({ event })?.admitted !== true) continue;
    for (const sight of sights) {
      const name = nameOfCount(sight);
      const track = tracks.get(name) ?? [];
      track.push({ sight, atMs: sight.clockMs, cost: sight.charge });
      tracks.set(name, track);
    }
  }
  return tracks;
}

/** A law on the spans of time between any two admitted calls of a count. */
function overSpans(
  boundOf: (sight: QuotaSight, isExact: boolean) => ((spanMs: number) => number) | null,
): QuotaJudge {
  return async ({ script, play }) => {
    const history = await play(withoutOps(script.ops, "snapshot"));
    const tally = newTally();
    const looks = looksOf(script, history);
    const unenforced = new Set(
      looks.flatMap(({ sights }) => sights.flatMap((one) => (one.isEnforced ? [] : [nameOfCount(one)]))),
    );
    for (const [name, track] of chargedBy(looks)) {
      const bound =
        track[0] === undefined || unenforced.has(name) ? null : boundOf(track[0].sight, script.isExact);
      if (bound === null) continue;
      for (const [last, { sight, atMs }] of track.entries()) {
        let total = 0;
        let opinion: Opinion = "kept";
        for (let first = last; first >= 0 && opinion === "kept"; first -= 1) {
          const from = track[first] as Charged;
          total += from.cost;
          const most = bound(atMs - from.atMs);
          if (total > most)
            opinion = {
              expected: `at most ${Math.floor(most)} in any ${(atMs - from.atMs) / 1000} s`,
              got: `${total} admitted`,
              arithmetic: `from the call at ${from.atMs - script.startMs} ms to this one`,
            };
        }
        tally.add(opinion, sight.at, sight);
      }
    }
    return { history, judged: tally.judged, violation: tally.violation };
  };
}

const mayOvershoot = ({ charge: { when, fits } }: Quota): boolean =>
  when === "completion" || fits === "any-left";

/** Any span of a window's length holds at most twice the limit. */
export const twiceAtMost = overSpans(({ rule, limit }) => {
  if (!isWindow(rule) || mayOvershoot(rule)) return null;
  const { anchor, windowSeconds } = rule.algorithm as FixedWindow;
  if (typeof anchor === "object" && "calendar" in anchor) return null;
  return (spanMs) => (spanMs < windowSeconds * 1000 ? 2 * limit : Number.POSITIVE_INFINITY);
});

/** No span of time admits more of a bucket than its capacity, and what comes back meanwhile. */
export const rateBound = overSpans(({ rule, limit }, isExact) => {
  if (isWindow(rule) || mayOvershoot(rule)) return null;
  const { amount, everyMs } = (rule.algorithm as TokenBucket).refill;
  return (spanMs) => limit + (amount * spanMs) / everyMs + (isExact ? 0 : 1);
});
