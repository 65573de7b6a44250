// A refusal's duties: that a window lacks room, that it is the one it names, and that its body says the same as
// its headers (SPEC.md §2.1, §2.4, §6; laws `refusal-justified`, `refusal-agrees`).

import { quotaNames } from "../policy/names.ts";
import type { Owner } from "../rules/rules.ts";
import { nounOf } from "../rules/words.ts";
import type { TraceCall } from "../trace/record.ts";
import { type ReadRefusal, readRefusal } from "../wire/bodies.ts";
import { headersOf } from "../wire/fields.ts";
import type { AnswerBreach } from "./breach.ts";
import type { Docket } from "./docket.ts";
import type { Terms } from "./terms.ts";

type Accuse = (breach: AnswerBreach) => void;

/** A shown window, as far as a refusal needs it. */
interface Shown {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number | null;
}

export function judgeRefusal(call: TraceCall, terms: Terms, docket: Docket, accuse: Accuse): void {
  const shown = { organization: shownOf(call, "organization"), user: shownOf(call, "user") };
  const said = readRefusal(call.refusal);
  const named = said.by;
  const lacks = (owner: Owner): boolean | null => {
    const window = shown[owner];
    return window === null ? null : lacksRoom(call, window, terms);
  };
  const { evidence } = docket;
  const readings = Number(shown.organization !== null) + Number(shown.user !== null);
  evidence["refusal-justified"].readings += readings;
  if (readings > 0) evidence["refusal-justified"].refusals += 1;
  if (lacks("organization") === false && lacks("user") === false) accuseNeedless(call, named, shown, accuse);
  if (named === null) return;
  const window = shown[named];
  if (window === null) return;
  evidence["refusal-agrees"].readings += 1;
  evidence["refusal-agrees"].refusals += 1;
  const other = named === "user" ? "organization" : "user";
  if (lacks(named) === false && lacks(other) !== false)
    accuse({
      law: "refusal-agrees",
      owner: named,
      scope: call.scope,
      breach: "has room",
      suspects: ["remaining-of-laxer-window", "limit-changes-mid-window"],
      explanation: `asked for ${words(call)} and was refused by the ${named}'s window, which shows remaining ${window.remaining} of ${window.limit}`,
    });
  if (terms.refused === "counted")
    checkOwnCharge(
      call,
      said.current,
      named,
      window,
      lacks(other) === false ? "refusal-justified" : "refusal-agrees",
      accuse,
    );
  checkBody(call, said, named, window, terms, accuse);
}

/** If refusals are counted, `current` has this one's own charge: the window was fuller than full before it. */
function checkOwnCharge(
  call: TraceCall,
  current: number | null,
  named: Owner,
  { limit }: Shown,
  law: "refusal-justified" | "refusal-agrees",
  accuse: Accuse,
): void {
  if (call.scope !== "rest" || current === null || current > limit) return;
  accuse({
    law,
    owner: named,
    scope: call.scope,
    breach: law === "refusal-justified" ? "needless" : "has room",
    suspects: ["one-short", "remaining-of-laxer-window"],
    explanation: `was refused by the ${named}'s window and counted there, at current ${current} of ${limit}: only ${current - 1} were there before it`,
  });
}

function shownOf(call: TraceCall, owner: Owner): Shown | null {
  const { scopeName, limit, remaining, reset } = headersOf(call, owner);
  if (scopeName !== quotaNames[call.scope][owner]) return null;
  if (typeof limit !== "number" || typeof remaining !== "number") return null;
  return { limit, remaining, reset: typeof reset === "number" ? reset : null };
}

/** Tells whether a window has no room for the call's cost; nothing left is always no room (`postpaid`, §8). */
function lacksRoom({ cost }: TraceCall, { remaining }: Shown, { charging }: Terms): boolean {
  if (remaining <= 0) return true;
  return charging !== "postpaid" && (cost === null || remaining < cost);
}

const words = ({ scope, cost }: TraceCall): string =>
  scope === "rest" ? "1 request" : `${cost} ${nounOf(cost ?? 0, "point")}`;

function accuseNeedless(
  call: TraceCall,
  named: Owner | null,
  { organization, user }: { organization: Shown | null; user: Shown | null },
  accuse: Accuse,
): void {
  const least = Math.min(organization?.remaining ?? 0, user?.remaining ?? 0);
  accuse({
    law: "refusal-justified",
    owner: named ?? "organization",
    scope: call.scope,
    breach: "needless",
    suspects:
      least === call.cost
        ? ["one-short", "remaining-of-laxer-window"]
        : [
            "remaining-of-laxer-window",
            "limit-changes-mid-window",
            "one-short",
            "scopes-mixed",
            "lost-expiry",
          ],
    explanation:
      `asked for ${words(call)} and was refused, although the organization's window shows remaining ` +
      `${organization?.remaining} and the user's ${user?.remaining}`,
  });
}

/** The body is of the window that refused, read when its headers were (SPEC.md §6). */
function checkBody(
  call: TraceCall,
  { limit, current, reset }: ReadRefusal,
  named: Owner,
  window: Shown,
  { remaining }: Terms,
  accuse: Accuse,
): void {
  const differs: string[] = [];
  if (limit !== null && limit !== window.limit) differs.push(`limit ${limit} against ${window.limit}`);
  // Seconds may have been rounded at two instants next to each other.
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
    owner: named,
    scope: call.scope,
    breach: "body",
    suspects: differs.some((each) => each.startsWith("reset"))
      ? ["reset-disagrees", "stale-cached-reset"]
      : ["remaining-of-laxer-window"],
    explanation: `was refused with a body that differs from its headers: ${differs.join(", ")}`,
  });
}
