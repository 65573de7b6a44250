// Histories of the golden corpus: two dozen calls each, against the engine for the right ones and against a
// deployment with one fault for the wrong ones. The files are what counts; this only says where they came from.
import { simulate } from "../../sim/simulate.ts";
import { Limiter } from "../../src/engine/limiter.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { presets } from "../../src/rules/presets.ts";
import type { Rules, RulesInput } from "../../src/rules/rules.ts";
import {
  burst,
  defineScenario,
  none,
  pipelinesQuery,
  poller,
  rest,
  status,
  worker,
} from "../../src/scenario/index.ts";
import { between, type RandomState, seedRandom } from "../../src/scenario/random.ts";
import type { Suspect } from "../../src/verify/suspects.ts";
import { type Broken, brokenDeployments } from "./broken.ts";
import { ChangingLimits } from "./changing-limits.ts";
import { type Fate, type History, type Plan, play, type Target, type World } from "./history.ts";

const limits: RulesInput = {
  organization: { rest: { limit: 8, windowSeconds: 10 }, graphql: { limit: 60, windowSeconds: 20 } },
  user: { rest: { limit: 5, windowSeconds: 10 }, graphql: { limit: 40, windowSeconds: 20 } },
};

interface Options {
  readonly rules?: RulesInput;
  readonly fates?: readonly Fate[];
  readonly changes?: Partial<World>;
  readonly bodyMs?: Plan["bodyMs"];
  readonly limitsChange?: boolean;
}

/** Two dozen calls of two users within half a minute. */
function world(seed: number, { rules = {}, fates = ["answered"], changes = {}, bodyMs }: Options): World {
  const random: RandomState = { random0: 0, random1: 0, random2: 0, random3: 0 };
  seedRandom(random, seed, 1, 0);
  const draw = (least: number, most: number): number => between(random, least, most);
  const plans: Plan[] = [];
  let sentMs = 500;
  for (let index = 0; index < 24; index++) {
    sentMs += draw(0, 3) === 0 ? draw(1000, 4000) : draw(5, 400);
    const status = draw(0, 6) === 0;
    const scope = status || draw(0, 2) > 0 ? "rest" : "graphql";
    const cost = scope === "rest" ? 1 : draw(5, 20);
    plans.push({
      sentMs,
      client: index % 4,
      org: "acme",
      user: draw(0, 2) === 0 ? "u2" : "u1",
      scope,
      kind: status ? "status" : "call",
      cost,
      actual: draw(2, cost),
      showsActual: true,
      toDecisionMs: draw(2, 30),
      workMs: draw(5, 40),
      backMs: draw(2, 10),
      fate: fates[draw(0, fates.length - 1)] ?? "answered",
      anonymous: false,
      instance: draw(0, 1),
      lateMs: 0,
      ...(bodyMs === undefined ? {} : { bodyMs }),
    });
  }
  return {
    rules: parseRules({ ...limits, ...rules }),
    epochMs: Date.UTC(2026, 0, 2, 3, 4, 17),
    startMs: 0,
    resolutionMs: 1,
    errorMs: 0,
    offsetMs: 0,
    driftPpm: 0,
    showsRules: true,
    lostByQuota: false,
    flips: [],
    plans,
    ...changes,
  };
}

const unenforced: RulesInput = {
  organization: {
    rest: { ...limits.organization?.rest, enforced: false },
    graphql: { ...limits.organization?.graphql, enforced: false },
  },
};

