// One run of a verb says the same counts on the terminal, in its JSON, in its Markdown and on its page: each renders
// them from the result in its own words, so that a rule which one of them has alone would show here.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spillwayHere } from "../support/command.ts";

let folder = "";
/** The run that is simulated, then judged and replayed. */
let simulated: Awaited<ReturnType<typeof told>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-counts-"));
  simulated = await told("simulate herd --fault one-extra --seed 3 --duration 1m --out run");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Result = Readonly<Record<string, never>>;
type Counts = Readonly<Record<string, unknown>>;

const read = (file: string): Promise<string> => readFile(join(folder, file), "utf8");

/** Returns the text of a page: no style, script or picture, no tags, and one space where there was any. */
async function pageText(file: string): Promise<string> {
  const text = (await read(file)).replace(/<(style|script|svg)[\s\S]*?<\/\1>/g, "").replace(/<[^>]*>/g, " ");
  return text.replace(/&lt;/g, "<").replace(/\s+/g, " ");
}

/** Runs a command with --json, which says its lines on standard error. */
async function told(command: string): Promise<{ terminal: string; result: Result }> {
  const { stdout, stderr } = await spillwayHere([...command.split(" "), "--json"], { cwd: folder });
  return { terminal: stderr, result: JSON.parse(stdout) };
}

/** Returns the numbers that a pattern finds first in a text, by the names of its groups. */
function found(text: string, ...patterns: readonly RegExp[]): Counts {
  const pairs = patterns.flatMap((pattern) => {
    const groups = pattern.exec(text)?.groups;
    if (groups === undefined) throw new Error(`${pattern} is not in: ${text.slice(0, 2_000)}`);
    return Object.entries(groups).map(([name, digits]) => [name, Number(digits.replaceAll(",", ""))]);
  });
  return Object.fromEntries(pairs);
}

/** Returns how often a pattern stands in a text. */
const times = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;

const statesOf = (laws: object, state: string): number =>
  Object.values(laws).filter((one) => one === state).length;

const refusals = /(?<refused>[\d,]+) of (?<answered>[\d,]+) answered calls were refused/;
const lawsInDocument = /(?<held>\d+) laws held, (?<broken>\d+) broken/;
const lawsOnPage = /(?<broken>\d+) laws broken, (?<held>\d+) laws held/;

test("simulate: calls, admitted, refused, laws, windows", async () => {
  const { terminal, result } = simulated;
  const { summary, verdict } = result as unknown as {
    summary: { figures: { calls: number; admitted: number; refused: number }; windowsSeen: number };
    verdict: { windows: number; records: number; laws: object };
  };
  const { calls, admitted, refused } = summary.figures;
  const { windows, records, laws } = verdict;
  const [held, broken] = [statesOf(laws, "held"), statesOf(laws, "violated")];
  expect([refused > 0, broken > 0]).toEqual([true, true]);
  const all = { calls, refused, answered: admitted + refused, held, broken, windows };

  expect(
    found(
      terminal.slice(terminal.indexOf("herd: ")),
      /herd: (?<calls>[\d,]+) calls/,
      refusals,
      /(?<broken>\d+) laws are broken: .*\. (?<held>\d+) laws held over (?<records>\d+) lines and (?<windows>\d+) windows/,
    ),
  ).toEqual({ ...all, records });
  const figure = (name: string): RegExp => new RegExp(`\\| \`${name}\` \\| (?<${name}>[\\d,]+) \\|`);
  expect(
    found(
      await read("run/summary.md"),
      ...["calls", "admitted", "refused"].map(figure),
      refusals,
      lawsInDocument,
      /(?<windows>\d+) windows judged by places/,
    ),
  ).toEqual({ ...all, admitted });
  expect(
    found(
      await pageText("run/report.html"),
      /clients sent (?<calls>[\d,]+) calls/,
      /Calls admitted (?<admitted>[\d,]+) of (?<sent>[\d,]+) sent/,
      refusals,
      lawsOnPage,
      /over (?<records>[\d,]+) records in (?<windows>[\d,]+) windows/,
      /The answers showed (?<windowsSeen>[\d,]+) windows/,
    ),
  ).toEqual({ ...all, admitted, sent: calls, records, windowsSeen: summary.windowsSeen });
});

test("verify: calls, windows, laws, violations", async () => {
  const { terminal, result } = await told("verify run --out v.md --out v.html");
  const { records, windows, laws, violations } = result as unknown as {
    records: number;
    windows: number;
    laws: object;
    violations: readonly object[];
  };
  const [held, broken] = [statesOf(laws, "held"), statesOf(laws, "violated")];
  const law = (words: string): number => words.split(": ")[1]?.split(", ").length ?? 0;
  expect(violations.length).toBeGreaterThan(1);

  expect({
    ...found(terminal, /violated run: (?<records>[\d,]+) calls, (?<windows>[\d,]+) windows/),
    violations: times(terminal, /^ {2}violated /gm),
    held: /^ {2}held (.*);/m.exec(terminal)?.[1]?.split(", ").length,
  }).toEqual({ records, windows, violations: violations.length, held });
  const document = await read("v.md");
  expect({
    ...found(document, /(?<records>[\d,]+) records in (?<windows>[\d,]+) windows/, lawsInDocument),
    violations: times(document, /^- \*\*/gm),
    tested: times(document, /^\| `[\w-]+` \|/gm),
    named: law(/laws are broken: .*/.exec(document)?.[0] ?? ""),
  }).toEqual({ records, windows, held, broken, violations: violations.length, tested: held, named: broken });
  const page = await pageText("v.html");
  expect({
    ...found(page, /over (?<records>[\d,]+) records in (?<windows>[\d,]+) windows/),
    violations: times(page, /Seen [\d,]+ times?; trace/g),
    listed: [times(page, /✓ held: /g), times(page, /✗ broken: /g)],
    explained: [times(page, /✓ held(?!:)/g), times(page, /✗ broken(?!:)/g)],
  }).toEqual({
    ...{ records, windows, violations: violations.length },
    ...{ listed: [held, broken], explained: [held, broken] },
  });
});

