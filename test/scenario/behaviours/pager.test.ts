import { describe, expect, test } from "vitest";
import { pager, rest } from "../../../src/scenario/index.ts";
import { Rig } from "../rig.ts";

const call = rest("/v2/organizations/:org/pipelines");
const pages = (calls: readonly { page: number }[]): number[] => calls.map(({ page }) => page);

test("asks for page and page size in the path", () => {
  const [paged] = pager({ call, pages: 3, perPage: 50 }).calls;
  expect(paged?.path).toBe("/v2/organizations/:org/pipelines?page=:page&per_page=50");
  const [filtered] = pager({ call: rest("/v2/builds?state=failed"), pages: 3 }).calls;
  expect(filtered?.path).toBe("/v2/builds?state=failed&page=:page&per_page=30");
});

describe("one page at a time", () => {
  test("follows the next page as long as there is one", () => {
    const rig = new Rig(pager({ call, pages: 10 }));
    const first = rig.only(rig.start(0));
    expect(first.page).toBe(1);
    const second = rig.only(rig.answer(first, 5, { hasNextPage: true }));
    expect(second).toMatchObject({ page: 2, atMs: 5, wantedMs: 5 });
    expect(rig.answer(second, 9, { hasNextPage: false })).toEqual([]);
    expect(rig.stopped).toBe(true);
  });

  test("reads no more than `pages`", () => {
    const rig = new Rig(pager({ call, pages: 2 }));
    const second = rig.only(rig.answer(rig.only(rig.start(0)), 5, { hasNextPage: true }));
    expect(rig.answer(second, 9, { hasNextPage: true })).toEqual([]);
    expect(rig.stopped).toBe(true);
  });

  test("a page that is refused for good ends the reading", () => {
    const rig = new Rig(pager({ call, pages: 10 }));
    expect(rig.answer(rig.only(rig.start(0)), 5, { status: 429 })).toEqual([]);
    expect(rig.stopped).toBe(true);
  });
});

describe("several pages at a time", () => {
  test("begin when the first one has shown that there are more", () => {
    const rig = new Rig(pager({ call, pages: 5, parallel: 3 }));
    const first = rig.only(rig.start(0));
    expect(pages(rig.answer(first, 5, { hasNextPage: true }))).toEqual([2, 3, 4]);
  });

  test("keep `parallel` on the way, and none beyond `pages`", () => {
    const rig = new Rig(pager({ call, pages: 5, parallel: 3 }));
    const [two, three, four] = rig.answer(rig.only(rig.start(0)), 5, { hasNextPage: true });
    if (two === undefined || three === undefined || four === undefined) throw new Error("three pages");
    const five = rig.only(rig.answer(three, 6, { hasNextPage: true }));
    expect(five.page).toBe(5);
    expect(rig.answer(two, 7, { hasNextPage: true })).toEqual([]);
    expect(rig.answer(four, 8, { hasNextPage: true })).toEqual([]);
    expect(rig.stopped).toBe(false);
    expect(rig.answer(five, 9, { hasNextPage: true })).toEqual([]);
    expect(rig.stopped).toBe(true);
  });

  test("one last page ends the reading, pages on the way are still awaited", () => {
    const rig = new Rig(pager({ call, pages: 9, parallel: 2 }));
    const [two, three] = rig.answer(rig.only(rig.start(0)), 5, { hasNextPage: true });
    if (two === undefined || three === undefined) throw new Error("two pages");
    expect(rig.answer(three, 6, { hasNextPage: false })).toEqual([]);
    expect(rig.stopped).toBe(false);
    expect(rig.answer(two, 7, { hasNextPage: true })).toEqual([]);
    expect(rig.stopped).toBe(true);
  });
});

test("with `every` the list is read again, from page 1, at the next tick", () => {
  const rig = new Rig(pager({ call, pages: 9, every: "1m" }));
  const second = rig.only(rig.answer(rig.only(rig.start(100)), 105, { hasNextPage: true }));
  expect(rig.answer(second, 110)).toMatchObject([{ page: 1, atMs: 60_100, wantedMs: 60_100 }]);
});

test("`entries` tells the simulator where the list ends; an empty list has one page", () => {
  const lastPage = (entries: number) => pager({ call, pages: 9, perPage: 100, entries }).calls[0]?.lastPage;
  expect([0, 1, 100, 101, 240].map(lastPage)).toEqual([1, 1, 1, 2, 3]);
});
