// The wheel against what it stands for: a list sorted by time, then by order of scheduling.
import fc from "fast-check";
import { expect, test } from "vitest";
import { EventQueue, NOTHING } from "../../sim/event-queue.ts";
import { property } from "../support/property.ts";

/** The slow queue that is right to the eye. */
class SortedList {
  nowMs: number;
  readonly #events: { readonly timeMs: number; readonly event: number }[] = [];

  constructor(startMs: number) {
    this.nowMs = startMs;
  }

  get size(): number {
    return this.#events.length;
  }

  push(timeMs: number, event: number): void {
    const later = this.#events.findIndex((other) => other.timeMs > timeMs);
    this.#events.splice(later < 0 ? this.#events.length : later, 0, { timeMs, event });
  }

  pop(): number {
    const first = this.#events.shift();
    this.nowMs = first?.timeMs ?? this.nowMs;
    return first?.event ?? NOTHING;
  }
}

const block = 2 ** 30;
const edges = [0, 1_024, 1_024 ** 2, block, 5 * block, 1_767_225_600_000].flatMap((edge) =>
  [-1, 0, 1].map((by) => Math.max(0, edge + by)),
);
const starts = fc.oneof(fc.constantFrom(...edges), fc.nat(4 * block));
/** So far ahead: this very millisecond, within a slot of each level, to an edge, or blocks away. */
const ahead = fc.oneof(
  { weight: 4, arbitrary: fc.nat(3) },
  { weight: 3, arbitrary: fc.nat(2_000) },
  { weight: 2, arbitrary: fc.nat(3_000_000) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 40 * block }) },
  { weight: 1, arbitrary: fc.constantFrom(...edges) },
);
/** Push so far ahead of now; of the instant that was pushed last once more; or pop. */
const operation = fc.oneof(
  { weight: 4, arbitrary: ahead.map((ms) => ({ kind: "push" as const, ms })) },
  { weight: 2, arbitrary: fc.constant({ kind: "again" as const }) },
  { weight: 5, arbitrary: fc.constant({ kind: "pop" as const }) },
);

property([starts, fc.array(operation, { maxLength: 300, size: "max" })], { numRuns: 150 })(
  "pushes and pops in any order agree with the sorted list, ties first scheduled first out",
  (startMs, operations) => {
    const wheel = new EventQueue(startMs, 1);
    const list = new SortedList(startMs);
    let lastMs = startMs;
    for (const [event, step] of operations.entries()) {
      if (step.kind === "pop") expect(wheel.pop()).toBe(list.pop());
      else {
        lastMs = Math.max(list.nowMs, step.kind === "again" ? lastMs : list.nowMs + step.ms);
        wheel.push(lastMs, event);
        list.push(lastMs, event);
      }
      expect([wheel.size, wheel.nowMs]).toEqual([list.size, list.nowMs]);
    }
    while (list.size > 0) expect([wheel.pop(), wheel.nowMs]).toEqual([list.pop(), list.nowMs]);
    expect(wheel.pop()).toBe(NOTHING);
  },
);

property([
  fc.array(fc.nat(3_000), { maxLength: 200 }),
  fc.array(fc.record({ pops: fc.nat(30), enough: fc.integer({ min: 1, max: 40 }), room: fc.nat(60) })),
])("what is ahead is what comes next, so far as there is room", (times, looks) => {
  const queue = new EventQueue(0);
  for (const [event, timeMs] of times.entries()) queue.push(timeMs, event);
  for (const { pops, enough, room } of looks) {
    const out = new Int32Array(room);
    const told = queue.ahead(out, enough);
    const popped: number[] = [];
    const unseen: boolean[] = [];
    for (let pop = 0; pop < Math.max(pops, told) && queue.size > 0; pop++) {
      popped.push(queue.pop());
      unseen.push(queue.isAtUnseen);
    }
    expect([...out.subarray(0, told)]).toEqual(popped.slice(0, told));
    expect(unseen.slice(0, told)).not.toContain(true);
    if (room >= times.length && told < enough) expect(unseen.slice(told)).not.toContain(false);
  }
});

test("an empty queue has nothing next, and stays where it is", () => {
  const queue = new EventQueue(7);
  expect([queue.size, queue.pop(), queue.nowMs]).toEqual([0, NOTHING, 7]);
});

test("ties of one instant that came at each level keep their order", () => {
  const queue = new EventQueue(0);
  const timeMs = 3 * 1_024 ** 2 + 5 * 1_024 + 9;
  // Each stop brings now a digit nearer, so that the same instant is pushed at level 2, 1 and 0, and at last is now.
  const stops = [3 * 1_024 ** 2, 3 * 1_024 ** 2 + 5 * 1_024, timeMs];
  for (const [index, stopMs] of stops.entries()) queue.push(stopMs, 100 + index);
  queue.push(timeMs, 0);
  queue.push(timeMs, 1);
  expect(queue.pop()).toBe(100);
  queue.push(timeMs, 2);
  expect(queue.pop()).toBe(101);
  queue.push(timeMs, 3);
  expect(queue.pop()).toBe(102);
  queue.push(timeMs, 4);
  expect([0, 1, 2, 3, 4].map(() => queue.pop())).toEqual([0, 1, 2, 3, 4]);
});

test.each([4, Number.NaN, 5.5, Number.POSITIVE_INFINITY, 2 ** 53])(
  "cannot be scheduled at 5: %s",
  (timeMs) => {
    const queue = new EventQueue(0);
    queue.push(5, 1);
    queue.pop();
    expect(() => queue.push(timeMs, 2)).toThrow(RangeError);
  },
);
