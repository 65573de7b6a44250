// Refusals where the limits had room. Many of them show that a fit was given other limits than the calls met.
import { shortName } from "../../src/rules/printable.ts";
import { count, counted } from "../../src/rules/words.ts";
import { isRefused } from "./jobs.ts";
import type { FittedWindow, Limits } from "./limits.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { RecordedCaller, Recording } from "./recording.ts";
import { flatOf, sumOf } from "./statistics.ts";

/** Number of parts of a window that are counted apart. */
const parts = 12;
/** Least number of refusals that tell. */
const refusalsLeast = 10;

/** What was admitted of one operation to an organization, or to a user, by parts of a window. */
class Admitted {
  readonly limit: number;
  readonly seconds: number;
  /** The most that was admitted from one multiple of the window's length to the next. */
  readonly most: number;
  readonly #onGrid: boolean;
  readonly #fromMs: number;
  /** Sums up to each part. */
  readonly #sums: Float64Array;

  constructor(
    callers: readonly RecordedCaller[],
    isCounted: (call: RecordedCall) => boolean,
    { limit, windowSeconds, onGrid }: FittedWindow,
    { startedAtMs, endedAtMs }: Recording,
  ) {
    [this.limit, this.seconds, this.#onGrid] = [limit, windowSeconds, onGrid];
    this.#fromMs = Math.floor(startedAtMs / (1000 * windowSeconds)) * 1000 * windowSeconds;
    const sums = new Float64Array(this.#part(endedAtMs) + 2);
    for (const { calls } of callers)
      for (const call of calls)
        if (!isRefused(call) && isCounted(call))
          add(sums, this.#part(call.atMs) + 1, Math.max(call.kind.cost, call.kind.actual));
    for (let part = 1; part < sums.length; part++) add(sums, part, sums[part - 1] as number);
    this.#sums = sums;
    this.most = this.#mostOf();
  }

  #part(ms: number): number {
    return Math.floor(((ms - this.#fromMs) * parts) / (1000 * this.seconds));
  }

  #between(from: number, to: number): number {
    const { length } = this.#sums;
    return (this.#sums[Math.min(to, length - 1)] as number) - (this.#sums[Math.max(0, from)] as number);
  }

  /** Tells whether a refused call's window had room, whatever counted in it, and with clocks a part of it apart. */
  hadRoom({ atMs, endMs, kind }: RecordedCall): boolean {
    const part = this.#part(atMs);
    const from = this.#onGrid ? part - (part % parts) : part - parts;
    return this.#between(from - 1, this.#part(endMs) + 2) + kind.cost <= this.limit;
  }

  #mostOf(): number {
    let most = 0;
    for (let part = 0; part < this.#sums.length; part += parts)
      most = Math.max(most, this.#between(part, part + parts));
    return most;
  }
}

function add(sums: Float64Array, place: number, value: number): void {
  sums[place] = (sums[place] as number) + value;
}

/** Refusals of one organization's calls of one operation. */
interface Refusals {
  readonly organization: string;
  readonly refused: number;
  /** Number of refusals where the limits had room. */
  readonly withRoom: number;
  /** The most that was admitted to the organization in one of its windows, and to a user. */
  readonly most: readonly [ofAll: Admitted, ofUser: Admitted];
}

/** Says that most refusals of an operation came where neither the organization's nor the user's window could be full. */
export function roomDoubts(recording: Recording, limits: Limits): string[] {
  const organizations = groupedBy(recording.callers, "organization");
  return limits.operations.flatMap((operation) => {
    const found = organizations.flatMap((callers) => refusalsOf(callers, operation, recording, limits) ?? []);
    const sum = (name: "refused" | "withRoom"): number => sumOf(found.map((each) => each[name]));
    const [refused, withRoom] = [sum("refused"), sum("withRoom")];
    const [first] = found.toSorted((a, b) => b.withRoom - a.withRoom);
    if (first === undefined || refused < refusalsLeast || withRoom <= refused / 2) return [];
    const [all, user] = first.most.map(({ most, seconds }) => `${count(most)} in ${seconds} s`);
    return [
      `${count(withRoom)} of ${counted(refused, "refusal")} came where the limits have room: the calls met other limits, or some are missing here. ${shortName(first.organization)} had at most ${all} admitted, and one user at most ${user}.`,
    ];
  });
}

/** Counts the refusals of one organization's callers; returns `null` if there are none. */
function refusalsOf(
  callers: readonly RecordedCaller[],
  operation: string,
  recording: Recording,
  limits: Limits,
): Refusals | null {
  const organization = (callers[0] as RecordedCaller).organization;
  const windows = limits.windowsOf({ organization, user: "" }, operation);
  if (windows === null) return null;
  const isCounted = ({ kind }: RecordedCall): boolean => kind.operation === operation && !kind.free;
  const refusedOf = (some: readonly RecordedCaller[]): readonly RecordedCall[] =>
    flatOf(some.map(({ calls }) => calls.filter((call) => isRefused(call) && isCounted(call))));
  const refused = refusedOf(callers).length;
  if (refused === 0) return null;
  const all = new Admitted(callers, isCounted, windows[0], recording);
  const users = groupedBy(callers, "user").map((own) => {
    const { user } = own[0] as RecordedCaller;
    const [, window] = limits.windowsOf({ organization, user }, operation) ?? windows;
    const admitted = new Admitted(own, isCounted, window, recording);
    const withRoom = refusedOf(own).filter((call) => all.hadRoom(call) && admitted.hadRoom(call));
    return { admitted, withRoom: withRoom.length };
  });
  const [busiest] = users.map(({ admitted }) => admitted).toSorted((a, b) => b.most - a.most);
  return {
    ...{ organization, refused },
    withRoom: sumOf(users.map(({ withRoom }) => withRoom)),
    most: [all, busiest as Admitted],
  };
}

function groupedBy(callers: readonly RecordedCaller[], name: "organization" | "user"): RecordedCaller[][] {
  const groups = new Map<string, RecordedCaller[]>();
  for (const caller of callers) {
    const group = groups.get(caller[name]) ?? [];
    groups.set(caller[name], group);
    group.push(caller);
  }
  return [...groups.values()];
}
