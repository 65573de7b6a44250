// Refusal policies in words, as a range of choices names them: `none,waitReset,waitReset+0..5s,exponential`.
import { closest } from "../rules/closest.ts";
import { parseDuration } from "../rules/duration.ts";
import { type Problem, quote } from "../rules/errors.ts";
import type { RefusalPolicy } from "../scenario/client.ts";
import { type DurationSpan, longestMs } from "../scenario/mistakes.ts";
import { exponential } from "../scenario/retries/exponential.ts";
import { fixed } from "../scenario/retries/fixed.ts";
import { none } from "../scenario/retries/none.ts";
import { retryAfter } from "../scenario/retries/retry-after.ts";
import { waitReset } from "../scenario/retries/wait-reset.ts";

/** Word for a population's own policy. */
export const ownPolicy = "own";

interface Kind {
  /** Clients' action under this policy, in words for people. */
  readonly meaning: string;
  make(jitter: DurationSpan): RefusalPolicy;
}

const kinds: Readonly<Record<string, Kind>> = {
  none: { meaning: "giving up", make: none },
  waitReset: {
    meaning: "waiting for the reset",
    make: (jitter) => waitReset({ of: "both", jitter }),
  },
  waitOrganizationReset: {
    meaning: "waiting for the organization's reset",
    make: (jitter) => waitReset({ of: "organization", jitter }),
  },
  retryAfter: {
    meaning: "waiting as Retry-After says",
    make: (jitter) => retryAfter({ fallback: "1s", jitter }),
  },
  exponential: {
    meaning: "exponential backoff from 1 s to 60 s with full jitter",
    make: () => exponential({ first: "1s", most: "60s", jitter: "full" }),
  },
  immediate: { meaning: "trying again at once", make: (jitter) => fixed({ wait: jitter }) },
  fixed: { meaning: "waiting always as long", make: (wait) => fixed({ wait }) },
};

/** Policies that may have a `+SPAN`. */
const jittered = new Set(["waitReset", "waitOrganizationReset", "retryAfter", "immediate", "fixed"]);

/** Every word that a choice of policies may be. */
export const policyWords: readonly string[] = [ownPolicy, ...Object.keys(kinds)];

const syntax = /^(\w+)(?:\+(?:([\d.]+\w*)\.\.)?([\d.]+\w+))?$/;

/**
 * Reads a policy's word: `none`, `waitReset` (of the window that refused), `waitOrganizationReset`, `retryAfter` (1 s
 * without the header), `exponential` (1 s to 60 s, full jitter), `immediate`, `fixed+2s`, or `own` for the population's
 * own. All but `none`, `exponential` and `own` may have an extra wait: `waitReset+0..5s` (drawn evenly),
 * `immediate+2s`.
 * @param path name of the option or field, for mistakes
 * @param own policy to return for `own`
 */
export function parsePolicy(path: string, word: string, own: RefusalPolicy): RefusalPolicy | Problem {
  if (word === ownPolicy) return own;
  const [, name = "", least, most] = syntax.exec(word) ?? [];
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (kind === undefined) {
    const meant = closest(name === "" ? word : name, policyWords);
    const allowed =
      meant === null ? `one of ${policyWords.join(", ")}` : `${quote(meant)}, if that was meant`;
    return { path, got: quote(word), allowed };
  }
  if (most === undefined) return kind.make(0);
  const jitter = spanOf(least, most);
  if (jittered.has(name) && jitter !== null) return kind.make(jitter);
  const allowed = jittered.has(name) ? `${name}+0..5s or ${name}+2s` : `${name} alone`;
  return { path, got: quote(word), allowed };
}

/** Reads a span: `0` and `5s` are `0..5s`; `undefined` and `2s` are always 2 s. */
function spanOf(from: string | undefined, to: string): DurationSpan | null {
  const ms = (text: string): number | null => (text === "0" ? 0 : parseDuration(text));
  const most = ms(to);
  const least = from === undefined ? most : ms(from);
  const fits = (value: number | null): value is number =>
    Number.isSafeInteger(value) && Number(value) <= longestMs;
  return fits(least) && fits(most) && least <= most ? { least, most } : null;
}

/** Returns what clients with this policy do, for a sentence: "waiting for the reset with 0-5 s jitter". */
export function policyMeaning(word: string): string {
  const [, name = "", least, most] = syntax.exec(word) ?? [];
  const meaning = (Object.hasOwn(kinds, name) ? kinds[name]?.meaning : undefined) ?? word;
  if (most === undefined) return name.startsWith("wait") ? `${meaning} alone` : meaning;
  const wait = (least === undefined ? most : `${least}-${most}`).replace(
    /(?<=\d)(?=[a-z])|(?<=[a-z])(?=\d)/g,
    " ",
  );
  return name === "fixed" ? `waiting ${wait}` : `${meaning} with ${wait} jitter`;
}
