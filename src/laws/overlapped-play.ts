// Plays calls that overlap: those of one instant together, then some one by one that show the final count.
import fc from "fast-check";
import type { Seam } from "../engine/adapter.ts";
import type { OpFrequencies } from "./arbitraries.ts";
import type { OrderJudge, Round } from "./orders.ts";
import type { LawKind } from "./script.ts";
import { Weave } from "./weave.ts";

/** Greatest number of calls after all others, one by one, that show the final count. */
const closingMost = 12;

/** Player of one limiter, which is told the time and asked for calls that may overlap. */
export interface OverlapPlayer<K extends LawKind> {
  /** Number of calls so far whose decision came later than at once. */
  readonly waits: number;
  setNow(nowMs: number): Promise<void>;
  call(op: K["call"]): Promise<K["answered"]>;
  close(): Promise<void>;
}

/** Means to draw, play and judge calls, by rules or by a policy. */
export interface OverlapKit<K extends LawKind> extends OrderJudge<K> {
  /** The limiter's name. */
  readonly name: string;
  scripts(profile: OpFrequencies, intentsMost: number): fc.Arbitrary<K["script"]>;
  player(script: K["script"], seam: Seam): Promise<OverlapPlayer<K>>;
  isAdmitted(answered: K["answered"]): boolean;
  /** Removes counts from an answer, as they may be of a later time; if the clock `moved`, also the ends of windows. */
  bare(answered: K["answered"], moved: boolean): K["answered"];
  /** Length of the window that a call meets, ms. */
  windowMs(script: K["script"], call: K["call"]): number;
}

/** Calls that may overlap, as drawn. */
export interface Drawn<K extends LawKind> {
  readonly script: K["script"];
  /** Greatest number of calls that overlap. Rounds whose bit of `staggered` is set do not start their calls at once. */
  readonly overlap: number;
  readonly staggered: number;
  /** Step of each round before which the clock moves, from 1; 0 or absent if the clock stands still. */
  readonly ticks: readonly number[];
  /** Time by which the clock moves, ms. */
  readonly tickMs: number;
  /** Seed of the scheduler. A scheduler that fast-check drew would change whenever a script is made smaller. */
  readonly weave: number;
}

/** Returns a scheduler of fast-check, the same for the same seed. */
export function schedulerOf(seed: number): fc.Scheduler {
  const [scheduler] = fc.sample(fc.scheduler(), { seed, numRuns: 1 });
  if (scheduler === undefined) throw new RangeError("no scheduler was drawn");
  return scheduler;
}

/**
 * Plays a script's calls, overlapping if of one instant, and then closing calls one by one.
 * @returns the number of rounds in which two calls or more waited, or the clock moved: more than one order could explain
 * these. Calls that a limiter decides at once never overlap.
 */
export async function playOverlapping<K extends LawKind>(
  kit: OverlapKit<K>,
  { script, overlap, staggered, ticks, tickMs }: Drawn<K>,
  scheduler: fc.Scheduler,
  rounds: Round<K>[],
): Promise<number> {
  const weave = new Weave(scheduler);
  const player = await kit.player(script, weave);
  const calls = script.ops.flatMap((op) => (op.do === "call" ? [op as K["call"]] : []));
  let [nowMs, overlaps] = [0, 0];
  const setNow = (ms: number): Promise<void> => {
    nowMs = ms;
    return player.setNow(ms);
  };
  const playRound = async (group: readonly K["call"][], atOnce: boolean): Promise<Round<K>> => {
    // A call whose time has passed comes now.
    const atMs = Math.max(nowMs, (group[0] as K["call"]).atMs);
    await setNow(atMs);
    const step = ticks[rounds.length] ?? 0;
    weave.tickBefore(step, `${tickMs} ms pass`, () => setNow(atMs + tickMs));
    const answers: K["answered"][] = [];
    const from = weave.steps.length;
    const { waits } = player;
    const runs = group.map((op) => ({
      id: op.id,
      run: () => player.call({ ...op, atMs }).then((event) => answers.push(event)),
    }));
    await weave.overlap(runs, atOnce);
    const moved = nowMs > atMs;
    const events = group.length > 1 || moved ? answers.map((event) => kit.bare(event, moved)) : answers;
    const round = { atMs, untilMs: nowMs, events, steps: weave.steps.slice(from) };
    rounds.push(round);
    if (moved || player.waits - waits > 1) overlaps += 1;
    return round;
  };
  try {
    for (const [at, group] of grouped(calls, overlap).entries())
      await playRound(group, ((staggered >> (at % 8)) & 1) === 0);
    const last = calls.at(-1);
    if (last === undefined) return overlaps;
    for (let n = 0; n < closingMost; n += 1) {
      const { events } = await playRound([{ ...last, id: calls.length + n, cost: 1 }], true);
      if (!events.every((event) => kit.isAdmitted(event))) break;
    }
    // After every window has ended, a count shows that never expires.
    const atMs = nowMs + 2 * kit.windowMs(script, last);
    if (tickMs > 0) await playRound([{ ...last, id: calls.length + closingMost, cost: 1, atMs }], true);
    return overlaps;
  } finally {
    await player.close();
  }
}

/** Plays a script's calls one after the other. Returns their answers as text. */
export async function aloneText<K extends LawKind>(kit: OverlapKit<K>, script: K["script"]): Promise<string> {
  const rounds: Round<K>[] = [];
  const drawn = { script, overlap: 1, staggered: 0, ticks: [], tickMs: 0, weave: 0 };
  await playOverlapping(kit, drawn, schedulerOf(0), rounds);
  return JSON.stringify(rounds.map(({ events }) => events));
}

/** Groups consecutive calls of one instant, at most `most` together. */
function grouped<C extends LawKind["call"]>(calls: readonly C[], most: number): C[][] {
  const groups: C[][] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    if (last !== undefined && last.length < most && last[0]?.atMs === call.atMs) last.push(call);
    else groups.push([call]);
  }
  return groups;
}
