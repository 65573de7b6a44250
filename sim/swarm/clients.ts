// The populations of a drawn world: their calls, behaviours and reactions to refusals. They are bounded, so that a
// world has some hundreds of calls.
import type { Dice } from "./dice.ts";
import type { Feature } from "./features.ts";
import { type MakerName, type PlainObject, type Recipe, recipe } from "./world-recipe.ts";

export interface ClientSetting {
  readonly has: ReadonlySet<Feature>;
  readonly durationMs: number;
  readonly windowMsMost: number;
  /** Smallest limit of points that some call meets. */
  readonly pointsLeast: number;
}

const names = ["first", "second", "third", "fourth"] as const;
/** Number of calls of one client in a run, about. */
const callsMost = 80;
/** Points of a query that is refused before any window is asked (SPEC.md §6). */
const oversized = 50_001;

export function drawPopulations(dice: Dice, setting: ClientSetting): PlainObject {
  const count = dice.between(1, names.length);
  const populations = names.slice(0, count).map((name) => [name, new Population(dice, setting).drawn()]);
  return Object.fromEntries(populations) as PlainObject;
}

class Population {
  readonly #dice: Dice;
  readonly #setting: ClientSetting;
  readonly #has: ReadonlySet<Feature>;

  constructor(dice: Dice, setting: ClientSetting) {
    this.#dice = dice;
    this.#setting = setting;
    this.#has = setting.has;
  }

