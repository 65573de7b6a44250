// Several behaviours under one name: a token that polls all day, and exports everything at night.
import {
  type Behaviour,
  type ClientEvent,
  type ClientOut,
  inFlightBound,
  type PlannedCall,
  STARTED,
} from "../client.ts";
import { Mistakes } from "../mistakes.ts";

export interface TogetherOptions {
  /**
   * True: one call at a time over all parts. The next call waits until the previous one is answered, with its retries.
   * It also waits for the end of a session that began by `at` or `wakes`. Parts with several calls at once are refused.
   * Default: false.
   */
  readonly inTurn?: boolean;
}

interface Part {
  readonly index: number;
  readonly behaviour: Behaviour;
  /** Number of calls of the parts before this one. */
  readonly offset: number;
  /** Names of the part's numbers, and the names under which they are kept while another part runs. */
  readonly names: readonly (readonly [own: string, kept: string])[];
  /** Name of the number that is 1 while the part still wants events. */
  readonly runs: string;
  /** True if the part comes in sessions. */
  readonly hasSessions: boolean;
  /** Names of the numbers of the part's call that waits for its turn. `due` is -1 if none waits. */
  readonly waiting: { readonly due: string; readonly template: string; readonly page: string };
}

/** Name of the number that says which part's numbers have their own names at present. */
const atHand = "partAtHand";
/** Name of the number that says which part's session goes on, in turn mode; -1 if none does. */
const inSession = "partInSession";
/** Name of the number that sessions by a timetable or an event set when they begin. */
const begun = "sessionDueMs";

/**
 * Lets each client do all behaviours at once, each as if it were alone; or in turn. The client ends when all parts have
 * ended. Parts that send at the same instant send in the order of the list.
 */
export function together(behaviours: readonly Behaviour[], options: TogetherOptions = {}): Behaviour {
  const mistakes = new Mistakes();
  mistakes.options("together", options, ["inTurn"]);
  const { inTurn = false } = options;
  if (typeof inTurn !== "boolean") mistakes.add("together.inTurn", inTurn, "true or false");
  if (!Array.isArray(behaviours) || behaviours.length === 0)
    mistakes.add("together", behaviours, "a list of behaviours, at least one");
  else
    for (const [index, each] of behaviours.entries()) {
      mistakes.behaviour(`together.${index}`, each);
      if (inTurn && each?.inFlightMost > 1)
        mistakes.add(`together.${index}`, each.name, "a behaviour of one call at a time, to be done in turn");
    }
  mistakes.finish("these behaviours cannot be joined");
  const parts = partsOf(behaviours);
  const inFlightMost = behaviours.reduce((sum, each) => sum + each.inFlightMost, 0);
  return {
    name: "together",
    calls: behaviours.flatMap(({ calls }) => calls),
    inFlightMost: inTurn ? 1 : Math.min(inFlightBound, inFlightMost),
    start: (seed, userSeed) => startOf(parts, seed, userSeed),
    next(record, event, out) {
      const first = out.count;
      let running = false;
      for (const part of parts) {
        const isMeant = event.kind === STARTED || isOf(part, event);
        if (isMeant && record[part.runs] === 1) {
          const from = out.count;
          if (record[atHand] !== part.index) exchange(record, parts, part);
          const began = record[begun];
          event.template -= part.offset;
          part.behaviour.next(record, event, out);
          event.template += part.offset;
          for (let place = from; place < out.count; place++)
            (out.calls[place] as { template: number }).template += part.offset;
          if (out.stopped) record[part.runs] = 0;
          out.stopped = false;
          const goesOn = event.kind !== STARTED && part.hasSessions && record[begun] === began && began !== 0;
          record[inSession] = goesOn ? part.index : -1;
        }
        running ||= record[part.runs] === 1;
      }
      if (inTurn) running = takeTurns(record, parts, event.nowMs, out, first);
      if (!running) out.stop();
    },
  };
}

/** Makes the calls from the `from`-th on wait, and sends the next one. Returns false if none waits. */
function takeTurns(
  record: Record<string, number>,
  parts: readonly Part[],
  nowMs: number,
  out: ClientOut,
  from: number,
): boolean {
  for (let place = from; place < out.count; place++) {
    const { atMs, template, page } = out.calls[place] as PlannedCall;
    const { waiting } = parts.findLast(({ offset }) => offset <= template) as Part;
    record[waiting.due] = atMs;
    record[waiting.template] = template;
    record[waiting.page] = page;
  }
  out.count = from;
  let next: Part["waiting"] | null = null;
  for (const { waiting, index } of parts) {
    const dueMs = record[waiting.due] as number;
    if (dueMs < 0) continue;
    const isFirst = next === null || dueMs < (record[next.due] as number);
    if (isFirst || record[inSession] === index) next = waiting;
    if (record[inSession] === index) break;
  }
  if (next === null) return false;
  out.send(record[next.template] as number, Math.max(nowMs, record[next.due] as number), record[next.page]);
  record[next.due] = -1;
  return true;
}

/** Saves the numbers of the part at hand, and puts those of `part` in their place. */
function exchange(record: Record<string, number>, parts: readonly Part[], part: Part): void {
  for (const [own, kept] of (parts[record[atHand] as number] as Part).names)
    record[kept] = record[own] as number;
  for (const [own, kept] of part.names) record[own] = record[kept] as number;
  record[atHand] = part.index;
}

const isOf = ({ behaviour, offset }: Part, { template }: ClientEvent): boolean =>
  template >= offset && template < offset + behaviour.calls.length;

function partsOf(behaviours: readonly Behaviour[]): Part[] {
  let offset = 0;
  return behaviours.map((behaviour, index) => {
    const names = Object.keys(behaviour.start(0, 0)).map((own) => [own, `part${index}.${own}`] as const);
    const own = `part${index}`;
    const waiting = { due: `${own}.due`, template: `${own}.template`, page: `${own}.page` };
    const hasSessions = names.some(([name]) => name === begun);
    const part = { index, behaviour, offset, names, runs: `${own}.runs`, hasSessions, waiting };
    offset += behaviour.calls.length;
    return part;
  });
}

function startOf(parts: readonly Part[], seed: number, userSeed: number): Record<string, number> {
  const record: Record<string, number> = { [atHand]: parts.length - 1, [inSession]: -1 };
  for (const { behaviour, names, runs, waiting } of parts) {
    const own = behaviour.start(seed, userSeed);
    record[runs] = 1;
    record[waiting.due] = -1;
    record[waiting.template] = record[waiting.page] = 0;
    for (const [name, kept] of names) record[name] = record[kept] = own[name] as number;
  }
  return record;
}
