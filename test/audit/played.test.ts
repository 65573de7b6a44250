// Experiments in virtual time: refusals in another shape, beside outages; and counts that fall within their window.
import { describe, expect, test } from "vitest";
import type { AuditFinding } from "../../src/audit/step.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { WireData } from "../../src/policy/wire-data.ts";
import {
  findingOf,
  judgementOf,
  type Key,
  limit,
  Played,
  type PlayedOptions,
  type Served,
  serving,
  windowMs,
} from "./played.ts";

function made(
  name: string,
  server: Served,
  users = 3,
  anchor: "first-request" | "epoch" = "first-request",
  key: Key = "user",
): AuditFinding {
  const played = new Played(server, users, anchor, { key });
  return findingOf(name, played);
}

describe("calls without room", () => {
  const name = "refusal-names-the-quota";

  test("that are refused keep the promise", () => {
    expect(made(name, serving()).state).toBe("kept");
  });

  test.each([503, 500, 403])("that are all answered %s break it, while others are served", (status) => {
    for (const hasHeaders of [true, false]) {
      const server = serving(({ isRefused, headers }) =>
        isRefused ? { status, headers: hasHeaders ? headers : {} } : null,
      );
      const finding = made(name, server);
      expect(finding).toMatchObject({
        state: "broken",
        expected: "a refusal by requests as the format has it",
        got: `${status} each time, which it has as none`,
      });
      // The last one that was admitted, three refusals that were due, and those between others' calls.
      expect(finding.state === "broken" && finding.answers.map(({ call }) => call.status)).toEqual([
        200,
        status,
        status,
        status,
        status,
        status,
      ]);
    }
  });

  test("break it for a caller alone, who is served again in the next window", () => {
    const server = serving(({ isRefused }) => (isRefused ? { status: 503 } : null));
    expect(made(name, server, 1)).toMatchObject({
      state: "broken",
      got: "503 each time, which it has as none",
    });
  });

  test("are no contradiction where one of them is refused", () => {
    let calls = 0;
    const server = serving(({ isRefused }) => (isRefused && ++calls !== 2 ? { status: 503 } : null));
    expect(made(name, server).state).toBe("kept");
  });

  test("are none in an outage of all, or where the caller is not served again", () => {
    const outage = (): Served => {
      let isDown = false;
      return serving(({ isRefused }) => {
        isDown ||= isRefused;
        return isDown ? { status: 503 } : null;
      });
    };
    const unsure = { state: "not exercised", why: "answered 503 where a refusal was due" };
    expect([made(name, outage()), made(name, outage(), 1)]).toEqual([unsure, unsure]);
  });

  test("are none where refusals come once the outage is over", () => {
    let calls = 0;
    const server = serving(({ isRefused }) => (isRefused && ++calls <= 4 ? { status: 503 } : null));
    expect(made(name, server).state).toBe("not exercised");
  });

  test("break the bound where they are served", () => {
    const server = serving(({ isRefused, headers }) => (isRefused ? { status: 200, headers } : null));
    expect(made(name, server)).toMatchObject({ state: "broken", law: "bounded", got: "200, admitted" });
  });

  test.each(["refusal-is-free", "reset-counts-down", "reset-is-kept"])(
    "show %s nothing where they are answered 503",
    (other) => {
      const server = serving(({ isRefused }) => (isRefused ? { status: 503 } : null));
      const why = (() => {
        try {
          return made(other, server);
        } catch (error) {
          return String(error);
        }
      })();
      expect(JSON.stringify(why)).toContain("answered 503 where a refusal was due");
    },
  );
});

