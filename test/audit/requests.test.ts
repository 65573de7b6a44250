// Requests of a policy's operations: who makes them, what they use up, and what the policy says of their quotas.
import { describe, expect, test } from "vitest";
import { Requests } from "../../src/audit/requests.ts";
import type { AuditCaller, AuditCallers, Subject } from "../../src/audit/step.ts";
import { parsePolicy } from "../../src/policy/parse.ts";

const window = (limit: number, more: object = {}) => ({
  algorithm: { kind: "fixed-window", limit, windowSeconds: 60 },
  key: ["user"],
  ...more,
});
const bucket = (capacity: number) => ({
  algorithm: { kind: "token-bucket", capacity, refill: { amount: 1, everyMs: 1_000 } },
  key: ["user"],
});
const readings = [
  {
    headers: { "X-Left": "{remaining}", "X-Limit": "{limit}" },
    quotas: ["a"],
    reset: { form: "delta-s", means: "window-end", round: "ceil" },
  },
];
const base = {
  version: 2,
  name: "own",
  quotas: { a: window(10), b: bucket(40), c: window(30, { charge: { when: "completion" } }) } as object,
  operations: {
    free: { uses: { a: 0 }, samples: [{ path: "/free" }] },
    unsampled: { uses: { c: 1 } },
    read: { uses: { b: 2, a: 1 }, samples: [{ path: "/read/1" }, { path: "/read/2" }] },
    big: { uses: { a: 3 }, samples: [{ path: "/big" }] },
    write: {
      uses: { a: 1, b: 2 },
      samples: [{ path: "/write", method: "POST", body: { by: "{user}", at: "{place}" } }],
    },
  } as object,
  routes: [
    { path: "/status", operation: "status", methods: ["POST", "GET"] },
    { path: "/read/{page}", operation: "read" },
    { path: "/big", operation: "big" },
    { path: "/write", operation: "write" },
  ] as object[],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] } as object,
  wire: { revision: "2026", readings } as object,
};
const callersOf = (count: number): AuditCallers =>
  Array.from({ length: count }, (_, index): AuditCaller => {
    const user = `u${index}`;
    return { index, name: user, attributes: { user } };
  }) as unknown as AuditCallers;
const requestsOf = (more: Partial<typeof base> = {}, count = 4): Requests =>
  new Requests(parsePolicy({ ...base, ...more }), callersOf(count));
const requests = requestsOf();
const [ann] = requests.callers;
const [both, alone] = requests.subjects as [Subject, Subject];

describe("subjects", () => {
  const of = (made: Requests) =>
    made.subjects.map(({ operation, quotas, callers }) => [
      ...[operation, quotas.join(" "), callers.map(({ index }) => index).join("")],
    ]);

  test("are one operation with a sample for each set of quotas that it charges, with callers of their own", () => {
    expect(of(requests)).toEqual([
      ["read", "a b", "01"],
      ["big", "a", "23"],
    ]);
  });

  test("share callers, each beginning with another one, if there are too few, or if callers share a count", () => {
    expect(of(requestsOf({}, 3)).map(([, , callers]) => callers)).toEqual(["012", "120"]);
    const shared = { a: window(10, { key: [] }), b: bucket(40), c: window(30) };
    expect(of(requestsOf({ quotas: shared })).map(([, , callers]) => callers)).toEqual(["0123", "1230"]);
    expect(of(requestsOf({}, 1)).map(([, , callers]) => callers)).toEqual(["0", "0"]);
  });

  test("without a quota in common have all callers", () => {
    const operations = {
      read: { uses: { b: 1 }, samples: [{ path: "/read/1" }] },
      big: { uses: { a: 1 }, samples: [{ path: "/big" }] },
    };
    const routes = base.routes.slice(0, 3);
    expect(of(requestsOf({ operations, routes }))).toEqual([
      ["read", "b", "0123"],
      ["big", "a", "1230"],
    ]);
  });
});

