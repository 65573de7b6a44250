// The order of windows in refusals: if both lack room, the organization's is named (SPEC.md §2.4). Refusals that name
// the user's are kept until it is known whether limits were enforced. A window that is not enforced refuses no call.

import { quotaNames } from "../policy/names.ts";
import type { TraceCall } from "../trace/record.ts";
import { refuserIn } from "../wire/bodies.ts";
import { headersOf } from "../wire/fields.ts";
import type { Span, TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import type { Hypotheses } from "./hypotheses.ts";
import type { QuotaName } from "./quota-name.ts";
import type { Terms } from "./terms.ts";

const keptMost = 1000;

interface Misnamed {
  readonly line: number;
  readonly span: Span;
  readonly words: string;
}

/**
 * Tells whether a window surely lacked room for a refused call, by what it shows at the decision (SPEC.md §5).
 * @param charged points that the refusal itself may have added to the window
 */
function surelyLacked(remaining: number, cost: number | null, charged: number, terms: Terms): boolean {
  if (cost === null || cost < 1) return false;
  const needed = terms.charging === "at-decision" || terms.charging === "reserved" ? cost : 1;
  return remaining + charged < needed;
}

/** Refusals of one organization's scope that name the user's window. */
export class RefusalOrder {
  readonly #name: QuotaName;
  readonly #terms: Terms;
  readonly #time: TraceTime;
  readonly #misnamed: Misnamed[] = [];

  constructor(name: QuotaName, terms: Terms, time: TraceTime) {
    this.#name = name;
    this.#terms = terms;
    this.#time = time;
  }

  /** Adds a refused call that counts. */
  add(line: number, call: TraceCall): void {
    if (refuserIn(call.refusal) !== "user" || this.#misnamed.length >= keptMost) return;
    const { scopeName, limit, remaining } = headersOf(call, "organization");
    const { scopeName: userName, remaining: userRemaining } = headersOf(call, "user");
    const own = quotaNames[call.scope];
    if (scopeName !== own.organization || userName !== own.user) return;
    if (typeof remaining !== "number" || typeof userRemaining !== "number") return;
    const { cost } = call;
    // The refusal may be charged to the organization, whose window then shows more than was there before.
    const charged = this.#terms.refusedByUser === "charges-organization" ? (cost ?? 0) : 0;
    if (!surelyLacked(remaining, cost, charged, this.#terms)) return;
    if (!surelyLacked(userRemaining, cost, 0, this.#terms)) return;
    this.#misnamed.push({
      line,
      span: this.#time.within(call.sent, call.received),
      words: `remaining ${remaining} of ${limit}`,
    });
  }

  /** Accuses the refusals that were decided while limits were surely enforced; without rules, asks about them. */
  finish(enforcement: Enforcement, hypotheses: Hypotheses, docket: Docket): void {
    const found = this.#misnamed.filter(({ span }) => enforcement.throughout(span.from, span.to) === true);
    const [first] = found;
    if (first === undefined) return;
    const { told, scope } = this.#name;
    const { line, words } = first;
    if (!hypotheses.isGiven) {
      if (!hypotheses.left.every(({ terms }) => terms.refusedByUser === "charges-nothing")) return;
      docket.ask({
        scope,
        question:
          `Refusals name the user's window where the organization's lacks room, too (line ${line}: ${words}). ` +
          "Is that meant? `--rules` settles it.",
        suspects: ["refusal-names-user"],
        lines: [line],
      });
      return;
    }
    docket.accuse({
      law: "refusal-agrees",
      breach: "named second",
      suspects: ["refusal-names-user", "narrow-drains-broad"],
      ...told,
      window: null,
      count: found.length,
      lines: [line],
      explanation: `line ${line} was refused by the user's window, although the organization's, which comes first, shows ${words} and lacked room, too`,
    });
  }
}
