// A counterexample as people read it: the rules that matter, one line an operation with its answer, window
// edges drawn in, and at the breach what was expected, what was answered, and the arithmetic.

import { organizationLimit, type Rules, semanticsOf, userLimit } from "../rules/rules.ts";
import { type SwitchName, switchValues } from "../rules/switches.ts";
import { breachLines, noteLine, rendered, type ScriptDrawing, time } from "./drawing.ts";
import type { History, HistoryEvent, PartialReading } from "./history.ts";
import type { LawViolation, RulesKind } from "./law.ts";
import { HistoryLedger, nameOf, type Sight, type WindowKey } from "./ledger.ts";
import type { Counterexample, LawReport } from "./report.ts";
import { algorithmOf, type CallOp, type LedgerTerms } from "./script.ts";

export const rulesDrawing: ScriptDrawing<RulesKind> = { rules: rulesText, timeline };

/** A violated law with its counterexample, or a limiter that failed, as lines of text; else none. */
export const renderCounterexample = (report: LawReport): string[] => rendered(report, rulesDrawing);

type Played = Pick<Counterexample, "script" | "history">;

/** The windows that occur, with their limits, and the switches that are not at their default. */
function rulesText({ script, history }: Played): string[] {
  const windows = new Map<string, string>();
  const switches = new Set<string>();
  const { rules } = script;
  const ledger = new HistoryLedger(script);
  for (const event of history)
    for (const sight of ledger.look(event)) {
      windows.set(nameOf(sight), script.keyed === true ? keyText(script, sight) : windowText(rules, sight));
      for (const text of switchesText(script, sight)) switches.add(text);
    }
  return [...windows.values(), ...switches].map((line) => `rule: ${line}`);
}

function windowText(rules: Rules, { organization, user, scope }: Sight): string {
  if (user !== null) {
    const { limit, windowSeconds } = userLimit(rules, organization, user, scope);
    return `${organization}/${user} ${scope}: ${limit} per ${windowSeconds} s`;
  }
  const { limit, windowSeconds, enforced } = organizationLimit(rules, organization, scope);
  return `${organization} ${scope}: ${limit} per ${windowSeconds} s${enforced ? "" : ", not enforced"}`;
}

/** Writes the settings that a limiter by key was made with. */
function keyText(terms: LedgerTerms, sight: Sight): string {
  const { limit, windowSeconds } = userLimit(terms.rules, sight.organization, sight.user ?? "", sight.scope);
  const key = ownerText(sight, terms);
  const algorithm = algorithmOf(terms);
  return algorithm === "concurrency" ? `${key}: ${limit} at once` : `${key}: ${limit} per ${windowSeconds} s`;
}

/** The switches that mean something to a limiter by key, and do not say who is limited. */
const keyedSwitches: readonly SwitchName[] = ["anchor", "refused", "remaining", "reset"];

function switchesText(terms: LedgerTerms, { scope }: Sight): string[] {
  const semantics = semanticsOf(terms.rules, scope);
  const algorithm = algorithmOf(terms);
  const isKeyed = terms.keyed === true;
  const ending = terms.endsLate === true ? ["the end of a window is still of it"] : [];
  const kind = algorithm === "fixed-window" ? [] : [algorithm];
  const switches = (Object.keys(switchValues) as SwitchName[]).flatMap((name) => {
    const isMeaningless = isKeyed
      ? !keyedSwitches.includes(name) || (name === "anchor" && algorithm !== "fixed-window")
      : scope === "rest" && name === "graphqlCharge";
    if (semantics[name] === switchValues[name][0] || isMeaningless) return [];
    return [`${isKeyed ? "" : `${scope}: `}${name} = ${semantics[name]}`];
  });
  return [...kind, ...ending, ...switches];
}

/** Whose window it is: `acme rest`, or `acme/ann`, which is a key. */
export function ownerText({ organization, user, scope }: WindowKey, { keyed }: LedgerTerms): string {
  const whose = user === null ? organization : `${organization}/${user}`;
  return keyed === true ? whose : `${whose} ${scope}`;
}

