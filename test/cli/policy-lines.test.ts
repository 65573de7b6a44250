// A policy in lines: what it allows, how it refuses, what verbs still need of it.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nameOf, sayProposal } from "../../src/cli/map.ts";
import { check, list, show } from "../../src/cli/policy.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { inference } from "../policy/policies.ts";
import { recorded } from "../support/recorded.ts";
import { TypedIn } from "./typed.ts";

const small = {
  ...{ version: 2, name: "small", operations: { call: { uses: { calls: 1 } } } },
  quotas: { calls: { algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 60 } } },
};
let folder = "";
const file = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-policy-lines-"));
  for (const [name, policy] of Object.entries({ small, inference }))
    await writeFile(file(`${name}.json`), JSON.stringify(policy));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the list has each policy with its title, in columns", async () => {
  const { terminal, lines, results } = recorded();
  await list(terminal);
  const names = Object.keys(presets);
  const widest = Math.max(...names.map((name) => name.length));
  expect(lines).toEqual([
    ...names.map((name) => `${name.padEnd(widest)}  ${presets[name]?.title}`),
    "",
    "npx spillway policy show NAME says what one allows; npx spillway serve --policy NAME stands in for it.",
  ]);
  expect(results).toEqual([
    names.map((name) => ({ name, title: presets[name]?.title, sources: presets[name]?.sources })),
  ]);
});

async function shown(name: string) {
  const kept = recorded();
  await show(kept.terminal, name);
  return kept;
}

test("a policy of a file is told by its quotas, operations and answers", async () => {
  const { tagged, results } = await shown(file("small.json"));
  expect(tagged).toMatchInlineSnapshot(`
    [
      "<bold>small</>",
      "",
      "<bold>calls</>  All callers together may use 5 requests in each minute. Windows lie on the grid of Unix time. Calls that it refuses cost nothing.",
      "  room once all is spent: ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁█ 1 minute",
      "",
      "<bold>call</>  A call uses 1 of calls.",
      "",
      "A reset tells the end of the window.",
      "Refusals have status 429.",
      "",
      "An answer to a call:",
      "  HTTP/1.1 200",
      "",
      "A refusal by calls:",
      "  HTTP/1.1 429",
      "  Retry-After: 30",
    ]
  `);
  expect(results).toEqual([
    { title: "small", policy: parsePolicy(small), wire: expect.any(Object), notes: [], sources: [] },
  ]);
  expect((await shown(file("inference.json"))).tagged.slice(0, 22)).toMatchInlineSnapshot(`
    [
      "<bold>inference</>",
      "",
      "<bold>tenant</>  Each tenant may use 40 requests in each minute. Windows lie on the grid of Unix time. Calls that it refuses cost nothing.",
      "  room once all is spent: ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁█ 1 minute",
      "<bold>tenant_tokens</>  Each tenant may use 4,000 tokens at once, of which 2,000 come back in each minute. The judge of traces does not judge it. A call's cost is held, and what it did not use comes back. Calls that it refuses cost nothing.",
      "  room once all is spent: ▁▁▁▁▂▂▂▃▃▃▄▄▄▄▅▅▅▆▆▆▇▇▇█ 2 minutes",
      "<bold>user</>  Each tenant and user may use 15 requests in each 10 seconds. A window opens with its first call. Calls that it refuses count, too.",
      "  room once all is spent: ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁█ 10 s",
      "<bold>model_day</>  Each tenant and model may use 90,000 tokens in each day of America/New_York. Windows reset every day at 00:00 in America/New_York: by UTC at 05:00 in January and 04:00 in July. A call is charged when it has ended. A call needs any room at all, not room for its whole cost. Calls that it refuses cost nothing.",
      "  room once all is spent: ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁█ 1 day",
      "<bold>burst</>  Each user and model may use 5 requests at once, of which 1 comes back in each 700 ms. The judge of traces judges what it lets through, and not its level. Calls that it refuses cost nothing. It refuses only while anybody does.",
      "  room once all is spent: ▁▁▁▁▂▂▂▃▃▃▄▄▄▄▅▅▅▆▆▆▇▇▇█ 3.5 s",
      "<bold>anybody</>  All callers together may use 100 requests at once, of which 50 come back in each second. The judge of traces judges what it lets through, and not its level. Calls that it refuses cost nothing.",
      "  room once all is spent: ▁▁▁▁▂▂▂▃▃▃▄▄▄▄▅▅▅▆▆▆▇▇▇█ 2 s",
      "Where tenant is big: tenant is 400 requests in each minute; tenant_tokens is 8,000 tokens at once, of which 2,000 come back in each minute.",
      "",
      "<bold>complete</>  A call uses 1 of tenant, its cost of tenant_tokens, 1 of user, up to 900 of model_day and 1 of burst. All must have room, or none is charged.",
      "<bold>list</>  A call uses 1 of anybody, 2 of user and 3 of model_day. Each that has room is charged, whatever the others say.",
      "<bold>look</>  A call uses 1 of user, 1 of tenant and 3 of anybody. Each is charged in turn, up to the first that refuses.",
      "",
      "A reset tells the end of the window.",
      "Refusals have status 429.",
    ]
  `);
});

test("a preset has a title, notes and sources", async () => {
  const { tagged, results } = await shown("slack");
  const { title = "", notes = [], sources = [] } = presets["slack"] ?? {};
  expect(tagged[0]).toBe(`<bold>${title}</>`);
  expect(tagged.slice(-sources.length - notes.length - 3)).toEqual([
    ...["", ...notes],
    ...["", "Sources:", ...sources.map(({ at, kind, seen }) => `  ${at} (${kind}, ${seen})`)],
  ]);
  expect(results).toMatchObject([{ title, notes, sources }]);
  const bare = Object.keys(presets).find((name) => presets[name]?.notes.length === 0);
  if (bare !== undefined) expect((await shown(bare)).lines).not.toContain("undefined");
});

