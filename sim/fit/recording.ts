// A recording in the one form that `fit` works from: callers, and each caller's calls in the order of time. A trace
// names clients, wishes and attempts. A log only has users and instants; the rest is absent.

import { GRAPHQL_CALL, type LogBatch, type LogCaller, OTHER_CALL, STATUS_CALL } from "../../src/logs/rows.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import type { Rules } from "../../src/rules/rules.ts";
import { ABSENT } from "../../src/scenario/client.ts";
import { longestMs } from "../../src/scenario/mistakes.ts";
import { type QuotaCall, type QuotaTraceHeader, statusOf } from "../../src/trace/quota-record.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";
import { isRefusal } from "../../src/wire/outcome.ts";
import { AskedCalls } from "./asked.ts";
import { dayMs } from "./days.ts";
import type { LimitedCaller } from "./limits.ts";
import {
  CallKinds,
  type CallTraits,
  RecordedCall,
  type RecordedInput,
  saidBy,
  saidByQuotas,
} from "./recorded-call.ts";
import { LimitsShown } from "./rules.ts";
import { addTo, sumOf } from "./statistics.ts";

/** The sender of some calls: a client of a trace, or a user of a log. */
export interface RecordedCaller {
  readonly organization: string;
  /** User whose quota the caller uses. */
  readonly user: string;
  /** Name of the caller's population in the trace; `null` for a log. */
  readonly group: string | null;
  /** Calls in the order of `atMs`. */
  readonly calls: readonly RecordedCall[];
}

export interface Recording {
  /** Start of the run or first call, ms since the epoch. `endedAtMs`: the last answer. */
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Rules of a trace's header; `null` if the recording names none. */
  readonly rules: Rules | null;
  /** Policy that names the calls. Default: the API of SPEC.md. */
  readonly policy?: Policy | undefined;
  /** Limits and windows that the answers showed. */
  readonly shown: LimitsShown;
  /** True if the recording tells retries from first attempts. */
  readonly knowsAttempts: boolean;
  /** True if the recording has the durations of calls. */
  readonly knowsDurations: boolean;
  /** Resolution of the recording's clock, ms: 0 for a simulation, 1000 for a log of whole seconds. */
  readonly resolutionMs: number;
  readonly callers: readonly RecordedCaller[];
  /** Number of calls of all callers. */
  readonly calls: number;
  /** Number of calls that no quota counts (SPEC.md §2.6); they are left out. */
  readonly uncounted: number;
}

const ofRest = { operation: "rest" } as const;
const ofGraphql = { operation: "graphql" } as const;

/** Most calls that fit holds in memory: with all derived data, a call takes up to half a kilobyte. */
const recordedCallsMost = 3_000_000;

interface OpenCaller {
  readonly organization: string;
  readonly user: string;
  readonly group: string | null;
  calls: RecordedCall[];
}

/** Facts of a call that its line tells, in the form of either version. */
type Told = Pick<CallTraits, "operation" | "asked" | "free"> & Pick<RecordedInput, "status" | "said">;

/**
 * Takes in a trace call by call, or a log batch by batch.
 *
 * @example
 * const recorder = new Recorder(header);
 * for await (const call of calls) recorder.add(call);
 * const model = fitScenario(recorder.finish());
 */
export class Recorder {
  readonly #header: TraceHeader | QuotaTraceHeader | null;
  readonly #asked: AskedCalls | null;
  readonly #callers = new Map<string, OpenCaller>();
  readonly #byPlace: OpenCaller[] = [];
  readonly #organizations = new Map<string, string>();
  readonly #shown = new LimitsShown();
  readonly #kinds = new CallKinds();
  #calls = 0;
  #uncounted = 0;
  #knowsAttempts = false;
  #knowsDurations = false;
  /** True if all calls began with a whole second: then the log's clock has whole seconds. */
  #secondStarts = true;
  #firstMs = Number.POSITIVE_INFINITY;
  #lastMs = 0;

  /**
   * @param header header of a trace; `null` for a log
   * @param policy policy that names the calls. Default: the header's, for a trace of version 2
   */
  constructor(header: TraceHeader | QuotaTraceHeader | null = null, policy?: Policy) {
    this.#header = header;
    const own = policy ?? (header?.version === 2 ? header.policy : undefined);
    this.#asked = own === undefined ? null : new AskedCalls(own);
  }

