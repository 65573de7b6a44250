// Pictures of drawn numbers, byte for byte: see bytes.ts. Each kind of picture is drawn with many amounts, spans, states
// and names, so that hardly a number of it can move unseen. A digest stands for all pictures of a kind.

import { expect, test } from "vitest";
import { seededRandom } from "../../src/faults/random.ts";
import {
  amountAxis,
  amountText,
  chartDrawing,
  countAxis,
  timeDrawing,
  timeLabels,
} from "../../src/report/axes.ts";
import { callBars, callsOverTime, shortened } from "../../src/report/call-bars.ts";
import { waitChart, windowChart, windowChartHeight } from "../../src/report/charts.ts";
import { curvePicture } from "../../src/report/curve-picture.ts";
import { figureText, instant, share } from "../../src/report/format.ts";
import { heatMapPicture } from "../../src/report/heat-map-picture.ts";
import { intervalPicture } from "../../src/report/interval-rows.ts";
import type { OutcomeCounts } from "../../src/report/outcomes.ts";
import { Gallery, type Picture } from "../../src/report/picture.ts";
import { placesFigure } from "../../src/report/places-picture.ts";
import { encodeReadings } from "../../src/report/readings.ts";
import { sparkline } from "../../src/report/sparkline.ts";
import { windowData, windowReadings, windowRows } from "../../src/report/window-rows.ts";
import { duration } from "../../src/rules/duration.ts";
import type { FigureUnit } from "../../src/rules/figures.ts";
import type { PlanPoint, PlanState } from "../../src/summary/plan-result.ts";
import type { Point, WindowSeries } from "../../src/summary/series.ts";
import type { PopulationSummary } from "../../src/summary/summary.ts";
import type { CountPlace } from "../../src/verify/verdict.ts";
import { expectBytes, type Named } from "./bytes.ts";
import { sampleViolation } from "./fixtures.ts";
import { mapped } from "./results.ts";

const random = seededRandom(2026);
const some = (most: number): number => Math.floor(random() * most);
const one = <T>(list: readonly T[]): T => list[some(list.length)] as T;
const units: readonly FigureUnit[] = ["count", "share", "ms"];
const states: readonly (PlanState | null)[] = ["holds", "fails", "unclear", null];
const names = ["a", "agent-17", "a policy with quite a long name, and more", "__proto__", "ü"];
/** An amount of a unit, of any power of ten. */
const amount = (unit: FigureUnit): number =>
  unit === "share"
    ? random()
    : unit === "ms"
      ? some(10 ** (1 + some(7)))
      : some(10 ** (1 + some(5))) / one([1, 4]);
const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** All of a picture: as a page has it, and its files. */
function drawn(pictures: readonly Picture[]): string {
  const gallery = new Gallery("pictures");
  return [...pictures.map((picture) => gallery.draw(picture).text), ...gallery.files().values()].join("\n");
}

const counts = (): OutcomeCounts => ({
  admitted: some(400),
  refusedByOrganization: some(2) * some(90),
  refusedByUser: some(2) * some(9),
  refusedByQuota: some(2) * some(5),
  refusedByUnknown: some(3) * some(2),
  unanswered: some(2) * some(4),
});

const curves = (): Picture[] =>
  times(9, (at) => {
    const unit = units[at % 3] as FigureUnit;
    const from = one([0, 0, 10, 0.5]);
    const to = at === 4 ? from : from + one([1, 9, 40, 90_000]);
    const points = times(2 + some(7), (place) => {
      const mean = place === 3 ? null : amount(unit);
      const wide = random() < 0.7 && mean !== null;
      return {
        value: from + ((to - from) * place) / 9,
        mean,
        low: wide ? mean - 0.1 * mean : null,
        high: wide ? mean + 0.2 * mean : null,
        state: one(states),
        replications: some(64),
        note: one([null, "8 of 8"]),
      };
    });
    return curvePicture({
      ...{ id: `curve-${at}`, title: "a curve", label: "a label", figure: "waitP95Ms", unit, points },
      axis: { path: "agents.think", unit: one(units), from, to },
      states: { holds: "it holds", fails: "it fails", unclear: "unclear" },
      goal: at % 2 === 0 ? { at: amount(unit), name: "a goal" } : null,
      found: at % 3 === 0 ? { at: from + (to - from) / 2, from: to, to: from } : null,
    });
  });

