// The audit against each fault of the catalogue that a network can show: found, and named by the right law. Right
// deployments stand among them, on the same busy processor: nothing is found in them.
// @module-tag real-time
import { expect, test } from "vitest";
import { experiments } from "../../src/audit/experiments.ts";
import { faults } from "../../src/faults/catalogue.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import type { LimiterLawName } from "../../src/rules/laws.ts";
import { audited, deployed, standIn, found as words } from "./deployment.ts";

/**
 * The laws that name a fault rightly, of which one is enough, and the experiments that go where it shows. All experiments
 * together are made by `npm run audits`, and here in right deployments.
 */
const named: Readonly<Record<string, readonly [laws: readonly LimiterLawName[], only: string]>> = {
  "race-read-then-write": [["bounded", "conserved"], "calls-at-once last-place-8"],
  "one-short": [["refusal-justified"], "cost-that-fits-exactly last-place-2"],
  "one-extra": [["bounded"], "last-place-2 last-place-8"],
  "cost-ignored": [["conserved", "refusal-justified"], "cost-as-told cost-that-fits-exactly"],
  "cost-over-limit-admitted": [["refusal-justified"], "cost-above-the-limit"],
  "double-count": [["conserved"], "cost-as-told"],
  "refused-counted": [["conserved", "all-or-nothing"], "refusal-is-free cost-above-the-limit"],
  "narrow-drains-broad": [["all-or-nothing"], "cost-above-the-limit refusal-is-free"],
  "status-charged": [["status-free"], "status-is-free"],
  "refusal-names-user": [["refusal-agrees"], "dear-refusal-names-the-quota"],
  "unenforced-refuses": [["unenforced-never-refuses"], "refusal-names-the-quota last-place-2"],
  "wrong-user-key": [["isolated"], "other-user"],
  "user-key-from-header": [["isolated"], "twin-forwarded-for"],
  "client-picks-key": [["isolated"], "twin-other-client"],
  "keys-hashed": [["isolated"], "each-caller-apart"],
  "scopes-mixed": [["isolated"], "other-operation"],
  "new-reset-old-count": [["recovers", "conserved"], "window-watched first-calls-at-once"],
  "two-interleaved-windows": [["reset-agrees"], "window-on-its-grid status-is-true"],
  "lost-expiry": [["recovers", "conserved"], "window-watched first-calls-at-once"],
  "immortal-by-polling": [["recovers", "conserved"], "window-watched first-calls-at-once"],
  "rearmed-per-hit": [["reset-agrees"], "window-watched"],
  "reset-all-sweep": [["monotone"], "window-watched"],
  "double-roll": [["monotone", "conserved"], "window-watched first-calls-at-once"],
  "status-opens-window": [["reset-agrees"], "pause-then-status-then-call"],
  "windows-back-to-back": [["reset-agrees"], "pause-then-status-then-call"],
  "organization-off-grid": [["reset-agrees"], "window-on-its-grid"],
  "per-instance-counters": [["conserved", "twice-at-most"], "calls-at-once twin-head"],
  "stale-replica-read": [["monotone"], "status-is-true"],
  "skewed-nodes": [["reset-agrees"], "window-on-its-grid status-reset-agrees"],
  "limit-changes-mid-window": [["limit-agrees"], "twin-head status-is-true"],
  "reset-in-ms": [["reset-agrees"], "window-on-its-grid status-reset-agrees"],
  "reset-epoch": [["reset-agrees"], "window-on-its-grid status-reset-agrees"],
  "reset-zero": [["reset-agrees"], "reset-of-the-last-second"],
  "reset-negative": [["reset-agrees"], "window-on-its-grid status-reset-agrees"],
  "reset-truncated": [["reset-agrees", "honest-wait"], "reset-of-the-last-second reset-is-kept"],
  "reset-at-drifts": [["reset-agrees"], "status-reset-agrees"],
  "reset-disagrees": [["reset-agrees"], "status-reset-agrees"],
  "stale-cached-reset": [["reset-agrees"], "reset-counts-down reset-is-kept refusal-is-free"],
  "status-pristine": [["monotone"], "status-is-true"],
  "status-shares-user": [["monotone"], "status-is-true"],
  "headers-missing-on-429": [["headers-present"], "headers-on-every-answer"],
  "headers-missing-on-status": [["headers-present"], "headers-on-every-answer"],
  "headers-doubled": [["headers-present"], "headers-on-every-answer"],
  "wrong-scope-header": [["headers-present"], "headers-on-every-answer"],
  "remaining-of-laxer-window": [["limit-agrees"], "headers-on-every-answer twin-head"],
  "scheme-letters-pick-key": [["conserved"], "twin-letter-case-of-scheme"],
  "names-collide": [["isolated"], "names-once-joined"],
  "status-refused-when-empty": [["status-free"], "status-while-empty"],
  "headers-missing-on-404": [["headers-present"], "answered-404"],
  "refusal-body-disagrees": [["refusal-agrees"], "refusal-names-the-quota"],
  "refusal-503": [["refusal-agrees"], "refusal-names-the-quota"],
  "refusal-shows-other-scope": [
    ["headers-present"],
    "headers-on-every-answer refusal-names-the-quota refusal-is-free",
  ],
  "rejected-query-charged": [["conserved"], "query-that-cannot-be-read"],
  "first-calls-lost": [["conserved"], "first-calls-at-once"],
  "rolls-early": [["reset-agrees", "monotone"], "window-watched"],
};

