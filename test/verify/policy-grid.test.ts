// Windows of a policy that lie on a grid or follow a calendar, by resets that are instants of the target's clock: those
// that end there, nearly there, or at another place.
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { FixedWindow } from "../../src/policy/policy.ts";
import type { QuotaCall, QuotaTraceHeader } from "../../src/trace/quota-record.ts";
import type { Docket } from "../../src/verify/docket.ts";
import { PolicyGrid } from "../../src/verify/policy-grid.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import type { QuotaName } from "../../src/verify/quota-name.ts";

const utc = (text: string): number => Date.parse(`2026-${text}Z`);

/** Judges one admitted call that shows when its window ends. */
async function judged(
  algorithm: object,
  sent: number,
  endMs: number,
  shown: { remaining: number | null; used: number | null } = { remaining: 4, used: null },
  round: object = { round: "ceil" },
) {
  const policy = parsePolicy({
    version: 2,
    name: "grid",
    quotas: { w: { algorithm: { kind: "fixed-window", limit: 5, ...algorithm }, key: ["user"] } },
    operations: { look: { uses: { w: 1 } } },
    routes: [{ path: "/**", operation: "look" }],
    auth: { attributes: ["user"] },
    wire: {
      revision: "1",
      readings: [
        {
          headers: { "X-Limit": "{limit}", "X-Remaining": "{remaining}", "X-Reset": "{reset}" },
          reset: { form: "epoch-s", means: "window-end", ...round },
        },
      ],
    },
  });
  const header: QuotaTraceHeader = {
    version: 2,
    format: "spillway-trace",
    source: "node",
    startedAt: sent - 1000,
    scenario: "grid",
    seed: 1,
    target: "http://127.0.0.1:9",
    policy,
    clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
    complete: true,
    lost: 0,
  };
  const reset = { afterMs: null, atMs: endMs, gridMs: 1000 };
  const call: QuotaCall = {
    ...{ sent, received: sent + 5, client: "p/0", call: 0, caller: { user: "ann" }, operation: "look" },
    ...{ cost: 1, status: 200, outcome: "admitted", date: sent - (sent % 1000) },
    readings: [{ quota: "w", limit: 5, ...shown, reset }],
  };
  const { violations, notJudged = [] } = await judgeQuotas(header, [{ line: 2, call }]);
  return [
    ...violations.map(({ law, explanation }) => `${law}: ${explanation}`),
    ...notJudged.map(({ quota, why }) => `not judged ${quota}: ${why}`),
  ];
}

const minute = { windowSeconds: 60, anchor: "epoch" };
const paris = { anchor: { calendar: "day", zone: "Europe/Paris" } };

describe("the end of a window that a call was charged to", () => {
  test.each([
    ["on the grid", minute, utc("01-05T10:00:20"), utc("01-05T10:01:00")],
    ["a sum of two rounded times beside it", minute, utc("01-05T10:00:20"), utc("01-05T10:01:02")],
    [
      "on a moved grid",
      { ...minute, anchor: { offsetMs: 20_000 } },
      utc("01-05T10:00:30"),
      utc("01-05T10:01:20"),
    ],
    ["at midnight after 23 hours", paris, utc("03-29T12:00:00"), utc("03-29T22:00:00")],
    [
      "anywhere after its first call",
      { ...minute, anchor: "first-request" },
      utc("01-05T10:00:20"),
      utc("01-05T10:01:20"),
    ],
  ])("%s", async (_, algorithm, sent, endMs) => {
    expect(await judged(algorithm, sent, endMs)).toEqual([]);
  });

  test.each([
    ["beside the grid", minute, utc("01-05T10:00:20"), utc("01-05T10:01:17"), "no window of 60 s ends"],
    [
      "on the grid that is not moved",
      { ...minute, anchor: { offsetMs: 20_000 } },
      utc("01-05T10:00:30"),
      utc("01-05T10:01:00"),
      "no window of 60 s",
    ],
    [
      "at the midnight of another zone",
      paris,
      utc("01-05T12:00:00"),
      utc("01-06T00:00:00"),
      "no day in Europe/Paris ends",
    ],
    [
      "after 24 hours, where a day has 23",
      paris,
      utc("03-29T12:00:00"),
      utc("03-29T23:00:00"),
      "no day in Europe/Paris",
    ],
  ])("%s", async (_, algorithm, sent, endMs, words) => {
    expect(await judged(algorithm, sent, endMs)).toEqual([
      expect.stringMatching(`^reset-agrees: line 2 .*${words}`),
    ]);
  });

  test("where nothing is used, may be that of a window that nobody opened", async () => {
    const told = await judged(minute, utc("01-05T10:00:20"), utc("01-05T10:01:17"), {
      ...{ remaining: 5, used: null },
    });
    expect(told).toEqual([expect.stringMatching(/^conserved: /)]);
  });

  test("is held to its grid where answers show what is used, and not what is left", async () => {
    const beside = [minute, utc("01-05T10:00:20"), utc("01-05T10:01:17")] as const;
    expect(await judged(...beside, { remaining: null, used: 1 })).toEqual([
      expect.stringMatching(/^reset-agrees: line 2 .*no window of 60 s ends/),
    ]);
    expect(await judged(...beside, { remaining: null, used: 0 })).toEqual([
      expect.stringMatching(/^conserved: /),
    ]);
  });

  test("that tells no window of few seconds apart is said not to judge its counts", async () => {
    const short = { windowSeconds: 8, anchor: "epoch" };
    const shown = [
      short,
      utc("01-05T10:00:20"),
      utc("01-05T10:00:24"),
      { remaining: 4, used: null },
    ] as const;
    expect(await judged(...shown)).toEqual([]);
    expect(await judged(...shown, {})).toEqual([
      "not judged w: resets are too coarse to tell its windows apart, so that its counts are not judged",
    ]);
  });
});

describe("ends by the millisecond", () => {
  /** Accusations of ends that differ from the right one by so much, with resets of whole seconds. */
  const counts = (algorithm: object, endMs: number, ...beside: readonly number[]): number[] =>
    beside.map((by) => {
      const told: { readonly count?: number }[] = [];
      const name = { told: { quota: "w", key: {} } } as unknown as QuotaName;
      const grid = new PolicyGrid(name, { kind: "fixed-window", limit: 5, ...algorithm } as FixedWindow);
      for (const line of [2, 3]) grid.observe(line, endMs + by, 1000);
      grid.finish({ accuse: (each: object) => void told.push(each) } as unknown as Docket);
      return told[0]?.count ?? 0;
    });
  // A clock and a rest that are rounded, and a unit of the reset; an end that is shown again is not counted again.
  const [near, far] = [3000, 3001];

  test.each<[string, object, number]>([
    ["of the epoch", minute, utc("01-05T10:01:00")],
    ["of a grid of their own", { windowSeconds: 60, anchor: { offsetMs: 7000 } }, utc("01-05T10:01:07")],
    ["of a calendar", paris, utc("01-05T23:00:00")],
  ])("%s", (_name, algorithm, endMs) => {
    expect(counts(algorithm, endMs, 0, near, -near, far, -far)).toEqual([0, 0, 0, 1, 1]);
  });
});
