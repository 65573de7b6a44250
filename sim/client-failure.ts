// The error for a scenario's client that does something impossible: it names the client and the virtual time.
import { SpillwayError } from "../src/rules/errors.ts";

/** Client that failed, and the time. */
export interface Culprit {
  /** Client's name, `population/index`. */
  readonly client: string;
  readonly behaviour: string;
  /** Virtual time of the failure, ms since the epoch. */
  readonly nowMs: number;
}

/** Returns a `SCENARIO_FAILED` that names the client. */
export function clientFailure(
  { client, behaviour, nowMs }: Culprit,
  got: string,
  allowed: string,
  cause?: unknown,
): SpillwayError {
  const when = new Date(nowMs).toISOString();
  return new SpillwayError("SCENARIO_FAILED", `a client of this scenario failed at ${when}`, {
    problem: { path: `${client} (${behaviour})`, got, allowed },
    hint: "look at this population's behaviour and onRefused",
    cause,
  });
}

/** Returns a `SCENARIO_FAILED` for an exception that the client's code threw. */
export function clientThrew(culprit: Culprit, cause: unknown): SpillwayError {
  return clientFailure(
    culprit,
    cause instanceof Error ? cause.message : String(cause),
    "no exception",
    cause,
  );
}
