// The table of counts, member by member, and the tree of callers' values.
import { describe, expect, test } from "vitest";
import { blockSize, CountTable, DOUBLES, linkAt } from "../../src/engine/count-table.ts";
import { ValueTree } from "../../src/engine/value-tree.ts";

const profile = { limit: 10, first: 20, second: 30 };
const numbersOf = (table: CountTable, record: number): number[] => {
  const at = table.profileAt(record);
  return [...table.profiles.subarray(at, at + 3)];
};

describe("a table of counts", () => {
  test("begins a record at nothing, whatever was there, and beside others", () => {
    const table = new CountTable();
    for (const record of [0, 1, 2]) table.begin(record, profile, false);
    table.write(1, { endsAt: 5, count: 6, seenMs: 7 });
    table.setEnforced(2, true);
    const state = { endsAt: 0, count: 0, seenMs: 0 };
    expect([0, 1, 2].map((record) => table.read(record))).toEqual([
      state,
      { endsAt: 5, count: 6, seenMs: 7 },
      state,
    ]);
    table.begin(1, { ...profile, limit: 11 }, true);
    expect([0, 1, 2].map((record) => table.read(record))).toEqual([state, state, state]);
    expect([0, 1, 2].map((record) => table.limit(record))).toEqual([10, 11, 10]);
    expect([0, 1, 2].map((record) => table.isEnforced(record))).toEqual([false, true, true]);
    for (const enforced of [false, true, true, false]) {
      table.setEnforced(1, enforced);
      expect([table.isEnforced(1), table.limit(1)]).toEqual([enforced, 11]);
    }
  });

  test("marks records that have no count", () => {
    const table = new CountTable();
    for (const record of [0, 1, 2]) table.begin(record, profile, record === 1);
    table.clear(1);
    expect([0, 1, 2].map((record) => table.has(record))).toEqual([true, false, true]);
    table.begin(1, profile, false);
    expect([0, 1, 2].map((record) => table.has(record))).toEqual([true, true, true]);
  });

  test("keeps each profile once, and tells them apart by each of their numbers", () => {
    const table = new CountTable();
    const { length } = table.profiles;
    for (let record = 0; record < 200; record++) table.begin(record, profile, record % 2 === 0);
    expect(table.profiles).toHaveLength(length);
    const others = [
      { ...profile, limit: 11 },
      { ...profile, first: 21 },
      { ...profile, second: 31 },
      { limit: 20, first: 30, second: 10 },
      { limit: 10, first: 30, second: 20 },
    ];
    for (const [index, other] of others.entries()) table.begin(index, other, true);
    expect(others.map((_, record) => numbersOf(table, record))).toEqual(
      others.map(({ limit, first, second }) => [limit, first, second]),
    );
    expect(numbersOf(table, 199)).toEqual([10, 20, 30]);
    expect(table.profiles).toHaveLength(2 * length);
    for (const [index, other] of others.entries()) table.begin(index + 50, other, false);
    expect(table.profiles).toHaveLength(2 * length);
  });

  test("makes room by doubling, and only where a record has none; what it holds stays", () => {
    const table = new CountTable();
    const sizes = [1, 64, 65, 128, 129, 1000].map((records) => {
      table.reserve(records);
      table.begin(records - 1, { ...profile, limit: records }, records === 65);
      table.write(records - 1, { endsAt: records, count: 1, seenMs: 2 });
      return table.doubles.length / DOUBLES;
    });
    expect(sizes).toEqual([64, 64, 128, 128, 256, 1024]);
    expect(table.ints).toHaveLength(2 * table.doubles.length);
    expect([0, 63, 64, 127, 128, 999].map((record) => table.read(record).endsAt)).toEqual([
      1, 64, 65, 128, 129, 1000,
    ]);
    expect([0, 64, 999].map((record) => [table.limit(record), table.isEnforced(record)])).toEqual([
      [1, false],
      [65, true],
      [1000, false],
    ]);
  });
});

test("links lie in the records of counts, and then in records of their own", () => {
  expect([0, 1, 2, 3, 9, 10].map((link) => linkAt(2, link))).toEqual([0, 8, 16, 17, 23, 24]);
  expect([0, 1].map((link) => linkAt(0, link))).toEqual([0, 1]);
  expect(
    [
      [2, 0],
      [2, 2],
      [2, 3],
      [2, 10],
      [2, 11],
      [0, 8],
      [0, 9],
    ].map(([counts = 0, links = 0]) => blockSize(counts, links)),
  ).toEqual([2, 2, 3, 3, 4, 1, 2]);
});

describe("a tree of values", () => {
  const caller = (org: string, user: string) => ({ org, user });

  test("finds the numbers of pairs, and forgets those that are deleted", () => {
    const tree = new ValueTree(["org", "user"]);
    const pairs = [caller("a", "x"), caller("a", "y"), caller("b", "x")];
    const found = () => pairs.map((each) => [tree.find(each), tree.findPair(each.org, each.user)]);
    expect([tree.find(caller("a", "x")), tree.findPair("a", "x"), [...tree]]).toEqual([
      undefined,
      undefined,
      [],
    ]);
    for (const [number, each] of pairs.entries()) tree.set(each, number);
    expect(found()).toEqual([0, 1, 2].map((number) => [number, number]));
    expect([...tree]).toEqual(pairs.map((each, number) => [each, number]));
    tree.set(caller("a", "y"), 7);
    tree.delete(caller("a", "x"));
    tree.delete(caller("c", "x"));
    tree.delete(caller("a", "z"));
    expect(found()).toEqual([undefined, 7, 2].map((number) => [number, number]));
    tree.delete(caller("a", "y"));
    tree.delete(caller("b", "x"));
    expect([...tree]).toEqual([]);
    tree.set(caller("b", "y"), 9);
    expect([...tree]).toEqual([[caller("b", "y"), 9]]);
  });

  test("of no attribute has one number, of three a branch each", () => {
    const one = new ValueTree([]);
    expect(one.find({})).toBeUndefined();
    one.set({}, 5);
    expect([one.find({}), [...one]]).toEqual([5, [[{}, 5]]]);
    one.delete({});
    expect([one.find({}), [...one]]).toEqual([undefined, []]);
    const three = new ValueTree(["a", "b", "c"]);
    const values = (a: string, b: string, c: string) => ({ a, b, c });
    three.set(values("1", "2", "3"), 0);
    three.set(values("1", "2", "4"), 1);
    three.set(values("1", "5", "3"), 2);
    expect(three.find(values("1", "2", "9"))).toBeUndefined();
    expect(three.find(values("9", "2", "3"))).toBeUndefined();
    three.delete(values("1", "2", "4"));
    expect([...three].map(([, number]) => number)).toEqual([0, 2]);
  });
});
