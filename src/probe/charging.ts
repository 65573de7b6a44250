// GraphQL's charges and refusals, by two or three queries. A query that requests more than comes back shows the final
// charge. A query above the user's limit shows all about refusals, at the price of one call. It also shows whether
// requests (`reserved`, `prepaid`) or past use (`postpaid`) decide admission.

import type { Owner, Semantics } from "../rules/rules.ts";
import { counted } from "../rules/words.ts";
import { headersOf } from "../wire/fields.ts";
import { isRefusal } from "../wire/outcome.ts";
import { isQuiet, type ProbeTrial, quiet, trial, trialCalls } from "./counting.ts";
import { about, callAt, type Finding } from "./finding.ts";
import { refusalFindings } from "./overasking.ts";
import { ownPipelines, pointsMost, pointsOfNobody } from "./queries.ts";
import { refuser, type SeenCall, whole } from "./seen.ts";
import type { Action, ProbeSession } from "./session.ts";
import { headerSights } from "./sight.ts";

const scope = "graphql";

/** Returns the points that a query asked for. */
const pointsOf = ({ requested }: SeenCall): number => requested as number;

const attemptsMost = 4;

/** Both windows of the scope, as last seen. */
interface Room {
  readonly limits: Readonly<Record<Owner, number>>;
  readonly remaining: Readonly<Record<Owner, number>>;
  readonly enforced: boolean;
}

export function roomOf({ calls }: Pick<ProbeSession, "calls">): Room | null {
  const window = calls.findLast(({ statusScopes }) => statusScopes?.[scope])?.statusScopes?.[scope] ?? null;
  const { limit = null, remaining = null } = headerSights(calls, scope, "user").at(-1) ?? {};
  if (window === null || limit === null || remaining === null || limit < 1) return null;
  return {
    limits: { organization: window.limit, user: limit },
    remaining: { organization: window.limit - window.current, user: remaining },
    enforced: window.enforced,
  };
}

/** Tries a query until one trial falls within a window and is answered. */
async function answered(session: ProbeSession, action: Action): Promise<ProbeTrial | null> {
  for (let attempt = 0; attempt < attemptsMost; attempt++) {
    session.say(action.what);
    const made = await trial(session, action);
    if (made === null) return null;
    if (made.organization !== null || made.user !== null) return made;
  }
  return null;
}

type Charge = Semantics["graphqlCharge"];

/** Charge of a query that requested more than came back. */
interface Charged {
  readonly trial: ProbeTrial;
  readonly requested: number;
  readonly actual: number | null;
  readonly amount: number;
  readonly isPrepaid: boolean;
}

/** Returns all that queries show. If none was made, the findings' `needs` say in one line why. */
export async function probeCharging(session: ProbeSession): Promise<Finding[]> {
  const room = roomOf(session);
  if (room === null) return nothing("GraphQL showed no limits", "a token with the scope graphql");
  const charged = await difference(session, room);
  const findings: Finding[] = [costFinding(charged)];
  const over = await oversize(session, roomOf(session) ?? room);
  const isAlone = isQuiet(quiet(session.calls, scope));
  findings.push(chargeFinding(charged, over, room, isAlone));
  if (over === null) return [...findings, ...refusalsUnseen(session, room)];
  findings.push(...refusalFindings(over, isAlone));
  findings.push(userEnforcedFinding(over, charged, room));
  findings.push(...clampedFinding(over, charged, findings));
  findings.push(await firstRefuser(session, room, over, findings));
  return findings;
}

function nothing(why: string, needs: string): Finding[] {
  const names = [
    "graphqlCost",
    "graphqlCharge",
    "refused",
    "refusedByUser",
    "retryAfter",
    "userEnforced",
    "firstRefuser",
  ] as const;
  return names.map((name) => about({ name, scope }).unseen(why, needs));
}

function refusalsUnseen(session: ProbeSession, room: Room): Finding[] {
  const smallest = Math.min(room.limits.user, room.limits.organization);
  const why =
    smallest >= pointsMost
      ? `both limits are above the ${pointsMost} points that one query may ask for`
      : "no query that asks for more than the limit was made";
  const needs =
    smallest >= pointsMost
      ? "a smaller limit"
      : `--points ${session.used.points + smallest + 1} or more, a larger --budget`;
  return nothing(why, needs).filter(({ name }) => !["graphqlCost", "graphqlCharge"].includes(name));
}

