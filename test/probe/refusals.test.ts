// Refused REST calls, from answers that are set: what each thing that is looked for is concluded from.
import { describe, expect, test } from "vitest";
import type { Finding } from "../../src/probe/finding.ts";
import { callsToRefusals, probeRefusals } from "../../src/probe/refusals.ts";
import { statusBody } from "../../src/wire/bodies.ts";
import { type Answers, isStatus, refusal, type Scripted, type Shown, scripted } from "./scripted.ts";

const path = "/v2/user";
interface Kept {
  /** The user's, and the organization's. */
  readonly left: readonly [user: number, organization: number];
  readonly enforced?: boolean;
  /** Units that a refused call takes from either window. */
  readonly refusedTakes?: readonly [user: number, organization: number];
  readonly by?: "rest" | "rest_user";
  readonly body?: (left: number) => unknown;
  readonly more?: Partial<Shown>;
  /** Calls that are admitted though nothing is left. */
  readonly beyond?: number;
  /** Value that is shown in place of one below 0. */
  readonly isSigned?: boolean;
}

/** A target whose user may call 3 times of 50, or so. */
function target({
  left: [userLeft, organizationLeft],
  enforced = true,
  refusedTakes = [0, 0],
  by = "rest_user",
  body = () => refusal(by),
  more = {},
  beyond = 0,
  isSigned = false,
}: Kept): Answers {
  let [user, organization, passed] = [userLeft, organizationLeft, 0];
  const shownOf = (): Shown => ({
    organization: [100, organization],
    user: [50, isSigned ? user : Math.max(0, user)],
    enforced,
  });
  return (ask) => {
    if (isStatus(ask)) return shownOf();
    const isFull = by === "rest_user" ? user <= 0 : organization <= 0;
    if (!isFull || passed < beyond) {
      if (isFull) passed += 1;
      user -= 1;
      organization -= 1;
      return shownOf();
    }
    user -= refusedTakes[0];
    organization -= refusedTakes[1];
    return { ...shownOf(), status: 429, body: body(by === "rest_user" ? user : organization), ...more };
  };
}

/** @param readings readings of the status before */
async function found(answers: Answers, options: Parameters<typeof scripted>[1] = {}, readings = 0) {
  const made = scripted(answers, options);
  for (let reading = 0; reading < readings; reading++) await made.session.status();
  const findings = await probeRefusals(made.session, path);
  const said = (name: Finding["name"]) => {
    const finding = findings.find((one) => one.name === name);
    if (finding === undefined) throw new RangeError(name);
    const { value, confidence, evidence, needs } = finding;
    return [value, confidence, evidence.replace(/ at [\d:.]+/g, ""), needs];
  };
  return { ...made, progress: made.said, findings, said };
}

const counted = ({ asked }: Pick<Scripted, "asked">): number => asked.filter((ask) => !isStatus(ask)).length;

