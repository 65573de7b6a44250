// A day of the worlds, replayed under narrower and wider limits, with callers that react in several ways: what it says,
// word for word, and a digest of the whole result. `npm test -- test/replay/pinned.test.ts -u` writes the files of
// `pinned/` anew; read the difference.
// @module-tag long
import { expect, test } from "vitest";
import { worlds } from "../worlds/worlds.ts";
import { dayReplayed } from "./ways.ts";

/** Number of agents where two leave code of the replay unused. */
const agents: Readonly<Record<string, number>> = { "heavy-tails": 3, matrices: 3, queues: 6 };

test.each(worlds)("a day of $name", async (world) => {
  await expect(await dayReplayed(world, agents[world.name] ?? 2)).toMatchFileSnapshot(
    `./pinned/${world.name}.md`,
  );
});