/** Requests more than comes back: the organization's own first pipelines, then those of nobody. */
async function difference(session: ProbeSession, room: Room): Promise<Charged | null> {
  const { organization } = session.options;
  const least = Math.min(room.remaining.user, room.remaining.organization, 53);
  const queries: Action[] = [];
  if (least >= 4) queries.push(ownPipelines(organization, least - 3));
  if (least >= 1) queries.push(pointsOfNobody(organization, least));
  for (const query of queries) {
    const charged = chargedBy(await answered(session, query));
    if (charged === null) continue;
    if (isQuiet(quiet(session.calls, scope))) return charged;
    // Calls of others may disguise one charge, but not twice in the same way.
    if (chargedBy(await answered(session, query))?.amount === charged.amount) return charged;
  }
  return null;
}

/** Returns a query's charge; `null` if it requested what came back, or others' calls hide the charge. */
function chargedBy(made: ProbeTrial | null): Charged | null {
  if (made === null) return null;
  const { action, organization, user, isUserClamped } = made;
  const { requested, actual, status, kind } = action;
  if (status !== 200 || kind !== "call" || requested === null || requested === actual) return null;
  const amount = isUserClamped ? organization : (user ?? organization);
  if (amount === null) return null;
  const isPrepaid = amount === requested;
  const isMeasured = actual === null ? amount < requested : amount === actual;
  return isPrepaid || isMeasured ? { trial: made, requested, actual, amount, isPrepaid } : null;
}

function costFinding(charged: Charged | null): Finding {
  if (charged === null)
    return about({ name: "graphqlCost", scope }).unseen(
      "no query was answered with fewer points than it asked for",
      "a larger --budget",
    );
  const { requested, actual, amount, trial: made } = charged;
  const value = { requested, actual, charged: amount };
  return about({ name: "graphqlCost", scope }).certain(value, chargeEvidence(charged), trialCalls(made));
}

const chargeEvidence = ({ trial: { action }, requested, actual, amount }: Charged): string =>
  `${callAt(action)} asked for ${counted(requested, "point")}, ${actual === null ? "an unknown number" : actual} came back, ${amount} were charged`;

/** Tries a query above the user's limit, or the organization's if that is smaller. */
async function oversize(session: ProbeSession, room: Room): Promise<ProbeTrial | null> {
  const points = Math.min(room.limits.user, room.limits.organization) + 1;
  if (points > pointsMost) return null;
  const made = await answered(session, pointsOfNobody(session.options.organization, points));
  if (made === null) return null;
  const { status, kind } = made.action;
  return isRefusal(status) || (status === 200 && kind === "call") ? made : null;
}

function chargeFinding(
  charged: Charged | null,
  over: ProbeTrial | null,
  room: Room,
  isAlone: boolean,
): Finding {
  const of = about({ name: "graphqlCharge", scope });
  if (charged === null)
    return of.unseen(
      "no query was answered with fewer points than it asked for",
      "a larger --budget or --points",
    );
  const evidence = chargeEvidence(charged);
  const calls = trialCalls(charged.trial);
  if (charged.isPrepaid) return of.certain("prepaid" satisfies Charge, evidence, calls);
  if (over === null)
    return of.unseen(`${evidence}: reserved or postpaid`, "a query above the limit: larger --points");
  if (!room.enforced)
    return of.unseen(
      `${evidence}: reserved or postpaid`,
      "a scope that is enforced: then a query above the limit tells them apart",
    );
  if (isRefusal(over.action.status) && !over.hadRoom)
    return of.unseen(
      `${evidence}: reserved or postpaid; a window was full already before a query above the limit`,
      "longer windows, or a larger limit",
    );
  const { action } = over;
  if (isRefusal(action.status) && !isAlone && !showsRoom(action))
    return of.unseen(
      `${evidence}: reserved or postpaid; others call, and may have filled a window before a query above the limit`,
      "a quieter time",
    );
  const asked = `${callAt(action)} asked for ${counted(pointsOf(action), "point")}, above the limit of ${Math.min(room.limits.user, room.limits.organization)}, and was`;
  const value: Charge = isRefusal(action.status) ? "reserved" : "postpaid";
  const outcome = isRefusal(action.status) ? "refused" : "admitted";
  return of.certain(value, `${evidence}; ${asked} ${outcome}`, [...calls, action]);
}

