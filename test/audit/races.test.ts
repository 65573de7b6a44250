// Calls at once in virtual time: for the last place of a window, as its first calls, and across its end.
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { findingOf, Played, type Sent, serving, windowMs } from "./played.ts";

const kept = { state: "kept" };

/** Ninety requests in so many seconds. */
function wide(windowSeconds: number) {
  const { policy } = new Played(serving()).lab;
  const algorithm = { kind: "fixed-window", limit: 90, windowSeconds, anchor: "epoch" } as const;
  return parsePolicy({ ...policy, quotas: { requests: { algorithm, key: ["user"] } } });
}

describe("calls at once for a window's last place", () => {
  /** A server that admits so many of them. */
  const admitting = (most: number, shows = true, status = 429) => {
    let place = 0;
    const server = serving(({ headers }) => {
      if (Number(headers["x-left"]) > 0) return null;
      place += 1;
      const shown = shows || place > 1 ? headers : {};
      return place <= most ? { status: 200, headers: shown } : { status: place > 8 ? 429 : status, headers };
    });
    return findingOf("last-place-8", new Played(server));
  };

  test("are admitted once", () => {
    expect(admitting(1)).toEqual(kept);
    expect(admitting(2)).toMatchObject({
      ...{ state: "broken", expected: "one call is admitted", got: "2 are, of requests's last place" },
    });
    expect(admitting(0)).toMatchObject({
      ...{ state: "broken", law: "refusal-justified", got: "all are refused" },
      expected: "one call is admitted: requests showed 1 left",
    });
  });

  test("may have no answer", () => {
    expect(admitting(0, true, 0)).toEqual(kept);
    expect(admitting(2, false)).toEqual(kept);
  });
});

test("a window's last place is sought in one that lasts for 1.2 s more", () => {
  // A caller whose window ends in so many ms, as its first call at 0 ms was told.
  const sought = (ms: number): number | undefined => {
    const played = new Played(serving(), 1);
    const [subject] = played.lab.subjects;
    if (subject === undefined) throw new RangeError("there is a subject");
    played.play(played.lab.look(subject, subject.callers[0]));
    const endMs = windowMs - 1_000;
    played.play(played.lab.wait(endMs - ms));
    expect(findingOf("last-place-2", played)).toEqual(kept);
    return played.answers[1]?.call.sent;
  };
  expect(sought(1_200)).toBe(windowMs - 2_200);
  expect(sought(1_199)).toBeGreaterThan(windowMs - 1_000);
});

describe("calls at once", () => {
  /** A server that charges two units of a call, and so many of the tenth. */
  const charging = (units: number) => {
    const own = wide(600);
    const operations = { call: { ...own.operations["call"], uses: { requests: 2 } } };
    const policy = parsePolicy({ ...own, operations } as never);
    let [calls, used] = [0, 0];
    const server = (): Sent => {
      calls += 1;
      used += calls === 10 ? units : 2;
      return {
        status: 200,
        headers: { "x-limit": "90", "x-left": String(90 - used), "x-reset": "600" },
      };
    };
    return findingOf("calls-at-once", new Played(server, 1, "epoch", { policy }));
  };

  test("are each charged", () => {
    expect(charging(2)).toEqual(kept);
    for (const units of [1, 3])
      expect(charging(units)).toMatchObject({
        ...{ state: "broken", expected: "requests rises by 34", got: `by ${32 + units}` },
      });
  });
});

describe("the first calls of a window at once", () => {
  /** A server whose second window differs by the number of its calls. */
  const begun = (change: (call: number, headers: Readonly<Record<string, string>>) => Sent | null) => {
    let calls = 0;
    const server = serving(({ headers }, _shot, nowMs) =>
      nowMs < windowMs ? null : change(++calls, headers),
    );
    return findingOf("first-calls-at-once", new Played(server, 1));
  };
  const left = (headers: object, more: number) => ({ ...headers, "x-left": String(more) });

  test("are admitted, and charged to it", () => {
    expect(begun(() => null)).toEqual(kept);
    const shown = (last: number) =>
      begun((call, headers) => ({ status: 200, headers: call === 9 ? left(headers, last) : headers }));
    expect([0, 1].map(shown)).toEqual([kept, kept]);
    expect(shown(2)).toMatchObject({
      ...{ state: "broken", law: "conserved", expected: "requests shows 9 used at least, of nine calls" },
      got: "8 used",
    });
  });

  test("are not refused while there is room", () => {
    const refused = (room: number) =>
      begun((call, headers) => (call === 3 ? { status: 429, headers: left(headers, room) } : null));
    expect(refused(0)).toEqual(kept);
    expect(refused(1)).toMatchObject({
      ...{ state: "broken", expected: "admitted: requests has 1 left", got: "refused" },
    });
  });
});

describe("calls across a window's end", () => {
  /** A server whose next window has so many units used besides. */
  const across = (more: number) => {
    const used = new Map<string, number>();
    const played = new Played(
      ({ caller }, nowMs) => {
        const window = Math.floor(nowMs / windowMs);
        const key = `${caller?.name} ${window}`;
        const count = (used.get(key) ?? (window === 0 ? 0 : more)) + 1;
        used.set(key, count);
        const reset = Math.ceil((windowMs - (nowMs % windowMs)) / 1000);
        return {
          status: 200,
          headers: { "x-limit": "90", "x-left": String(90 - count), "x-reset": String(reset) },
        };
      },
      1,
      "epoch",
      { policy: wide(10) },
    );
    return { finding: findingOf("calls-across-the-reset", played), calls: played.answers.length };
  };

  test("are charged to one window each", () => {
    const { finding, calls } = across(0);
    // Two looks, fourteen calls 100 ms apart, and three that show what a call is charged.
    expect([finding, calls]).toEqual([kept, 2 + 14 + 3]);
    const last = (more: number) => Number(across(more).finding.state === "kept");
    // The end may be a second after the earliest that is told: of the calls, some are the old window's.
    const most = Array.from({ length: 18 }, (_, more) => last(more)).lastIndexOf(1);
    expect(across(most + 1).finding).toMatchObject({
      ...{ state: "broken", expected: "at most 17 used of the window that has just begun", got: "18" },
    });
  });
});