/** One line an operation, calls that follow each other unchanged taken together. */
function timeline(
  terms: LedgerTerms,
  history: History,
  startMs: number,
  violation: LawViolation | null,
): string[] {
  const lines: string[] = [];
  const ledger = new HistoryLedger(terms);
  const edges = new Map<string, Sight>();
  const ends = new Set<number>();
  let nowMs = history[0]?.op.atMs ?? startMs;
  let burst = 0;
  for (const [at, event] of history.entries()) {
    lines.push(...passed(edges, nowMs, event.op.atMs, startMs, terms));
    nowMs = event.op.atMs;
    const sights = ledger.look(event);
    for (const sight of sights)
      if (sight.untilMs !== null && algorithmOf(terms) === "fixed-window") {
        edges.set(`${nameOf(sight)} ${sight.untilMs}`, sight);
        ends.add(sight.untilMs);
      }
    const isNumbered = algorithmOf(terms) === "concurrency";
    if (
      !isNumbered &&
      at !== violation?.at &&
      continues(event, history[at + 1]) &&
      at + 1 !== violation?.at
    ) {
      burst += 1;
      continue;
    }
    lines.push(`${time(nowMs, startMs)}  ${operation(event, burst + 1, terms)}  ${answer(event, terms)}`);
    burst = 0;
    if (at === violation?.at)
      lines.push(...breach(violation, terms), ...endNote(event, ends.has(nowMs), terms));
  }
  return lines;
}

const breach = (violation: LawViolation, terms: LedgerTerms): string[] =>
  breachLines(violation, violation.window === null ? null : ownerText(violation.window, terms));

/** A hint where a call is refused at the very ms at which a window ends: some count it still, as keys of Redis do. */
const endNote = (event: HistoryEvent, isEnd: boolean, { keyed, endsLate }: LedgerTerms): string[] =>
  isEnd && keyed === true && endsLate !== true && "decision" in event && !event.decision.admitted
    ? [
        noteLine(
          'a window ends at this very ms; if that ms is meant to be still of it, say `end: "inclusive"`',
        ),
      ]
    : [];

/** The window edges between two operations, or that the clock stepped back. */
function passed(
  edges: Map<string, Sight>,
  fromMs: number,
  toMs: number,
  startMs: number,
  { keyed }: LedgerTerms,
): string[] {
  if (toMs < fromMs) return [`${time(toMs, startMs)}  <<<< the clock steps back by ${fromMs - toMs} ms`];
  const over = [...edges].filter(([, { untilMs }]) => (untilMs ?? 0) <= toMs);
  for (const [name] of over) edges.delete(name);
  return over
    .map(([, sight]) => sight)
    .sort((a, b) => (a.untilMs ?? 0) - (b.untilMs ?? 0))
    .map(({ organization, user, scope, untilMs }) => {
      const whose = user === null ? organization : `${organization}/${user}`;
      return `${time(untilMs ?? 0, startMs)}  ---- the ${keyed === true ? "" : `${scope} `}window of ${whose} ends`;
    });
}

/** Tells whether the next operation is the same call again with the same answer but for the counts. */
function continues(event: HistoryEvent, next: HistoryEvent | undefined): boolean {
  if (next === undefined || !("decision" in event) || !("decision" in next)) return false;
  const key = ({ op, decision }: typeof event): string =>
    JSON.stringify([
      op.atMs,
      op.organization,
      op.user,
      op.scope,
      op.cost,
      decision.admitted,
      decision.refusedBy,
    ]);
  return key(event) === key(next);
}

export function operation(event: HistoryEvent, times: number, terms: LedgerTerms): string {
  const { op } = event;
  const isKeyed = terms.keyed === true;
  const text = {
    call: () => op.do === "call" && callText(op, times, terms),
    settle: () =>
      op.do === "settle" && (isKeyed ? `call ${op.id} ends` : `call ${op.id} completes, actual ${op.actual}`),
    status: () => op.do === "status" && `status of ${op.organization}${isKeyed ? `/${op.user}` : ""}`,
    enforce: () => "enforced" in op && `${op.organization} ${op.scope} enforced = ${op.enforced}`,
    sweep: () => "sweep",
    snapshot: () => "stored and restored",
  }[op.do]();
  return String(text).padEnd(28);
}

/** `acme/ann rest 1`, `acme/ann graphql 3 (call 2)`; of a limiter by key `acme/ann`, `acme/ann, cost 3`. */
function callText(
  { organization, user, scope, cost, id }: CallOp,
  times: number,
  terms: LedgerTerms,
): string {
  const isKeyed = terms.keyed === true;
  const caller = `${organization}/${user}`;
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
    const wait = retryAfterMs === undefined || admitted ? [] : [`retry after ${retryAfterMs / 1000} s`];
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

/** `3 of 5, 2 left, reset 4 s`, as far as it is shown. */
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
