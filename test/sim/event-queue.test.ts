import { fc, test as property } from "@fast-check/vitest";
import { expect, test } from "vitest";
import { EventQueue } from "../../sim/event-queue.ts";

const drain = (queue: EventQueue<number>): number[] => {
  const found: number[] = [];
  for (let event = queue.pop(); event !== undefined; event = queue.pop()) found.push(event);
  return found;
};

test("an empty queue has nothing next", () => {
  const queue = new EventQueue<number>();
  expect([queue.size, queue.nextMs, queue.pop()]).toEqual([0, Number.POSITIVE_INFINITY, undefined]);
});

property.prop([fc.array(fc.nat(20))])("comes out by time, ties first scheduled first out", (times) => {
  const queue = new EventQueue<number>();
  for (const [index, time] of times.entries()) queue.push(time, index);
  expect(queue.nextMs).toBe(Math.min(Number.POSITIVE_INFINITY, ...times));
  const sorted = times.map((time, index) => ({ time, index })).toSorted((a, b) => a.time - b.time);
  expect(drain(queue)).toEqual(sorted.map(({ index }) => index));
});

/** Push at a time, or (null) pop. */
const operations = fc.array(fc.option(fc.nat(9)));
property.prop([operations])("pushes and pops in any order agree with a sorted list", (list) => {
  const queue = new EventQueue<number>();
  const model: { time: number; index: number }[] = [];
  for (const [index, time] of list.entries()) {
    if (time === null) expect(queue.pop()).toBe(model.shift()?.index);
    else {
      queue.push(time, index);
      const later = model.findIndex((other) => other.time > time);
      model.splice(later < 0 ? model.length : later, 0, { time, index });
    }
    expect(queue.size).toBe(model.length);
    expect(queue.nextMs).toBe(model[0]?.time ?? Number.POSITIVE_INFINITY);
  }
});