const right: Readonly<Record<string, Options>> = {
  "anchor-epoch": {},
  "anchor-first-request": { rules: { semantics: { anchor: "first-request" } } },
  "refused-counted": { rules: { semantics: { refused: "counted" } } },
  "refused-by-user-charges-organization": { rules: { semantics: { refusedByUser: "charges-organization" } } },
  "graphql-reserved": { rules: { semantics: { graphqlCharge: "reserved" } } },
  "graphql-prepaid": { rules: { semantics: { graphqlCharge: "prepaid" } } },
  "graphql-postpaid": { rules: { semantics: { graphqlCharge: "postpaid" } } },
  "remaining-signed": { rules: { ...unenforced, semantics: { remaining: "signed" } } },
  "reset-floor": { rules: { semantics: { reset: "floor" } } },
  "reset-round": { rules: { semantics: { reset: "round" } } },
  "user-enforced-always": { rules: { ...unenforced, semantics: { userEnforced: "always" } } },
  "retry-after-false": { rules: { semantics: { retryAfter: false } } },
  "not-enforced": { rules: unenforced },
  documented: { rules: presets.documented },
  "without-rules": { changes: { showsRules: false } },
  "not-complete": { fates: ["answered", "answered", "unseen"] },
  "timeouts-and-lost": {
    fates: ["answered", "answered", "timeout", "timeout-undecided", "bad-gateway", "lost"],
  },
  "open-at-start": { changes: { startMs: 4000 } },
  "enforced-switched": {
    changes: { flips: [{ atMs: 4200, org: "acme", scope: "rest", lookMs: 900 }] },
  },
  "failed-after-counting": { fates: ["answered", "answered", "failed"] },
  "lost-by-quota": { fates: ["answered", "answered", "lost"], changes: { lostByQuota: true } },
  "bodies-read-apart": { bodyMs: { rest: 40, graphql: 700 } },
  "limits-change-at-the-edge": { changes: { showsRules: false }, limitsChange: true },
  "without-rules-documented": { rules: presets.documented, changes: { showsRules: false } },
  "several-generators": { changes: { errorMs: 200, resolutionMs: 5 } },
  // Both windows fill at once, so that refusals find room in neither.
  "refused-by-both": {
    rules: {
      organization: { rest: { limit: 3, windowSeconds: 10 }, graphql: { limit: 60, windowSeconds: 20 } },
      user: { rest: { limit: 3, windowSeconds: 10 }, graphql: { limit: 60, windowSeconds: 20 } },
    },
  },
  "clock-off": { changes: { offsetMs: 123_456, driftPpm: 90, errorMs: 20 } },
};

/** Switches that show a fault best; the faults whose windows two dozen calls do not show have longer histories. */
const wrong: Readonly<Partial<Record<Suspect, RulesInput>>> = {
  "cost-ignored": { semantics: { graphqlCharge: "prepaid" } },
  "refusal-names-user": {
    organization: { rest: { limit: 4, windowSeconds: 10 }, graphql: { limit: 60, windowSeconds: 20 } },
    user: { rest: { limit: 3, windowSeconds: 10 }, graphql: { limit: 50, windowSeconds: 20 } },
  },
};

/** Faults that only some windows show, or some answers: simulated, over eight windows. */
const simulated: readonly Suspect[] = [
  "status-opens-window",
  "windows-back-to-back",
  "organization-off-grid",
  "cost-over-limit-admitted",
  "immortal-by-polling",
  "reset-zero",
  "stale-cached-reset",
  "retry-too-soon",
];

const quarter = defineScenario({
  name: "golden",
  duration: "40s",
  network: { latency: { least: 2, most: 40 }, execution: { least: 5, most: 60 } },
  populations: {
    workers: {
      clients: 3,
      user: 2,
      behaviour: worker({
        calls: [{ call: rest("/v2/user"), weight: 2 }, { call: pipelinesQuery(5) }],
        think: { least: "300ms", most: "1500ms" },
      }),
      onRefused: none(),
    },
    dear: { clients: 1, behaviour: poller({ call: pipelinesQuery(80), every: "9s" }), onRefused: none() },
    watchers: { clients: 1, behaviour: poller({ call: status(), every: "1300ms" }) },
  },
});

