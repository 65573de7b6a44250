// Axes of pictures: which times and amounts are named, how far apart, and names that are too long for their place.
import { describe, expect, test } from "vitest";
import { amountAxis, amountText, countAxis, shareAxis, timeLabels } from "../../src/report/axes.ts";
import { shortened } from "../../src/report/call-bars.ts";
import { waitChart } from "../../src/report/charts.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

test("waits are told in ms or s, by the power of ten", () => {
  const { xAxis } = waitChart([]) as { xAxis: { axisLabel: { formatter(ms: number): string } } };
  const words = [1, 100, 1_000, 100_000, 1_000_000, 10_000_000].map(xAxis.axisLabel.formatter);
  expect(words).toEqual(["1 ms", "100 ms", "1 s", "100 s", "1,000 s", "10,000 s"]);
});

/** Words of the times below a plot. */
const wordsOf = (layout: "wide" | "narrow", lengthMs: number): string[] =>
  [...timeLabels(layout, 200, lengthMs).matchAll(/>([^<]+)<\/text>/g)].map(([, words = ""]) => words);

test.each([
  [second, 100],
  [1_001, 200],
  [5 * second, 500],
  [5_001, second],
  [10_001, 2 * second],
  [20_001, 5 * second],
  [50_001, 10 * second],
  [100_001, 15 * second],
  [150_001, 30 * second],
  [180_000, 30 * second],
  [180_001, minute],
  [10 * minute + 1, 2 * minute],
  [20 * minute + 1, 5 * minute],
  [50 * minute + 1, 10 * minute],
  [100 * minute + 1, 15 * minute],
  [150 * minute + 1, 30 * minute],
  [5 * hour + 1, hour],
  [10 * hour + 1, 2 * hour],
  [20 * hour + 1, 3 * hour],
  [30 * hour + 1, 6 * hour],
  [60 * hour + 1, 12 * hour],
  [120 * hour + 1, day],
  [10 * day + 1, 2 * day],
  [20 * day + 1, 4 * day],
  [90 * day, 16 * day],
])(
  "%s ms have a time each %s ms in a wide picture, and at most half as many in a narrow one",
  (lengthMs, stepMs) => {
    const wide = wordsOf("wide", lengthMs);
    expect(wide).toHaveLength(Math.floor(lengthMs / stepMs) + 1);
    expect(wide[0]).toBe("0");
    expect(wordsOf("narrow", lengthMs).length).toBeLessThanOrEqual(6);
  },
);

test("times never overlap, however long a run is", () => {
  const lengths = Array.from({ length: 400 }, (_, place) => Math.round(100 * 1.06 ** place));
  for (const layout of ["wide", "narrow"] as const)
    for (const lengthMs of [...lengths, 5.5 * day, 7 * day, 30 * day]) {
      const labels = [
        ...timeLabels(layout, 200, lengthMs).matchAll(
          /x="([\d.]+)" y="\d+" text-anchor="(\w+)"[^>]*>([^<]+)</g,
        ),
      ].map(([, x, anchor, words = ""]) => {
        // A character of 12 px is about 6.6 px wide.
        const size = 6.6 * words.length;
        const right = anchor === "end" ? Number(x) : Number(x) + size / 2;
        return { left: right - size, right };
      });
      expect(labels.length).toBeGreaterThanOrEqual(2);
      for (const [place, { left }] of labels.slice(1).entries())
        expect(left, `${layout} ${lengthMs}`).toBeGreaterThan(labels[place]?.right ?? 0);
    }
});

test("times stand below their places; the last one ends with the picture where it would be cut off", () => {
  const places = [
    ...timeLabels("wide", 200, 10 * second).matchAll(/x="([\d.]+)" y="(\d+)" text-anchor="(\w+)"/g),
  ];
  expect(places.map(([, , y]) => y)).toEqual(places.map(() => "189"));
  expect([places[0]?.[1], places[0]?.[3], places.at(-1)?.[3]]).toEqual(["52", "middle", "end"]);
  const [, second1 = "", third = ""] = places.map(([, x]) => x);
  expect(Number(third) - Number(second1)).toBeCloseTo(Number(second1) - 52, 0);
});

test.each([
  [0.3, 0, 1],
  [5, 0, 1],
  [6, 0, 2],
  [10, 0, 2],
  [11, 0, 5],
  [25, 0, 5],
  [26, 0, 10],
  [50, 0, 10],
  [51, 0, 20],
  [251, 0, 100],
  [20, 15, 1],
])("counts up to %s from %s are named each %s", (most, least, interval) => {
  const axis = countAxis(most, least);
  expect([axis.min, axis.max, axis.interval]).toEqual([least, most, interval]);
  expect([axis.axisLabel.formatter(2 * interval), axis.axisLabel.formatter(1.5 * interval)]).toEqual([
    String(2 * interval),
    "",
  ]);
});

describe("amounts", () => {
  const ticks = (...given: Parameters<typeof amountAxis>) => amountAxis(...given).axisLabel.customValues;
  test.each<[Parameters<typeof amountAxis>, number[]]>([
    [
      ["count", 5],
      [0, 1, 2, 3, 4, 5],
    ],
    [
      ["count", 12],
      [0, 5, 10],
    ],
    [
      ["count", 12, 3],
      [4, 6, 8, 10, 12],
    ],
    [
      ["count", 12, 3, true],
      [3, 6, 8, 10, 12],
    ],
    [
      ["count", 12.5, 3, true],
      [3, 6, 8, 10, 12.5],
    ],
    [
      ["ms", 900],
      [0, 200, 400, 600, 800],
    ],
    [
      ["ms", 1_000],
      [0, 200, 400, 600, 800, 1_000],
    ],
    [
      ["ms", 4_000],
      [0, 1_000, 2_000, 3_000, 4_000],
    ],
    [
      ["ms", 90_000],
      [0, 30_000, 60_000, 90_000],
    ],
  ])("%j are named at %j", (given, values) => {
    expect(ticks(...given).map((tick) => tick + 0)).toEqual(values);
  });

  test("are told in their unit", () => {
    expect([
      amountText("share", 0.5),
      amountText("ms", 1_500),
      amountText("count", 99.5),
      amountText("count", 100.5),
    ]).toEqual([...["50%", "1.5 s", "99.5", "101"]]);
    const { formatter } = amountAxis("ms", 900).axisLabel;
    expect([formatter(0), formatter(200), amountAxis("count", 9).axisLabel.formatter(0)]).toEqual([
      "0",
      "200 ms",
      "0",
    ]);
    expect([0, 0.25, 1].map(shareAxis.axisLabel.formatter)).toEqual(["0%", "25%", "100%"]);
  });
});

test.each([
  ["abcdefghij", 87, "abcdefghij"],
  ["abcdefghijk", 87, "abcde…hijk"],
  ["abcdefghijk", 95, "abcdefghijk"],
  ["abcdefghijklmnop", 51, "ab…op"],
])("the name %s in %s pixels is %s", (name, left, words) => {
  expect(shortened(name, left)).toBe(words);
});
