// Limits of a target without a policy: calls at times that tell its windows, in virtual time.
import { describe, expect, test } from "vitest";
import { mappedBy, timeOf } from "../../src/cli/audit-map.ts";
import { NoAnswer } from "../../src/connect/no-answer.ts";
import type { Got } from "../../src/connect/send.ts";
import { parseTarget } from "../../src/connect/target.ts";
import { recorded } from "../support/recorded.ts";

/** 2.4 s before the end of a window of ten seconds. */
const startMs = Date.UTC(2026, 0, 5, 12, 0, 7, 600);

interface Api {
  readonly path?: string;
  readonly windowMs?: number;
  readonly limit?: number;
  /** Windows open with their first call. */
  readonly isFirst?: boolean;
  readonly isShared?: boolean;
  /** Each call counts so much. */
  readonly cost?: number;
  /** Ms that each way of a call takes, by its number. */
  readonly wayMs?: (call: number) => number;
  readonly change?: (got: Got, call: number) => Got;
  readonly over?: AbortController;
  readonly tokens?: readonly { token: string; attributes: Record<string, string> }[];
}

const ann = { token: "secret-of-ann", attributes: { user: "ann" } };
const bob = { token: "secret-of-bob", attributes: { user: "bob" } };

/** Maps an API of one window; all that it was asked, and when, since the start. */
async function mapOf({
  path = "/v1/items",
  windowMs = 10_000,
  limit = 100,
  isFirst = false,
  isShared = false,
  cost = 1,
  wayMs = () => 5,
  change = (got) => got,
  tokens = [ann],
  over = new AbortController(),
}: Api) {
  let nowMs = startMs;
  const asked: [atMs: number, token: string][] = [];
  const counts = new Map<string, { endMs: number; count: number }>();
  const send = async ({ token, url, method }: { token: string | null; url: string; method: string }) => {
    expect([method, url]).toEqual(["GET", `http://127.0.0.1:1${path}`]);
    const call = asked.push([nowMs - startMs, (token ?? "").slice(10)]);
    nowMs += wayMs(call);
    const key = isShared ? "" : (token ?? "");
    const known = counts.get(key);
    const endMs = isFirst ? nowMs + windowMs : nowMs - (nowMs % windowMs) + windowMs;
    const window = known !== undefined && known.endMs > nowMs ? known : { endMs, count: 0 };
    counts.set(key, window);
    window.count += cost;
    const headers = {
      date: new Date(nowMs).toUTCString(),
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(limit - window.count),
      "x-ratelimit-reset": String(Math.ceil((window.endMs - nowMs) / 1000)),
    };
    nowMs += wayMs(call);
    return change({ status: 200, headers, body: "{}" }, call);
  };
  const kept = recorded();
  const around = {
    send: send as never,
    now: () => nowMs,
    sleep: async (ms: number, signal: AbortSignal) => {
      signal.throwIfAborted();
      nowMs += ms;
    },
  };
  const given = { target: parseTarget("--target", `http://127.0.0.1:1${path}`), tokensFile: "t.json" };
  const limits = await mappedBy(around, kept.terminal, given, tokens, over.signal).catch(
    (error: unknown) => error,
  );
  return {
    ...kept,
    limits: limits as Awaited<ReturnType<typeof mappedBy>>,
    asked,
    times: asked.map(([at]) => at),
  };
}

