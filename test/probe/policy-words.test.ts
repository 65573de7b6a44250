// The probe by a policy, word for word: what it says of each member, of right deployments and of answers that are changed
// on their way; when it stops; and a status, as it is read. `npm test -- test/probe/policy-words.test.ts -u` writes
// `pinned/parcels.md` anew; read the difference.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { NoAnswer } from "../../src/connect/no-answer.ts";
import type { Got } from "../../src/connect/send.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { PolicyStatusReader } from "../../src/probe/policy-status.ts";
import { caller, type Drawn, policyOf, probed } from "./parcels.ts";

type Rewrite = (name: string, value: string) => string;
const added =
  (header: string, by: number): Rewrite =>
  (name, value) =>
    name === header ? String(Math.max(0, Number(value) + by)) : value;

const real: Drawn = { limit: 9, windowSeconds: 11 };
const worlds: Readonly<Record<string, readonly [real: Drawn, claimed: Drawn, rewrite?: Rewrite]>> = {
  "as it is": [real, real],
  "of another policy": [real, { limit: 30, windowSeconds: 45, writes: 1 }],
  "windows of the first call": [{ ...real, anchor: "first-request", form: "epoch-s" }, real],
  "windows of a grid, refusals counted": [
    { limit: 8, windowSeconds: 13, anchor: { offsetMs: 4000 }, refused: "counted" },
    { limit: 8, windowSeconds: 13, anchor: "first-request" },
  ],
  "ends in ms": [
    { ...real, form: "delta-ms", writes: 2 },
    { ...real, form: "delta-ms" },
  ],
  "one more is shown": [real, real, added("x-limit", 1)],
  "one more is used": [real, real, added("x-used", 1)],
  "ends a second late": [real, real, added("x-reset", 1)],
  "ends in ms that are read as seconds": [{ ...real, form: "delta-ms" }, real],
  "waits that are too short": [real, real, added("retry-after", -3)],
  "waits of another form": [real, real, (name, value) => (name === "retry-after" ? `${value}.5s` : value)],
  "no count": [real, real, (name, value) => (name === "x-used" ? "many" : value)],
  "no end": [real, real, (name, value) => (name === "x-reset" ? "soon" : value)],
};

test("what it says of each member", async () => {
  const texts: string[] = [];
  for (const [name, [deployed, claimed, rewrite]] of Object.entries(worlds)) {
    const said: string[] = [];
    const report = await probed(
      policyOf(deployed),
      policyOf(claimed),
      { allowance: { calls: 70, waitMs: 60_000 }, onProgress: ({ doing }) => void said.push(doing) },
      rewrite,
    );
    const digest = createHash("sha256")
      .update(JSON.stringify([report, said]))
      .digest("hex")
      .slice(0, 12);
    texts.push(
      [
        `## ${name}, ${JSON.stringify(report.ended)}, ${digest}`,
        ...report.findings.map(
          ({ quota, name: member, operation = "", value, said: policy, confidence, evidence, needs }) =>
            `- ${[quota, member, operation].filter((word) => word !== "").join(" ")}: ${value}, ${policy} said, ${confidence}: ${evidence}${needs ? `; needs ${needs}` : ""}`,
        ),
      ].join("\n"),
    );
  }
  await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("./pinned/parcels.md");
});

describe("it stops", () => {
  const answered = (status: number, from: number, until = Number.POSITIVE_INFINITY) =>
    probed(policyOf(real), policyOf(real), { allowance: { waitMs: 0 } }, undefined, (got, call) => {
      if (call < from || call > until) return got;
      if (status === 0) throw new NoAnswer("reset");
      return { ...got, status };
    });
  const closed = "the connection was closed without an answer";

  test.each([
    [0, 3, `call 6 (write) was answered ${closed}`, 6],
    [503, 2, "call 5 (write) was answered 503", 5],
    [401, 3, "call 3 (look) was answered 401", 3],
    [302, 2, "call 2 (look) was answered 302", 2],
    [404, 4, "call 4 (look) was answered 404", 4],
  ])("at answers of %d from call %d on", async (status, from, stopped, calls) => {
    const report = await answered(status, from);
    expect([report.ended, report.trace.length - 1]).toEqual([{ stopped }, calls]);
  });

  test.each([
    [503, 2, 4],
    [0, 2, 4],
    [304, 3, 6],
  ])("not at answers of %d from call %d to call %d", async (status, from, until) => {
    expect((await answered(status, from, until)).ended).toBe("whole");
  });

  test.each([
    [0, closed, "is this the API's address, and its policy?"],
    [401, "401", "is this a token of this target?"],
    [404, "404", "is this the API's address, and its policy?"],
  ])("at a first answer of %d with an error", async (status, got, hint) => {
    await expect(answered(status, 1)).rejects.toMatchObject({
      code: "TARGET_UNREACHABLE",
      problems: [{ path: "--target", got, allowed: "an answer to the policy's own samples" }],
      hint,
    });
  });

  test("before any call of a policy without samples", async () => {
    const { operations, ...policy } = JSON.parse(JSON.stringify(policyOf(real)));
    const bare = parsePolicy({
      ...policy,
      operations: Object.fromEntries(
        Object.entries(operations as Policy["operations"]).map(([name, { samples: _, ...one }]) => [
          name,
          one,
        ]),
      ),
    });
    await expect(probed(policyOf(real), bare)).rejects.toMatchObject({
      code: "POLICY_INVALID",
      problems: [
        { path: "operations", got: "no samples", allowed: "a request of `samples` that a probe may send" },
      ],
    });
  });
});

