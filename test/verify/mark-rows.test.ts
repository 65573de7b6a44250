// Marks as rows of numbers: each is read as it was written, wherever its row lies and whatever lies beside it.
import { describe, expect, test } from "vitest";
import type { Mark } from "../../src/verify/mark.ts";
import { MarkRows, NONE, PIECE, ROW } from "../../src/verify/mark-rows.ts";
import { markOf } from "./marks.ts";

const refused = { role: "refused", least: 0, most: 0, held: 0 } as const;
const marks: readonly Mark[] = [
  markOf({ sent: 1.5, received: 2.25, end: { from: 3.5, to: 4.75 }, line: 7, count: 8, limit: 9, reset: 11 }),
  markOf({ role: "status", cost: null, asked: 0, least: 0, most: 0, held: 0, sure: false }),
  markOf({ ...refused, refusedBy: "user" }),
  markOf({ ...refused, refusedBy: "organization", clamped: true }),
  markOf({ ...refused, asked: 0 }),
  markOf({ role: "other", cost: 5, asked: 5, least: 0, most: 5, held: 5 }),
  markOf({ cost: 5, asked: 5, actual: 3, least: 3, most: 3, held: 5 }),
  // Those that no row can hold are kept as they are.
  markOf({ cost: 5, asked: 5, actual: 3, least: 2, most: 4, held: 5 }),
  markOf({ cost: 5, asked: 3 }),
  markOf({ reset: 59.495 }),
  markOf({ resetAt: 60_000 }),
  markOf({ echoesUser: true }),
  markOf({ count: 2 ** 31 }),
];

/** Writes marks one behind the other, from a place on. */
function written(rows: MarkRows, all: readonly Mark[], from = 0): readonly number[] {
  return all.map((mark, at) => {
    const place = from + at * ROW;
    rows.give(mark);
    rows.write(place);
    return place;
  });
}

test("each mark is read as it was written, by itself and as a view", () => {
  const rows = new MarkRows();
  const places = written(rows, marks);
  expect(places.map((place) => rows.at(place))).toEqual(marks);
  for (const [at, place] of places.entries()) expect(rows.view(place)).toMatchObject({ ...marks[at] });
});

test("a mark is told before it is written", () => {
  const rows = new MarkRows();
  const [mark] = marks as [Mark];
  rows.give(mark);
  expect(rows.givenMark).toEqual(mark);
});

describe("a row that is moved", () => {
  test.each([
    ["a plain one", markOf({ line: 4 })],
    ["one that no row can hold", markOf({ line: 4, echoesUser: true })],
  ])("leaves its neighbours alone: %s", (_name, moved) => {
    const rows = new MarkRows();
    const [first, gone, third, last] = [2, 3, 5, 6].map((line) => markOf({ line, count: line })) as [
      Mark,
      Mark,
      Mark,
      Mark,
    ];
    const places = written(rows, [first, gone, third, moved, last]);
    const [, to = NONE, , from = NONE] = places;
    rows.forget(to);
    rows.move(from, to);
    expect([0, 1, 2, 4].map((at) => rows.at(places[at] as number))).toEqual([first, moved, third, last]);
  });

  test("replaces one that no row could hold, once that is forgotten", () => {
    const rows = new MarkRows();
    const plain = markOf({ line: 3 });
    const [to = NONE, from = NONE] = written(rows, [markOf({ reset: 0.5 }), plain]);
    rows.forget(to);
    rows.move(from, to);
    expect(rows.at(to)).toEqual(plain);
  });
});

describe("pieces", () => {
  test("are counted from 0, and keep their rows as there are more of them than had room", () => {
    const rows = new MarkRows();
    const pieces = Array.from({ length: 200 }, (_, at) => {
      const piece = rows.take();
      written(rows, [markOf({ line: at })], piece * PIECE);
      return piece;
    });
    expect(pieces).toEqual([...pieces.keys()]);
    expect(pieces.map((piece) => rows.at(piece * PIECE).line)).toEqual([...pieces.keys()]);
    expect(pieces.map((piece) => rows.next[piece])).toEqual(pieces.map(() => NONE));
  });

  test("that are given back are taken again, without what they held", () => {
    const rows = new MarkRows();
    const [first, second, third] = [rows.take(), rows.take(), rows.take()];
    rows.next[first] = third;
    const odd = markOf({ echoesUser: true });
    written(rows, [odd], first * PIECE);
    written(rows, [odd], second * PIECE);
    written(rows, [odd], third * PIECE + PIECE - ROW);
    rows.release(first, third);
    expect([rows.take(), rows.take(), rows.take()]).toEqual([first, third, 3]);
    expect([first, third].map((piece) => rows.next[piece])).toEqual([NONE, NONE]);
    const plain = markOf({ line: 9 });
    written(rows, [plain], first * PIECE);
    written(rows, [plain], third * PIECE + PIECE - ROW);
    expect(rows.at(first * PIECE)).toEqual(plain);
    expect(rows.at(third * PIECE + PIECE - ROW)).toEqual(plain);
    expect(rows.at(second * PIECE)).toEqual(odd);
  });
});
