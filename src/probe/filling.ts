// Fills the user's GraphQL window by queries of the organization's own builds, if the allowance suffices. The probe
// does so if an excessive query shows no refusal (`postpaid`, or a scope that is not enforced).
import { isRefusal } from "../wire/outcome.ts";
import { roomOf } from "./charging.ts";
import { isQuiet, isUserFull, quiet, trial } from "./counting.ts";
import { about, callAt, type Finding } from "./finding.ts";
import { refusalFindings } from "./overasking.ts";
import { ownBuilds, ownPipelines, pointsOfNobody } from "./queries.ts";
import { refuser, whole } from "./seen.ts";
import type { ProbeSession, QueryAction } from "./session.ts";

const scope = "graphql";
/** Calls left for afterwards: a trial of a refusal, and one more. */
const afterwards = 2;
/** Points of a query that should be refused. Its charge is told from others' charges by its size. */
const refusedPoints = 400;

/**
 * Fills the user's GraphQL window, and tests what it does then.
 * @param reserve calls to leave for REST
 */
export async function probeFullWindow(session: ProbeSession, reserve: number): Promise<Finding[]> {
  const room = roomOf(session);
  const query = room === null ? null : await filling(session, room.remaining.user, reserve);
  if (room === null || query === null) return [];
  if (!(await isFilled(session, query, reserve))) return [];
  const { organization } = session.options;
  const points = Math.max(1, Math.min(refusedPoints, room.limits.user - 1));
  const made = await trial(session, pointsOfNobody(organization, points));
  if (made === null) return [];
  const { action } = made;
  const shown = `the user's window had nothing left, and ${callAt(action)} was`;
  if (isRefusal(action.status)) {
    const findings = refusalFindings(made, isQuiet(quiet(session.calls, scope)));
    if (!room.enforced && refuser(action) === "user")
      findings.push(
        about({ name: "userEnforced", scope }).certain("always", `enforced is false, ${shown} refused`, [
          action,
        ]),
      );
    return findings;
  }
  // Nothing is left even now, and the call alone fills no new window: none began before the call was decided.
  const isFull = !made.hadRoom && isUserFull(action) && points < room.limits.user;
  const isAdmitted = action.status === 200 && action.kind === "call" && isFull;
  if (room.enforced || !isAdmitted) return [];
  return [
    about({ name: "userEnforced", scope }).certain(
      "with-organization",
      `enforced is false, ${shown} admitted`,
      [action],
    ),
  ];
}

/** Returns a query that fills the window within the allowance; `null` if there is none. */
async function filling(
  session: ProbeSession,
  remaining: number,
  reserve: number,
): Promise<QueryAction | null> {
  const { organization } = session.options;
  const fits = (query: QueryAction, actual: number): boolean => {
    const queries = Math.ceil(Math.max(0, remaining) / actual);
    const { calls, points } = session.left;
    return queries + afterwards <= calls - reserve && queries * query.points + refusedPoints <= points;
  };
  const small = session.calls.findLast(({ actual, status }) => status === 200 && (actual ?? 0) > 0);
  if (small !== undefined) {
    const again = ownPipelines(organization, Math.max(1, Math.min(500, (small.points ?? 0) - 3)));
    if (fits(again, small.actual ?? 0)) return again;
  }
  const large = ownBuilds(organization, 10, 50);
  if (session.left.calls - reserve < afterwards + 2 || !fits(large, large.points)) return null;
  const measured = await session.act(large);
  return measured?.status === 200 && fits(large, measured.actual ?? 0) ? large : null;
}

/** Makes queries until the user's window is full, or one is refused. Returns `false` if it did not come to that. */
async function isFilled(session: ProbeSession, query: QueryAction, reserve: number): Promise<boolean> {
  let before: number | null = null;
  while (session.left.calls - reserve > 1) {
    session.say("filling the user's GraphQL window");
    const seen = await session.act(query);
    if (seen === null) return false;
    if (isRefusal(seen.status)) return true;
    if (seen.status !== 200) continue;
    const remaining = whole(seen.headers.userRemaining);
    // A window ended in the meantime, so filling would begin again.
    if (remaining === null || (before !== null && remaining > before)) return false;
    if (remaining <= 0) return true;
    before = remaining;
  }
  return false;
}
