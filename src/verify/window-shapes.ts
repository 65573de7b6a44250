// The shapes of windows in a trace without rules: where they lie, and how their ends are rounded (SPEC.md §8, `anchor`
// and `reset`). A value stays possible until answers contradict it.
import type { Scope } from "../rules/rules.ts";
import type { SwitchValue } from "../rules/switches.ts";
import { driftShare, grainMs, type Span, type TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { Mark } from "./mark.ts";
import { Options } from "./options.ts";
import type { QuotaName } from "./quota-name.ts";
import type { Window } from "./window.ts";

type Anchor = SwitchValue<"anchor">;
type Rounding = SwitchValue<"reset">;

/** Greatest distance, in lengths, of windows that are compared: drift adds up. */
const lengthsMost = 20;
const second = 1000;

/** Lengths that one quota's windows have shown. */
export class QuotaShape {
  /** Longest reset that was shown, ms: no window is shorter. */
  longestMs = 0;
  longestLine = 0;
  /** Greatest number of seconds that divides every `reset_at`. */
  divisor = 0;
  readonly dates: Mark[] = [];
  /** Lengths, s, that fit the distances of ends; `null` before any ends were compared. */
  lengths: readonly number[] | null = null;
  apart: readonly (readonly [Mark, Mark])[] = [];
  /** Answer with a count of 0, whose end later answers are compared with. */
  idle: Mark | null = null;
}

/** Shapes of one scope's windows, in all organizations. */
export class WindowShapes {
  readonly anchor = new Options<Anchor>(["epoch", "first-request"]);
  readonly rounding = new Options<Rounding>(["ceil", "floor", "round"]);
  readonly #scope: Scope;
  readonly #time: TraceTime;
  readonly #docket: Docket;

  constructor(scope: Scope, time: TraceTime, docket: Docket) {
    this.#scope = scope;
    this.#time = time;
    this.#docket = docket;
  }

  /** Takes any answer that shows a window of a quota. */
  observe(name: QuotaName, shape: QuotaShape, mark: Mark): void {
    if (mark.reset * second > shape.longestMs) {
      shape.longestMs = mark.reset * second;
      shape.longestLine = mark.line;
    }
    if (mark.reset === 0 && !this.rounding.against.has("ceil"))
      this.#ruleOut(name, this.rounding, "ceil", [mark], `line ${mark.line} shows reset 0`);
    if (this.anchor.against.has("epoch")) return;
    if (mark.resetAt !== null) this.#date(name, shape, mark);
    if (mark.count === 0 && !mark.clamped) this.#compareIdle(name, shape, mark);
  }

  /** Takes a window that is over, with the one before it and the one after it. */
  close(
    name: QuotaName,
    shape: QuotaShape,
    window: Window,
    previous: Window | null,
    next: Window | null,
  ): void {
    if (this.rounding.isOpen) this.#round(name, window, next);
    if (this.anchor.left.length === 0) return;
    if (previous !== null) this.#measure(name, shape, previous, window);
    const first = this.#scope === "rest" ? window.marks.find(isFirstCharge) : undefined;
    if (first !== undefined && first.reset * second <= shape.longestMs - 2 * second)
      this.#ruleOut(
        name,
        this.anchor,
        "first-request",
        [first],
        `line ${first.line} was the first call of its window, count 1, and was told reset ${first.reset}, though ` +
          `windows last ${shape.longestMs / second} s or more (line ${shape.longestLine}): it was open before`,
        [shape.longestLine],
      );
  }

  /** Checks a `reset_at`: on the epoch's grid, a length of at least the longest reset divides every end. */
  #date(name: QuotaName, shape: QuotaShape, mark: Mark): void {
    const divisor = greatestDivisor(shape.divisor, (mark.resetAt as number) / second);
    if (divisor !== shape.divisor) shape.dates.push(mark);
    shape.divisor = divisor;
    if (divisor * second >= shape.longestMs) return;
    const iso = shape.dates.map(({ resetAt }) => new Date(resetAt as number).toISOString().slice(11, 19));
    const explanation =
      `windows end at ${iso.join(", ")}, and no length of ${shape.longestMs / second} s or more, the longest ` +
      `reset that was shown (line ${shape.longestLine}), divides the seconds of all of them`;
    this.#ruleOut(name, this.anchor, "epoch", shape.dates, explanation, [shape.longestLine]);
  }

  /** Compares idle windows: on a grid their end stands still, or moves by whole lengths. */
  #compareIdle(name: QuotaName, shape: QuotaShape, mark: Mark): void {
    const before = shape.idle ?? mark;
    const { least, most } = apart(before.end, mark.end);
    if (shape.idle === null || most >= shape.longestMs) shape.idle = { ...mark, end: { ...mark.end } };
    else if (least > 0)
      this.#ruleOut(
        name,
        this.anchor,
        "epoch",
        [before, mark],
        `between lines ${before.line} and ${mark.line} the end of an idle window moved by ${(least / second).toFixed(1)} to ` +
          `${(most / second).toFixed(1)} s, and windows last ${shape.longestMs / second} s or more (line ${shape.longestLine})`,
        [shape.longestLine],
      );
  }

  /** Compares ends without dates: on a grid they lie whole lengths apart. */
  #measure(name: QuotaName, shape: QuotaShape, earlier: Window, later: Window): void {
    const { least, most } = apart(earlier.end, later.end);
    if (this.anchor.against.has("epoch") || most > lengthsMost * shape.longestMs) return;
    const known = shape.lengths ?? wholeFrom(shape.longestMs / second, Math.floor(most / second));
    const fits = (seconds: number): boolean =>
      seconds * second >= shape.longestMs &&
      Math.floor(most / (seconds * second)) >= Math.max(1, Math.ceil(least / (seconds * second)));
    const lengths = known.filter(fits);
    if (lengths.length < known.length || shape.lengths === null)
      shape.apart = [[earlier.fromMark, later.toMark], ...shape.apart.slice(-2)];
    shape.lengths = lengths;
    if (lengths.length > 0) return;
    const marks = [...shape.apart.flat(), earlier.toMark, later.fromMark];
    const explanation =
      `no window length of ${shape.longestMs / second} s or more fits how far apart windows end: the last two, ` +
      `by lines ${earlier.fromMark.line} and ${later.toMark.line}, ${(least / second).toFixed(1)} to ` +
      `${(most / second).toFixed(1)} s`;
    this.#ruleOut(name, this.anchor, "epoch", marks, explanation, [shape.longestLine]);
  }

  /** Checks each rounding: a window still shown had not ended, and one followed by another had, by its own seconds. */
  #round(name: QuotaName, window: Window, next: Window | null): void {
    const shown = latest(window.marks, this.#time);
    const over = next === null ? null : earliest(next.marks, this.#time);
    for (const rounding of this.rounding.left) {
      const end: { from: number; to: number } = { from: -Infinity, to: Infinity };
      let [fromMark, toMark] = [shown.mark, shown.mark];
      for (const mark of window.marks) {
        const { from, to } = this.#time.windowEnd(mark.sent, mark.received, mark.reset, rounding);
        if (from > end.from) [end.from, fromMark] = [from, mark];
        if (to < end.to) [end.to, toMark] = [to, mark];
      }
      if (end.to + grainMs < shown.at)
        this.#ruleOut(
          name,
          this.rounding,
          rounding,
          [toMark, shown.mark],
          `line ${toMark.line} was told reset ${toMark.reset}, and at least ` +
            `${Math.floor(shown.at - end.to)} ms after the end that ${rounding} gives that, line ${shown.mark.line} ` +
            "was shown the same window",
        );
      else if (over !== null && end.from > over.at + grainMs)
        this.#ruleOut(
          name,
          this.rounding,
          rounding,
          [fromMark, over.mark],
          `line ${fromMark.line} was told reset ${fromMark.reset}, and at least ` +
            `${Math.floor(end.from - over.at)} ms before the end that ${rounding} gives that, line ` +
            `${over.mark.line} was shown the next window`,
        );
    }
  }

  #ruleOut<T>(
    { told, scope }: QuotaName,
    options: Options<T>,
    value: T,
    marks: readonly Mark[],
    explanation: string,
    more: readonly number[] = [],
  ): void {
    if (options.against.has(value)) return;
    const lines = [...new Set([...marks.map(({ line }) => line), ...more])].sort((a, b) => a - b);
    const others = [...options.against.values()];
    options.against.set(value, { lines, explanation });
    const isAnchor = options.all.some((each) => (each as unknown) === "epoch");
    if (options.left.length > 0) return;
    const exhibit = {
      lines: [...new Set([...lines, ...others.flatMap((other) => other.lines)])].sort((a, b) => a - b),
      explanation: [...others.map((other) => other.explanation), explanation].join("; but "),
    };
    if (isAnchor) {
      // Other openings break no known rule: a grid may begin anywhere, and anything may open a window.
      this.#docket.ask({
        scope,
        question: `Windows neither lie on the grid of Unix time nor open with their first call: ${exhibit.explanation}. Is that meant? \`--rules\` settles it.`,
        suspects: ["windows-back-to-back", "status-opens-window", "organization-off-grid"],
        lines: exhibit.lines,
      });
      return;
    }
    this.#docket.accuse({
      law: "reset-agrees",
      breach: "no value fits",
      suspects: [
        "rearmed-per-hit",
        "two-interleaved-windows",
        "skewed-nodes",
        "reset-at-drifts",
        "clock-step",
      ],
      ...told,
      window: null,
      ...exhibit,
    });
  }
}

