// Conclusions of a probe by a policy from its calls: the limits, windows, costs and refusals of each quota.
import { limitOf, quotaFor, usedQuotas } from "../policy/effective.ts";
import type { Anchor, Policy } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import { counted } from "../rules/words.ts";
import type { QuotaCall } from "../trace/quota-record.ts";
import { about } from "./finding.ts";
import type { QuotaFinding } from "./policy-finding.ts";
import type { PolicySession } from "./policy-session.ts";
import { endIn, gridOf, overlap, readingOf, roundingOf, skewOf, usedIn, windowsOf } from "./quota-windows.ts";

export const isRefused = ({ outcome }: QuotaCall): boolean => outcome === "refused";

/** Returns the units that the policy charges for a sample; `null` if only the answer tells. */
export function costOf({ operations }: Policy, operation: string, quota: string): number | null {
  const { uses = {}, samples = [] } = operations[operation] ?? {};
  const cost = uses[quota];
  if (cost === undefined) return null;
  return typeof cost === "number" ? cost : cost === "declared" ? (samples[0]?.cost ?? 1) : null;
}

/** Returns the findings of each quota, in the policy's order. */
export function conclude(session: PolicySession): QuotaFinding[] {
  const { policy } = session.options;
  return Object.keys(policy.quotas).flatMap((quota) => {
    const isWindow = policy.quotas[quota]?.algorithm.kind === "fixed-window";
    const costs = costFindings(session, quota);
    return [
      limitFinding(session, quota, costs),
      ...(isWindow ? windowFindings(session, quota) : []),
      ...costs,
      ...refusalFindings(session, quota),
      ...statusFinding(session, quota),
    ];
  });
}

function limitFinding(
  { calls, options: { policy, caller } }: PolicySession,
  quota: string,
  costs: readonly QuotaFinding[],
): QuotaFinding {
  const said = limitOf(quotaFor(policy, quota, caller.attributes).algorithm);
  const of = about({ quota, name: "limit", said });
  const shown = calls.filter((call) => readingOf(call, quota)?.limit != null);
  const limits = new Set(shown.map((call) => readingOf(call, quota)?.limit));
  const refused = calls.find((call) => isRefused(call) && call.by === quota);
  const passed = admittedBefore(calls, quota, refused, costs);
  const [limit] = limits;
  if (limits.size > 1)
    return of.unseen(`answers show ${[...limits].join(" and ")}`, "answers that agree on the limit");
  if (limit == null) {
    if (refused === undefined)
      return of.unseen(
        "no answer shows it, and none was refused by it",
        "a larger --budget, so that a call is refused",
      );
    if (passed === null)
      return of.unseen("no answer shows it, nor what was used when one was refused", "answers that show it");
    return of.likely(passed, `no answer shows it; a call was refused after ${passed} were let through`, [
      refused,
    ]);
  }
  if (passed !== null && passed > limit && policy.quotas[quota]?.algorithm.kind === "fixed-window")
    return of.likely(
      passed,
      `answers show ${limit}, but one window let ${passed} through`,
      refused ? [refused] : [],
    );
  const early = refused && refusedAt(refused, quota, costs);
  if (refused !== undefined && early != null && policy.quotas[quota]?.algorithm.kind === "fixed-window")
    return of.likely(passed ?? early, `answers show ${limit}, but a call was refused with ${early} used`, [
      refused,
    ]);
  const kept =
    refused === undefined
      ? "no call was refused by it"
      : `and a call was refused after ${passed ?? "enough"}`;
  return of.found(
    limit,
    refused === undefined ? "likely" : "certain",
    `${counted(shown.length, "answer")} show it, ${kept}`,
    [...shown.slice(0, 1), ...(refused ? [refused] : [])],
  );
}

/** Returns the units that a refusal shows as used, if it shows room for its call; `null` if not, or if that is unknown. */
function refusedAt(refused: QuotaCall, quota: string, costs: readonly QuotaFinding[]): number | null {
  const reading = readingOf(refused, quota);
  const used = usedIn(reading);
  const left = reading?.remaining ?? (used === null || reading?.limit == null ? null : reading.limit - used);
  const cost = costFound(costs, refused.operation);
  return used !== null && left !== null && cost !== null && left >= Math.max(1, cost) ? used : null;
}

/** Returns the units that a call was found to take, or else those of the policy; `null` if neither tells. */
function costFound(costs: readonly QuotaFinding[], wanted: string): number | null {
  const own = costs.find(({ operation }) => operation === wanted);
  const cost = own?.value ?? own?.said;
  return typeof cost === "number" ? cost : null;
}

