// Callers by name, for deployments that need names: the same organization and user get the same handle.
import type { SimulatedCaller } from "./deployment.ts";

export class NamedCallers {
  readonly #handles = new Map<string, number>();
  readonly #callers: SimulatedCaller[] = [];

  /** Returns a caller's handle, from 0. */
  handleOf(organization: string, user: string): number {
    const name = JSON.stringify([organization, user]);
    const known = this.#handles.get(name);
    if (known !== undefined) return known;
    const handle = this.#callers.push({ organization, user }) - 1;
    this.#handles.set(name, handle);
    return handle;
  }

  of(handle: number): SimulatedCaller {
    return this.#callers[handle] as SimulatedCaller;
  }
}
