// A day of the worlds, with six agents each, replayed under narrower and wider limits, with callers that react in several
// ways: what it says, word for word, and a digest of the whole result. `npm test -- test/replay/pinned.test.ts -u` writes
// the files of `pinned/` anew; read the difference.
import { expect, test } from "vitest";
import { worlds } from "../worlds/worlds.ts";
import { dayReplayed } from "./ways.ts";

test.each(worlds)("a day of $name", async (world) => {
  await expect(await dayReplayed(world, 6)).toMatchFileSnapshot(`./pinned/${world.name}.md`);
});