/** Returns the units that admitted calls took in the window of a first refusal; `null` if unknown. */
function admittedBefore(
  calls: readonly QuotaCall[],
  quota: string,
  refused: QuotaCall | undefined,
  costs: readonly QuotaFinding[],
): number | null {
  if (refused === undefined) return null;
  let sum = 0;
  let used = 0;
  for (const call of calls.slice(0, calls.indexOf(refused))) {
    if (call.operation === "status" || call.outcome !== "admitted") continue;
    const cost = costFound(costs, call.operation);
    if (cost === null) continue;
    const reading = readingOf(call, quota);
    const shown = usedIn(reading);
    // A new window began, or others called before.
    if (shown !== null && shown < used) sum = 0;
    used = shown ?? used;
    sum += cost;
    // A window that began unseen has used less than all of these; a remaining of 0 hides what is above the limit.
    if (shown !== null && (reading?.used != null || shown < (reading?.limit ?? 0)))
      sum = Math.min(sum, shown);
  }
  return sum === 0 ? null : sum;
}

function windowFindings(session: PolicySession, quota: string): QuotaFinding[] {
  const {
    calls,
    options: { policy, caller },
  } = session;
  const { algorithm } = quotaFor(policy, quota, caller.attributes);
  if (algorithm.kind !== "fixed-window") return [];
  const isCalendar = typeof algorithm.anchor === "object" && "calendar" in algorithm.anchor;
  const length = about({ quota, name: "windowSeconds", said: isCalendar ? null : algorithm.windowSeconds });
  const anchor = about({ quota, name: "anchor", said: anchorText(algorithm.anchor) });
  const windows = windowsOf(calls, quota, roundingOf(policy, quota), (operation) =>
    costOf(policy, operation, quota),
  );
  const grid = isCalendar
    ? null
    : gridOf(windows, algorithm.windowSeconds * 1000, algorithm.opens === "exact" ? 0 : 1000, skewOf(calls));
  if (grid === null) {
    const why =
      windows.length === 0
        ? "no answer shows both its use and its end"
        : `${counted(windows.length, "window of it was", "windows of it were")} seen`;
    const longer =
      windows.length === 0
        ? "answers that tell what is used of it, and when it ends"
        : "a longer --max-wait, so that windows end";
    const needs = isCalendar ? "days: a calendar's windows are not inferred" : longer;
    return [length.unseen(why, needs), anchor.unseen(why, needs)];
  }
  const { windowSeconds, confidence, evidence } = grid;
  return [
    length.found(windowSeconds, confidence, evidence, grid.calls),
    grid.anchor === null
      ? anchor.unseen("its ends are told too roughly", "answers that tell the end to the second, with a Date")
      : anchor.found(anchorText(grid.anchor), grid.anchorConfidence, evidence, grid.calls),
  ];
}

const anchorText = (anchor: Anchor): string =>
  typeof anchor === "string"
    ? anchor
    : "offsetMs" in anchor
      ? `offset ${anchor.offsetMs}`
      : `${anchor.calendar} in ${anchor.zone}`;

/** Returns findings on costs from pairs of calls in a row in one window. Other kinds of quota refill between two calls. */
function costFindings(session: PolicySession, quota: string): QuotaFinding[] {
  const { policy, caller } = session.options;
  if (policy.quotas[quota]?.algorithm.kind !== "fixed-window") return [];
  return Object.keys(policy.operations).flatMap((operation) => {
    if (!usedQuotas(policy, operation, caller.attributes).includes(quota)) return [];
    const of = about({ quota, name: "cost", operation, said: costOf(policy, operation, quota) });
    const pairs = taken(session, quota, (call) => call.operation === operation && !isRefused(call)).filter(
      ({ isOneWindow }) => isOneWindow !== false,
    );
    const took = new Set(pairs.map((pair) => pair.took));
    const [cost] = took;
    if (cost === undefined)
      return [of.unseen("no two answers in a row show its use", "answers that show it, and two calls")];
    if (took.size > 1)
      return [of.unseen(`calls took ${[...took].join(", ")}`, "a time at which nobody else calls")];
    // If a new window began before each call, what a call shows as used is what it took.
    const [used, ...others] = new Set(pairs.map((pair) => (pair.isOneWindow === true ? null : pair.used)));
    const mayBeNew = used != null && others.length === 0 && used !== cost;
    if (mayBeNew && cost === 0)
      return [
        of.unseen(
          `calls took 0, or ${used} if a new window began before each`,
          "longer windows, or faster answers",
        ),
      ];
    return [
      of.found(
        cost,
        pairs.length > 1 && !mayBeNew ? "certain" : "likely",
        `${counted(pairs.length, "call")} took ${cost}`,
        pairs.map(({ call }) => call),
      ),
    ];
  });
}

