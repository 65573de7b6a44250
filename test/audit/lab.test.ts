// Steps that experiments share, in virtual time: room for calls, and what is measured once.
import { expect, test } from "vitest";
import type { ExperimentSteps, Unexercised } from "../../src/audit/step.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { limit, Played, serving, windowMs } from "./played.ts";

/** A right server's caller, after so many calls of 4 ms each. */
function after(calls: number) {
  const played = new Played(serving());
  const [subject] = played.lab.subjects;
  if (subject === undefined) throw new RangeError("there is a subject");
  const [caller] = subject.callers;
  for (let call = 0; call < calls; call++)
    played.play(played.lab.one(played.lab.shot(caller, subject.operation)));
  return { played, lab: played.lab, subject, caller };
}

test("a caller has room for as many plain calls as are left of its limit", () => {
  const { lab, subject, caller } = after(4);
  expect([1, 5, 6, 7].map((calls) => lab.hasRoom(subject, caller, calls, 0, 16))).toEqual([
    ...[true, true, true, false],
  ]);
  expect(after(0).lab.hasRoom(subject, caller, 1, 0, 16)).toBe(false);
  expect(lab.hasRoom(subject, caller, 7, 0, 16, [])).toBe(true);
});

test("room lasts as long as the window surely does; half a window is enough", () => {
  const { lab, subject, caller } = after(4);
  // The last call, sent at 12 ms, was told 10 s, rounded up: an end at 9,012 ms at the earliest.
  const lasts = (ms: number, nowMs: number): boolean => lab.hasRoom(subject, caller, 1, ms, nowMs);
  expect([lasts(3_000, 6_012), lasts(3_000, 6_013)]).toEqual([true, false]);
  expect([lasts(windowMs, 4_012), lasts(windowMs, 4_013)]).toEqual([true, false]);
});

test("a window's begin is found once for each quota", () => {
  const { played, lab } = after(0);
  let found = 0;
  function* find(): ExperimentSteps<number> {
    found += 1;
    return yield* lab.now();
  }
  const begin = (quota: string): number => played.play(lab.windowBegin(quota, find));
  expect([begin("requests"), begin("requests"), found]).toEqual([0, 0, 1]);
  expect([begin("others"), found]).toEqual([0, 2]);
});

test("a count that comes to no level is tried three times, and then left", () => {
  const played = new Played(
    serving(({ headers }) => ({ status: 200, headers: { ...headers, "x-left": "5" } })),
  );
  const [subject] = played.lab.subjects;
  if (subject === undefined) throw new RangeError("there is a subject");
  const [caller] = subject.callers;
  const why = "requests could not be brought to 1 left";
  const tries = Array.from({ length: 4 }, () => {
    const before = played.answers.length;
    try {
      played.play(played.lab.fill(subject, caller, "requests", 1));
      return "brought there";
    } catch (error) {
      const { message, again } = error as Unexercised;
      return [message, again, played.answers.length > before];
    }
  });
  expect(tries).toEqual([
    [why, true, true],
    [why, true, true],
    [why, false, true],
    [why, false, false],
  ]);
});

test.each([
  ["of a fixed cost", 3, { cost: 7 }, 3],
  ["of a cost that its sample declares", "declared", { cost: 4 }, 2],
  ["of a cost that no sample declares", "declared", {}, limit],
  ["that answers charge, by the sample", { atMost: 9 }, { cost: 5 }, 2],
  ["that is dearer than the limit", 11, {}, 0],
])("a window has room for whole calls %s", (_, requests, sample, calls) => {
  const { policy } = new Played(serving()).lab;
  const own = parsePolicy({
    ...policy,
    quotas: { requests: { ...policy.quotas["requests"], charge: { when: "reserve-settle" } } },
    operations: { call: { uses: { requests }, samples: [{ path: "/blue", ...sample }] } },
  } as never);
  const { lab } = new Played(serving(), 1, "first-request", { policy: own });
  const [subject] = lab.subjects;
  expect(subject && lab.callsIn(subject, subject.callers[0])).toBe(calls);
});