const intervals = (): Picture[] =>
  times(7, (at) => {
    const unit = units[at % 3] as FigureUnit;
    return intervalPicture({
      ...{ id: `rows-${at}`, title: "rows", label: "a label", what: "policy", figure: "calls", unit },
      ends: ["5 of 100", "95 of 100"],
      rows: times(1 + some(6), (place) => {
        const mean = at === 6 || place === 2 ? null : amount(unit);
        const narrow = one([0.001, 0.3]);
        return {
          name: one(names),
          mean,
          low: mean === null || place === 1 ? null : mean - mean * narrow,
          high: mean === null || place === 1 ? null : mean + mean * narrow,
          color: "var(--user)",
        };
      }),
      line: at % 2 === 0 ? { at: amount(unit), name: "the goal" } : null,
      legend: [],
    });
  });

const bars = (): Picture[] => [
  ...times(4, (at) =>
    callBars({
      ...{ id: `bars-${at}`, title: "bars", what: "user" },
      bars: times(1 + some(5), (place) => ({ ...counts(), name: `${one(names)}${place}` })),
    }),
  ),
  ...[10, 40, 160, 900].map((slots, at) =>
    callsOverTime({
      ...{ id: `slots-${at}`, title: "slots", label: "a label", slotMs: 1000, lengthMs: 1000 * slots - 300 },
      slots: times(Math.min(slots, 60), (place) => ({ ...counts(), atMs: 1000 * place })),
    }),
  ),
];

const maps = (): Picture[] =>
  times(6, (at) => {
    const [columns, rows] = [1 + some(at === 5 ? 30 : 6), 1 + some(5)];
    const [xAxis, yAxis] = mapped.question.vary;
    if (xAxis === undefined || yAxis === undefined) throw new RangeError("the map has two axes");
    const unit = one(["count", "share", "ms", "choice"] as const);
    const xs = times(columns, (place) => (unit === "choice" ? `${one(names)}${place}` : (1 + place) / 40));
    const ys = times(rows, (place) => 10 ** place);
    const points = times(columns * rows, (): PlanPoint => {
      const mean = random() < 0.1 ? null : one([random(), 0.5]);
      return {
        ...(mapped.points[0] as PlanPoint),
        state: one(states),
        figures: [{ figure: "refusedShare", measured: 8, mean, interval: null, least: null, most: null }],
      };
    });
    const value = () => one([null, ...ys]);
    const map = {
      ...{ xs, ys, figures: ["refusedShare"] },
      cells: times(rows, (row) => times(columns, (column) => row * columns + column)),
      frontier: xs.flatMap((x) =>
        random() < 0.2 ? [] : [{ x, holds: value(), fails: value(), monotone: random() < 0.8 }],
      ),
    };
    const find = one(["largest", "smallest", null] as const);
    const axes = [{ ...xAxis, unit }, yAxis] as const;
    const question = { ...mapped.question, find, vary: axes };
    return heatMapPicture({ ...mapped, question, points } as never, map as never, axes, "refusedShare", at);
  });

const accused = (): string[] =>
  times(8, (at) => {
    const from = one([0, 3, 90, 4000]);
    const answers = times(1 + some(at === 7 ? 60 : 14), (line): CountPlace => {
      const least = from + some(one([3, 40]));
      const sent = Date.UTC(2026, 0, 1) + some(900);
      return {
        line,
        role: one(["admitted", "admitted", "refused", "status", "other"]),
        sent,
        received: sent + some(90),
        from: least,
        to: least + some(3),
      };
    });
    const lines = answers.flatMap(({ line }) => (random() < one([0.2, 0.8]) ? [line] : []));
    const gallery = new Gallery(null);
    const limit = from + some(44);
    const figure = placesFigure({ ...sampleViolation, lines, places: { limit, answers } }, at, gallery);
    return `${figure?.text}${[...gallery.files().values()].join("\n")}`;
  });

const steps = (length: number, lengthMs: number, most: number): Point[] =>
  times(length, (at): Point => [(at * lengthMs) / length, some(most)]);
