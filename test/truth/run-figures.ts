// Figures of one run, by which prediction and measurement are compared.
import { Summarizer } from "../../src/summary/summarizer.ts";
import type { WindowSummary } from "../../src/summary/summary.ts";
import { tellerOf } from "../../src/summary/told.ts";
import type { TraceCall, TraceHeader } from "../../src/trace/record.ts";
import type { RulesOwner } from "../../src/trace/whose.ts";
import { rulesOwner } from "../support/rules-owner.ts";

/** Window of an organization or a user. */
export type RulesWindow = Extract<WindowSummary, RulesOwner>;

export interface RunFigures {
  readonly admitted: number;
  readonly refused: number;
  /** Of every job that was answered in the end, in ms. */
  readonly waitsMs: readonly number[];
  /** Those of organizations and users, as the answers showed them. */
  readonly windows: readonly RulesWindow[];
}

/** Adds up a run, call by call. */
export class RunCounter {
  readonly #summarizer: Summarizer;
  readonly #waitsMs: number[] = [];

  constructor(header: TraceHeader) {
    this.#summarizer = new Summarizer(header, tellerOf(header));
  }

  add(call: TraceCall): void {
    this.#summarizer.add(call);
    const isAdmitted = call.kind === "call" && call.status !== 0 && call.status !== 429;
    if (isAdmitted) this.#waitsMs.push(Math.max(0, call.received - (call.wanted ?? call.sent)));
  }

  finish(): RunFigures {
    const { figures, windows } = this.#summarizer.finish();
    const { admitted, refused } = figures;
    return {
      admitted: admitted ?? 0,
      refused: refused ?? 0,
      waitsMs: this.#waitsMs,
      windows: windows.map(rulesOwner),
    };
  }
}
