// The picture of an accused window: which answers it shows, between which counts, and whether the limit is among them.
import { describe, expect, test } from "vitest";
import type { Html } from "../../src/report/html.ts";
import type { Picture } from "../../src/report/picture.ts";
import { placesFigure } from "../../src/report/places-picture.ts";
import type { CountPlace, Violation } from "../../src/verify/verdict.ts";
import { sampleViolation } from "./fixtures.ts";

const opensAt = sampleViolation.window?.opensAt ?? 0;
const place = (line: number, from: number, to: number, more: Partial<CountPlace> = {}): CountPlace => ({
  ...{ line, role: "admitted", sent: opensAt + line * 40, received: opensAt + line * 40 + 60, from, to },
  ...more,
});

/** The picture that a violation of these answers has. */
function pictureOf(answers: readonly CountPlace[], { limit = 20, lines = [3] as readonly number[] } = {}) {
  const pictures: Picture[] = [];
  const draw = (picture: Picture): Html => {
    pictures.push(picture);
    return { html: "" } as unknown as Html;
  };
  const violation: Violation = {
    ...sampleViolation,
    lines: [...lines],
    places: { limit, answers: [...answers] },
  };
  placesFigure(violation, 4, { draw } as never);
  return pictures[0] as Picture;
}
const names = ({ legend }: Picture): string[] => legend.map(({ name }) => name);

test("a violation without answers has none", () => {
  const gallery = { draw: () => ({}) } as never;
  expect(placesFigure(sampleViolation, 0, gallery)).toBeNull();
  expect(placesFigure({ ...sampleViolation, places: { limit: 1, answers: [] } }, 0, gallery)).toBeNull();
});

describe("the limit is in the picture", () => {
  // Counts from 10 to 20 are drawn from 9 to 21, those from 3 to 103 from 0 to 111.
  const [small, large] = [
    [place(2, 10, 11), place(3, 19, 20)],
    [place(2, 3, 4), place(3, 102, 103)],
  ];
  test.each([
    [small, 8, false],
    [small, 9, true],
    [small, 21, true],
    [small, 22, false],
    [large, 0, true],
    [large, 111, true],
    [large, 112, false],
  ])("%#: by %i %s", (answers, limit, isShown) => {
    expect(names(pictureOf(answers, { limit })).includes(`limit ${limit}`)).toBe(isShown);
  });
});

test("it tells each answer, by the time since the first", () => {
  const answers = [
    place(2, 10, 11),
    place(3, 10, 11),
    place(4, 11, 11, { role: "refused", sent: opensAt + 75, received: opensAt + 500 }),
  ];
  const picture = pictureOf(answers);
  expect(picture.id).toBe("places-5");
  expect(names(picture)).toEqual(["accused", "admitted", "reads: refusals, status"]);
  expect(picture.data.rows).toEqual([
    [2, "no", "admitted", 5, 65, 10, 11],
    [3, "yes", "admitted", 45, 105, 10, 11],
    [4, "no", "refused", 0, 425, 11, 11],
  ]);
  expect(picture.readings).toMatchObject({ across: 425, time: false, snap: "nearest" });
  // The counts drawn are 9 to 12.
  expect(picture.readings?.points).toEqual([
    { x: 35, y: 0.5, cells: ["2", "admitted", "5 ms to 65 ms", "10", "11"] },
    { x: 75, y: 0.5, cells: ["3, accused", "admitted", "45 ms to 105 ms", "10", "11"] },
    { x: 212.5, y: 1 / 3, cells: ["4", "refused", "0 ms to 425 ms", "11", "11"] },
  ]);
  expect(names(pictureOf([place(3, 1, 2)]))).toEqual(["accused"]);
});

test("it shows the 24 answers that are nearest to an accused one, in their order", () => {
  const answers = Array.from({ length: 60 }, (_, at) => place(at + 2, at, at + 1));
  const shown = (lines: readonly number[]) => pictureOf(answers, { lines }).data.rows.map(([line]) => line);
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
  expect(shown([30])).toEqual(numbers(18, 41));
  expect(shown([2, 61])).toEqual([...numbers(2, 13), ...numbers(50, 61)]);
  expect(shown([99])).toEqual(numbers(2, 25));
});