async function checked(name: string) {
  const kept = recorded();
  await check(kept.terminal, name);
  return { ...kept, tagged: kept.tagged.map((line) => line.replace(folder, "DIR")) };
}

test("a file is checked by what each verb needs, and by what may mislead", async () => {
  const { tagged, results } = await checked(file("small.json"));
  expect(tagged).toMatchInlineSnapshot(`
    [
      "<green>ok</> DIR/small.json: 1 quota, 1 operation, 0 routes",
      "  serve     needs routes",
      "  load      needs operations.call.samples",
      "  simulate  needs routes",
      "  plan      needs routes",
      "  replay    needs routes",
      "  fit       needs routes",
      "  verify    ready",
      "  check     ready",
      "  probe     needs operations.call.samples",
      "  audit     needs operations.call.samples",
      "  bundle    needs operations.call.samples",
      "  demo      needs operations.call.samples; routes",
      "  status    needs a route whose operation is "status"",
      "<yellow>warning</> quotas.calls: no answer shows it; the wire buildkite shows rest, graphql.",
    ]
  `);
  expect(results).toEqual([
    { policy: parsePolicy(small), needs: expect.any(Object), warnings: expect.any(Array) },
  ]);
  expect((await checked("default")).tagged).toMatchInlineSnapshot(`
    [
      "<green>ok</> default: 4 quotas, 2 operations, 4 routes",
      "  serve     ready",
      "  load      ready",
      "  simulate  ready",
      "  plan      ready",
      "  replay    ready",
      "  fit       ready",
      "  verify    ready",
      "  check     ready",
      "  probe     ready",
      "  audit     ready",
      "  bundle    ready",
      "  demo      ready",
      "  status    ready",
    ]
  `);
});

const question = { path: "quotas.calls", seen: "One answer.", settle: "Give two." };
async function proposed(changes: object, out?: string) {
  const kept = recorded();
  const proposal = {
    policy: small,
    format: null,
    answers: 1,
    questions: [],
    open: [],
    endsMs: {},
    ...changes,
  };
  await sayProposal(proposal as never, out, kept.terminal);
  return kept.tagged;
}

test("a proposal is said by its quotas, its questions and its file", async () => {
  const quota = "  <bold>calls</>  All callers together may use 5 requests in each 60 seconds.";
  const [first, second] = await proposed({});
  expect(first).toBe("1 answer; their format is written out below wire");
  expect(second?.startsWith(quota.slice(0, 17))).toBe(true);
  expect(await proposed({})).toHaveLength(2);
  const questions = [question, { ...question, path: "wire" }];
  expect(
    (await proposed({ answers: 2, format: "github", questions }, "my api.json")).toSpliced(1, 1),
  ).toEqual([
    "2 answers, in the format of <bold>github</>",
    "",
    "Not settled by these answers (2):",
    "  1. <bold>quotas.calls</>: One answer.",
    "     <cyan>to find out</> Give two.",
    "  2. <bold>wire</>: One answer.",
    "     <cyan>to find out</> Give two.",
    "",
    "wrote my api.json",
    "<cyan>next</> npx spillway policy check 'my api.json'",
  ]);
});

test.each([
  [undefined, undefined, "my-api"],
  ["own", "x.json", "own"],
  ["_a.b-c", undefined, "_a.b-c"],
  [undefined, "dir/some api!.v2.json", "some-api-.v2"],
  [undefined, "1.json", "my-api"],
  [undefined, `${"a".repeat(70)}.json`, "a".repeat(64)],
  ["a".repeat(64), undefined, "a".repeat(64)],
])("named %s, in the file %s, a policy is %s", (name, out, called) => {
  expect(nameOf(name, out)).toBe(called);
});

test.each(["1a", "a b", "", "a".repeat(65)])("%j is no name of a policy", (name) => {
  expect(() => nameOf(name, undefined)).toThrow("the name cannot be used");
});

const answer = (second: number, left: number) =>
  `HTTP/1.1 200 OK\r\nDate: Mon, 05 Jan 2026 12:00:${second} GMT\r\nX-RateLimit-Limit: 100\r\nX-RateLimit-Remaining: ${left}\r\nX-RateLimit-Reset: ${60 - second}\r\n\r\n{}\n`;

describe("as it is typed, a file", () => {
  let here: TypedIn;
  beforeAll(async () => {
    here = await TypedIn.of({ "answers.txt": answer(10, 98) + answer(20, 97) });
  });
  afterAll(() => here.remove());
  const ran = (command: string) => here.run(command);

  test("of a policy is proposed from answers", async () => {
    const out = await ran("map answers.txt --out mine.json");
    expect([out.code, out.said.at(-2), out.said.at(-1)]).toEqual([
      ...[0, "wrote mine.json", "next npx spillway policy check mine.json"],
    ]);
    const mapped = JSON.parse(await readFile(join(here.folder, "mine.json"), "utf8")) as { name: string };
    expect(mapped).toMatchObject({ version: 2, name: "mine" });
    const plain = await ran("map --from answers.txt --name mine");
    expect([plain.code, plain.json(), plain.aside[0]]).toEqual([
      0,
      mapped,
      expect.stringMatching(/^2 answers/),
    ]);
    expect((await ran("map answers.txt --out mine.json")).code).toBe(2);
    const json = await ran("map answers.txt --out mine.json --force --json");
    expect(json.json()).toMatchObject({ policy: mapped, answers: 2, out: "mine.json" });
    const none = await ran("map answers.txt --json");
    expect(none.json()).toMatchObject({ policy: { name: "my-api" }, out: null });
  });
});
