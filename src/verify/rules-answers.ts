// The laws that one answer of a trace of version 1 shows by itself: its eight headers, its status body, its refusal.
import { quotaNames } from "../policy/names.ts";
import { type Owner, owners, type Scope, scopes } from "../rules/rules.ts";
import type { TraceCall } from "../trace/record.ts";
import type { RulesOwner } from "../trace/whose.ts";
import { hasHeaders, headersOf, integerOf } from "../wire/fields.ts";
import { isRefusal } from "../wire/outcome.ts";
import { negativeCount, statusReading } from "./answer.ts";
import { checkAnswer, checkNumbers, type JudgedCall } from "./answer-laws.ts";
import { accuseAnswer } from "./breach.ts";
import { type JudgedCount, knownNumbers } from "./count.ts";
import type { Docket } from "./docket.ts";
import { checkPresence } from "./header-presence.ts";
import type { OrganizationScope } from "./quotas.ts";
import { judgeRefusal } from "./refusal-laws.ts";

export class RulesAnswers {
  readonly #docket: Docket;

  constructor(docket: Docket) {
    this.#docket = docket;
  }

  /** @param user count of the user; `null` if the user is unknown */
  check(
    line: number,
    call: TraceCall,
    both: Readonly<Record<Scope, OrganizationScope>>,
    user: JudgedCount | null,
  ): void {
    const docket = this.#docket;
    const own = both[call.scope];
    const whose = { organization: whoseOf(call, "organization"), user: whoseOf(call, "user") };
    checkPresence(line, call, whose, docket);
    const isRefused = isRefusal(call.status) && hasHeaders(call);
    const asked = { cost: call.cost, isRefused: isRefusal(call.status) };
    checkAnswer(isRefused, docket, () => {
      for (const owner of owners) {
        const { scopeName, ...headers } = headersOf(call, owner);
        // A quota of another name than the four is not judged.
        if (scopeName !== null && scopeName !== quotaNames[call.scope][owner]) continue;
        const limit = integerOf(headers.limit);
        const remaining = limit === null ? null : integerOf(headers.remaining);
        const known =
          (owner === "user" ? user : own.organization) ??
          knownNumbers(own.group.kind, whose[owner], null, null);
        const shown = { limit, remaining, reset: integerOf(headers.reset), ...none };
        checkNumbers(line, shown, known, asked, docket);
      }
      if (call.kind === "status")
        for (const scope of scopes) this.#checkBody(line, call, scope, both[scope].organization, asked);
    });
    if (!isRefused) return;
    if (call.kind === "call") judgeRefusal(line, call, whose, own.group.kind.terms, docket);
    // A status call adds nothing, so that every window has room for it (SPEC.md §1, exempt call).
    else if (call.kind === "status")
      accuseAnswer(docket, line, whose.organization, {
        law: "refusal-justified",
        breach: "status call",
        suspects: ["status-charged"],
        explanation: "is a status call, which is never refused, and was answered 429",
      });
  }

  #checkBody(line: number, call: TraceCall, scope: Scope, known: JudgedCount, asked: JudgedCall): void {
    const below = negativeCount(call, scope);
    if (below !== null)
      accuseAnswer(this.#docket, line, known.told, {
        law: "bounded",
        breach: "below 0",
        suspects: [],
        explanation: `shows current ${below} of ${scope}, which is below 0`,
      });
    const reading = statusReading(call, scope);
    if (reading === null) return;
    const { limit, reset } = reading;
    checkNumbers(line, { limit, remaining: null, reset, ...none }, known, asked, this.#docket);
  }
}

/** No answer of version 1 shows used beside remaining units. Rounding keeps resets within a window's seconds. */
const none = { used: null, resetSlack: 0 };

const whoseOf = ({ org, user, scope }: TraceCall, owner: Owner): RulesOwner => ({
  org,
  user: owner === "user" ? user : null,
  scope,
});
