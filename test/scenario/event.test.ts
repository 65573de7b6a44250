// The event that a driver makes once and fills in again: it says that the client may begin, and no answer yet.
import { expect, test } from "vitest";
import { ABSENT, createEvent, STARTED } from "../../src/scenario/client.ts";

test("a new event is a start without an answer", () => {
  expect(createEvent()).toEqual({
    ...{ kind: STARTED, nowMs: 0, endMs: 0, template: 0, cost: 0, userCost: 0, page: 0, hasNextPage: false },
    ...{ attempt: 0, wantedMs: 0, delayMs: 0, status: 0, limit: ABSENT, remaining: ABSENT, reset: ABSENT },
    ...{ userLimit: ABSENT, userRemaining: ABSENT, userReset: ABSENT, retryAfter: ABSENT },
  });
});
