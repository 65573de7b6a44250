// One window, as the screen takes it.
import type { TraceTime } from "./clock.ts";
import type { Method } from "./counts-input.ts";
import { Screened } from "./screened.ts";
import type { WindowColumns } from "./window-columns.ts";
import type { MarkColumns } from "./window-sums.ts";

export interface ScreenInput {
  readonly marks: WindowColumns;
  readonly method: Method;
  readonly limit: number;
  readonly fromZero: boolean;
  readonly complete: boolean;
  readonly startedBy: number;
  /** From when on nothing unknown is given back (`keptFrom`). */
  readonly keptFrom: number;
  readonly certainFrom: number;
  /** True if counts are bound by the limit as long as it is enforced, from the window's start on. */
  readonly binding: boolean;
  readonly time: TraceTime;
  /** Sums over what was screened before, and is held no more; `null` where all marks are held. */
  readonly screened: Screened | null;
}

/** Marks that are let go: their sums, and by mark, 1 where it goes. Both are filled. */
export interface Letting {
  readonly sums: Screened;
  readonly gone: Uint8Array;
}

export const nothingScreened = new Screened();

/** Number of the first marks that are let go at once: with those behind them, calls that overlap stay together. */
export const lettableOf = (size: number): number => size - Math.max(1, size >> 2);

/** Returns the charge that a call surely left to this window: nothing, if it was sent before it opened. */
export const surely = ({ sent, least }: MarkColumns, mark: number, certainFrom: number): number =>
  (sent[mark] ?? 0) >= certainFrom ? (least[mark] ?? 0) : 0;
