// The worlds' own simulator: members are generators that say when they call, and one loop answers them by fixed
// windows. It shares no code with `sim`, so that it can test the models of `sim`.
import { type Chance, chanceOf } from "./chance.ts";

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
/** Monday, 5 January 2026, UTC. */
export const mondayMs = Date.UTC(2026, 0, 5);

export interface Answer {
  readonly status: number;
  readonly receivedMs: number;
  /** End of the window that refused, ms since the epoch. */
  readonly resetMs: number;
}

/** Points of a GraphQL query: asked for, and charged in the end, at most as many. */
export interface Points {
  readonly asked: number;
  readonly actual: number;
}

interface Call {
  readonly atMs: number;
  /** Of a query; else it is a call of REST. */
  readonly points?: Points | undefined;
}

/** A member. Yields its next call, and receives the answer; or yields lanes, and receives their last answer. */
export type Actor = Generator<Call | readonly Actor[], unknown, Answer>;
/** Steps of an actor. They return the time of their end. */
export type Steps = Generator<Call | readonly Actor[], number, Answer>;

/** Runs lanes of the same user in parallel; returns the time when all have ended. */
export function* atOnce(lanes: readonly Actor[]): Steps {
  return (yield lanes).receivedMs;
}

/**
 * Returns the time at which a refused call is sent again; `Infinity` if it is given up.
 * @param number number of the member whose call it is
 */
export type Patience = (answer: Answer, attempt: number, chance: Chance, number: number) => number;

/** Surroundings of a world's member. */
export interface Part {
  /** Number of the member; agents that were added have the number of the agent whose traits they share. */
  readonly number: number;
  /** Draws what is the same every day. */
  readonly traits: Chance;
  readonly chance: Chance;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Draws what all members share on a day, counted from the first Monday. */
  readonly day: (day: number) => Chance;
  /**
   * Sends a call repeatedly until it is admitted or given up; returns that time.
   * @param paced returns the earliest time at which a refused call may be sent again, for a member with a pace of its own
   * @param points of a query; by default it is a call of REST
   */
  readonly ask: (atMs: number, paced?: ((refused: Answer) => number) | null, points?: Points) => Steps;
}

export interface World {
  readonly name: string;
  readonly description: string;
  /** True if `fit` was changed with this world in view. */
  readonly tuned: boolean;
  /** Calls a minute of the organization and of a user; those of most worlds where not given. */
  readonly limits?: Limits;
  /** Largest accepted share of refused calls on the median day; 2 % where not given. */
  readonly goal?: number;
  readonly agents: number;
  readonly agent: (part: Part) => Actor;
  /** Members, by user, whose number stays the same when agents are added. */
  readonly others?: Readonly<Record<string, (part: Part) => Actor>>;
  readonly patience: Patience;
  /** Returns a function that tells which admitted calls fail. */
  readonly failing?: (part: Pick<Part, "chance" | "day">) => (atMs: number) => Failure | null;
}

/** Answer to a failed call, and the delay before it, ms. */
export interface Failure {
  readonly status: number;
  readonly afterMs: number;
}

export interface Row {
  readonly atMs: number;
  readonly durationMs: number;
  readonly user: string;
  readonly status: number;
  /** Of a query. */
  readonly points?: Points | undefined;
}

export interface Played {
  /** Rows in the order in which calls were sent. */
  readonly rows: readonly Row[];
  /** Time of each call from its first sending to its admission, ms. */
  readonly waitsMs: readonly number[];
}

export interface Play {
  readonly firstDay: number;
  readonly days: number;
  readonly agents?: number;
  readonly seed: number;
  readonly patience?: Patience;
}

export interface Limits {
  readonly organization: number;
  readonly user: number;
}

