// Laws of a refusal by the rules of version 1: a window lacks room, the refusal names it, and body and headers agree
// (SPEC.md §2.1, §2.4, §6; laws `refusal-justified`, `refusal-agrees`).

import { quotaNames } from "../policy/names.ts";
import { type Owner, owners } from "../rules/rules.ts";
import { nounOf } from "../rules/words.ts";
import type { TraceCall } from "../trace/record.ts";
import type { RulesOwner } from "../trace/whose.ts";
import { type ReadRefusal, readRefusal } from "../wire/bodies.ts";
import { headersOf, integerOf } from "../wire/fields.ts";
import { checkRefusal, neededRoom } from "./answer-laws.ts";
import { type AnswerBreach, accuseAnswer } from "./breach.ts";
import type { Docket } from "./docket.ts";
import type { Terms } from "./terms.ts";

/** Numbers of a window that a refusal is judged by. */
interface Shown {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number | null;
}

/** @param whose the organization's window, and the user's */
export function judgeRefusal(
  line: number,
  call: TraceCall,
  whose: Readonly<Record<Owner, RulesOwner>>,
  terms: Terms,
  docket: Docket,
): void {
  const { scope, cost } = call;
  const needed = neededRoom(cost, terms.charging === "postpaid");
  const shown = { organization: shownOf(call, "organization"), user: shownOf(call, "user") };
  const roomOf = (window: Shown | null): boolean | null => window && window.remaining >= needed;
  const said = readRefusal(call.refusal);
  const named = said.by;
  const window = named && shown[named];
  const { organization, user } = shown;
  checkRefusal(
    line,
    {
      whose: whose[named ?? "organization"],
      room: owners.map((owner) => roomOf(shown[owner])),
      named: (owners as readonly (Owner | null)[]).indexOf(named),
      isByQuota: true,
      hasNumbers: true,
      suspects:
        Math.min(organization?.remaining ?? 0, user?.remaining ?? 0) === cost
          ? ["one-short", "remaining-of-laxer-window"]
          : [
              "remaining-of-laxer-window",
              "limit-changes-mid-window",
              "one-short",
              "scopes-mixed",
              "lost-expiry",
            ],
      asked: scope === "rest" ? "1 request" : `${cost} ${nounOf(cost ?? 0, "point")}`,
      rooms: () =>
        `the organization's window shows remaining ${organization?.remaining} and the user's ${user?.remaining}`,
      refuser: () => `the ${named}'s window, which shows remaining ${window?.remaining} of ${window?.limit}`,
    },
    docket,
  );
  if (named === null || window === null) return;
  const accuse = (breach: AnswerBreach): void => accuseAnswer(docket, line, whose[named], breach);
  const wait = waitBreach(integerOf(call.retryAfter ?? null), window.reset);
  if (wait !== null) accuse(wait);
  const other = shown[named === "user" ? "organization" : "user"];
  if (
    terms.refused === "counted" &&
    scope === "rest" &&
    said.current !== null &&
    said.current <= window.limit
  )
    accuse(ownCharge(named, said.current, window.limit, roomOf(other) === true));
  checkBody(said, window, terms, accuse);
}

/** Returns the breach of a counted refusal whose `current`, which has its own charge, shows room before it. */
const ownCharge = (named: Owner, current: number, limit: number, isNeedless: boolean): AnswerBreach => ({
  law: isNeedless ? "refusal-justified" : "refusal-agrees",
  breach: isNeedless ? "needless" : "has room",
  suspects: ["one-short", "remaining-of-laxer-window"],
  explanation: `was refused by the ${named}'s window and counted there, at current ${current} of ${limit}: only ${current - 1} were there before it`,
});

/** Returns the breach of a `Retry-After` that is not the reset of the window that refused (SPEC.md §9). */
function waitBreach(wait: number | null, reset: number | null): AnswerBreach | null {
  // The two may have been rounded at instants next to each other.
  if (wait === null || reset === null || Math.abs(wait - reset) <= 1) return null;
  return {
    law: "refusal-agrees",
    breach: "wait",
    suspects: wait < reset ? ["retry-too-soon"] : ["reset-in-ms", "reset-disagrees"],
    explanation: `was refused until its window ends in ${reset} s, and told to retry after ${wait} s`,
  };
}

function shownOf(call: TraceCall, owner: Owner): Shown | null {
  const { scopeName, limit, remaining, reset } = headersOf(call, owner);
  if (scopeName !== quotaNames[call.scope][owner]) return null;
  if (typeof limit !== "number" || typeof remaining !== "number") return null;
  return { limit, remaining, reset: typeof reset === "number" ? reset : null };
}

/** Compares a body with the headers: both are of the refusing window at one instant (SPEC.md §6). */
function checkBody(
  { limit, current, reset }: ReadRefusal,
  window: Shown,
  { remaining }: Terms,
  accuse: (breach: AnswerBreach) => void,
): void {
  const differs: string[] = [];
  if (limit !== null && limit !== window.limit) differs.push(`limit ${limit} against ${window.limit}`);
  // The two resets may have been rounded at instants next to each other.
  if (reset !== null && window.reset !== null && Math.abs(reset - window.reset) > 1)
    differs.push(`reset ${reset} against ${window.reset}`);
  if (current !== null) {
    const signed = window.limit - current;
    const clamped = Math.max(0, signed);
    const allowed =
      remaining === "clamped" ? [clamped] : remaining === "signed" ? [signed] : [clamped, signed];
    if (!allowed.includes(window.remaining))
      differs.push(`current ${current} against remaining ${window.remaining} of ${window.limit}`);
  }
  if (differs.length === 0) return;
  accuse({
    law: "refusal-agrees",
    breach: "body",
    suspects: differs.some((each) => each.startsWith("reset"))
      ? ["reset-disagrees", "stale-cached-reset"]
      : ["remaining-of-laxer-window"],
    explanation: `was refused with a body that differs from its headers: ${differs.join(", ")}`,
  });
}