  drawn(): PlainObject {
    const dice = this.#dice;
    const clients = dice.between(1, 8);
    const opens = this.#has.has("arrivals") && dice.oneIn(2);
    return {
      ...(opens ? { arrivals: this.#arrivals() } : { clients }),
      ...(this.#has.has("several organizations") && dice.oneIn(2) ? { organization: "globex" } : {}),
      ...(this.#has.has("shared users") ? { user: dice.of(["shared", 2, 3, "each"]) } : {}),
      ...(!opens && dice.oneIn(2) ? { startWithin: dice.between(1, 5_000) } : {}),
      ...(this.#has.has("known clients") && dice.oneIn(3) ? this.#known() : this.#client(opens)),
    };
  }

  /** Returns arrivals, about as many as a population has clients, each for a stay of its own. */
  #arrivals(): PlainObject {
    const dice = this.#dice;
    const { durationMs } = this.#setting;
    const rate = dice.between(1, 12);
    const often = { timeUnit: durationMs, preAllocatedVUs: 20 };
    return dice.of<() => PlainObject>([
      () => ({ executor: "constant-arrival-rate", rate, ...often }),
      () => ({ executor: "ramping-arrival-rate", stages: this.#stages(2 * rate), ...often }),
      () => ({ executor: "poisson-arrival-rate", rate, ...often }),
      () => ({
        executor: "business-day",
        rates: Array.from({ length: 24 }, () => dice.between(0, 12)),
        ...often,
      }),
      () => ({ executor: "cron", schedule: "* * * * *", clients: rate, preAllocatedVUs: 20 }),
      () => ({ executor: "ramping-vus", stages: this.#stages(8) }),
    ])();
  }

  #stages(most: number): PlainObject[] {
    const dice = this.#dice;
    const { durationMs } = this.#setting;
    return [1, 2].map(() => ({ target: dice.between(0, most), duration: Math.ceil(durationMs / 2) }));
  }

  #client(isShort: boolean): PlainObject {
    const dice = this.#dice;
    const behaviour = this.#behaviour(isShort);
    const policies = (["waitReset", "retryAfter", "fixed", "exponential"] as const).filter((name) =>
      this.#has.has(name),
    );
    if (policies.length === 0 || dice.oneIn(4) || behaviour.make === "aimd") return { behaviour };
    return { behaviour, onRefused: this.#policy(dice.of(policies)) };
  }

  #policy(name: "waitReset" | "retryAfter" | "fixed" | "exponential"): Recipe {
    const dice = this.#dice;
    const bounds = {
      ...(dice.oneIn(2) ? { attempts: dice.between(2, 6) } : {}),
      ...(this.#has.has("retries without an answer") && dice.oneIn(2) ? { unanswered: true } : {}),
    };
    const jitter = dice.oneIn(2) ? { jitter: { least: 0, most: dice.between(1, 3_000) } } : {};
    const waits = {
      waitReset: () => ({
        of: dice.of(["organization", "both"]),
        ...(dice.oneIn(3) ? { from: "second" } : {}),
        ...(dice.oneIn(2) ? { fallback: dice.between(500, 5_000) } : {}),
        ...jitter,
        ...bounds,
      }),
      retryAfter: () => ({
        ...(dice.oneIn(2) ? { fallback: dice.between(500, 5_000) } : {}),
        ...jitter,
        ...bounds,
      }),
      fixed: () => ({ wait: dice.between(200, 5_000), ...bounds }),
      exponential: () => ({
        first: dice.between(100, 1_000),
        most: dice.between(1_000, 10_000),
        jitter: dice.of(["none", "full", "equal", "half", "decorrelated"]),
        ...bounds,
      }),
    };
    return recipe(name, waits[name]());
  }

  #behaviour(isShort: boolean): Recipe {
    const dice = this.#dice;
    const kinds = (["poller", "burst", "pager", "queue", "paced", "aimd", "looker"] as const).filter(
      (name) => this.#has.has(name) && (name !== "looker" || this.#has.has("rest")),
    );
    const kind = dice.of(["worker", ...kinds]);
    const everyMs = Math.max(40, Math.ceil(this.#setting.durationMs / dice.between(4, callsMost)));
    const jobs = dice.between(1, isShort ? 6 : callsMost);
    const once = isShort || dice.oneIn(4);
    const parts: Readonly<Record<typeof kind, () => PlainObject>> = {
      worker: () => ({
        calls: this.#weighted(),
        think: this.#think(everyMs),
        ...(once ? { jobs } : {}),
      }),
      poller: () => ({ every: everyMs, call: this.#call() }),
      burst: () => ({
        call: this.#call(),
        size: dice.between(2, 12),
        ...(once ? {} : { every: everyMs * 8 }),
      }),
      pager: () => ({
        call: this.#call(),
        pages: dice.between(1, 8),
        parallel: dice.between(1, 4),
        ...(once ? {} : { every: everyMs * 5 }),
        ...(dice.oneIn(2) ? { entries: dice.between(0, 200) } : {}),
      }),
      queue: () => ({
        call: this.#call(),
        jobs,
        workers: dice.between(1, 6),
        ...(once ? {} : { every: everyMs }),
      }),
      paced: () => ({
        calls: this.#weighted(),
        least: everyMs,
        sharedBy: dice.between(1, 4),
        ...(once ? { jobs } : {}),
      }),
      aimd: () => ({ call: this.#call(), start: dice.between(10, 300), most: 600 }),
      looker: () => ({
        calls: [{ call: recipe("rest", "/v2/user") }],
        think: everyMs,
        callsPerLook: dice.between(1, 5),
      }),
    };
    return recipe(kind, parts[kind]());
  }

  #think(ms: number): PlainObject {
    const dice = this.#dice;
    const uniform = { least: Math.ceil(ms / 4), most: ms };
    if (!this.#has.has("skewed times")) return uniform;
    return dice.of<PlainObject>([
      uniform,
      { median: ms, p95: ms * dice.between(2, 5) },
      { quantiles: [Math.ceil(ms / 8), Math.ceil(ms / 2), ms, 3 * ms] },
    ]);
  }

  #weighted(): PlainObject[] {
    return Array.from({ length: this.#dice.between(1, 3) }, () => ({ call: this.#call() }));
  }

  #call(): Recipe {
    const dice = this.#dice;
    if (this.#has.has("status calls") && dice.oneIn(5)) return recipe("status");
    const isRest = this.#has.has("rest") && (!this.#has.has("graphql") || dice.oneIn(2));
    return isRest ? recipe("rest", "/v2/user") : this.#query();
  }

  #query(): Recipe {
    const dice = this.#dice;
    const { pointsLeast } = this.#setting;
    const most = Math.min(pointsLeast, 2_000);
    const usual = dice.of([1, Math.ceil(most / 10), Math.ceil(most / 2), most]);
    const above = this.#has.has("costs above limits") && dice.oneIn(4);
    const huge = this.#has.has("oversized queries") && dice.oneIn(5);
    const cost = huge ? oversized : above ? Math.min(pointsLeast + dice.between(1, 20), 50_000) : usual;
    const actual = this.#has.has("give-backs") ? dice.between(0, cost) : cost;
    return recipe("graphql", "{ viewer { id } }", { cost, ...(actual === cost ? {} : { actual }) });
  }

  /** Returns a known client that calls by a scope of this world. */
  #known(): PlainObject {
    const rest: readonly MakerName[] = [
      "bkBuildWatch",
      "bkPreflight",
      "ciCommentBot",
      "goBuildkiteNext",
      "goBuildkiteV423",
      "herd",
      "mcpBuildWait",
      "autoscalerMetrics",
    ];
    const graphql: readonly MakerName[] = ["agentStackK8s", "dashboardPerViewer", "vscodeExtension"];
    const sized: readonly Recipe[] = [
      recipe("bkJobList", { jobs: this.#dice.between(100, 2_000) }),
      recipe("logFetcher", { logs: this.#dice.between(2, 60) }),
      recipe("terraformApply", { resources: this.#dice.between(2, 60) }),
    ];
    const of = (makers: readonly MakerName[]): Recipe[] => makers.map((name) => recipe(name));
    const known = [
      ...(this.#has.has("rest") ? [...of(rest), ...sized] : []),
      ...(this.#has.has("graphql") ? of(graphql) : []),
    ];
    return { preset: this.#dice.of(known) };
  }
}
