// `check --target` in real time. Scripts that crowd at limits and window edges run against a live deployment, and the
// judge reads each run's trace. The judge accounts for the time between sending and receiving. This file waits, calls,
// and shrinks an accused script.
import fc from "fast-check";
import type { LawName } from "../rules/laws.ts";
import type { Rules } from "../rules/rules.ts";
import type { Token } from "../rules/tokens.ts";
import type { TraceCall, TraceHeader } from "../trace/record.ts";
import { type LiveCaller, LiveEnded } from "./live.ts";
import { type SeenCall, traceCall, whole } from "./seen.ts";

/** A line of a run's trace, numbered from 2. */
export interface LiveLine {
  readonly line: number;
  readonly call: TraceCall;
}

type LawState = "held" | "violated" | { readonly skipped: string };

/** Evidence for a law: numbers of what it was tested by, as in a verdict. */
interface LiveEvidence {
  readonly readings: number;
  readonly refusals: number;
  readonly windows: number;
  readonly resets: number;
}

/** Members of a verdict that the check needs. */
export interface LiveVerdict {
  readonly verdict: "ok" | "violated" | "unknown";
  readonly laws: Readonly<Record<string, LawState>>;
  readonly evidence?: Readonly<Record<string, LiveEvidence>>;
  readonly violations: readonly {
    readonly law: LawName;
    readonly explanation: string;
    readonly lines: readonly number[];
  }[];
}

export interface LiveCheckOptions<V extends LiveVerdict> {
  readonly live: LiveCaller;
  /** Origin of the target, for the trace. */
  readonly target: string;
  readonly rules: Rules | null;
  /** True if nobody else uses these callers' quotas during the check. */
  readonly alone: boolean;
  readonly runs: number;
  readonly seed: number;
  judge(header: TraceHeader, lines: readonly LiveLine[]): Promise<V>;
  readonly onProgress?: (text: string) => void | PromiseLike<void>;
}

export interface LiveReport<V extends LiveVerdict> {
  readonly target: string;
  readonly seed: number;
  /** Number of judged runs, up to the first accused one. */
  readonly runs: number;
  readonly calls: number;
  /** State of each law: violated, held in some run, or why no run could judge it. */
  readonly laws: Readonly<Record<string, LawState>>;
  /** Evidence for each law, of all runs together. */
  readonly evidence: Readonly<Record<string, LiveEvidence>>;
  readonly ok: boolean;
  /** Reason why the check ended before its last run; `null` if it did not. */
  readonly ended: { readonly why: LiveEnded["why"]; readonly reason: string } | null;
  /** The smallest run that was accused. */
  readonly counterexample: {
    readonly header: TraceHeader;
    readonly lines: readonly LiveLine[];
    readonly verdict: V;
  } | null;
}

/** Next step of a script: a wait, then calls. */
interface Step {
  /** Wait before it: none; until the middle of the caller's window; or as long as the last answer's reset said. */
  readonly when: "now" | "middle" | "reset";
  /** Number that chooses among the callers. */
  readonly caller: number;
  /** Calls: of the status, `count` of them, or all that are left and `count` more. */
  readonly what: "status" | "some" | "all";
  readonly count: number;
  /** Number of calls in flight together. */
  readonly together: number;
}

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  when: fc.constantFrom("now", "now", "middle", "reset"),
  caller: fc.nat({ max: 5 }),
  what: fc.constantFrom("some", "some", "all", "all", "status"),
  count: fc.integer({ min: 1, max: 4 }),
  together: fc.constantFrom(1, 4, 8),
});
const stepsMost = 6;
/** Largest share of the remaining time that may pass before a run's windows open. */
const beginningMost = 0.5;
/** Time after a window's end from which the next one surely opened within the run, in spite of whole seconds, ms. */
const settledMs = 300;

class Accused<V extends LiveVerdict> extends Error {
  readonly run: NonNullable<LiveReport<V>["counterexample"]>;
  constructor(run: NonNullable<LiveReport<V>["counterexample"]>) {
    super(run.verdict.violations[0]?.explanation ?? "violated");
    this.run = run;
  }
}

/**
 * Plays scripts until one is accused, or runs or budget are used up. Findings so far are kept.
 *
 * It can show what a REST trace shows (all laws but `snapshot-equals`, `never-rolls-back` and `time-translates`), in
 * windows short enough for the budget. Runs follow each other: a window that opened before a run is judged as far as
 * its beginning is known.
 */
export async function checkLive<V extends LiveVerdict>(options: LiveCheckOptions<V>): Promise<LiveReport<V>> {
  const { live, runs, seed, target } = options;
  const laws: Record<string, LawState> = {};
  const evidence: Record<string, LiveEvidence> = {};
  let judged = 0;
  let accused: LawName | null = null;
  const property = fc.asyncProperty(
    fc.noBias(fc.array(stepArbitrary, { minLength: 1, maxLength: stepsMost, size: "max" })),
    async (steps) => {
      const shrinking = accused !== null;
      await options.onProgress?.(shrinking ? "making a run smaller" : `run ${judged + 1} of ${runs}`);
      const lines = await new LiveRun(live).play(steps);
      if (lines.length === 0) throw new fc.PreconditionFailure(live.ended !== null);
      const header = headerOf(options, lines);
      const verdict = await options.judge(header, lines);
      if (!shrinking) {
        judged += 1;
        merge(laws, verdict.laws);
        add(evidence, verdict.evidence ?? {});
      }
      const law = verdict.violations[0]?.law;
      if (law !== undefined && (accused ?? law) === law) {
        accused = law;
        throw new Accused({ header, lines, verdict });
      }
      if (live.ended !== null) throw new fc.PreconditionFailure(true);
    },
  );
  const { errorInstance } = await fc.check(property, { seed, numRuns: runs });
  if (errorInstance !== null && !(errorInstance instanceof Accused)) throw errorInstance;
  return {
    target,
    seed,
    runs: judged,
    calls: live.calls,
    laws,
    evidence,
    ok: errorInstance === null,
    ended: live.ended === null ? null : { why: live.ended.why, reason: live.ended.message },
    counterexample: errorInstance === null ? null : (errorInstance as Accused<V>).run,
  };
}

