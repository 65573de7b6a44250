// Resets in virtual time: what refusals tell of them, held to the window's length, to its end, and to each other.
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { WireData } from "../../src/policy/wire-data.ts";
import { findingOf, judgementOf, Played, serving, windowMs } from "./played.ts";

const kept = { state: "kept" };
const { policy } = new Played(serving()).lab;
const wire = policy.wire as WireData;
type Headers = Readonly<Record<string, string>>;

/** The same policy, whose resets have another form, rounding or meaning. */
const withReset = (reset: object) =>
  parsePolicy({
    ...policy,
    wire: { ...wire, readings: wire.readings.map((row) => ({ ...row, reset: { ...row.reset, ...reset } })) },
  } as never);

/** Plays an experiment against a server whose refusals show what differs. */
function refusing(name: string, differs: (headers: Headers, nowMs: number) => Headers, reset: object = {}) {
  const server = serving(({ isRefused, headers }, _shot, nowMs) =>
    isRefused ? { status: 429, headers: { ...headers, ...differs(headers, nowMs) } } : null,
  );
  return findingOf(name, new Played(server, 3, "first-request", { policy: withReset(reset) }));
}

describe("a refusal's reset", () => {
  const counted = (differs: Parameters<typeof refusing>[1], reset?: object) =>
    refusing("reset-counts-down", differs, reset);

  test("falls as time passes", () => {
    expect(counted(() => ({}))).toEqual(kept);
    // One second is less than whole seconds tell apart.
    expect(counted(() => ({ "x-reset": "10" }))).toEqual(kept);
  });

  test("is as long as the window at most, and two seconds", () => {
    expect(counted(() => ({ "x-reset": "12" }))).toEqual(kept);
    expect(counted(() => ({ "x-reset": "13" }))).toMatchObject({
      ...{ state: "broken", expected: "a wait of 10 s at most, the length of requests's windows" },
      got: "reset tells 13 s",
    });
    expect(counted(() => ({ "retry-after": "13" }))).toMatchObject({ got: "the refusal tells 13 s" });
  });

  test("is ahead while the window refuses, where it is rounded up", () => {
    const broken = { state: "broken", got: "0 or less" };
    expect(counted(() => ({ "x-reset": "0" }))).toMatchObject(broken);
    expect(counted(() => ({ "x-reset": "1" }))).toEqual(kept);
    expect(counted(() => ({ "x-reset": "0" }), { round: "floor" })).toEqual(kept);
  });

  test("tells one end", () => {
    // Refusals are 234 ms apart, seven of them; each end is so many ms after the one before.
    const late = (ms: number) => {
      const ends = new Map<string, number>();
      let refusals = 0;
      const server = serving(({ isRefused, headers }, { caller }, nowMs) => {
        const user = `${caller?.name}`;
        if ((ends.get(user) ?? 0) <= nowMs) ends.set(user, nowMs + windowMs);
        const endMs = (ends.get(user) ?? 0) + (isRefused ? ms * refusals++ : 0);
        return { status: isRefused ? 429 : 200, headers: { ...headers, "x-reset": String(endMs - nowMs) } };
      });
      const policy = withReset({ form: "delta-ms" });
      return findingOf("reset-counts-down", new Played(server, 3, "first-request", { policy }));
    };
    expect([0, 8].map(late)).toEqual([kept, kept]);
    expect(late(100)).toMatchObject({
      ...{ state: "broken", expected: "both tell one end" },
      got: "the second tells one that is 0.6 s later at least",
    });
  });

  test("is told by three refusals at least", () => {
    const why = "refusals told no reset";
    expect(counted(() => ({ "x-reset": "" }))).toEqual({ state: "not exercised", why });
  });
});

