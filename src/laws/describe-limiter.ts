// Makes the laws cases of any test runner that has a `test(name, body)`. A failing case prints the smallest
// counterexample as a timeline, and the line that repeats it.
import * as runnerTimers from "node:timers";
import type { LimiterFactory } from "../engine/adapter.ts";
import { framePosition } from "../engine/limiter-failure.ts";
import { claimsOf } from "../rules/algorithms.ts";
import type { LimiterLawName } from "../rules/laws.ts";
import { counted } from "../rules/words.ts";
import { laws as catalogue } from "./catalogue.ts";
import { type KnownCause, sharedCause } from "./causes.ts";
import { checkLaws } from "./check.ts";
import type { CheckOptions } from "./check-options.ts";
import { checkInterleavings, type InterleavingOptions } from "./interleavings.ts";
import { type KnownCounterexample, parseKnown, unmetText } from "./known.ts";
import type { UnexplainedScript } from "./orders.ts";
import { patient, type Timers } from "./patience.ts";
import type { CheckReport, LawReport } from "./report.ts";
import type { Script } from "./script.ts";
import { anySeed, requireLaws } from "./subject.ts";
import { renderCounterexample, renderInterleaving } from "./timeline.ts";

type Body = () => Promise<void>;

/** `test` of node:test, Vitest, Jest or Bun, or `it` of Mocha. If it has `skip`, laws not claimed appear as skipped. */
export interface RegisterTest {
  (name: string, body: Body, timeoutMs?: number): unknown;
  readonly skip?: (name: string, body: Body) => unknown;
}

export interface DescribeOptions
  extends Pick<
    CheckOptions,
    "runs" | "seed" | "laws" | "path" | "known" | "rules" | "startMs" | "answerMsMost"
  > {
  /**
   * Timers that bound each promise of the limiter. Default: those of `node:timers`, which fake timers of a test runner
   * leave alone.
   */
  readonly timers?: Timers;
  /** True, or options, to check overlapping calls of an asynchronous store (`checkInterleavings`). Default: `false`. */
  readonly interleavings?: boolean | InterleavingOptions;
  /** Longest time of a case, ms, for runners whose `test` takes it third (Vitest, Jest, Bun). Default: 60,000. */
  readonly timeoutMs?: number;
  /**
   * True to fail a claimed law that judged nothing or whose finding does not repeat (`not-repeatable`), and one whose
   * known counterexample is mended. Default: `true`. Without `claims`, a law that needs a reading that the limiter does
   * not show is skipped instead.
   */
  readonly strict?: boolean;
}

/**
 * Registers each law that a limiter claims as a case, at once; so call it where cases are declared. Without a seed
 * each run draws a new one, which a failure prints. One bug breaks many laws: the first case that it breaks fails.
 * The others are skipped with that case's law if the runner lets a case skip itself (node:test, Vitest, Mocha), else
 * they fail with one line.
 * @throws RangeError if `laws` has a name that is no law's
 *
 * @example
 * const windows = new Map<string, { count: number; resetAt: number }>();
 * describeLimiter(test, keyedLimiter({
 *   name: "my limiter",
 *   algorithm: "fixed-window",
 *   create({ limit, windowMs }) {
 *     windows.clear();
 *     const windowOf = (key: string, nowMs: number) => {
 *       const known = windows.get(key);
 *       return known && known.resetAt > nowMs ? known : { count: 0, resetAt: nowMs + windowMs };
 *     };
 *     const shown = ({ count, resetAt }: { count: number; resetAt: number }) =>
 *       ({ limit, current: count, remaining: limit - count, resetAt });
 *     return {
 *       consume(key, _cost, nowMs) {
 *         const window = windowOf(key, nowMs);
 *         const allowed = window.count < limit;
 *         if (allowed) window.count += 1;
 *         windows.set(key, window);
 *         return { allowed, ...shown(window) };
 *       },
 *       peek: (key, nowMs) => shown(windowOf(key, nowMs)),
 *     };
 *   },
 * }), { runs: 50 });
 */
export function describeLimiter(
  test: RegisterTest,
  factory: LimiterFactory,
  options: DescribeOptions = {},
): void {
  const line = new CallerLine(describeLimiter);
  const { timeoutMs = 60_000, laws, interleavings = false } = options;
  const { seed = anySeed(), timers = runnerTimers } = options;
  const suite = new Suite(factory, { ...options, seed, timers }, line);
  const claimed = claimsOf(factory);
  for (const law of requireLaws(laws)) {
    if (claimed.includes(law))
      line.call(
        test,
        `${factory.name} keeps ${law}`,
        suite.caseOf(() => suite.law(law)),
        timeoutMs,
      );
    else test.skip?.(`${factory.name} does not claim ${law}`, async () => {});
  }
  if (interleavings === false) return;
  const body = suite.caseOf(() => suite.overlaps(interleavings === true ? {} : interleavings));
  line.call(test, `${factory.name} explains overlapping calls`, body, timeoutMs);
}

