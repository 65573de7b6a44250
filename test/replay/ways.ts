// Ways to replay a log that tests pin: rules, and how callers react.

import type { ReplayOptions } from "../../sim/replay/replay.ts";
import { replay } from "../../sim/replay/replay.ts";
import { reactionOf } from "../../src/cli/replay-options.ts";
import { renderReplayMarkdown } from "../../src/report/replay-documents.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { digestOf } from "../support/digest.ts";
import { play, type World } from "../worlds/world.ts";
import { logOf } from "./rows.ts";

const limits = (organization: number, user: number, semantics: RulesInput["semantics"] = {}): RulesInput => ({
  organization: { rest: { limit: organization, windowSeconds: 60 } },
  user: { rest: { limit: user, windowSeconds: 60 } },
  semantics,
});

const ways: Readonly<Record<string, readonly [RulesInput, ReplayOptions?]>> = {
  "as it was": [limits(100, 50)],
  "as it was, waiting for the reset": [limits(100, 50), { reaction: reactionOf("waitReset+0..5s", 3) }],
  "half of it": [limits(50, 25), { expect: { refusedShare: "<1%" } }],
  "half of it, growing waits": [limits(50, 25), { reaction: reactionOf("exponential", 1) }],
  "half of it, each call by itself": [
    limits(50, 25, { anchor: "first-request" }),
    { reaction: { ...reactionOf("retryAfter", 2), independent: true } },
  ],
  "twice as much, refused rows kept": [
    limits(200, 100, { refused: "counted" }),
    { reaction: { ...reactionOf("none", 2), keepRefused: true } },
  ],
};

/** Tells what replaying a day of a world says in each of the ways, and a digest of each result. */
export async function dayReplayed(world: World, agents: number): Promise<string> {
  const { rows } = play(world, { firstDay: 1, days: 1, seed: 2, agents });
  const log = rows.map(({ atMs, durationMs, user, status }) => ({
    ...{ atMs: Math.floor(atMs), durationMs: Math.round(durationMs), user, status },
  }));
  const texts: string[] = [];
  for (const [way, [rules, options]] of Object.entries(ways)) {
    const result = await replay(logOf(log, 5_000), parseRules(rules), options);
    const digest = digestOf(result, 16);
    texts.push(`# ${way}: ${digest}\n\n${renderReplayMarkdown(result)}`);
  }
  return texts.join("\n");
}
