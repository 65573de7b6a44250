// Findings in windows, kept until the trace ends. Only then is it known whether limits were enforced all the while, and
// which calls of unknown outcome may explain points.

import type { Span } from "./clock.ts";
import type { Enforcement } from "./enforcement.ts";
import type { Hypotheses, Hypothesis } from "./hypotheses.ts";
import type { QuotaSetting } from "./quota-setting.ts";
import type { Deferral, Standing } from "./standing.ts";
import { type Unexplained, Unknowns } from "./unknowns.ts";
import type { CountsResult } from "./window-counts.ts";

/** Number of windows kept against a hypothesis while another has none: a few suffice to rule it out. */
const keptAgainstMost = 20;

export class Deferrals {
  readonly unknowns = new Unknowns();
  readonly #setting: QuotaSetting;
  readonly #deferrals: Deferral[] = [];
  readonly #keptAgainst = new Map<Hypothesis, number>();
  #gapsExcused = false;

  constructor(setting: QuotaSetting) {
    this.#setting = setting;
  }

  excuseGaps(): void {
    this.#gapsExcused = true;
  }

  /** Rules out hypotheses that a window surely contradicts, and keeps its findings under the others. */
  add(deferral: Deferral, hypotheses: Hypotheses): void {
    const speaking = [...deferral.found].filter(([, result]) => speaks(result));
    if (speaking.length === 0) return;
    if (!hypotheses.isGiven) ruleOut(hypotheses, speaking);
    const left = speaking.filter(([hypothesis]) => hypotheses.left.includes(hypothesis));
    if (left.length === 0 || !this.#isWorthKeeping(left, hypotheses)) return;
    if (this.#setting.docket.keeps()) this.#deferrals.push({ ...deferral, found: new Map(left) });
  }

  #isWorthKeeping(speaking: readonly (readonly [Hypothesis, CountsResult])[], { left }: Hypotheses): boolean {
    if (speaking.length === left.length) return true;
    const kept = speaking.map(([hypothesis]) => this.#keptAgainst.get(hypothesis) ?? 0);
    for (const [place, [hypothesis]] of speaking.entries())
      this.#keptAgainst.set(hypothesis, (kept[place] as number) + 1);
    return kept.some((count) => count < keptAgainstMost);
  }

  /** Returns the windows with findings that no unknown call and no change of enforcement explains. */
  standing(hypothesis: Hypothesis, enforcement: Enforcement, lost: Unexplained): readonly Standing[] {
    const total = { points: 0, calls: 0 };
    return this.#deferrals.flatMap((deferral) => {
      const { span, found } = deferral;
      const result = found.get(hypothesis);
      if (result === undefined) return [];
      const enforced = enforcement.throughout(span.from, span.to) === true;
      const suspicions = (enforced ? result.enforced : result.otherwise).filter(({ unexplained, breach }) => {
        // A call that gives back in a fall may also explain a gap.
        const sum = breach === "fall" ? { points: 0, calls: 0 } : total;
        return unexplained === null || !this.#explains(unexplained, span, lost, sum);
      });
      if (suspicions.length === 0) return [];
      const unexplained = suspicions.some((each) => each.unexplained !== null);
      const bound = enforced || this.#bindsAlways(hypothesis);
      const overshoot = {
        ...result.overshoot,
        overAdmitted: bound ? result.overshoot.overAdmitted : 0,
        wronglyRefused: unexplained ? result.overshoot.wronglyRefused : 0,
      };
      return [{ deferral, suspicions, overshoot }];
    });
  }

  #bindsAlways({ terms }: Hypothesis): boolean {
    return this.#setting.name.owner === "user" && terms.userEnforced === "always";
  }

  /**
   * Tells whether unknown calls may explain a gap: calls that were under way in this window. Each call is charged once,
   * so that all calls sent by then must also cover all gaps up to then.
   */
  #explains(
    gap: Unexplained,
    span: Span,
    lost: Unexplained,
    total: { points: number; calls: number },
  ): boolean {
    if (this.#gapsExcused) return true;
    total.points += gap.points;
    total.calls += gap.calls;
    const covers = (needed: Unexplained, by: Unexplained): boolean =>
      needed.points <= by.points + lost.points && needed.calls <= by.calls + lost.calls;
    return (
      covers(gap, this.unknowns.within(span)) &&
      covers(total, this.unknowns.within({ from: Number.NEGATIVE_INFINITY, to: span.to }))
    );
  }

  /** Accuses the findings that stand. */
  accuse(standing: readonly Standing[]): void {
    const { docket, name } = this.#setting;
    for (const window of standing) {
      const { deferral, suspicions } = window;
      for (const { unexplained: _, ...suspicion } of suspicions)
        docket.accuse({ ...suspicion, ...name.told, window: deferral.window });
      docket.amounts.add(name, window);
      if (suspicions.some(({ unexplained }) => unexplained !== null)) docket.clues.unexplained(name);
    }
  }
}

const speaks = ({ enforced, otherwise }: CountsResult): boolean =>
  enforced.length > 0 || otherwise.length > 0;

/** Rules out each hypothesis with a finding that stands whether limits were enforced or not. */
function ruleOut(hypotheses: Hypotheses, speaking: readonly (readonly [Hypothesis, CountsResult])[]): void {
  const out = speaking.flatMap(([hypothesis, { otherwise }]) => {
    const certain = otherwise.filter(({ unexplained }) => unexplained === null);
    const [first] = certain;
    if (first === undefined) return [];
    const { lines, explanation } = first;
    const weight = certain.reduce((sum, { count }) => sum + count, 0);
    return [[hypothesis, { exhibit: { lines, explanation }, weight }] as const];
  });
  hypotheses.ruleOut(new Map(out));
}
