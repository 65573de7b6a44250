// Tells whether a kind of call counts: read the counts for free, make the call, read again. Others use the
// organization's quota too, and only ever add to it. One trial without a difference thus shows that a call does not
// count. A difference shows that it counts only if it comes every time, and if readings without a call show none.
import type { Scope } from "../rules/rules.ts";
import { counted } from "../rules/words.ts";
import { isFailure } from "../wire/outcome.ts";
import { about, callAt, type Finding, type FindingName } from "./finding.ts";
import { type SeenCall, whole } from "./seen.ts";
import { type Action, type ProbeSession, STATUS } from "./session.ts";
import { headerSights, type WindowReadingSight } from "./sight.ts";

/** A call between two readings. */
export interface ProbeTrial {
  readonly before: SeenCall;
  readonly action: SeenCall;
  readonly after: SeenCall;
  /** Growth of the counts; `null` if it cannot be told, since a window ended or shows nothing. */
  readonly organization: number | null;
  readonly user: number | null;
  /** True if the user's window showed 0 left after the call: it may have grown by more. */
  readonly isUserClamped: boolean;
  /** True if both windows showed something left before the call. */
  readonly hadRoom: boolean;
}

/** Reads, calls, reads; returns `null` if the allowance is too small. */
export async function trial(session: ProbeSession, action: Action): Promise<ProbeTrial | null> {
  const { calls } = session;
  if (!session.affords(action)) return null;
  const last = calls.at(-1);
  const before = last?.statusScopes != null ? last : await session.status();
  if (before === null) return null;
  const prior = headerSights(calls, action.scope, "user").at(-1) ?? null;
  const made = await session.act(action);
  if (made === null) return null;
  const after = await session.status();
  if (after === null) return null;
  return weigh(before, made, after, action.scope, prior);
}

/** Weighs a trial. @param prior last reading of the user's window before it: no status answer shows GraphQL's */
function weigh(
  before: SeenCall,
  action: SeenCall,
  after: SeenCall,
  scope: Scope,
  prior: WindowReadingSight | null,
): ProbeTrial {
  const from = before.statusScopes?.[scope] ?? null;
  const userLeft = whole((scope === "rest" ? before : prior?.call)?.headers.userRemaining);
  const hadRoom = (userLeft ?? 0) > 0 && from !== null && from.current < from.limit;
  const void_ = { before, action, after, organization: null, user: null, isUserClamped: false, hadRoom };
  if (isFailure(action.status)) return void_;
  const to = after.statusScopes?.[scope] ?? null;
  const stays = isSameWindow(before, after, scope);
  const organization = stays && from !== null && to !== null ? to.current - from.current : null;
  const [first, second] = scope === "rest" ? [before, after] : [prior?.call ?? null, action];
  const user =
    first !== null && isSameUserWindow(first, second, scope, stays) ? userGrowth(first, second) : null;
  return { ...void_, organization, user, isUserClamped: second.headers.userRemaining === 0 };
}

/** Tells whether an answer shows nothing left of the user's window. */
export function isUserFull({ headers }: SeenCall): boolean {
  const left = whole(headers.userRemaining);
  return left !== null && left <= 0;
}

function userGrowth(first: SeenCall, second: SeenCall): number | null {
  const from = whole(first.headers.userRemaining);
  const to = whole(second.headers.userRemaining);
  const isSameLimit = first.headers.userLimit === second.headers.userLimit;
  // A full window may hide any count above its limit.
  if (from === 0) return null;
  return from === null || to === null || !isSameLimit ? null : from - to;
}

/** Tells whether two status answers show the same window of an organization in a scope. */
function isSameWindow(before: SeenCall, after: SeenCall, scope: Scope): boolean {
  const from = before.statusScopes?.[scope] ?? null;
  const to = after.statusScopes?.[scope] ?? null;
  if (from === null || to === null || from.limit !== to.limit) return false;
  if (from.resetAtMs === to.resetAtMs) return true;
  // Under `first-request` an idle window moves, by less than the time it shows as left, and opens with the call.
  const movedMs = to.resetAtMs - from.resetAtMs;
  return from.current === 0 && movedMs > 0 && movedMs < from.reset * 1000;
}

