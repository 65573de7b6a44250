// What the golden corpus is made of: two dozen calls each, against the engine for the right ones and against a
// deployment with one fault for the wrong ones. The files are what counts; this only says where they came from.
import { Limiter } from "../../src/engine/limiter.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { presets } from "../../src/rules/presets.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { between, type RandomState, seedRandom } from "../../src/scenario/random.ts";
import type { Suspect } from "../../src/verify/suspects.ts";
import { brokenDeployments } from "./broken.ts";
import { type Fate, type History, type Plan, play, type World } from "./history.ts";

const limits: RulesInput = {
  organization: { rest: { limit: 8, windowSeconds: 10 }, graphql: { limit: 60, windowSeconds: 20 } },
  user: { rest: { limit: 5, windowSeconds: 10 }, graphql: { limit: 40, windowSeconds: 20 } },
};

interface Options {
  readonly rules?: RulesInput;
  readonly fates?: readonly Fate[];
  readonly changes?: Partial<World>;
}

/** Two dozen calls of two users within half a minute. */
function world(seed: number, { rules = {}, fates = ["answered"], changes = {} }: Options): World {
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
  "clock-off": { changes: { offsetMs: 123_456, driftPpm: 90, errorMs: 20 } },
};

/** Faults with a golden trace each, and the switches that show them best. */
const wrong: Readonly<Partial<Record<Suspect, RulesInput>>> = {
  "race-read-then-write": {},
  "double-count": {},
  "status-charged": {},
  "refused-counted": {},
  "narrow-drains-broad": {},
  "reset-in-ms": {},
  "reset-truncated": {},
  "reset-disagrees": {},
  "rearmed-per-hit": {},
  "new-reset-old-count": {},
  "headers-missing-on-429": {},
  "wrong-scope-header": {},
  "per-instance-counters": {},
  "one-extra": {},
  "one-short": {},
  "cost-ignored": { semantics: { graphqlCharge: "prepaid" } },
  "stale-replica-read": {},
  "status-pristine": {},
  "wrong-user-key": {},
  "limit-changes-mid-window": {},
  "unenforced-refuses": {},
};

/** Histories of one kind, by seed: the first one that shows what it is there for is the golden one. */
export interface GoldenHistory {
  /** `NAME-ok` or `FAULT-bad`. */
  readonly name: string;
  /** What a bad one must be suspected of first. */
  readonly fault: Suspect | null;
  make(seed: number): History;
}

export const goldenHistories: readonly GoldenHistory[] = [
  ...Object.entries(right).map(([name, options]) => ({
    name: `${name}-ok`,
    fault: null,
    make(seed: number): History {
      const drawn = world(seed, options);
      return play(drawn, new Limiter(drawn.rules));
    },
  })),
  ...brokenDeployments.flatMap((broken) => {
    const rules = wrong[broken.fault];
    if (rules === undefined) return [];
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
];
