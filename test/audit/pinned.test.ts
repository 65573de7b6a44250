// Findings of all experiments, word for word, with the calls and the time that they took: of a right server; and
// those of servers that are each wrong in one way, as far as they differ. `npm test -- test/audit/pinned.test.ts -u` writes the files of `pinned/` anew;
// read the difference.
import { expect, test } from "vitest";
import type { Shot } from "../../src/audit/step.ts";
import { linesOf, server, type Wrong, windowMs } from "./rooms-and-queries.ts";

const isHead = ({ method }: Shot): boolean => method === "HEAD";
const servers: Readonly<Record<string, Wrong>> = {
  right: {},
  "one too many": { more: 1 },
  "HEAD is free": { cost: (units, shot) => (isHead(shot) ? 0 : units) },
  "HEAD costs two": { cost: (units, shot) => (isHead(shot) ? 2 : units) },
  "spellings are counted apart": { key: ({ path }) => path },
  "green rooms have no limit": { cost: (units, { path }) => (path.startsWith("/rooms/green") ? 0 : units) },
  "each seventh call is free": { cost: (units, _, made) => (made % 7 === 0 ? 0 : units) },
  "the status costs one": { statusCost: 1 },
  "refusals are counted": { refusedCost: 1, more: 0 },
  "a refusal charges the other quota": { chargesEach: true },
  "refusals put off the end": { ends: (endMs, nowMs, isRefused) => (isRefused ? nowMs + windowMs : endMs) },
  "each call puts off the end": { ends: (_, nowMs) => nowMs + windowMs },
  "the end comes early": { showsMs: 3_000 },
  "counts are forgotten at half time": {
    keeps: (used, leftMs) => (leftMs < windowMs / 2 ? Math.min(used, 2) : used),
  },
  "shows one more": { shows: 1 },
  "refuses without a word": { refused: (right) => ({ ...right, headers: {} }) },
  "refuses by 503": { refused: (right) => ({ ...right, status: 503 }) },
  "names the other quota": { refused: (right) => ({ ...right, by: right.by === "own" ? "shared" : "own" }) },
  "asks to wait too long": {
    refused: (right) => ({ ...right, headers: { ...right.headers, "retry-after": "60" } }),
  },
  "asks to wait for nothing": {
    refused: (right) => ({ ...right, headers: { ...right.headers, "retry-after": "0" } }),
  },
};

const rightLines = new Set(linesOf(() => server()));

test.each(Object.entries(servers))("%s", async (title, wrong) => {
  const all = title === "right" ? [...rightLines] : linesOf(() => server(wrong));
  const lines = title === "right" ? all : all.filter((line) => !rightLines.has(line));
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(`./pinned/${title.replaceAll(" ", "-")}.md`);
});
