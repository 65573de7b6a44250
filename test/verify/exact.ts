// The slow checker: does any order of decisions explain every answer of a small trace? It tries them all, under a
// model of the rules that is its own (exact-model.ts), and knows nothing of places, bounds or naming.
//
// It tries the following. The target's clock is ahead of the clients' by a constant `offset`. Each decision, completion and
// reading is an event at one true instant, from just before sending to just after the answer, as the clocks of
// FORMAT.md allow. Events of one scope change its windows one after the other.
//
// Finitely many instants suffice. The model looks at an instant only through the cell between two edges
// (`ScopeModel.edges`) that it lies in. Given the order and the cells, an earlier instant in the same cell leaves
// every later event no less choice: so each event takes the earliest instant of its cell that is left. Given the
// order and the cells, what remains are inequalities between instants, `offset`, the calls' ends and the edges; those
// that bind `offset` say that it is above or below an edge minus a call's end. So the offsets that solve them form
// an interval between two such differences, and one of the differences themselves, or of the points halfway between
// neighbours, lies in it. Edges repeat every second, windows of the epoch with the least common multiple of their
// lengths; the time of day that a status body shows leaves a few seconds only.
import { organizationLimit, type Rules, scopes } from "../../src/rules/rules.ts";
import type { TraceLine } from "../../src/trace/read.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";
import { Group, isUnknown, NotKnown, part, spanOf } from "./exact-search.ts";

const second = 1000;

/**
 * Tells whether an order of all decisions, completions and readings explains every answer of a trace.
 * @throws NotKnown where the trace has what this checker does not know
 */
export function hasOrder(header: TraceHeader, lines: readonly TraceLine[]): boolean {
  const rules = requireDomain(header, lines);
  if (!lines.every(({ call }) => hasHeaders(call))) return false;
  const organizations = [...new Set(lines.map(({ call }) => call.org))];
  const groups = organizations.flatMap((org) =>
    scopes.map((scope) => new Group(header, rules, org, scope, lines)),
  );
  const orders = groups.filter((group) => group.events.length > 0);
  if (orders.length === 0) return true;
  // Scopes and organizations share nothing but the clock (SPEC.md §7, `isolated`).
  return offsets(header, lines, orders).some((offset) => orders.every((group) => group.hasOrder(offset)));
}

/** The rules of a trace that this checker knows all about. */
function requireDomain(header: TraceHeader, lines: readonly TraceLine[]): Rules {
  const { rules, complete, lost, clock, startedAt } = header;
  const refuse = (what: string): never => {
    throw new NotKnown(what);
  };
  if (rules === null) return refuse("traces without rules");
  if (!complete) refuse("traces that are not complete");
  if (typeof lost === "number" && lost > 0) refuse("lost calls of any quota");
  for (const { call } of lines) {
    for (const scope of call.kind === "status" ? scopes : []) {
      const shown = part(call, scope)["enforced"];
      if (shown !== undefined && shown !== organizationLimit(rules, call.org, scope).enforced)
        refuse("limits that are switched");
    }
    if (call.user === null) refuse("calls without a user");
    if (call.kind === "call" && call.cost === null) refuse("calls of unknown cost");
    if (call.sent - clock.errorMs < startedAt + clock.resolutionMs + clock.errorMs)
      refuse("calls that were under way when the trace began");
    const known = call.scope === "rest" ? [200, 404, 405, 429] : [200, 429];
    const unknown = call.status === 0 || (call.status >= 500 && call.limit === null);
    if (call.kind === "call" && !unknown && !known.includes(call.status)) refuse(`status ${call.status}`);
  }
  return rules;
}

/** §5: each header's scope name, where headers are owed. */
function hasHeaders(call: TraceCall): boolean {
  if (isUnknown(call)) return true;
  return call.scopeName === call.scope && call.userScopeName === `${call.scope}_user`;
}

/** The offsets of the target's clock that have to be tried (see above). */
function offsets(
  header: TraceHeader,
  lines: readonly TraceLine[],
  groups: readonly Group[],
): readonly number[] {
  const beside = new Set<number>();
  for (const group of groups)
    for (const end of [...group.ends, group.beganBy])
      for (const edge of group.model.edges) beside.add((((edge - end) % second) + second) % second);
  const sorted = [...beside].sort((a, b) => a - b);
  const halves = sorted.map((each, index) => (each + (sorted[index + 1] ?? second + (sorted[0] ?? 0))) / 2);
  const { from, to } = wholeSeconds(header, lines, groups);
  const found: number[] = [];
  for (let base = from; base <= to; base += second)
    for (const each of [...sorted, ...halves]) found.push(base + each);
  return found;
}

/** The whole seconds that the target's clock may be ahead, as multiples of a second. */
function wholeSeconds(
  { clock }: TraceHeader,
  lines: readonly TraceLine[],
  groups: readonly Group[],
): { from: number; to: number } {
  for (const { call } of lines) {
    const { reset, reset_at: at } = part(call, call.scope);
    const resetAt = typeof at === "string" ? Date.parse(at) : Number.NaN;
    if (call.kind !== "status" || typeof reset !== "number" || Number.isNaN(resetAt)) continue;
    const span = spanOf(call, clock);
    const floor = (ms: number): number => Math.floor(ms / second) * second;
    // Seconds are rounded by less than one, and those beside these are tried, too.
    return {
      from: floor(resetAt - (reset + 2) * second - span.to),
      to: floor(resetAt - (reset - 2) * second - span.from),
    };
  }
  const lengths = groups
    .filter(({ model }) => model.semantics.anchor === "epoch")
    .flatMap(({ events, model }) =>
      events.flatMap(({ keys }) => keys.map((key) => model.lengthMs(key) / second)),
    );
  return { from: 0, to: (lengths.reduce(leastCommonMultiple, 1) - 1) * second };
}

function leastCommonMultiple(a: number, b: number): number {
  const divisor = (x: number, y: number): number => (y === 0 ? x : divisor(y, x % y));
  return (a / divisor(a, b)) * b;
}