/** End of a case; `null` if the law is kept. */
type Ending = { readonly fails: readonly string[] } | { readonly skips: string } | null;

/** Number of runs that suffices to say that a law never has anything to judge. */
const runsUntilSilent = 100;

/** The cases of one limiter, and the causes of its failed cases. */
class Suite {
  readonly #factory: LimiterFactory;
  readonly #options: DescribeOptions & { readonly seed: number };
  readonly #line: CallerLine;
  readonly #causes: KnownCause[] = [];
  readonly #known: readonly KnownCause[];

  constructor(
    factory: LimiterFactory,
    options: DescribeOptions & { readonly seed: number },
    line: CallerLine,
  ) {
    this.#factory = patient(factory, options.timers, options.answerMsMost);
    this.#options = options;
    this.#line = line;
    this.#known = knownCauses(parseKnown(options.known ?? [], "rules"));
  }

  /** Makes a case's body. It declares no parameters, since Jest and Mocha would take one for a callback. */
  caseOf(run: () => Promise<Ending>): Body {
    const line = this.#line;
    return async function (this: unknown, ...context: readonly unknown[]): Promise<void> {
      const ending = await run();
      if (ending === null) return;
      if ("fails" in ending) throw line.failure(ending.fails);
      const skip = skipOf(this, context);
      if (skip !== null) skip(ending.skips);
      else if (ending.skips.startsWith(sameCause)) throw line.failure([ending.skips]);
    };
  }

