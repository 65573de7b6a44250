// Counterexamples that the limiter's authors know. A check that meets one goes on, so that a known bug does not
// hide others.

import { closest } from "../rules/closest.ts";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import { type LimiterLawName, limiterLawNames } from "../rules/laws.ts";
import { isPlainObject } from "../rules/plain-object.ts";
import { organizationLimit, scopes, semanticsOf, userLimit } from "../rules/rules.ts";
import type { RulesKind } from "./law.ts";
import type { CallOp, LawKind, Op, Script } from "./script.ts";

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

const kinds: readonly unknown[] = [
  "call",
  "settle",
  "status",
  "enforce",
  "sweep",
  "snapshot",
] satisfies Op["do"][];

/**
 * Reads a list of known counterexamples, or takes those that a check's report found.
 * @throws SpillwayError `USAGE`, naming every entry that is wrong
 */
export function parseKnown<K extends LawKind = RulesKind>(value: unknown): readonly KnownCounterexample<K>[] {
  const given =
    isPlainObject(value) && Array.isArray(value["laws"]) ? found(value["laws"], value["limiter"]) : value;
  const problems = Array.isArray(given)
    ? given.flatMap((entry, index) => mistakes(entry, `known[${index}]`))
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

function mistakes(entry: unknown, path: string): Problem[] {
  if (!isPlainObject(entry)) return [{ path, got: quote(entry), allowed: "an object" }];
  const { law, script, seed, path: way, note, limiter } = entry;
  const wrong = (member: string, allowed: string): Problem[] => [
    { path: `${path}.${member}`, got: quote(entry[member]), allowed },
  ];
  const isLaw = limiterLawNames.some((name) => name === law);
  return [
    ...(isLaw ? [] : wrong("law", closest(String(law), limiterLawNames) ?? limiterLawNames.join(", "))),
    ...(script === undefined || isScript(script) ? [] : wrong("script", "the script of a counterexample")),
    ...(seed === undefined || Number.isSafeInteger(seed) ? [] : wrong("seed", "an integer")),
    ...(way === undefined || /^\d+(:\d+)*$/.test(String(way)) ? [] : wrong("path", "as a failure prints it")),
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
  const isNumbered = Number.isSafeInteger(startMs) && Number.isSafeInteger(pick);
  const isComplete =
    isPlainObject(policy) ||
    (isPlainObject(rules) &&
      ["organization", "user", "semantics"].every((name) => isPlainObject(rules[name])));
  return (
    isNumbered &&
    isComplete &&
    ops.every((op) => isPlainObject(op) && kinds.includes(op["do"]) && Number.isSafeInteger(op["atMs"]))
  );
}

/**
 * Returns a script's form, by which two scripts are one counterexample: its operations, and the limits and switches
 * that these meet. Names, the start and the ids of calls are left out.
 */
export function formOf({ rules, ops, startMs: _, pick: __, ...terms }: Script): string {
  const names = new Map<string, string>();
  const nameOf = (name: string): string => {
    names.set(name, names.get(name) ?? `#${names.size}`);
    return names.get(name) ?? name;
  };
  const firstMs = ops[0]?.atMs ?? 0;
  const calls = ops.filter((op): op is CallOp => op.do === "call");
  const met = scopes.filter((scope) => calls.some((call) => call.scope === scope));
  const ids = new Map(calls.map(({ id }, index) => [id, index]));
  return JSON.stringify([
    terms,
    met.map((scope) => semanticsOf(rules, scope)),
    ops.map(({ atMs, ...op }) => ({
      ...op,
      afterMs: atMs - firstMs,
      ...("id" in op && { id: ids.get(op.id) ?? null }),
      ...("organization" in op && { organization: nameOf(op.organization) }),
      ...("user" in op && { user: nameOf(`${op.organization}/${op.user}`) }),
    })),
    calls.map(({ organization, user, scope }) => [
      organizationLimit(rules, organization, scope),
      userLimit(rules, organization, user, scope),
    ]),
  ]);
}
