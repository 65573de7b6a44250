// Rows of a log → wishes: a call that was refused and retried is one wish, wanted when it was first sent. A trace
// numbers attempts, and says when each was wanted; a log does not. A log's calls after refusals are therefore read both
// ways, as in `fit`: as retries, or as calls that come anyway. Often neither can be told.
import { type Limits, limitsOfPolicy } from "../fit/limits.ts";
import { type AfterRefusals, afterRefusals } from "../fit/profile.ts";
import type { ReplayCallers } from "./callers.ts";
import { byUser, ReplayCalls } from "./calls.ts";
import { recordedUser } from "./recorded-user.ts";

export interface Wishes {
  /** Wishes in the order in which they were first wanted. */
  readonly calls: ReplayCalls;
  /** Number of refused rows that are tries of a wish, its last one excluded. */
  readonly retries: number;
  /** Number of refused rows that cannot be told from calls that come anyway, and their users. */
  readonly untold: number;
  readonly untoldUsers: ReadonlySet<number>;
}

/** Returns the reading by which each row is a wish of its own. */
export const rowsAsWishes = (calls: ReplayCalls): Wishes => ({
  calls,
  retries: 0,
  untold: 0,
  untoldUsers: new Set(),
});

/** Fewer refusals of one user say little. It is then taken to do as most others do, if enough refusals tell that. */
const fewRefusals = 5;
const tellingRefusals = 30;
const mostOf = 0.8;

/** Marks of rows that are no wish of their own. */
const RETRIED = -1;
const LEFT_OUT = -2;

/** Reading of the refused rows that cannot be told: no wishes, wishes of their own, or tries of later calls. */
export type UntoldAs = "none" | "anew" | "again";

/** Returns the wishes of rows by each reading. What followed the refusals of each user is found once for all readings. */
export function wishesIn(rows: ReplayCalls, callers: ReplayCallers): (untoldAs: UntoldAs) => Wishes {
  const users = refusedUsers(rows, callers);
  const usual = usualOf(users);
  const isFew = ({ refused, after }: RefusedUser): boolean => after === "untold" && refused < fewRefusals;
  const taken = users.map((user) => (isFew(user) ? { ...user, after: usual } : user));
  return (untoldAs) => wishesBy(rows, taken, untoldAs);
}

interface RefusedUser {
  readonly own: Int32Array;
  readonly refused: number;
  /** What followed its refusals; `numbered` if the log says by itself which calls are retries. */
  readonly after: AfterRefusals | "numbered";
}

function refusedUsers(rows: ReplayCalls, callers: ReplayCallers): RefusedUser[] {
  const limits = limitsOfPolicy(callers.policy);
  return [...byUser(rows)].flatMap((own) => {
    const refused = own.reduce((sum, row) => sum + (rows.refused[row] as number), 0);
    if (refused === 0) return [];
    const isNumbered = own.some((row) => (rows.attempt[row] as number) >= 0);
    return [{ own, refused, after: isNumbered ? "numbered" : afterOf(own, rows, callers, limits) }];
  });
}

function wishesBy(rows: ReplayCalls, users: readonly RefusedUser[], untoldAs: UntoldAs): Wishes {
  const lasts = Int32Array.from({ length: rows.count }, (_, row) => row);
  let untold = 0;
  const untoldUsers = new Set<number>();
  for (const { own, refused, after } of users) {
    if (after === "numbered") linkTold(own, rows, lasts);
    else if (after === "again" || (after === "untold" && untoldAs === "again")) link(own, rows, lasts);
    if (after !== "untold") continue;
    untold += refused;
    untoldUsers.add(rows.user[own[0] as number] as number);
    if (untoldAs !== "none") continue;
    for (const row of own) if (rows.refused[row] === 1) lasts[row] = LEFT_OUT;
  }
  const calls = new ReplayCalls(rows.most);
  let retries = 0;
  for (const [row, last] of lasts.entries()) {
    if (last === RETRIED) retries += rows.refused[row] as number;
    if (last < 0) continue;
    // The first of several tries was refused, and counts as a try, too.
    if (last !== row) retries += 1;
    calls.copy(rows, row, last);
  }
  return { calls, retries, untold, untoldUsers };
}

/** Returns what followed most refusals, among those that tell it. */
function usualOf(users: readonly RefusedUser[]): AfterRefusals {
  const sums = { again: 0, anew: 0, untold: 0, numbered: 0 };
  for (const { refused, after } of users) sums[after] += refused;
  const told = sums.again + sums.anew;
  if (told < tellingRefusals) return "untold";
  if (sums.again >= mostOf * told) return "again";
  return sums.anew >= mostOf * told ? "anew" : "untold";
}

function afterOf(own: Int32Array, rows: ReplayCalls, callers: ReplayCallers, limits: Limits): AfterRefusals {
  const { caller, resolutionMs } = recordedUser(own, rows, callers);
  return afterRefusals(caller, limits, resolutionMs);
}

/** Links each refused row of a user to the next row of its kind, as the retry that followed it. */
function link(own: Int32Array, rows: ReplayCalls, lasts: Int32Array): void {
  let [first, last] = [RETRIED, RETRIED];
  for (const row of own) {
    const isRetry =
      first >= 0 &&
      rows.operation[row] === rows.operation[last] &&
      rows.handle[row] === rows.handle[last] &&
      rows.cost[row] === rows.cost[last] &&
      rows.endMs(last) <= (rows.atMs[row] as number);
    if (isRetry) {
      lasts[first] = row;
      lasts[row] = RETRIED;
    } else first = row;
    last = row;
    if (rows.refused[row] === 0) first = RETRIED;
  }
}

/** Links the numbered attempts of a user's calls. */
function linkTold(own: Int32Array, rows: ReplayCalls, lasts: Int32Array): void {
  /** Refused calls whose next attempt is still to come: their first row, and the last row so far. */
  const open = new Map<string, { readonly first: number; readonly last: number }[]>();
  const nameOf = (row: number, attempt: number): string =>
    [rows.wantedMs, rows.operation, rows.handle, rows.cost].map((column) => column[row]).join() +
    `,${attempt}`;
  for (const row of own) {
    const attempt = rows.attempt[row] as number;
    const waiting = attempt > 0 ? open.get(nameOf(row, attempt - 1)) : undefined;
    // The first of several equal calls is taken: retries come in about the order of refusals.
    const place = waiting?.findIndex(({ last }) => rows.endMs(last) <= (rows.atMs[row] as number)) ?? -1;
    const [known] = place < 0 || waiting === undefined ? [] : waiting.splice(place, 1);
    const first = known?.first ?? row;
    lasts[first] = row;
    if (first !== row) lasts[row] = RETRIED;
    if (rows.refused[row] !== 1) continue;
    const name = nameOf(row, attempt);
    const others = open.get(name) ?? [];
    others.push({ first, last: row });
    open.set(name, others);
  }
}
