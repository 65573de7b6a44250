// Laws on drawn scripts, word for word: under each value of each switch the engine's answers, one of them changed, hidden or
// left as it is; how many answers each law judged, and what it says. `npm test -- test/laws/pinned.test.ts -u` writes the
// file of `pinned/` anew; read the difference.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { LimiterFactory } from "../../src/engine/adapter.ts";
import { seededRandom } from "../../src/faults/random.ts";
import { judgeScript } from "../../src/laws/causes.ts";
import { engineFactory } from "../../src/laws/engine-factory.ts";
import type { LawReport } from "../../src/laws/report.ts";
import type { Op, Script } from "../../src/laws/script.ts";
import { renderCounterexample } from "../../src/laws/timeline.ts";
import { algorithms } from "../../src/rules/algorithms.ts";
import { limiterLawNames } from "../../src/rules/laws.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { switches, switchNames } from "../../src/rules/switches.ts";

const startMs = Date.UTC(2026, 0, 1, 0, 0, 7);
const limits = {
  organization: { rest: { limit: 4, windowSeconds: 10 }, graphql: { limit: 10, windowSeconds: 20 } },
  user: { rest: { limit: 3, windowSeconds: 10 }, graphql: { limit: 6, windowSeconds: 20 } },
};

type Draw = <T>(...choices: readonly T[]) => T;
const drawing = (seed: number): Draw => {
  const random = seededRandom(seed);
  return (...choices) => choices[Math.floor(random() * choices.length)] as (typeof choices)[number];
};

/** Calls of three users of two organizations, now and then something else. */
function drawnOps(draw: Draw): Op[] {
  const queries: { readonly id: number; readonly cost: number }[] = [];
  let atMs = startMs;
  return Array.from({ length: 18 }, (_, id): Op => {
    atMs += draw(0, 0, 1, 900, 1000, 2000, 3500, 9000, 10_000, -1500);
    const organization = draw("acme", "acme", "acme", "other");
    const user = draw("ann", "ann", "bob");
    const kind = draw("call", "call", "call", "call", "call", "call", "settle", "status", "other");
    const query = kind === "settle" ? queries.shift() : undefined;
    if (query !== undefined)
      return { do: "settle", atMs, id: query.id, actual: Math.min(draw(0, 1, 2, 7), query.cost) };
    if (kind === "status") return { do: "status", atMs, organization, user };
    if (kind === "other") {
      const what = draw("enforce", "sweep", "snapshot");
      if (what !== "enforce") return { do: what, atMs };
      return {
        do: "enforce",
        atMs,
        organization,
        scope: draw("rest", "graphql"),
        enforced: draw(true, false),
      };
    }
    const scope = draw("rest", "rest", "graphql");
    const cost = scope === "rest" ? draw(1, 1, 1, 2, 5) : draw(0, 1, 2, 3, 7);
    if (scope === "graphql") queries.push({ id, cost });
    return { do: "call", atMs, id, organization, user, scope, cost };
  });
}

type Reading = Record<string, unknown>;
type Said = { [member: string]: unknown };

/** A change of an answer, in words. */
interface Change {
  readonly words: string;
  change(said: Said): Said;
}

function drawnChange(draw: Draw): Change {
  const owner = draw("organization", "user");
  const member = draw("limit", "current", "remaining", "reset", "resetAtMs");
  const by = member === "resetAtMs" ? draw(-1, 1, 10_000, -20_000) : draw(-1, 1, 2, 30);
  const of = (said: Said): Reading => (said[owner] ?? {}) as Reading;
  const kinds: readonly Change[] = [
    { words: "nothing", change: (said) => said },
    {
      words: `${owner}'s ${member} by ${by}`,
      change: (said) => ({ ...said, [owner]: { ...of(said), [member]: Number(of(said)[member]) + by } }),
    },
    {
      words: `${owner}'s ${member} hidden`,
      change: (said) => ({ ...said, [owner]: { ...of(said), [member]: undefined } }),
    },
    {
      words: `${owner} shows remaining alone`,
      change: (said) => ({
        ...said,
        [owner]: { remaining: of(said)["remaining"], resetAtMs: of(said)["resetAtMs"] },
      }),
    },
    {
      words: "whole seconds alone",
      change: (said) => ({
        ...said,
        organization: { reset: 1 },
        user: { ...(said["user"] as Reading), resetAtMs: null },
      }),
    },
    { words: "admitted", change: (said) => ({ ...said, admitted: true, refusedBy: null }) },
    { words: `refused by ${owner}`, change: (said) => ({ ...said, admitted: false, refusedBy: owner }) },
    { words: "refused by nobody", change: (said) => ({ ...said, admitted: false, refusedBy: null }) },
    { words: "told a wait", change: (said) => ({ ...said, retryAfterMs: draw(0, 500, 9000, 40_000) }) },
  ];
  return draw(...kinds, ...kinds.slice(1, 4));
}