describe("a window that is watched", () => {
  const name = "window-watched";

  test("keeps its count to its end, and begins anew after it", () => {
    expect(made(name, serving()).state).toBe("kept");
  });

  test("is broken where its count falls before its end, however the reset then reads", () => {
    let isSwept = false;
    const server = serving(({ headers }, _shot, nowMs) => {
      if (nowMs < 6_000) return null;
      const before = Number(headers["x-left"]);
      const left = isSwept ? before : limit - 1;
      isSwept = true;
      // A new window, as its reset has it.
      return {
        status: 200,
        headers: { ...headers, "x-left": String(left), "x-reset": String(windowMs / 1000) },
      };
    });
    const finding = made(name, server);
    expect(finding).toMatchObject({ state: "broken", got: expect.stringMatching(/^1 used, after \d+$/) });
    expect(finding.state === "broken" && finding.expected).toMatch(
      /^requests keeps its count for [23]\.\d s more at least$/,
    );
  });

  test("is broken where its count stays", () => {
    let calls = 0;
    const server = serving(({ headers }) =>
      ++calls > 12 ? { status: 200, headers: { ...headers, "x-left": "3" } } : null,
    );
    expect(made(name, server).state).toBe("broken");
  });
});

test("a window is watched by all its callers, in sixteen parts and until a second after its end", () => {
  const played = new Played(serving(), 6);
  expect(findingOf("window-watched", played)).toEqual({ state: "kept" });
  const of = (user: number) => played.answers.filter(({ shot }) => shot.caller?.index === user);
  expect([0, 1, 2, 3, 4, 5].map((user) => of(user).length)).toEqual([4 + 17, 17, 17, 17, 0, 0]);
  const sent = of(0).map(({ call }) => call.sent);
  const apart = sent.slice(5).map((ms, at) => ms - (sent[at + 4] ?? 0));
  for (const ms of apart) expect(ms).toBeCloseTo(windowMs / 16, -1);
  expect(sent.at(-1)).toBeGreaterThan(windowMs);
});

describe("a call that is slower than its window", () => {
  const name = "call-slower-than-its-window";

  test("is charged to its window, or to the next one", () => {
    expect(made(name, serving())).toEqual({ state: "kept" });
  });

  test.each([
    [0, { state: "broken", expected: "requests shows 1 or 2 used", got: "0 used" }],
    [1, { state: "kept" }],
    [2, { state: "kept" }],
    [3, { state: "broken", expected: "requests shows 1 or 2 used", got: "3 used" }],
  ])("leaves %i used", (used, finding) => {
    let isOver = false;
    const server = serving(({ headers }, { way }) => {
      const shown = isOver ? { status: 200, headers: { ...headers, "x-left": String(limit - used) } } : null;
      isOver ||= way === "slow";
      return shown;
    });
    expect(made(name, server)).toMatchObject(finding);
  });
});

describe("windows on Unix time's grid", () => {
  const name = "window-on-its-grid";
  /** Ends so far beside the grid, by a clock that differs so much. */
  const beside = (offMs: number, clockMs: number | null = 0): AuditFinding =>
    made(
      name,
      serving(({ headers }, _shot, nowMs) => {
        const left = windowMs - ((nowMs - offMs + windowMs) % windowMs);
        const date = clockMs === null ? {} : { date: new Date(nowMs + clockMs).toUTCString() };
        return { status: 200, headers: { ...headers, ...date, "x-reset": String(Math.ceil(left / 1000)) } };
      }),
      3,
      "epoch",
    );

  test("end there, within what clocks and seconds allow", () => {
    for (const offMs of [0, 900, 2_000, 8_500]) expect([offMs, beside(offMs).state]).toEqual([offMs, "kept"]);
  });

  test("are broken where they end beside it by the target's own Date", () => {
    for (const offMs of [4_500, 5_000, 5_500])
      expect(beside(offMs)).toMatchObject({
        state: "broken",
        expected: "requests ends on Unix time's grid of 10 s",
        got: expect.stringMatching(/^[12]\.\d s beside it at least$/),
      });
  });

  test("are broken where two callers' windows end on grids that are apart", () => {
    const apart = (offMs: number): AuditFinding =>
      made(
        name,
        serving(({ headers }, { caller }, nowMs) => {
          const own = caller?.index === 1 ? offMs : 0;
          const left = windowMs - ((nowMs - own + windowMs) % windowMs);
          return { status: 200, headers: { ...headers, "x-reset": String(Math.ceil(left / 1000)) } };
        }),
        3,
        "epoch",
      );
    // At 2 ms one ends in 10 s, or a second sooner or later: from 9,000 to 11,004. At 6 ms the other ends in 3 s: from
    // 2,004 to 4,008. Their middles are 3,004 ms apart on the grid, and either is known within 1,002 ms.
    expect(apart(3_000)).toMatchObject({
      ...{ state: "broken", expected: "requests ends with requests", got: "1.0 s beside it at least" },
    });
    expect(apart(7_000)).toMatchObject({ state: "broken", got: "1.0 s beside it at least" });
    for (const offMs of [1_000, 2_000]) expect(apart(offMs)).toEqual({ state: "kept" });
  });

  test("are not judged so by a clock that is another than this machine's, or none", () => {
    for (const clockMs of [null, 4_000, -4_000]) expect(beside(5_000, clockMs).state).toBe("kept");
  });
});

