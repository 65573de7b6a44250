// Swarms, word for word: which worlds are drawn of a seed, what they reach, and what is left of those in which a fault
// shows. `npm test -- test/sim/swarm-pinned.test.ts -u` writes the files of `swarm-pinned/` anew; read the difference.
import { expect, test } from "vitest";
import { swarm } from "../../sim/swarm/swarm.ts";
import { parseFault } from "../../src/faults/choice.ts";

test("worlds of a seed, and what they reach", async () => {
  const result = await swarm({ worlds: 40, seed: 20_260 });
  await expect(`${JSON.stringify(result, null, 1)}\n`).toMatchFileSnapshot("./swarm-pinned/right.txt");
});

test.each(["one-extra", "refused-counted", "lost-expiry", "headers-missing-on-429", "reset-truncated"])(
  "what is left of worlds with the fault %s",
  async (name) => {
    const { worlds, calls, failures } = await swarm({
      worlds: 40,
      seed: 7,
      fault: parseFault(name),
      triesMost: 60,
    });
    await expect(`${JSON.stringify({ worlds, calls, failures }, null, 1)}\n`).toMatchFileSnapshot(
      `./swarm-pinned/${name}.txt`,
    );
  },
);
