// `conserved` (SPEC.md §7) for token buckets: what an answer shows as used lies between the least and the most that can
// be used by then. The least needs no complete trace: of calls that were surely over before, whatever came back since.
import type { Envelope } from "../policy/envelope.ts";
import { capitalized, counted } from "../rules/words.ts";
import { Beginnings, backWithin, tolerance } from "./beginnings.ts";
import { accuseAnswer } from "./breach.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import { spanWords } from "./envelope.ts";
import { addAll } from "./evidence.ts";
import { MostUsed } from "./most-used.ts";
import type { QuotaName } from "./quota-name.ts";
import type { UnreadCall, UnreadJudge } from "./unread.ts";

/** Number of levels that are kept as too low. */
const levelsMost = 1000;

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

  /** @param beganBy latest begin of a complete trace, ms since the epoch; `null` where calls may be missing */
  constructor(name: QuotaName, envelope: Envelope, beganBy: number | null) {
    this.#name = name;
    this.#envelope = envelope;
    this.#least = new Beginnings(envelope.perMs);
    this.#most = beganBy === null ? null : new MostUsed(envelope, beganBy);
  }

  get isTested(): boolean {
    return this.#readings > 0;
  }

  add(call: UnreadCall): void {
    const { line, from, to, least, most, level } = call;
    this.#first = Math.min(this.#first, from);
    const used = this.#most?.add(call) ?? Number.POSITIVE_INFINITY;
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
    return backWithin(this.#envelope.perMs, ms);
  }

  /** Returns what comes back in a step, where a limiter does so in steps. */
  get #step(): number {
    return this.#envelope.perMs * this.#envelope.stepMs;
  }

  #isTooHigh({ shown, used }: Level, step: number): boolean {
    return shown > Math.ceil(Math.min(this.#envelope.room, used + this.#back(0) + step + tolerance));
  }

  finish(enforcement: Enforcement, docket: Docket): void {
    if (!enforcement.wasOn) return;
    addAll(docket.evidence[this.law], { readings: this.#readings, refusals: 0, windows: 0, resets: 0 });
    const isBound = ({ to }: Level): boolean => enforcement.throughout(this.#first, to) === true;
    const step = this.#step;
    const low = this.#tooLow.filter(isBound);
    const high = (this.#most?.claims ?? []).filter((level) => this.#isTooHigh(level, 0) && isBound(level));
    const surelyLow = low.filter((level) => isTooLow({ ...level, used: level.used - step }));
    const surelyHigh = high.filter((level) => this.#isTooHigh(level, step));
    for (const level of surelyLow) this.#accuse(docket, level, "too-low", this.#lowWords(level, step));
    for (const level of surelyHigh) this.#accuse(docket, level, "too-high", this.#highWords(level, step));
    if (surelyLow.length > 0 || surelyHigh.length > 0) return;
    if (low[0] !== undefined) this.#ask(docket, low[0], "too-low", this.#lowWords(low[0], 0));
    else if (high[0] !== undefined) this.#ask(docket, high[0], "too-high", this.#highWords(high[0], 0));
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
      question: `${capitalized(`line ${line} ${words}`)}. It fits if room comes back in steps of ${spanWords(this.#envelope.stepMs)}. Is that meant?`,
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