describe("a wait that a refusal tells", () => {
  /** Judges a refusal that shows these headers. */
  function judged(headers: Headers, readings: readonly object[] = wire.readings, by = "requests"): object {
    const quota = policy.quotas["requests"];
    const own = parsePolicy({
      ...policy,
      quotas: { requests: quota, others: quota },
      operations: { call: { ...policy.operations["call"], uses: { requests: 1, others: 1 } } },
      wire: { ...wire, readings, outcomes: [{ outcome: "refused", by, status: [429] }] },
    } as never);
    const played = new Played(() => ({ status: 429, headers }), 1, "first-request", { policy: own });
    const [subject] = played.lab.subjects;
    if (subject === undefined) throw new RangeError("there is a subject");
    played.play(played.lab.one(played.lab.shot(subject.callers[0], "call")));
    return judgementOf("reset-counts-down", played) ?? {};
  }
  const [reading] = wire.readings;
  const own = { ...reading, quotas: ["requests"] };
  const others = { quotas: ["others"], headers: { "X-Others": "{remaining}/{limit}" } };
  const shown = (reset: number, wait: number) => ({
    ...{ "x-limit": "10", "x-left": "0", "x-reset": String(reset), "retry-after": String(wait) },
  });

  test("is as long as its reset, within three seconds", () => {
    for (const wait of [6, 9, 20]) expect(judged(shown(9, wait), [own])).toEqual(kept);
    expect(judged(shown(9, 5), [own])).toMatchObject({
      ...{ state: "broken", law: "honest-wait" },
      expected: "the refusal tells the 9 s until requests has room, as its reset does",
      got: "5 s",
    });
  });

  test("is within four where it may be rounded down", () => {
    const down = { ...own, reset: { ...own.reset, round: "floor" } };
    expect([5, 4].map((wait) => judged(shown(9, wait), [down]))).toMatchObject([kept, { state: "broken" }]);
  });

  test("may be of another quota that is empty", () => {
    const beside = (left: number) => judged({ ...shown(9, 1), "x-others": `${left}/9` }, [own, others]);
    expect([1, 0].map(beside)).toMatchObject([{ state: "broken" }, kept]);
    expect(judged(shown(9, 1), [own], "others")).toEqual(kept);
  });

  test("is not judged by a reset that is no window's end, or that is not told", () => {
    const gradual = { ...own, reset: { ...own.reset, means: "estimate" } };
    expect(judged(shown(9, 1), [gradual])).toEqual(kept);
    expect(judged({ "x-limit": "10", "x-left": "0", "retry-after": "1" }, [own])).toEqual(kept);
    expect(judged({ ...shown(9, 1), "retry-after": "soon" }, [own])).toEqual(kept);
  });
});

describe("who waits as long as a refusal says", () => {
  const waited = (seconds: number, after: object) => {
    let isOver = false;
    const server = serving(({ isRefused, headers: { "x-reset": _, ...counts } }, _shot, nowMs) => {
      isOver ||= nowMs > windowMs;
      if (isOver) return { status: 200, headers: counts, ...after };
      return isRefused ? { status: 429, headers: { ...counts, "retry-after": String(seconds) } } : null;
    });
    return findingOf("reset-is-kept", new Played(server, 3));
  };

  test("is admitted", () => {
    expect(waited(10, {})).toEqual(kept);
    expect(waited(10, { status: 429 })).toMatchObject({
      ...{ state: "broken", expected: "admitted after the 10 s that the refusal told", got: "refused" },
    });
  });

  test("may have no answer, or an error", () => {
    expect(waited(10, { status: 0 })).toEqual({ state: "not exercised", why: "the call had no answer" });
    expect(waited(10, { status: 403 })).toEqual(kept);
  });
});

describe("a reset in the last second", () => {
  const last = (seconds: (leftMs: number) => number) => {
    let endMs = 0;
    const server = serving(({ headers }, _shot, nowMs) => {
      if (nowMs >= endMs) endMs = nowMs + windowMs;
      return { status: 200, headers: { ...headers, "x-reset": String(seconds((endMs - nowMs) / 1000)) } };
    });
    return findingOf("reset-of-the-last-second", new Played(server, 1));
  };

  test("is still ahead", () => {
    expect(last(Math.ceil)).toEqual(kept);
    expect(last(Math.floor)).toMatchObject({
      ...{ state: "broken", expected: "requests tells a reset of 1 s", got: "0 s" },
    });
  });
});
