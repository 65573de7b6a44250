// Resets that a limiter shows, against a slow reading: some instant must be the end of the window by all that it showed.
import { expect, test } from "vitest";
import { seededRandom } from "../../src/faults/random.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { judged, type Said } from "./scripted.ts";

const lengthMs = 6_000;
const roundings = ["ceil", "floor", "round"] as const;
type Rounding = (typeof roundings)[number];

const shownAs: Readonly<Record<Rounding, (seconds: number) => readonly number[]>> = {
  ceil: (seconds) => [Math.ceil(seconds)],
  floor: (seconds) => [Math.floor(seconds)],
  // Either way of half a second is right.
  round: (seconds) => [Math.ceil(seconds - 0.5), Math.floor(seconds + 0.5)],
};

interface Shown {
  readonly atMs: number;
  /** Seconds until the reset; `null` if it is not shown. */
  readonly reset: number | null;
  /** Instant of the reset, ms; `null` if it is not shown. */
  readonly resetAt: number | null;
}

/**
 * Returns the place of the first reading after which no instant can be the end of the window; -1 if there is one. It
 * comes within six seconds of each reading, and not before five if it is read as the window opens.
 */
function firstWrong(rounding: Rounding, shown: readonly Shown[]): number {
  let ends = Array.from({ length: 2 * lengthMs }, (_, ms) => ms + 1);
  for (const [place, { atMs, reset, resetAt }] of shown.entries()) {
    if (reset === null && resetAt === null) continue;
    ends = ends.filter(
      (end) =>
        end > atMs &&
        end <= atMs + lengthMs &&
        (reset === null || shownAs[rounding]((end - atMs) / 1_000).includes(reset)) &&
        (resetAt === null || resetAt === end),
    );
    if (ends.length === 0 || (place === 0 && (ends.at(-1) as number) < lengthMs - 1_000)) return place;
  }
  return -1;
}

async function judgedAs(rounding: Rounding, shown: readonly Shown[]) {
  const said: Said = (_, before) => {
    const { reset, resetAt } = shown[before.length] as Shown;
    const told = {
      ...(reset === null ? {} : { reset }),
      ...(resetAt === null ? {} : { resetAtMs: resetAt }),
    };
    return {
      decision: { admitted: true, refusedBy: null, organization: { current: before.length + 1, ...told } },
    };
  };
  const rules = parseRules({
    organization: { rest: { limit: 9, windowSeconds: lengthMs / 1_000 } },
    user: { rest: { limit: 9, windowSeconds: lengthMs / 1_000 } },
    semantics: { reset: rounding, anchor: "first-request" },
  } as never);
  const words = shown.map((_, place) => `a${place}`).join(" ");
  const { broken } = await judged("reset-agrees", words, {
    said,
    rules,
    times: shown.map(({ atMs }) => atMs),
  });
  return broken;
}

test.each(roundings)(
  "resets that are rounded by %s are judged as all instants of an end tell",
  async (rounding) => {
    const random = seededRandom(7);
    const below = (most: number): number => Math.floor(random() * most);
    let wrong = 0;
    for (let drawn = 0; drawn < 150; drawn++) {
      const end = lengthMs - (below(3) === 0 ? below(1_100) : 0);
      const shown = [0, below(2_000), 2_000 + below(3_000)].map((atMs): Shown => {
        const [own, other] = shownAs[rounding]((end - atMs) / 1_000) as [number, number?];
        const right = below(2) === 0 ? own : (other ?? own);
        const isOff = below(6) === 0;
        return {
          atMs,
          reset: below(4) === 0 ? null : right + (isOff ? below(3) - 1 : 0),
          resetAt: below(3) === 0 ? end + (below(8) === 0 ? below(3) - 1 : 0) : null,
        };
      });
      const place = firstWrong(rounding, shown);
      const broken = await judgedAs(rounding, shown);
      if (place >= 0) wrong += 1;
      const told = JSON.stringify(shown);
      expect([told, broken === null ? -1 : Number(broken.split(":")[0]), broken]).toEqual([
        told,
        place,
        broken,
      ]);
    }
    expect(wrong).toBeGreaterThan(20);
    expect(wrong).toBeLessThan(120);
  },
);
