// Lives of drawn clients, and drawn schedules of their arrivals: `pinned/drawn.txt` holds when each calls, by its number of
// calls and a sum of their times. `npm test -- test/scenario/pinned-drawn.test.ts -u` writes it anew; read the difference.
import { expect, test } from "vitest";
import { parseArrivals } from "../../src/scenario/arrival-input.ts";
import { arrivalStays, isByTheClock, roughArrivals } from "../../src/scenario/arrivals.ts";
import type { Behaviour, PlannedCall, RefusalPolicy } from "../../src/scenario/client.ts";
import { fleetStays, mostAtOnce } from "../../src/scenario/fleet.ts";
import { octokit, openaiNode, terraformApply, together } from "../../src/scenario/index.ts";
import { Mistakes } from "../../src/scenario/mistakes.ts";
import { type Chance, chanceOf, pick, whole } from "../worlds/chance.ts";
import { dayMs, hourMs, mondayMs } from "../worlds/world.ts";
import { arrivalsOf, comingOf, loopOf, policyOf } from "./drawn-clients.ts";
import { Rig } from "./rig.ts";

/** Returns the calls of a client whose answers are drawn, too. */
function lifeOf(chance: Chance, behaviour: Behaviour, policy: RefusalPolicy): PlannedCall[] {
  const rig = new Rig(behaviour, policy, whole(chance, 0, 2 ** 40), whole(chance, 0, 9), whole(chance, 0, 3));
  let nowMs = mondayMs + whole(chance, 0, 7 * dayMs);
  const open = rig.start(nowMs);
  const planned = [...open];
  const refuses = pick(chance, [0, 0.3]);
  for (let turn = 0; turn < 40 && open.length > 0; turn++) {
    open.sort((a, b) => a.atMs - b.atMs);
    const [call] = open.splice(chance.next() < 0.7 ? 0 : whole(chance, 0, open.length - 1), 1);
    if (call === undefined || rig.stopped) break;
    nowMs = Math.max(nowMs, call.atMs + whole(chance, 1, 2_000));
    const more = rig.answer(call, nowMs, {
      ...{ status: chance.next() < refuses ? 429 : pick(chance, [200, 200, 200, 200, 500, 0]) },
      ...{
        hasNextPage: chance.next() < 0.7,
        limit: 10,
        remaining: whole(chance, -1, 9),
        reset: whole(chance, 0, 60),
      },
      ...{ userLimit: 5, userRemaining: whole(chance, -1, 5), userReset: whole(chance, -1, 60) },
      retryAfter: whole(chance, -1, 9),
    });
    open.push(...more);
    planned.push(...more);
  }
  return planned;
}

/** A line of a life: the number of calls, and sums that any other call would change. */
function lineOf(name: string, planned: readonly PlannedCall[]): string {
  const [first] = planned;
  let sum = 0;
  for (const [place, { template, page, attempt, atMs, wantedMs, delayMs }] of planned.entries())
    sum +=
      (place + 1) * (atMs - mondayMs) +
      3 * (wantedMs - mondayMs) +
      7 * delayMs +
      template +
      11 * page +
      101 * attempt;
  return `${name}: ${planned.length} calls, from ${first === undefined ? "never" : first.atMs - mondayMs} on, ${sum}`;
}

test("drawn clients live as ever", async () => {
  const presets = [octokit, openaiNode, terraformApply].map((preset) => preset());
  const lines: string[] = [];
  for (let seed = 1; seed <= 400; seed++) {
    const chance = chanceOf(seed, 55);
    const behaviour = pick<() => Behaviour>(chance, [
      ...[() => loopOf(chance), () => comingOf(chance), () => comingOf(chance)],
      () => together([loopOf(chance), comingOf(chance)]),
    ])();
    const preset = pick(chance, [null, null, null, ...presets]);
    const policy = preset?.onRefused ?? policyOf(chance);
    lines.push(
      lineOf(
        `${seed} ${behaviour.name} (${behaviour.inFlightMost}) ${policy.name}`,
        lifeOf(chance, behaviour, policy),
      ),
    );
  }
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./pinned/drawn.txt");
});

test("drawn arrivals come as ever", async () => {
  const lines = Array.from({ length: 150 }, (_, index) => {
    const chance = chanceOf(index + 1, 66);
    const mistakes = new Mistakes();
    const input = arrivalsOf(chance);
    const schedule = parseArrivals("arrivals", input, mistakes);
    mistakes.finish("these arrivals cannot be made");
    if (schedule === null) throw new RangeError(`no arrivals: ${JSON.stringify(input)}`);
    const [durationMs, startAtMs] = [
      pick(chance, [9_000, 60_000, 3 * hourMs, 5 * dayMs]),
      mondayMs + whole(chance, 0, 9) * 5_000_000,
    ];
    const run = { durationMs, startAtMs, seed: whole(chance, 0, 99), stream: whole(chance, 0, 2) };
    const stays = [];
    for (const stay of arrivalStays(schedule, run)) if (stays.push(stay) >= 200) break;
    const sum = stays.reduce((all, { startMs, endMs }, place) => all + (place + 1) * startMs + endMs, 0);
    const [rough, clock] = [roughArrivals(schedule, run), isByTheClock(schedule)];
    const graceMs = pick(chance, [0, 3_000]);
    return `${schedule.executor}: ${stays.length} of about ${rough}, ${sum}, ${clock}, ${mostAtOnce(stays, graceMs)}`;
  });
  const fleet = fleetStays(
    2,
    [
      { target: 4, durationMs: 3_000 },
      { target: 1, durationMs: 5_000 },
    ],
    9_000,
  );
  await expect(`${[...lines, JSON.stringify(fleet)].join("\n")}\n`).toMatchFileSnapshot(
    "./pinned/drawn-arrivals.txt",
  );
});
