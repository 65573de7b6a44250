// Callers by their names, for deployments that go by names: the same one for the same organization and user.
import type { SimulatedCaller } from "./deployment.ts";

export class NamedCallers {
  readonly #callers = new Map<string, SimulatedCaller>();

  of(organization: string, user: string): SimulatedCaller {
    const name = JSON.stringify([organization, user]);
    let caller = this.#callers.get(name);
    if (caller === undefined) {
      caller = { organization, user, handle: this.#callers.size };
      this.#callers.set(name, caller);
    }
    return caller;
  }
}