test("replay: calls, refused, users, windows", async () => {
  const { terminal, result } = await told("replay run --out replayed");
  const { totals, headroom } = result as unknown as {
    totals: { calls: number; refused: number; users: number; usersRefused: number };
    headroom: readonly { windows: number; windowsOver: number }[];
  };
  expect(totals.refused).toBeGreaterThan(0);
  const words = [
    /: (?<refused>[\d,]+) of (?<calls>[\d,]+) calls \(/,
    /(?<usersRefused>[\d,]+) of (?<users>[\d,]+) users would have been hit/,
  ];
  const { calls, refused, users, usersRefused } = totals;
  const document = await read("replayed/summary.md");
  const page = await pageText("replayed/report.html");
  expect(found(terminal, ...words)).toEqual({ calls, refused, users, usersRefused });
  expect(found(document, ...words)).toEqual({ calls, refused, users, usersRefused });
  expect(
    found(
      page,
      /(?<refused>[\d,]+) of (?<calls>[\d,]+) calls \(/,
      words[1] as RegExp,
      /Refused [\d.]+% (?<refusedCalls>[\d,]+) calls/,
      /Users refused (?<hit>[\d,]+) of/,
    ),
  ).toEqual({ calls, refused, users, usersRefused, refusedCalls: refused, hit: usersRefused });

  const kinds = ["organization", "user"] as const;
  const windows = headroom.map((one) => [one.windowsOver, one.windows]);
  const kindOf = (text: string, pattern: (kind: string) => RegExp): number[][] =>
    kinds.map((kind) => {
      const { over = 0, windows: all } = found(text, pattern(kind)) as Record<string, number>;
      return [over, all as number];
    });
  expect(
    kindOf(document, (kind) => new RegExp(`${kind}, REST \\| (?<over>\\d+) of (?<windows>\\d+) \\|`)),
  ).toEqual(windows);
  expect(kindOf(page, (kind) => new RegExp(`${kind}, REST (?<windows>\\d+) (?<over>\\d+) \\d`))).toEqual(
    windows,
  );
  const lines = kinds.map((kind) =>
    new RegExp(`^ *${kind}, REST: +(\\d+) windows?;.*?(?:, (\\d+) too full)?$`, "m").exec(terminal),
  );
  expect(lines.map((line) => [Number(line?.[2] ?? 0), Number(line?.[1])])).toEqual(windows);
});

test("plan: simulations, the values that were tried, the runs in which they held", async () => {
  const asked = "--vary herd.clients=10,40 --until herd.refusedShare<10% --in-runs 50% --replications 6";
  const { terminal, result } = await told(`plan herd ${asked} --duration 30s --out planned`);
  const { simulations, points } = result as unknown as {
    simulations: number;
    points: readonly { values: readonly [number]; state: string; held: number; replications: number }[];
  };
  const rows = points.map(({ values: [value], state, held, replications }) => [
    value,
    state,
    held,
    replications,
  ]);
  expect(new Set(points.map(({ state }) => state))).toEqual(new Set(["holds", "fails"]));
  const rowsIn = (text: string, pattern: RegExp): unknown[][] =>
    [...text.matchAll(pattern)].map(({ groups = {} }) => {
      const { value, state, held, all } = groups;
      return [Number(value), state, Number(held), Number(all)];
    });
  const document = await read("planned/summary.md");
  const page = await pageText("planned/report.html");
  expect(
    rowsIn(terminal, /^ {2}(?<value>\d+) .* (?<state>\w+) \((?<held>\d+) of (?<all>\d+) runs\)$/gm),
  ).toEqual(rows);
  expect(
    rowsIn(
      document,
      /^\| (?<value>\d+) \|.*\| (?<held>\d+) of (?<all>\d+) runs .*\| \S+ (?<state>\w+) \|$/gm,
    ),
  ).toEqual(rows);
  expect(rowsIn(page, /(?<value>\d+) [✓✗] (?<state>\w+) (?<held>\d+) of (?<all>\d+) /g)).toEqual(rows);
  expect(found(terminal, /(?<simulations>\d+) runs simulated/)).toEqual({ simulations });
  for (const text of [document, page])
    expect(found(text, /(?<simulations>\d+) simulations/)).toEqual({ simulations });
  expect(found(page, /Runs in all (?<simulations>\d+)/)).toEqual({ simulations });
});
