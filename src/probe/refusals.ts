// Findings from a refused REST call. To get one, the probe uses up the user's window, if the budget has that many
// calls: it is the smaller window, and its owner's own.

import type { Owner } from "../rules/rules.ts";
import { counted } from "../rules/words.ts";
import { headersOf } from "../wire/fields.ts";
import { isRefusal } from "../wire/outcome.ts";
import { userEnforcedUnseen } from "./charging.ts";
import { isSameUserWindow, isUserFull, type ProbeTrial, quiet, trial, trialCalls } from "./counting.ts";
import { about, callAt, type Finding, type FindingName } from "./finding.ts";
import { get } from "./queries.ts";
import { refusalOf, refuser, type SeenCall, whole } from "./seen.ts";
import type { ProbeSession } from "./session.ts";
import { waitForEnd } from "./watch.ts";

const scope = "rest";
/** Number of further refusals after the first. */
const refusalsMost = 3;
const names: readonly FindingName[] = [
  "refused",
  "refusedByUser",
  "retryAfter",
  "userEnforced",
  "firstRefuser",
];

interface Room {
  /** Number of calls until the first window is full. */
  readonly calls: number;
  readonly enforced: boolean;
  readonly userRemaining: number;
  /** Least time that the window still lasts, ms. */
  readonly windowLeftMs: number;
}

async function roomNow(session: ProbeSession): Promise<Room | null> {
  const status = await session.status();
  const window = status?.statusScopes?.rest;
  const userRemaining = whole(status?.headers.userRemaining);
  const reset = whole(status?.headers.userReset);
  if (window == null || userRemaining === null || reset === null) return null;
  const organization = window.limit - window.current;
  return {
    calls: Math.max(0, window.enforced ? Math.min(userRemaining, organization) : userRemaining),
    enforced: window.enforced,
    userRemaining,
    windowLeftMs: (Math.min(reset, window.reset) - 1) * 1000,
  };
}

/** Probes REST's refusals. @param resource a path that was answered 200 and counts */
export async function probeRefusals(session: ProbeSession, resource: string): Promise<Finding[]> {
  let room = await roomNow(session);
  if (room !== null && isTooLate(session, room) && needed(room) <= session.left.calls) {
    await waitForEnd(session, scope);
    room = await roomNow(session);
  }
  if (room === null)
    return unseen("the user's window shows nothing in the headers of the status", "the user's headers");
  if (needed(room) > session.left.calls)
    return unseen(
      `using up the window takes ${counted(needed(room), "call")}, ${session.left.calls} were left`,
      `--budget ${session.used.calls + needed(room) + 10} or more`,
    );
  const { refused, beyond } = await exhaust(session, resource, room);
  if (refused === null) return admittedBeyond(room, beyond);
  const trials: ProbeTrial[] = [];
  for (let attempt = 0; attempt < refusalsMost; attempt++) {
    session.say("looking at refusals");
    const made = await trial(session, get(resource));
    if (made === null) break;
    if (isRefusal(made.action.status)) trials.push(made);
    else if (made.action.status === 200) break;
  }
  const who = refuser(refused);
  return [
    refusedFinding(refused, trials, who),
    refusedByUserFinding(session, trials, who),
    retryAfterFinding([refused, ...trials.map(({ action }) => action)]),
    userEnforcedFinding(room, refused, who),
    firstRefuserFinding(trials),
  ];
}

const needed = ({ calls }: Room): number => calls + 1 + refusalsMost;

/** Returns the number of calls that REST's refusals take, by the last reading; 0 if that is more than there are. */
export function callsToRefusals({ calls, left }: ProbeSession): number {
  const last = calls.findLast(({ statusScopes }) => statusScopes !== null);
  const remaining = whole(last?.headers.userRemaining) ?? 0;
  const most = Math.max(0, remaining) + 1 + refusalsMost + 1;
  return most <= left.calls ? most : 0;
}

/** Tells whether the window would end before it is full, by the duration of calls so far. */
function isTooLate({ calls }: ProbeSession, room: Room): boolean {
  const spent = calls.map(({ sentMs, receivedMs }) => receivedMs - sentMs).sort((a, b) => a - b);
  const each = spent[Math.floor(spent.length * 0.8)] as number;
  return room.windowLeftMs < (needed(room) + refusalsMost + 2) * each + 500;
}

function unseen(why: string, needs: string): Finding[] {
  return names.map((name) => about({ name, scope }).unseen(why, needs));
}

interface Exhausted {
  /** The first refusal. */
  readonly refused: SeenCall | null;
  /** Calls that were admitted although the user's window had nothing left before them. */
  readonly beyond: readonly SeenCall[];
}

async function exhaust(session: ProbeSession, resource: string, room: Room): Promise<Exhausted> {
  const beyond: SeenCall[] = [];
  let isEmpty = room.userRemaining <= 0;
  for (let calls = 0; calls <= 2 * needed(room); calls++) {
    const before = session.calls.at(-1) as SeenCall;
    const seen = await session.act(get(resource));
    if (seen === null) break;
    session.say(`using up the user's REST window: ${seen.headers.userRemaining ?? "?"} left`);
    if (isRefusal(seen.status)) return { refused: seen, beyond };
    if (seen.status !== 200) continue;
    const remaining = whole(seen.headers.userRemaining);
    // The window ended and a new one began: what was seen beyond the old one stays.
    if (isEmpty && (remaining === null || remaining > 0)) break;
    // One call fills a new window of a limit of 1, too.
    const isBeyond = (whole(seen.headers.userLimit) ?? 0) > 1 || isSameUserWindow(before, seen, scope);
    if (isEmpty && isBeyond) beyond.push(seen);
    if (beyond.length > 1) break;
    isEmpty = remaining !== null && remaining <= 0;
  }
  return { refused: null, beyond };
}

