// Somebody else's limiter in virtual time, however long it takes: time stands still until it has settled. Calls are
// asked one after the other, in the order of their arrival, so that a run is repeatable.
import type { LimiterAdapter, LimiterFactory } from "../../src/engine/adapter.ts";
import { madeLimiter } from "../../src/engine/asking.ts";
import { gotAt, LimiterFailure, type PlaceOf, placeOfThrow } from "../../src/engine/limiter-failure.ts";
import { quote, SpillwayError } from "../../src/rules/errors.ts";
import type { Rules } from "../../src/rules/rules.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";
import { FlightTable } from "../flight-table.ts";
import { ObjectDeployment } from "../object-deployment.ts";
import { headerOf, recordOf, runOf, type SimulateOptions, type World, worldOf } from "../simulate.ts";
import { AWAITING } from "../simulator.ts";
import { undecidedAnswer } from "../undecided-answer.ts";
import { AdapterDeployment } from "./adapter-deployment.ts";
import type { LimiterClock } from "./asker.ts";

export interface SimulateLimiterOptions extends Omit<SimulateOptions, "fault" | "limiter"> {
  /**
   * Clock of the process, for limiters that read it (`Date.now`) or keep timers. A limiter that is told the time, by
   * `decide`'s `nowMs` or by `setNow`, needs none.
   */
  readonly clock?: LimiterClock | undefined;
  /** Finds the limiter's own code in a stack. Default: the innermost file outside of packages. */
  readonly placeOf?: PlaceOf | undefined;
}

/** A simulated run of a limiter that may be asynchronous. */
export interface LimiterSimulation {
  /** Header. Its `rules` are the scenario's as far as the limiter follows them. */
  readonly header: TraceHeader;
  /** Calls, as `Simulation.calls`. Each reading makes a new limiter, and closes it at the end. */
  readonly calls: AsyncIterable<TraceCall>;
}

/**
 * Simulates a scenario against a limiter: the adapter that the laws check (`checkLaws`). The scenario's clients ask it
 * over its network. Calls of a scope that it does not know are admitted uncounted.
 *
 * A value that is not shown is `null` in the trace. Judge only what the limiter claims (`claimedVerdict`). A promise
 * that never settles blocks the run unless the factory rejects it (`patient` of the laws), since there is no clock
 * here.
 * @throws SpillwayError as `simulate` does. Reading `calls` throws `ADAPTER_FAILED`, naming call, client and virtual
 *   time, if the limiter throws, rejects, or answers in a wrong form
 *
 * @example const { header, calls } = simulateLimiter(scenario, factory, { seed: 7 }); for await (const call of calls)
 *   summarizer.add(call);
 */
export function simulateLimiter(
  scenario: Scenario,
  factory: LimiterFactory,
  { clock, placeOf, ...options }: SimulateLimiterOptions = {},
): LimiterSimulation {
  const world = worldOf(scenario, { ...options, limiter: factory });
  return {
    header: headerOf(world),
    calls: { [Symbol.asyncIterator]: () => callsOf(world, factory, { clock, placeOf }) },
  };
}

type Means = Pick<SimulateLimiterOptions, "clock" | "placeOf">;

async function* callsOf(
  world: World,
  factory: LimiterFactory,
  means: Means,
): AsyncGenerator<TraceCall, void> {
  const { rules, scenario } = world;
  const { clock } = means;
  const limiter = await made(factory, rules, scenario.startAtMs, means);
  try {
    const flights = new FlightTable();
    const deployment = new ObjectDeployment(new AdapterDeployment(factory, limiter, rules, clock), flights);
    const { simulator, view } = runOf(world, flights, deployment);
    const asked = (): string => {
      view.show(deployment.asked);
      return `${view.client} at ${new Date(simulator.nowMs).toISOString()}`;
    };
    for (;;) {
      let flight: number;
      try {
        flight = simulator.next();
        if (flight === AWAITING) {
          await deployment.settled();
          continue;
        }
      } catch (error) {
        throw coded(error, factory, asked, means);
      }
      if (flight < 0) return;
      view.show(flight);
      yield recordOf(view, deployment, undecidedAnswer);
    }
  } finally {
    await during(clock, () => limiter.close?.());
    clock?.clear?.();
  }
}

const during = <T>(clock: LimiterClock | undefined, run: () => T): T =>
  clock === undefined ? run() : clock.during(run);

async function made(
  factory: LimiterFactory,
  rules: Rules,
  nowMs: number,
  means: Means,
): Promise<LimiterAdapter> {
  const { clock } = means;
  try {
    await clock?.set(nowMs);
    // The limiter gets a copy, so that its changes do not reach the trace.
    const own = structuredClone(rules);
    return await madeLimiter(factory, "rules", rules, nowMs, () => during(clock, () => factory.create(own)));
  } catch (error) {
    throw coded(error, factory, () => "before the first call", means);
  }
}

/** @param asked returns whose call it was, and when */
function coded(error: unknown, { name }: LimiterFactory, asked: () => string, { placeOf }: Means): unknown {
  if (!(error instanceof LimiterFailure)) return error;
  const { call, allowed, cause } = error;
  const got = gotAt(error.got, placeOfThrow(error, placeOf));
  return new SpillwayError("ADAPTER_FAILED", `the limiter ${quote(name)} failed`, {
    problem: { path: `${asked()}: ${call}`, got, allowed },
    hint: "the run is the same again: the same command meets the same call",
    cause,
  });
}
