// `unenforced-never-refuses` (SPEC.md §2.5): refusals are kept until it is known whether limits were enforced.

import type { Owner } from "../rules/rules.ts";
import type { Span, TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import type { Exhibit } from "./hypotheses.ts";
import type { QuotaName } from "./quota-name.ts";
import type { Terms } from "./terms.ts";

/** Number of refusals that are kept. One suffices to accuse; more are only counted. */
const keptMost = 10_000;

/** Refusals in the order in which they came: line and span of the decision. Flat, since organizations may be many. */
class Refusals {
  readonly #numbers: number[] = [];

  add(line: number, { from, to }: Span): void {
    if (this.#numbers.length < 3 * keptMost) this.#numbers.push(line, from, to);
  }

  /** Returns the lines of refusals that were decided while limits were surely not enforced. */
  linesWhileOff(enforcement: Enforcement): readonly number[] {
    const lines: number[] = [];
    for (let at = 0; at < this.#numbers.length; at += 3) {
      const [line = 0, from = 0, to = 0] = this.#numbers.slice(at, at + 3);
      if (enforcement.throughout(from, to) === false) lines.push(line);
    }
    return lines;
  }
}

/** Refusals of one organization's scope that would be breaches if limits were not enforced. */
export class UnenforcedRefusals {
  readonly #name: QuotaName;
  readonly #terms: Terms;
  readonly #time: TraceTime;
  readonly #refusals = new Refusals();
  /** Refusals by users' windows, if it is unknown whether those follow their organization's. */
  readonly #byUsers = new Refusals();

  constructor(name: QuotaName, terms: Terms, time: TraceTime) {
    this.#name = name;
    this.#terms = terms;
    this.#time = time;
  }

  /** @param by owner whose window refused; `null` if the refusal does not say */
  add(line: number, sent: number, received: number, by: Owner | null): void {
    const { userEnforced } = this.#terms;
    // A user's window may refuse by itself, unless it is known to follow its organization's.
    const speaks = by === "organization" || userEnforced === "with-organization";
    if (!speaks && (by !== "user" || userEnforced !== null)) return;
    (speaks ? this.#refusals : this.#byUsers).add(line, this.#time.within(sent, received));
  }

  /** Returns a refusal that shows users' windows to be always enforced; `null` if there is none. */
  userEnforcedAlways(enforcement: Enforcement): Exhibit | null {
    const [line] = this.#byUsers.linesWhileOff(enforcement);
    if (line === undefined) return null;
    const explanation = `line ${line} was refused by a user's window while the limits of ${this.#name.scope} were not enforced`;
    return { lines: [line], explanation };
  }

  finish(enforcement: Enforcement, docket: Docket): void {
    const { told } = this.#name;
    const breaches = this.#refusals.linesWhileOff(enforcement);
    const [first] = breaches;
    if (first === undefined) return;
    docket.accuse({
      law: "unenforced-never-refuses",
      breach: "refused",
      suspects: ["unenforced-refuses"],
      ...told,
      window: null,
      count: breaches.length,
      lines: [first],
      explanation: `line ${first} was refused while the limits of ${"quota" in told ? told.quota : told.scope} were not enforced`,
    });
  }
}
