// `refusal-justified` (SPEC.md §7) for token buckets, whose levels are not read: a refusal is needless if the most that
// can have been used by then leaves room. It needs a complete trace.
//
// What is used is at most this: all of it at the trace's begin, less what came back since, and each call's charge from its
// answer on; beside it, calls that were under way. Those are known once all calls were seen, so that refusals wait.
import type { Envelope } from "../policy/envelope.ts";
import { counted } from "../rules/words.ts";
import { accuseAnswer } from "./breach.ts";
import { driftShare, type TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import type { QuotaName } from "./quota-name.ts";
import type { UnreadCall, UnreadJudge } from "./unread.ts";

/** Number of refusals that wait for later calls. */
const waitingMost = 1000;

interface Waiting {
  readonly line: number;
  readonly from: number;
  readonly to: number;
  readonly cost: number;
  readonly isNamed: boolean;
  /** Most that can have been used when it was refused. */
  used: number;
}

export class BucketRefusals implements UnreadJudge {
  readonly law = "refusal-justified";
  readonly #name: QuotaName;
  readonly #time: TraceTime;
  readonly #envelope: Envelope;
  /** Instant from which on nothing is left of what was used before the trace. */
  readonly #knownFrom: number;
  /** Refusals that seem needless. */
  readonly #waiting: Waiting[] = [];
  /** Most that is used at the latest answer, by calls that were answered. */
  #used: number;
  #at: number;
  /** Most that calls of unknown outcome may add at any time. */
  #unknown = 0;
  #refusals = 0;

  /** @param startedAt begin of the trace, ms since the epoch */
  constructor(name: QuotaName, time: TraceTime, envelope: Envelope, startedAt: number) {
    this.#name = name;
    this.#time = time;
    this.#envelope = envelope;
    this.#used = envelope.room;
    this.#at = time.within(startedAt, startedAt).to;
    this.#knownFrom = this.#at + envelope.room / envelope.perMs;
  }

  get isTested(): boolean {
    return this.#refusals > 0;
  }

  add({ line, sent, received, refused, most }: UnreadCall): void {
    const { room, perMs } = this.#envelope;
    const { from, to } = this.#time.within(Math.min(sent, received), Math.max(sent, received));
    for (const waiting of this.#waiting) if (from <= waiting.to) waiting.used += most;
    if (to > this.#at) {
      this.#used = Math.max(0, this.#used - perMs * (to - this.#at) * (1 - driftShare));
      this.#at = to;
    }
    // It was decided before its answer came, when less had come back.
    const used = this.#used + perMs * (this.#at - from) + this.#unknown;
    if (refused !== null) this.#refuse({ line, from, to, ...refused, used });
    this.#used = Math.min(room, this.#used + most);
  }

  addUnknown(most: number): void {
    this.#unknown += most;
    for (const waiting of this.#waiting) waiting.used += most;
  }

  #refuse(refusal: Waiting): void {
    if (refusal.from >= this.#knownFrom) this.#refusals += 1;
    if (this.#isNeedless(refusal) && this.#waiting.length < waitingMost) this.#waiting.push(refusal);
  }

  #isNeedless({ used, cost }: Waiting): boolean {
    const { room, perMs, stepMs } = this.#envelope;
    return used + perMs * stepMs + cost <= room;
  }

  finish(enforcement: Enforcement, docket: Docket): void {
    if (enforcement.wasOn) docket.evidence[this.law].refusals += this.#refusals;
    const { told } = this.#name;
    const needless = this.#waiting.filter(
      (waiting) => this.#isNeedless(waiting) && enforcement.throughout(waiting.from, waiting.to) === true,
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

  #words({ cost, used }: Waiting): string {
    return (
      `asked for ${counted(cost, this.#name.unit)} and was refused, although at most ` +
      `${Math.ceil(used)} of ${this.#envelope.room} can have been used by then`
    );
  }
}

const suspects = ["refused-counted", "double-count", "one-short"] as const;
