// The laws as cases of a test runner: whichever has a `test(name, body)`. A case that fails prints the smallest
// counterexample as a timeline, and the line that repeats it.
import type { LimiterFactory } from "../engine/adapter.ts";
import { type LawName, lawNames } from "../rules/laws.ts";
import { type CheckOptions, checkLaws } from "./check.ts";
import { checkInterleavings, type InterleavingOptions } from "./interleavings.ts";
import { renderInterleaving } from "./interleavings-text.ts";
import type { LawReport } from "./report.ts";
import { anySeed } from "./subject.ts";
import { renderCounterexample } from "./timeline.ts";

type Body = () => Promise<void>;

/** `test` of node:test, Vitest, Jest or Bun, `it` of Mocha. Where it has `skip`, laws not claimed are shown so. */
export interface RegisterTest {
  (name: string, body: Body, timeoutMs?: number): unknown;
  readonly skip?: (name: string, body: Body) => unknown;
}

export interface DescribeOptions
  extends Pick<
    CheckOptions,
    "runs" | "seed" | "laws" | "path" | "rules" | "startMs" | "timers" | "answerMsMost"
  > {
  /** Also calls that overlap; for a limiter whose store is asynchronous. See `checkInterleavings`. */
  readonly interleavings?: boolean | InterleavingOptions;
  /** How long a case may take, for runners whose `test` takes it third (Vitest, Jest, Bun); 60,000 unless told. */
  readonly timeoutMs?: number;
  /** A law that is claimed and could judge nothing, because nothing is shown of it, fails. */
  readonly strict?: boolean;
}

/** The line that repeats a counterexample stands in its report; what else it needs is in the test file. */
const again = (options: string): string => `describeLimiter(test, limiter, { ${options} })`;

/**
 * Registers each law that a limiter claims as a case, at once: call it where cases are declared. The seed is
 * drawn anew each time, and stands in the titles, unless one is given.
 *
 * @example
 * const counts = new Map<string, number>();
 * describeLimiter(test, keyedLimiter({
 *   name: "my limiter",
 *   anchor: "epoch",
 *   create({ limit, windowMs }) {
 *     counts.clear();
 *     return {
 *       consume(key, _cost, nowMs) {
 *         const window = `${key} ${Math.floor(nowMs / windowMs)}`;
 *         const count = counts.get(window) ?? 0;
 *         if (count < limit) counts.set(window, count + 1);
 *         return { allowed: count < limit, remaining: Math.max(0, limit - count - 1) };
 *       },
 *     };
 *   },
 * }), { runs: 50 });
 */
export function describeLimiter(
  test: RegisterTest,
  factory: LimiterFactory,
  options: DescribeOptions = {},
): void {
  const {
    interleavings = false,
    timeoutMs = 60_000,
    strict = false,
    laws = lawNames,
    path,
    ...rest
  } = options;
  const replay = path === undefined ? {} : { path };
  const seed = options.seed ?? anySeed();
  for (const law of lawNames) {
    if (!laws.includes(law)) continue;
    if (factory.claims !== "all" && !factory.claims.includes(law)) {
      test.skip?.(`${factory.name} does not claim ${law}`, async () => {});
      continue;
    }
    const body = async (): Promise<void> =>
      requireKept(await oneLaw(factory, law, { ...rest, ...replay, seed }), strict);
    test(`${factory.name} keeps ${law} (seed ${seed})`, body, timeoutMs);
  }
  if (interleavings !== false)
    test(
      `${factory.name} explains overlapping calls (seed ${seed})`,
      () => requireExplained(factory, { ...rest, seed, ...(interleavings === true ? {} : interleavings) }),
      timeoutMs,
    );
}

async function oneLaw(factory: LimiterFactory, law: LawName, options: CheckOptions): Promise<LawReport> {
  const { laws } = await checkLaws(factory, { ...options, laws: [law] });
  const [report] = laws;
  if (report === undefined) throw new RangeError(`no report of ${law}`);
  return report;
}

function requireKept(report: LawReport, strict: boolean): void {
  const { law, outcome, seed, path } = report;
  if (outcome === "violated" || outcome === "failed") {
    const repeat = again(`seed: ${seed}, laws: ["${law}"], path: "${path}"`);
    throw failure(renderCounterexample({ ...report, repeat }));
  }
  if (strict && outcome === "not-observed")
    throw failure([
      `${law} is claimed, but the limiter shows nothing that it could judge: leave it out of \`claims\``,
    ]);
}

async function requireExplained(factory: LimiterFactory, options: InterleavingOptions): Promise<void> {
  const report = await checkInterleavings(factory, options);
  if (report.ok) return;
  const repeat = again(`laws: [], interleavings: { seed: ${report.seed}, path: "${report.path}" }`);
  throw failure(renderInterleaving({ ...report, repeat }));
}

/** An error that is its message: where it was thrown says nothing about the limiter. */
function failure(lines: readonly string[]): Error {
  const error = new Error(lines.join("\n"));
  error.stack = `Error: ${error.message}`;
  return error;
}
