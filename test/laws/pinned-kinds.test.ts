// Laws on limiters of every algorithm, right and wrong ones, word for word: how many answers a few runs of each law judged,
// what breaks it, and a digest of the whole report. `npm test -- test/laws/pinned-kinds.test.ts -u` writes the file of
// `pinned/` anew; read the difference.
import { expect, test } from "vitest";
import { checkLaws, keyedLimiter } from "../../src/laws/index.ts";
import { digestOf } from "../support/digest.ts";
import { countedLog, nothings, queue, roundedCounter } from "./careful-kinds.ts";
import {
  concurrency,
  fixedWindow,
  gcra,
  type KindOfLimiter,
  slidingCounter,
  slidingLog,
  tokenBucket,
} from "./kinds.ts";

const kinds: Readonly<Record<string, KindOfLimiter>> = {
  "windows of the epoch": fixedWindow({ anchor: "epoch", weighted: true }),
  "windows that count refused calls": fixedWindow({ counted: true }),
  "windows that end late": fixedWindow({ inclusive: true }),
  "windows that never end": fixedWindow({ never: true }),
  "a bucket": tokenBucket({ weighted: true }),
  "a bucket that refills too fast": tokenBucket({ faster: 1.5 }),
  "a bucket that shows nothing": nothings,
  "GCRA with one more of burst": gcra({ bursts: 1 }),
  "a log": slidingLog({ weighted: true }),
  "a log that forgets too late": slidingLog({ shorter: 1.5 }),
  "a log that keeps refused calls": countedLog("ms"),
  "a log that puts calls off": queue,
  "a counter": slidingCounter(),
  "a counter that rounds down": roundedCounter("floor", { weighted: true }),
  "places with leases": concurrency({ leased: true }),
  "places that refused calls hold": concurrency({ refusedHolds: true }),
};

async function told(name: string, kind: KindOfLimiter): Promise<string> {
  const report = await checkLaws(keyedLimiter({ name, ...kind }), { seed: 11, runs: 2 });
  const judged = report.laws.filter(({ outcome }) => outcome === "no-counterexample");
  return [
    `## ${name}, ${digestOf(report)}`,
    judged.map(({ law, judged: answers }) => `${law} ${answers}`).join(", "),
    ...report.laws.flatMap(({ law, outcome, counterexample }) => {
      if (counterexample === undefined) return [];
      const { expected, got, arithmetic } = counterexample.violation;
      return [`- ${law} ${outcome}: ${expected}; ${got}; ${arithmetic}`];
    }),
  ].join("\n");
}

test("few runs of each kind", async () => {
  const texts: string[] = [];
  for (const [name, kind] of Object.entries(kinds)) texts.push(await told(name, kind));
  await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("./pinned/kinds.md");
});