describe.each<Key>(["room", "user room"])("a count by a part of the path, of each %s", (key) => {
  const names = ["last-place-2", "refusal-names-the-quota", "reset-is-kept", "calls-across-the-reset"];

  test.each(names)("keeps %s", (name) => {
    expect(made(name, serving(undefined, key), 3, "first-request", key)).toEqual({ state: "kept" });
  });

  test("is found where one call too many is admitted", () => {
    const server = serving(({ isRefused, headers }) => (isRefused ? { status: 200, headers } : null), key);
    expect(made("last-place-2", server, 3, "first-request", key)).toMatchObject({ state: "broken" });
  });
});

describe("counts that are kept apart, and those that are not", () => {
  test.each<[name: string, policy: Key, server: Key, state: string]>([
    ["each-caller-apart", "user", "user", "kept"],
    ["each-caller-apart", "user room", "user room", "kept"],
    ["each-caller-apart", "user", "room", "broken"],
    ["other-resource", "user", "user", "kept"],
    ["other-resource", "room", "room", "kept"],
    ["other-resource", "user room", "user room", "kept"],
    ["other-resource", "user", "user room", "broken"],
    ["other-resource", "user room", "user", "broken"],
  ])("%s, by %s, of a server that counts by %s: %s", (name, key, counts, state) => {
    expect(made(name, serving(undefined, counts), 3, "first-request", key).state).toBe(state);
  });
});

describe("a refusal's time to come back", () => {
  /** Refusals that tell so many ms less than their reset. */
  const shorter = (ms: number): AuditFinding => {
    const server = serving(({ isRefused, headers }) => {
      const until = Number(headers["x-reset"]) * 1000 - ms;
      const told = { ...headers, "retry-after": String(Math.max(0, Math.round(until / 1000))) };
      return isRefused ? { status: 429, headers: told } : null;
    });
    const played = new Played(server);
    const [subject] = played.lab.subjects;
    if (subject === undefined) throw new RangeError("no subject");
    played.play(played.lab.drain(subject, subject.callers[0] as never));
    return judgementOf("reset-counts-down", played) ?? { state: "not exercised", why: "no judge" };
  };

  test("is its reset, within what seconds allow", () => {
    for (const ms of [-5_000, -1_000, 0, 1_000, 3_000]) expect([ms, shorter(ms).state]).toEqual([ms, "kept"]);
  });

  test("is no time at which its reset says that nothing is left", () => {
    expect(shorter(5_000)).toMatchObject({ state: "broken", law: "honest-wait", got: "5 s" });
  });

  test("is not judged of a limit that the format names, and that is no quota of the policy", () => {
    const { policy } = new Played(serving()).lab;
    const named = { outcome: "refused", by: "secondary", status: [429] };
    const server = serving(({ headers }) => ({ status: 429, headers: { ...headers, "retry-after": "1" } }));
    const played = new Played(server, 3, "first-request", {
      policy: parsePolicy({ ...policy, wire: { ...(policy.wire as WireData), outcomes: [named] } }),
    });
    const [subject] = played.lab.subjects;
    if (subject === undefined) throw new RangeError("no subject");
    played.play(played.lab.send(played.lab.shot(subject.callers[0], subject.operation)));
    expect(played.answers.map(({ call }) => call.by)).toEqual(["secondary"]);
    expect(judgementOf("reset-counts-down", played)).toEqual({ state: "kept" });
  });
});

