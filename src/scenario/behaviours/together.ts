// Several behaviours under one name: a token that polls all day, and exports everything at night.
import { type Behaviour, type ClientEvent, inFlightBound, STARTED } from "../client.ts";
import { Mistakes } from "../mistakes.ts";

interface Part {
  readonly index: number;
  readonly behaviour: Behaviour;
  /** The number of calls of the parts before it. */
  readonly offset: number;
  /** Names of its numbers, and the names under which they are kept while another part runs. */
  readonly names: readonly (readonly [own: string, kept: string])[];
  /** The number that is 1 while it wants to be told more. */
  readonly runs: string;
}

/** The number of the part whose numbers have their own names. */
const atHand = "partAtHand";

/**
 * Each client does all of it at once, every part as if it were alone. It is over when all parts are. Parts that send at
 * the same instant send in the order of the list.
 */
export function together(behaviours: readonly Behaviour[]): Behaviour {
  const mistakes = new Mistakes();
  if (!Array.isArray(behaviours) || behaviours.length === 0)
    mistakes.add("together", behaviours, "a list of behaviours, at least one");
  else for (const [index, each] of behaviours.entries()) mistakes.behaviour(`together.${index}`, each);
  mistakes.finish("these behaviours cannot be joined");
  const parts = partsOf(behaviours);
  const inFlightMost = behaviours.reduce((sum, each) => sum + each.inFlightMost, 0);
  return {
    name: "together",
    calls: behaviours.flatMap(({ calls }) => calls),
    inFlightMost: Math.min(inFlightBound, inFlightMost),
    start: (seed) => startOf(parts, seed),
    next(record, event, out) {
      let running = false;
      for (const part of parts) {
        const isMeant = event.kind === STARTED || isOf(part, event);
        if (isMeant && record[part.runs] === 1) {
          const from = out.count;
          if (record[atHand] !== part.index) exchange(record, parts, part);
          event.template -= part.offset;
          part.behaviour.next(record, event, out);
          event.template += part.offset;
          for (let place = from; place < out.count; place++)
            (out.calls[place] as { template: number }).template += part.offset;
          if (out.stopped) record[part.runs] = 0;
          out.stopped = false;
        }
        running ||= record[part.runs] === 1;
      }
      if (!running) out.stop();
    },
  };
}

/** Puts a part's numbers in the place of those that are there. */
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
    const names = Object.keys(behaviour.start(0)).map((own) => [own, `part${index}.${own}`] as const);
    const part = { index, behaviour, offset, names, runs: `part${index}.runs` };
    offset += behaviour.calls.length;
    return part;
  });
}

function startOf(parts: readonly Part[], seed: number): Record<string, number> {
  const record: Record<string, number> = { [atHand]: parts.length - 1 };
  for (const { behaviour, names, runs } of parts) {
    const own = behaviour.start(seed);
    record[runs] = 1;
    for (const [name, kept] of names) record[name] = record[kept] = own[name] as number;
  }
  return record;
}