describe("a user's window of three calls", () => {
  test("is used up; three refusals are looked at after the first", async () => {
    const made = await found(target({ left: [3, 60] }));
    expect(counted(made)).toBe(7);
    expect(made.said("refused")).toEqual([
      ...[null, "not seen", "call 5 was refused without a count; remaining is 0 either way"],
      "a refusal that shows current, or remaining below 0",
    ]);
    expect(made.said("refusedByUser")).toEqual([
      "charges-nothing",
      "certain",
      "call 7 was refused by the user's window, and the organization's count stood still",
      null,
    ]);
    expect(made.said("retryAfter")).toEqual([false, "certain", "call 5 was refused with none", null]);
    expect(made.said("userEnforced")[2]).toBe(
      "while the organization's scope is enforced, the user's window refuses either way",
    );
    expect(made.said("firstRefuser").slice(2)).toEqual([
      "the two windows were never full at the same time",
      "an organization's limit within the budget",
    ]);
    const left = (units: number): string => `using up the user's REST window: ${units} left`;
    expect(made.progress.map(({ doing }) => doing)).toEqual([
      ...[2, 1, 0, 0].map(left),
      ...new Array(3).fill("looking at refusals"),
    ]);
    expect(made.session.calls.map(({ what }) => what)).toEqual([
      ...["GET status", ...new Array(4).fill(`GET ${path}`)],
      ...[
        "GET status",
        `GET ${path}`,
        "GET status",
        `GET ${path}`,
        "GET status",
        `GET ${path}`,
        "GET status",
      ],
    ]);
  });

  test.each([
    [7, 3 + 1 + 3, null],
    [6, 0, "using up the window takes 7 calls, 6 were left"],
  ])("takes %d calls", async (calls, made, why) => {
    const probed = await found(target({ left: [3, 60] }), { calls });
    expect(counted(probed)).toBe(made);
    if (why === null) return;
    for (const { name } of probed.findings)
      expect(probed.said(name)).toEqual([null, "not seen", why, "--budget 17 or more"]);
    expect(probed.findings.map(({ name, scope }) => [name, scope])).toEqual(
      ["refused", "refusedByUser", "retryAfter", "userEnforced", "firstRefuser"].map((name) => [
        name,
        "rest",
      ]),
    );
  });

  test("of an organization with less takes no more than that has; one that is not enforced takes all", async () => {
    expect(counted(await found(target({ left: [3, 1], by: "rest" }), { calls: 5 }))).toBe(1 + 1 + 3);
    const free = await found(target({ left: [3, 1], enforced: false }), { calls: 7 });
    expect(counted(free)).toBe(7);
    const short = await found(target({ left: [3, 1], enforced: false }), { calls: 6 });
    expect(short.said("refused")[2]).toBe("using up the window takes 7 calls, 6 were left");
    expect(free.said("userEnforced")).toEqual([
      "always",
      "certain",
      "enforced is false, and call 5 was refused by the user's window",
      null,
    ]);
  });

  test("of nothing left takes a refusal and three more", async () => {
    expect(counted(await found(target({ left: [-2, 60] }), { calls: 4 }))).toBe(4);
  });

  const window = { limit: 100, current: 0, reset: 30, resetAtMs: 0, enforced: true };
  test.each<[string, Shown]>([
    ["shows no user", { user: null }],
    ["shows no whole seconds", { reset: 1.5, body: statusBody({ rest: window, graphql: window }) }],
    ["shows no window of REST", { body: {} }],
  ])("that its status %s is none", async (_, shown) => {
    const hidden = await found(() => shown);
    expect(hidden.said("refused").slice(2)).toEqual([
      "the user's window shows nothing in the headers of the status",
      "the user's headers",
    ]);
  });

  test.each([
    [200, 1],
    [404, 3],
    [429, 3],
  ])("is looked at after its first refusal until a call is admitted: %d", async (status, trials) => {
    const inner = target({ left: [1, 60] });
    let refused = 0;
    const made = await found((ask, number, nowMs) => {
      const shown = inner(ask, number, nowMs);
      return shown.status === 429 && ++refused > 1 ? { ...shown, status } : shown;
    });
    expect(counted(made)).toBe(1 + 1 + trials);
  });
});

describe("time", () => {
  /** Of one call left, five are needed, and five more times may be: ten calls and half a second. */
  const waits = async (tripMs: number, reset: number, calls = 80) => {
    const left = target({ left: [1, 60] });
    const { waited } = await found((ask, number, nowMs) => ({ ...left(ask, number, nowMs), reset }), {
      tripMs,
      calls,
    });
    return waited.length > 0;
  };
  test("is waited for if the calls that are needed are left", async () => {
    expect(await waits(51, 2, 5)).toBe(true);
    expect(await waits(51, 2, 4)).toBe(false);
  });
  test("of a second is enough for ten calls of 50 ms, and for none that are longer", async () => {
    expect(await waits(50, 2)).toBe(false);
    expect(await waits(51, 2)).toBe(true);
    expect(await waits(150, 3)).toBe(false);
    expect(await waits(151, 3)).toBe(true);
  });
  test("is what most calls so far took, in whatever order they came", async () => {
    const left = target({ left: [1, 60] });
    // Nine readings and the one that is needed: eight of ten are as short.
    const slow = async (...numbers: number[]) =>
      (
        await found(
          (ask, number, nowMs) => ({ ...left(ask, number, nowMs), reset: 2 }),
          { tripMs: (number) => (numbers.includes(number) ? 900 : 50) },
          9,
        )
      ).waited.length > 0;
    expect(await slow(9)).toBe(false);
    expect(await slow(1)).toBe(false);
    expect(await slow(1, 5)).toBe(true);
    expect(await slow(8, 9)).toBe(true);
  });
  test("of a new window counts as that has it", async () => {
    const left = target({ left: [1, 60] });
    const made = await found(
      (ask, number, nowMs) => {
        const shown = left(ask, number, nowMs);
        return nowMs > Date.UTC(2026, 0, 2, 3, 3, 31) ? { ...shown, user: [50, 40] } : { ...shown, reset: 1 };
      },
      { calls: 43 },
    );
    expect(made.said("refused")[2]).toBe("using up the window takes 44 calls, 43 were left");
  });
});