/** Returns the least and the most that two ends lie apart, ms, whatever the clocks' drift. */
const apart = (earlier: Span, later: Span): { readonly least: number; readonly most: number } => ({
  least: (later.from - earlier.to) * (1 - driftShare),
  most: (later.to - earlier.from) * (1 + driftShare),
});

/** Tells whether a call opened its window, if windows open with their first call: it alone is counted. */
const isFirstCharge = ({ role, sure, asked, count, clamped }: Mark): boolean =>
  role === "admitted" && sure && asked === 1 && count === 1 && !clamped;

function latest(marks: readonly Mark[], time: TraceTime): { readonly at: number; readonly mark: Mark } {
  return furthest(marks, (mark) => time.within(mark.sent, mark.received).from, 1);
}

function earliest(marks: readonly Mark[], time: TraceTime): { readonly at: number; readonly mark: Mark } {
  return furthest(marks, (mark) => time.within(mark.sent, mark.received).to, -1);
}

function furthest(
  marks: readonly Mark[],
  instant: (mark: Mark) => number,
  sign: 1 | -1,
): { readonly at: number; readonly mark: Mark } {
  const [first] = marks;
  if (first === undefined) throw new RangeError("a window without answers");
  let [mark, at] = [first, instant(first)];
  for (const each of marks) {
    const other = instant(each);
    if ((other - at) * sign > 0) [mark, at] = [each, other];
  }
  return { at, mark };
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

function wholeFrom(least: number, most: number): readonly number[] {
  return Array.from(
    { length: Math.max(0, most - Math.ceil(least) + 1) },
    (_, index) => Math.ceil(least) + index,
  );
}
