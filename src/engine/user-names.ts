// From a user's name and organization to the user's handle, without building a key of both. Most names belong
// to one organization: those cost one Map look-up and one comparison. A name that several organizations know
// gets a Map of its own, so that a name which all of them share ("admin") costs one look-up more, not a search.

export class UserNames {
  readonly #byName = new Map<string, number | Map<string, number>>();
  /** The organization's name, by the user's handle. */
  readonly #organizations: string[] = [];

  /** The user's handle, or `undefined`. */
  find(organization: string, user: string): number | undefined {
    const found = this.#byName.get(user);
    if (typeof found !== "number") return found?.get(organization);
    return this.#organizations[found] === organization ? found : undefined;
  }

  /** Adds a user that `find` does not know. */
  add(organization: string, user: string, handle: number): void {
    const found = this.#byName.get(user);
    this.#organizations[handle] = organization;
    if (found === undefined) this.#byName.set(user, handle);
    else if (typeof found !== "number") found.set(organization, handle);
    else {
      const other = this.#organizations[found] ?? "";
      this.#byName.set(
        user,
        new Map([
          [other, found],
          [organization, handle],
        ]),
      );
    }
  }

  delete(organization: string, user: string): void {
    const found = this.#byName.get(user);
    if (typeof found === "object") found.delete(organization);
    if (typeof found === "number" || found?.size === 0) this.#byName.delete(user);
  }

  /** Every user: organization, name, handle. */
  *[Symbol.iterator](): Generator<readonly [organization: string, user: string, handle: number]> {
    for (const [user, found] of this.#byName)
      if (typeof found === "number") yield [this.#organizations[found] ?? "", user, found];
      else for (const [organization, handle] of found) yield [organization, user, handle];
  }
}
