// Findings from a refused GraphQL query: whether it was charged, and to whom. It requested so many points that its size
// tells its charge from others'.

import type { Owner } from "../rules/rules.ts";
import { counted } from "../rules/words.ts";
import { isRefusal } from "../wire/outcome.ts";
import { type ProbeTrial, trialCalls } from "./counting.ts";
import { about, callAt, type Finding } from "./finding.ts";
import { refuser, whole } from "./seen.ts";

const scope = "graphql";

/** Number of points from which others are unlikely to have used as many by chance just then. */
const largeLeast = 100;

/**
 * Reads refusals from a query that requested more than there was.
 * @param isAlone true if no calls of others were seen
 */
export function refusalFindings(over: ProbeTrial, isAlone: boolean): Finding[] {
  const { action } = over;
  const who = refuser(action);
  const shown = `${callAt(action)} asked for ${counted(action.requested as number, "point")} and was answered ${action.status}`;
  if (!isRefusal(action.status))
    return (["refused", "refusedByUser", "retryAfter"] as const).map((name) =>
      about({ name, scope }).unseen(`nothing was refused: ${shown}`, "a window that is full, or enforced"),
    );
  return [
    refusedFinding(over, who, shown, isAlone),
    refusedByUserFinding(over, who, shown, isAlone),
    about({ name: "retryAfter", scope }).certain(
      whole(action.retryAfter) !== null,
      `${shown}, ${action.retryAfter === null ? "without Retry-After" : `Retry-After ${action.retryAfter}`}`,
      [action],
    ),
  ];
}

/** Verdict on a refusal's charge to a window that grew by the cost, or by all that it had left. */
type Charge = "charged" | "not charged" | "unknown";

function chargeOf(growth: number, cost: number, isClamped: boolean, isAlone: boolean): Charge {
  if (growth <= 0) return "not charged";
  if (isClamped && growth < cost) return isAlone ? "charged" : "unknown";
  if (growth < cost) return "not charged";
  return isAlone || (growth === cost && cost >= largeLeast) ? "charged" : "unknown";
}

const quieter = "a quieter time, or a token that nobody else uses";

function refusedFinding(over: ProbeTrial, who: Owner | null, shown: string, isAlone: boolean): Finding {
  const { user, organization, isUserClamped, action } = over;
  const growth = who === "user" ? user : who === "organization" ? organization : null;
  const of = about({ name: "refused", scope });
  if (growth === null || who === null)
    return of.unseen(`${shown}; what it charged cannot be told`, "a refusal that names its window");
  const isClamped = who === "user" && isUserClamped;
  const evidence = `${shown} by the ${who}'s window, whose count moved by ${growth}${isClamped ? " or more" : ""}`;
  const charge = chargeOf(growth, action.requested as number, isClamped, isAlone);
  if (charge === "unknown") return of.unseen(`${evidence}, and others call`, quieter);
  const value = charge === "charged" ? "counted" : "uncounted";
  return of.found(value, sureness(growth, isAlone), evidence, trialCalls(over));
}

/** Returns how sure a finding is. Others may give back held points: only a count that they leave alone is sure. */
const sureness = (growth: number, isAlone: boolean): "certain" | "likely" =>
  isAlone || growth === 0 ? "certain" : "likely";

function refusedByUserFinding(over: ProbeTrial, who: Owner | null, shown: string, isAlone: boolean): Finding {
  const of = about({ name: "refusedByUser", scope });
  const { organization, action } = over;
  if (who !== "user" || organization === null)
    return of.unseen(
      `${shown}; it was not the user's window that refused`,
      "a user's limit below the organization's",
    );
  const evidence = `${shown} by the user's window; the organization's count moved by ${organization}`;
  const charge = chargeOf(organization, action.requested as number, false, isAlone);
  if (charge === "unknown") return of.unseen(`${evidence}, and others call`, quieter);
  const value = charge === "charged" ? "charges-organization" : "charges-nothing";
  return of.found(value, sureness(organization, isAlone), evidence, trialCalls(over));
}
