// The error that a fit found in its own scenario, applied to intervals of figures and to decisions. Differences between
// runs show only chance, and not what the scenario gets wrong.
import { dayMs } from "../rules/duration.ts";
import type { FigureReference } from "../rules/figures.ts";
import { weekdayName } from "../rules/words.ts";
import type { FitError, Scenario } from "../scenario/scenario.ts";
import type { Interval } from "../summary/plan-result.ts";
import type { Goal } from "./goals.ts";
import { shareText } from "./words.ts";

/** Least share of refused calls at which some calls are refused again and again. */
const muchRefused = 0.05;

/** Returns the error that concerns a figure, as a share of the greater of recorded and simulated; 0 if none does. */
function errorOf(name: FigureReference["name"], error: FitError): number {
  if (name.startsWith("wait")) return error.waitP95Ms ?? 0;
  if (name.startsWith("refused")) return error.refused;
  return name === "calls" || name === "admitted" || name === "jobs" ? error.calls : 0;
}

/** Returns an interval widened by the error on either side. */
export function widened(
  interval: Interval | null,
  name: FigureReference["name"],
  error: FitError | null,
): Interval | null {
  if (interval === null || error === null) return interval;
  // An error of 1 means that everything is missing, and no interval is wide enough. It is cut to ten times the amount.
  const share = Math.min(0.9, Math.abs(errorOf(name, error)));
  const [low, high] = [interval.low * (1 - share), interval.high / (1 - share)];
  return { low: Math.min(interval.low, low), high: Math.max(interval.high, high) };
}

/**
 * Returns a figure as it is compared with a goal. If the fit simulated too favourably, the figure is made worse by as
 * much. If the fit was too severe, the figure stays.
 */
export function heldTo(
  actual: number | null,
  goal: Pick<Goal, "name"> & { readonly operator: string },
  error: FitError | null,
): number | null {
  if (actual === null || error === null) return actual;
  const share = Math.max(-0.9, Math.min(0.9, errorOf(goal.name, error)));
  if (goal.operator.startsWith("<") && share > 0) return actual / (1 - share);
  return goal.operator.startsWith(">") && share < 0 ? actual * (1 + share) : actual;
}

/** Returns notes that name the error, for people. */
export function errorNotes(error: FitError | null): string[] {
  if (error === null) return [];
  const waits =
    error.waitP95Ms === null
      ? [
          "no wait was recorded: nothing tells how far waits are from the truth, and their intervals show chance alone",
        ]
      : [];
  const words = (
    [
      ["calls", error.calls],
      ["refusals", error.refused],
      ["95% of waits", error.waitP95Ms ?? 0],
    ] as const
  )
    .filter(([, share]) => share !== 0)
    .map(([name, share]) => `${name} by ${shareText(Math.abs(share))} too ${share > 0 ? "low" : "high"}`);
  return words.length === 0
    ? waits
    : [
        `the fit of this scenario simulated ${words.join(", ")}: intervals are wider by that, and a goal counts as kept only where it holds in spite of it`,
        ...waits,
      ];
}

/**
 * Returns what the recording behind a fitted scenario does not tell, as far as it concerns the question.
 * @param refused the greatest share of refused calls at the points
 */
export function untoldNotes(
  { fitError, startAtMs, durationMs, populations }: Scenario,
  refused: number,
): string[] {
  const untold = fitError?.untold ?? [];
  const notes: string[] = [];
  if (untold.includes("demand"))
    notes.push(
      "many calls were refused when this was recorded, so callers may have wanted more than they sent: what they ask for here is a lower bound, above all under larger limits",
    );
  if (untold.includes("weekdays") && durationMs < 5 * dayMs) {
    const name = weekdayName(startAtMs);
    notes.push(
      `this run begins on a ${name}, and no weekday was recorded twice: where ${name}s differ from other days each week, so does the truth from this answer`,
    );
  }
  if (untold.includes("reactions") && refused > 0)
    notes.push(
      `what callers do when refused was not seen when this was recorded: the answer takes it for granted. Ask for others, such as --vary ${populations[0]?.name}.onRefused=none,waitReset,exponential`,
    );
  if (untold.includes("attempts") && refused >= muchRefused)
    notes.push(
      "nobody gave a call up when this was recorded: where callers try so many times at most (attempts), fewer are refused than here",
    );
  if (untold.includes("caller") && refused > 0)
    notes.push(
      "one caller had most of the refusals that were recorded: the answer depends on what that one does next",
    );
  return notes;
}
