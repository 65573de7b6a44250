// What a refused GraphQL query shows: whether it was charged, and to whom. It asked for so many points that a
// charge of it is told from others' by its size.
import type { Owner } from "../rules/rules.ts";
import { type Trial, trialCalls } from "./counting.ts";
import { callAt, type Finding, found, notSeen } from "./finding.ts";
import { refuser, whole } from "./seen.ts";

const scope = "graphql";

/** What a query that asked for more than there was shows of refusals. */
export function refusalFindings(over: Trial): Finding[] {
  const { action } = over;
  const who = refuser(action);
  const shown = `${callAt(action)} asked for ${action.requested} points and was answered ${action.status}`;
  if (action.status !== 429)
    return (["refused", "refusedByUser", "retryAfter"] as const).map((name) =>
      notSeen(name, scope, `nothing was refused: ${shown}`, "a window that is full, or enforced"),
    );
  return [
    refusedFinding(over, who, shown),
    refusedByUserFinding(over, who, shown),
    found(
      "retryAfter",
      scope,
      whole(action.retryAfter) !== null,
      "certain",
      `${shown}, ${action.retryAfter === null ? "without Retry-After" : `Retry-After ${action.retryAfter}`}`,
      [action],
    ),
  ];
}

function refusedFinding(over: Trial, who: Owner | null, shown: string): Finding {
  const { action, user, organization, isUserClamped } = over;
  const cost = action.requested ?? 0;
  const growth = who === "user" ? user : who === "organization" ? organization : null;
  const name = "refused";
  if (growth === null || who === null)
    return notSeen(
      name,
      scope,
      `${shown}; what it charged cannot be told`,
      "a refusal that names its window",
    );
  const evidence = `${shown} by the ${who}'s window, whose count moved by ${growth}${who === "user" && isUserClamped ? " or more" : ""}`;
  if (growth === 0) return found(name, scope, "uncounted", "certain", evidence, trialCalls(over));
  if (growth === cost || (who === "user" && isUserClamped && growth < cost))
    return found(name, scope, "counted", "certain", evidence, trialCalls(over));
  if (growth > cost) return found(name, scope, "counted", "likely", evidence, trialCalls(over));
  return found(name, scope, "uncounted", "likely", `${evidence}, by others' calls`, trialCalls(over));
}

function refusedByUserFinding(over: Trial, who: Owner | null, shown: string): Finding {
  const name = "refusedByUser";
  const { organization, action } = over;
  const cost = action.requested ?? 0;
  if (who !== "user" || organization === null)
    return notSeen(
      name,
      scope,
      `${shown}; it was not the user's window that refused`,
      "a user's limit below the organization's",
    );
  const evidence = `${shown} by the user's window; the organization's count moved by ${organization}`;
  if (organization === cost)
    return found(name, scope, "charges-organization", "certain", evidence, trialCalls(over));
  if (organization > cost)
    return found(name, scope, "charges-organization", "likely", evidence, trialCalls(over));
  const sure = organization <= 0 ? "certain" : "likely";
  return found(name, scope, "charges-nothing", sure, evidence, trialCalls(over));
}
