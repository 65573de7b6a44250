// `conserved` (SPEC.md §7) for token buckets: what an answer shows as used lies between the least and the most that can
// be used by then. The least needs no complete trace: of calls that were surely over before, whatever came back since.
import type { Envelope } from "../policy/envelope.ts";
import { capitalized, counted } from "../rules/words.ts";
import { Beginnings } from "./beginnings.ts";
import { accuseAnswer } from "./breach.ts";
import { driftShare, type TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import { addAll } from "./evidence.ts";
import { MostUsed } from "./most-used.ts";
import type { QuotaName } from "./quota-name.ts";
import type { UnreadCall, UnreadJudge } from "./unread.ts";

/** Error of a difference between two of the target's times, ms: each is rounded to whole ms. */
const grainMs = 2;
/** Number of levels that are kept as too low. */
const levelsMost = 1000;
/** Error of sums of fractions. */
const tolerance = 1e-6;

/** A level that seems wrong, with the bound that it passes. */
interface Level {
  readonly line: number;
  readonly from: number;
  readonly to: number;
  readonly shown: number;
  /** Least or most that can have been used. */
  used: number;
}

/** A call that is surely let through and charged. */
interface Charged {
  readonly line: number;
  readonly from: number;
  readonly to: number;
  readonly points: number;
}

export class BucketLevels implements UnreadJudge {
  readonly law = "conserved";
  readonly #name: QuotaName;
  readonly #time: TraceTime;
  readonly #envelope: Envelope;
  readonly #least: Beginnings;
  readonly #most: MostUsed<Level> | null;
  /** Charged calls that were not surely over when the latest call was sent. */
  #underWay: Charged[] = [];
  /** Sending of the first call, and the latest one up to which calls were over. */
  #first = Number.POSITIVE_INFINITY;
  #over = Number.NEGATIVE_INFINITY;
  readonly #tooLow: Level[] = [];
  #readings = 0;

  /** @param startedAt begin of a complete trace, ms since the epoch; `null` where calls may be missing */
  constructor(name: QuotaName, time: TraceTime, envelope: Envelope, startedAt: number | null) {
    this.#name = name;
    this.#time = time;
    this.#envelope = envelope;
    this.#least = new Beginnings(envelope.perMs);
    this.#most = startedAt === null ? null : new MostUsed(time, envelope, startedAt);
  }

  get isTested(): boolean {
    return this.#readings > 0;
  }

  add(call: UnreadCall): void {
    const { line, sent, received, least, most, level } = call;
    const { from, to } = this.#time.within(Math.min(sent, received), Math.max(sent, received));
    this.#first = Math.min(this.#first, from);
    const used = this.#most?.add(call).used ?? Number.POSITIVE_INFINITY;
    if (level !== null && level.limit === this.#envelope.room) {
      this.#readings += 1;
      const shown = { line, from, to, shown: level.used };
      const atLeast = this.#usedAtLeast(from, to, least);
      if (isTooLow({ ...shown, used: atLeast }) && this.#tooLow.length < levelsMost)
        this.#tooLow.push({ ...shown, used: atLeast });
      const claim = { ...shown, used: used + most };
      if (!level.mayOverstate && this.#isTooHigh(claim, 0)) this.#most?.claim(claim);
    }
    if (least > 0) this.#underWay.push({ line, from, to, points: least });
  }

  addUnknown(most: number): void {
    this.#most?.addUnknown(most);
  }

  /**
   * Returns the least that is used at some instant of a call, once it was charged. Nothing is known of a call that was sent
   * before one that was asked about earlier: of that one, more calls were surely over.
   */
  #usedAtLeast(from: number, to: number, own: number): number {
    if (from < this.#over) return 0;
    this.#over = from;
    const later: Charged[] = [];
    for (const call of this.#underWay)
      if (call.to <= from) this.#least.add(call.line, call.from, call.points);
      else later.push(call);
    this.#underWay = later;
    const before = this.#least.leader;
    const used = before === undefined ? 0 : Math.max(0, before.points - this.#back(from - before.from));
    return used + own - this.#back(to - from) - tolerance;
  }

  /** Returns the most that comes back in a time. */
  #back(ms: number): number {
    return this.#envelope.perMs * (ms * (1 + driftShare) + grainMs);
  }

  /** Returns what comes back in a step, where a limiter does so in steps. */
  get #step(): number {
    return this.#envelope.perMs * this.#envelope.stepMs;
  }

  #isTooHigh({ shown, used }: Level, step: number): boolean {
    const { room, perMs } = this.#envelope;
    return shown > Math.ceil(Math.min(room, used + perMs * grainMs + step + tolerance));
  }

  finish(enforcement: Enforcement, docket: Docket): void {
    if (!enforcement.wasOn) return;
    addAll(docket.evidence[this.law], { readings: this.#readings, refusals: 0, windows: 0, resets: 0 });
    const isBound = ({ to }: Level): boolean => enforcement.throughout(this.#first, to) === true;
    const tooLow = this.#tooLow.filter(isBound);
    const tooHigh = (this.#most?.claims ?? []).filter((level) => this.#isTooHigh(level, 0) && isBound(level));
    const isSurelyLow = (level: Level): boolean => isTooLow({ ...level, used: level.used - this.#step });
    const isSurelyHigh = (level: Level): boolean => this.#isTooHigh(level, this.#step);
    for (const level of tooLow.filter(isSurelyLow))
      this.#accuse(docket, level, "too-low", this.#lowWords(level, this.#step));
    for (const level of tooHigh.filter(isSurelyHigh))
      this.#accuse(docket, level, "too-high", this.#highWords(level, this.#step));
    if (tooLow.some(isSurelyLow) || tooHigh.some(isSurelyHigh)) return;
    const [low, high] = [tooLow[0], tooHigh[0]];
    if (low !== undefined) this.#ask(docket, low, "too-low", this.#lowWords(low, 0));
    else if (high !== undefined) this.#ask(docket, high, "too-high", this.#highWords(high, 0));
  }

  #accuse(docket: Docket, { line }: Level, breach: keyof typeof suspects, explanation: string): void {
    accuseAnswer(docket, line, this.#name.told, {
      law: this.law,
      breach,
      suspects: suspects[breach],
      explanation,
    });
  }

  #ask(docket: Docket, { line }: Level, breach: keyof typeof suspects, words: string): void {
    const { told } = this.#name;
    if (!("quota" in told)) return;
    docket.ask({
      quota: told.quota,
      question: `${capitalized(`line ${line} ${words}`)}. It fits if room comes back in steps of ${this.#envelope.stepMs} ms. Is that meant?`,
      suspects: suspects[breach],
      lines: [line],
    });
  }

  #lowWords({ shown, used }: Level, step: number): string {
    return `shows ${this.#usedOf(shown)}, although at least ${Math.floor(used - step)} must be used by then`;
  }

  #highWords({ shown, used }: Level, step: number): string {
    return `shows ${this.#usedOf(shown)}, although at most ${Math.ceil(used + step)} can have been used by then`;
  }

  #usedOf(shown: number): string {
    return `${counted(shown, this.#name.unit)} of ${this.#envelope.room} as used`;
  }
}

/** A level may be shown rounded to a unit below. */
const isTooLow = ({ shown, used }: Level): boolean => shown < Math.floor(used);

const suspects = {
  "too-low": ["per-instance-counters", "race-read-then-write", "cost-ignored", "stale-replica-read"],
  "too-high": ["double-count", "refused-counted", "status-charged"],
} as const;
