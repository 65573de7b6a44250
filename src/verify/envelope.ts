// `bounded` (SPEC.md §7) for quotas whose counts are not read: no span of time lets through more than the quota's room
// and what comes back within the span. It needs decisions alone. A call belongs to each span that holds it from its
// sending to its receipt, so that a sum never has more than was let through.
//
// A sum is held against `room + rate * span`. The span that passes it most begins with the sending of some call.
import type { Envelope } from "../policy/envelope.ts";
import { capitalized } from "../rules/words.ts";
import { Beginnings, backWithin, type SpanStart, tolerance } from "./beginnings.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import { addAll } from "./evidence.ts";
import type { QuotaName } from "./quota-name.ts";
import type { UnreadCall, UnreadJudge } from "./unread.ts";

/** A span that lets through more than its quota does. */
interface Excess extends SpanStart {
  readonly to: number;
  readonly lastLine: number;
}

export class EnvelopeJudge implements UnreadJudge {
  readonly law = "bounded";
  readonly #name: QuotaName;
  readonly #envelope: Envelope;
  readonly #beginnings: Beginnings;
  readonly #excessive: Excess[] = [];
  /** A span that is too full unless room comes back in steps. */
  #stepped: Excess | null = null;
  #calls = 0;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(name: QuotaName, envelope: Envelope) {
    this.#name = name;
    this.#envelope = envelope;
    this.#beginnings = new Beginnings(envelope.perMs);
  }

  add({ line, from, to, least }: UnreadCall): void {
    if (least === 0) return;
    this.#calls += 1;
    this.#latest = Math.max(this.#latest, to);
    this.#beginnings.add(line, from, least);
    this.#check(line, this.#beginnings.leader as SpanStart);
  }

  get isTested(): boolean {
    return this.#calls > 0;
  }

  /** Returns the most that the quota lets through in a span. @param stepMs step in which room comes back */
  #most({ from, to }: Pick<Excess, "from" | "to">, stepMs: number): number {
    const { room, perMs } = this.#envelope;
    return room + backWithin(perMs, to - from) + perMs * stepMs + tolerance;
  }

  #check(lastLine: number, worst: SpanStart): void {
    const span = { ...worst, to: this.#latest, lastLine };
    if (worst.points <= this.#most(span, 0)) return;
    this.#stepped ??= span;
    if (worst.points <= this.#most(span, this.#envelope.stepMs)) return;
    this.#excessive.push(span);
    this.#beginnings.clear();
  }

  /** A call of unknown outcome was not surely let through. */
  addUnknown(): void {}

  finish(enforcement: Enforcement, docket: Docket): void {
    if (this.#calls === 0 || !enforcement.wasOn) return;
    addAll(docket.evidence[this.law], { readings: this.#calls, refusals: 0, windows: 0, resets: 0 });
    const isBound = ({ from, to }: Excess): boolean => enforcement.throughout(from, to) === true;
    const excessive = this.#excessive.filter(isBound);
    for (const span of excessive)
      docket.accuse({
        law: this.law,
        breach: "envelope",
        suspects: ["per-instance-counters", "race-read-then-write", "cost-ignored", "one-extra"],
        ...this.#name.told,
        window: null,
        lines: [span.line, span.lastLine],
        explanation: this.#words(span, this.#envelope.stepMs),
      });
    const stepped = this.#stepped;
    const { told } = this.#name;
    if (stepped !== null && excessive.length === 0 && isBound(stepped) && "quota" in told)
      docket.ask({
        quota: told.quota,
        question: `${capitalized(this.#words(stepped, 0))}. It fits if room comes back in steps of ${spanWords(this.#envelope.stepMs)}. Is that meant?`,
        suspects: ["one-extra"],
        lines: [stepped.line, stepped.lastLine],
      });
  }

  #words(span: Excess, stepMs: number): string {
    const { points, from, to, line, lastLine } = span;
    return (
      `within ${spanWords(to - from)}, from line ${line} to line ${lastLine}, ${points} were admitted, ` +
      `which is above ${Math.floor(this.#most(span, stepMs))}: room for ${this.#envelope.room}, and what comes back in ` +
      `that time${stepMs > 0 ? ` and ${spanWords(stepMs)} more` : ""}`
    );
  }
}

/** Returns a span in words: `350 ms`, `1.2 s`. */
export const spanWords = (ms: number): string =>
  ms < 1000 ? `${Math.ceil(ms)} ms` : `${Math.ceil(ms / 100) / 10} s`;
