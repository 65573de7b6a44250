// What experiments find of many drawn servers, and plans of audits of many drawn policies, a line each: what the few of
// `pinned-drawn.test.ts` do not meet shows here. `npm run test:long -- test/audit/pinned-many.test.ts -u` writes
// `pinned/many*.txt` anew.
// @module-tag long
import { expect, test } from "vitest";
import { foundOf, planOf } from "./drawn-servers.ts";

const lines = (lineOf: (seed: number) => string): string =>
  `${Array.from({ length: 200 }, (_, index) => lineOf(index + 51)).join("\n")}\n`;

test("experiments find of drawn servers what they ever found", async () => {
  await expect(lines(foundOf)).toMatchFileSnapshot("./pinned/many.txt");
});

test("audits of drawn policies are planned as ever", async () => {
  await expect(lines(planOf)).toMatchFileSnapshot("./pinned/many-plans.txt");
});
