// A day of calls that all fall into one window: of one organization and its one user.
import { parseRules } from "../../src/rules/parse.ts";
import type { TraceLine } from "../../src/trace/read.ts";
import type { TraceHeader } from "../../src/trace/record.ts";
import { header as anyHeader } from "../trace/samples.ts";

const dayMs = 86_400_000;
const limit = 99_999_999;
const midnight = Date.UTC(2026, 0, 2);

export const rules = parseRules({
  organization: { rest: { limit, windowSeconds: dayMs / 1000 } },
  user: { rest: { limit, windowSeconds: dayMs / 1000 } },
  semantics: { anchor: "epoch" },
});

export const header: TraceHeader = { ...anyHeader, startedAt: midnight - 60_000, rules };

/**
 * Calls that overlap by some, spread over the day.
 * @param chargedTwice places of calls that are counted twice
 */
export function* linesOf(count: number, chargedTwice: readonly number[] = []): Generator<TraceLine> {
  let total = 0;
  for (let call = 0; call < count; call++) {
    const decided = midnight + 1000 + Math.floor((call * (dayMs - 120_000)) / count);
    // Some answers take long enough for many calls to come between.
    const slowMs = call % 97 === 0 ? 4000 : 0;
    total += chargedTwice.includes(call) ? 2 : 1;
    const reset = Math.ceil((midnight + dayMs - decided) / 1000);
    const shown = { limit, remaining: limit - total, reset };
    yield {
      line: call + 2,
      call: {
        sent: decided - 3 - (call % 31),
        received: decided + 2 + (call % 43) + slowMs,
        client: "c/0",
        call,
        org: "acme",
        user: "ann",
        scope: "rest",
        kind: "call",
        cost: 1,
        status: 200,
        scopeName: "rest",
        ...shown,
        userScopeName: "rest_user",
        userLimit: shown.limit,
        userRemaining: shown.remaining,
        userReset: shown.reset,
      },
    };
  }
}