test.each([
  ["each is answered", 0, { state: "kept" }],
  ["one has no answer", 9, { state: "not exercised", why: "calls were refused, or had no answer" }],
])("calls at once, of which %s", (_, lost, expected) => {
  const { policy } = new Played(serving()).lab;
  const algorithm = { kind: "fixed-window", limit: 40, windowSeconds: 600, anchor: "epoch" } as const;
  const wide = parsePolicy({ ...policy, quotas: { requests: { algorithm, key: ["user"] } } });
  let calls = 0;
  const server: Served = () => {
    calls += 1;
    const headers = { "x-limit": "40", "x-left": String(40 - calls), "x-reset": "600" };
    return calls === lost ? { status: 0, body: "" } : { status: 200, headers };
  };
  const played = new Played(server, 1, "epoch", { policy: wide });
  expect(findingOf("calls-at-once", played)).toMatchObject(expected);
});

describe("who waits as long as a refusal says", () => {
  /** Refusals that tell this wait alone, in whole seconds. */
  const told = (seconds: number): AuditFinding =>
    made(
      "reset-is-kept",
      serving(({ isRefused, headers: { "x-reset": _, ...counts } }) =>
        isRefused ? { status: 429, headers: { ...counts, "retry-after": String(seconds) } } : null,
      ),
    );

  test("is admitted, if no window is longer", () => {
    expect([10, 11].map((seconds) => told(seconds).state)).toEqual(["kept", "kept"]);
    expect(told(9)).toMatchObject({
      state: "broken",
      expected: "admitted after the 9 s that the refusal told",
    });
    expect(told(12)).toEqual({ state: "not exercised", why: "no refusal told when to come back" });
  });
});

describe("a call slower than its window", () => {
  /** A server that answers it so, and shows so many used afterwards. */
  const slow = (used: number, status = 200, tokens: PlayedOptions = {}): AuditFinding => {
    let isOver = false;
    const server = serving(({ headers }, { way }) => {
      if (way === "slow") isOver = true;
      if (way === "slow" && status !== 200) return { status, headers };
      return isOver ? { status: 200, headers: { ...headers, "x-left": `${limit - used}` } } : null;
    });
    const played = new Played(server, 3, "first-request", tokens);
    return findingOf("call-slower-than-its-window", played);
  };

  test("is charged once, to that window or to the next", () => {
    expect([1, 2].map((used) => slow(used).state)).toEqual(["kept", "kept"]);
    const wrong = { state: "broken", expected: "requests shows 1 or 2 used" };
    expect(slow(0)).toMatchObject({ ...wrong, got: "0 used" });
    expect(slow(3)).toMatchObject({ ...wrong, got: "3 used" });
  });

  test("shows nothing if it is not served, or if there is no time for it", () => {
    expect(slow(3, 399).state).toBe("broken");
    expect(slow(3, 400)).toEqual({ state: "not exercised", why: "answered 400" });
    const why = "the wait is longer than the time that is left: --max-time";
    expect(slow(3, 200, { untilMs: windowMs + 300 })).toEqual({ state: "not exercised", why });
    expect(slow(3, 200, { untilMs: windowMs + 301 }).state).toBe("broken");
  });
});

