// Calls that overlap. Whatever a limiter awaits in between, some order of the calls, one after the other, must
// explain who was admitted; a lost update is what no order explains. The order is looked for by the laws
// themselves: the claimed ones that look at one run.
import fc from "fast-check";
import type { LimiterFactory, WindowReading } from "../engine/adapter.ts";
import { claimsOf } from "../rules/algorithms.ts";
import type { LimiterLawName } from "../rules/laws.ts";
import { userLimit } from "../rules/rules.ts";
import { type Profile, scriptArbitrary, usualProfile } from "./arbitraries.ts";
import type { CheckOptions, CheckProgress } from "./check-options.ts";
import { AdapterFailure, type CallEvent, type HistoryEvent, makeLimiter, Player } from "./history.ts";
import { judges, OrderSearch, type Round, type Unexplained } from "./orders.ts";
import { patient } from "./patience.ts";
import type { Failure } from "./report.ts";
import type { CallOp, Script } from "./script.ts";
import { anySeed, prepare, requireInteger } from "./subject.ts";
import { Weave } from "./weave.ts";

export interface InterleavingOptions
  extends Pick<
    CheckOptions,
    "runs" | "seed" | "path" | "rules" | "startMs" | "timers" | "answerMsMost" | "signal"
  > {
  /** The most calls that overlap, 2 to 5; 3 unless told. Where the clock moves, 1 will do. */
  readonly overlap?: number;
  /**
   * Lets time pass between two steps of a call, such as two commands to a store: 1 ms or a second. A key may then end in
   * between, and the call may count before or after. The limiter has to take the `seam`. Default: `false`.
   */
  readonly clockMoves?: boolean;
  /** Called before every run, and awaited. */
  readonly onProgress?: (progress: OverlapProgress) => void | PromiseLike<void>;
}

/** Progress of a check of calls that overlap. */
export type OverlapProgress = Pick<CheckProgress, "run" | "runs" | "shrinking">;

export interface InterleavingReport {
  readonly limiter: string;
  readonly seed: number;
  readonly runs: number;
  /** Rounds of two calls or more, or in which the clock moved, that were explained. */
  readonly overlapped: number;
  /** `not-claimed`: none of the laws by which an order is looked for. */
  readonly outcome: "no-counterexample" | "violated" | "failed" | "not-claimed" | "interrupted";
  readonly ok: boolean;
  readonly path?: string;
  readonly repeat?: string;
  readonly counterexample?: Unexplained;
  readonly failure?: Failure;
}

/** Calls alone, at few instants. */
const profile: Profile = { ...usualProfile, settle: 0, status: 0, enforce: 0, sweep: 0, back: 0 };
/** Calls that come at the ends of windows, where the clock matters. */
const atEnds: Profile = { ...profile, edge: 40, beyond: 10 };
const intentsMost = 8;
/** The clock moves before one of the first so many steps of a round. */
const stepsMost = 3;
const roundsTicked = { minLength: 8, maxLength: 8 };
/** Calls after all others, one by one, that show what the count came to. */
const closingMost = 12;

interface Drawn {
  readonly script: Script;
  /** Number of calls that overlap, and the rounds in which, by bits, they do not start all at once. */
  readonly overlap: number;
  readonly staggered: number;
  /** By rounds, the step before which the clock moves; 0 or none: it stands still. */
  readonly ticks: readonly number[];
  /** Time that passes then, ms. */
  readonly tickMs: number;
  /** The seed of the scheduler. One that fast-check draws itself is not the same again once scripts are made smaller. */
  readonly weave: number;
}

/**
 * Looks for calls whose answers no order explains. An asynchronous limiter that reaches its store through the
 * `seam` of `create` has every interleaving explored, and repeated; one that does not has its calls started at
 * once and in every order, and interleaves them as it does.
 *
 * @example
 * const racy = keyedLimiter({
 *   name: "reads, then writes",
 *   algorithm: "fixed-window",
 *   anchor: "epoch",
 *   create({ limit, windowMs }, seam) {
 *     const counts = new Map<string, number>();
 *     const store = seam.over({
 *       read: async (key: string) => counts.get(key) ?? 0,
 *       write: async (key: string, count: number) => void counts.set(key, count),
 *     });
 *     return {
 *       async consume(key, _cost, nowMs) {
 *         const window = `${key} ${Math.floor(nowMs / windowMs)}`;
 *         const count = await store.read(window);
 *         if (count >= limit) return false;
 *         await store.write(window, count + 1);
 *         return true;
 *       },
 *     };
 *   },
 * });
 * const report = await checkInterleavings(racy, { seed: 1 });
 * console.log(renderInterleaving(report).join("\n"));
 *
 * @throws SpillwayError `ADAPTER_INVALID` where the limiter cannot be made
 */
