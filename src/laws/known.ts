// Counterexamples that the limiter's authors know. A check that meets one goes on, so that a known bug does not
// hide others.

import { quotaFor } from "../policy/effective.ts";
import { closest } from "../rules/closest.ts";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import { type LimiterLawName, limiterLawNames } from "../rules/laws.ts";
import { isPlainObject } from "../rules/plain-object.ts";
import { owners, scopes } from "../rules/rules.ts";
import { switchNames } from "../rules/switches.ts";
import type { RulesKind } from "./law.ts";
import type { CallerAttributes, QuotaScript } from "./quotas/script.ts";
import type { LawKind, Op } from "./script.ts";

/** One known counterexample; without a script and a path, every counterexample to its law. */
export interface KnownCounterexample<K extends LawKind = RulesKind> {
  readonly law: LimiterLawName;
  /** Script of the counterexample, copied from a report. */
  readonly script?: K["script"] | undefined;
  /** Seed and path of the counterexample, as its failure prints them, in place of the script. */
  readonly seed?: number | undefined;
  readonly path?: string | undefined;
  /** Words that the report repeats, such as the address of an issue. */
  readonly note?: string | undefined;
  /** Name of the limiter that it was found in, if it came from a report. */
  readonly limiter?: string | undefined;
}

/** A known counterexample after a check; `limiter` is there if it was found in another limiter than the one checked. */
export interface KnownState extends Pick<KnownCounterexample, "law" | "note" | "limiter"> {
  /** `mended`: its script no longer breaks the law. `unseen`: its law was not checked, or no run met it. */
  readonly state: "broken" | "mended" | "unseen";
}

/** Returns the message that a known counterexample was not met: it is mended, or no run broke its law. */
export function unmetText({ law, note, state }: KnownState): string {
  const [met, so] =
    state === "mended"
      ? ["breaks it no longer", "take it off the list"]
      : ["matched nothing", "no run broke this law"];
  return `a known counterexample to ${law} ${met}${note === undefined ? "" : ` (${note})`}: ${so}`;
}

/** Members of an operation beside its time, by rules and by a policy. */
const opMembers: Readonly<Record<Op["do"], Readonly<Record<ScriptLimits, readonly string[]>>>> = {
  call: {
    rules: ["id", "organization", "user", "scope", "cost"],
    policy: ["id", "caller", "operation", "cost"],
  },
  settle: { rules: ["id", "actual"], policy: ["id", "actual"] },
  status: { rules: ["organization", "user"], policy: ["caller"] },
  enforce: { rules: ["organization", "scope", "enforced"], policy: ["quota", "caller", "enforced"] },
  sweep: { rules: [], policy: [] },
  snapshot: { rules: [], policy: [] },
};

/** Limits that a script is played under. */
export type ScriptLimits = "rules" | "policy";

/**
 * Reads a list of known counterexamples, or takes those that a check's report found.
 * @param limits limits of the check's own scripts. Default: either
 * @throws SpillwayError `USAGE`, naming every entry that is wrong
 */
export function parseKnown<K extends LawKind = RulesKind>(
  value: unknown,
  limits?: ScriptLimits,
): readonly KnownCounterexample<K>[] {
  const given =
    isPlainObject(value) && Array.isArray(value["laws"]) ? found(value["laws"], value["limiter"]) : value;
  const problems = Array.isArray(given)
    ? given.flatMap((entry, index) => mistakes(entry, `known[${index}]`, limits))
    : [{ path: "known", got: quote(value), allowed: "an array, or the report of a check" }];
  if (problems.length === 0) return given as readonly KnownCounterexample<K>[];
  throw new SpillwayError("USAGE", "the known counterexamples cannot be used", {
    problems,
    hint: '[{ "law": "recovers", "script": {...}, "note": "..." }], or what `check --json` printed',
  });
}

const found = (laws: readonly unknown[], limiter: unknown): unknown[] =>
  laws.flatMap((report) => {
    if (!isPlainObject(report) || !isPlainObject(report["counterexample"])) return [];
    if (report["outcome"] === "not-repeatable") return [];
    return [{ law: report["law"], script: report["counterexample"]["script"], limiter }];
  });

const members: readonly string[] = [
  "law",
  "script",
  "seed",
  "path",
  "note",
  "limiter",
] satisfies (keyof KnownCounterexample)[];

const limitsText: Readonly<Record<ScriptLimits, string>> = {
  rules: "a script by rules, as check without --policy prints it",
  policy: "a script by a policy, as check --policy prints it",
};

/** Returns the mistake of a script whose limits are not those of the check. */
function otherLimits(path: string, script: unknown, limits: ScriptLimits | undefined): Problem[] {
  if (limits === undefined || !isScript(script) || isPlainObject((script as PlainScript)[limits])) return [];
  const other = limits === "rules" ? "policy" : "rules";
  return [{ path: `${path}.script`, got: limitsText[other], allowed: limitsText[limits] }];
}

