// The laws that one answer shows by itself: headers there and right, limits as the rules say, seconds within their
// range, a refusal that is justified and says so consistently.

import { quotaNames } from "../policy/names.ts";
import {
  type Owner,
  organizationLimit,
  owners,
  type Rules,
  type Scope,
  scopes,
  userLimit,
} from "../rules/rules.ts";
import type { TraceCall } from "../trace/record.ts";
import { hasHeaders, headersOf } from "../wire/fields.ts";
import { isAnswered, isRefusal } from "../wire/outcome.ts";
import { negativeCount, statusReading } from "./answer.ts";
import type { AnswerBreach } from "./breach.ts";
import type { Docket } from "./docket.ts";
import { HeaderPresence } from "./header-presence.ts";
import { judgeRefusal } from "./refusal-laws.ts";
import type { Suspect } from "./suspects.ts";
import { type Terms, termsOf } from "./terms.ts";

/** Without rules, the seconds of 30 years: a `reset` above is a date. */
export const resetMost = 946_080_000;

/** The least that `reset` may show (SPEC.md §7, `reset-agrees`). */
export const resetLeast = ({ reset }: Terms): number => (reset === "ceil" ? 1 : 0);

/** The laws that hold one owner's numbers to the rules. */
const numberLaws = ["limit-agrees", "remaining-agrees", "reset-agrees"] as const;

export class AnswerLaws {
  readonly #rules: Rules | null;
  readonly #docket: Docket;
  readonly #presence: HeaderPresence;
  readonly #terms: Readonly<Record<Scope, Terms>>;

  /** Quotas that showed the rules' limit at some time, and that showed another: where both, it has changed. */
  readonly #rightLimits = new Set<string>();
  readonly #wrongLimits = new Set<string>();

  constructor(rules: Rules | null, docket: Docket) {
    this.#rules = rules;
    this.#docket = docket;
    this.#presence = new HeaderPresence(docket);
    this.#terms = { rest: termsOf(rules, "rest"), graphql: termsOf(rules, "graphql") };
  }