const usualLimits: Limits = { organization: 100, user: 50 };
export const limitsOf = ({ limits }: Pick<World, "limits">): Limits => limits ?? usualLimits;
/** Limits of points, those of the specification. */
export const pointLimits: Limits = { organization: 20_000, user: 5_000 };
export const pointsMs = 5 * minuteMs;
const attempts = 8;
/** Seed of what stays the same in all plays of a world. */
const traitSeed = 20_260_105;

/** Plays a number of days of a world. */
export function play(world: World, options: Play): Played {
  const fromMs = mondayMs + options.firstDay * dayMs;
  const untilMs = fromMs + options.days * dayMs;
  const day = (number: number): Chance => chanceOf(options.seed, 7, number);
  const patience = options.patience ?? world.patience;
  const waitsMs: number[] = [];
  const failures = chanceOf(options.seed, 5, options.firstDay);
  const partOf = (kind: number, place: number, number: number): Part => {
    const traits = chanceOf(traitSeed, kind, number);
    const chance = chanceOf(options.seed, kind, place, options.firstDay);
    const ask: Part["ask"] = function* (atMs, paced, points) {
      let sentMs = atMs;
      for (let attempt = 1; ; attempt++) {
        const answer = yield { atMs: sentMs, points };
        if (answer.status === 200) waitsMs.push(sentMs - atMs);
        if (answer.status === 200 || attempt === attempts) return answer.receivedMs;
        sentMs =
          answer.status === 429
            ? Math.max(patience(answer, attempt, chance, number), paced?.(answer) ?? 0)
            : answer.receivedMs + chance.between(5, 50);
        if (sentMs === Infinity) return answer.receivedMs;
      }
    };
    return { number, traits, chance, fromMs, untilMs, day, ask };
  };
  const members = Object.entries(world.others ?? {}).map(([user, actor], number) => ({
    user,
    actor: actor(partOf(2, number, number)),
  }));
  for (const [place, number] of cast(world.agents, options.agents ?? world.agents, options.seed).entries())
    members.push({
      user: `agent-${place}`,
      actor: world.agent(partOf(1, place, number)),
    });
  const rows = answered(
    members,
    limitsOf(world),
    untilMs,
    failures,
    world.failing?.({ chance: failures, day }),
  );
  return { rows, waitsMs };
}

/** Returns the agents that play, by number: a random part; or all, and a random one for each addition. */
function cast(known: number, wanted: number, seed: number): number[] {
  const chance = chanceOf(seed, 4);
  const numbers = Array.from({ length: known }, (_, number) => number);
  if (wanted < known) {
    const keyed = numbers.map((number) => ({ number, key: chance.next() }));
    return keyed
      .sort((a, b) => a.key - b.key)
      .slice(0, wanted)
      .map(({ number }) => number);
  }
  return [...numbers, ...Array.from({ length: wanted - known }, () => Math.floor(chance.next() * known))];
}

interface Running {
  readonly user: string;
  readonly actor: Actor;
  /** Takes the last answer of a lane. */
  readonly over?: (answer: Answer) => void;
}

interface Due extends Call {
  readonly running: Running;
}

/** A window of fixed length, on the grid: counts of the organization and of each user. */
class Window {
  readonly #lengthMs: number;
  readonly #limits: Limits;
  #number = -1;
  #organization = 0;
  #users = new Map<string, number>();

  constructor(lengthMs: number, limits: Limits) {
    this.#lengthMs = lengthMs;
    this.#limits = limits;
  }

