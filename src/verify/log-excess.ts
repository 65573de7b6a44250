// `bounded` (SPEC.md §7) for sliding logs: nothing comes back within a length, so that no length holds more than the
// limit. It needs decisions alone.
import { capitalized, counted } from "../rules/words.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import { spanWords } from "./envelope.ts";
import { addAll } from "./evidence.ts";
import type { QuotaName } from "./quota-name.ts";
import { SlidingLeast, type SlidingShape } from "./sliding-use.ts";
import type { UnreadCall, UnreadJudge } from "./unread.ts";

/** Number of excesses that are kept. */
const excessesMost = 1000;

/** A call by which more was let through than the limit. */
interface Excess extends Pick<UnreadCall, "line" | "from" | "to"> {
  readonly admitted: number;
}

export class LogExcess implements UnreadJudge {
  readonly law = "bounded";
  readonly #name: QuotaName;
  readonly #limit: number;
  readonly #shape: SlidingShape;
  readonly #sure: SlidingLeast;
  /** As by a clock without steps. */
  readonly #strict: SlidingLeast;
  readonly #excesses: Excess[] = [];
  /** As an excess, unless the limiter reads a clock with steps. */
  #stepped: Excess | null = null;
  #calls = 0;
  /** True once an excess was found after the latest call that was let through. */
  #isTold = false;

  constructor(name: QuotaName, limit: number, shape: SlidingShape) {
    this.#name = name;
    this.#limit = limit;
    this.#shape = shape;
    this.#sure = new SlidingLeast(shape);
    this.#strict = new SlidingLeast({ ...shape, stepMs: 0 });
  }

  get isTested(): boolean {
    return this.#calls > 0;
  }

  add(call: UnreadCall): void {
    const [sure, strict] = [this.#sure.add(call), this.#strict.add(call)];
    const { line, from, to, least } = call;
    if (least > 0) {
      this.#calls += 1;
      this.#isTold = false;
    }
    if (strict > this.#limit) this.#stepped ??= { line, from, to, admitted: strict };
    if (sure <= this.#limit || this.#isTold) return;
    this.#isTold = true;
    if (this.#excesses.length < excessesMost) this.#excesses.push({ line, from, to, admitted: sure });
  }

  /** A call of unknown outcome was not surely let through. */
  addUnknown(): void {}

  finish(enforcement: Enforcement, docket: Docket): void {
    if (this.#calls === 0 || !enforcement.wasOn) return;
    addAll(docket.evidence[this.law], { readings: this.#calls, refusals: 0, windows: 0, resets: 0 });
    const { told } = this.#name;
    const isBound = ({ from, to }: Excess): boolean =>
      enforcement.throughout(from - this.#shape.lengthMs, to) === true;
    const excesses = this.#excesses.filter(isBound);
    for (const excess of excesses)
      docket.accuse({
        law: this.law,
        breach: "envelope",
        suspects: excess.admitted > this.#limit + 1 ? suspects : ["one-extra", ...suspects],
        ...told,
        window: null,
        lines: [excess.line],
        explanation: this.#words(excess),
      });
    const stepped = this.#stepped;
    if (stepped !== null && excesses.length === 0 && isBound(stepped) && "quota" in told)
      docket.ask({
        quota: told.quota,
        question: `${capitalized(this.#words(stepped))}. It fits if the limiter's clock has steps of ${spanWords(this.#shape.stepMs)}. Is that meant?`,
        suspects: ["one-extra"],
        lines: [stepped.line],
      });
  }

  #words({ line, admitted }: Excess): string {
    return (
      `by line ${line}, ${counted(admitted, this.#name.unit)} were admitted within ` +
      `${spanWords(this.#shape.lengthMs)}, which is above ${this.#limit}`
    );
  }
}

const suspects = ["per-instance-counters", "race-read-then-write", "cost-ignored"] as const;