describe("a window that opens with a call after a long pause", () => {
  const opened = (seconds: number, used = 1): AuditFinding =>
    made(
      "pause-then-status-then-call",
      serving(({ headers }, _, nowMs) =>
        nowMs < windowMs
          ? null
          : { status: 200, headers: { ...headers, "x-left": `${limit - used}`, "x-reset": `${seconds}` } },
      ),
    );

  test("lasts its whole length, but a second", () => {
    expect([10, 9].map((seconds) => opened(seconds))).toEqual([{ state: "kept" }, { state: "kept" }]);
    expect(opened(8)).toMatchObject({
      ...{ state: "broken", expected: "a window of requests of 10 s opens with the call" },
      got: "its end is 8.0 s ahead at most",
    });
  });

  test("is called 2.3 s after the one before is surely over", () => {
    const played = new Played(serving());
    expect(findingOf("pause-then-status-then-call", played)).toEqual({ state: "kept" });
    // The first call is told 10 s at 4 ms, a second more at most: 11,004 ms, and 300 ms.
    const [first, second] = played.answers.map(({ call }) => call.sent);
    expect([first, second]).toEqual([0, 11_304 + 2_300]);
  });

  test("lasts so long to the millisecond where its reset tells one", () => {
    const { policy } = new Played(serving()).lab;
    const wire = policy.wire as WireData;
    const readings = wire.readings.map((row) => ({ ...row, reset: { ...row.reset, form: "delta-ms" } }));
    const own = parsePolicy({ ...policy, wire: { ...wire, readings } } as never);
    const lasting = (ms: number): string => {
      const server = serving(({ headers }) => ({ status: 200, headers: { ...headers, "x-reset": `${ms}` } }));
      return findingOf("pause-then-status-then-call", new Played(server, 3, "first-request", { policy: own }))
        .state;
    };
    // A call takes 4 ms, and 1,050 ms less than the length are allowed.
    expect([8_945, 8_946].map(lasting)).toEqual(["broken", "kept"]);
  });

  test("was opened by somebody else if it shows more than one call", () => {
    const why = "somebody else called meanwhile, or no reset was told";
    expect(opened(8, 2)).toEqual({ state: "not exercised", why });
  });
});

test.each([
  [2, { state: "kept" }],
  [1, { state: "broken", expected: "2 calls of GET /green take 4 of requests", got: "requests 2" }],
  [3, { state: "broken", expected: "2 calls of GET /green take 4 of requests", got: "requests 6" }],
])("another request of the same quota, of two units, is charged %i", (units, expected) => {
  const { policy } = new Played(serving()).lab;
  const algorithm = { kind: "fixed-window", limit: 60, windowSeconds: 60, anchor: "epoch" } as const;
  const own = parsePolicy({
    ...policy,
    quotas: { requests: { algorithm, key: ["user"] } },
    operations: { call: { uses: { requests: 2 }, samples: [{ path: "/blue" }, { path: "/green" }] } },
  } as never);
  let used = 0;
  const server: Served = ({ path }) => {
    used += path === "/green" ? units : 2;
    return { status: 200, headers: { "x-limit": "60", "x-left": `${60 - used}`, "x-reset": "60" } };
  };
  const played = new Played(server, 1, "epoch", { policy: own });
  expect(findingOf("other-requests", played)).toMatchObject(expected);
});