/** Tells the same of the user's window. It shows no `reset_at`, but cannot have ended before its `reset` less 1 s. */
export function isSameUserWindow(
  first: SeenCall,
  second: SeenCall,
  scope: Scope,
  organizationStays = false,
): boolean {
  if (first.scope !== scope || second.scope !== scope) return false;
  const reset = whole(first.headers.userReset);
  if (reset === null) return false;
  if (second.receivedMs - first.sentMs < (reset - 1) * 1000) return true;
  const together = (seen: SeenCall): boolean =>
    seen.headers.userReset === seen.headers.reset && whole(seen.headers.userReset) !== null;
  return organizationStays && scope === "rest" && together(first) && together(second);
}

/** Movement of the counts between status calls with nothing in between. */
export interface Quiet {
  readonly pairs: number;
  /** Count that a status call itself adds to both windows: 1 if every one does. */
  readonly base: 0 | 1;
  /** Number of pairs between which something else raised the organization's count, and the user's. */
  readonly organization: number;
  readonly user: number;
  /** Pairs of calls between which no count grew. */
  readonly none: readonly (readonly [SeenCall, SeenCall])[];
}

/** Number of pairs from which growth by 1 in each is no chance: somebody may call about as often as the probe looks. */
const baseLeast = 12;
/** Number of pairs that tell how quiet the target is. */
const quietLeast = 5;

/** Returns the control of every trial. For `graphql` it lacks the user's window. */
export function quiet(calls: readonly SeenCall[], scope: Scope): Quiet {
  // A failed status call counts as none: the calls around it form a pair.
  const made = calls.filter(({ what, status }) => what !== STATUS || !isFailure(status));
  const pairs = made.flatMap((after, index) => {
    const before = made[index - 1];
    const growth = before === undefined ? null : growthBetween(before, after, scope);
    return before === undefined || growth === null ? [] : [{ before, after, ...growth }];
  });
  const byUser = pairs.filter(({ user }) => user !== null);
  const isEach = byUser.every(({ organization, user }) => organization === 1 && user === 1);
  const base = scope === "rest" && byUser.length >= baseLeast && isEach ? 1 : 0;
  return {
    pairs: pairs.length,
    base,
    organization: pairs.filter(({ organization }) => organization !== base).length,
    user: byUser.filter(({ user }) => user !== base).length,
    none: pairs.flatMap(({ before, after, organization, user }) =>
      organization === 0 && !user ? [[before, after] as const] : [],
    ),
  };
}

/** Tells whether no calls of others were seen. */
export const isQuiet = ({ pairs, organization, user }: Quiet): boolean =>
  pairs >= quietLeast && organization + user === 0;

/** Returns the growth between two readings; `null` if it cannot be told, or nothing could grow. */
function growthBetween(
  before: SeenCall,
  after: SeenCall,
  scope: Scope,
): { organization: number; user: number | null } | null {
  const from = before.statusScopes?.[scope];
  const to = after.statusScopes?.[scope];
  if (from == null || to == null || !isSameWindow(before, after, scope)) return null;
  // A full window may count nothing more, whatever happens.
  const isFull = scope === "rest" && isUserFull(before);
  if (isFull || from.current >= from.limit) return null;
  const isKnown = scope === "rest" && isSameUserWindow(before, after, scope, true);
  return { organization: to.current - from.current, user: isKnown ? userGrowth(before, after) : null };
}

/** Answer that a kind of call must get before its trials are judged. */
export interface TrialExpectation {
  readonly name: FindingName;
  readonly statuses: readonly number[];
  /** Name of the answer in the report: `404`. */
  readonly words: string;
}

const trialsMost = 4;

/** Makes as many trials of one kind of call as needed. */
export async function tryCounting(
  session: ProbeSession,
  action: Action,
  expectation: TrialExpectation,
): Promise<Finding> {
  const trials: ProbeTrial[] = [];
  for (let attempt = 0; attempt < trialsMost; attempt++) {
    session.say(`does it count: ${action.what}`);
    const made = await trial(session, action);
    if (made === null) break;
    const { status } = made.action;
    const isOther = !isFailure(status) && !expectation.statuses.includes(status);
    if (isOther)
      return about({ name: expectation.name, scope: action.scope }).unseen(
        `${callAt(made.action)} (${action.what}) was answered ${status}, not ${expectation.statuses.join(" or ")}`,
        "a token with every scope, a target that has this resource",
      );
    trials.push(made);
    const finding = judgeCounting(trials, quiet(session.calls, action.scope), expectation, action.scope);
    if (finding.value === false || finding.confidence === "certain") return finding;
  }
  return judgeCounting(trials, quiet(session.calls, action.scope), expectation, action.scope);
}

