// The book of one window by itself: when it opens and closes, and which spans its counts have.
import { describe, expect, test } from "vitest";
import { exactly, WindowBook } from "../../src/laws/window-book.ts";

const firstRequest = (opensToMs = 1, lateMs = 0): WindowBook => new WindowBook(1000, null, opensToMs, lateMs);
const onGrid = (lateMs: number, gridMs: number): WindowBook => new WindowBook(1000, gridMs, 1, lateMs);
const none = { least: 0, most: 0 };
/** The open window of a book. */
const told = ({ untilMs, doubtUntilMs, span, charged, ended, window }: WindowBook) => ({
  untilMs,
  doubtUntilMs,
  span,
  charged,
  ended,
  window,
});

describe("a window of the first request", () => {
  test("opens with the first charge, and ends its length later", () => {
    const book = firstRequest();
    expect(book.advance(500, 0)).toBe(500);
    book.count(null, null);
    expect(told(book)).toEqual({
      untilMs: null,
      doubtUntilMs: 0,
      span: none,
      charged: false,
      ended: 0,
      window: null,
    });
    book.count(exactly(3), null);
    const open = { untilMs: 1500, doubtUntilMs: 0, span: exactly(3), charged: true, ended: 0, window: 0 };
    expect(told(book)).toEqual(open);
    book.advance(1499, 0);
    book.count({ least: 0, most: 2 }, 2400);
    expect(told(book)).toEqual({ ...open, span: { least: 3, most: 5 } });
    book.shown = 4;
    book.unenforced = true;
    book.advance(1500, 0);
    expect(told(book)).toEqual({
      untilMs: null,
      doubtUntilMs: 0,
      span: none,
      charged: false,
      ended: 1,
      window: null,
    });
    expect([book.shown, book.unenforced]).toEqual([null, false]);
  });

  test("opens at a whole unit", () => {
    const book = firstRequest(250);
    book.advance(1499, 0);
    book.count(exactly(1), null);
    expect([book.untilMs, book.charged]).toEqual([2250, true]);
    const shown = firstRequest(250);
    shown.advance(1499, 0);
    shown.count(exactly(1), 2499);
    expect(shown.untilMs).toBe(2499);
  });

  test.each<[number, number]>([
    [1500, 1500],
    [1400, 1400],
    [501, 501],
    [500, 1500],
    [1501, 1500],
  ])("believes the end %d that the limiter shows, if the rules allow it", (toldMs, untilMs) => {
    const book = firstRequest();
    book.advance(500, 0);
    book.count(exactly(1), toldMs);
    expect(book.untilMs).toBe(untilMs);
  });

  test("may include the instant of its end", () => {
    const book = firstRequest(1, 1);
    book.advance(500, 0);
    book.count(exactly(1), 500);
    expect(book.untilMs).toBe(500);
    expect(book.lateMs).toBe(1);
    book.advance(500, 0);
    expect(book.window).toBe(0);
    book.advance(501, 0);
    expect([book.window, book.ended]).toEqual([null, 1]);
  });

  test("is in doubt after a charge that may be 0, until it would have ended", () => {
    const book = firstRequest();
    book.advance(500, 0);
    book.count({ least: 0, most: 4 }, 900);
    expect(told(book)).toEqual({
      untilMs: null,
      doubtUntilMs: 1500,
      span: { least: 0, most: 4 },
      charged: true,
      ended: 0,
      window: null,
    });
    expect(book.held).toEqual({ window: null, sure: false });
    book.advance(700, 0);
    // A sure charge of no possible end prolongs the doubt, one of a possible end settles it.
    book.count(exactly(1), 700);
    expect([book.untilMs, book.doubtUntilMs]).toEqual([null, 1700]);
    book.count(exactly(1), 1500);
    expect(told(book)).toEqual({
      untilMs: 1500,
      doubtUntilMs: 0,
      span: { least: 2, most: 6 },
      charged: true,
      ended: 0,
      window: 0,
    });
    expect(book.held).toEqual({ window: 0, sure: true });
  });

  test("of doubt that began before the clock did ends a length later", () => {
    const book = new WindowBook(1, null, 1, 0);
    book.count(exactly(0), null);
    expect(book.doubtUntilMs).toBe(1);
    book.advance(1, 0);
    expect(book.ended).toBe(1);
  });

  test("of doubt alone ends, too", () => {
    const book = firstRequest();
    book.advance(500, 0);
    book.count(exactly(0), null);
    expect([book.doubtUntilMs, book.charged]).toEqual([1500, false]);
    book.advance(1499, 0);
    expect(book.ended).toBe(0);
    book.advance(1500, 0);
    expect([book.ended, book.doubtUntilMs]).toEqual([1, 0]);
  });
});

describe("a window of a grid", () => {
  test.each<[number, number, number, number]>([
    [0, 0, 1999, 2000],
    [0, 0, 2000, 3000],
    [1, 0, 2000, 2000],
    [1, 0, 2001, 3000],
    [0, 300, 2299, 2300],
    [0, 300, 2300, 3300],
    [1, 300, 2300, 2300],
  ])("that ends %d ms late, on the grid of %d, at %d", (lateMs, gridMs, nowMs, untilMs) => {
    const book = onGrid(lateMs, gridMs);
    book.advance(nowMs, 0);
    book.count(null, null);
    expect([book.untilMs, book.window]).toEqual([untilMs, 0]);
  });
});

describe("the clock of a window", () => {
  test("never goes back, and never behind the floor", () => {
    const book = firstRequest();
    expect([book.seenMs, book.unenforced]).toEqual([0, false]);
    expect([book.advance(5, 0), book.advance(3, 0), book.advance(4, 9), book.seenMs]).toEqual([5, 5, 9, 9]);
  });

  test("of a copy is its own", () => {
    const book = firstRequest(250, 1);
    book.advance(600, 0);
    book.count(exactly(2), null);
    const copy = book.copy();
    expect(copy).toEqual(book);
    copy.advance(9000, 0);
    expect([book.ended, copy.ended]).toEqual([0, 1]);
    expect([firstRequest().copy().lateMs, copy.lateMs]).toEqual([0, 1]);
  });
});

describe("points that a completed call did not use", () => {
  const charged = (): WindowBook => {
    const book = firstRequest();
    book.advance(0, 0);
    book.count(exactly(9), null);
    return book;
  };

  test("go back to the window that held them, if that is open", () => {
    const book = charged();
    expect([book.giveBack(4, { window: 0, sure: true }), book.span]).toEqual([4, exactly(5)]);
    expect([book.giveBack(4, { window: null, sure: true }), book.span]).toEqual([0, exactly(5)]);
    expect([book.giveBack(4, { window: 1, sure: true }), book.span]).toEqual([0, exactly(5)]);
    expect([book.giveBack(4, { window: null, sure: false }), book.span]).toEqual([4, { least: 1, most: 5 }]);
  });

  test("are charged late in the window of the decision, in a new one, or perhaps", () => {
    const book = charged();
    expect(book.late(7, { window: 0, sure: true })).toEqual(exactly(7));
    expect(book.late(7, { window: null, sure: true })).toEqual(exactly(7));
    expect(book.late(7, { window: 3, sure: true })).toEqual({ least: 0, most: 7 });
    expect(book.late(7, { window: 0, sure: false })).toEqual({ least: 0, most: 7 });
  });
});