describe("whether refused calls are counted", () => {
  test.each<[string, Kept, unknown[]]>([
    [
      "a count at its limit",
      { left: [1, 60], body: () => refusal("rest_user", 50, 50) },
      ["uncounted", "call 3 was refused with current 50 of 50"],
    ],
    [
      "a count above it",
      { left: [1, 60], body: (left) => refusal("rest_user", 50, 50 - left), refusedTakes: [1, 0] },
      ["counted", "call 3 was refused with current 51 of 50"],
    ],
    [
      "less than nothing left",
      { left: [1, 60], refusedTakes: [1, 0], isSigned: true },
      ["counted", "call 3 was refused with remaining -1"],
    ],
    [
      "the organization's count, which stands",
      { left: [9, 1], by: "rest" },
      ["uncounted", "call 5 was refused, and moved no count"],
    ],
  ])("%s", async (_, kept, [value, evidence]) => {
    expect((await found(target(kept))).said("refused")).toEqual([value, "certain", evidence, null]);
  });

  test("is not told by the organization's count that moves, nor by what nobody names", async () => {
    const moved = await found(target({ left: [9, 1], by: "rest", refusedTakes: [0, 1] }));
    expect(moved.said("refused")[0]).toBeNull();
    const unnamed = await found(
      target({ left: [1, 60], isSigned: true, refusedTakes: [1, 0], body: () => ({}) }),
    );
    expect(unnamed.said("refused")[0]).toBeNull();
    const limitOnly = await found(target({ left: [1, 60], body: () => refusal("rest_user", 50) }));
    expect(limitOnly.said("refused")[0]).toBeNull();
    expect(unnamed.said("refusedByUser").slice(2)).toEqual([
      "no refusal by the user's window was seen from both sides",
      "a user's limit below the organization's",
    ]);
    const free = await found(target({ left: [1, 60], enforced: false, body: () => ({}) }));
    expect(free.said("userEnforced").slice(2)).toEqual([
      "call 3 was refused by a window that it does not name as the user's",
      "a refusal that names its window",
    ]);
  });
});