function refusalFindings(session: PolicySession, quota: string): QuotaFinding[] {
  const {
    calls,
    options: { policy },
  } = session;
  const said = policy.quotas[quota]?.charge.refused ?? "nothing";
  const of = about({ quota, name: "refused", said });
  const back = about({ quota, name: "retryAfter", said: null });
  const isIts = (call: QuotaCall): boolean => isRefused(call) && call.by === quota;
  const first = calls.find(isIts);
  if (first === undefined) {
    const reason = "no call was refused by it";
    const needs = "a larger --budget, so that a call is refused";
    return [of.unseen(reason, needs), back.unseen(reason, needs)];
  }
  const { retryAfterMs, retryAt } = first;
  const advice =
    retryAfterMs !== undefined
      ? `after ${retryAfterMs / 1000} s`
      : retryAt !== undefined
        ? "at an instant"
        : "never";
  const isLookedFor = wireOf(policy).retryAfter.length > 0;
  const told = isLookedFor
    ? back.certain(advice, `call ${first.call + 1} was answered ${first.status}`, [first])
    : back.unseen("the policy's wire does not say where", "`retryAfter` in it");
  // Only calls in a row met one window, unless it ended between them.
  const pairs = pairsIn(session, quota, (call, before) => isIts(call) && isIts(before)).flatMap((found) => {
    const [one, two] = [found.before, found.call].map((call) => levelIn(call, quota));
    return found.isOneWindow === false || one == null || two == null || two < one
      ? []
      : [{ ...found, one, two }];
  });
  const pair = pairs.find(({ one, two }) => one === two) ?? pairs[0];
  if (pair === undefined)
    return [
      of.unseen(
        "answers show no count that goes on when it is full",
        "answers that show used, or a remaining below 0",
      ),
      told,
    ];
  const { before, call, one, two } = pair;
  const { limit = null, used = null } = readingOf(before, quota) ?? {};
  // A count below its limit may have grown by others' calls, which were let through.
  const isSure = two === one || used === null || (limit !== null && used >= limit);
  const evidence = `two refusals in a row show ${one} and ${two} used`;
  return [
    of.found(two > one ? "counted" : "nothing", isSure ? "certain" : "likely", evidence, [before, call]),
    told,
  ];
}

/** Returns the used units that a refusal shows of a quota, even above its limit; `null` if it hides them. */
function levelIn(refused: QuotaCall, quota: string): number | null {
  const reading = readingOf(refused, quota);
  return reading?.used ?? signed(reading?.remaining);
}

/** Returns by how much a remaining number is below 0: it tells more than an empty window; otherwise `null`. */
const signed = (remaining: number | null | undefined): number | null =>
  remaining != null && remaining < 0 ? -remaining : null;

/** Two calls in a row that both show a quota's count. */
interface CallPair {
  readonly before: QuotaCall;
  readonly call: QuotaCall;
  /** True if both surely met one window, false if surely two; `null` if that is unknown. */
  readonly isOneWindow: boolean | null;
}

function pairsIn(
  { calls, options: { policy } }: PolicySession,
  quota: string,
  isMeant: (call: QuotaCall, before: QuotaCall) => boolean,
): CallPair[] {
  const rounding = roundingOf(policy, quota);
  const skew = skewOf(calls);
  return calls.flatMap((call, at) => {
    const before = calls[at - 1];
    if (before === undefined || !isMeant(call, before)) return [];
    const [one, other] = [before, call].map((each) => readingOf(each, quota));
    const [first, second] = [endIn(before, one, rounding), endIn(call, other, rounding)];
    const isApart = first !== null && second !== null && overlap(first, second) === null;
    // An instant counts by the target's clock.
    const aheadMs = one?.reset?.atMs == null ? 0 : (skew?.most ?? Number.POSITIVE_INFINITY);
    const isBefore = first !== null && call.received < first.least - aheadMs;
    return [{ before, call, isOneWindow: isApart ? false : isBefore || null }];
  });
}

/** What a call took of a quota, and what it shows as used. */
interface Taken extends CallPair {
  readonly took: number;
  readonly used: number;
}

function taken(session: PolicySession, quota: string, isMeant: Parameters<typeof pairsIn>[2]): Taken[] {
  return pairsIn(session, quota, isMeant).flatMap((pair) => {
    const [was, used] = [pair.before, pair.call].map((call) => usedIn(readingOf(call, quota)));
    return was == null || used == null || used < was ? [] : [{ ...pair, took: used - was, used }];
  });
}

function statusFinding(session: PolicySession, quota: string): QuotaFinding[] {
  const isStatus = ({ operation }: QuotaCall): boolean => operation === "status";
  const [one] = taken(session, quota, (call, before) => isStatus(call) && isStatus(before));
  if (one === undefined) return [];
  const { call, took, used, isOneWindow } = one;
  // Somebody else's call may have been charged meanwhile, or a new window have begun.
  const isSure = took === 0 && (isOneWindow === true || used === 0);
  return [
    about({ quota, name: "status", said: "free" }).found(
      took === 0 ? "free" : "charged",
      isSure ? "certain" : "likely",
      `a status call took ${took}`,
      [call],
    ),
  ];
}