/** Tells whether a refusal shows something left of the window that it names. */
function showsRoom(action: SeenCall): boolean {
  const who = refuser(action);
  return who !== null && (whole(headersOf(action.headers, who).remaining) ?? 0) > 0;
}

export const userEnforcedUnseen =
  "while the organization's scope is enforced, the user's window refuses either way";

function userEnforcedFinding(over: ProbeTrial, charged: Charged | null, room: Room): Finding {
  const of = about({ name: "userEnforced", scope });
  if (room.enforced) return of.unseen(userEnforcedUnseen, "a scope that is not enforced");
  const { action } = over;
  const shown = `enforced is false, and ${callAt(action)} asked for ${counted(pointsOf(action), "point")}, above the user's limit`;
  if (room.limits.user > room.limits.organization)
    return of.unseen("the user's limit is above the organization's", "a smaller user's limit");
  if (refuser(action) === "user")
    return of.certain("always", `${shown}: refused by the user's window`, [action]);
  // Under `postpaid` the query would be admitted whether or not the user's window refuses.
  if (action.status === 200 && charged?.isPrepaid === true)
    return of.certain("with-organization", `${shown}: admitted`, [action]);
  return of.unseen(
    isRefusal(action.status)
      ? `${shown}: refused, but not by the user's window`
      : `${shown}: admitted, as postpaid would admit it anyway`,
    "a user's window that is full",
  );
}

/** Returns a finding if a charge exceeded what was left, and `remaining` yet shows 0. */
function clampedFinding(over: ProbeTrial, charged: Charged | null, findings: readonly Finding[]): Finding[] {
  const { action, user, isUserClamped } = over;
  const isCounted = isRefusal(action.status)
    ? refuser(action) === "user" &&
      findings.some(({ name, value }) => name === "refused" && value === "counted")
    : charged?.isPrepaid === true;
  if (!isCounted || !isUserClamped || user === null || user >= pointsOf(action)) return [];
  const evidence = `${callAt(action)} was charged ${counted(pointsOf(action), "point")} where ${user} were left of the user's, and showed remaining 0`;
  return [about({ name: "remaining", scope }).certain("clamped", evidence, trialCalls(over))];
}

/** Finds which window is named if both lack room. Makes no call if that would charge the organization for a refusal. */
async function firstRefuser(
  session: ProbeSession,
  room: Room,
  over: ProbeTrial,
  findings: readonly Finding[],
): Promise<Finding> {
  const of = about({ name: "firstRefuser", scope });
  const seen = (of: Finding["name"]) => findings.find((finding) => finding.name === of)?.value;
  const points = Math.max(room.limits.user, room.limits.organization) + 1;
  const isFree = seen("refused") === "uncounted" && seen("refusedByUser") !== "charges-organization";
  const both = (made: ProbeTrial | null): Finding | null => {
    const who = made === null ? null : refuser(made.action);
    if (made === null || who === null || pointsOf(made.action) < points) return null;
    const evidence = `${callAt(made.action)} asked for ${counted(pointsOf(made.action), "point")}, above both limits, and the ${who}'s window refused`;
    return of.certain(who, evidence, [made.action]);
  };
  const isByRequest = seen("graphqlCharge") === "reserved" || seen("graphqlCharge") === "prepaid";
  if (!isByRequest)
    return of.unseen(
      "how GraphQL is charged was not seen, or it is postpaid",
      "a charge by what is asked for",
    );
  const known = room.enforced ? both(over) : null;
  if (known !== null) return known;
  if (!room.enforced || !isRefusal(over.action.status))
    return of.unseen("nothing was refused by both", "a scope that is enforced and not postpaid");
  if (!isFree)
    return of.unseen(
      "refusals are charged: trying would use up the organization's window",
      "nothing: it is not tried",
    );
  if (points > pointsMost)
    return of.unseen(`the larger limit is above the ${pointsMost} points of one query`, "a smaller limit");
  const made = await answered(session, pointsOfNobody(session.options.organization, points));
  return (
    both(made) ??
    of.unseen("no query above both limits was made", `--points ${session.used.points + points} or more`)
  );
}