/** The engine, of which decisions from a time on, or to the last call alone, are changed. */
function changed({ change }: Change, isDue: (nowMs: number) => boolean, shows: boolean): LimiterFactory {
  return {
    ...engineFactory,
    async create(given, seam) {
      const { answer, ...limiter } = await engineFactory.create(given, seam);
      return {
        ...limiter,
        ...(shows && answer !== undefined && { answer }),
        async decide(asked, nowMs) {
          const said = await limiter.decide(asked, nowMs);
          return (isDue(nowMs) ? change({ ...said }) : said) as typeof said;
        },
        async settle(reservation, actual, nowMs) {
          const said = (await limiter.settle?.(reservation, actual, nowMs)) ?? {};
          return (isDue(nowMs) ? change({ ...said }) : said) as typeof said;
        },
      };
    },
  };
}

async function lines(name: string, semantics: object, seed: number): Promise<string> {
  const draw = drawing(seed);
  const ops = drawnOps(draw);
  const due = draw(...ops).atMs;
  const change = drawnChange(draw);
  const isFrom = draw(true, false);
  const factory = changed(change, (nowMs) => (isFrom ? nowMs >= due : nowMs === due), draw(true, false));
  const algorithm = draw("fixed-window", "fixed-window", ...algorithms);
  const endsLate = draw(false, false, true);
  const opensToMs = draw<1 | 1000>(1, 1000, 1000);
  const terms = { algorithm, endsLate, opensToMs, keyed: draw(false, false, true) };
  const script: Script = {
    rules: parseRules({ ...limits, semantics }),
    startMs,
    ops,
    pick: draw(0, 1, 2),
    ...terms,
  };
  const judged: string[] = [];
  const broken: string[] = [];
  const drawn: string[] = [];
  for (const law of limiterLawNames) {
    const found = await judgeScript(factory, law, script);
    if (found.judged > 0) judged.push(`${law} ${found.judged}`);
    if (found.violation === null) continue;
    const { history, compared, violation } = found;
    const counterexample = { script, history, violation, ...(compared && { compared }) };
    drawn.push(
      ...renderCounterexample({ law, statement: "as it is", counterexample } as unknown as LawReport),
    );
    const { at, window, expected, got, arithmetic } = violation;
    const where = window === null ? "" : ` of ${window.user ?? window.organization} in ${window.scope}`;
    broken.push(`- ${law}, ${at}${where}: ${expected}; ${got}; ${arithmetic}`);
  }
  const head = `## ${name}, ${seed}: ${change.words}, ${isFrom ? "from" : "at"} ${(due - startMs) / 1000} s, ${Object.values(terms).join(" ")}`;
  // Timelines are shown by their digest alone.
  const digest = createHash("sha256").update(drawn.join("\n")).digest("hex").slice(0, 12);
  return [head, judged.join(", "), ...broken, `drawn: ${digest}`].join("\n");
}

const variants = [
  ["default", {}] as const,
  ...switchNames.flatMap((name) =>
    switches[name].values.slice(1).map((value) => [`${name} ${value}`, { [name]: value }] as const),
  ),
];

test("under every switch", async () => {
  const worlds: string[] = [];
  for (const [index, [name, semantics]] of variants.entries())
    for (let round = 0; round < 5; round++) worlds.push(await lines(name, semantics, 100 * index + round));
  await expect(`${worlds.join("\n\n")}\n`).toMatchFileSnapshot("./pinned/accusations.md");
});