describe("instants beside the resets of a status", () => {
  /** A status that tells an end in 10 s, and as this instant; a wire may read its reset. */
  const told = (atMs: number, isRead: boolean): AuditFinding => {
    const { policy } = new Played(serving()).lab;
    const wire = policy.wire as WireData;
    const reset = { form: "delta-s", means: "window-end", round: "ceil" };
    const body = { "/used": "{used}", "/reset": "{reset}" };
    const status = { on: ["status"], quotas: ["requests"], body, reset };
    const own = parsePolicy({
      ...policy,
      routes: [{ path: "/status", operation: "status" }, ...policy.routes],
      wire: isRead ? { ...wire, readings: [...wire.readings, status] } : wire,
    } as never);
    const server = serving((_, { path }) => {
      const text = JSON.stringify({ used: 0, reset: 10, reset_at: new Date(atMs).toISOString() });
      const headers = { date: new Date(0).toUTCString() };
      return path === "/status" ? { status: 200, headers, body: text } : null;
    });
    const played = new Played(server, 3, "first-request", { policy: own });
    return findingOf("status-reset-agrees", played);
  };

  test("are theirs, to two seconds", () => {
    for (const atMs of [8_000, 10_000, 12_000]) expect(told(atMs, true)).toEqual({ state: "kept" });
    const beside = { state: "broken", got: "an end 0.1 s beside it at least" };
    for (const atMs of [7_900, 12_100]) expect(told(atMs, true)).toMatchObject(beside);
  });

  test("say nothing of a reset that the policy's wire does not read", () => {
    const why = "the status tells no end as an instant";
    expect(told(60_000, false)).toEqual({ state: "not exercised", why });
  });
});

describe("an answer of 404 that the policy provokes", () => {
  interface Gone {
    readonly status?: number;
    readonly units?: number;
    readonly isBare?: boolean;
  }
  /** A server whose calls are charged two units of forty; those to nothing as told. */
  const answered = ({ status = 404, units = 2, isBare = true }: Gone): AuditFinding => {
    const { policy } = new Played(serving()).lab;
    const algorithm = { kind: "fixed-window", limit: 40, windowSeconds: 60, anchor: "epoch" } as const;
    const own = parsePolicy({
      ...policy,
      quotas: { requests: { algorithm, key: ["user"] } },
      operations: { call: { uses: { requests: 2 }, samples: [{ path: "/blue" }] } },
      provoke: { 404: { path: "/gone" } },
    } as never);
    let used = 0;
    const server: Served = ({ path }) => {
      const isGone = path === "/gone";
      used += isGone ? units : 2;
      const headers = { "x-limit": "40", "x-left": `${40 - used}`, "x-reset": "60" };
      return isGone ? { status, headers: isBare ? {} : headers } : { status: 200, headers };
    };
    const played = new Played(server, 1, "epoch", { policy: own });
    return findingOf("answered-404", played);
  };

  test("shows its quotas if it is charged", () => {
    expect(answered({})).toMatchObject({ state: "broken", law: "headers-present", got: "it shows none" });
    expect(answered({ isBare: false })).toEqual({ state: "kept" });
    expect(answered({ status: 410 })).toEqual({ state: "kept" });
  });

  test("is charged once, or not at all", () => {
    expect(answered({ units: 0 })).toEqual({ state: "kept" });
    expect(answered({ units: 3 })).toMatchObject({ state: "broken", got: "requests 6" });
  });
});

describe("the last place of a window", () => {
  /** A server that refuses it; every refusal is of the quota `by`. */
  const refusing = (by: string, quotas: readonly string[]): AuditFinding => {
    const { policy } = new Played(serving()).lab;
    const { requests } = policy.quotas;
    const [reading] = (policy.wire as WireData).readings;
    const readings = [
      { ...reading, quotas: ["requests"] },
      { headers: { "X-Others-Limit": "{limit}", "X-Others-Left": "{remaining}" }, quotas: ["others"] },
    ].slice(0, quotas.length);
    const own = parsePolicy({
      ...policy,
      quotas: Object.fromEntries(quotas.map((name) => [name, requests])),
      operations: {
        call: { ...policy.operations["call"], uses: Object.fromEntries(quotas.map((name) => [name, 1])) },
      },
      wire: { ...(policy.wire as WireData), readings, outcomes: [{ outcome: "refused", by, status: [429] }] },
    } as never);
    const used = new Map<string, number>();
    const server: Served = ({ caller }) => {
      const name = `${caller?.name}`;
      const count = used.get(name) ?? 0;
      const status = count < limit - 1 ? 200 : 429;
      if (status === 200) used.set(name, count + 1);
      const left = `${limit - (used.get(name) ?? 0)}`;
      const others = { "x-others-limit": "10", "x-others-left": left };
      return { status, headers: { "x-limit": `${limit}`, "x-left": left, "x-reset": "60", ...others } };
    };
    const played = new Played(server, 3, "first-request", { policy: own });
    return findingOf("last-place-2", played);
  };
  const broken = { state: "broken", law: "refusal-justified", got: "all are refused" };

  test("is not refused by the quota that shows it", () => {
    expect(refusing("requests", ["requests"])).toMatchObject(broken);
    expect(refusing("requests", ["requests", "others"])).toMatchObject(broken);
  });

  test("may be refused by another one", () => {
    expect(refusing("others", ["requests", "others"])).toEqual({ state: "kept" });
  });
});

