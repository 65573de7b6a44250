import type { Exhibit } from "./hypotheses.ts";

/** Possible values of a switch that are left, and what ruled out the others. */
export class Options<T> {
  readonly all: readonly T[];
  readonly against = new Map<T, Exhibit>();

  constructor(all: readonly T[]) {
    this.all = all;
  }

  get left(): readonly T[] {
    return this.all.filter((value) => !this.against.has(value));
  }

  /** True if more than one value is left. */
  get isOpen(): boolean {
    return this.against.size < this.all.length - 1;
  }

  /** The only value left; `null` if there are several or none. */
  get known(): T | null {
    const { left } = this;
    return left.length === 1 ? (left[0] ?? null) : null;
  }
}