describe("the quotas of an operation", () => {
  const quotas = (a: object, more: Partial<typeof base> = {}) =>
    requestsOf({ quotas: { a, b: bucket(40), c: window(30) }, ...more });
  const narrowOf = (made: Requests) => made.narrow(made.subjects[0] as Subject, ann);

  test("are used up by as many calls as the scarcest has room for, if they are not too many", () => {
    expect([requests.callsToEmpty(both, ann), requests.callsToEmpty(alone, ann)]).toEqual([10, 4]);
    const calls = (limit: number) => quotas(window(limit)).callsToEmpty(alone, ann);
    expect([7_500, 7_501].map(calls)).toEqual([2_500, null]);
    const declared = { big: { uses: { a: "declared" }, samples: [{ path: "/big", cost: 2 }] } };
    const told = requestsOf({ operations: declared, routes: base.routes.slice(2, 3) });
    expect(told.callsToEmpty(told.subjects[0] as Subject, ann)).toBeNull();
    expect(narrowOf(told)).toBeNull();
  });

  test("have a narrow one: that is used up first, if it is a window whose count answers show", () => {
    expect([narrowOf(requests), requests.narrow(alone, ann)]).toEqual(["a", "a"]);
    // The bucket is used up by 20 calls, too.
    expect([20, 21].map((limit) => narrowOf(quotas(window(limit))))).toEqual(["a", null]);
    expect(narrowOf(quotas(window(10, { charge: { when: "completion" } })))).toBeNull();
    expect(narrowOf(requestsOf({ wire: { revision: "2026", readings: [] } }))).toBeNull();
  });

  test("are windows if they have a length, and answers show them", () => {
    expect([requests.windows(both, ann), requests.windowMs("a", ann), requests.windowMs("b", ann)]).toEqual([
      ...[["a"], 60_000, 0],
    ]);
    expect(requests.limit("b", ann)).toBe(40);
  });

  test("are a token's own if their keys have all its attributes", () => {
    const auth = { ...base.auth, attributes: ["user", "org"] };
    expect([requests.isOwn("a"), requestsOf({ auth }).isOwn("a")]).toEqual([true, false]);
    expect(quotas(window(10, { key: [] })).isOwn("a")).toBe(false);
  });

  test("have resets that are rounded up unless a reading, or else the quota, says otherwise", () => {
    const rounded = (round: string | undefined, a = window(10)) =>
      quotas(a, {
        wire: {
          revision: "2026",
          readings: [{ ...readings[0], reset: { form: "delta-s", means: "window-end", round } }],
        },
      }).roundsUp("a");
    expect(["ceil", "floor", undefined].map((round) => rounded(round))).toEqual([true, false, true]);
    expect(rounded(undefined, window(10, { shown: { reset: "floor" } }))).toBe(false);
    expect(rounded("ceil", window(10, { shown: { reset: "floor" } }))).toBe(true);
    expect(requests.roundsUp("b")).toBe(true);
  });
});

describe("a request", () => {
  test("is the first sample of an operation, with the caller's attributes in it", () => {
    const shot = requests.shot({ ...ann, attributes: { user: 'a/"b' } }, "write");
    expect(shot).toMatchObject({ method: "POST", path: "/write", operation: "write", cost: 1, way: "kept" });
    expect(shot.body).toBe('{"by":"a/\\"b","at":"{place}"}');
    expect(() => requests.shot(ann, "unsampled")).toThrow("no sample of unsampled");
  });

  test("has the attributes of its token, before those of its route", () => {
    const [caller] = both.callers;
    expect(caller.attributes).toEqual({ page: "1", user: "u0" });
    const routes = [
      ...base.routes.slice(0, 2),
      ...base.routes.slice(3),
      { path: "/{room}", operation: "big" },
    ];
    const [, roomy] = requestsOf({ routes }).subjects as [Subject, Subject];
    expect(roomy.callers.map(({ attributes }) => attributes)).toEqual([
      { room: "big", user: "u2" },
      { room: "big", user: "u3" },
    ]);
    expect(requestsOf({ routes }).ownOf(roomy.callers[0])).toEqual({ user: "u2" });
  });

  test("is one of the others if it uses the same quotas, and is not the plain one", () => {
    const others = (subject: Subject) =>
      requests.others(subject, ann).map(({ operation, path }) => [operation, path]);
    expect(others(both)).toEqual([
      ["read", "/read/2"],
      ["write", "/write"],
    ]);
    expect(others(alone)).toEqual([]);
  });

  test("of the status is of its route's first method", () => {
    expect(requests.hasStatus).toBe(true);
    expect(requests.status(ann)).toMatchObject({
      method: "POST",
      path: "/status",
      operation: "status",
      cost: null,
    });
    const none = requestsOf({ routes: base.routes.slice(1) });
    expect(none.hasStatus).toBe(false);
    expect(() => none.status(ann)).toThrow("no route shows the status");
    const usual = requestsOf({ routes: [{ path: "/status", operation: "status" }, ...base.routes.slice(1)] });
    expect(usual.status(ann).method).toBe("GET");
  });

  test("in another shape goes by its route: nobody knows its charge without one", () => {
    const shot = requests.shot(ann, "big");
    expect(requests.routed(shot)).toBe(shot);
    expect(requests.routed({ ...shot, path: "/nothing" })).toEqual({
      ...shot,
      path: "/nothing",
      isVague: true,
    });
    expect(() => requests.routed({ ...shot, path: "/read/7" })).toThrow("the policy has it as read");
  });
});