  /** Takes in one line of a trace of version 2; the record is not kept. */
  addQuotas(call: QuotaCall): void {
    const { operation, caller, client, outcome } = call;
    const asked = this.#asked;
    if (asked === null) throw new RangeError("calls of quotas are told by a policy");
    if (!asked.counts(operation) || outcome === "exempt") {
      this.#uncounted += 1;
      return;
    }
    this.#take(call, asked.owner(caller, { user: client }), {
      ...{ operation, asked: asked.inPath(operation, caller), free: operation === "status" },
      status: statusOf(call),
      said: outcome === "refused" ? saidByQuotas(call, asked.policy) : null,
    });
  }

  /** Takes in one line of a trace; the record is not kept. */
  add(call: TraceCall): void {
    const { org: organization, user, client, kind, scope, status } = call;
    if (kind === "other") {
      this.#uncounted += 1;
      return;
    }
    this.#shown.add(call);
    this.#take(
      call,
      { organization, user: user ?? client },
      {
        ...{ operation: scope, asked: undefined, free: kind === "status" },
        status,
        said: isRefusal(status) ? saidBy(call) : null,
      },
    );
  }

  #take(
    { client, sent, received, wanted = sent, attempt, ...call }: TraceCall | QuotaCall,
    { organization, user }: LimitedCaller,
    { operation, asked, free, status, said }: Told,
  ): void {
    const slash = client.lastIndexOf("/");
    const group = slash < 0 ? client : client.slice(0, slash);
    if (attempt !== undefined) this.#knowsAttempts = true;
    this.#knowsDurations = true;
    const cost = free ? 0 : (call.cost ?? 1);
    this.#push(this.#caller(organization, user, client, group), {
      atMs: sent,
      endMs: received,
      wantedMs: wanted,
      attempt: attempt ?? ABSENT,
      kind: this.#kinds.of(operation, asked, free, cost, call.actual ?? cost),
      status,
      said,
    });
  }

  /** Takes in rows of a log; the batch is not kept. */
  addBatch(batch: LogBatch, callers: readonly LogCaller[]): void {
    for (let row = 0; row < batch.count; row++) {
      const kind = batch.kind[row] as number;
      if (kind === OTHER_CALL) {
        this.#uncounted += 1;
        continue;
      }
      const atMs = batch.atMs[row] as number;
      const tookMs = batch.durationMs[row] as number;
      if (!Number.isNaN(tookMs)) this.#knowsDurations = true;
      const cost = kind === STATUS_CALL ? 0 : (batch.cost[row] as number);
      const actual = batch.actual[row] as number;
      const { operation, asked } = this.#askedBy(kind, callers[batch.caller[row] as number]);
      this.#push(this.#placed(batch.caller[row] as number, callers), {
        atMs,
        endMs: Number.isNaN(tookMs) ? atMs : atMs + tookMs,
        wantedMs: atMs,
        attempt: ABSENT,
        kind: this.#kinds.of(operation, asked, kind === STATUS_CALL, cost, actual < 0 ? cost : actual),
        status: batch.status[row] as number,
        said: null,
      });
    }
  }

  #askedBy(kind: number, caller: LogCaller | undefined): Pick<CallTraits, "operation" | "asked"> {
    if (this.#asked === null) return kind === GRAPHQL_CALL ? ofGraphql : ofRest;
    const operation = this.#asked.operations[kind] ?? "status";
    return { operation, asked: this.#asked.inPath(operation, caller?.attributes ?? {}) };
  }

  #placed(place: number, callers: readonly LogCaller[]): OpenCaller {
    const known = this.#byPlace[place];
    if (known !== undefined) return known;
    const caller = callers[place];
    if (caller === undefined) throw new RangeError(`the log has no caller ${place}`);
    const { organization, user } = this.#asked?.owner(caller.attributes ?? {}, caller) ?? caller;
    const made = this.#caller(organization, user, user, null);
    this.#byPlace[place] = made;
    return made;
  }

  #caller(given: string, user: string, client: string, group: string | null): OpenCaller {
    const key = `${given}\n${client}`;
    const known = this.#callers.get(key);
    if (known !== undefined) return known;
    const made = { organization: this.#organization(given), user, group, calls: [] };
    this.#callers.set(key, made);
    return made;
  }

  /** Returns a name that scenarios allow; a log may have any text as an organization. */
  #organization(given: string): string {
    const known = this.#organizations.get(given);
    if (known !== undefined) return known;
    const taken = new Set(this.#organizations.values());
    const base = given.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[._-]+/, "") || "organization";
    let name = base;
    for (let number = 2; taken.has(name); number++) name = `${base}-${number}`;
    this.#organizations.set(given, name);
    return name;
  }

  #push(caller: OpenCaller, input: RecordedInput): void {
    const call = new RecordedCall(input);
    this.#calls += 1;
    if (this.#calls > recordedCallsMost)
      throw new SpillwayError("TRACE_INVALID", "this recording is too long to be fitted in one piece", {
        problems: [
          {
            path: "FILES",
            got: `more than ${recordedCallsMost} calls`,
            allowed: `${recordedCallsMost} calls at most`,
          },
        ],
        hint: "fit a part of it: a day or a week shows what callers do",
      });
    if (call.atMs < this.#firstMs) this.#firstMs = call.atMs;
    if (call.endMs > this.#lastMs) this.#lastMs = call.endMs;
    if (call.atMs % 1000 !== 0) this.#secondStarts = false;
    caller.calls.push(call);
  }

  #startMs(): number {
    const [firstMs, lastMs] = [this.#firstMs, this.#lastMs];
    const claimedMs = this.#header?.startedAt ?? firstMs;
    const idleMs = firstMs - claimedMs;
    const startMs = idleMs > 0 && idleMs <= Math.max(idleMostMs, lastMs - firstMs) ? claimedMs : firstMs;
    if (lastMs - startMs < longestMs) return startMs;
    throw new SpillwayError("TRACE_INVALID", "this recording is too long for a scenario", {
      problems: [
        {
          path: "FILES",
          got: `calls from ${new Date(startMs).toISOString()} to ${new Date(lastMs).toISOString()}`,
          allowed: "less than a year from the first call to the last",
        },
      ],
      hint: "is a time in another unit, or a row of another day among them?",
    });
  }

  /**
   * Returns the recording of all that was added. Call it once, at the end.
   * @throws SpillwayError `TRACE_INVALID` if there was no call, or the recording is a year long or longer
   */
  finish(): Recording {
    const header = this.#header;
    if (this.#calls === 0)
      throw new SpillwayError("TRACE_INVALID", "there is nothing to fit", {
        problems: [
          {
            path: "FILES",
            got: this.#uncounted === 0 ? "no call" : `no call but ${this.#uncounted} that no quota counts`,
            allowed: "a trace or a log with at least one call of the API",
          },
        ],
      });
    const startedAtMs = this.#startMs();
    const callers = [...this.#callers.values()];
    const coarseMs = this.#secondStarts && this.#calls > 1 ? 1000 : 1;
    if (header === null && coarseMs > 1) for (const caller of callers) caller.calls = spreadOut(caller.calls);
    for (const { calls } of callers) calls.sort((a, b) => a.atMs - b.atMs);
    return {
      startedAtMs,
      endedAtMs: this.#lastMs,
      rules: header?.version === 1 ? header.rules : null,
      policy: this.#asked?.policy,
      shown: this.#shown,
      knowsAttempts: this.#knowsAttempts,
      knowsDurations: this.#knowsDurations,
      resolutionMs: header === null ? coarseMs : header.clock.resolutionMs,
      callers,
      calls: this.#calls,
      uncounted: this.#uncounted,
    };
  }
}

/** Longest time before the first call, ms, at which a header's start is believed; longer for traces that last longer. */
const idleMostMs = dayMs;

/**
 * Spreads calls of one second evenly over it, as a clock of whole seconds hides that they came one after the other. A call
 * begins after the one before ended if its second leaves room for both.
 */
function spreadOut(calls: readonly RecordedCall[]): RecordedCall[] {
  const ofSecond = new Map<number, number>();
  for (const { atMs } of calls) addTo(ofSecond, atMs);
  let [second, place, beforeMs] = [Number.NaN, 0, Number.NEGATIVE_INFINITY];
  return calls
    .toSorted((a, b) => a.atMs - b.atMs)
    .map((call) => {
      const { atMs, endMs, wantedMs, attempt, status, said, kind } = call;
      place = atMs === second ? place + 1 : 0;
      second = atMs;
      const evenMs = Math.floor((1000 * place) / (ofSecond.get(second) as number));
      const afterMs = Math.ceil(beforeMs - atMs);
      const shiftMs = afterMs > evenMs && afterMs < 1000 ? afterMs : evenMs;
      beforeMs = endMs + shiftMs;
      const shifted = { atMs: atMs + shiftMs, endMs: endMs + shiftMs, wantedMs: wantedMs + shiftMs };
      return new RecordedCall({ ...shifted, attempt, status, said, kind });
    });
}

/** Returns the recording as it was at an instant, with only the calls answered before it. */
export function recordedUntil(recording: Recording, endMs: number): Recording {
  const callers = recording.callers.flatMap((caller) => {
    const calls = caller.calls.filter((call) => call.endMs < endMs);
    return calls.length === 0 ? [] : [{ ...caller, calls }];
  });
  const calls = sumOf(callers.map((caller) => caller.calls.length));
  return { ...recording, callers, calls, endedAtMs: Math.min(endMs, recording.endedAtMs) };
}