const seriesOf = (lengthMs: number): WindowSeries =>
  ({
    ...{ org: "acme", user: one([null, "ann"]), scope: "rest", quota: undefined },
    counts: steps(1 + some(30), lengthMs, 40),
    limits: steps(1 + some(3), lengthMs, 60),
    refusals: one([[], steps(10, lengthMs, 9)]),
  }) as unknown as WindowSeries;

const windows = (): string[] =>
  times(6, (at) => {
    const lengthMs = one([1500, 60_000, 190_000, 7_200_000]);
    const [series, other] = [seriesOf(lengthMs), at % 2 === 0 ? seriesOf(lengthMs) : null];
    const rows = windowRows(series, lengthMs, other);
    const place = { layout: one(["wide", "narrow"] as const), height: windowChartHeight(series), lengthMs };
    const labels = other === null ? (["count"] as const) : (["measured", "predicted"] as const);
    return JSON.stringify([
      timeDrawing(`window-${at}`, windowChart(place.layout, series, lengthMs, other), place),
      windowData(rows, labels.length === 1 ? null : labels),
      encodeReadings(windowReadings(rows, lengthMs, labels)),
    ]);
  });

const waits = (): string[] =>
  times(4, (at) => {
    const curve = (dashed: boolean) => ({
      population: {
        waitsMs: times(one([0, 101]), (place) => place * some(one([2, 300, 90_000]))).sort((a, b) => a - b),
        figures: { admitted: some(50), jobs: some(60) },
      } as unknown as PopulationSummary,
      color: "var(--user)",
      dashed,
    });
    return JSON.stringify(chartDrawing(`wait-${at}`, waitChart([curve(false), curve(true)]), "wide", 260));
  });

/** Axes of amounts as their ticks and words. */
const axes = (): string[] =>
  times(300, (at) => {
    const unit = units[at % 3] as FigureUnit;
    const least = one([0, 0, amount(unit)]);
    const most = least + amount(unit);
    const { min, max, interval, axisLabel } = amountAxis(unit, most, least, at % 2 === 0);
    const { formatter, customValues } = axisLabel as unknown as {
      formatter(value: number): string;
      customValues: number[];
    };
    const whole = countAxis(Math.ceil(most), Math.floor(least));
    const wholeWords = times(6, (place) =>
      whole.axisLabel.formatter(Math.floor(least) + place * whole.interval),
    );
    return JSON.stringify([min, max, interval, customValues.map(formatter), whole.interval, wholeWords]);
  });

const edges = [
  0, 0.4, 0.5, 1, 99.9, 100, 999.4, 999.5, 1000, 9994, 9995, 59_949, 59_950, 60_000, 3_599_499, 3_599_500,
  86_400_000,
];
const words = (): string[] => [
  ...edges.flatMap((ms) => [duration(ms), instant(Math.round(ms)), timeLabels("narrow", 200, ms + 1)]),
  ...[0, 0.0009, 0.000_999, 0.001, 0.0099, 0.5, 0.999, 0.999_01, 0.9999, 1, 1.5].map(share),
  ...units.flatMap((unit) =>
    [-100.4, -5.25, 0, 0.25, 99.99, 100, 100.5].map((value) => amountText(unit, value)),
  ),
  ...(["fairness", "calls", "refusedShare", "waitP95Ms"] as const).flatMap((name) =>
    [null, 0, 0.123_45, 1234.5].map((value) => figureText(name, value)),
  ),
  ...times(60, (at) => shortened("abcdefghijklmnopqrstuvwxyz".slice(0, at % 27), 30 + 3 * at)),
  ...times(60, () => {
    const lengthMs = 1000 + some(9000);
    return sparkline(steps(1 + some(20), lengthMs, 20), lengthMs, 1 + some(25), 1 + some(40));
  }),
];

test("pictures of drawn numbers have the bytes that they had", () => {
  const documents: Named[] = [
    ["curves", drawn(curves())],
    ["intervals", drawn(intervals())],
    ["bars", drawn(bars())],
    ["maps", drawn(maps().filter((picture) => picture !== null))],
    ["places", accused().join("\n")],
    ["windows", windows().join("\n")],
    ["waits", waits().join("\n")],
    ["axes", axes().join("\n")],
    ["words", words().join("\n")],
  ];
  for (const [name, text] of documents) expect(text, name).not.toMatch(/NaN|undefined|Infinity/);
  expectBytes("drawn", documents);
});