  check(line: number, call: TraceCall): void {
    if (!isAnswered(call)) return;
    const accuse = (breach: AnswerBreach): void => this.#accuse(line, call, breach);
    this.#presence.check(line, call, accuse);
    const before = numberLaws.map((law) => this.#docket.evidence[law].readings);
    for (const owner of owners) if (isOwn(call, owner)) this.#checkHeaders(call, owner, accuse);
    if (call.kind === "status") this.#checkBody(call, accuse);
    if (!isRefusal(call.status) || !hasHeaders(call)) return;
    for (const [index, law] of numberLaws.entries()) {
      const tested = this.#docket.evidence[law];
      if (tested.readings !== before[index]) tested.refusals += 1;
    }
    if (call.kind === "call") judgeRefusal(call, this.#terms[call.scope], this.#docket, accuse);
    else if (call.kind === "status") this.#accuseRefusedStatus(call, accuse);
  }

  #accuse(line: number, call: TraceCall, { owner, explanation, ...breach }: AnswerBreach): void {
    const user = owner === "user" ? call.user : null;
    const sentence = `line ${line} ${explanation}`;
    this.#docket.accuse({
      ...breach,
      org: call.org,
      user,
      window: null,
      lines: [line],
      explanation: sentence,
    });
  }

  /** A status call adds nothing, so that every window has room for it (SPEC.md §1, exempt call). */
  #accuseRefusedStatus({ scope }: TraceCall, accuse: (breach: AnswerBreach) => void): void {
    accuse({
      law: "refusal-justified",
      owner: "organization",
      scope,
      breach: "status call",
      suspects: ["status-charged"],
      explanation: "is a status call, which is never refused, and was answered 429",
    });
  }

  #checkHeaders(call: TraceCall, owner: Owner, accuse: (breach: AnswerBreach) => void): void {
    const { limit, remaining, reset } = headersOf(call, owner);
    const { scope } = call;
    if (typeof limit === "number") this.#checkLimit(call, owner, scope, limit, accuse);
    if (typeof limit === "number" && typeof remaining === "number") {
      this.#docket.evidence["remaining-agrees"].readings += 1;
      checkRemaining(call, owner, limit, remaining, this.#terms[scope], accuse);
    }
    if (typeof reset === "number") this.#checkReset(call, owner, scope, reset, accuse);
  }

  #checkBody(call: TraceCall, accuse: (breach: AnswerBreach) => void): void {
    for (const scope of scopes) {
      const below = negativeCount(call, scope);
      if (below !== null)
        accuse({
          law: "bounded",
          owner: "organization",
          scope,
          breach: "below 0",
          suspects: [],
          explanation: `shows current ${below} of ${scope}, which is below 0`,
        });
      const reading = statusReading(call, scope);
      if (reading === null) continue;
      this.#checkLimit(call, "organization", scope, reading.limit, accuse);
      this.#checkReset(call, "organization", scope, reading.reset, accuse);
    }
  }

  #window(call: TraceCall, owner: Owner, scope: Scope): { limit: number; windowSeconds: number } | null {
    if (this.#rules === null) return null;
    if (owner === "organization") return organizationLimit(this.#rules, call.org, scope);
    return call.user === null ? null : userLimit(this.#rules, call.org, call.user, scope);
  }

  #checkLimit(
    call: TraceCall,
    owner: Owner,
    scope: Scope,
    shown: number,
    accuse: (breach: AnswerBreach) => void,
  ): void {
    const limit = this.#window(call, owner, scope)?.limit;
    if (limit === undefined) return;
    this.#docket.evidence["limit-agrees"].readings += 1;
    const name = limitName(call.org, owner === "user" ? call.user : null, scope);
    this.#noteLimit(name, shown === limit ? this.#rightLimits : this.#wrongLimits);
    if (shown === limit) return;
    accuse({
      law: "limit-agrees",
      owner,
      scope,
      breach: "against the rules",
      suspects: this.#rightLimits.has(name)
        ? ["limit-changes-mid-window", "remaining-of-laxer-window"]
        : ["remaining-of-laxer-window", "limit-changes-mid-window"],
      explanation: `shows a limit of ${shown}, the rules say ${limit}`,
    });
  }

  /** Notes that an answer showed the limits that the rules say, whatever else is right of it. */
  noteRight(org: string, user: string, scope: Scope): void {
    this.#noteLimit(limitName(org, null, scope), this.#rightLimits);
    this.#noteLimit(limitName(org, user, scope), this.#rightLimits);
  }

  #noteLimit(name: string, known: Set<string>): void {
    known.add(name);
    // Another policy's headers show its limit all the time.
    if (this.#rightLimits.has(name) && this.#wrongLimits.has(name))
      this.#docket.clues.rulesOut("remaining-of-laxer-window");
  }

  #checkReset(
    call: TraceCall,
    owner: Owner,
    scope: Scope,
    shown: number,
    accuse: (breach: AnswerBreach) => void,
  ): void {
    this.#docket.evidence["reset-agrees"].readings += 1;
    const least = resetLeast(this.#terms[scope]);
    const most = this.#window(call, owner, scope)?.windowSeconds ?? resetMost;
    this.#docket.clues.reset(shown === most);
    if (shown >= least && shown <= most) return;
    const wrong = shown < least ? `below ${least}` : `above ${most}, the longest that a window lasts`;
    accuse({
      law: "reset-agrees",
      owner,
      scope,
      breach: shown < 0 ? "negative" : shown < least ? "too small" : "too large",
      suspects: resetSuspects(shown, most),
      explanation: `shows reset ${shown}, which is ${wrong}`,
    });
  }
}

/** Tells whether an owner's headers speak of this scope, and not of a quota that is none of the four. */
function isOwn(call: TraceCall, owner: Owner): boolean {
  const { scopeName } = headersOf(call, owner);
  return scopeName === null || scopeName === quotaNames[call.scope][owner];
}

/** `remaining = max(0, limit - current)` is within 0..limit; `signed` goes below (SPEC.md §7, §8). */
function checkRemaining(
  call: TraceCall,
  owner: Owner,
  limit: number,
  remaining: number,
  terms: Terms,
  accuse: (breach: AnswerBreach) => void,
): void {
  const below = remaining < 0 && terms.remaining === "clamped";
  if (remaining <= limit && !below) return;
  const cost = call.cost ?? 0;
  accuse({
    law: "remaining-agrees",
    owner,
    scope: call.scope,
    breach: below ? "below 0" : "above the limit",
    suspects: below
      ? cost > limit
        ? ["cost-over-limit-admitted", "one-extra"]
        : isRefusal(call.status)
          ? ["refused-counted", "one-extra"]
          : ["one-extra", "race-read-then-write", "cost-over-limit-admitted"]
      : ["remaining-of-laxer-window"],
    explanation: `shows remaining ${remaining} of ${limit}, which is ${below ? "below 0" : "above the limit"}`,
  });
}

function resetSuspects(reset: number, windowSeconds: number): readonly Suspect[] {
  if (reset < 0) return ["reset-negative"];
  if (reset === 0) return ["reset-truncated", "reset-zero", "reset-negative"];
  if (reset > 1_000_000_000) return ["reset-epoch", "reset-in-ms"];
  return reset > 100 * windowSeconds
    ? ["reset-in-ms", "reset-epoch"]
    : ["reset-in-ms", "reset-disagrees", "skewed-nodes", "two-interleaved-windows"];
}

const limitName = (org: string, user: string | null, scope: Scope): string =>
  `${user === null ? "organization" : "user"} ${scope} ${org} ${user ?? ""}`;
