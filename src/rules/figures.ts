// The figures of a run by name, and the bounds that a scenario may expect of them. Only names and syntax are here, so
// that scenarios can be validated and k6 be given thresholds without a trace. `src/summary` computes the figures.
import { closest } from "./closest.ts";
import { parseDuration } from "./duration.ts";
import { type Problem, quote } from "./errors.ts";

/** Unit of a figure. `share`: 0 to 1, written `5%` or `0.05`. `ms`: written `250ms`, `2s`, `1m30s` or as ms. */
export type FigureUnit = "count" | "share" | "ms";

interface FigureKind {
  readonly unit: FigureUnit;
  /** Meaning in one line, for people. */
  readonly meaning: string;
}

const kind = (unit: FigureUnit, meaning: string): FigureKind => ({ unit, meaning });

/**
 * Every figure. A *call* is a line of the trace whose kind is `call`, first attempts and retries alike. A *job* is a
 * first attempt with its retries. A *wait* is the time from the instant when a job was wanted to the first answer that
 * was no refusal.
 */
export const figureKinds = {
  calls: kind("count", "calls sent that a quota counts, retries included"),
  admitted: kind("count", "answered calls that no limit refused"),
  refused: kind("count", "calls that a limit refused"),
  refusedShare: kind("share", "refused calls among those that were answered"),
  refusedByOrganization: kind("count", "refusals that name the organization's window"),
  refusedByUser: kind("count", "refusals that name the user's window"),
  unanswered: kind("count", "calls without an answer: time-outs, broken connections, 5xx without headers"),
  jobs: kind("count", "first attempts"),
  gaveUp: kind("count", "jobs whose last attempt was refused"),
  statusCalls: kind("count", "calls of the free status endpoint"),
  points: kind("count", "complexity points of the admitted GraphQL calls"),
  waitP50Ms: kind("ms", "half of the jobs had their answer within this time of being wanted"),
  waitP95Ms: kind("ms", "95% of the jobs had their answer within this time of being wanted"),
  waitP99Ms: kind("ms", "99% of the jobs had their answer within this time of being wanted"),
  waitMaxMs: kind("ms", "the longest time from being wanted to the answer"),
  finishedMs: kind("ms", "from the run's start to the last answer that was not a refusal"),
  windowsExhausted: kind("count", "windows, organizations' and users', that refused a call at least once"),
  refusedFirstSecondShare: kind(
    "share",
    "refused calls among those sent within a second after a reset of their organization's window",
  ),
  fairness: kind("share", "Jain's index of the calls admitted for each user: 1 when all had the same"),
} as const satisfies Record<string, FigureKind>;

export type FigureName = keyof typeof figureKinds;
export const figureNames = Object.keys(figureKinds) as readonly FigureName[];

/**
 * Figures of the whole run that no count of calls shows: the oracle computes them from the windows. They are lower
 * bounds, as far as the trace shows them.
 */
export const judgedFigureKinds = {
  overAdmission: kind("share", "what was admitted above a limit, among all that was admitted"),
  wronglyRefused: kind("count", "calls refused although there was room"),
  stalenessMs: kind("ms", "how old the oldest reading was when it was shown"),
} as const satisfies Record<string, FigureKind>;

export type JudgedFigureName = keyof typeof judgedFigureKinds;

/** Judged figures of one run, from its verdict; `null` if nothing was judged. */
export type JudgedFigures = Readonly<Record<JudgedFigureName, number | null>>;

const everyKind: Readonly<Record<FigureName | JudgedFigureName, FigureKind>> = {
  ...figureKinds,
  ...judgedFigureKinds,
};
const everyName = Object.keys(everyKind);

/** Returns the unit of a figure. */
export const unitOf = (name: FigureName | JudgedFigureName): FigureUnit => everyKind[name].unit;

export function isJudgedFigure(name: FigureName | JudgedFigureName): name is JudgedFigureName {
  return Object.hasOwn(judgedFigureKinds, name);
}

/** Name of a figure of the whole run, or of one population: `refusedShare`, `agents.refusedShare`. */
export interface FigureReference {
  readonly population: string | null;
  readonly name: FigureName | JudgedFigureName;
}

type Operator = "<" | "<=" | ">" | ">=" | "==";

/** Expected bound of one figure. */
export interface Expectation extends FigureReference {
  /** Figure as it was written. */
  readonly figure: string;
  /** Bound as it was written. */
  readonly bound: string;
  readonly operator: Operator;
  /** Value of the bound in the figure's unit: a count, a share from 0 to 1, milliseconds. */
  readonly value: number;
}

