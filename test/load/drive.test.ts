// One client in real time, in a world of the test's own: time moves when it sleeps and when calls take long.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { drive, type StillWorld } from "../../src/load/drive.ts";
import {
  type Behaviour,
  type ClientEvent,
  type PlannedCall,
  type RefusalPolicy,
  startRecord,
} from "../../src/scenario/client.ts";
import { burst, none, pager, poller, rest, waitReset, worker } from "../../src/scenario/index.ts";

const start = 1_800_000_000_000;
const user = rest("/v2/user");

beforeEach(() => vi.useFakeTimers({ now: start }));
afterEach(() => vi.useRealTimers());

interface Sent {
  readonly at: number;
  readonly page: number;
  readonly attempt: number;
  readonly wanted: number;
}

/** Answers each call after `latencyMs`, as `answer` fills it in. */
function world(
  latencyMs: number,
  answer: (event: ClientEvent, call: PlannedCall, sent: number) => void = () => {},
) {
  const sent: Sent[] = [];
  let onTheWay = 0;
  let most = 0;
  const begin = (call: Readonly<PlannedCall>): number => {
    const number = sent.length;
    onTheWay += 1;
    most = Math.max(most, onTheWay);
    sent.push({
      at: Date.now() - start,
      page: call.page,
      attempt: call.attempt,
      wanted: call.wantedMs - start,
    });
    return number;
  };
  const end = (event: ClientEvent, call: Readonly<PlannedCall>, number: number): void => {
    onTheWay -= 1;
    event.nowMs = Date.now();
    event.status = 200;
    answer(event, call, number);
  };
  const made: StillWorld = {
    now: () => Date.now(),
    sleep: (ms) => void vi.setSystemTime(Date.now() + ms),
    at: (atMs, action) => void setTimeout(action, atMs - Date.now()),
    request(call, event) {
      const number = begin(call);
      vi.setSystemTime(Date.now() + latencyMs);
      end(event, call, number);
    },
    send(call, event, told) {
      const number = begin(call);
      setTimeout(() => {
        try {
          end(event, call, number);
        } catch (thrown) {
          return told.failed(thrown);
        }
        told.answered();
      }, latencyMs);
    },
  };
  return { made, sent, most: () => most, onTheWay: () => onTheWay };
}

async function driven(
  behaviour: Behaviour,
  within: ReturnType<typeof world>,
  { onRefused = none(), lasting = 1_000 }: { onRefused?: RefusalPolicy; lasting?: number } = {},
): Promise<void> {
  const record = startRecord(behaviour, 1, 0, 0);
  const driving = drive(
    { behaviour, onRefused, record, startMs: start, endMs: start + lasting },
    within.made,
  );
  // A failure is the test's to look at, not an unhandled one while time is moved.
  driving.catch(() => {});
  await vi.runAllTimersAsync();
  return driving;
}

const times = ({ sent }: { sent: readonly Sent[] }): number[] => sent.map(({ at }) => at);

describe("a client with one call at a time", () => {
  test("sends at its ticks, and nothing at the end or later", async () => {
    const within = world(10);
    await driven(poller({ every: "250ms", call: user }), within);
    expect(times(within)).toEqual([0, 250, 500, 750]);
  });

  test("sends nothing if it wakes after the end", async () => {
    const within = world(10);
    const { sleep } = within.made;
    within.made.sleep = (ms) => sleep(ms + 600);
    await driven(poller({ every: "250ms", call: user }), within);
    expect(times(within)).toEqual([0, 850]);
  });

  test("thinks from the answer on", async () => {
    const within = world(100);
    await driven(worker({ calls: [{ call: user }], think: "50ms", jobs: 3 }), within);
    expect(times(within)).toEqual([0, 150, 300]);
  });

  test("waits for a reset, and counts the wait from when the call was wanted", async () => {
    const within = world(10, (event, _, number) => {
      if (number > 0) return;
      Object.assign(event, { status: 429, remaining: 0, reset: 2 });
    });
    const options = { onRefused: waitReset({ of: "organization" }), lasting: 5_000 };
    await driven(worker({ calls: [{ call: user }], jobs: 1 }), within, options);
    expect(within.sent).toEqual([
      { at: 0, page: 0, attempt: 0, wanted: 0 },
      { at: 2_010, page: 0, attempt: 1, wanted: 0 },
    ]);
  });

  test("waits for no reset that comes after the end", async () => {
    const within = world(10, (event) => Object.assign(event, { status: 429, remaining: 0, reset: 60 }));
    await driven(worker({ calls: [{ call: user }] }), within, {
      onRefused: waitReset({ of: "organization" }),
    });
    expect(within.sent).toHaveLength(1);
    expect(Date.now()).toBe(start + 10);
  });
});

