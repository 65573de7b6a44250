// The result of a fit as Markdown: what was found, the check, and the backtest.

import { shortName } from "../../src/rules/printable.ts";
import { count, counted } from "../../src/rules/words.ts";
import { classText, percent, predictedText } from "./backtest-coverage.ts";
import type { BacktestResult, FitResult, PredictedFigure, Prediction } from "./backtest-result.ts";
import type { FitCheck } from "./check-result.ts";
import { checkedText, checkText } from "./check-text.ts";
import type { FittedBehaviour, FittedEvents, FittedModel, FittedPopulation } from "./model.ts";
import { timeText } from "./words.ts";

/** Most windows that the Markdown lists; the result has all of them. */
const listedMost = 60;

const figureNames: Readonly<Record<PredictedFigure, string>> = {
  offered: "calls",
  admitted: "admitted",
  refused: "refused",
  waitP95Ms: "p95 wait, ms",
};

/** Writes the result of `spillway fit` as Markdown. */
export function fitMarkdown({ model, check, backtest, backtestLeftOut }: FitResult): string {
  const parts = [
    `# ${shortName(model.name)}: a scenario fitted to ${counted(model.calls, "call")}`,
    foundText(model),
    ...(model.doubts.length === 0
      ? []
      : [`What this recording does not tell:\n\n${model.doubts.map((doubt) => `- ${doubt}`).join("\n")}`]),
    table(
      ["population", "callers", "calls", "refused", "what they do", "after a refusal"],
      model.populations.map((population) => [
        shortName(population.name),
        count(population.callers),
        count(population.calls),
        count(population.refused),
        populationText(population),
        population.reasons.onRefused,
      ]),
    ),
    ...(check === null ? [] : checkParts(check)),
    ...(backtest === null ? [] : backtestParts(backtest)),
    ...(backtestLeftOut === undefined ? [] : [`No backtest: ${backtestLeftOut}.`]),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** Says in one or two sentences how much of the recording the populations explain. */
export function foundText({ populations, callers, calls, unexplained, uncounted }: FittedModel): string {
  const left = uncounted === 0 ? "" : ` ${counted(uncounted, "call")} that no quota counts were left out.`;
  return `${counted(populations.length, "population")} of ${counted(callers, "caller")}; ${unexplained === 0 ? "every call is of one of them" : `${percent(unexplained / calls)} of the calls (${count(unexplained)}) are of none`}.${left}`;
}

/** Describes a population's behaviour in a few words, such as `poller, every 5s`. */
export function populationText({ behaviour, arrivals, mix }: FittedPopulation): string {
  const kinds = mix.length > 1 ? `, ${counted(mix.length, "kind")} of call` : "";
  const come =
    arrivals.kind === "closed"
      ? ""
      : arrivals.kind === "hours"
        ? ", arriving by the hour of the day"
        : `, arriving ${arrivals.even ? "evenly" : "by chance"}, ${count(Math.round(arrivals.perHour))} an hour`;
  return behaviourText(behaviour) + (behaviour.kind === "worker" ? kinds : "") + come;
}

const eventsText = (events: FittedEvents): string =>
  events.kind === "clock" ? `by cron, ${events.at}` : `${events.perDay} times a day`;

function behaviourText(behaviour: FittedBehaviour): string {
  switch (behaviour.kind) {
    case "together":
      return `${behaviour.parts.map((part) => behaviourText(part.behaviour)).join(" + ")}${behaviour.inTurn ? ", in turn" : ""}`;
    case "sessions": {
      const rhythm = behaviour.rhythm === null ? "" : " by hour and weekday";
      return `sessions${rhythm} of a ${behaviourText(behaviour.of)}`;
    }
    case "timetable":
      return `${behaviourText(behaviour.of)}, by cron, ${behaviour.at}`;
    case "woken":
      return `${behaviourText(behaviour.of)}, woken together ${behaviour.byUser ? "by events of each user, " : ""}${eventsText(behaviour.events)}`;
    case "poller":
      return `poller, every ${timeText(behaviour.everyMs)}`;
    case "worker":
      return `worker${behaviour.adapt === undefined ? "" : " that slows down after refusals"}${behaviour.jobs === null ? "" : `, ${counted(behaviour.jobs, "job")} each`}`;
    default: {
      const size =
        behaviour.kind === "burst"
          ? `${behaviour.size} at once`
          : behaviour.kind === "queue"
            ? `${counted(behaviour.jobs, "job")}, ${behaviour.workers} at a time`
            : counted(behaviour.pages, "page");
      const every = behaviour.everyMs === null ? "" : `, every ${timeText(behaviour.everyMs)}`;
      return `${behaviour.kind}, ${size}${every}`;
    }
  }
}

function checkParts(check: FitCheck): string[] {
  return [
    `## Check: the scenario simulates what it was fitted to`,
    `${checkText(check)}.${check.why === null ? "" : ` Why: ${check.why}.`}`,
    table(
      ["population", "figure", "recorded", "simulated", "of all simulations", "off"],
      check.rows.map((row) => [
        row.population === null ? "all" : shortName(row.population),
        checkedText(row.figure),
        row.recorded === null ? "not recorded" : numberText(row.recorded),
        numberText(row.middle),
        spanText([row.least, row.most]),
        row.off ? "**yes**" : "",
      ]),
    ),
  ];
}

function backtestParts(backtest: BacktestResult): string[] {
  const { seeds, levels, coverage, totals, findings, windows, windowsSeen } = backtest;
  const [narrow, wide] = [percent(levels.narrow), percent(levels.wide)];
  return [
    `## Backtest: the first ${percent(backtest.share)} of the time predicts ${predictedText[backtest.predicted]}`,
    findings.length === 0
      ? `Every figure lay within its intervals about as often as it should (${counted(windowsSeen, "window")}, ${counted(seeds, "simulation")}).`
      : findings.map((finding) => `- ${finding}`).join("\n"),
    table(
      ["figure per window", "of", "windows", `inside ${narrow}`, `inside ${wide}`],
      coverage.map((row) => [
        figureNames[row.figure],
        classText[row.class],
        String(row.windows),
        percent(row.insideNarrow / row.windows),
        percent(row.insideWide / row.windows),
      ]),
    ),
    table(
      ["in all", "measured", "predicted", `${narrow} interval`, `${wide} interval`],
      Object.entries(totals).map(([name, total]) => [
        figureNames[name as PredictedFigure],
        numberText(total.measured),
        numberText(total.middle),
        spanText(total.narrow),
        spanText(total.wide),
      ]),
    ),
    `### Windows${windowsSeen > listedMost ? `, the first ${listedMost} of ${windowsSeen}` : ""}`,
    table(
      ["opens at", "scope", "calls", "refused", "p95 wait, ms"],
      windows
        .slice(0, listedMost)
        .map(({ opensAt, scope, figures }) => [
          new Date(opensAt).toISOString().replace(".000Z", "Z"),
          scope,
          predictionText(figures.offered),
          predictionText(figures.refused),
          predictionText(figures.waitP95Ms),
        ]),
    ),
    `Measured value, and the ${wide} interval of ${counted(seeds, "simulation")}. Intervals are of chance alone: what was fitted is taken for certain.`,
  ];
}

const numberText = (value: number | null): string => (value === null ? "–" : count(Math.round(value)));
const spanText = (span: readonly [number, number] | null): string =>
  span === null ? "–" : `${numberText(span[0])} to ${numberText(span[1])}`;
const predictionText = ({ measured, wide }: Prediction): string =>
  `${numberText(measured)} (${spanText(wide)})`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
