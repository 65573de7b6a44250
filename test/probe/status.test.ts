// The status as people see it: bars that fit the terminal, times by the target's clock, one free call a reading.
import { describe, expect, test } from "vitest";
import { uncolored } from "../../src/cli/colors.ts";
import { barsOf as coloredBarsOf, watch } from "../../src/cli/status.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { NoAnswer } from "../../src/connect/no-answer.ts";
import { readStatus, StatusReader, type StatusReading } from "../../src/probe/status.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { tokenOf, type VirtualOptions, VirtualTarget } from "./virtual.ts";

const options = ({ send, now, sleep }: VirtualTarget) => ({
  target: "http://127.0.0.1:1",
  organization: "acme",
  token: tokenOf("prober").token,
  send,
  now,
  sleep,
});
const barsOf = (...args: Parameters<typeof coloredBarsOf>) => coloredBarsOf(...args).map(uncolored);
const read = (virtual: VirtualOptions = {}): Promise<StatusReading> =>
  readStatus(options(new VirtualTarget({}, virtual)));

describe("a reading", () => {
  test("is one call of the status, and counts nothing", async () => {
    const target = new VirtualTarget({});
    await readStatus(options(target));
    expect(target.asked.map(({ method, url }) => [method, url])).toEqual([
      ["GET", "http://127.0.0.1:1/v2/organizations/acme/rate_limit"],
    ]);
    const again = await readStatus(options(target));
    expect(again.windows.map(({ used }) => used)).toEqual([0, 0, 0]);
  });

  test.each([-7_200_000, 0, 45_000])(
    "with a clock %i ms off tells when windows end by this machine's",
    async (skewMs) => {
      const target = new VirtualTarget({}, { skewMs });
      const reader = new StatusReader(options(target));
      let reading = await reader.read();
      for (let polls = 0; polls < 8; polls++) {
        await target.sleep(170);
        reading = await reader.read();
      }
      const ends = Date.UTC(2026, 0, 2, 3, 3, 0) + skewMs;
      for (const { scope, endsAtMs } of reading.windows)
        expect(Math.abs(endsAtMs - (scope === "rest" ? ends : ends + 120_000))).toBeLessThan(200);
      expect(Math.abs((reading.skewMs ?? Number.NaN) + skewMs)).toBeLessThan(200);
    },
  );

  test("without a Date goes by reset, to the second", async () => {
    const { windows, skewMs, atMs } = await read({ dateSkewMs: null, skewMs: 5000 });
    expect(skewMs).toBeNull();
    expect((windows[0]?.endsAtMs ?? 0) - atMs).toBe(43_000);
  });

  test.each([3_600_000, -3_600_000, 3_000, -3_500])(
    "of a Date that is %i ms off the windows' clock goes by reset as well",
    async (dateSkewMs) => {
      const { windows, atMs } = await read({ dateSkewMs });
      expect((windows[0]?.endsAtMs ?? 0) - atMs).toBe(43_000);
    },
  );

  test("without the user's headers shows the organization alone", async () => {
    const { windows } = await read({ after: (got) => ({ ...got, headers: {} }) });
    expect(windows.map(({ scope, owner }) => `${scope} ${owner}`)).toEqual([
      "rest organization",
      "graphql organization",
    ]);
  });

  test("goes on after a silence, and says what it was", async () => {
    const target = new VirtualTarget(
      {},
      { before: (_ask, call) => (call === 2 || call === 3 ? new NoAnswer("timeout", "no answer") : null) },
    );
    const reader = new StatusReader(options(target));
    await reader.read();
    await expect(reader.read()).rejects.toMatchObject({ code: "TARGET_UNREACHABLE" });
    expect((await reader.read()).windows).toHaveLength(3);
  });
});