describe("an API of one window", () => {
  test("on a grid is called three times, around the end of its window, and once off the grid", async () => {
    const { limits, times, lines, progress } = await mapOf({});
    expect(times).toMatchInlineSnapshot(`
      [
        0,
        2360,
        4720,
        12380,
        12590,
        26300,
      ]
    `);
    expect(progress).toMatchInlineSnapshot(`
      [
        "map: call 1",
        "map: waits 3 s for the next window",
        "map: call 2",
        "map: waits 3 s for the next window",
        "map: call 3",
        "map: waits 8 s for the next window",
        "map: call 4",
        "map: call 5",
        "map: waits 14 s for the next window",
        "map: call 6",
      ]
    `);
    expect(lines).toMatchInlineSnapshot(`
      [
        "6 answers; their format is written out below wire",
        "  requests  Each user may use 100 requests in each 10 seconds. Windows lie on the grid of Unix time. Calls that it refuses cost nothing.",
        "",
        "Not settled by these answers (3):",
        "  1. quotas: Each quota is taken to be a user's; the answers are those of 1 caller.",
        "     to find out Call with two tokens of one organization: a quota that both use up is the organization's.",
        "  2. quotas.requests.algorithm.anchor: 4 resets lay within 1 s of the grid of 10 s.",
        "     to find out Pause for more than one window, call once, and see whether the reset is a whole window away.",
        "  3. wire.outcomes: No refusal was seen; the usual status of one is assumed.",
        "     to find out Call until you are refused, and give that answer to map, too.",
      ]
    `);
    expect(limits).toMatchInlineSnapshot(`
      {
        "assumptions": [
          "limits are as map proposes them by 6 answers of /v1/items",
          "quotas: Each quota is taken to be a user's; the answers are those of 1 caller",
          "quotas.requests.algorithm.anchor: 4 resets lay within 1 s of the grid of 10 s",
          "wire.outcomes: No refusal was seen; the usual status of one is assumed",
        ],
        "policy": {
          "auth": {
            "attributes": [
              "user",
            ],
            "form": "Bearer {token}",
            "header": "Authorization",
          },
          "name": "my-api",
          "operations": {
            "call": {
              "relation": "all-or-nothing",
              "samples": [
                {
                  "cost": 1,
                  "headers": {},
                  "method": "GET",
                  "path": "/v1/items",
                },
              ],
              "uses": {
                "requests": 1,
              },
            },
          },
          "overrides": [],
          "provoke": {},
          "quotas": {
            "requests": {
              "algorithm": {
                "anchor": "epoch",
                "kind": "fixed-window",
                "limit": 100,
                "opens": "exact",
                "windowSeconds": 10,
              },
              "charge": {
                "fits": "whole",
                "refused": "nothing",
                "refusedByOther": "nothing",
                "when": "admission",
              },
              "enforced": true,
              "key": [
                "user",
              ],
              "shown": {
                "remaining": "clamped",
                "reset": "ceil",
                "retryAfter": true,
              },
              "unit": "requests",
            },
          },
          "routes": [
            {
              "attributes": {},
              "operation": "call",
              "path": "/**",
            },
          ],
          "version": 2,
          "wire": {
            "cached": [],
            "outcomes": [],
            "readings": [
              {
                "body": {},
                "headers": {
                  "x-ratelimit-limit": "{limit}",
                  "x-ratelimit-remaining": "{remaining}",
                  "x-ratelimit-reset": "{reset}",
                },
                "on": [
                  "admitted",
                  "refused",
                ],
                "reset": {
                  "form": "delta-s",
                  "means": "window-end",
                },
              },
            ],
            "retryAfter": [],
            "revision": "observed",
          },
        },
        "rules": null,
        "target": {
          "base": "http://127.0.0.1:1",
          "host": "127.0.0.1",
          "origin": "http://127.0.0.1:1",
          "url": "http://127.0.0.1:1",
        },
        "tokens": [
          {
            "attributes": {
              "user": "ann",
            },
            "token": "secret-of-ann",
          },
        ],
        "unsettled": undefined,
      }
    `);
  });

  test("that opens with its first call is told from a grid by the call between two", async () => {
    const { limits, times } = await mapOf({ isFirst: true, windowMs: 8_000 });
    expect(times).toMatchInlineSnapshot(`
      [
        0,
        2360,
        4720,
        7660,
        7870,
        8080,
        19050,
      ]
    `);
    expect([limits.policy.quotas, limits.unsettled]).toMatchInlineSnapshot(`
      [
        {
          "requests": {
            "algorithm": {
              "anchor": "first-request",
              "kind": "fixed-window",
              "limit": 100,
              "opens": "exact",
              "windowSeconds": 8,
            },
            "charge": {
              "fits": "whole",
              "refused": "nothing",
              "refusedByOther": "nothing",
              "when": "admission",
            },
            "enforced": true,
            "key": [
              "user",
            ],
            "shown": {
              "remaining": "clamped",
              "reset": "ceil",
              "retryAfter": true,
            },
            "unit": "requests",
          },
        },
        undefined,
      ]
    `);
  });

  test("that is longer than a minute and a half is not waited for, and left open", async () => {
    expect((await mapOf({ windowMs: 100_000, isFirst: true })).times).toEqual([0, 2_360, 4_720]);
    const { limits, times } = await mapOf({ windowMs: 3_600_000 });
    expect(times).toEqual([0, 2_360, 4_720]);
    expect(limits.unsettled).toMatchInlineSnapshot(
      `"answers do not settle the limit and the windows of requests: give a policy that says them"`,
    );
  });

  test("whose end never comes is looked at twelve times, twice", async () => {
    const reset = String(startMs / 1000 + 8.4);
    const stuck = (got: Got) => ({ ...got, headers: { ...got.headers, "x-ratelimit-reset": reset } });
    const { limits, times } = await mapOf({ change: stuck });
    expect(times).toMatchInlineSnapshot(`
      [
        0,
        2360,
        4720,
        8050,
        8260,
        8470,
        8680,
        8890,
        9100,
        9310,
        9520,
        9730,
        9940,
        10150,
        10360,
        10370,
        10580,
        10790,
        11000,
        11210,
        11420,
        11630,
        11840,
        12050,
        12260,
        12470,
        12680,
        26390,
      ]
    `);
    expect(limits.unsettled).toMatchInlineSnapshot(
      `"answers do not settle the limit and the windows of requests: give a policy that says them"`,
    );
  });

  test("is asked again where an answer took long, three times at most", async () => {
    const slow = await mapOf({ wayMs: (call) => (call <= 2 ? 101 : 5) });
    expect(slow.times.slice(0, 4)).toEqual([0, 202, 404, 2_764]);
    const slowest = await mapOf({ wayMs: (call) => (call <= 9 ? 150 : 5) });
    expect(slowest.times.slice(0, 10)).toMatchInlineSnapshot(`
      [
        0,
        300,
        600,
        3250,
        3550,
        3850,
        6500,
        6800,
        7100,
        12050,
      ]
    `);
    const fast = await mapOf({ wayMs: () => 100 });
    expect(fast.times.slice(0, 3)).toEqual([0, 2_550, 5_100]);
  });
});

