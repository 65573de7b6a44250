// What a preset is: a real client's behaviour and what it does when it is refused, to be spread into a
// population: `watchers: { clients: 3, ...bkBuildWatch() }`.
import type { Behaviour, RefusalPolicy } from "../client.ts";

/** A behaviour's own numbers do not matter to who runs it. */
export interface ClientPreset {
  readonly behaviour: Behaviour;
  readonly onRefused: RefusalPolicy;
}
