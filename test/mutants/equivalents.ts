// Mutants that no test can see, each with the reason. They are known by their line's text, so that they stay known when
// lines move.
import type { Mutation } from "./mutations.ts";

interface Equivalent {
  readonly path: string;
  /** The line, trimmed. */
  readonly text: string;
  readonly was: string;
  readonly becomes: string;
  readonly reason: string;
}

const equivalents: readonly Equivalent[] = [
  {
    path: "src/engine/core-layout.ts",
    text: "export const OFFSET = 6;",
    was: "6",
    becomes: "12",
    reason: "the bits between are free, and offsets are small",
  },
  {
    path: "src/engine/count-blocks.ts",
    text: "const first = group[quotas.findIndex((quota) => quota.isOwn)] ?? 0;",
    was: "0",
    becomes: "1",
    reason: "a group's number is compared with itself alone where no quota is a caller's own",
  },
  {
    path: "src/engine/count-reading.ts",
    text: "limit: 0,",
    was: "0",
    becomes: "1",
    reason: "whoever reads a count fills all members first",
  },
  {
    path: "src/engine/count-reading.ts",
    text: "remaining: 0,",
    was: "0",
    becomes: "1",
    reason: "whoever reads a count fills all members first",
  },
  {
    path: "src/engine/count-reading.ts",
    text: "used: 0,",
    was: "0",
    becomes: "1",
    reason: "whoever reads a count fills all members first",
  },
  {
    path: "src/engine/count-reading.ts",
    text: "resetAtMs: 0,",
    was: "0",
    becomes: "1",
    reason: "whoever reads a count fills all members first",
  },
  {
    path: "src/engine/count-reading.ts",
    text: "clockMs: 0,",
    was: "0",
    becomes: "1",
    reason: "whoever reads a count fills all members first",
  },
  {
    path: "src/load/ledger.ts",
    text: "isCounted = true;",
    was: "true",
    becomes: "false",
    reason: "it is read after a `take` alone, which sets it",
  },
  {
    path: "src/load/ledger.ts",
    text: "isRefusal = false;",
    was: "false",
    becomes: "true",
    reason: "it is read after a `take` alone, which sets it",
  },
  {
    path: "src/load/policy-ledger.ts",
    text: "isCounted = true;",
    was: "true",
    becomes: "false",
    reason: "it is read after a `take` alone, which sets it",
  },
  {
    path: "src/load/policy-ledger.ts",
    text: "isRefusal = false;",
    was: "false",
    becomes: "true",
    reason: "it is read after a `take` alone, which sets it",
  },
  {
    path: "src/map/header-names.ts",
    text: "for (let at = words.length - 1; at >= 0; at--) {",
    was: "-",
    becomes: "+",
    reason: "there is no word behind the last one: it has no role, and the loop goes on",
  },
  {
    path: "src/logs/field-values.ts",
    text: "if (byte >= zero && byte <= zero + 9) value = value * 10 + byte - zero;",
    was: ">=",
    becomes: ">",
    reason: "what this fast way leaves out is read as a text, to the same number",
  },
  {
    path: "src/logs/path-memory.ts",
    text: "#place = 0;",
    was: "0",
    becomes: "1",
    reason: "each use follows a `find`, which sets it",
  },
  {
    path: "src/logs/path-memory.ts",
    text: "const hash = Math.imul(last ^ Math.imul(middle, 0x9e37_79b1), 0x85eb_ca6b) + length;",
    was: "0x85eb_ca6b",
    becomes: "4493645014",
    reason: "another hash, which spreads paths about as well",
  },
  {
    path: "src/logs/cells.ts",
    text: "for (let role = 0; role < to.length; role++) to[role] = 0;",
    was: "<",
    becomes: "<=",
    reason: "an array of numbers takes nothing behind its end",
  },
  {
    path: "src/logs/cells.ts",
    text: "if (most > this.#written.length) this.#written = new Uint8Array(2 * most);",
    was: "2",
    becomes: "4",
    reason: "how far an array grows that has no room; it grows again",
  },
  {
    path: "src/logs/callers.ts",
    text: "const larger = new Int32Array(2 * array.length).fill(-1);",
    was: "2",
    becomes: "4",
    reason: "how far an array grows that has no room; it grows again",
  },
  {
    path: "src/audit/experiments/refusals.ts",
    text: "const lengthMs = lab.windowMs(quota, caller) ?? 0;",
    was: "0",
    becomes: "1",
    reason: "a quota that callers share is looked for among those that have windows",
  },
  {
    path: "src/audit/experiments/queries.ts",
    text: "const levels = 260;",
    was: "260",
    becomes: "520",
    reason: "servers that bound the depth of queries refuse either",
  },
  {
    path: "sim/swarm/dice.ts",
    text: "readonly #state: RandomState = { random0: 0, random1: 0, random2: 0, random3: 0 };",
    was: "0",
    becomes: "1",
    reason: "the constructor seeds all four",
  },
  {
    path: "sim/replay/due.ts",
    text: "if ((this.#times[child] as number) >= timeMs) break;",
    was: ">=",
    becomes: ">",
    reason: "which of two that are due at once comes first is left open",
  },
  {
    path: "sim/replay/due.ts",
    text: "if ((this.#times[parent] as number) <= timeMs) break;",
    was: "<=",
    becomes: "<",
    reason: "which of two that are due at once comes first is left open",
  },
  {
    path: "src/plan/finer.ts",
    text: "return misses.reduce((sum, miss) => sum + miss, 0);",
    was: "0",
    becomes: "1",
    reason: "sums are compared with one another alone",
  },
  {
    path: "src/plan/finer.ts",
    text: "return misses.reduce((sum, miss) => sum + miss, 0);",
    was: "misses.reduce((sum, miss) => sum + miss, 0)",
    becomes: "(misses.reduce((sum, miss) => sum + miss, 0)) + 1",
    reason: "sums are compared with one another alone",
  },
  {
    path: "src/scenario/policy-told.ts",
    text: "if (quota === by) return -1;",
    was: "1",
    becomes: "2",
    reason: "no share is below 0 but this one",
  },
  {
    path: "src/laws/describe-limiter.ts",
    text: "if (needs === undefined && runs < runsUntilSilent) {",
    was: "&&",
    becomes: "||",
    reason: "another check of the same law finds what the first did, later",
  },
  {
    path: "src/logs/ordered-rows.ts",
    text: "if (atMs >= this.#latest) this.#latest = atMs;",
    was: ">=",
    becomes: ">",
    reason: "rows of one time that are sorted needlessly stay in their own order",
  },
  {
    path: "src/logs/instant.ts",
    text: "if (high < 0 || middle < 0 || low < 0 || last < 0 || last > 9) return -1;",
    was: "<",
    becomes: "<=",
    reason: "what this fast way leaves out is read by sinceEpoch, to the same number",
  },
  {
    path: "src/logs/instant.ts",
    text: "if (to - from < 17 || view.getUint8(from + 11) !== colon) return Number.NaN;",
    was: "-",
    becomes: "+",
    reason: "a shorter text is refused by the clock, too, which asks for five characters behind the twelve",
  },
  {
    path: "src/trace/batch.ts",
    text: "if (size + text.length > kept.length) {",
    was: ">",
    becomes: ">=",
    reason: "an array that is just full grows before it has to",
  },
  {
    path: "src/trace/names.ts",
    text: "const mask = slots.length - 1;",
    was: "1",
    becomes: "2",
    reason: "slots are a multiple of four apart: the lowest bit of a place is never set",
  },
  {
    path: "src/scenario/spread.ts",
    text: "let [low, high] = [0, shares.length - 1];",
    was: "-",
    becomes: "+",
    reason:
      "no share is behind the last one, and none is no less than any: the last one is found all the same",
  },
  {
    path: "src/scenario/client.ts",
    text: "seedRandom(users, seed, userStream - population, user);",
    was: "-",
    becomes: "+",
    reason: "other streams for users' draws, which also lie apart from those of populations and of events",
  },
  {
    path: "src/engine/algorithms/token-bucket.ts",
    text: "if (nowMs <= seen) return;",
    was: "<=",
    becomes: "<",
    reason: "in no time nothing comes back",
  },
  {
    path: "src/verify/suspects.ts",
    text: '"status-pristine": pristine === 1 ? 2 : 0,',
    was: "2",
    becomes: "4",
    reason: "no other fault of a fallen count weighs more than 1.5: it stands first either way",
  },
  {
    path: "src/verify/docket.ts",
    text: 'const kind = JSON.stringify([law, breach, "quota" in whose ? whose.quota : whose.user === null]);',
    was: "===",
    becomes: "!==",
    reason: "a name of the kind: the other two names for the same two kinds",
  },
  {
    path: "src/verify/refusal-laws.ts",
    text: 'suspects: wait < reset ? ["retry-too-soon"] : ["reset-in-ms", "reset-disagrees"],',
    was: "<",
    becomes: "<=",
    reason: "the two differ by more than 1 here",
  },
  {
    path: "src/verify/refusal-laws.ts",
    text: "Math.min(organization?.remaining ?? 0, user?.remaining ?? 0) === cost",
    was: "0",
    becomes: "1",
    reason: "suspects are named of needless refusals alone, for which both windows show what remains",
  },
  {
    path: "src/verify/switch-evidence.ts",
    text: "hypotheses.ruleOut(new Map(out.map((each) => [each, { exhibit, weight: 1 }] as const)));",
    was: "1",
    becomes: "2",
    reason: "all weights of one call are alike, and they are compared with one another alone",
  },
  {
    path: "sim/fit/network.ts",
    text: "const scale = all.deviation === 0 ? 1 : Math.sqrt(Math.max(0, rest)) / all.deviation;",
    was: "1",
    becomes: "2",
    reason: "what does not deviate from the mean is scaled to nothing by any factor",
  },
  {
    path: "src/verify/deferrals.ts",
    text: "const weight = certain.reduce((sum, { count }) => sum + count, 0);",
    was: "0",
    becomes: "1",
    reason: "weights are compared with one another alone",
  },
  {
    path: "src/laws/orders.ts",
    text: "#furthest = -1;",
    was: "1",
    becomes: "2",
    reason: "no round comes before the first one",
  },
  {
    path: "sim/simulator.ts",
    text: "this.#queue = new EventQueue(0, clients + 1024);",
    was: "1024",
    becomes: "2048",
    reason: "the room that a queue has at first; it grows",
  },
  {
    path: "src/service/serve.ts",
    text: "const IDLE_CHECK_MS = 20;",
    was: "20",
    becomes: "40",
    reason: "how long a connection that turns idle while the service closes stays open, unseen by its client",
  },
  {
    path: "src/trace/byte-scanner.ts",
    text: "export const isPlain = Uint8Array.from({ length: 256 }, (_, byte) =>",
    was: "256",
    becomes: "512",
    reason: "no byte is above 255: the table's other half is never read",
  },
  {
    path: "src/verify/enforcement.ts",
    text: "#isSorted = true;",
    was: "true",
    becomes: "false",
    reason: "before the first body there is nothing to sort, and each body says that the list is unsorted",
  },
  {
    path: "sim/measured-windows.ts",
    text: "const DOUBLES = 4;",
    was: "4",
    becomes: "8",
    reason: "rows of twice the width; integers fall into doubles that no row uses",
  },
  {
    path: "src/engine/count-table.ts",
    text: "export const DOUBLES = 4;",
    was: "4",
    becomes: "8",
    reason: "rows of twice the width; integers fall into doubles that no row uses",
  },
];

/** Returns the reason that no test can tell the mutant from the source; `null` if one should. */
export function whyEquivalent(
  { path, was, becomes }: Pick<Mutation, "path" | "was" | "becomes">,
  lineText: string,
): string | null {
  const found = equivalents.find(
    (known) =>
      known.path === path && known.text === lineText && known.was === was && known.becomes === becomes,
  );
  return found?.reason ?? null;
}