test.each([1, 2])("a behaviour of %i calls at a time is told the client's begin and end", async (size) => {
  const told: number[][] = [];
  const behaviour: Behaviour = {
    ...burst({ call: user, size }),
    next: (_record, { nowMs, endMs }) => void told.push([nowMs - start, endMs - start]),
  };
  await driven(behaviour, world(10), { lasting: 700 });
  expect(told).toEqual([[0, 700]]);
});

test.each([1, 2])("%i calls at a time wait for the window that lacks room for its own cost", async (size) => {
  const within = world(10, (event, { attempt }) => {
    const shown = { cost: 5, remaining: 3, reset: 1, userCost: 1, userRemaining: 4, userReset: 3 };
    if (attempt === 0) Object.assign(event, shown, { status: 429 });
  });
  const options = { onRefused: waitReset({ of: "both" }), lasting: 5_000 };
  await driven(burst({ call: user, size }), within, options);
  expect(times(within).slice(size)).toEqual(Array.from({ length: size }, () => 1_010));
});

describe("a client with several calls at a time", () => {
  test("has them on the way at once", async () => {
    const within = world(30);
    await driven(burst({ call: user, size: 8, every: "400ms" }), within);
    expect(times(within)).toEqual([0, 400, 800].flatMap((at) => Array.from({ length: 8 }, () => at)));
    expect(within.most()).toBe(8);
  });

  test("ends when the last one is answered, after the run's end", async () => {
    const within = world(700);
    await driven(burst({ call: user, size: 3, every: "500ms" }), within, { lasting: 900 });
    expect(times(within)).toEqual([0, 0, 0]);
    expect(within.onTheWay()).toBe(0);
  });

  test("reads pages while there are more", async () => {
    const within = world(10, (event, call) => {
      event.hasNextPage = call.page < 5;
    });
    await driven(pager({ call: user, pages: 9, parallel: 2 }), within);
    expect(within.sent.map(({ page }) => page)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(within.most()).toBe(2);
  });
});

describe("a behaviour that fails", () => {
  const failing = (size: number, failsAt: number): Behaviour => ({
    ...burst({ call: user, size }),
    next(_record, event, out) {
      if (event.nowMs >= start + failsAt) throw new Error("no more");
      for (let n = 0; n < size; n++) out.send(0, event.nowMs + n);
    },
  });

  test.each([1, 4])("is told, with %i calls at a time, once all of them are answered", async (size) => {
    const within = world(20);
    await expect(driven(failing(size, 20), within)).rejects.toThrow("no more");
    expect(within.sent).toHaveLength(size);
    expect(within.onTheWay()).toBe(0);
  });

  test("sends nothing that it had planned for later", async () => {
    const behaviour: Behaviour = {
      ...burst({ call: user, size: 2 }),
      next(_record, event, out) {
        if (event.kind === 1) throw new Error("no more");
        out.send(0, event.nowMs);
        out.send(0, event.nowMs + 300);
      },
    };
    const within = world(20);
    await expect(driven(behaviour, within)).rejects.toThrow("no more");
    expect(times(within)).toEqual([0]);
  });

  const asking = (size: number, ask: Behaviour["next"]): Behaviour => ({
    ...burst({ call: user, size }),
    next: ask,
  });
  test.each<[string, Behaviour, string]>([
    ["a time that is none", asking(1, (_, event, out) => out.send(0, event.nowMs + 0.5)), "which is no time"],
    [
      "a call that is none",
      asking(1, (_, event, out) => out.send(1, event.nowMs)),
      "call 1, its calls are 0 to 0",
    ],
    [
      "more than it declares",
      asking(2, (_, event, out) => [0, 1, 2].forEach(() => void out.send(0, event.nowMs))),
      "3 calls planned or on the way, its inFlightMost is 2",
    ],
  ])("asks for %s", async (_, behaviour, message) => {
    const within = world(20);
    await expect(driven(behaviour, within)).rejects.toThrow(message);
    expect(within.sent).toEqual([]);
  });

  test.each([1, 2])("is told of what the world throws, with %i calls at a time", async (size) => {
    const within = world(20, () => {
      throw new Error("cut off");
    });
    await expect(driven(burst({ call: user, size }), within)).rejects.toThrow("cut off");
  });
});
