// The judgement of fitted scenarios by worlds, as Markdown.
import { goalOf } from "../worlds/answers.ts";

/** The middle value of many days, and the span that holds 80 % of them. */
export interface Span {
  readonly least: number;
  readonly middle: number;
  readonly most: number;
}

interface Compared {
  readonly true: Span;
  readonly model: Span;
}

export interface Shares extends Compared {
  /** Within a quarter, or 0.3 points. */
  readonly held: boolean;
  /** Off by no more than the better baseline, 0.3 points, or half the span of the world's own days. */
  readonly noWorse: boolean;
  readonly yesterday: number | null;
  readonly linear: number;
  /** Middle shares by fits to other weeks of the same world, of a few simulations each. */
  readonly weeks?: readonly number[];
}

type Policies = Readonly<Record<string, number>>;

export interface WorldTruth {
  readonly name: string;
  readonly description: string;
  readonly tuned: boolean;
  /** Populations that were fitted, the first of them. */
  readonly populations: readonly string[];
  /** The fit's check of itself: figures that are off, and doubts. */
  readonly says: readonly string[];
  readonly day: Shares;
  readonly twice: Shares;
  readonly calls: Compared;
  readonly waitP95Ms: Compared;
  /** Share of the true windows within the model's intervals of 80 % and 95 %: admitted calls. */
  readonly coverage: {
    readonly narrow: number;
    readonly wide: number;
    /** Of intervals of 80 % of the world's own days. */
    readonly own?: number;
  };
  readonly fleet: {
    readonly true: number;
    readonly model: number;
    /** Answers of fits to other weeks of the same world. */
    readonly weeks?: readonly number[];
    readonly linear: number;
  };
  readonly policy: { readonly true: Policies; readonly model: Policies };
}

const percent = (share: number): string => `${(100 * share).toFixed(share < 0.1 ? 2 : 1)} %`;
const number = (value: number): string => Math.round(value).toLocaleString("en-US");
const best = (shares: Policies): string => Object.entries(shares).sort(([, a], [, b]) => a - b)[0]?.[0] ?? "";
const spanText = ({ least, middle, most }: Span, text: (value: number) => string): string =>
  `${text(middle)} (${text(least)} to ${text(most)})`;
/** The most that a refused share may be off: a quarter, or 0.3 points. */
export const shareAim = (right: number): number => Math.max(0.003, right / 4);
const mark = (held: boolean): string => (held ? "" : " **missed**");

/**
 * Tells what an answer that is off is off by: the luck of one week, where the mean of all weeks' answers is within the
 * aim, or within two standard errors; or every week alike.
 */
function markBeside(right: number, model: number, weeks: readonly number[], aim: number): string {
  const answers = [model, ...weeks];
  const mean = answers.reduce((sum, answer) => sum + answer, 0) / answers.length;
  const squares = answers.reduce((sum, answer) => sum + (answer - mean) ** 2, 0);
  const error = Math.sqrt(squares / Math.max(1, answers.length - 1) / answers.length);
  if (Math.abs(model - right) <= aim) return "";
  const byChance = weeks.length > 0 && Math.abs(mean - right) <= Math.max(aim, 2 * error);
  return byChance ? " **chance of one week**" : mark(false);
}

const besideText = (weeks: readonly number[], text: (value: number) => string): string =>
  weeks.length === 0 ? "" : `; other weeks: ${weeks.map(text).join(", ")}`;

const fleetText = ({ true: right, model, weeks = [] }: WorldTruth["fleet"]): string =>
  number(model) + besideText(weeks, number) + markBeside(right, model, weeks, Math.max(1, 0.1 * right));

/**
 * @param firstMet worlds by the fit that first met them; their rows are published beside those of today
 */
export function worldsMarkdown(truths: readonly WorldTruth[], firstMet: readonly WorldTruth[]): string {
  const parts = [
    "# Fitted scenarios before worlds that they do not know",
    `Each world is a simulator of its own (\`test/worlds\`). A scenario is fitted to a log of its first seven days and asked for the eighth. Middle values of many days, and the span of 80 % of them. The largest fleet keeps ${percent(goalOf({}))} refused on the middle day, or as much as the world's description says. Aims: refused share within a quarter or 0.3 points, largest fleet within 10 %, 80 % intervals hold 70 % to 90 % of the windows. Where most windows have the same few calls, no interval holds 80 %: how many those of the world's own days hold stands beside it. A fit is worse than a baseline where it is further off than the better one, than 0.3 points, and than half the span of the world's own days. Fits to other weeks of the same world say how far the answer of one week is off by chance: where it misses an aim, but their mean does not, or by less than two standard errors, no fit to that week alone can know. Baselines: yesterday again; or admitted calls of each minute by a factor, and what exceeds the limit is refused.`,
    ...[false, true].flatMap((tuned) => {
      const own = truths.filter((truth) => truth.tuned === tuned);
      if (own.length === 0) return [];
      return [
        `## ${tuned ? "Worlds that fit was tuned on" : "Worlds that fit was not tuned on"}`,
        table(own),
      ];
    }),
    "## Worlds as fit first met them",
    "These were written before anything was fitted to them, and fitted once, by fit as it was then. What was learned from them is in the tables above.",
    table(firstMet),
    "## What each is, what was fitted, and what the fit said of itself",
    ...truths.map(({ name, description, populations, says }) =>
      [
        `**${name}**: ${description}`,
        ...populations.map((line) => `- ${line}`),
        ...says.map((line) => `- *${line}*`),
      ].join("\n"),
    ),
  ];
  return `${parts.join("\n\n")}\n`;
}

function table(truths: readonly WorldTruth[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const head = ["world", "figure", "the world", "fitted", "yesterday", "linear"];
  return [
    line(head),
    line(head.map(() => "---")),
    ...truths.flatMap((truth) => rowsOf(truth).map(line)),
  ].join("\n");
}

function rowsOf({ name, day, twice, calls, waitP95Ms, coverage, fleet, policy }: WorldTruth): string[][] {
  const shares = (what: string, one: Shares): string[] => {
    const { true: seen, model, noWorse, yesterday, linear, weeks = [] } = one;
    const missed = markBeside(seen.middle, model.middle, weeks, shareAim(seen.middle));
    return [
      name,
      what,
      spanText(seen, percent),
      spanText(model, percent) +
        besideText(weeks, percent) +
        missed +
        (noWorse ? "" : ", worse than a baseline"),
      yesterday === null ? "–" : percent(yesterday),
      percent(linear),
    ];
  };
  const { narrow, wide, own } = coverage;
  const covers = narrow >= 0.7 && narrow <= 0.9;
  return [
    shares("refused", day),
    shares("refused, twice the agents", twice),
    [name, "calls", spanText(calls.true, number), spanText(calls.model, number), "–", "–"],
    [name, "p95 wait, ms", spanText(waitP95Ms.true, number), spanText(waitP95Ms.model, number), "–", "–"],
    [
      name,
      "windows inside 80 %, 95 %",
      "–",
      `${percent(narrow)}, ${percent(wide)}${mark(covers)}${own === undefined ? "" : `; the world's own days: ${percent(own)}`}`,
      "–",
      "–",
    ],
    [name, "largest fleet", number(fleet.true), fleetText(fleet), "–", number(fleet.linear)],
    [name, "policy", best(policy.true), best(policy.model), "–", "–"],
  ];
}
