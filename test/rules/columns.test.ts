// Columns of text, where letters take two columns of a terminal, or none.
import { expect, test } from "vitest";
import { columns, displayWidth, padAfter } from "../../src/rules/columns.ts";

test.each([
  ["", 0],
  ["ann", 3],
  ["中文", 4],
  ["한국어", 6],
  ["ひらがなー", 10],
  ["ｱ", 1],
  ["Ａ！", 4],
  ["é and e\u0301", 7],
  ["שלום", 4],
  ["🚀", 2],
  ["👩‍👩‍👧", 2],
  ["🇩🇪", 2],
  ["☎", 1],
  ["☎\ufe0f", 2],
  ["𠮷", 2],
  ["a\u200bb", 2],
  ["▁▄█ – …", 7],
])("%s takes %i columns", (text, width) => {
  expect(displayWidth(text)).toBe(width);
  expect(padAfter(text, 12)).toBe(text + " ".repeat(12 - width));
  expect(padAfter(text, 0)).toBe(text);
});

test("columns begin at one place, whatever the letters, and numbers end at one", () => {
  const rows = [
    ["name", "calls", "first"],
    ["中文", "1,200", "now"],
    ["🚀 ann", "7", ""],
  ];
  expect(columns(rows, { right: [1] })).toEqual([
    "name    calls  first",
    "中文    1,200  now",
    "🚀 ann      7",
  ]);
  expect(
    columns(
      [
        ["a", "<b>x</b>", "y"],
        ["a", "xyz", "y"],
      ],
      { bare: (cell) => cell.replace(/<.*?>/g, "") },
    ),
  ).toEqual(["a  <b>x</b>    y", "a  xyz  y"]);
  expect(columns([])).toEqual([]);
  expect(columns([["a"], ["b", "c"]])).toEqual(["a", "b  c"]);
});