  async law(law: LimiterLawName): Promise<Ending> {
    const { report, known: listed } = await this.#check(law, this.#options.runs);
    const mended = listed.find(({ state }) => state === "mended");
    if (mended !== undefined && this.#options.strict !== false) return { fails: [unmetText(mended)] };
    const { outcome, reason, seed, path, counterexample, failure, known } = report;
    if (outcome === "skipped") return { skips: `${law} is void: ${reason}` };
    if (outcome === "known")
      return { skips: `${law}: known counterexamples alone (${counted(known, "run")})` };
    if (outcome === "not-observed") return this.#silence(law);
    if (outcome === "not-repeatable") return this.#unrepeated(renderCounterexample(report));
    if (outcome !== "violated" && outcome !== "failed") return null;
    const found = { law, script: counterexample?.script ?? null, got: failure?.got ?? null };
    const others = this.#known.filter((other) => other.law !== law);
    const other = await sharedCause(this.#factory, others, found);
    if (other !== null) return { skips: `${law}: its calls break ${other.law}, as is known` };
    const cause = await sharedCause(this.#factory, this.#causes, found);
    if (cause !== null) return { skips: `${sameCause} ${cause.law}: ${law}` };
    this.#causes.push(found);
    const repeat = again(`seed: ${seed}, laws: ["${law}"], path: "${path}"`);
    return { fails: [...renderCounterexample({ ...report, repeat }), ...this.#clockNote(found.script)] };
  }

  async overlaps(options: InterleavingOptions): Promise<Ending> {
    const report = await checkInterleavings(this.#factory, { ...this.#options, ...options });
    if (report.outcome === "no-counterexample" && report.overlapped === 0)
      return { skips: "no calls overlap: the limiter decides each call at once" };
    if (report.ok) return null;
    if (report.outcome === "not-repeatable") return this.#unrepeated(renderInterleaving(report));
    const { seed, path, counterexample, failure } = report;
    const found = {
      script: counterexample === undefined ? null : playedOps(counterexample),
      got: failure?.got ?? null,
    };
    const cause = await sharedCause(this.#factory, this.#causes, found);
    if (cause !== null) return { skips: `${sameCause} ${cause.law}: overlapping calls` };
    const repeat = again(`laws: [], interleavings: { seed: ${seed}, path: "${path}" }`);
    return { fails: [...renderInterleaving({ ...report, repeat }), ...this.#clockNote(found.script)] };
  }

  /** Returns a note if time passed in a script, and nothing tells the limiter but its arguments. */
  #clockNote(script: Script | null): string[] {
    const isTold = this.#factory.setNow !== undefined;
    const [first, ...others] = script?.ops ?? [];
    return isTold || others.every(({ atMs }) => atMs === first?.atMs) ? [] : [clockNote];
  }

  /** Returns the end of a case that could not be judged, as its calls are answered otherwise when played again. */
  #unrepeated(lines: readonly string[]): Ending {
    return this.#options.strict === false ? { skips: lines[0] ?? "" } : { fails: lines };
  }

  /** Returns the end of a case in which nothing was judged. */
  async #silence(law: LimiterLawName): Promise<Ending> {
    const { strict = true, runs = runsUntilSilent } = this.#options;
    const { needs } = catalogue[law];
    if (!strict) return null;
    if (needs !== undefined && this.#factory.claimsAsShown === true)
      return { skips: `${law} judges nothing: the limiter does not show ${needs}` };
    if (needs === undefined && runs < runsUntilSilent) {
      const { report } = await this.#check(law, runsUntilSilent);
      if (report.outcome !== "not-observed") return null;
    }
    const why =
      needs === undefined
        ? "no run came to what it judges"
        : `the limiter does not show ${needs}: show it, or leave the law out of \`claims\``;
    return {
      fails: [
        `${law} is claimed and judged nothing in ${counted(Math.max(runs, runsUntilSilent), "run")}: ${why}`,
      ],
    };
  }

  /** Checks one law. Returns its report, and the states of the known counterexamples. */
  async #check(
    law: LimiterLawName,
    runs: number | undefined,
  ): Promise<Pick<CheckReport, "known"> & { report: LawReport }> {
    const { interleavings: _, timeoutMs: __, strict: ___, ...options } = this.#options;
    const { laws, known } = await checkLaws(this.#factory, {
      ...options,
      laws: [law],
      ...(runs && { runs }),
    });
    return { report: laws[0] as LawReport, known };
  }
}

const clockNote =
  "note: time passed in this script alone: if the limiter reads a clock, say by setNow how to set it (npx spillway check sets Date.now)";

const sameCause = "the same calls break";

/** Returns the known counterexamples with a script, as causes that other laws may share. */
const knownCauses = (known: readonly KnownCounterexample[]): KnownCause[] =>
  known.flatMap(({ law, script }) => (script === undefined ? [] : [{ law, script, got: null }]));

/** Returns the calls of an interleaving as a script, in the order of their answers. */
const playedOps = ({ script, rounds }: UnexplainedScript): Script => ({
  ...script,
  ops: rounds.flatMap(({ events }) => events.map(({ op }) => op)),
});

/** Returns the line that repeats a counterexample; the test file has the rest. */
const again = (options: string): string => `describeLimiter(test, limiter, { ${options} })`;

/** Returns the function by which a case skips itself, from node:test's or Vitest's context or Mocha's `this`. */
function skipOf(self: unknown, context: readonly unknown[]): ((why: string) => void) | null {
  for (const candidate of [context[0], self]) {
    const skip: unknown = (candidate as { skip?: unknown } | null | undefined)?.skip;
    if (typeof skip === "function") return (why) => void skip.call(candidate, why);
  }
  return null;
}

class CallerLine {
  /** Lines of the stack from the caller's on; empty if the runtime shows none. */
  readonly #frames: readonly string[];

  /** @param callee function of the kit that the user's code called */
  constructor(callee: (...args: never[]) => unknown) {
    const here: { stack?: string } = {};
    (Error as { captureStackTrace?: (target: object, above: unknown) => void }).captureStackTrace?.(
      here,
      callee,
    );
    this.#frames = (here.stack ?? "").split("\n").slice(1);
  }

  /** Returns an error with these lines as its message, whose stack begins at the caller's line. */
  failure(lines: readonly string[]): Error {
    const error = new Error(lines.join("\n"));
    error.stack = [`Error: ${error.message}`, ...this.#frames].join("\n");
    return error;
  }

  /**
   * Calls a function as if from the caller's line, since node:test tells where `test` was called. The call is
   * compiled under the name and line of the caller's file; if code from text is forbidden, the call is made here.
   */
  call<A extends unknown[]>(target: (...args: A) => unknown, ...args: A): void {
    const [, file, line = "1", column = "1"] = framePosition.exec(this.#frames[0] ?? "") ?? [];
    const there = file === undefined ? null : calledAt(file, Number(line), Number(column));
    if (there === null) target(...args);
    else there(target, args);
  }
}

type Call = (target: unknown, args: unknown[]) => void;

/** Compiles a call that seems to stand at a place of a file; `null` if code from text is forbidden. */
function calledAt(file: string, line: number, column: number): Call | null {
  // `new Function` puts two lines before the body.
  const before = "\n".repeat(Math.max(0, line - 3)) + " ".repeat(Math.max(0, column - 1));
  try {
    return new Function("target", "args", `${before}target(...args);\n//# sourceURL=${file}`) as Call;
  } catch {
    return null;
  }
}
