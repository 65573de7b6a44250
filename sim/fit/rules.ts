// The rules that a recording shows: limits from headers, and window lengths from the longest reset.
import { parseRules } from "../../src/rules/parse.ts";
import type { Owner, Rules, RulesInput, Scope } from "../../src/rules/rules.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import type { HeaderValue } from "../../src/wire/fields.ts";
import { addTo } from "./statistics.ts";

interface Seen {
  /** Number of answers that showed each limit. */
  readonly limits: Map<number, number>;
  resetMost: number;
}

/** Window lengths that people choose, in seconds. */
const usualSeconds = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 21_600, 43_200, 86_400];

/** Counts the limits and resets that headers showed, for each scope and owner. */
export class LimitsShown {
  readonly #seen: Readonly<Record<Scope, Readonly<Record<Owner, Seen>>>> = {
    rest: { organization: unseen(), user: unseen() },
    graphql: { organization: unseen(), user: unseen() },
  };

  add({ scope, limit, reset, userLimit, userReset }: TraceCall): void {
    note(this.#seen[scope].organization, limit, reset);
    note(this.#seen[scope].user, userLimit, userReset);
  }

  /** True if any answer showed a limit. */
  get any(): boolean {
    const { rest, graphql } = this.#seen;
    return [rest, graphql].some(({ organization, user }) => organization.limits.size + user.limits.size > 0);
  }

  /** Returns the most frequent limits. Windows have the least usual length that covers the longest reset. Else: defaults. */
  rules(): Rules {
    const { rest, graphql } = this.#seen;
    const input: RulesInput = {
      organization: { rest: limitOf(rest.organization), graphql: limitOf(graphql.organization) },
      user: { rest: limitOf(rest.user), graphql: limitOf(graphql.user) },
    };
    return parseRules(JSON.parse(JSON.stringify(input)));
  }
}

function unseen(): Seen {
  return { limits: new Map(), resetMost: 0 };
}

function note(seen: Seen, limit: HeaderValue, reset: HeaderValue): void {
  if (typeof limit === "number" && limit >= 1) addTo(seen.limits, limit);
  if (typeof reset === "number" && reset > seen.resetMost) seen.resetMost = reset;
}

function limitOf({ limits, resetMost }: Seen): { limit?: number; windowSeconds?: number } {
  const [most] = [...limits].sort(([, a], [, b]) => b - a);
  if (most === undefined) return {};
  const windowSeconds = usualSeconds.find((seconds) => seconds >= resetMost) ?? resetMost;
  return resetMost === 0 ? { limit: most[0] } : { limit: most[0], windowSeconds };
}