describe("callers", () => {
  const tokens = [ann, bob];
  const keyOf = ({ limits }: Awaited<ReturnType<typeof mapOf>>) => limits.policy.quotas["requests"]?.key;

  test("of two tokens share a count if calls of the one show in the other's", async () => {
    const apart = await mapOf({ tokens });
    expect(apart.asked.slice(-3).map(([, name]) => name)).toEqual(["ann", "bob", "ann"]);
    expect(keyOf(apart)).toMatchInlineSnapshot(`
      [
        "user",
      ]
    `);
    expect(apart.limits.assumptions).toMatchInlineSnapshot(`
      [
        "limits are as map proposes them by 9 answers of /v1/items",
        "quotas: Each quota is taken to be a user's; the answers are those of 1 caller",
        "quotas.requests.algorithm.anchor: 4 resets lay within 1 s of the grid of 10 s",
        "wire.outcomes: No refusal was seen; the usual status of one is assumed",
      ]
    `);
    const shared = await mapOf({ tokens, isShared: true });
    expect(keyOf(shared)).toEqual([]);
    expect(shared.limits.assumptions.at(-1)).toMatchInlineSnapshot(
      `"quotas.requests.key: two tokens use up one count, so all callers share it"`,
    );
    const dear = await mapOf({ tokens, isShared: true, cost: 2 });
    expect(keyOf(dear)).toEqual([]);
  });

  test("are named by the policy's attributes, or by their user where there is one attribute", async () => {
    expect((await mapOf({ tokens })).limits.tokens).toMatchInlineSnapshot(`
      [
        {
          "attributes": {
            "user": "ann",
          },
          "token": "secret-of-ann",
        },
        {
          "attributes": {
            "user": "bob",
          },
          "token": "secret-of-bob",
        },
      ]
    `);
    const unnamed = { token: "secret-of-eve", attributes: { org: "acme", team: "a" } };
    expect((await mapOf({ tokens: [unnamed] })).limits).toMatchInlineSnapshot(`
      [SpillwayError: the proposed policy tells callers apart by what these tokens do not say
        tokens: got org, team, allowed: user]
    `);
  });
});

