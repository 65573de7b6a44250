// A trace is read once, and once more where a window was stopped whose rows had gone (`held-rows.ts`).
import { type Holding, holdsAll } from "./held-rows.ts";

/** Something that can be read, and maybe read again from its start. */
export interface Passes<T> {
  readonly first: T;
  /** `null` where there can be one pass alone: all rows of open windows are held then. */
  readonly again: (() => T | Promise<T>) | null;
}

/** Calls in an array can be read again. */
export const passesOf = <T>(first: T, again?: () => T | Promise<T>): Passes<T> => ({
  first,
  again: again ?? (Array.isArray(first) ? () => first : null),
});

export interface Judged<V> {
  readonly verdict: V;
  /** Quotas that asked for rows that had gone. Where there are any, the verdict says nothing. */
  readonly asked: ReadonlySet<number>;
}

/** Rows of one window that are held where calls can be read again: calls of some seconds at the highest rates. */
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