export async function checkInterleavings(
  given: LimiterFactory,
  options: InterleavingOptions = {},
): Promise<InterleavingReport> {
  const factory = options.timers === undefined ? given : patient(given, options.timers, options.answerMsMost);
  const runs = requireInteger("runs", options.runs ?? 100, 1, 10_000_000);
  const seed = requireInteger("seed", options.seed ?? anySeed(), -0x8000_0000, 0x7fff_ffff);
  const most = requireInteger("overlap", options.overlap ?? 3, options.clockMoves ? 1 : 2, 5);
  const { subject } = await prepare(factory, options);
  const claims = claimsOf(factory);
  const claimed = judges.filter((law) => claims.includes(law));
  const trial = new OverlapTrial(factory, claimed, options.signal, options.path !== undefined);
  const report = { limiter: factory.name, seed, runs: 0, overlapped: 0, ok: true };
  if (claimed.length === 0) return { ...report, outcome: "not-claimed" };
  const drawn = fc.record({
    script: scriptArbitrary(subject, options.clockMoves ? atEnds : profile, intentsMost),
    overlap: fc.integer({ min: Math.min(2, most), max: most }),
    staggered: fc.nat({ max: 255 }),
    ticks: options.clockMoves ? fc.array(fc.nat({ max: stepsMost }), roundsTicked) : fc.constant([]),
    tickMs: options.clockMoves ? fc.constantFrom(1, 1000) : fc.constant(0),
    weave: fc.nat(),
  });
  let run = 0;
  const property = fc.asyncProperty(drawn, async (one) => {
    const shrinking = trial.hasFailed;
    if (!shrinking) run += 1;
    await options.onProgress?.({ run, runs, shrinking });
    await trial.run(one);
  });
  const replay = options.path === undefined ? {} : { path: options.path, endOnFailure: true };
  const details = await fc.check(property, {
    seed,
    numRuns: options.path === undefined ? runs : 1,
    ...replay,
  });
  const { errorInstance, counterexamplePath, numRuns, interrupted } = details;
  const seen = { ...report, runs: numRuns, overlapped: trial.overlapped };
  const path = counterexamplePath ?? "";
  if (errorInstance instanceof NoOrder)
    return { ...seen, ok: false, outcome: "violated", path, counterexample: errorInstance.unexplained };
  if (errorInstance instanceof FailedOverlap)
    return { ...seen, ok: false, outcome: "failed", path, failure: errorInstance.failure };
  if (details.failed && errorInstance !== null) throw errorInstance;
  return { ...seen, outcome: interrupted ? "interrupted" : "no-counterexample" };
}

class NoOrder extends Error {
  readonly unexplained: Unexplained;
  constructor(unexplained: Unexplained) {
    super("no order of the calls explains their answers");
    this.unexplained = unexplained;
  }
}

class FailedOverlap extends Error {
  readonly failure: Failure;
  constructor(
    script: Script,
    { call, got, allowed, hung }: AdapterFailure,
    history: readonly HistoryEvent[],
  ) {
    super(got);
    this.failure = { call, got, allowed, hung, script, history };
  }
}

/** The runs of one check, of one kind: a script that fails otherwise is not taken for a smaller one. */
class OverlapTrial {
  overlapped = 0;
  readonly #factory: LimiterFactory;
  readonly #claimed: readonly LimiterLawName[];
  readonly #signal: { readonly aborted: boolean } | undefined;
  readonly #replaying: boolean;
  #kind: "broken" | "failed" | null = null;
  #hung = 0;

  constructor(
    factory: LimiterFactory,
    claimed: readonly LimiterLawName[],
    signal: { readonly aborted: boolean } | undefined,
    replaying: boolean,
  ) {
    this.#factory = factory;
    this.#claimed = claimed;
    this.#signal = signal;
    this.#replaying = replaying;
  }

  /** True once a run failed: the others make it smaller. */
  get hasFailed(): boolean {
    return this.#kind !== null;
  }

