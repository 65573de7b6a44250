// The short way through the judge against the long one: from the bytes of a trace by columns, or from calls as objects,
// the verdict is the same to the last word, for right deployments and for broken ones.
//   HISTORIES=5000 npx vitest run --config test/vitest.config.ts test/verify/ways.test.ts
import { createReadStream, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { readTrace, type TraceLine } from "../../src/trace/read.ts";
import { judge } from "../../src/verify/judge.ts";
import { verify } from "../../src/verify/verify.ts";
import { brokenDeployments } from "./broken.ts";
import { allFates, worlds } from "./drawn-worlds.ts";
import { bytesOf, type History, numbered, play } from "./history.ts";
import { workload } from "./workload.ts";

const runs = Number(process.env["HISTORIES"] ?? 50);
const golden = fileURLToPath(new URL("../golden/", import.meta.url));

async function goBothWays(history: History, callsBetweenClosings = 4096): Promise<void> {
  const { header, lines } = numbered(history);
  const byObjects = await judge(header, lines, { callsBetweenClosings });
  const byColumns = await verify(bytesOf({ header, lines }), { callsBetweenClosings });
  expect(byColumns).toEqual(byObjects);
}

describe("the verdict does not depend on the way a call goes", () => {
  test.each(readdirSync(golden).filter((name) => name.endsWith(".ndjson")))("%s", async (name) => {
    const { header, calls } = await readTrace(createReadStream(`${golden}${name}`));
    const lines: TraceLine[] = [];
    for await (const each of calls) lines.push(each);
    await goBothWays({ header, lines });
  });

  test("in random histories of the engine, rules given and not", async () => {
    const closings = fc.constantFrom(1, 7, 4096);
    await fc.assert(
      fc.asyncProperty(worlds({ fates: allFates, anonymous: true, plansMost: 90 }), closings, (world, each) =>
        goBothWays(play(world, new Limiter(world.rules)), each),
      ),
      { numRuns: runs },
    );
  });

  test.each(brokenDeployments.map((broken) => [broken.fault, broken] as const))(
    "in deployments with %s",
    async (_, broken) => {
      // One for each way of charging.
      const seeds = Math.max(3, runs / 20);
      for (let seed = 1; seed <= seeds; seed++) {
        const graphqlCharge = (["prepaid", "reserved", "postpaid"] as const)[seed % 3] ?? "prepaid";
        const options = { calls: 160, graphqlCharge, showsRules: true, epochOnly: broken.epochOnly ?? false };
        const world = workload(seed, options);
        const { header, lines } = play(world, broken.make(world.rules));
        const changed = lines.map(({ line, call }) => ({ line, call: broken.change?.(call) ?? call }));
        await goBothWays({ header, lines: changed });
      }
    },
  );
});
