// The shape of replay.json: results of earlier versions are read, too.
import * as v from "valibot";
import { expect, test } from "vitest";
import { rulesReplaySchema } from "../../src/summary/replay-result.ts";
import { replayed } from "../report/results.ts";

test("members that earlier versions lack are read as none", async () => {
  const { log, headroom, organizations, recorded, reaction, demand, ...rest } = await replayed(true);
  const { unplaced, anonymous, ...oldLog } = log;
  const withoutFull = ({ windowsFull, ...use }: (typeof headroom)[number]) => use;
  const { retries, ...oldReaction } = reaction ?? {};
  const { seemsFiltered, ...oldRecorded } = recorded ?? {};
  const old = {
    ...{ ...rest, log: oldLog, reaction: oldReaction, recorded: oldRecorded },
    ...{ headroom: headroom.map(withoutFull), organizations: organizations.map(withoutFull) },
  };
  const read = v.parse(rulesReplaySchema, old);
  expect([read.log.unplaced, read.log.anonymous, read.demand]).toEqual([0, 0, null]);
  expect(read.headroom.map(({ windowsFull }) => windowsFull)).toEqual(headroom.map(() => 0));
  expect([read.recorded?.seemsFiltered, read.reaction?.retries]).toEqual([false, 0]);
  expect([unplaced, anonymous, retries, seemsFiltered, demand]).not.toContain(undefined);
});