describe("whether a refusal by the user's window costs the organization", () => {
  test("is told where each moves its count by one", async () => {
    const made = await found(target({ left: [1, 60], refusedTakes: [0, 1] }));
    expect(made.said("refusedByUser")).toEqual([
      "charges-organization",
      "certain",
      "each of 3 refusals by the user's window moved the organization's count",
      null,
    ]);
  });

  test("is certain by two of them, and not told by one", async () => {
    const told = async (statusCalls: number) =>
      (await found(target({ left: [1, 60], refusedTakes: [0, 1] }), { statusCalls })).said("refusedByUser");
    expect((await told(4)).slice(0, 2)).toEqual(["charges-organization", "certain"]);
    expect((await told(3)).slice(0, 2)).toEqual([null, "not seen"]);
  });

  test("is likely where they move by different amounts, of three", async () => {
    const made = await found(target({ left: [1, 60], refusedTakes: [0, 2] }));
    expect(made.said("refusedByUser").slice(0, 2)).toEqual(["charges-organization", "likely"]);
    // Of two it is nothing.
    const two = await found(target({ left: [1, 60], refusedTakes: [0, 2] }), { calls: 5, statusCalls: 4 });
    expect(two.said("refusedByUser")[0]).toBeNull();
    expect(two.said("refusedByUser")[2]).toMatch(/^each of 2 .*, but so did others' calls$/);
  });
});

test("whether a refusal costs the organization is likely where others seldom call, and not told where they often do", async () => {
  /** @param others numbers of the readings at which somebody else had called */
  const told = async (...others: readonly number[]) => {
    const inner = target({ left: [1, 60], refusedTakes: [0, 1] });
    const answers: Answers = (ask, number, nowMs) => {
      const shown = inner(ask, number, nowMs);
      const [limit, left] = shown.organization ?? [100, 100];
      return { ...shown, organization: [limit, left - others.filter((one) => one <= number).length] };
    };
    return (await found(answers, {}, 4)).said("refusedByUser");
  };
  const each = "each of 3 refusals by the user's window moved the organization's count";
  // Five readings in a row are four pairs.
  expect(await told()).toEqual(["charges-organization", "certain", each, null]);
  expect(await told(2)).toEqual(["charges-organization", "likely", each, null]);
  expect(await told(2, 3)).toEqual([null, "not seen", `${each}, but so did others' calls`, "a quieter time"]);
});

const byOrganization = (shown: Shown): Shown =>
  shown.status === 429 ? { ...shown, body: refusal("rest") } : shown;

test.each<[string, (shown: Shown, refusals: number) => Shown]>([
  [
    "by later ones of the organization's own",
    (shown, refusals) => (refusals > 1 ? byOrganization(shown) : shown),
  ],
  [
    "by later ones, if the first is the organization's own",
    (shown, refusals) => (refusals === 1 ? byOrganization(shown) : shown),
  ],
])("whether a refusal by the user's window costs the organization is not told %s", async (_, change) => {
  let refusals = 0;
  const inner = target({ left: [1, 60] });
  const made = await found((ask, number, nowMs) => {
    const shown = inner(ask, number, nowMs);
    if (shown.status === 429) refusals += 1;
    return change(shown, refusals);
  });
  expect(made.said("refusedByUser").slice(0, 3)).toEqual([
    ...[null, "not seen", "no refusal by the user's window was seen from both sides"],
  ]);
});

test("Retry-After is certain where all refusals have it, or none; of some it is likely", async () => {
  const some = (has: (refusals: number) => boolean) => {
    let refusals = 0;
    const inner = target({ left: [1, 60] });
    return found((ask, number, nowMs) => {
      const shown = inner(ask, number, nowMs);
      return shown.status === 429 && has(++refusals) ? { ...shown, retryAfter: 7 } : shown;
    });
  };
  expect((await some(() => true)).said("retryAfter")).toEqual([
    true,
    "certain",
    "call 3 was refused with Retry-After 7",
    null,
  ]);
  expect((await some((one) => one > 1)).said("retryAfter")).toEqual([
    true,
    "likely",
    "call 5 was refused with Retry-After 7",
    null,
  ]);
  expect((await some((one) => one === 4)).said("retryAfter").slice(0, 3)).toEqual([
    ...[true, "likely", "call 9 was refused with Retry-After 7"],
  ]);
  expect((await some(() => false)).said("retryAfter")).toEqual([
    false,
    "certain",
    "call 3 was refused with none",
    null,
  ]);
});

test("Retry-After that is no whole number of seconds is none that callers can read, and is told", async () => {
  const made = await found(target({ left: [1, 60], more: { retryAfter: "Fri, 02 Jan 2026 03:04:00 GMT" } }));
  expect(made.said("retryAfter").slice(0, 3)).toEqual([
    ...[false, "certain", "call 3 was refused with Retry-After Fri, 02 Jan 2026 03:04:00 GMT"],
  ]);
});

test("of two full windows, the one that refuses is told", async () => {
  const both = await found(target({ left: [2, 2] }));
  expect(both.said("firstRefuser")).toEqual([
    ...["user", "certain", "both windows were full before call 6, and the user's refused", null],
  ]);
});

test.each<[string, Partial<Kept>]>([
  ["a refusal that names no window", { body: () => ({}) }],
  ["a scope that is not enforced", { enforced: false }],
  ["one window that is full", { left: [2, 4] }],
  ["the organization's alone, which refuses", { left: [9, 2], by: "rest" }],
])("of two windows, %s tells nothing of who refuses first", async (_, more) => {
  const told = await found(target({ left: [2, 2], ...more }));
  expect(told.said("firstRefuser").slice(0, 2)).toEqual([null, "not seen"]);
});

test.each<[string, Shown]>([
  ["the user's", { user: [50, 1] }],
  ["the organization's", { organization: [100, 1] }],
])(
  "of two windows that were full, %s that ended meanwhile tells nothing of who refuses first",
  async (_, now) => {
    const full: Shown = { organization: [100, 0], user: [50, 0] };
    const said = async (shown: Shown) =>
      (
        await found((ask) =>
          isStatus(ask) ? full : { ...full, ...shown, status: 429, body: refusal("rest") },
        )
      ).said("firstRefuser");
    expect((await said({})).slice(0, 2)).toEqual(["organization", "certain"]);
    expect((await said(now)).slice(0, 2)).toEqual([null, "not seen"]);
  },
);

test("of two windows, one with a unit left before a refusal tells nothing of who refuses first", async () => {
  const made = await found((ask) => ({
    organization: [100, 0],
    ...(isStatus(ask) ? { user: [50, 1] } : { user: [50, 0], status: 429, body: refusal("rest") }),
  }));
  expect(made.said("firstRefuser").slice(0, 2)).toEqual([null, "not seen"]);
});

test("of two windows, a status that shows REST's no more tells nothing of who refuses first", async () => {
  const full: Shown = { organization: [100, 0], user: [50, 0] };
  const made = await found((ask, number) => {
    if (!isStatus(ask)) return { ...full, status: 429, body: refusal("rest") };
    return number > 1 ? { ...full, body: { resources: {} } } : full;
  });
  expect(made.said("firstRefuser").slice(0, 2)).toEqual([null, "not seen"]);
});

describe("calls that are admitted though nothing is left", () => {
  test.each([
    [1, 1, null],
    [1, 30, "with-organization"],
    [2, 1, "with-organization"],
  ])("of a limit of %d, in windows that last %d s more, show %s", async (limit, reset, value) => {
    const made = await found((ask) => ({ enforced: false, reset, user: [limit, isStatus(ask) ? 1 : 0] }));
    expect(made.said("userEnforced")[0]).toBe(value);
  });

  test("show a user's window that does not refuse, where nothing is enforced", async () => {
    const made = await found(target({ left: [2, 60], enforced: false, beyond: 99 }));
    // Two of them are enough.
    expect(counted(made)).toBe(4);
    expect(counted(await found(target({ left: [1, 60], enforced: false, beyond: 99 })))).toBe(3);
    expect(made.said("userEnforced")).toEqual([
      ...["with-organization", "certain"],
      "enforced is false, and call 4 was admitted though the user's window had nothing left",
      null,
    ]);
    expect(made.said("refused").slice(2)).toEqual([
      "call 4 was admitted though nothing was left",
      "a scope that is enforced",
    ]);
  });

  test("are such from the first one on, if nothing was left before", async () => {
    const made = await found(target({ left: [0, 60], enforced: false, beyond: 99 }));
    expect(counted(made)).toBe(2);
    expect(made.said("refused")[2]).toBe("call 2 was admitted though nothing was left");
  });

  test("show nothing where it is", async () => {
    const enforced = await found(target({ left: [2, 60], beyond: 99 }));
    expect(enforced.said("userEnforced").slice(2)).toEqual([
      "call 4 was admitted though nothing was left",
      "a scope that is enforced",
    ]);
  });

  test.each([50, 1])("show nothing where a new window of %d began", async (left) => {
    let calls = 0;
    const fresh = await found((ask) => {
      if (!isStatus(ask)) calls += 1;
      return { enforced: false, user: [50, calls < 3 ? 2 - calls : left] };
    });
    expect(calls).toBe(3);
    expect(fresh.said("userEnforced").slice(2)).toEqual([
      "no call was refused: the window ended before it was full",
      "longer windows, or shorter ways",
    ]);
  });

  test("are none that fail", async () => {
    const inner = target({ left: [1, 60], enforced: false, beyond: 99 });
    let calls = 0;
    const made = await found((ask, number, nowMs) => {
      const shown = inner(ask, number, nowMs);
      return isStatus(ask) || ++calls === 1 ? shown : { ...shown, status: 503 };
    });
    expect(made.said("userEnforced")[2]).toBe("no call was refused: the window ended before it was full");
  });

  test("end where a window never is full", async () => {
    const endless = await found((ask) => ({ user: [50, isStatus(ask) ? 2 : 3] }));
    // Twice as many as were needed, and one.
    expect(counted(endless)).toBe(13);
  });
});

test("the calls that refusals take are known by what was seen last", async () => {
  const made = scripted(() => ({ user: [50, 3] }), { calls: 8 });
  expect(callsToRefusals(made.session)).toBe(5);
  await made.session.status();
  expect(callsToRefusals(made.session)).toBe(8);
  const short = scripted(() => ({ user: [50, 4] }), { calls: 8 });
  await short.session.status();
  expect(callsToRefusals(short.session)).toBe(0);
});