test.each([
  [200, "broken"],
  [400, "kept"],
  [429, "broken"],
  [500, "kept"],
])("an answer of %d that lacks headers: the promise of headers is %s", (status, state) => {
  const played = new Played(() => ({ status, headers: { "x-left": "3" } }));
  const [subject] = played.lab.subjects;
  if (subject === undefined) throw new RangeError("no subject");
  played.play(played.lab.send(played.lab.shot(subject.callers[0], subject.operation)));
  expect(judgementOf("headers-on-every-answer", played)).toMatchObject({ state });
});

test.each([
  ["has no readings", { readings: false }, "kept"],
  ["is told by a header that it lacks", { lacks: ["X-Limit"] }, "kept"],
  ["lacks a header of no reading", { lacks: ["X-Else"] }, "broken"],
  ["is of another status", { status: [503], readings: false }, "broken"],
  ["is by another limit", { by: "secondary", readings: false }, "broken"],
])("a refusal without headers, of a kind that %s: the promise of headers is %s", (_name, kind, state) => {
  const { policy } = new Played(serving()).lab;
  const outcomes = [
    { outcome: "refused", by: "requests", status: [429], headers: { "X-Left": "*" } },
    {
      outcome: "refused",
      status: [429],
      ...kind,
      ...("by" in kind ? { body: { "/secondary": "true" } } : {}),
    },
  ];
  const wire = { ...(policy.wire as WireData), outcomes } as unknown as WireData;
  const played = new Played(() => ({ status: 429, headers: { "retry-after": "5" } }), 3, "first-request", {
    policy: parsePolicy({ ...policy, wire }),
  });
  const [subject] = played.lab.subjects;
  if (subject === undefined) throw new RangeError("no subject");
  played.play(played.lab.send(played.lab.shot(subject.callers[0], subject.operation)));
  expect(judgementOf("headers-on-every-answer", played)).toMatchObject({ state });
});

describe("a twin that is refused", () => {
  const refused = (units: number, charge: object = {}): AuditFinding => {
    const { policy } = new Played(serving()).lab;
    const requests = { ...policy.quotas["requests"], charge };
    const own = parsePolicy({ ...policy, quotas: { requests } } as never);
    let used = 0;
    const server: Served = ({ headers: sent }) => {
      const isTwin = sent["If-None-Match"] !== undefined;
      used += isTwin ? units : 1;
      const headers = { "x-limit": `${limit}`, "x-left": `${limit - used}`, "x-reset": "10" };
      return { status: isTwin ? 429 : 200, headers };
    };
    return findingOf("twin-if-none-match", new Played(server, 3, "first-request", { policy: own }));
  };
  const unsure = { state: "not exercised", why: "the twin was refused" };

  test("is charged nothing", () => {
    expect(refused(0)).toEqual(unsure);
    expect(refused(1)).toMatchObject({ state: "broken", got: "requests 1" });
  });

  test("shows nothing where the policy charges refusals", () => {
    for (const units of [0, 1]) expect(refused(units, { refused: "counted" })).toEqual(unsure);
  });
});
