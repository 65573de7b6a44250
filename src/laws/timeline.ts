// Draws a counterexample by rules as text: the rules that matter, one line for each operation with its answer, the
// ends of windows, and at the breach the expectation, the answer and the arithmetic.

import { type Rules, semanticsOf } from "../rules/rules.ts";
import { type SwitchName, switchNames, switchValues } from "../rules/switches.ts";
import { looksByRules, quotaHistory, quotaScript, windowOf } from "./by-rules.ts";
import { noteLine, rendered } from "./drawing.ts";
import type { HistoryEvent, PartialReading } from "./history.ts";
import { type OverlapDrawing, renderedInterleaving } from "./interleavings-text.ts";
import type { Breach, RulesKind } from "./law.ts";
import { linesOf } from "./lines.ts";
import { memberNameIn, memberNote } from "./member-names.ts";
import type { InterleavingReport } from "./overlaps.ts";
import type { Counterexample, LawReport } from "./report.ts";
import { algorithmOf, type CallOp, keyOf, type LedgerTerms, type Script, type WindowKey } from "./script.ts";
import type { Sight } from "./sight.ts";

const drawing: OverlapDrawing<RulesKind> = {
  rules: rulesText,
  timeline(script, history, startMs, violation) {
    const isKeyed = script.keyed === true;
    const breach = violation && { ...violation, whose: drawing.whose(violation, script) };
    return linesOf(quotaScript(script), quotaHistory(history), startMs, breach, {
      call({ at }, times) {
        const event = history[at] as HistoryEvent;
        return [operation(event, times, script), answer(event, script)];
      },
      windowOf(sight) {
        const { scope, ...window } = windowOf(sight);
        return `the ${isKeyed ? "" : `${scope} `}window of ${whoText(window)}`;
      },
      isTaken: algorithmOf(script) !== "concurrency",
      note: (end, isHeld) => [
        ...endNote(end, script),
        ...heldNote(isHeld, script),
        ...nameNote(script, breach),
      ],
    });
  },
  texts: (script) => (event) => [operation(event, 1, script).padEnd(28), answer(event, script)],
  whose: ({ window }, script) => (window === null ? null : ownerText(window, script)),
};

/** Returns a violated law with its counterexample, or a limiter's failure, as lines of text; else no lines. */
export const renderCounterexample = (report: LawReport): string[] => rendered(report, drawing);

/** Returns overlapping calls that no order explains, or a limiter's failure, as lines of text; else no lines. */
export const renderInterleaving = (report: InterleavingReport): string[] =>
  renderedInterleaving(report, drawing);

type Played = Pick<Counterexample, "script" | "history">;

/** Returns the windows of a script with their limits, and the switches that are not at their default. */
function rulesText({ script, history }: Played): string[] {
  const windows = new Map<string, string>();
  const switches = new Set<string>();
  for (const sight of looksByRules(script, history).flatMap(({ sights }) => sights)) {
    windows.set(sight.name, script.keyed === true ? keyText(script, sight) : windowText(sight, script.rules));
    for (const text of switchesText(script, windowOf(sight))) switches.add(text);
  }
  return [...windows.values(), ...switches].map((line) => `rule: ${line}`);
}

function windowText({ quota, key, limit, lengthMs, rule }: Sight, rules: Rules): string {
  const { scope, ...window } = windowOf({ quota, key });
  const name = whoText(window);
  const own = window.user === null ? rules.organizations : rules.users;
  const isOwn = Object.hasOwn(own, name) && own[name]?.[scope] !== undefined;
  const isOff = window.user === null && rule.enforced === false;
  const more = `${isOwn ? ", of its own" : ""}${isOff ? ", not enforced" : ""}`;
  return `${name} ${scope}: ${limit} per ${lengthMs / 1000} s${more}`;
}

/** Writes the settings that a limiter by key was made with. */
function keyText(terms: LedgerTerms, { limit, lengthMs, ...count }: Sight): string {
  const key = ownerText(windowOf(count), terms);
  const isAtOnce = algorithmOf(terms) === "concurrency";
  return isAtOnce ? `${key}: ${limit} at once` : `${key}: ${limit} per ${lengthMs / 1000} s`;
}

/** Switches that are shown for a limiter by key; the others mean nothing to it. */
const keyedSwitches: readonly SwitchName[] = ["anchor", "refused", "remaining", "reset"];

function switchesText(terms: LedgerTerms, { scope }: WindowKey): string[] {
  const semantics = semanticsOf(terms.rules, scope);
  const algorithm = algorithmOf(terms);
  const isKeyed = terms.keyed === true;
  const ending = terms.endsLate === true ? ["the end of a window is still of it"] : [];
  const kind = algorithm === "fixed-window" ? [] : [algorithm];
  const isFromStart = terms.fromStart === true;
  const start = isFromStart ? ["windows follow one another from the first operation on"] : [];
  const switches = switchNames.flatMap((name) => {
    const isMeaningless = isKeyed
      ? !keyedSwitches.includes(name) || (name === "anchor" && (algorithm !== "fixed-window" || isFromStart))
      : scope === "rest" && name === "graphqlCharge";
    if (semantics[name] === switchValues[name][0] || isMeaningless) return [];
    return [`${isKeyed ? "" : `${scope}: `}${name} = ${semantics[name]}`];
  });
  return [...kind, ...start, ...ending, ...switches];
}

const whoText = ({ organization, user }: Pick<WindowKey, "organization" | "user">): string =>
  user === null ? organization : keyOf({ organization, user });