/** Calls that come seldom, while somebody polls: windows that open with their first call stay idle in between. */
const seldom = defineScenario({
  name: "golden",
  duration: "60s",
  network: { latency: { least: 2, most: 40 }, execution: { least: 5, most: 60 } },
  populations: {
    workers: {
      clients: 1,
      behaviour: burst({ call: rest("/v2/user"), size: 6, every: "9500ms" }),
      onRefused: none(),
    },
    queries: { clients: 1, behaviour: poller({ call: pipelinesQuery(5), every: "17s" }), onRefused: none() },
    watchers: { clients: 1, behaviour: poller({ call: status(), every: "1300ms" }) },
  },
});

const oneExtra = brokenDeployments.find(({ fault }) => fault === "one-extra") as Broken;

const openings: readonly (Suspect | null)[] = ["status-opens-window", "windows-back-to-back"];

function simulatedHistory(
  fault: Suspect | null,
  seed: number,
  anchor: "epoch" | "first-request" = openings.includes(fault) ? "first-request" : "epoch",
): History {
  const isOpening = anchor === "first-request";
  const rules = parseRules({
    organization: { rest: { limit: 8, windowSeconds: 5 }, graphql: { limit: 60, windowSeconds: 10 } },
    user: { rest: { limit: 4, windowSeconds: 5 }, graphql: { limit: 40, windowSeconds: 10 } },
    semantics: { graphqlCharge: "prepaid", anchor },
  });
  const chosen = fault === null ? undefined : parseFault(fault);
  const { header, calls } = simulate(isOpening ? seldom : quarter, { seed, rules, fault: chosen });
  return { header, lines: Array.from(calls, (call, index) => ({ line: index + 2, call: { ...call } })) };
}

/** Windows of an hour, that were open when the trace began, and nothing had been charged to: a count that passes its limit shows. */
function firstWindow(seed: number, make: (rules: Rules) => Target): History {
  const drawn = world(seed, {
    rules: {
      organization: { rest: { limit: 8, windowSeconds: 3600 }, graphql: { limit: 60, windowSeconds: 3600 } },
      user: { rest: { limit: 5, windowSeconds: 3600 }, graphql: { limit: 40, windowSeconds: 3600 } },
      semantics: { remaining: "signed" },
    },
  });
  return play(drawn, make(drawn.rules));
}

/** Histories of one kind, by seed: the first one that shows what it is there for is the golden one. */
export interface GoldenHistory {
  /** `NAME-ok` or `FAULT-bad`. */
  readonly name: string;
  /** First suspect of a bad one. */
  readonly fault: Suspect | null;
  make(seed: number): History;
}

export const goldenHistories: readonly GoldenHistory[] = [
  ...Object.entries(right).map(([name, options]) => ({
    name: `${name}-ok`,
    fault: null,
    make(seed: number): History {
      const drawn = world(seed, options);
      if (options.limitsChange === true) return play(drawn, new ChangingLimits(drawn.rules));
      return play(drawn, new Limiter(drawn.rules));
    },
  })),
  ...brokenDeployments.map((broken) => {
    const rules = wrong[broken.fault] ?? {};
    return {
      name: `${broken.fault}-bad`,
      fault: broken.fault,
      make(seed: number): History {
        const drawn = world(seed, { rules });
        const { header, lines } = play(drawn, broken.make(drawn.rules));
        const { change } = broken;
        if (change === undefined) return { header, lines };
        return { header, lines: lines.map(({ line, call }) => ({ line, call: change(call) })) };
      },
    };
  }),
  {
    name: "first-window-ok",
    fault: null,
    make: (seed: number): History => firstWindow(seed, (rules) => new Limiter(rules)),
  },
  {
    name: "first-window-bad",
    fault: "one-extra",
    make: (seed: number): History => firstWindow(seed, (rules) => oneExtra.make(rules)),
  },
  {
    name: "first-request-polled-ok",
    fault: null,
    make: (seed: number): History => simulatedHistory(null, seed, "first-request"),
  },
  {
    name: "one-grid-ok",
    fault: null,
    make: (seed: number): History => simulatedHistory(null, seed, "epoch"),
  },
  ...simulated.map((fault) => ({
    name: `${fault}-bad`,
    fault,
    make: (seed: number): History => simulatedHistory(fault, seed),
  })),
];
