// Reasons why experiments cannot be made: each deployment has one, told before a call is made. Those that a plain one lacks
// stand first; of every other deployment those that differ.
import { expect, test } from "vitest";
import { shapes } from "../../src/audit/experiments/shapes.ts";
import { experiments } from "../../src/audit/experiments.ts";
import { Lab, type LabOptions } from "../../src/audit/lab.ts";
import { parsePolicy } from "../../src/policy/parse.ts";

const window = { kind: "fixed-window", limit: 10, windowSeconds: 10, anchor: "first-request" };
const quota = { algorithm: window, key: ["user"] };
const readings = [
  {
    headers: { "X-Limit": "{limit}", "X-Left": "{remaining}", "X-Reset": "{reset}" },
    reset: { form: "delta-s", means: "window-end", round: "ceil" },
  },
];
const wire = { revision: "2026", readings, retryAfter: [{ header: "Retry-After", form: "delta-s" }] };
const plain = {
  version: 2,
  name: "own",
  quotas: { requests: quota },
  operations: { call: { uses: { requests: 1 }, samples: [{ path: "/blue" }] } },
  routes: [{ path: "/{room}", operation: "call" }],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
  wire,
};
const dear = {
  ...{ method: "POST", path: "/q", headers: { "content-type": "application/json" }, body: { first: 4 } },
  ...{ cost: 4, dearer: { pointer: "/first", costEach: 1 } },
};
const calling = (requests: unknown, ...samples: object[]) => ({ call: { uses: { requests }, samples } });

interface Deployment {
  readonly policy?: object;
  readonly users?: readonly string[];
  readonly options?: Partial<LabOptions>;
}

/** Reasons, with the experiments that each is told of. */
function reasonsOf({
  policy = {},
  users = ["ann", "bob"],
  options = {},
}: Deployment): Map<string, string | null> {
  const callers = users.map((user, index) => ({ index, name: user, attributes: { user } }));
  const lab = new Lab({
    policy: parsePolicy({ ...plain, ...policy }),
    ...{
      callers: callers as never,
      alone: true,
      spend: 1,
      isTls: false,
      beganMs: 0,
      untilMs: 120_000,
      ...options,
    },
  });
  const [subject] = lab.subjects;
  if (subject === undefined) throw new RangeError("no subject");
  return new Map(experiments.map(({ name, lacks }) => [name, lacks(lab, subject)]));
}

const ofPlain = reasonsOf({});
type Told = Readonly<Record<string, string>>;

function told(deployment: Deployment): Told {
  const reasons =
    deployment.policy === undefined && Object.keys(deployment).length === 0 ? ofPlain : reasonsOf(deployment);
  const by = new Map<string, string[]>();
  for (const [name, reason] of reasons) {
    if (reasons !== ofPlain && reason === ofPlain.get(name)) continue;
    if (reasons === ofPlain && reason === null) continue;
    by.set(String(reason), [...(by.get(String(reason)) ?? []), name]);
  }
  return Object.fromEntries([...by].map(([reason, names]) => [reason, names.join(" ")]));
}