/** Returns the owner of a window as text: `acme rest`, or the key `acme/ann`. */
export const ownerText = (window: WindowKey, { keyed }: LedgerTerms): string =>
  keyed === true ? whoText(window) : `${whoText(window)} ${window.scope}`;

/** Returns a hint if a call comes at the ms at which a window ends: some limiters, as on Redis, still count it there. */
const endNote = (end: string | null, terms: LedgerTerms): string[] =>
  end !== null &&
  terms.keyed === true &&
  terms.endsLate !== true &&
  ["fixed-window", "sliding-log"].includes(algorithmOf(terms))
    ? [noteLine(`a window ends at ${end}; if that ms is meant to be still of it, say \`end: "inclusive"\``)]
    : [];

/** Returns a hint if a window that has ended still seems to refuse: some limiters block a caller who was refused. */
const heldNote = (isHeld: boolean, terms: LedgerTerms): string[] =>
  isHeld && terms.keyed === true && algorithmOf(terms) === "fixed-window"
    ? [
        noteLine(
          'if a refusal is meant to outlast its window, as of a limiter that blocks or a queue, say `algorithm: "unknown"`',
        ),
      ]
    : [];

/** Returns a hint if a key of the script is one that a plain object has already. */
function nameNote(script: Script, breach: Breach | null): string[] {
  const key = memberNameIn(script);
  const note = key === null ? "" : memberNote(key);
  return note === "" || breach?.arithmetic === note ? [] : [noteLine(note)];
}

export function operation(event: HistoryEvent, times: number, terms: LedgerTerms): string {
  const { op } = event;
  const isKeyed = terms.keyed === true;
  switch (op.do) {
    case "call":
      return callText(op, times, terms);
    case "settle":
      return `call ${op.id} ${isKeyed ? "ends" : `completes, actual ${op.actual}`}`;
    case "status":
      return `status of ${isKeyed ? keyOf(op) : op.organization}`;
    case "enforce":
      return `${op.organization} ${op.scope} enforced = ${op.enforced}`;
    case "sweep":
      return "sweep";
    case "snapshot":
      return "stored and restored";
  }
}

/** Returns `acme/ann rest 1` or `acme/ann graphql 3 (call 2)`; for a limiter by key `acme/ann` or `acme/ann, cost 3`. */
function callText(op: CallOp, times: number, terms: LedgerTerms): string {
  const { scope, cost, id } = op;
  const isKeyed = terms.keyed === true;
  const caller = keyOf(op);
  const what = isKeyed
    ? scope === "graphql"
      ? `${caller}, cost ${cost}`
      : caller
    : `${caller} ${scope} ${cost}`;
  const isNumbered = isKeyed ? algorithmOf(terms) === "concurrency" : scope === "graphql";
  return `${what}${times > 1 ? ` x${times}` : isNumbered ? ` (call ${id})` : ""}`;
}

export function answer(event: HistoryEvent, { keyed }: LedgerTerms): string {
  if ("decision" in event) {
    const { admitted, refusedBy, organization, user, retryAfterMs } = event.decision;
    const refused = refusedBy && keyed !== true ? `REFUSED by ${refusedBy}` : "REFUSED";
    const wait = typeof retryAfterMs !== "number" || admitted ? [] : [`retry after ${retryAfterMs / 1000} s`];
    const shown = keyed === true ? keyedText(user, event.op.atMs) : windows({ organization, user });
    const said = [shown, ...wait].filter((text) => text !== "").join(", ");
    return [(admitted ? "admitted" : refused).padEnd(keyed === true ? 9 : 24), said].join(" ").trimEnd();
  }
  if ("readings" in event)
    return event.call === null ? "(it had been refused)" : windows({ ...event.readings });
  if (!("status" in event)) return "";
  const { rest, graphql } = event.status;
  return keyed === true ? keyedText(rest ?? graphql, event.op.atMs) : windows({ rest, graphql });
}

const shows = (reading: unknown): boolean => Object.keys(reading ?? {}).length > 0;

const windows = (readings: Readonly<Record<string, unknown>>): string =>
  Object.entries(readings)
    .flatMap(([name, reading]) =>
      shows(reading) ? [`${name} ${readingText(reading as PartialReading)}`] : [],
    )
    .join("   ");

/** Returns the shown members of a reading as text: `3 of 5, 2 left, reset 4 s`. */
function readingText({ current, limit, remaining, reset }: PartialReading): string {
  const count = [current, limit].map((value) => value ?? "?").join(" of ");
  const left = (remaining ?? null) === null ? [] : [`${remaining} left`];
  const seconds = (reset ?? null) === null ? [] : [`reset ${reset} s`];
  return [count, ...left, ...seconds].join(", ");
}

/** Writes the reading of one key's limiter: its count, if it shows one, and the end that it tells by an instant. */
function keyedText(reading: PartialReading | undefined, nowMs: number): string {
  const { current, limit, reset, resetAtMs } = reading ?? {};
  const isCounted = (current ?? limit ?? null) !== null;
  const text = shows(reading) ? readingText(reading ?? {}) : "";
  const shown = isCounted ? text : text.replace(/^\? of \?(, )?/, "");
  const until = (reset ?? null) === null && typeof resetAtMs === "number";
  return [
    ...(shown === "" ? [] : [shown]),
    ...(until ? [`reset in ${(resetAtMs - nowMs) / 1000} s`] : []),
  ].join(", ");
}
