// What experiments find of drawn servers, and plans of audits of drawn policies: a line each, with a digest.
// `npm test -- test/audit/pinned-drawn.test.ts -u` writes `pinned/drawn*.txt` anew.
import { expect, test } from "vitest";
import { foundOf, planOf } from "./drawn-servers.ts";

const lines = (count: number, lineOf: (seed: number) => string): string =>
  `${Array.from({ length: count }, (_, index) => lineOf(index + 1)).join("\n")}\n`;

test("experiments find of drawn servers what they ever found", async () => {
  await expect(lines(45, foundOf)).toMatchFileSnapshot("./pinned/drawn.txt");
});

test("audits of drawn policies are planned as ever", async () => {
  await expect(lines(50, planOf)).toMatchFileSnapshot("./pinned/drawn-plans.txt");
});