const cases: readonly (readonly [name: string, deployment: Deployment, reasons: Told])[] = [
  [
    "a plain one",
    {},
    {
      "no one user in two organizations": "one-user-elsewhere",
      "no callers whose names are one once joined": "names-once-joined",
      "no callers whose names differ in letter case alone": "names-in-other-letters",
      "no callers whose names differ in their Unicode form alone": "names-in-other-unicode",
      "no callers whose names are one up to their 255th character": "names-that-begin-alike",
      "no operation without a quota in common": "other-operation",
      "no second sample of another resource": "other-resource",
      "the policy has no other request of its quotas": "other-requests",
      "the policy has no route of the status":
        "status-is-free status-head status-query-string status-trailing-slash status-letter-case-of-path status-letter-case-of-name status-letter-case-of-scheme status-percent-encoded status-gzip status-if-none-match status-with-a-body status-forwarded-for status-other-client status-method-override status-on-a-connection-of-its-own status-pipelined status-http-1.0 status-http-2 status-cut-off-while-sending status-cut-off-while-waiting status-cut-off-while-reading status-is-true status-reset-agrees status-while-empty",
      "no sample that can be made dearer":
        "cost-above-the-limit dear-refusal-names-the-quota cost-that-fits-exactly",
      "the sample is no GraphQL":
        "query-that-cannot-be-read query-of-another-schema query-too-deep query-too-complex query-of-no-cost two-operations-in-one-request batch-of-queries query-by-get",
      "no name stands in the path": "twin-letter-case-of-name",
      "the target is no https": "twin-http-2",
      "the policy has no request that provokes 304": "answered-304",
      "the policy has no request that provokes 400": "answered-400",
      "the policy has no request that provokes 404": "answered-404",
      "the policy has no request that provokes 405": "answered-405",
      "the sample has no body": "answered-413",
      "windows open with their first call": "window-on-its-grid",
      "no bucket, and no window without counts, that plain calls empty first":
        "burst-is-bounded emptied-has-room-again emptied-leaves-others emptied-wait-is-honest",
      "no other operation empties one of its quotas alone": "refusal-by-other-quota",
      "no quota that callers share": "broad-quota-refuses",
    },
  ],
  [
    "answers without counts",
    { policy: { wire: { ...wire, readings: [] } } },
    {
      "answers show no count of a window":
        "cost-as-told answered-413 calls-at-once window-on-its-grid first-calls-at-once calls-across-the-reset window-watched pause-then-status-then-call call-slower-than-its-window reset-of-the-last-second",
      "answers show no count that two callers keep apart": "each-caller-apart",
      "the format has no headers": "headers-on-every-answer",
      null: "burst-is-bounded emptied-has-room-again emptied-leaves-others emptied-wait-is-honest",
      "no quota whose limit is known in calls, and whose count answers show":
        "last-place-2 last-place-8 last-place-32 reset-counts-down refusal-names-the-quota refusal-is-free refusal-leaves-others broad-quota-refuses reset-is-kept",
    },
  ],
  [
    "a bucket",
    {
      policy: {
        quotas: {
          requests: {
            algorithm: { kind: "token-bucket", capacity: 6, refill: { amount: 2, everyMs: 1000 } },
            key: ["user"],
          },
        },
      },
    },
    {
      "answers show no count of a window":
        "cost-as-told answered-413 calls-at-once window-on-its-grid first-calls-at-once calls-across-the-reset window-watched pause-then-status-then-call call-slower-than-its-window reset-of-the-last-second",
      "answers show no count that two callers keep apart": "each-caller-apart",
      "no quota whose limit is known in calls, and whose count answers show":
        "last-place-2 last-place-8 last-place-32 reset-counts-down refusal-names-the-quota refusal-is-free refusal-leaves-others broad-quota-refuses reset-is-kept",
      null: "burst-is-bounded emptied-has-room-again emptied-leaves-others emptied-wait-is-honest",
    },
  ],
  [
    "a limit that refuses nobody",
    {
      policy: { quotas: { requests: { ...quota, enforced: false } }, operations: calling("declared", dear) },
    },
    {
      "limits are not enforced": "cost-above-the-limit cost-that-fits-exactly",
      "not all of its quotas are charged what the call declares, and refuse": "dear-refusal-names-the-quota",
      "the sample is no GET": "twin-head twin-if-none-match twin-with-a-body",
      null: "answered-413",
      "no quota whose limit is known in calls, and whose count answers show":
        "last-place-2 last-place-8 last-place-32 reset-counts-down refusal-names-the-quota refusal-is-free refusal-leaves-others broad-quota-refuses reset-is-kept",
    },
  ],
  [
    "a dear sample of a fixed cost",
    { policy: { operations: calling(1, dear) } },
    {
      "no cost is declared by the call": "cost-above-the-limit cost-that-fits-exactly",
      "not all of its quotas are charged what the call declares, and refuse": "dear-refusal-names-the-quota",
      "the sample is no GET": "twin-head twin-if-none-match twin-with-a-body",
      null: "answered-413",
    },
  ],
  [
    "a declared cost",
    { policy: { operations: calling("declared", dear) } },
    {
      null: "cost-above-the-limit dear-refusal-names-the-quota cost-that-fits-exactly answered-413",
      "the sample is no GET": "twin-head twin-if-none-match twin-with-a-body",
      "no quota whose limit is known in calls, and whose count answers show":
        "last-place-2 last-place-8 last-place-32 reset-counts-down refusal-names-the-quota refusal-is-free refusal-leaves-others broad-quota-refuses reset-is-kept",
    },
  ],
  [
    "half to spend",
    { options: { spend: 0.5 } },
    {
      "--spend leaves no window to be emptied":
        "last-place-2 last-place-8 last-place-32 reset-counts-down refusal-names-the-quota refusal-is-free refusal-leaves-others broad-quota-refuses reset-is-kept",
    },
  ],
  ["TLS", { options: { isTls: true } }, { null: "twin-http-2" }],
  [
    "a grid of a minute, resets rounded down, a second sample",
    {
      policy: {
        quotas: {
          requests: {
            ...quota,
            algorithm: { ...window, anchor: "epoch", windowSeconds: 60 },
            shown: { reset: "floor" },
          },
        },
        operations: calling(1, { path: "/blue" }, { path: "/green" }),
        wire: {
          ...wire,
          readings: readings.map((row) => ({ ...row, reset: { ...row.reset, round: "floor" } })),
        },
      },
    },
    {
      null: "other-resource other-requests window-on-its-grid",
      "windows lie on a grid": "pause-then-status-then-call",
      "servers wait less long for a request": "call-slower-than-its-window",
      "resets are rounded down, or to the nearest": "reset-of-the-last-second",
    },
  ],
  [
    "samples of another cost, and of the same room",
    {
      policy: { operations: calling(1, { path: "/blue" }, { path: "/blue?a=1" }, { path: "/red", cost: 2 }) },
    },
    { null: "other-requests" },
  ],
  [
    "a sample of another room that is another operation's route",
    {
      policy: {
        operations: {
          ...calling(1, { path: "/blue" }, { path: "/red" }),
          look: { uses: { requests: 1 }, samples: [] },
        },
        routes: [{ path: "/red", operation: "look" }, ...plain.routes],
      },
    },
    { null: "other-requests" },
  ],
  [
    "a status and requests that provoke",
    {
      policy: {
        routes: [{ path: "/limits", operation: "status" }, ...plain.routes],
        provoke: {
          "304": { method: "GET", path: "/a", headers: {} },
          "400": { method: "GET", path: "/b", headers: {} },
        },
      },
    },
    {
      null: "status-is-free status-head status-query-string status-trailing-slash status-letter-case-of-path status-letter-case-of-scheme status-percent-encoded status-gzip status-if-none-match status-with-a-body status-forwarded-for status-other-client status-method-override status-on-a-connection-of-its-own status-pipelined status-http-1.0 status-cut-off-while-sending status-cut-off-while-waiting status-cut-off-while-reading status-is-true status-reset-agrees answered-304 answered-400 status-while-empty",
      "no name stands in the path": "status-letter-case-of-name",
      "the target is no https": "status-http-2",
    },
  ],
  [
    "names that look alike",
    { users: ["ann", "ANN", "a".repeat(255), `${"a".repeat(255)}b`, "\u00e4", "a\u0308"] },
    { null: "names-in-other-letters names-in-other-unicode names-that-begin-alike" },
  ],
  [
    "a name in the path, a credential without a scheme",
    { users: ["blue", "bob"], policy: { auth: { ...plain.auth, form: "{token}" } } },
    { null: "twin-letter-case-of-name", "the credential has no scheme": "twin-letter-case-of-scheme" },
  ],
  [
    "a path that ends with a slash",
    { policy: { operations: calling(1, { path: "/blue/" }), routes: [{ path: "/**", operation: "call" }] } },
    { "the path ends with a slash": "twin-trailing-slash" },
  ],
  [
    "a path without a letter",
    { policy: { operations: calling(1, { path: "/" }), routes: [{ path: "/**", operation: "call" }] } },
    {
      "the path ends with a slash": "twin-trailing-slash",
      "the path ends without a letter": "twin-letter-case-of-path twin-percent-encoded",
    },
  ],
  [
    "a bucket of all callers",
    {
      policy: {
        quotas: {
          requests: {
            algorithm: { kind: "token-bucket", capacity: 6, refill: { amount: 2, everyMs: 1000 } },
            key: [],
          },
        },
      },
    },
    {
      "answers show no count of a window":
        "cost-as-told answered-413 calls-at-once window-on-its-grid first-calls-at-once calls-across-the-reset window-watched pause-then-status-then-call call-slower-than-its-window reset-of-the-last-second",
      "answers show no count that these callers keep apart": "other-user",
      "answers show no count that two callers keep apart": "each-caller-apart",
      "no callers of two organizations": "other-organization",
      "no quota whose limit is known in calls, and whose count answers show":
        "last-place-2 last-place-8 last-place-32 reset-counts-down refusal-names-the-quota refusal-is-free refusal-leaves-others broad-quota-refuses reset-is-kept",
      "no second caller with a quota of its own": "emptied-leaves-others",
      null: "burst-is-bounded emptied-has-room-again emptied-wait-is-honest",
    },
  ],
  [
    "one count for all callers",
    { policy: { quotas: { requests: { ...quota, key: [] } } } },
    {
      "answers show no count that these callers keep apart": "other-user",
      "no callers of two organizations": "other-organization",
      "answers show no count that two callers keep apart": "each-caller-apart",
      "callers share the narrow quota": "refusal-leaves-others",
      null: "broad-quota-refuses",
    },
  ],
];