type PlainScript = { readonly [L in ScriptLimits]?: unknown };

function mistakes(entry: unknown, path: string, limits: ScriptLimits | undefined): Problem[] {
  if (!isPlainObject(entry)) return [{ path, got: quote(entry), allowed: "an object" }];
  const { law, script, seed, path: way, note, limiter } = entry;
  const wrong = (member: string, allowed: string): Problem[] => [
    { path: `${path}.${member}`, got: quote(entry[member]), allowed },
  ];
  const isLaw = limiterLawNames.some((name) => name === law);
  const strange = Object.keys(entry).filter((name) => !members.includes(name));
  return [
    ...strange.flatMap((name) => wrong(name, closest(name, members) ?? members.join(", "))),
    ...(isLaw ? [] : wrong("law", closest(String(law), limiterLawNames) ?? limiterLawNames.join(", "))),
    ...(script === undefined || isScript(script) ? [] : wrong("script", "the script of a counterexample")),
    ...otherLimits(path, script, limits),
    ...(seed === undefined || Number.isSafeInteger(seed) ? [] : wrong("seed", "an integer")),
    ...(way === undefined || (typeof way === "string" && /^\d+(:\d+)*$/.test(way))
      ? []
      : wrong("path", "a text, as a failure prints it")),
    ...((seed === undefined) === (way === undefined)
      ? []
      : wrong(seed === undefined ? "seed" : "path", "both")),
    ...(note === undefined || typeof note === "string" ? [] : wrong("note", "a string")),
    ...(limiter === undefined || typeof limiter === "string" ? [] : wrong("limiter", "a limiter's name")),
  ];
}

/** Tells whether a value has the members that playing a script needs. */
function isScript(value: unknown): boolean {
  if (!isPlainObject(value) || !Array.isArray(value["ops"])) return false;
  const { rules, policy, startMs, pick, ops } = value;
  const limits = isPlainObject(policy) ? "policy" : "rules";
  return (
    Number.isSafeInteger(startMs) &&
    Number.isSafeInteger(pick) &&
    (isPlainObject(policy) ? hasObjects(policy, ["quotas", "operations"]) : areRules(rules)) &&
    ops.every((op) => isOp(op, limits))
  );
}

const hasObjects = (value: unknown, names: readonly string[]): value is Readonly<Record<string, unknown>> =>
  isPlainObject(value) && names.every((name) => isPlainObject(value[name]));

/** Tells whether rules have each window and each switch. */
const areRules = (rules: unknown): boolean =>
  hasObjects(rules, [...owners, "organizations", "users", "semantics"]) &&
  owners.every((owner) => hasObjects(rules[owner], scopes)) &&
  hasObjects(rules["semantics"], switchNames);

function isOp(op: unknown, limits: ScriptLimits): boolean {
  if (!isPlainObject(op) || !Number.isSafeInteger(op["atMs"])) return false;
  const [, members] = Object.entries(opMembers).find(([kind]) => kind === op["do"]) ?? [];
  return members?.[limits].every((name) => op[name] !== undefined) === true;
}

/**
 * Returns a script's form, by which two scripts are one counterexample: its operations, and the quotas as they hold for
 * its calls. Names of callers, the start and the ids of calls are left out.
 * @param broken quota at fault; the limits of others are left out then. `null` if none is alone at fault
 */
export function formOf({ policy, terms, ops }: QuotaScript, broken: string | null): string {
  const { algorithm, endsLate, fromStart, keyed, opensToMs } = terms ?? {};
  const names = new Map<string, number>();
  const whose = (caller: CallerAttributes): number[] =>
    Object.values(policy.quotas).map(({ key }) => {
      const name = JSON.stringify(key.map((attribute) => caller[attribute]));
      const place = names.get(name) ?? names.size;
      names.set(name, place);
      return place;
    });
  const firstMs = ops[0]?.atMs ?? 0;
  const calls = ops.filter((op) => op.do === "call");
  const ids = new Map(calls.map(({ id }, index) => [id, index]));
  return JSON.stringify([
    [algorithm, endsLate, fromStart, keyed, opensToMs],
    ops.map(({ atMs, ...op }) => ({
      ...op,
      afterMs: atMs - firstMs,
      ...("id" in op && { id: ids.get(op.id) ?? null }),
      ...("caller" in op && { caller: whose(op.caller) }),
    })),
    calls.map(({ caller, operation }) =>
      Object.keys(policy.operations[operation]?.uses ?? {}).map((quota) =>
        broken === null || quota === broken ? quotaFor(policy, quota, caller) : quota,
      ),
    ),
  ]);
}
