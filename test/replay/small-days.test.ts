// Days of few calls, replayed as `pinned.test.ts` replays larger ones: what it takes seconds to say of these, these say at
// once. `npm test -- test/replay/small-days.test.ts -u` writes the files of `pinned/` anew; read the difference.
import { expect, test } from "vitest";
import { worlds } from "../worlds/worlds.ts";
import { dayReplayed } from "./ways.ts";

const few = ["assistants", "bots", "builds", "mirrors", "monorepo", "offices"];

test.each(worlds.filter(({ name }) => few.includes(name)))(
  "a day of $name, with one agent",
  async (world) => {
    await expect(await dayReplayed(world, 1)).toMatchFileSnapshot(`./pinned/small-${world.name}.md`);
  },
);