test.each(cases)("%s", (_, deployment, reasons) => {
  expect(told(deployment)).toEqual(reasons);
});

test("the experiments that can be made are as many as are told to cost something", () => {
  const made = [...ofPlain].filter(([, reason]) => reason === null);
  expect(made).toHaveLength(41);
  for (const { calls } of experiments) expect(calls).toBeGreaterThanOrEqual(1);
});

test.each(["/rooms/blue", "/rooms/blue/", "/rooms/blue/?first=1"])(
  "of %s the last name is sent in other letters",
  (path) => {
    const policy = parsePolicy({
      ...plain,
      ...{ operations: calling(1, { path }), routes: [{ path: "/**", operation: "call" }] },
    });
    const callers = [{ index: 0, name: "ann", attributes: { user: "ann" } }] as const;
    const lab = new Lab({
      policy,
      callers,
      alone: true,
      spend: 1,
      isTls: false,
      beganMs: 0,
      untilMs: 120_000,
    });
    const sent = ["letter-case-of-path", "percent-encoded"].map((name) => {
      const shape = shapes.find((each) => each.name === name);
      return shape
        ?.make(lab.shot(callers[0], "call"), lab)
        .map((shot) => shot.path.replace(/[/?]*(?:\?.*)?$/, ""));
    });
    expect(sent).toEqual([["/rooms/BLUE"], ["/rooms/%62lue"]]);
  },
);