describe("a status", () => {
  const atMs = Date.UTC(2026, 0, 2, 3, 0, 0);
  const statusOf = (headers: Got["headers"], form: "delta-s" | "epoch-s" = "delta-s", status = 200) => {
    const times = [atMs - 40, atMs];
    return new PolicyStatusReader({
      ...{ policy: policyOf({ ...real, form }), target: "http://127.0.0.1:1", caller },
      send: async () => ({ status, headers, body: "" }),
      now: () => times.shift() ?? Number.NaN,
    }).read();
  };
  const short = (more: object) => [{ quota: "short", limit: 9, used: 4, endsAtMs: null, ...more }];

  test.each([
    ["spans", { "x-reset": "5" }, "delta-s", short({ endsAtMs: atMs + 5_000 })],
    ["spans beyond the window", { "x-reset": "99" }, "delta-s", short({ endsAtMs: atMs + 11_000 })],
    ["no end", {}, "delta-s", short({})],
    ["instants", { "x-reset": `${atMs / 1000 + 7}` }, "epoch-s", short({ endsAtMs: atMs + 7_000 })],
    [
      "instants beyond the window",
      { "x-reset": `${atMs / 1000 + 70}` },
      "epoch-s",
      short({ endsAtMs: atMs + 11_000 }),
    ],
  ] as const)("of %s", async (_, headers, form, quotas) => {
    expect(await statusOf({ "x-limit": "9", "x-used": "4", ...headers }, form)).toEqual({
      ...{ policy: "parcels", caller: { client: "ann" }, atMs, skewMs: null },
      quotas,
    });
  });

  test("of a calendar's window ends when it says", async () => {
    const { quotas, ...policy } = JSON.parse(JSON.stringify(policyOf(real)));
    const algorithm = { kind: "fixed-window", limit: 9, anchor: { calendar: "day", zone: "UTC" } };
    const reader = new PolicyStatusReader({
      policy: parsePolicy({ ...policy, quotas: { ...quotas, short: { ...quotas.short, algorithm } } }),
      ...{ target: "http://127.0.0.1:1", caller },
      send: async () => ({
        status: 200,
        headers: { "x-limit": "9", "x-used": "4", "x-reset": "7200" },
        body: "",
      }),
      now: () => atMs,
    });
    expect((await reader.read()).quotas).toEqual(short({ endsAtMs: atMs + 7_200_000 }));
  });

  test("takes off how far the target's clock is from this one, half of the way and half a second counted", async () => {
    const date = new Date(atMs + 3_000).toUTCString();
    const headers = { "x-limit": "9", "x-used": "4", "x-reset": `${atMs / 1000 + 7}`, date };
    const { skewMs, quotas } = await statusOf(headers, "epoch-s");
    expect([skewMs, quotas]).toEqual([3_520, short({ endsAtMs: atMs + 3_480 })]);
  });

  test("counts what is used from what remains", async () => {
    const { wire, ...policy } = JSON.parse(JSON.stringify(policyOf(real)));
    const readings = [
      { quotas: ["short"], on: ["status"], headers: { "X-Limit": "{limit}", "X-Left": "{remaining}" } },
    ];
    const reader = (headers: Got["headers"]) =>
      new PolicyStatusReader({
        ...{
          policy: parsePolicy({ ...policy, wire: { ...wire, readings } }),
          target: "http://127.0.0.1:1",
          caller,
        },
        send: async () => ({ status: 200, headers, body: "" }),
        now: () => atMs,
      }).read();
    expect((await reader({ "x-limit": "9", "x-left": "3" })).quotas).toEqual(short({ used: 6 }));
    await expect(reader({ "x-limit": "9" })).rejects.toThrow("an answer of 200 that shows no quota");
    await expect(reader({ "x-left": "9" })).rejects.toThrow("an answer of 200 that shows no quota");
  });

  test("is none where there is no answer, and other errors are thrown as they are", async () => {
    const failing = (error: Error) =>
      new PolicyStatusReader({
        ...{ policy: policyOf(real), target: "http://127.0.0.1:1", caller },
        send: () => Promise.reject(error),
      }).read();
    await expect(failing(new NoAnswer("timeout"))).rejects.toMatchObject({
      code: "TARGET_UNREACHABLE",
      problems: [
        {
          path: "--target",
          got: "no answer in time",
          allowed: "an answer that shows quotas as the policy's wire says",
        },
      ],
    });
    await expect(failing(new TypeError("mine"))).rejects.toThrow(new TypeError("mine"));
  });
});
