// Evidence on the switches (SPEC.md §8) in single answers of a trace without rules, beside that of windows.

import { quotaNames } from "../policy/names.ts";
import type { LawName } from "../rules/laws.ts";
import { type Owner, owners, type Scope } from "../rules/rules.ts";
import { nounOf } from "../rules/words.ts";
import type { TraceCall } from "../trace/record.ts";
import { readRefusal } from "../wire/bodies.ts";
import { hasHeaders, headersOf } from "../wire/fields.ts";
import { isRefusal } from "../wire/outcome.ts";
import type { Docket } from "./docket.ts";
import type { Exhibit, Hypotheses } from "./hypotheses.ts";
import { Options } from "./options.ts";
import type { Suspect } from "./suspects.ts";
import type { Terms } from "./terms.ts";

/** A value that is impossible, and the law that is broken if no other value is possible either. */
interface Contradiction {
  readonly name: "remaining" | "charging" | "userEnforced";
  readonly value: Terms["remaining"] | Terms["charging"] | Terms["userEnforced"];
  readonly law: LawName;
  readonly suspects: readonly Suspect[];
  readonly org: string;
  readonly user: string | null;
  readonly exhibit: Exhibit;
}

export class SwitchEvidence {
  readonly retryAfter: Readonly<Record<Scope, Options<boolean>>> = {
    rest: new Options([true, false]),
    graphql: new Options([true, false]),
  };
  readonly #hypotheses: Readonly<Record<Scope, Hypotheses>>;
  readonly #docket: Docket;

  constructor(hypotheses: Readonly<Record<Scope, Hypotheses>>, docket: Docket) {
    this.#hypotheses = hypotheses;
    this.#docket = docket;
  }

  observe(line: number, call: TraceCall): void {
    for (const owner of owners) this.#observeRemaining(line, call, owner);
    if (!isRefusal(call.status) || call.kind !== "call" || !hasHeaders(call)) return;
    this.#observeRetry(line, call);
    if (call.scope === "graphql") this.#observeRefusal(line, call);
  }

  #observeRemaining(line: number, call: TraceCall, owner: Owner): void {
    const { remaining, limit, scopeName } = headersOf(call, owner);
    if (typeof remaining !== "number" || typeof limit !== "number") return;
    if (remaining > 0 || scopeName !== quotaNames[call.scope][owner]) return;
    const user = owner === "user" ? call.user : null;
    const about = { name: "remaining", law: "remaining-agrees", org: call.org, user } as const;
    if (remaining < 0) {
      const explanation = `line ${line} shows remaining ${remaining} of ${limit}, below 0`;
      const exhibit = { lines: [line], explanation };
      this.ruleOut(call.scope, { ...about, value: "clamped", suspects: ["one-extra"], exhibit });
      return;
    }
    if (!isRefusal(call.status)) return;
    const { by, current } = readRefusal(call.refusal);
    if (by !== owner || current === null || current <= limit) return;
    const explanation = `line ${line} was refused at current ${current} of ${limit}, and shows remaining 0`;
    const exhibit = { lines: [line], explanation };
    this.ruleOut(call.scope, { ...about, value: "signed", suspects: ["refused-counted"], exhibit });
  }

  #observeRetry(line: number, { scope, retryAfter }: TraceCall): void {
    const options = this.retryAfter[scope];
    const has = retryAfter !== undefined && retryAfter !== null;
    if (options.against.has(!has)) return;
    const explanation = `line ${line} was refused ${has ? "with" : "without"} a Retry-After`;
    options.against.set(!has, { lines: [line], explanation });
  }

  /** Rules out `postpaid` by a refusal with points left: under it a window with room never refuses (SPEC.md §7). */
  #observeRefusal(line: number, call: TraceCall): void {
    const { remaining, userRemaining, scopeName, userScopeName, cost } = call;
    const own = quotaNames.graphql;
    if (scopeName !== own.organization || userScopeName !== own.user) return;
    if (typeof remaining !== "number" || typeof userRemaining !== "number") return;
    if (remaining <= 0 || userRemaining <= 0) return;
    const explanation = `line ${line} asked for ${cost} ${nounOf(cost ?? 0, "point")} and was refused with ${remaining} and ${userRemaining} left`;
    this.ruleOut("graphql", {
      name: "charging",
      value: "postpaid",
      law: "refusal-justified",
      suspects: ["one-short"],
      org: call.org,
      user: null,
      exhibit: { lines: [line], explanation },
    });
  }

  /** Rules out a value. If no value is left, the answers contradict each other and are accused. */
  ruleOut(scope: Scope, { name, value, exhibit, law, suspects, org, user }: Contradiction): void {
    const hypotheses = this.#hypotheses[scope];
    if (hypotheses.isGiven || hypotheses.isExhausted) return;
    const out = hypotheses.left.filter(({ terms }) => terms[name] === value);
    const last = out.length === hypotheses.left.length;
    hypotheses.ruleOut(new Map(out.map((each) => [each, { exhibit, weight: 1 }] as const)));
    if (!last) return;
    const other = hypotheses.all.find(({ terms, against }) => terms[name] !== value && against !== null);
    const against = other?.against;
    this.#docket.accuse({
      law,
      breach: "no value fits",
      suspects,
      org,
      user,
      scope,
      window: null,
      lines: [...new Set([...exhibit.lines, ...(against?.lines ?? [])])].sort((a, b) => a - b),
      explanation: against ? `${exhibit.explanation}; but ${against.explanation}` : exhibit.explanation,
    });
  }
}
