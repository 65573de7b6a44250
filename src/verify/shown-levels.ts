// `conserved` (SPEC.md §7) for counts without windows: what an answer shows as used lies between the least and the most
// that can be used by then.
import type { Envelope } from "../policy/envelope.ts";
import { capitalized, counted } from "../rules/words.ts";
import { backWithin, tolerance } from "./beginnings.ts";
import { accuseAnswer } from "./breach.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import { spanWords } from "./envelope.ts";
import { addAll } from "./evidence.ts";
import type { QuotaName } from "./quota-name.ts";
import type { UnreadCall, UnreadJudge } from "./unread.ts";
import { Claims, type LeastUsed, type MostUsed } from "./use-bounds.ts";

/** Number of levels that are kept as too low. */
const levelsMost = 1000;

/** A level that seems wrong, with the bound that it passes. */
interface Level extends Pick<UnreadCall, "line" | "from" | "to"> {
  readonly shown: number;
  /** Least or most that can have been used. */
  used: number;
}

export class ShownLevels implements UnreadJudge {
  readonly law = "conserved";
  readonly #name: QuotaName;
  readonly #envelope: Envelope;
  readonly #least: LeastUsed;
  readonly #most: Claims<Level> | null;
  /** Sending of the first call. */
  #first = Number.POSITIVE_INFINITY;
  readonly #tooLow: Level[] = [];
  #readings = 0;

  /**
   * @param envelope room, and what comes back at once where a limiter does so in steps
   * @param most `null` where calls may be missing
   */
  constructor(name: QuotaName, envelope: Envelope, least: LeastUsed, most: MostUsed | null) {
    this.#name = name;
    this.#envelope = envelope;
    this.#least = least;
    this.#most = most && new Claims(most);
  }

  get isTested(): boolean {
    return this.#readings > 0;
  }

  add(call: UnreadCall): void {
    const { line, from, to, most, level } = call;
    this.#first = Math.min(this.#first, from);
    const atLeast = this.#least.add(call);
    const used = this.#most?.add(call) ?? Number.POSITIVE_INFINITY;
    if (level === null || level.limit !== this.#envelope.room) return;
    this.#readings += 1;
    const shown = { line, from, to, shown: level.used };
    const low = { ...shown, used: atLeast };
    if (isTooLow(low) && this.#tooLow.length < levelsMost) this.#tooLow.push(low);
    const high = { ...shown, used: used + most };
    if (!level.mayOverstate && this.#isTooHigh(high, 0)) this.#most?.claim(high);
  }

  addUnknown(most: number): void {
    this.#most?.addUnknown(most);
  }

  /** Returns what comes back in a step, where a limiter does so in steps. */
  get #step(): number {
    return this.#envelope.perMs * this.#envelope.stepMs;
  }

  /** Returns what comes back within the error of a difference between two times. */
  get #grain(): number {
    return backWithin(this.#envelope.perMs, 0);
  }

  #isTooHigh({ shown, used }: Level, step: number): boolean {
    return shown > Math.ceil(Math.min(this.#envelope.room, used + this.#grain + step + tolerance));
  }

  finish(enforcement: Enforcement, docket: Docket): void {
    if (!enforcement.wasOn) return;
    addAll(docket.evidence[this.law], { readings: this.#readings, refusals: 0, windows: 0, resets: 0 });
    const isBound = ({ to }: Level): boolean => enforcement.throughout(this.#first, to) === true;
    const step = this.#step;
    const low = this.#tooLow.filter(isBound);
    const high = (this.#most?.all ?? []).filter((level) => this.#isTooHigh(level, 0) && isBound(level));
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
