// Laws on drawn scripts under policies, word for word: of each kind of quota the engine's answers, one of them changed,
// hidden or left as it is; how many answers each law judged, and what it says. `npm test -- test/laws/pinned-quotas.test.ts
// -u` writes the file of `pinned/` anew; read the difference.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type {
  PartialQuotaReading,
  QuotaDecision,
  QuotaLimiterFactory,
} from "../../src/engine/quota-limiter.ts";
import { seededRandom } from "../../src/faults/random.ts";
import { laws } from "../../src/laws/catalogue.ts";
import { quotaEngine } from "../../src/laws/engine-factory.ts";
import { playQuotas } from "../../src/laws/quotas/play.ts";
import type { QuotaOp, QuotaScript } from "../../src/laws/quotas/script.ts";
import { renderQuotaCounterexample } from "../../src/laws/quotas/timeline.ts";
import type { LawReport } from "../../src/laws/report.ts";
import type { QuotasKind } from "../../src/laws/sight.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { limiterLawNames } from "../../src/rules/laws.ts";

const startMs = Date.UTC(2026, 0, 1, 0, 0, 7);

/** A team's quota of one kind beside a user's window of 3 in 10 s. */
const policyOf = (algorithm: object, charge: object, relation: string): Policy =>
  parsePolicy({
    version: 2,
    name: "two",
    quotas: {
      team: { algorithm, key: ["team"], charge },
      own: {
        algorithm: { kind: "fixed-window", limit: 3, windowSeconds: 10, anchor: "first-request" },
        key: ["team", "user"],
        enforced: { with: "team" },
      },
    },
    operations: {
      read: { uses: { team: 1, own: 1 }, relation, samples: [{ path: "/read" }] },
      ask: { uses: { team: "declared" }, samples: [{ path: "/ask" }] },
    },
    routes: [
      { path: "/read", operation: "read" },
      { path: "/ask", operation: "ask" },
    ],
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["team", "user"] },
    wire: "buildkite",
  });

const window = (more: object) => ({ kind: "fixed-window", limit: 5, windowSeconds: 10, ...more });
const bucket = { kind: "token-bucket", capacity: 4, refill: { amount: 1, everyMs: 2000 } };
const whole = "all-or-nothing";
const policies: Readonly<Record<string, readonly [object, object?, string?]>> = {
  "a window of the epoch": [window({ anchor: "epoch" })],
  "a window of a grid": [window({ anchor: { offsetMs: 3000 } }), { refused: "counted" }],
  "a window of its first call": [
    window({ anchor: "first-request", opens: "whole-second" }),
    {},
    "each-alone",
  ],
  "a day": [
    { kind: "fixed-window", limit: 5, anchor: { calendar: "day", zone: "UTC" } },
    { refusedByOther: "charged" },
  ],
  "a bucket": [bucket, { when: "reserve-settle" }],
  "a bucket that any room will do": [bucket, { when: "completion", fits: "any-left" }, "first-refusal-stops"],
  "a window that is charged late": [window({ anchor: "epoch" }), { when: "completion", fits: "any-left" }],
};

type Draw = <T>(...choices: readonly T[]) => T;
const drawing = (seed: number): Draw => {
  const random = seededRandom(seed);
  return (...choices) => choices[Math.floor(random() * choices.length)] as (typeof choices)[number];
};

function drawnOps(draw: Draw): QuotaOp[] {
  const asked: { readonly id: number; readonly cost: number }[] = [];
  let atMs = startMs;
  return Array.from({ length: 18 }, (_, id): QuotaOp => {
    atMs += draw(0, 0, 1, 900, 1000, 2000, 3500, 9000, 10_000, -1500);
    const caller = { team: draw("red", "red", "red", "blue"), user: draw("ann", "ann", "bob") };
    const kind = draw("call", "call", "call", "call", "call", "call", "settle", "status", "other");
    const open = kind === "settle" ? asked.shift() : undefined;
    if (open !== undefined)
      return { do: "settle", atMs, id: open.id, actual: Math.min(draw(0, 1, 2), open.cost) };
    if (kind === "status") return { do: "status", atMs, caller };
    if (kind === "other") {
      const what = draw("enforce", "sweep", "snapshot");
      if (what !== "enforce") return { do: what, atMs };
      return { do: "enforce", atMs, quota: "team", caller, enforced: draw(true, false) };
    }
    const operation = draw("read", "read", "ask");
    const cost = operation === "read" ? 1 : draw(1, 2, 3, 7);
    if (operation === "ask") asked.push({ id, cost });
    return { do: "call", atMs, id, caller, operation, cost };
  });
}

