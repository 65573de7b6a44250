// Experiments against servers that err now and then, each in one way: in a number that they show, a word, a status. By
// experiment: how often it is kept, broken and not exercised, and a digest of all that it says. `npm test --
// test/audit/erring.test.ts -u` writes `pinned/erring.txt` anew; read the difference.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { experiments } from "../../src/audit/experiments.ts";
import { seededRandom } from "../../src/faults/random.ts";
import type { Sent, Served } from "./played.ts";
import { linesOf, server } from "./rooms-and-queries.ts";

/** Adds to the number in each header whose name ends so. */
const added =
  (end: string, by: number) =>
  ({ headers = {}, ...sent }: Sent): Sent => ({
    ...sent,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) =>
        name.endsWith(end) ? [name, String(Math.max(0, Number(value) + by))] : [name, value],
      ),
    ),
  });
const answered =
  (status: number) =>
  (sent: Sent): Sent => ({ ...sent, status });
const without =
  (end: string) =>
  ({ headers = {}, ...sent }: Sent): Sent => ({
    ...sent,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !name.endsWith(end))),
  });

const errors: Readonly<Record<string, (sent: Sent) => Sent>> = {
  "one more left": added("left", 1),
  "one less left": added("left", -1),
  "four less left": added("left", -4),
  "three seconds more": added("reset", 3),
  "two seconds less": added("reset", -2),
  "another limit": added("limit", 1),
  "a longer wait": added("after", 4),
  "no wait": without("after"),
  "nothing left shown": without("left"),
  "no end": without("reset"),
  "503": answered(503),
  "429": answered(429),
  "200": answered(200),
  "404": answered(404),
};

/** A right server that makes an error in a share of its answers. */
function erring(error: (sent: Sent) => Sent, share: number, seed: number): Served {
  const random = seededRandom(seed);
  const right = server();
  return (shot, nowMs) => {
    const sent = right(shot, nowMs);
    return random() < share ? error(sent) : sent;
  };
}

/** Sends a request of such a shape; one stands for all. */
const shapes = /^(?:status|twin)-(?!head|is-true|reset|while|forwarded|http-1|cut-off-while-s)/;
const names = experiments
  .map(({ name }) => name)
  .filter((name) => !shapes.test(name) && !name.includes("quer"));

test("servers that err now and then", async () => {
  const said = new Map<string, string[]>(names.map((name) => [name, []]));
  for (const error of Object.values(errors))
    for (const line of linesOf(() => erring(error, 0.25, 1), names)) {
      const [, name = "", words = ""] = /^- \w+ ([\w-]+)(.*)$/.exec(line) ?? [];
      said.get(name)?.push(words);
    }
  const rows = [...said].map(([name, all]) => {
    const times = (word: string): number => all.filter((words) => words.includes(word)).length;
    const digest = createHash("sha256").update(all.join("\n")).digest("hex").slice(0, 8);
    return `${name}: ${times(": kept")} kept, ${times("broken")} broken, ${times("not exercised")} not exercised; ${digest}`;
  });
  await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot("./pinned/erring.txt");
});
