// Compares two runs of one script, answer by answer.
import { triedAgain } from "./again.ts";
import type { Breach, Compared, Judgement, Opinion, Trial } from "./law.ts";
import { isBreach, OpinionTally } from "./looks.ts";
import type { QuotaEvent, QuotaHistory } from "./quotas/script.ts";
import type { QuotasKind } from "./sight.ts";

export interface Comparing {
  /** Index in the history of the first event compared; `until` is that of the first not compared. */
  readonly from?: number;
  readonly until?: number;
  /** Delay of the other run's operations, ms. If not 0, both runs have the same operations. */
  readonly shiftMs?: number;
  /** Quotas to compare, with the decisions. Default: all. */
  readonly quotas?: ReadonlySet<string>;
  /** True to compare decisions only. */
  readonly decisions?: boolean;
}

/**
 * Compares the answers of a run with those of another that has some of its operations, or all of them shifted.
 *
 * A bucket that adds up fractions may find 0.9999999999999999 units in one run and 1 in the other. So limiters that do
 * not count in whole numbers are compared by decisions only, and a refusal that 1 ms would mend is no difference.
 */
export async function comparison(
  trial: Trial<QuotasKind>,
  history: QuotaHistory,
  compared: Compared<QuotasKind>,
  options: Comparing = {},
): Promise<Judgement<QuotasKind>> {
  const { from = 0, until = Number.POSITIVE_INFINITY, shiftMs = 0 } = options;
  const { isExact, terms } = trial.script;
  const there = new Map(compared.history.map((event) => [event.op, event]));
  const tally = new OpinionTally();
  for (const [at, event] of history.entries()) {
    const other = shiftMs === 0 ? there.get(event.op) : compared.history[at];
    if (other === undefined || at < from) continue;
    if (at >= until) break;
    const decisions = options.decisions === true || !isExact;
    const opinion = same(event, other, { ...options, decisions }, terms === undefined ? "used" : "current");
    // The difference is only noise; from here on the two runs cannot be compared.
    if (isBreach(opinion) && !isExact && (await isNoise(trial, history, compared.history, event, other)))
      break;
    tally.add(opinion, at, null);
    if (isBreach(opinion)) break;
  }
  return { ...tally.of(history), compared };
}

/** Tells whether the refusing run would have admitted 1 ms later or, by rules, at the next whole second. */
async function isNoise(
  { play, script }: Trial<QuotasKind>,
  history: QuotaHistory,
  others: QuotaHistory,
  event: QuotaEvent,
  other: QuotaEvent,
): Promise<boolean> {
  const refused = "admitted" in event && !event.admitted;
  const [run, op] = refused ? [history, event.op] : [others, other.op];
  const at = run.findIndex((candidate) => candidate.op === op);
  for (const waitMs of script.terms === undefined ? [1] : [1, 1000 - (op.atMs % 1000)])
    if ((await triedAgain(play, run, at, waitMs, false))?.last.admitted === true) return true;
  return false;
}

type Members = ReadonlyMap<string, number | string | boolean | null>;

/** Returns the compared facts of an event, by name. Instants are not yet shifted. */
function membersOf(event: QuotaEvent, { quotas, decisions }: Comparing): Members {
  const members = new Map<string, number | string | boolean | null>();
  if ("admitted" in event) {
    members.set("admitted", event.admitted);
    if (quotas === undefined) members.set("refusedBy", event.refusedBy ?? null);
  }
  if (decisions === true || !("said" in event)) return members;
  const isCompared = (quota: string | null): boolean => quotas === undefined || quotas.has(quota ?? "");
  for (const { quota, ...said } of event.said.readings ?? []) {
    if (!isCompared(quota)) continue;
    for (const [name, value] of Object.entries(said)) members.set(`${quota} ${name}`, value ?? null);
  }
  for (const reading of event.read?.readings ?? []) {
    if (!isCompared(reading.quota)) continue;
    const whose = reading.quota ?? "the answer's";
    for (const name of ["limit", "remaining", "used"] as const)
      members.set(`${whose} ${name}`, reading[name]);
    members.set(`${whose} reset after`, reading.reset?.afterMs ?? null);
    members.set(`${whose} resetAt`, reading.reset?.atMs ?? null);
  }
  return members;
}

/** Judges that two answers to one operation agree in each fact that both show. */
function same(here: QuotaEvent, there: QuotaEvent, options: Comparing, used: string): Opinion {
  const mine = membersOf(here, options);
  let isCompared = false;
  for (const [name, other] of membersOf(there, options)) {
    const value = mine.get(name) ?? null;
    const isInstant = /resetAt(?:Ms)?$/.test(name);
    const theirs = isInstant && typeof other === "number" ? other - (options.shiftMs ?? 0) : other;
    if (value === null || theirs === null) continue;
    isCompared = true;
    if (value !== theirs) return differs(name.replace(/used$/, used), value, theirs);
  }
  return isCompared ? "kept" : null;
}

const differs = (name: string, here: unknown, there: unknown): Breach => ({
  expected: `${name} ${there}, as in the other run`,
  got: `${name} ${here}`,
  arithmetic: "the two runs differ only in what must not matter",
});
