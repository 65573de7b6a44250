// Experiments on isolation in virtual time: calls of another operation, against counts that they do not use.
import { expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { findingOf, Played, readsAndWrites, type Sent, serving } from "./played.ts";

const limit = 100;
const windowOf = (name: string) => ({
  [name]: { algorithm: { kind: "fixed-window", limit, windowSeconds: 60, anchor: "epoch" }, key: ["user"] },
});
const policy = parsePolicy({
  ...{ version: 2, name: "two", quotas: { ...windowOf("reads"), ...windowOf("writes") } },
  ...readsAndWrites,
  wire: {
    revision: "1",
    readings: [
      {
        headers: { "X-Limit": "{limit}", "X-Left": "{remaining}", "X-Reset": "{reset}" },
        reset: { form: "delta-s", means: "window-end", round: "ceil" },
      },
    ],
  },
});

/** Judges reads beside writes, which are answered by a status and charged to reads so much. */
function judged(status: number, chargeOfWrite: number) {
  let used = 0;
  const server = ({ operation }: { readonly operation: string }, nowMs: number): Sent => {
    used += operation === "read" ? 1 : chargeOfWrite;
    const reset = String(Math.ceil((60_000 - (nowMs % 60_000)) / 1000));
    const headers = { "x-limit": String(limit), "x-left": String(limit - used), "x-reset": reset };
    return operation === "read" ? { status: 200, headers } : { status };
  };
  const played = new Played(server, 1, "epoch", { policy });
  return findingOf("other-operation", played, "read");
}

test("calls of another operation that are charged here break the law", () => {
  expect(judged(200, 0)).toEqual({ state: "kept" });
  expect(judged(200, 1)).toMatchObject({ state: "broken", expected: "calls of write are not charged here" });
});

test("calls of another operation that are refused show nothing", () => {
  expect(judged(429, 1)).toEqual({ state: "kept" });
  expect(judged(503, 1)).toMatchObject({ state: "broken" });
});

/** Judges calls without a known token, which are answered by a status and charged to a user's count so much. */
function strangers(
  name: string,
  status: number,
  charge: number,
  callsMost = Number.POSITIVE_INFINITY,
): object {
  const right = serving();
  let calls = 0;
  const played = new Played((shot, nowMs) => {
    if (shot.caller !== null) return right(shot, nowMs);
    calls += 1;
    for (let units = 0; units < charge && calls <= callsMost; units++)
      right({ ...shot, caller: user }, nowMs);
    return { status };
  });
  const [user = null] = played.lab.callers;
  return findingOf(name, played);
}

test.each(["no-token", "unknown-token"])("calls with %s are charged to nobody", (name) => {
  const why = "such calls are admitted";
  for (const status of [401, 400, 503, 0]) {
    expect(strangers(name, status, 0)).toEqual({ state: "kept" });
    expect(strangers(name, status, 1)).toMatchObject({
      state: "broken",
      expected: "they are charged to nobody",
      got: "requests 3",
    });
  }
  expect(strangers(name, 401, 1, 1)).toMatchObject({ state: "broken", got: "requests 1" });
  for (const status of [200, 302, 399])
    expect(strangers(name, status, 1)).toEqual({ state: "not exercised", why });
});

type Named = Readonly<Record<string, string>>;
const named = (org: string, user: string): Named => ({ org, user });

/** Judges callers of these organizations and users, whom a server counts by a key. */
function counted(name: string, callers: readonly Named[], keyOf: (caller: Named) => string) {
  const algorithm = { kind: "fixed-window", limit: 40, windowSeconds: 60, anchor: "epoch" };
  const own = parsePolicy({
    ...policy,
    quotas: { requests: { algorithm, key: ["org", "user"] } },
    operations: { read: { uses: { requests: 1 }, samples: [{ path: "/read" }] } },
    routes: [{ path: "/**", operation: "read" }],
    auth: { ...policy.auth, attributes: ["org", "user"] },
  } as never);
  const used = new Map<string, number>();
  const server = ({ attributes }: { readonly attributes: Named }): Sent => {
    const key = keyOf(attributes);
    used.set(key, (used.get(key) ?? 0) + 1);
    const left = String(40 - (used.get(key) ?? 0));
    return { status: 200, headers: { "x-limit": "40", "x-left": left, "x-reset": "60" } };
  };
  const attributesOf = (user: string): Named => callers[Number(user.split("-")[1])] ?? {};
  return findingOf(name, new Played(server, callers.length, "epoch", { policy: own, attributesOf }));
}

const long = "n".repeat(250);
test.each<[name: string, callers: readonly Named[], wrongKeyOf: (caller: Named) => string]>([
  ["other-user", [named("acme", "ann"), named("acme", "bob")], ({ org = "" }) => org],
  ["other-organization", [named("acme", "ann"), named("acme", "bob"), named("globex", "bob")], () => "all"],
  ["one-user-elsewhere", [named("acme", "ann"), named("globex", "ann")], ({ user = "" }) => user],
  ...["/", "-", ":", ".", "_", "|", ""].map((joint): [string, Named[], (caller: Named) => string] => [
    "names-once-joined",
    [named("a", `b${joint}c`), named(`a${joint}b`, "c")],
    ({ org, user }) => `${org}${joint}${user}`,
  ]),
  [
    "names-in-other-letters",
    [named("acme", "bob"), named("acme", "ann"), named("acme", "ANN")],
    ({ org, user }) => `${org}/${user}`.toLowerCase(),
  ],
  [
    "names-in-other-unicode",
    [named("acme", "bob"), named("acme", "\u00e4"), named("acme", "a\u0308")],
    ({ org, user }) => `${org}/${user}`.normalize("NFKC"),
  ],
  [
    "names-that-begin-alike",
    [named("acme", `${long}a`), named("acme", `${long}b`)],
    ({ org, user }) => `${org}\n${user}`.slice(0, 255),
  ],
])("%s of %j: each has a count of its own", (name, callers, wrongKeyOf) => {
  expect(counted(name, callers, ({ org, user }) => JSON.stringify([org, user]))).toEqual({ state: "kept" });
  expect(counted(name, callers, wrongKeyOf)).toMatchObject({
    ...{ state: "broken", expected: "3 calls of the other caller: charged to its own", got: "requests 3" },
  });
});
