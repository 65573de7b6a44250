// `refusal-justified` (SPEC.md §7) for counts without windows: a refusal is needless if the most that can have been used
// by then leaves room. It needs a complete trace.
import type { Envelope } from "../policy/envelope.ts";
import { counted } from "../rules/words.ts";
import { accuseAnswer } from "./breach.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import type { QuotaName } from "./quota-name.ts";
import type { UnreadCall, UnreadJudge } from "./unread.ts";
import { Claims, type MostUsed } from "./use-bounds.ts";

interface Needless extends Pick<UnreadCall, "line" | "from" | "to"> {
  readonly cost: number;
  readonly isNamed: boolean;
  /** Most that can have been used when it was refused. */
  used: number;
}

export class NeedlessRefusals implements UnreadJudge {
  readonly law = "refusal-justified";
  readonly #name: QuotaName;
  readonly #envelope: Envelope;
  readonly #most: Claims<Needless>;
  #refusals = 0;

  /** @param envelope room, and what comes back at once where a limiter does so in steps */
  constructor(name: QuotaName, envelope: Envelope, most: MostUsed) {
    this.#name = name;
    this.#envelope = envelope;
    this.#most = new Claims(most);
  }

  get isTested(): boolean {
    return this.#refusals > 0;
  }

  add(call: UnreadCall): void {
    const used = this.#most.add(call);
    const { line, from, to, refused } = call;
    if (refused === null) return;
    if (from >= this.#most.bounds.knownFrom) this.#refusals += 1;
    const refusal = { line, from, to, ...refused, used };
    if (this.#isNeedless(refusal)) this.#most.claim(refusal);
  }

  addUnknown(most: number): void {
    this.#most.addUnknown(most);
  }

  #isNeedless({ used, cost }: Needless): boolean {
    const { room, perMs, stepMs } = this.#envelope;
    return used + perMs * stepMs + cost <= room;
  }

  finish(enforcement: Enforcement, docket: Docket): void {
    if (enforcement.wasOn) docket.evidence[this.law].refusals += this.#refusals;
    const { told } = this.#name;
    const needless = this.#most.all.filter(
      (claim) => this.#isNeedless(claim) && enforcement.throughout(claim.from, claim.to) === true,
    );
    for (const waiting of needless.filter(({ isNamed }) => isNamed))
      accuseAnswer(docket, waiting.line, told, {
        law: this.law,
        breach: "needless",
        suspects,
        explanation: this.#words(waiting),
      });
    const nameless = needless.filter(({ isNamed }) => !isNamed);
    const [first] = nameless;
    if (first !== undefined && "quota" in told)
      docket.ask({
        quota: told.quota,
        question:
          `${counted(nameless.length, "refusal")} came while there was room: line ${first.line} ${this.#words(first)}. ` +
          "Does another limit, or a failure, answer so?",
        suspects,
        lines: [first.line],
      });
  }

  #words({ cost, used }: Needless): string {
    return (
      `asked for ${counted(cost, this.#name.unit)} and was refused, although at most ` +
      `${Math.ceil(used)} of ${this.#envelope.room} can have been used by then`
    );
  }
}

const suspects = ["refused-counted", "double-count", "one-short"] as const;