  endMs(atMs: number): number {
    return (Math.floor(atMs / this.#lengthMs) + 1) * this.#lengthMs;
  }

  admits(atMs: number, user: string, cost: number): boolean {
    this.#moveTo(atMs);
    const used = this.#users.get(user) ?? 0;
    const { organization, user: own } = this.#limits;
    if (this.#organization + cost > organization || used + cost > own) return false;
    this.add(user, cost);
    return true;
  }

  /** Gives units back if the window of their admission is still open. */
  giveBack(admittedMs: number, atMs: number, user: string, units: number): void {
    this.#moveTo(atMs);
    if (this.endMs(admittedMs) === this.endMs(atMs)) this.add(user, -units);
  }

  add(user: string, units: number): void {
    this.#organization += units;
    this.#users.set(user, (this.#users.get(user) ?? 0) + units);
  }

  #moveTo(atMs: number): void {
    const number = Math.floor(atMs / this.#lengthMs);
    if (number === this.#number) return;
    this.#number = number;
    this.#organization = 0;
    this.#users = new Map();
  }
}

/** Answers all members until the end, each call by the windows of its user and of the organization. */
function answered(
  members: readonly { user: string; actor: Actor }[],
  limits: Limits,
  untilMs: number,
  chance: Chance,
  failing: ((atMs: number) => Failure | null) | undefined,
): Row[] {
  const rows: Row[] = [];
  const due = new Heap();
  const requests = new Window(minuteMs, limits);
  const queries = new Window(pointsMs, pointLimits);
  /** Queries that have not ended, whose unused points come back then. */
  let open: { row: Row; endMs: number; unused: number }[] = [];
  // No member calls before the previous answer came.
  const goOn = (running: Running, { done, value }: ReturnType<Actor["next"]>, answer: Answer): void => {
    if (done === true) running.over?.(answer);
    else if ("atMs" in value) {
      const atMs = Math.max(answer.receivedMs, value.atMs);
      if (atMs < untilMs) due.push({ atMs, points: value.points, running });
    } else {
      let [lanes, last] = [value.length, answer];
      const over = (ended: Answer): void => {
        lanes -= 1;
        if (ended.receivedMs > last.receivedMs) last = ended;
        if (lanes === 0) goOn(running, running.actor.next(last), last);
      };
      for (const actor of value) goOn({ user: running.user, actor, over }, actor.next(), answer);
    }
  };
  const start: Answer = { status: 200, receivedMs: 0, resetMs: 0 };
  for (const member of members) goOn(member, member.actor.next(), start);
  for (let next = due.pop(); next !== undefined; next = due.pop()) {
    const { atMs, points, running } = next;
    const { user, actor } = running;
    const ended = open.filter(({ endMs }) => endMs <= atMs);
    for (const { row, endMs, unused } of ended.sort((a, b) => a.endMs - b.endMs))
      queries.giveBack(row.atMs, endMs, row.user, unused);
    if (ended.length > 0) open = open.filter(({ endMs }) => endMs > atMs);
    const window = points === undefined ? requests : queries;
    const admitted = window.admits(atMs, user, points?.asked ?? 1);
    const failed = admitted ? (failing?.(atMs) ?? null) : null;
    const durationMs = failed?.afterMs ?? (admitted ? chance.lognormal(80, 0.5) : chance.between(3, 8));
    const status = failed?.status ?? (admitted ? 200 : 429);
    const row = { atMs, durationMs, user, status, points };
    rows.push(row);
    const receivedMs = atMs + durationMs;
    if (admitted && points !== undefined)
      open.push({ row, endMs: receivedMs, unused: points.asked - points.actual });
    const answer = { status, receivedMs, resetMs: window.endMs(atMs) };
    goOn(running, actor.next(answer), answer);
  }
  return rows;
}

/** Queue of due events, the earliest first. */
class Heap {
  readonly #items: Due[] = [];

  push(item: Due): void {
    const items = this.#items;
    let place = items.length;
    for (let above = (place - 1) >> 1; place > 0; above = (place - 1) >> 1) {
      const parent = items[above] as Due;
      if (parent.atMs <= item.atMs) break;
      items[place] = parent;
      place = above;
    }
    items[place] = item;
  }

  pop(): Due | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= items.length) break;
      if (below + 1 < items.length && (items[below + 1] as Due).atMs < (items[below] as Due).atMs) below += 1;
      const child = items[below] as Due;
      if (last.atMs <= child.atMs) break;
      items[place] = child;
      place = below;
    }
    items[place] = last;
    return first;
  }
}
