// Steps of an audit as they are played: over wires and a clock of the test's own.
import { expect, test } from "vitest";
import { AuditRecord } from "../../src/audit/record.ts";
import type { Way } from "../../src/audit/step.ts";
import { type AuditClock, Ended, StepPlayer } from "../../src/audit/step-player.ts";
import type { Raw } from "../../src/audit/wires.ts";
import { quotaHeader } from "../trace/samples.ts";
import { Played, serving } from "./played.ts";

/** A player whose target answers each request by the next of these statuses; `null` is an error of the wires. */
function playerOf(statuses: readonly (number | null)[], signal?: AbortSignal) {
  const { lab } = new Played(serving());
  const record = new AuditRecord({ ...quotaHeader, policy: lab.policy }, [], false, []);
  const asked = [...statuses];
  const waited: number[] = [];
  const answer = (): Raw => {
    const status = asked.shift();
    if (status == null) throw new Error("the wires are cut");
    const error = status === 0 ? "refused" : null;
    return { sentMs: 1_000, receivedMs: 1_004, status, headers: {}, body: "{}", error };
  };
  const wires = {
    send: async () => answer(),
    sendAll: async (shots: readonly object[]) => shots.map(answer),
    close: async () => {},
  };
  const clock: AuditClock = {
    now: () => 5_000,
    sleep: async (ms, aborted) => {
      aborted?.throwIfAborted();
      waited.push(ms);
    },
  };
  const player = new StepPlayer({ lab, wires, clock, record, signal });
  const [subject] = lab.subjects;
  if (subject === undefined) throw new RangeError("there is a subject");
  const shot = (way: Way = "kept") => ({ ...lab.shot(subject.callers[0], subject.operation), way });
  return { player, lab, record, waited, shot };
}

test("answers come in the order of the calls, each with its line", async () => {
  const { player, lab, record, shot } = playerOf([200, 429, 200]);
  const answers = await player.play(lab.send(shot(), shot(), shot()));
  expect(answers.map(({ call, line }) => [call.status, line])).toEqual([
    [200, 2],
    [429, 3],
    [200, 4],
  ]);
  expect([player.answers, record.calls.length, record.header.lost]).toEqual([answers, 3, quotaHeader.lost]);
});

test.each([
  ["in turn", false, 1],
  ["at once", true, 0],
])("calls %s that the wires lose are counted as lost", async (_, together, lines) => {
  const { player, lab, record, shot } = playerOf([200, null, 200]);
  const shots = [shot(), shot(), shot()];
  const steps = together ? lab.together(shots) : lab.send(...shots);
  await expect(player.play(steps)).rejects.toThrow("the wires are cut");
  expect([record.calls.length, record.header.lost - quotaHeader.lost]).toEqual([lines, 3 - lines]);
});

test("six calls in a row without an answer stop it; cut ones are none, and an answer begins anew", async () => {
  const { player, lab, shot } = playerOf([0, 0, 0, 0, 0, 200, 0, 0, 0, 0, 0, 0, 0]);
  const send = (...ways: Way[]) => player.play(lab.send(...ways.map((way) => shot(way))));
  const five: Way[] = ["kept", "kept", "kept", "kept", "kept"];
  await send(...five, "kept", ...five);
  expect(player.stopped).toBeNull();
  await send("cut-waiting");
  expect(player.stopped).toBeNull();
  await send("kept");
  expect(player.stopped).toBe("6 calls in a row had no answer (refused)");
  await expect(send("kept")).rejects.toThrow(Ended);
});

test("a call in another way without an answer is no sign of a silent target", async () => {
  const { player, lab, shot } = playerOf(Array(9).fill(0));
  await player.play(lab.send(...Array.from({ length: 9 }, () => shot("http/2"))));
  expect(player.stopped).toBeNull();
});

test("a wait is as long as its end is ahead, and none if it is past", async () => {
  const { player, lab, waited } = playerOf([]);
  for (const untilMs of [5_400, 5_001, 5_000, 4_000]) await player.play(lab.wait(untilMs));
  expect(waited).toEqual([400, 1]);
});

test("an interrupted audit makes no step more, and its steps end", async () => {
  const over = new AbortController();
  const { player, lab, waited, record, shot } = playerOf([null], over.signal);
  over.abort();
  let isClosed = false;
  function* steps() {
    try {
      yield* lab.send(shot());
    } finally {
      isClosed = true;
    }
  }
  await expect(player.play(steps())).rejects.toThrow(Ended);
  await expect(player.play(lab.wait(9_000))).rejects.toThrow(Ended);
  expect([player.isInterrupted, isClosed, waited, record.calls]).toEqual([true, true, [], []]);
});
