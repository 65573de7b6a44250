// Passes over a trace: one, and another if a window was stopped whose rows had gone (`held-rows.ts`).
import { type Holding, holdsAll } from "./held-rows.ts";

/** A source that can be read, and maybe read again from its start. */
export interface Passes<T> {
  readonly first: T;
  /** Opens the source again. `null` if there is one pass only; then all rows of open windows are held. */
  readonly again: (() => T | Promise<T>) | null;
}

/** Returns the passes over calls; an array can be read again. */
export const passesOf = <T>(first: T, again?: () => T | Promise<T>): Passes<T> => ({
  first,
  again: again ?? (Array.isArray(first) ? () => first : null),
});

export interface Judged<V> {
  readonly verdict: V;
  /** Quotas that asked for rows which had gone. If there are any, the verdict is void. */
  readonly asked: ReadonlySet<number>;
}

/** Number of rows that a window holds if calls can be read again: some seconds of calls at the highest rates. */
const rowsMostHeld = 1 << 15;

/** Judges in as few passes as suffice. */
export async function judgeInPasses<T, V>(
  { first, again }: Passes<T>,
  { rowsMost = rowsMostHeld }: { readonly rowsMost?: number },
  judge: (calls: T, holding: Holding) => Promise<Judged<V>>,
): Promise<V> {
  if (again === null) return (await judge(first, holdsAll)).verdict;
  let all: ReadonlySet<number> = new Set();
  for (let calls = first; ; calls = await again()) {
    const { verdict, asked } = await judge(calls, { rowsMost, all });
    if (asked.size === 0) return verdict;
    all = new Set([...all, ...asked]);
  }
}