function admittedBeyond(room: Room, beyond: readonly SeenCall[]): Finding[] {
  const [first] = beyond;
  const why =
    first === undefined
      ? "no call was refused: the window ended before it was full"
      : `${callAt(first)} was admitted though nothing was left`;
  const findings = unseen(
    why,
    first === undefined ? "longer windows, or shorter ways" : "a scope that is enforced",
  );
  if (first === undefined || room.enforced) return findings;
  const value = about({ name: "userEnforced", scope }).certain(
    "with-organization",
    `enforced is false, and ${callAt(first)} was admitted though the user's window had nothing left`,
    beyond,
  );
  return findings.map((finding) => (finding.name === "userEnforced" ? value : finding));
}

function refusedFinding(first: SeenCall, trials: readonly ProbeTrial[], who: Owner | null): Finding {
  const of = about({ name: "refused", scope });
  const refusals = [first, ...trials.map(({ action }) => action)];
  for (const seen of refusals) {
    const { current, limit } = refusalOf(seen);
    if (current === null || limit === null) continue;
    const evidence = `${callAt(seen)} was refused with current ${current} of ${limit}`;
    // Calls are admitted one by one up to the limit, so refused calls make up any count above it.
    return of.certain(current > limit ? "counted" : "uncounted", evidence, [seen]);
  }
  const below = refusals.find(
    ({ headers }) => who !== null && (whole(headersOf(headers, who).remaining) ?? 0) < 0,
  );
  if (below !== undefined && who !== null)
    return of.certain(
      "counted",
      `${callAt(below)} was refused with remaining ${headersOf(below.headers, who).remaining}`,
      [below],
    );
  const still = trials.find(({ organization }) => who === "organization" && organization === 0);
  if (still !== undefined)
    return of.certain(
      "uncounted",
      `${callAt(still.action)} was refused, and moved no count`,
      trialCalls(still),
    );
  return of.unseen(
    `${callAt(first)} was refused without a count; remaining is 0 either way`,
    "a refusal that shows current, or remaining below 0",
  );
}

function refusedByUserFinding(
  session: ProbeSession,
  trials: readonly ProbeTrial[],
  who: Owner | null,
): Finding {
  const of = about({ name: "refusedByUser", scope });
  const told = trials.filter(
    ({ organization, action }) => organization !== null && refuser(action) === "user",
  );
  if (who !== "user" || told.length === 0)
    return of.unseen(
      "no refusal by the user's window was seen from both sides",
      "a user's limit below the organization's",
    );
  const control = quiet(session.calls, scope);
  const free = told.find(({ organization }) => organization === 0);
  if (free !== undefined)
    return of.certain(
      "charges-nothing",
      `${callAt(free.action)} was refused by the user's window, and the organization's count stood still`,
      trialCalls(free),
    );
  const evidence = `each of ${told.length} refusals by the user's window moved the organization's count`;
  const isExact = told.length > 1 && told.every(({ organization }) => organization === 1);
  const sure = control.organization === 0 && isExact;
  if (sure || (told.length > 2 && control.organization * 4 <= control.pairs))
    return of.found("charges-organization", sure ? "certain" : "likely", evidence, told.flatMap(trialCalls));
  return of.unseen(`${evidence}, but so did others' calls`, "a quieter time");
}

function retryAfterFinding(refusals: readonly SeenCall[]): Finding {
  const carrying = refusals.filter(({ retryAfter }) => whole(retryAfter) !== null);
  const [seen] = carrying.length > 0 ? carrying : refusals;
  const shown = seen === undefined ? "" : `${callAt(seen)} was refused with `;
  const what = seen?.retryAfter == null ? "none" : `Retry-After ${seen.retryAfter}`;
  const sure = carrying.length === 0 || carrying.length === refusals.length ? "certain" : "likely";
  return about({ name: "retryAfter", scope }).found(carrying.length > 0, sure, `${shown}${what}`, refusals);
}

function userEnforcedFinding({ enforced }: Room, refused: SeenCall, who: Owner | null): Finding {
  const of = about({ name: "userEnforced", scope });
  if (enforced) return of.unseen(userEnforcedUnseen, "a scope that is not enforced");
  if (who === "user")
    return of.certain(
      "always",
      `enforced is false, and ${callAt(refused)} was refused by the user's window`,
      [refused],
    );
  return of.unseen(
    `${callAt(refused)} was refused by a window that it does not name as the user's`,
    "a refusal that names its window",
  );
}

/** Returns the finding on the window that refuses first, from calls before which both windows were full. */
function firstRefuserFinding(trials: readonly ProbeTrial[]): Finding {
  const of = about({ name: "firstRefuser", scope });
  for (const { before, action } of trials) {
    const window = before.statusScopes?.rest;
    const user = whole(before.headers.userRemaining);
    const who = refuser(action);
    if (window == null || user === null || who === null || !window.enforced) continue;
    // What was full before may have ended; what is full after may have been filled by the refusal's own charge.
    const isStillFull = isUserFull(action) && (whole(action.headers.remaining) ?? 1) <= 0;
    if (window.current >= window.limit && user <= 0 && isStillFull)
      return of.certain(who, `both windows were full before ${callAt(action)}, and the ${who}'s refused`, [
        before,
        action,
      ]);
  }
  return of.unseen(
    "the two windows were never full at the same time",
    "an organization's limit within the budget",
  );
}