/**
 * Finds a figure by the name that people write.
 * @param populations the populations that exist; if absent, any name passes
 * @returns the figure, or the problem with a suggestion in `allowed`; `path` is the name itself
 */
export function parseFigure(text: string, populations?: readonly string[]): FigureReference | Problem {
  const dot = text.lastIndexOf(".");
  const population = dot < 0 ? null : text.slice(0, dot);
  const name = text.slice(dot + 1);
  if (!Object.hasOwn(everyKind, name))
    return { path: text, got: quote(name), allowed: suggest(name, everyName, "one of ") };
  if (population !== null && Object.hasOwn(judgedFigureKinds, name))
    return { path: text, got: quote(text), allowed: `${name}, of the whole run` };
  if (population !== null && populations !== undefined && !populations.includes(population)) {
    const allowed = suggest(population, populations, "a population: ");
    return { path: text, got: quote(population), allowed };
  }
  return { population, name: name as FigureName | JudgedFigureName };
}

function suggest(word: string, known: readonly string[], lead: string): string {
  const match = closest(word, known);
  return match === null ? `${lead}${known.join(", ")}` : `${quote(match)}, if that was meant`;
}

const boundSyntax = /^(<=|>=|<|>|==?)\s*(\S.*)$/;
const numberSyntax = /^\d+(?:\.\d+)?$/;

export const boundExamples: Readonly<Record<FigureUnit, string>> = {
  count: '"==0", "<=100", ">=1000"',
  share: '"<5%", ">=99.5%", "<0.05"',
  ms: '"<250ms", "<=2s", "<1m30s"',
};

function amountOf(unit: FigureUnit, text: string): number | null {
  if (numberSyntax.test(text)) return Number(text);
  const percent = text.endsWith("%") ? text.slice(0, -1).trimEnd() : "";
  if (unit === "share" && numberSyntax.test(percent)) return Number(percent) / 100;
  return unit === "ms" ? parseDuration(text) : null;
}

/**
 * Reads one expectation: a figure's name and a bound such as `"<5%"`, `">=100"`, `"<=2s"`, `"==0"`.
 * @param populations the populations that exist; if absent, any name passes
 * @returns the expectation, or the problem; its `path` is the figure's name as written
 */
export function parseExpectation(
  figure: string,
  bound: unknown,
  populations?: readonly string[],
): Expectation | Problem {
  const reference = parseFigure(figure, populations);
  if ("path" in reference) return reference;
  const unit = unitOf(reference.name);
  const allowed = `<, <=, >, >= or == and an amount: ${boundExamples[unit]}`;
  const [, sign = "", rest = ""] = (typeof bound === "string" && boundSyntax.exec(bound.trim())) || [];
  const value = amountOf(unit, rest);
  if (typeof bound !== "string" || value === null) return { path: figure, got: quote(bound), allowed };
  if (unit === "share" && value > 1)
    return { path: figure, got: quote(bound), allowed: "a share from 0 to 1, or from 0% to 100%" };
  const operator = (sign === "=" ? "==" : sign) as Operator;
  return { ...reference, figure, bound, operator, value };
}

/**
 * Reads a scenario's `expect`. It finds every mistake and throws none.
 * @param expect untrusted: an object of bounds by figure
 * @param populations the populations that exist; if absent, any name passes
 */
export function parseExpectations(
  expect: Readonly<Record<string, unknown>>,
  populations?: readonly string[],
): { readonly expectations: readonly Expectation[]; readonly problems: readonly Problem[] } {
  const expectations: Expectation[] = [];
  const problems: Problem[] = [];
  for (const [figure, bound] of Object.entries(expect)) {
    const parsed = parseExpectation(figure, bound, populations);
    if ("path" in parsed) problems.push({ ...parsed, path: `expect[${JSON.stringify(figure)}]` });
    else expectations.push(parsed);
  }
  return { expectations, problems };
}

/** Tells whether a measured figure is within a bound. A figure that could not be measured (`null`) never is. */
export function isWithin({ operator, value }: Expectation, actual: number | null): boolean {
  if (actual === null) return false;
  switch (operator) {
    case "<":
      return actual < value;
    case "<=":
      return actual <= value;
    case ">":
      return actual > value;
    case ">=":
      return actual >= value;
    case "==":
      return actual === value;
  }
}
