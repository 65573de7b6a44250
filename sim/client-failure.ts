// The error of a client of a scenario that does what cannot be: by name, and at which instant of virtual time.
import { SpillwayError } from "../src/rules/errors.ts";

/** The client, and the instant. */
export interface Culprit {
  /** `population/index`. */
  readonly client: string;
  readonly behaviour: string;
  /** Ms since the epoch. */
  readonly nowMs: number;
}

/** A `SCENARIO_FAILED` that names the client. */
export function clientFailure(
  { client, behaviour, nowMs }: Culprit,
  got: string,
  allowed: string,
  cause?: unknown,
): SpillwayError {
  const when = new Date(nowMs).toISOString();
  return new SpillwayError("SCENARIO_FAILED", `a client of this scenario failed at ${when}`, {
    problems: [{ path: `${client} (${behaviour})`, got, allowed }],
    hint: "look at this population's behaviour and onRefused",
    cause,
  });
}

/** The same for an exception of its own. */
export function clientThrew(culprit: Culprit, cause: unknown): SpillwayError {
  return clientFailure(
    culprit,
    cause instanceof Error ? cause.message : String(cause),
    "no exception",
    cause,
  );
}