  async run(drawn: Drawn): Promise<void> {
    // After so many answers that never came a counterexample is as small as it gets.
    if (this.#signal?.aborted || this.#hung > 10) throw new fc.PreconditionFailure(true);
    // fast-check makes the calls fewer, but keeps the draws by which they interleave; fewer calls may need others.
    const shrinking = this.#kind === "broken" || this.#replaying;
    for (const weave of [drawn.weave, ...(shrinking ? moreWeaves : [])])
      if (!(await this.#try(drawn, schedulerOf(weave)))) return;
  }

  /** @returns whether the scheduler had a choice; without one, another would do the same */
  async #try(drawn: Drawn, scheduler: fc.Scheduler): Promise<boolean> {
    const { script } = drawn;
    const rounds: Round[] = [];
    try {
      await playOverlapping(this.#factory, drawn, scheduler, rounds);
    } catch (error) {
      if (!(error instanceof AdapterFailure)) throw error;
      if (this.#kind === "broken") return true;
      this.#kind = "failed";
      if (error.hung) this.#hung += 1;
      throw new FailedOverlap(
        script,
        error,
        rounds.flatMap(({ events }) => events),
      );
    }
    if (this.#kind === "failed") return true;
    const found = await new OrderSearch(script, this.#claimed, rounds).unexplained();
    if (this.#kind === null) this.overlapped += rounds.filter(isJudged).length;
    if (found === null) return rounds.some(({ events, steps }) => events.length > 1 && steps.length > 0);
    this.#kind = "broken";
    throw new NoOrder({ script, ...found });
  }
}

/** Tells whether more than one order or instant could explain a round. */
const isJudged = ({ events, atMs, untilMs }: Round): boolean => events.length > 1 || untilMs > atMs;

const moreWeaves: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8];

/** fast-check's scheduler; the same for the same seed. */
function schedulerOf(seed: number): fc.Scheduler {
  const [scheduler] = fc.sample(fc.scheduler(), { seed, numRuns: 1 });
  if (scheduler === undefined) throw new RangeError("no scheduler was drawn");
  return scheduler;
}

/** Plays a script's calls, those of one instant overlapping, and then some one by one. */
async function playOverlapping(
  factory: LimiterFactory,
  { script, overlap, staggered, ticks, tickMs }: Drawn,
  scheduler: fc.Scheduler,
  rounds: Round[],
): Promise<void> {
  const weave = new Weave(scheduler);
  const limiter = await makeLimiter(factory, script.rules, script.startMs, weave);
  const player = new Player(factory, script.rules, limiter);
  const calls = script.ops.flatMap((op) => (op.do === "call" ? [op] : []));
  let nowMs = 0;
  const setNow = (ms: number): Promise<void> => {
    nowMs = ms;
    return player.setNow(ms);
  };
  const playRound = async (group: readonly CallOp[], atOnce: boolean): Promise<Round> => {
    // A call that was due at an instant that has passed comes now.
    const atMs = Math.max(nowMs, group[0]?.atMs ?? script.startMs);
    await setNow(atMs);
    const step = ticks[rounds.length] ?? 0;
    weave.tickBefore(step, `${tickMs} ms pass`, () => setNow(atMs + tickMs));
    const answers: CallEvent[] = [];
    const from = weave.steps.length;
    const runs = group.map((op) => ({
      id: op.id,
      run: () => player.call({ ...op, atMs }).then((event) => answers.push(event)),
    }));
    await weave.overlap(runs, atOnce);
    const moved = nowMs > atMs;
    const events = group.length > 1 || moved ? answers.map((event) => bare(event, moved)) : answers;
    const round = { atMs, untilMs: nowMs, events, steps: weave.steps.slice(from) };
    rounds.push(round);
    return round;
  };
  try {
    for (const [at, group] of grouped(calls, overlap).entries())
      await playRound(group, ((staggered >> (at % 8)) & 1) === 0);
    for (const call of closing(calls)) {
      const { events } = await playRound([call], true);
      if (events[0]?.decision.admitted !== true) break;
    }
    for (const call of tickMs > 0 ? muchLater(script, calls, nowMs) : []) await playRound([call], true);
  } finally {
    await player.close();
  }
}

/** Calls of one instant together, at most so many. */
function grouped(calls: readonly CallOp[], most: number): CallOp[][] {
  const groups: CallOp[][] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    if (last !== undefined && last.length < most && last[0]?.atMs === call.atMs) last.push(call);
    else groups.push([call]);
  }
  return groups;
}

/** Calls of the last caller, one after the other, that use up what is left. */
function closing(calls: readonly CallOp[]): CallOp[] {
  const last = calls.at(-1);
  if (last === undefined) return [];
  return Array.from({ length: closingMost }, (_, n) => ({ ...last, id: calls.length + n, cost: 1 }));
}

/** A call of the last caller when every window has ended: it shows what never ends. */
function muchLater({ rules }: Script, calls: readonly CallOp[], nowMs: number): readonly CallOp[] {
  const last = calls.at(-1);
  if (last === undefined) return [];
  const { windowSeconds } = userLimit(rules, last.organization, last.user, last.scope);
  return [{ ...last, id: calls.length + closingMost, cost: 1, atMs: nowMs + 2000 * windowSeconds }];
}

/**
 * Strips an overlapping call of its counts, which may be later: its outcome, and the window's limit and end are left. Of
 * one in which the clock moved, the end goes, too: it may be that of either instant.
 */
function bare(event: CallEvent, moved: boolean): CallEvent {
  const { organization, user, ...decision } = event.decision;
  const window = (reading: Partial<WindowReading> | undefined): Partial<WindowReading> => ({
    ...(reading?.limit !== undefined && { limit: reading.limit }),
    ...(!moved && reading?.resetAtMs !== undefined && { resetAtMs: reading.resetAtMs }),
  });
  return {
    op: event.op,
    decision: {
      ...decision,
      ...(organization && { organization: window(organization) }),
      ...(user && { user: window(user) }),
    },
  };
}