/** A network shows those that the oracle, the checks of a load or the audit must catch, but for two: a count of 2^32, one instant. */
const visible = faults
  .filter(({ nets }) => nets.some((net) => net !== "P"))
  .map(({ name }) => name)
  .filter((name) => name !== "overflow" && name !== "boundary-inclusive");

test("each fault that a network shows has its law here", () => {
  expect(Object.keys(named).toSorted()).toEqual(visible.toSorted());
});

/** Each has a server of its own: all of them under the oldest Node, one in four under others. */
const tried = process.versions.node.startsWith("20.")
  ? visible
  : visible.filter((_, place) => place % 4 === 0);

// A race shows by chance, and on a busy processor a window may end before its experiment: two audits, if one finds nothing.
test.concurrent.each(tried)("%s is found, and named by its law", { retry: 1 }, async (name) => {
  const [laws, only] = named[name] ?? [[], ""];
  const chosen = only.split(" ").map((each) => experiments.find((one) => one.name === each));
  const { serving, rules } = await deployed(name);
  try {
    const made = await audited(serving.url, rules, {
      experiments: chosen.filter((one) => one !== undefined),
      maxMs: 40_000,
    });
    expect(chosen).not.toContain(undefined);
    const found = made.result.rows.flatMap(({ broken }) => broken.map(({ law }) => law));
    const said = made.result.rows.map((row) => `${row.name} ${row.state} ${row.why ?? ""}`);
    expect(found, [...words(made), ...said].join("\n")).toEqual(
      expect.arrayContaining([expect.toBeOneOf([...laws])]),
    );
  } finally {
    await serving.close();
  }
});

test.concurrent.each([true, false])("nothing is found in the right deployment, alone: %s", async (alone) => {
  const { serving, rules } = await deployed(null);
  try {
    const made = await audited(serving.url, rules, { alone });
    expect(words(made)).toEqual([]);
    const kept = made.result.rows.filter(({ state }) => state === "kept");
    // A busy processor may leave one or the other unexercised, as no TLS and no cached answers do.
    expect(kept.length).toBeGreaterThan(experiments.length - 18);
  } finally {
    await serving.close();
  }
});

test.concurrent("nothing is found in a right stand-in of github", async () => {
  const { policy } = presets["github"] as (typeof presets)[string];
  const shortened = Object.entries(policy.quotas).map(([name, quota]) => {
    const { algorithm } = quota;
    const isMinute = "windowSeconds" in algorithm && algorithm.windowSeconds === 60;
    return [name, isMinute ? { ...quota, algorithm: { ...algorithm, windowSeconds: 3 } } : quota];
  });
  const github = parsePolicy({ ...policy, quotas: Object.fromEntries(shortened) });
  const serving = await standIn(github);
  try {
    const made = await audited(serving.url, github, { maxMs: 40_000 });
    expect(words(made)).toEqual([]);
    const kept = made.result.rows.filter(({ state }) => state === "kept").length;
    expect(kept).toBeGreaterThan(30);
  } finally {
    await serving.close();
  }
});

/** Calls to rooms use a quota of all, and one of the caller's that looks use, too. */
const rooms = parsePolicy({
  version: 2,
  name: "rooms",
  quotas: {
    room: {
      algorithm: { kind: "fixed-window", limit: 90, windowSeconds: 5 },
      key: ["room"],
    },
    own: { algorithm: { kind: "fixed-window", limit: 40, windowSeconds: 5 }, key: ["user"] },
  },
  operations: {
    look: { uses: { own: 1 }, samples: [{ path: "/me" }] },
    write: { uses: { room: 1, own: 1 }, samples: [{ path: "/rooms/blue" }, { path: "/rooms/green" }] },
  },
  routes: [
    { path: "/me", operation: "look" },
    { path: "/rooms/{room}", operation: "write" },
  ],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
  wire: {
    revision: "2026",
    readings: ["room", "own"].map((name) => ({
      quotas: [name],
      headers: { [`X-${name}`]: "{remaining}/{limit}", [`X-${name}-Reset`]: "{reset}" },
      reset: { form: "delta-s", means: "window-end", round: "ceil" },
    })),
    outcomes: [{ outcome: "refused", by: "{quota}", status: [429], headers: { "X-By": "{quota}" } }],
  },
});

/** The same, where each quota decides alone: a refused call is charged where there is room. */
const apart = parsePolicy({
  ...rooms,
  operations: { ...rooms.operations, write: { ...rooms.operations["write"], relation: "each-alone" } },
});

test.concurrent.each([
  { policy: rooms, state: "kept" },
  { policy: apart, state: "kept" },
  { policy: rooms, fault: "narrow-drains-broad", state: "broken" },
])(
  "a refusal by a quota that another operation used up is $state, with the fault $fault",
  { retry: 1 },
  async ({ policy, fault, state }) => {
    const names = ["refusal-by-other-quota", "other-resource", "refusal-is-free"];
    const some = experiments.filter(({ name }) => names.includes(name));
    const serving = await standIn(policy, fault);
    try {
      const { result } = await audited(serving.url, policy, { experiments: some, maxMs: 40_000 });
      const states = Object.fromEntries(result.rows.map((row) => [row.name, row.state]));
      expect(states, JSON.stringify(result.rows)).toMatchObject({
        "refusal-by-other-quota": state,
        "other-resource": "kept",
      });
      if (state === "kept") expect(states).toMatchObject({ "refusal-is-free": "kept", agreement: "kept" });
    } finally {
      await serving.close();
    }
  },
);