/** Merges the states of laws from several runs: violated beats held, held beats skipped. */
function merge(laws: Record<string, LawState>, more: Readonly<Record<string, LawState>>): void {
  const weight = (state: LawState | undefined): number =>
    state === "violated" ? 3 : state === "held" ? 2 : state === undefined ? 0 : 1;
  for (const [law, state] of Object.entries(more)) if (weight(state) > weight(laws[law])) laws[law] = state;
}

function add(evidence: Record<string, LiveEvidence>, more: Readonly<Record<string, LiveEvidence>>): void {
  for (const [law, one] of Object.entries(more)) {
    const known = evidence[law] ?? { readings: 0, refusals: 0, windows: 0, resets: 0 };
    evidence[law] = {
      readings: known.readings + one.readings,
      refusals: known.refusals + one.refusals,
      windows: known.windows + one.windows,
      resets: known.resets + one.resets,
    };
  }
}

function headerOf<V extends LiveVerdict>(
  { rules, alone, target, seed }: LiveCheckOptions<V>,
  lines: readonly LiveLine[],
): TraceHeader {
  return {
    format: "spillway-trace",
    version: 1,
    source: "other",
    scenario: "check --target",
    seed,
    target,
    startedAt: Math.min(...lines.map(({ call }) => call.sent)),
    clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
    rules,
    complete: alone,
    lost: 0,
  };
}

/** A script while it is played. */
class LiveRun {
  readonly #live: LiveCaller;
  readonly #calls: { readonly seen: SeenCall; readonly caller: Token }[] = [];
  /** Last answer to each caller. */
  readonly #last = new Map<Token, SeenCall>();

  constructor(live: LiveCaller) {
    this.#live = live;
  }

  /** Calls until the script or the budget ends. */
  async play(steps: readonly Step[]): Promise<LiveLine[]> {
    try {
      await this.#begin(new Set(steps.map((step) => this.#callerOf(step))));
      for (const step of steps) await this.#step(step);
    } catch (error) {
      if (!(error instanceof LiveEnded)) throw error;
    }
    const calls = this.#calls.map(({ seen, caller }) => ({
      ...traceCall(seen, caller.organization),
      client: "check/0",
    }));
    calls.sort((a, b) => a.received - b.received);
    return calls.map((call, at) => ({ line: at + 2, call }));
  }

  #callerOf({ caller }: Step): Token {
    const { callers } = this.#live;
    const token = callers[caller % callers.length];
    if (token === undefined) throw new RangeError("no caller that may read what counts");
    return token;
  }

  /** Waits for the open windows to end, unless that takes long: everything about the windows after them is known. */
  async #begin(callers: ReadonlySet<Token>): Promise<void> {
    let untilMs = 0;
    for (const caller of callers) {
      const { headers, receivedMs } = await this.#call(caller, true);
      for (const reset of [headers.reset, headers.userReset])
        untilMs = Math.max(untilMs, receivedMs + (whole(reset) ?? 0) * 1000);
    }
    const ms = untilMs + settledMs - this.#live.now();
    if (ms <= this.#live.leftMs * beginningMost) await this.#live.wait(ms);
  }

  async #step(step: Step): Promise<void> {
    const { when, what, count, together } = step;
    const token = this.#callerOf(step);
    await this.#wait(when, token);
    let due = what === "all" ? this.#userLeft(token) + count : count;
    while (due > 0) {
      const now = Math.min(due, together, this.#live.leftCalls + 1);
      due -= now;
      await settledAll(Array.from({ length: now }, () => this.#call(token, what === "status")));
    }
  }

  async #call(caller: Token, isStatus: boolean): Promise<SeenCall> {
    const seen = await (isStatus ? this.#live.status(caller) : this.#live.read(caller));
    this.#calls.push({ seen, caller });
    this.#last.set(caller, seen);
    return seen;
  }

  /** Returns the number of calls for which the caller's windows have room; 0 if that is unknown. */
  #userLeft(caller: Token): number {
    const headers = this.#last.get(caller)?.headers;
    const shown = [whole(headers?.userRemaining), whole(headers?.remaining)];
    const known = shown.filter((value) => value !== null);
    return known.length === 0 ? 0 : Math.max(0, Math.min(...known));
  }

  /** Waits exactly as long as the caller was told. */
  async #wait(when: Step["when"], caller: Token): Promise<void> {
    if (when === "now") return;
    const { headers, receivedMs } = this.#last.get(caller) as SeenCall;
    const reset = whole(headers.userReset) ?? 0;
    await this.#live.wait(receivedMs + reset * (when === "reset" ? 1000 : 500) - this.#live.now());
  }
}

/** Waits for all calls, then rejects with the first rejection. */
async function settledAll(calls: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(calls);
  await Promise.all(calls);
}
