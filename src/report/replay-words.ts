// A replay's results, in sentences.
import { shortName } from "../rules/printable.ts";
import type { Owner, Scope } from "../rules/rules.ts";
import { count, counted } from "../rules/words.ts";
import type { ReplayResult } from "../summary/replay-result.ts";
import { unplacedWords } from "../trace/logs/unplaced-words.ts";
import { duration, figureText, ownerName, share } from "./format.ts";
import type { Outcome } from "./parts.ts";
import { figureOf, scopeUnits, scopeWords } from "./source.ts";

/** As the log is called: its first file, and how many more. */
export function replayName({ log: { files } }: ReplayResult): string {
  const [first = "a log"] = files.map(shortName);
  return files.length < 2 ? first : `${first} and ${count(files.length - 1)} more`;
}

/** Refusals are no failure of their own: something must have been expected. */
export function replayOutcome({ totals, expectations }: ReplayResult): Outcome {
  if (expectations.length > 0) return expectations.every(({ held }) => held) ? "good" : "bad";
  return totals.calls > 0 && totals.refused === 0 ? "good" : "none";
}

/** Says which expectations did not hold, or that all of them did; nothing where nothing was. */
export function expectedWords({ expectations }: ReplayResult): string {
  const missed = expectations.filter(({ held }) => !held);
  if (expectations.length === 0) return "";
  if (missed.length === 0)
    return `As expected: ${expectations.map(({ figure, bound }) => `${figure} ${bound}`).join(", ")}.`;
  return `Missed: ${missed.map(({ figure, bound, actual }) => `${figure} is ${figureText(figureOf(figure), actual)}, expected ${bound}`).join("; ")}.`;
}

/** The answer in a sentence. */
export function replayAnswer({ totals }: ReplayResult): string {
  const { calls, refused } = totals;
  if (calls === 0) return "The log has no call that a quota counts";
  if (refused === 0) return `None of ${counted(calls, "call")} would have been refused`;
  return `${count(refused)} of ${counted(calls, "call")} (${share(refused / calls)}) would have been refused`;
}

/** Whose windows, and whom it hit. */
export function hitWords({ totals }: ReplayResult): string {
  const { refused, refusedByOrganization, refusedByUser, users, usersRefused, hopeless } = totals;
  if (refused === 0) return "";
  const parts = [
    [refusedByOrganization, "by an organization's window"],
    [refusedByUser, "by a user's own window"],
  ] as const;
  const words = parts
    .filter(([amount]) => amount > 0)
    .map(([amount, reason]) => `${amount === refused ? "all" : count(amount)} ${reason}`);
  const lost =
    hopeless === 0
      ? ""
      : ` ${counted(hopeless, "call")} cost more than a limit: waiting would have helped none of them.`;
  return `${words.join(", ")}; ${count(usersRefused)} of ${counted(users, "user")} would have been hit.${lost}`.replace(
    /^a/,
    "A",
  );
}

/**
 * Says which limits would have done for the rows as they came, where one did not; and that this is no limit for the
 * demand, where refusals that the log itself has put some of it off.
 */
export function smallestWords({ smallestLimits, recorded, demand }: ReplayResult): string {
  const lacking = smallestLimits.filter(({ limit, smallest }) => smallest > limit);
  if (lacking.length === 0) return "";
  const words = lacking.map(
    ({ owner, scope, limit, smallest }) =>
      `${count(smallest)} instead of ${count(limit)} ${scopeUnits[scope]} for ${owner === "organization" ? "the organization" : "a user"} (${scopeWords[scope]})`,
  );
  const putOff =
    recorded === null || recorded.refused === 0 || demand !== null
      ? ""
      : ` The demand may need more: the log has ${counted(recorded.refused, "refusal")}, and what was tried again came later than it was wanted.`;
  return `No row of this log, as it came, would have been refused with ${words.join(", ")}.${putOff}`;
}

/**
 * Says which limits the demand would have needed, put back to when it was first wanted: as an interval, since nobody
 * knows how soon callers would have gone on.
 */
export function demandWords({ demand }: ReplayResult): string {
  if (demand === null) return "";
  const { wishes, retries, untold, untoldUsers, limits } = demand;
  const words = limits
    .filter(({ limit, high }) => high > limit)
    .map(({ owner, scope, limit, low, high }) => {
      const needed = low === high ? count(low) : `${count(low)} to ${count(high)}`;
      return `${needed} instead of ${count(limit)} ${scopeUnits[scope]} for ${owner === "organization" ? "the organization" : "a user"} (${scopeWords[scope]})`;
    });
  const needs = words.length === 0 ? "fits into these limits" : `needs ${words.join(", ")}`;
  const put = `Put back to when it was first wanted, the demand of ${counted(wishes, "call")} ${needs}: the log's own refusals had put it off (${count(retries)} of them are tries of a call that came again).`;
  return untold === 0 ? put : `${put} ${untoldWords(untold, untoldUsers)}`;
}

const untoldWords = (untold: number, users: number): string =>
  `${counted(untold, "refusal")} of ${counted(users, "user")} cannot be told from calls that come anyway.`;

export function lookedAtWords({ log, totals, organizations }: ReplayResult): string {
  const length =
    log.firstAt === null || log.lastAt === null ? "" : ` over ${duration(log.lastAt - log.firstAt)}`;
  const unread = log.unread === 0 ? "" : ` ${counted(log.unread, "row")} could not be read.`;
  const names = organizations.flatMap(({ org }) => (org === null ? [] : [org]));
  const apart = unplacedWords(log.unplaced, names);
  return `${counted(totals.calls, "call")} of ${counted(totals.users, "user")} in ${counted(totals.organizations, "organization")}${length}, replayed under these rules as they came.${unread}${apart === "" ? "" : ` ${apart}`}`;
}

/** Sets the refusals of the log itself beside the replay's. */
export function recordedWords({ recorded }: ReplayResult): string {
  if (recorded === null) return "";
  const { refused, both, onlyInLog, onlyInReplay, calls } = recorded;
  const known = `among ${counted(calls, "call")} whose answer it knows`;
  if (refused === 0 && onlyInReplay === 0) return `The log itself has no refusal, either, ${known}.`;
  return `The log itself has ${counted(refused, "refusal")} ${known}: ${count(both)} would have been refused here, too, ${count(onlyInLog)} would not; ${counted(onlyInReplay, "call")} that the log admitted would have been refused.`;
}

export interface Windows {
  readonly owner: Owner;
  readonly scope: Scope;
  /** `null`: of all organizations. */
  readonly org: string | null;
  readonly user?: string | null;
}

/** `organization, REST`, `acme/agent-7, GraphQL`. */
export function headroomName({ owner, scope, org, user = null }: Windows): string {
  const whose =
    org === null ? owner : `${ownerName(org, user)}${user === null && owner === "user" ? ", users" : ""}`;
  return `${whose}, ${scopeWords[scope]}`;
}
