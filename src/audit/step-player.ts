// Plays steps of experiments: makes their calls over the wires, waits by the clock, and keeps the answers.
import { setTimeout as sleep } from "node:timers/promises";
import type { Lab } from "./lab.ts";
import type { AuditRecord } from "./record.ts";
import type { Answer, Done, Shot, Step } from "./step.ts";
import type { Raw, Wires } from "./wires.ts";

export type AuditWires = Pick<Wires, "send" | "sendAll" | "close">;

/** Time, ms since the Unix epoch. */
export interface AuditClock {
  now(): number;
  /** Waits. Rejects if the signal is aborted before. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

export const wallClock: AuditClock = {
  now: Date.now,
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

/** Number of calls in a row without an answer after which the audit gives up. */
const silentMost = 6;

/** The end of an audit before its last step: it was interrupted, or nobody answers. */
export class Ended extends Error {}

interface Surroundings {
  readonly lab: Lab;
  readonly wires: AuditWires;
  readonly clock: AuditClock;
  readonly record: AuditRecord;
  readonly signal: AbortSignal | undefined;
}

export class StepPlayer {
  readonly #with: Surroundings;
  readonly #answers: Answer[] = [];
  #silent = 0;
  #stopped: string | null = null;

  constructor(surroundings: Surroundings) {
    this.#with = surroundings;
  }

  /** All answers so far. */
  get answers(): readonly Answer[] {
    return this.#answers;
  }

  /** Reason why no more calls are made; `null` while they are. */
  get stopped(): string | null {
    return this.#stopped;
  }

  get isInterrupted(): boolean {
    return this.#with.signal?.aborted === true;
  }

  /**
   * Plays steps to their end, and returns what they return.
   * @throws Ended if the audit was interrupted, or too many calls in a row had no answer
   */
  async play<T>(steps: Generator<Step, T, Done>): Promise<T> {
    let next = steps.next();
    while (next.done !== true) {
      let done: Done;
      try {
        done = await this.#step(next.value);
      } catch (error) {
        steps.return(undefined as never);
        throw error;
      }
      next = steps.next(done);
    }
    return next.value;
  }

  /** Records a call. */
  hear(shot: Shot, raw: Raw): Answer {
    const { lab, record } = this.#with;
    const answer = record.add(shot, raw);
    lab.book.note(answer);
    this.#answers.push(answer);
    return answer;
  }

  async #step(step: Step): Promise<Done> {
    const { wires, clock, record, signal } = this.#with;
    if (this.isInterrupted || this.#stopped !== null) throw new Ended();
    if ("untilMs" in step) {
      const ms = step.untilMs - clock.now();
      if (ms > 0)
        await clock.sleep(ms, signal).catch(() => {
          throw new Ended();
        });
      return { answers: [], nowMs: clock.now() };
    }
    const answers: Answer[] = [];
    const take = (shots: readonly Shot[], raws: Awaited<ReturnType<Wires["sendAll"]>>): void => {
      for (const [at, shot] of shots.entries()) {
        const raw = raws[at];
        if (raw === undefined) continue;
        const answer = this.hear(shot, raw);
        answers.push(answer);
        this.#heed(answer);
      }
    };
    try {
      if (step.together) take(step.shots, await wires.sendAll(step.shots));
      else for (const shot of step.shots) take([shot], await wires.sendAll([shot]));
    } catch (error) {
      // These calls may have been charged, but have no line.
      record.lose(step.shots.length - answers.length);
      if (this.isInterrupted) throw new Ended();
      throw error;
    }
    return { answers, nowMs: clock.now() };
  }

  #heed({ call, shot }: Answer): void {
    if (shot.way.startsWith("cut-")) return;
    this.#silent =
      call.status === 0 && shot.way === "kept" ? this.#silent + 1 : call.status > 0 ? 0 : this.#silent;
    if (this.#silent >= silentMost)
      this.#stopped ??= `${this.#silent} calls in a row had no answer (${call.error})`;
  }
}