test("a call that is dearer than its limit's step, and a target without a path, are mapped as others", async () => {
  const { limits } = await mapOf({ path: "", cost: 3, tokens: [ann, bob], isShared: true });
  expect(limits.policy.operations["call"]?.samples).toMatchObject([{ path: "/" }]);
  expect(limits.policy.quotas["requests"]?.key).toEqual([]);
});

test("a slash at the end of the target's URL stays", async () => {
  const { limits } = await mapOf({ path: "/v1/items/" });
  expect(limits.policy.operations["call"]?.samples).toMatchObject([{ path: "/v1/items/" }]);
});

test("an answer's time is this machine's unless it took long, or the clocks differ", () => {
  const date = "Mon, 05 Jan 2026 12:00:00 GMT";
  const noonMs = Date.UTC(2026, 0, 5, 12);
  const at = (nowMs: number, sentMs = nowMs, shown: string | undefined = date) =>
    timeOf(sentMs, nowMs, shown);
  expect(at(noonMs)).toBe(noonMs);
  expect([at(noonMs, noonMs - 200), at(noonMs, noonMs - 201)]).toEqual([noonMs, null]);
  expect([at(noonMs - 1_000), at(noonMs - 1_001)]).toEqual([noonMs - 1_000, null]);
  expect([at(noonMs + 2_000), at(noonMs + 2_001)]).toEqual([noonMs + 2_000, null]);
  expect(timeOf(noonMs, noonMs, undefined)).toBe(noonMs);
});

describe("what cannot be mapped", () => {
  const said = async (api: Api) => {
    const { limits, times } = await mapOf(api);
    const { code, problems, hint } = limits as never as Record<string, unknown>;
    return [times.length, code, problems, hint];
  };
  const bare = (got: Got) => ({ ...got, headers: { date: got.headers["date"] } });

  test("is an answer without limits", async () => {
    expect(await said({ change: bare })).toMatchInlineSnapshot(`
      [
        3,
        "TARGET_UNREACHABLE",
        [
          {
            "allowed": "an answer that shows limits",
            "got": "200 without a header or member of a limit",
            "path": "GET http://127.0.0.1:1/v1/items",
          },
        ],
        "give the URL of a call that shows its limits, or a policy: spillway map answers.txt -o my-api.json",
      ]
    `);
    const missing = (got: Got, call: number) => ({ ...bare(got), status: call < 3 ? 200 : 404 });
    expect(await said({ change: missing, path: "" })).toMatchInlineSnapshot(`
      [
        3,
        "TARGET_UNREACHABLE",
        [
          {
            "allowed": "an answer that shows limits",
            "got": "404 without a header or member of a limit",
            "path": "GET http://127.0.0.1:1",
          },
        ],
        "give the URL of a call that shows its limits, or a policy: spillway map answers.txt -o my-api.json",
      ]
    `);
  });

  test.each([401, 403])(
    "is a target that does not know the token, maybe as it is not sent so: %i",
    async (status) => {
      const [calls, code, problems, hint] = await said({ change: (got) => ({ ...bare(got), status }) });
      expect([calls, code, problems]).toMatchObject([
        3,
        "TARGET_UNREACHABLE",
        [{ got: expect.stringContaining(`${status}`) }],
      ]);
      expect(hint).toContain("a policy says so by its member auth");
    },
  );

  test("is a target that does not answer", async () => {
    const silent = (): never => {
      throw new NoAnswer("refused");
    };
    expect(await said({ change: silent })).toMatchInlineSnapshot(`
      [
        1,
        "TARGET_UNREACHABLE",
        [
          {
            "allowed": "an answer that shows limits",
            "got": "connection refused",
            "path": "GET http://127.0.0.1:1/v1/items",
          },
        ],
        "is it running, and is this its address?",
      ]
    `);
    const stopping = (got: Got, call: number): Got => {
      if (call < 2) return got;
      over.abort(new Error("enough"));
      throw new NoAnswer("refused");
    };
    const over = new AbortController();
    expect((await mapOf({ change: stopping, over })).limits).toEqual(new Error("enough"));
    const odd = (): never => {
      throw new TypeError("odd");
    };
    expect((await mapOf({ change: odd })).limits).toBeInstanceOf(TypeError);
  });
});