describe("bars", () => {
  const reading: StatusReading = {
    organization: "acme",
    atMs: Date.UTC(2026, 0, 2, 3, 0, 0),
    skewMs: 0,
    windows: [
      {
        scope: "rest",
        owner: "organization",
        limit: 200,
        used: 37,
        endsAtMs: Date.UTC(2026, 0, 2, 3, 0, 43),
        enforced: true,
      },
      {
        scope: "rest",
        owner: "user",
        limit: 50,
        used: 50,
        endsAtMs: Date.UTC(2026, 0, 2, 3, 0, 43),
        enforced: null,
      },
      {
        scope: "graphql",
        owner: "organization",
        limit: 20_000,
        used: 26_000,
        endsAtMs: Date.UTC(2026, 0, 2, 3, 4, 3),
        enforced: false,
      },
    ],
  };

  test("a line a window, with what is used, of how much, and how long until it resets", () => {
    expect(barsOf(reading, reading.atMs, 100)).toEqual([
      "acme at 03:00:00 UTC",
      "rest      [#######.................................]        37 / 200  43 s left",
      "rest user [########################################]         50 / 50  43 s left",
      "graphql   [########################################] 26,000 / 20,000  4 min 3 s left, not enforced",
      "GraphQL's user window is on GraphQL's own answers alone: asking may cost",
    ]);
  });

  test.each([200, 100, 80, 60, 40, 20, 10])("no line is wider than %i columns", (columns) => {
    const lines = barsOf(reading, reading.atMs, columns);
    expect(lines.length).toBeGreaterThanOrEqual(4);
    for (const line of lines) expect(line.length).toBeLessThan(columns);
  });

  test("time runs on between readings; a window that has ended shows nothing used", () => {
    const lines = barsOf(reading, reading.atMs + 50_000, 100);
    expect(lines[1]).toMatch(/\[\.+\] {2,}0 \/ 200 {2}ended$/);
    expect(lines[3]).toContain("3 min 13 s left");
  });

  test("a clock that is off is said to be", () => {
    expect(barsOf({ ...reading, skewMs: -7_200_000 }, reading.atMs, 100)[0]).toBe(
      "acme at 03:00:00 UTC, the target's clock is 2 h behind",
    );
  });
});

describe("watching", () => {
  /** Says what a reader reads, until it reads no more: `null` is a failure. */
  async function watched(json: boolean, readings: readonly (StatusReading | null)[]) {
    const said: unknown[] = [];
    const over = new AbortController();
    const left = [...readings];
    const reader = {
      async read(): Promise<StatusReading> {
        const next = left.shift();
        if (next === undefined) over.abort();
        if (next == null)
          throw new SpillwayError("TARGET_UNREACHABLE", "no answer", {
            problems: [{ path: "target", got: "nothing came", allowed: "an answer" }],
          });
        return next;
      },
    };
    const say = (line: unknown) => said.push(line);
    const terminal = { say, resultLine: say } as unknown as Terminal;
    const ended = await watch(reader, { terminal, json }, 1, over.signal).catch((error: unknown) => error);
    return { said, ended, left: left.length };
  }

  test("goes on after nine silences in a row, and ends with the tenth", async () => {
    const reading = await read();
    const nine = Array<null>(9).fill(null);
    const { said, ended, left } = await watched(false, [
      ...nine,
      reading,
      ...nine,
      reading,
      ...nine,
      null,
      reading,
    ]);
    expect(left).toBe(1);
    expect(ended).toMatchObject({ code: "TARGET_UNREACHABLE" });
    expect(said).toHaveLength(29);
    expect(said[0]).toMatch(/^\d\d:\d\d:\d\d no reading: nothing came$/);
    expect(said[9]).toMatch(/^03:02:17 rest \d+\/200 resets in 43 s, rest user \d+\/50 resets in 43 s, /);
  });

  test("prints one object a reading, or why there is none", async () => {
    const reading = await read();
    const { said } = await watched(true, [reading, null, reading]);
    expect(said).toEqual([reading, { atMs: expect.any(Number), failure: "nothing came" }, reading]);
  });
});
