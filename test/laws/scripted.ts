// Scripts in words, judged by one law, with a limiter that is a function of the operations before: what was played, how
// much was judged, and what the law says.
import { byRules } from "../../src/laws/by-rules.ts";
import { laws } from "../../src/laws/catalogue.ts";
import type { History } from "../../src/laws/history.ts";
import type { CallOp, Op, Script } from "../../src/laws/script.ts";
import type { LimiterLawName } from "../../src/rules/laws.ts";
import { parseRules } from "../../src/rules/parse.ts";

const rules = parseRules({
  organization: { rest: { limit: 4, windowSeconds: 6 }, graphql: { limit: 9, windowSeconds: 10 } },
  user: { rest: { limit: 3, windowSeconds: 4 }, graphql: { limit: 9, windowSeconds: 15 } },
});

/** `a1`: call 1 of ann; `b2g`: a query of bob; `c3!`: of cy, who is of another organization; `a4x3`: of cost 3; `=4x2`: it used 2. */
function op(word: string, atMs: number): Op {
  const [, user = "", id = "", graphql, other, cost] = /^([abc])(\d+)(g)?(!)?(?:x(\d+))?$/.exec(word) ?? [];
  const organization = other === undefined ? "acme" : "other";
  const scope = graphql === undefined ? "rest" : "graphql";
  const whose = { atMs, organization, user };
  if (id !== "") return { do: "call", ...whose, id: Number(id), scope, cost: Number(cost ?? 1) };
  const [, settled, actual] = /^=(\d+)(?:x(\d+))?$/.exec(word) ?? [];
  if (settled !== undefined) return { do: "settle", atMs, id: Number(settled), actual: Number(actual ?? 1) };
  if (word === "?") return { do: "status", atMs, organization: "acme", user: "a" };
  if (word === "on" || word === "off" || word === "other-off")
    return {
      do: "enforce",
      atMs,
      organization: word === "other-off" ? "other" : "acme",
      scope: "rest",
      enforced: word === "on",
    };
  return { do: word === "*" ? "snapshot" : "sweep", atMs };
}

export function wordOf(one: Op): string {
  if (one.do === "call") {
    const marks = `${one.scope === "graphql" ? "g" : ""}${one.organization === "other" ? "!" : ""}`;
    return `${one.user}${one.id}${marks}${one.cost === 1 ? "" : `x${one.cost}`}`;
  }
  if (one.do === "settle") return `=${one.id}`;
  if (one.do === "enforce" && one.organization === "acme") return one.enforced ? "on" : "off";
  if (one.do === "enforce") return "other-off";
  return { status: "?", snapshot: "*", sweep: "~" }[one.do];
}

/** Limiter that is asked for an operation after others. */
export type Said = (one: Op, before: readonly Op[]) => object;

interface Bug {
  /** Operations before that are counted, though they must not be. */
  readonly counts?: (one: Op, asked: CallOp) => boolean;
}

/** A limiter that never forgets: 4 for an organization, 3 for a user. */
export const limiter =
  ({ counts = () => false }: Bug = {}): Said =>
  (one, before) => {
    if (one.do === "status") return { status: {} };
    if (one.do === "settle") return { call: null, readings: {} };
    if (one.do !== "call") return {};
    const admitted: CallOp[] = [];
    const used = (asked: CallOp, ofUser: boolean): number =>
      admitted
        .filter(({ organization, scope }) => organization === asked.organization && scope === asked.scope)
        .filter(({ user }) => !ofUser || user === asked.user)
        .reduce((sum, { cost }) => sum + cost, 0);
    const refuser = (asked: CallOp, extra: number): "organization" | "user" | null => {
      if (used(asked, false) + asked.cost + extra > 4) return "organization";
      return used(asked, true) + asked.cost > 3 ? "user" : null;
    };
    for (const earlier of before)
      if (earlier.do === "call" && refuser(earlier, 0) === null) admitted.push(earlier);
    const extra = before.filter((earlier) => counts(earlier, one)).length;
    const refusedBy = refuser(one, extra);
    if (refusedBy === null) admitted.push(one);
    const organization = { current: used(one, false) + extra };
    const user = { current: used(one, true) };
    return { decision: { admitted: refusedBy === null, refusedBy, organization, user } };
  };

interface Terms extends Partial<Script> {
  readonly said?: Said;
  readonly times?: readonly number[];
  readonly isRecorded?: true;
}

/** Judges operations, one every 10 ms, and tells what was played for it. */
export async function judged(
  law: LimiterLawName,
  words: string,
  { said = limiter(), times, isRecorded, ...terms }: Terms = {},
) {
  const ops = words.split(" ").map((word, at) => op(word, times?.[at] ?? 10 * at));
  const played: string[] = [];
  const atMs: number[][] = [];
  const play = async (asked: readonly Op[]): Promise<History> => {
    played.push(asked.map(wordOf).join(" "));
    atMs.push(asked.map((one) => one.atMs));
    return asked.map((one, at) => ({ op: one, ...said(one, asked.slice(0, at)) })) as History;
  };
  const script = { rules, startMs: 0, pick: 0, ...terms, ops };
  const found = await byRules(laws[law].judge)({ script, play, ...(isRecorded && { isRecorded }) });
  const { violation } = found;
  const broken =
    violation === null
      ? null
      : `${violation.at}: ${violation.expected}; ${violation.got}; ${violation.arithmetic}`;
  return { played, atMs, judged: found.judged, broken, label: found.compared?.label };
}