type Change = readonly [words: string, change: (said: QuotaDecision) => QuotaDecision];

function drawnChange(draw: Draw): Change {
  const quota = draw("team", "own");
  const member = draw("limit", "remaining", "used", "resetAtMs");
  const by = member === "resetAtMs" ? draw(-1, 1, 10_000, -20_000) : draw(-1, 1, 2, 30);
  const reading = (change: (one: PartialQuotaReading) => PartialQuotaReading) => (said: QuotaDecision) => ({
    ...said,
    readings: said.readings?.map((one) => (one.quota === quota ? change(one) : one)),
  });
  const changes: readonly Change[] = [
    ["nothing", (said) => said],
    [`${quota}'s ${member} by ${by}`, reading((one) => ({ ...one, [member]: (one[member] ?? 0) + by }))],
    [`${quota}'s ${member} hidden`, reading(({ [member]: _, ...one }) => one as PartialQuotaReading)],
    [
      `${quota} is not shown`,
      (said) => ({ ...said, readings: said.readings?.filter((one) => one.quota !== quota) }),
    ],
    ["admitted", (said) => ({ ...said, admitted: true, refusedBy: null })],
    [`refused by ${quota}`, (said) => ({ ...said, admitted: false, refusedBy: quota })],
    ["refused by nobody", (said) => ({ ...said, admitted: false, refusedBy: null })],
    ["told when", (said) => ({ ...said, retryAtMs: startMs + draw(0, 20_000, 90_000) })],
  ];
  return draw(...changes, ...changes.slice(1, 3));
}

/** The engine, of which decisions and statuses are changed where it is due. */
function changed([, change]: Change, isDue: (nowMs: number) => boolean): QuotaLimiterFactory {
  return {
    ...quotaEngine,
    async create(given, seam) {
      const limiter = await quotaEngine.create(given, seam);
      return {
        ...limiter,
        async status(caller, nowMs) {
          const said = (await limiter.status?.(caller, nowMs)) ?? {};
          return isDue(nowMs) ? change({ ...said }) : said;
        },
        async decide(asked, nowMs) {
          const said = await limiter.decide(asked, nowMs);
          return isDue(nowMs) ? change({ ...said }) : said;
        },
      };
    },
  };
}

async function lines(name: string, policy: Policy, seed: number): Promise<string> {
  const draw = drawing(seed);
  const ops = drawnOps(draw);
  const due = draw(...ops).atMs;
  const change = drawnChange(draw);
  const isFrom = draw(true, false);
  const factory = changed(change, (nowMs) => (isFrom ? nowMs >= due : nowMs === due));
  const script: QuotaScript = { policy, isExact: draw(true, true, false), startMs, ops, pick: draw(0, 1, 2) };
  const judged: string[] = [];
  const broken: string[] = [];
  const drawn: string[] = [];
  for (const law of limiterLawNames) {
    const found = await laws[law].judge({
      script,
      play: (played) => playQuotas(factory, policy, played, ops),
    });
    if (found.judged > 0) judged.push(`${law} ${found.judged}`);
    if (found.violation === null) continue;
    const { history, compared, violation } = found;
    const counterexample = { script, history, violation, ...(compared && { compared }) };
    const report = { law, statement: "as it is", counterexample } as unknown as LawReport<QuotasKind>;
    drawn.push(...renderQuotaCounterexample(report));
    const { at, window: where, expected, got, arithmetic } = found.violation;
    const whose = where === null ? "" : ` of ${where.quota} ${Object.values(where.key).join("/")}`;
    broken.push(`- ${law}, ${at}${whose}: ${expected}; ${got}; ${arithmetic}`);
  }
  const head = `## ${name}, ${seed}: ${change[0]}, ${isFrom ? "from" : "at"} ${(due - startMs) / 1000} s`;
  const digest = createHash("sha256").update(drawn.join("\n")).digest("hex").slice(0, 12);
  // The first counterexample as people see it, of some; a digest of all.
  const shown = seed % 100 < 2 ? drawn.slice(0, 40) : [];
  return [head, judged.join(", "), ...broken, `drawn: ${digest}`, ...shown].join("\n");
}

test("under policies of every kind", async () => {
  const worlds: string[] = [];
  for (const [index, [name, [algorithm, charge = {}, relation = whole]]] of Object.entries(
    policies,
  ).entries())
    for (let round = 0; round < 7; round++)
      worlds.push(await lines(name, policyOf(algorithm, charge, relation), 1000 + 100 * index + round));
  await expect(`${worlds.join("\n\n")}\n`).toMatchFileSnapshot("./pinned/quota-accusations.md");
});
