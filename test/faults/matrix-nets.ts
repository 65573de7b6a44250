// One fault against one net: caught or not, after how much, and by what name.
import { simulate } from "../../sim/simulate.ts";
import type { ChosenFault } from "../../src/faults/choice.ts";
import { faultFactory } from "../../src/faults/factory.ts";
import { checkLaws, engineFactory, type LawReport } from "../../src/laws/index.ts";
import { type LimiterLawName, lawNames } from "../../src/rules/laws.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { TraceLine } from "../../src/trace/read.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { judge } from "../../src/verify/judge.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { crowd, crowdRules, suited } from "./crowd.ts";

/** Findings of the laws. */
export interface LawsCell {
  readonly caught: boolean;
  /** The law that took the fewest runs, and how many: the one with the counterexample included. */
  readonly law: LimiterLawName | null;
  readonly runs: number;
  /** All laws that found a counterexample. */
  readonly laws: readonly LimiterLawName[];
}

/** The oracle's word on one trace. */
export interface VerdictCell {
  readonly caught: boolean;
  readonly records: number;
  /** Number of calls that it takes to show the breach that shows first. */
  readonly calls: number | null;
  /** Of the violation that it put first. */
  readonly law: string | null;
  readonly first: string | null;
  /** True if the fault's name is the first one, or among the suspects of some violation. */
  readonly isFirst: boolean;
  readonly isAmong: boolean;
}

/** The oracle's word on simulated traces, one a seed. */
export interface SimulatedCell {
  readonly caught: boolean;
  readonly seeds: number;
  readonly caughtSeeds: number;
  readonly firstSeeds: number;
  readonly amongSeeds: number;
  /** Of the first seed in which it was caught. */
  readonly example: VerdictCell | null;
}

export interface LawsOptions {
  readonly runs: number;
  readonly seed: number;
  /** True if every law is run; false if none after the first that finds something. */
  readonly all: boolean;
  readonly signal: AbortSignal;
}

/** Runs the laws over limiters with this fault; over right ones for `null`. */
export async function laws(chosen: ChosenFault | null, options: LawsOptions): Promise<LawsCell> {
  const { runs, seed, all, signal } = options;
  const factory = chosen === null ? engineFactory : faultFactory(chosen, seed);
  const broken: LawReport[] = [];
  for (const law of lawNames) {
    if (!all && broken.length > 0) break;
    const report = await checkLaws(factory, { runs, seed, laws: [law], signal, onProgress: takeTurn });
    signal.throwIfAborted();
    broken.push(...report.laws.filter(({ outcome }) => outcome === "violated"));
  }
  const [fastest] = [...broken].sort((a, b) => a.runs - b.runs);
  return {
    caught: fastest !== undefined,
    law: fastest?.law ?? null,
    runs: fastest?.runs ?? runs,
    laws: broken.map(({ law }) => law),
  };
}

/** Lets a Ctrl-C through. */
export const takeTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Calls with the numbers of their lines. */
export async function* numbered(calls: Iterable<TraceCall>): AsyncGenerator<TraceLine, void> {
  let line = 1;
  for (const call of calls) {
    line += 1;
    yield { line, call };
  }
}

const charges = ["reserved", "prepaid"] as const;

/** Simulates the crowd with this fault, or none, and judges; the ways of charging GraphQL take turns. */
export async function simulated(
  chosen: ChosenFault | null,
  options: { readonly seed: number; readonly seeds: number; readonly signal: AbortSignal },
): Promise<SimulatedCell> {
  const cells: VerdictCell[] = [];
  for (let seed = options.seed; seed < options.seed + options.seeds; seed++) {
    await takeTurn();
    options.signal.throwIfAborted();
    const graphqlCharge = charges[seed % charges.length] ?? "reserved";
    const plain = { scenario: crowd, rules: parseRules({ ...crowdRules, semantics: { graphqlCharge } }) };
    const { scenario, rules } = suited(plain, chosen);
    const { header, calls } = simulate(scenario, { seed, rules, fault: chosen ?? undefined });
    cells.push(verdictCell(await judge(header, numbered(calls)), chosen?.fault.name ?? ""));
  }
  const count = (which: (cell: VerdictCell) => boolean): number => cells.filter(which).length;
  return {
    caught: cells.every(({ caught }) => caught),
    seeds: cells.length,
    caughtSeeds: count(({ caught }) => caught),
    firstSeeds: count(({ isFirst }) => isFirst),
    amongSeeds: count(({ isAmong }) => isAmong),
    example: cells.find(({ caught }) => caught) ?? null,
  };
}

/** The part of a verdict that matters here. */
export function verdictCell({ verdict, records, violations }: Verdict, name: string): VerdictCell {
  const [worst] = violations;
  // Line 1 is the header.
  const shownAfter = violations.map(({ lines }) => Math.max(...lines) - 1).filter((line) => line > 0);
  return {
    caught: verdict === "violated",
    records,
    calls: shownAfter.length === 0 ? null : Math.min(...shownAfter),
    law: worst?.law ?? null,
    first: worst?.suspects[0] ?? null,
    isFirst: worst?.suspects[0] === name,
    isAmong: violations.some(({ suspects }) => suspects.includes(name)),
  };
}
