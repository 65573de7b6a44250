// A map from the values of some attributes to a number, without building a key of them.

type Values = Readonly<Record<string, string>>;
type Branch = Map<string, Branch | number>;

export class ValueTree {
  /** Attributes, in the order in which the tree branches. */
  readonly attributes: readonly string[];
  #root: Branch | number | undefined;

  constructor(attributes: readonly string[]) {
    this.attributes = attributes;
  }

  /** Returns the number of these values, or `undefined`. */
  find(values: Values): number | undefined {
    let at = this.#root;
    for (const attribute of this.attributes) {
      if (typeof at !== "object") return undefined;
      at = at.get(values[attribute] as string);
    }
    return at as number | undefined;
  }

  /** Returns the number of two values, or `undefined`. */
  findPair(first: string, second: string): number | undefined {
    const branch = (this.#root as Branch | undefined)?.get(first) as Branch | undefined;
    return branch?.get(second) as number | undefined;
  }

  set(values: Values, number: number): void {
    const last = this.attributes.at(-1);
    if (last === undefined) {
      this.#root = number;
      return;
    }
    this.#root ??= new Map();
    let at = this.#root as Branch;
    for (const attribute of this.attributes.slice(0, -1)) {
      const value = values[attribute] as string;
      let next = at.get(value);
      if (next === undefined) {
        next = new Map();
        at.set(value, next);
      }
      at = next as Branch;
    }
    at.set(values[last] as string, number);
  }

  delete(values: Values): void {
    const path: Branch[] = [];
    let at = this.#root;
    for (const attribute of this.attributes) {
      path.push(at as Branch);
      at = (at as Branch | undefined)?.get(values[attribute] as string);
    }
    for (const [depth, branch] of [...path.entries()].reverse()) {
      branch?.delete(values[this.attributes[depth] as string] as string);
      if (branch !== undefined && branch.size > 0) return;
    }
    this.#root = undefined;
  }

  /** Yields every number with its values. */
  *[Symbol.iterator](): Generator<readonly [values: Record<string, string>, number: number]> {
    if (this.#root !== undefined) yield* this.#below(this.#root, 0, {});
  }

  *#below(
    at: Branch | number,
    depth: number,
    values: Record<string, string>,
  ): Generator<readonly [values: Record<string, string>, number: number]> {
    if (typeof at === "number") {
      yield [values, at];
      return;
    }
    const attribute = this.attributes[depth] as string;
    for (const [value, next] of at) yield* this.#below(next, depth + 1, { ...values, [attribute]: value });
  }
}
