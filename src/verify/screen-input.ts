// One window, as the screen takes it.
import type { BoundsTask } from "./bounds.ts";
import type { Method } from "./counts-input.ts";
import { Screened } from "./screened.ts";
import type { WindowColumns } from "./window-columns.ts";
import type { MarkColumns } from "./window-sums.ts";

export interface ScreenInput extends Omit<BoundsTask, "marks" | "others" | "countsOwn"> {
  readonly marks: WindowColumns;
  readonly method: Method;
  /** Sums over marks that were screened and let go; `null` if all marks are held. */
  readonly screened: Screened | null;
}

/** Receives the sums of marks that are let go, and 1 for each of them in `gone`. */
export interface Letting {
  readonly sums: Screened;
  readonly gone: Uint8Array;
}

export const nothingScreened = new Screened();

/** Returns the number of first marks that are let go at once. The rest stays, so that calls that overlap do. */
export const lettableOf = (size: number): number => size - Math.max(1, size >> 2);

/** Returns the charge that a call surely left to this window: 0 if it was sent before the window had opened. */
export const surely = ({ sent, least }: MarkColumns, mark: number, certainFrom: number): number =>
  (sent[mark] as number) >= certainFrom ? (least[mark] as number) : 0;