function judgeCounting(
  trials: readonly ProbeTrial[],
  control: Quiet,
  expectation: TrialExpectation,
  scope: Scope,
): Finding {
  const { name, words } = expectation;
  const told = trials.filter(({ organization, user }) => organization !== null || user !== null);
  if (told.length === 0) {
    const why =
      trials.length === 0
        ? "no call was left for it"
        : `none of ${trials.length} trials fell within one window`;
    return about({ name, scope }).unseen(why, "a larger --budget");
  }
  // Under `reserved` others give points back: the organization's fallen count shows nothing, but the user's own does.
  const free = told.find((one) => {
    const { organization, user } = growthOf(one, control, scope);
    return user === 0 ? !contradicts(one) : user === null && organization === 0;
  });
  if (free !== undefined)
    return about({ name, scope }).certain(false, evidenceOf(free, words), trialCalls(free));
  return judgeGrowth(told, control, expectation, scope);
}

/** Returns the growth of each window, without what the second status call itself added. */
function growthOf({ organization, user }: ProbeTrial, { base }: Quiet, scope: Scope) {
  return {
    organization: organization === null ? null : organization - base,
    user: user === null ? null : user - (scope === "rest" ? base : 0),
  };
}

/** Judges trials that all moved something, by the call or by others. */
function judgeGrowth(
  told: readonly ProbeTrial[],
  control: Quiet,
  { name, words }: TrialExpectation,
  scope: Scope,
): Finding {
  const growths = told.map((one) => growthOf(one, control, scope));
  // A counted call is charged to both windows, or to none: others made a charge in one window alone.
  const byUser = growths.map(({ organization, user }) =>
    organization === null || organization > 0 ? user : null,
  );
  const isByUser = byUser.some((amount) => (amount ?? 0) > 0);
  const amounts = isByUser ? byUser : growths.map(({ organization }) => organization);
  const [shown] = told;
  if (shown === undefined || amounts.some((amount) => amount === null || amount <= 0))
    return about({ name, scope }).unseen("its trials contradict each other", "a quieter time");
  const noise = isByUser && scope === "rest" ? control.user : control.organization;
  // One kind of call always adds the same, so others made any difference.
  const isKnown = control.pairs >= quietLeast && new Set(amounts).size === 1;
  const isStill = isKnown && noise === 0;
  const evidence = `${evidenceOf(shown, words)}${told.length > 1 ? `, and so in all ${told.length} trials` : ""}`;
  const calls = told.flatMap(trialCalls);
  if (isStill && told.length >= 2) return about({ name, scope }).certain(true, evidence, calls);
  // Chance of a charge by others in every trial: at most the share of moving pairs, to the power of trials.
  const isRare = isKnown && told.length >= 3 && noise * 3 <= control.pairs;
  if (isStill || isRare) return about({ name, scope }).likely(true, evidence, calls);
  return about({ name, scope }).unseen(
    `the counts also moved between ${noise} of ${control.pairs} pairs of readings with no call in between`,
    "a quieter time, or a token that nobody else uses",
  );
}

/** Tells whether an answer's own headers show a charge that the readings around it lack, as a stale copy would. */
function contradicts({ before, action }: ProbeTrial): boolean {
  if (action.scope !== "rest") return false;
  const own = userGrowth(before, action);
  return own !== null && own > 0;
}

function evidenceOf({ before, action, after, organization, user }: ProbeTrial, words: string): string {
  const counts = [
    organization === null ? null : `the organization's count by ${organization}`,
    user === null ? null : `the user's by ${user}`,
  ].filter((text) => text !== null);
  return `${callAt(action)} (${words}, ${action.status}) between calls ${before.number} and ${after.number} moved ${counts.join(" and ")}`;
}

export const trialCalls = ({ before, action, after }: ProbeTrial): SeenCall[] => [before, action, after];

/** Tells whether status calls count, by the control itself. */
export function statusCounting(calls: readonly SeenCall[], scope: Scope): Finding {
  const of = about({ name: "statusCounted", scope });
  const control = quiet(calls, scope);
  const [pair] = control.none;
  if (pair !== undefined)
    return of.certain(
      false,
      `calls ${pair[0].number} and ${pair[1].number} show the same counts, and so do ${control.none.length} of ${control.pairs} such pairs`,
      pair,
    );
  if (control.base === 1) {
    const evidence = `each of ${control.pairs} status calls moved the counts of the organization and the user by 1`;
    return of.certain(true, evidence);
  }
  return of.unseen(
    `between status calls the counts moved ${counted(control.organization, "time")} out of ${control.pairs}`,
    "a quieter time",
  );
}
