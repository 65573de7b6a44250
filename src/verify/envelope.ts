// `bounded` (SPEC.md §7) for quotas whose counts are not read: no span of time lets through more than the quota's room
// and what comes back within the span. It needs decisions alone. A call belongs to each span that holds it from its
// sending to its receipt, so that a sum never has more than was let through.
//
// A sum is held against `room + rate * span`. The span that passes it most begins with the sending of some call. Such
// beginnings are kept in order, each with the sum since then; of two, the earlier one goes on if it leads: it gets all that
// the later one gets.
import type { Envelope } from "../policy/envelope.ts";
import { capitalized } from "../rules/words.ts";
import { driftShare, type TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import { addAll } from "./evidence.ts";
import type { QuotaName } from "./quota-name.ts";
import type { UnreadCall, UnreadJudge } from "./unread.ts";

/** Error of a difference between two of the target's times, ms: each is rounded to whole ms. */
const grainMs = 2;
/** Number of beginnings that are kept. Calls that are sent before the earliest one are left out of its sum. */
const beginningsMost = 64;
/** Error of sums of fractions. */
const tolerance = 1e-6;

/** A span's beginning, with the units that were let through since then. */
interface Beginning {
  readonly from: number;
  readonly line: number;
  points: number;
}

/** A span that lets through more than its quota does. */
interface Excess extends Beginning {
  readonly to: number;
  readonly lastLine: number;
}

export class EnvelopeJudge implements UnreadJudge {
  readonly law = "bounded";
  readonly #name: QuotaName;
  readonly #time: TraceTime;
  readonly #envelope: Envelope;
  /** Beginnings by their time. Each has a greater lead than the one before. */
  readonly #beginnings: Beginning[] = [];
  readonly #excessive: Excess[] = [];
  /** A span that is too full unless room comes back in steps. */
  #stepped: Excess | null = null;
  #calls = 0;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(name: QuotaName, time: TraceTime, envelope: Envelope) {
    this.#name = name;
    this.#time = time;
    this.#envelope = envelope;
  }

  add({ line, sent, received, least }: UnreadCall): void {
    if (least === 0) return;
    this.#calls += 1;
    const { from, to } = this.#time.within(Math.min(sent, received), Math.max(sent, received));
    this.#latest = Math.max(this.#latest, to);
    this.#begin(line, from);
    for (const beginning of this.#beginnings) if (beginning.from <= from) beginning.points += least;
    this.#drop();
    // Leads grow from one to the next.
    this.#check(line, this.#beginnings.at(-1) as Beginning);
  }

  get isTested(): boolean {
    return this.#calls > 0;
  }

  /** Units by which a beginning leads another, beside this number for that one. */
  #leadOf({ from, points }: Beginning): number {
    return points + this.#envelope.perMs * (from - this.#latest);
  }

  /** Returns the most that the quota lets through in a span. @param stepMs step in which room comes back */
  #most({ from, to }: Pick<Excess, "from" | "to">, stepMs: number): number {
    const { room, perMs } = this.#envelope;
    return room + perMs * ((to - from) * (1 + driftShare) + grainMs + stepMs) + tolerance;
  }

  /** Puts a beginning in its place. Its sum is that of the next one: calls between the two are not known any more. */
  #begin(line: number, from: number): void {
    const beginnings = this.#beginnings;
    let at = beginnings.length;
    while (at > 0 && (beginnings[at - 1] as Beginning).from >= from) at -= 1;
    const next = beginnings[at];
    if (next?.from !== from) beginnings.splice(at, 0, { from, line, points: next?.points ?? 0 });
  }

  /** Drops beginnings behind an earlier one that leads, then the earliest of too many. */
  #drop(): void {
    let lead = Number.NEGATIVE_INFINITY;
    let kept = 0;
    for (const beginning of this.#beginnings) {
      const its = this.#leadOf(beginning);
      if (its <= lead) continue;
      lead = its;
      this.#beginnings[kept] = beginning;
      kept += 1;
    }
    this.#beginnings.length = kept;
    if (kept > beginningsMost) this.#beginnings.shift();
  }

  #check(lastLine: number, worst: Beginning): void {
    const span = { ...worst, to: this.#latest, lastLine };
    if (worst.points <= this.#most(span, 0)) return;
    this.#stepped ??= span;
    if (worst.points <= this.#most(span, this.#envelope.stepMs)) return;
    this.#excessive.push(span);
    this.#beginnings.length = 0;
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

const spanWords = (ms: number): string =>
  ms < 1000 ? `${Math.ceil(ms)} ms` : `${Math.ceil(ms / 100) / 10} s`;
