// A hand on a live deployment: what it may read, how far its budget goes, and what ends it.
import { describe, expect, test } from "vitest";
import { NoAnswer } from "../../src/connect/no-answer.ts";
import type { Ask, Got } from "../../src/connect/send.ts";
import { LiveCaller, type LiveOptions, resourceOf } from "../../src/probe/live.ts";
import { clockedLimiter } from "../../src/probe/live-adapter.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { type Token, type TokenScope, tokenScopes } from "../../src/rules/tokens.ts";
import { statusBody } from "../../src/wire/bodies.ts";

const ann: Token = { token: "t-ann", user: "ann", organization: "ac me", scopes: tokenScopes };
const shown = {
  "ratelimit-scope": "rest",
  "ratelimit-limit": "5",
  "ratelimit-remaining": "4",
  "ratelimit-reset": "3",
};

/** A deployment of such answers, each 2 ms after its call; the last of them for ever. */
class Answering {
  nowMs = 1000;
  readonly asked: Ask[] = [];
  readonly slept: number[] = [];
  readonly #answers: (number | NoAnswer | Got)[];

  constructor(...answers: (number | NoAnswer | Got)[]) {
    this.#answers = answers;
  }

  live(options: Partial<LiveOptions> = {}): LiveCaller {
    return new LiveCaller({
      base: "http://127.0.0.1:1",
      callers: [ann],
      budget: { calls: 100, ms: 10_000 },
      now: () => this.nowMs,
      sleep: async (ms) => {
        this.slept.push(ms);
        this.nowMs += ms;
      },
      send: async (ask) => {
        this.asked.push(ask);
        this.nowMs += 2;
        const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
        if (answer instanceof NoAnswer) throw answer;
        return typeof answer === "object" ? answer : { status: answer ?? 200, headers: {}, body: "" };
      },
      ...options,
    });
  }
}

test.each<[TokenScope[], string | null]>([
  [["read_organizations", "read_pipelines"], "/v2/organizations/ac%20me"],
  [["read_pipelines", "read_user"], "/v2/organizations/ac%20me/pipelines?per_page=1"],
  [["read_user"], "/v2/user"],
  [["graphql"], null],
  [[], null],
])("with the scopes %j a token reads %j", (scopes, path) => {
  expect(resourceOf({ ...ann, scopes })).toBe(path);
  expect(new Answering(200).live({ callers: [{ ...ann, scopes }] }).callers).toHaveLength(
    path === null ? 0 : 1,
  );
});

/** Makes so many calls. @returns how many were made, and why no more are */
async function ends(
  calls: number,
  ...answers: (number | NoAnswer | Got)[]
): Promise<[number, string | null]> {
  const live = new Answering(...answers).live();
  for (let call = 0; call < calls; call++) await live.read(ann).catch(() => null);
  return [live.calls, live.ended === null ? null : `${live.ended.why}: ${live.ended.message}`];
}
const silence = new NoAnswer("timeout", "late");
const read = "GET /v2/organizations/ac%20me";

describe("a deployment is asked no more", () => {
  test.each<[answers: (number | NoAnswer | Got)[], calls: number, why: string | null]>([
    [[200], 9, null],
    [[503, 503, 200, 503, 503, 200], 9, null],
    [[500, 599, 503], 3, "unwelcome: 3 calls in a row were answered 503"],
    [[499], 9, null],
    [[silence, 200, silence, 200], 9, null],
    [[silence], 2, "unwelcome: 2 calls in a row had no answer (timeout)"],
    [[200, 401], 2, `unwelcome: ${read} was answered 401`],
    [[402], 9, null],
    [[299], 9, null],
    [[300], 1, `unwelcome: ${read} was answered 300`],
    [[399], 1, `unwelcome: ${read} was answered 399`],
    [[400], 9, null],
    [[403], 1, `unwelcome: ${read} was answered 403 by something that is not the rate limiter`],
    [[429], 1, `unwelcome: ${read} was answered 429 by something that is not the rate limiter`],
    [[{ status: 429, headers: shown, body: "" }], 9, null],
    [[{ status: 403, headers: shown, body: "" }], 9, null],
  ])("after answers of %j", async (answers, calls, why) => {
    expect(await ends(9, ...answers)).toEqual([calls, why]);
  });

  test("once its calls or its time are used up", async () => {
    const few = new Answering(200).live({ budget: { calls: 2, ms: 10_000 } });
    await few.read(ann);
    await few.status(ann);
    expect(few.leftCalls).toBe(0);
    await expect(few.read(ann)).rejects.toMatchObject({
      name: "AbortError",
      why: "budget",
      message: "the calls that were allowed are used up",
    });
    // The first call begins it, and takes 2 ms.
    const short = new Answering(200).live({ budget: { calls: 9, ms: 4 } });
    expect(short.leftMs).toBe(4);
    await short.read(ann);
    expect(short.leftMs).toBe(2);
    await short.read(ann);
    await expect(short.read(ann)).rejects.toMatchObject({ message: "the time that was allowed is used up" });
    await expect(short.wait(1)).rejects.toThrow("the time that was allowed is used up");
  });

  test("once it is interrupted: before a call, during one, or in a wait", async () => {
    const over = new AbortController();
    const deployment = new Answering(200);
    const live = deployment.live({ signal: over.signal });
    await live.read(ann);
    over.abort();
    await expect(live.read(ann)).rejects.toMatchObject({ why: "interrupted" });
    expect(deployment.asked).toHaveLength(1);
    for (const work of ["send", "sleep"] as const) {
      const later = new AbortController();
      const stopped = async (): Promise<never> => {
        later.abort();
        throw new Error("stopped");
      };
      const one = new Answering(200).live({ signal: later.signal, [work]: stopped });
      await expect(work === "send" ? one.read(ann) : one.wait(5)).rejects.toMatchObject({
        why: "interrupted",
        message: "interrupted",
      });
    }
    const broken = async (): Promise<never> => {
      throw new TypeError("a mistake of ours");
    };
    await expect(new Answering(200).live({ sleep: broken }).wait(5)).rejects.toThrow(TypeError);
    await expect(new Answering(200).live({ send: broken }).read(ann)).rejects.toThrow(TypeError);
  });
});

test("waits as long as its time allows, and not at all for longer", async () => {
  const deployment = new Answering(200);
  const live = deployment.live({ budget: { calls: 9, ms: 100 } });
  for (const ms of [-1, 0, 101, 100, 1]) await live.wait(ms);
  await live.read(ann);
  for (const ms of [99, 98]) await live.wait(ms);
  expect(deployment.slept).toEqual([100, 1, 98]);
});

describe("a deployment whose clock a header sets", () => {
  const rules = parseRules({
    organization: { rest: { limit: 5, windowSeconds: 6 } },
    user: { rest: { limit: 3, windowSeconds: 4 } },
    users: { "ac me/ann": { rest: { limit: 2, windowSeconds: 10 } } },
  });
  const limiterOf = (deployment: Answering, nowMs: number) =>
    clockedLimiter(deployment.live({ callers: [ann, { ...ann, user: "bob", token: "t-bob" }] }), {
      ...{ name: "live", rules, clockHeader: "x-now", nowMs },
    });
  const call = { organization: "ac me", user: "ann" };

  test("plays each run later than all before it, by a multiple of all windows", async () => {
    const deployment = new Answering({ status: 200, headers: shown, body: "" });
    const limiter = limiterOf(deployment, 100_000);
    const first = limiter.create();
    await first.decide(call, 1_000);
    await first.decide(call, 7_500);
    await limiter.create().decide(call, 1_000);
    await limiter.create().decide(call, 10_000_000);
    // 60 s is the least multiple of 6, 4 and 10 s; a run begins two of the longest windows behind what was seen.
    expect(deployment.asked.map(({ headers }) => Number(headers?.["x-now"]))).toEqual([
      121_000, 127_500, 181_000, 10_000_000,
    ]);
    expect(limiter).toMatchObject({
      name: "live",
      algorithm: "fixed-window",
      callers: { "ac me": ["ann", "bob"] },
      scopes: ["rest"],
    });
  });

  test("shows what its answers show", async () => {
    const refusal = { message: "slow down" };
    const deployment = new Answering(
      {
        status: 200,
        headers: { ...shown, "ratelimit-user-limit": "2", "ratelimit-user-reset": "soon" },
        body: "",
      },
      { status: 429, headers: { ...shown, "retry-after": "3" }, body: JSON.stringify(refusal) },
      { status: 404, headers: {}, body: "" },
      silence,
    );
    const limiter = limiterOf(deployment, 0).create();
    expect(limiter.answer()).toBeNull();
    expect(await limiter.decide(call, 0)).toEqual({
      ...{ admitted: true, refusedBy: null },
      ...{ organization: { limit: 5, remaining: 4, reset: 3 }, user: { limit: 2 } },
    });
    expect(limiter.answer()).toMatchObject({
      status: 200,
      headers: { "RateLimit-Limit": 5, "RateLimit-User-Limit": 2 },
    });
    expect(limiter.answer()).not.toHaveProperty("body");
    expect(await limiter.decide(call, 0)).toMatchObject({ admitted: false });
    expect(limiter.answer()).toMatchObject({ status: 429, headers: { "Retry-After": 3 }, body: refusal });
    await expect(limiter.decide(call, 0)).rejects.toThrow("was answered 404");
    await expect(limiter.decide(call, 0)).rejects.toThrow("had no answer (timeout)");
    await expect(limiter.decide({ ...call, user: "eve" }, 0)).rejects.toThrow("no token for ac me/eve");
  });

  test("shows its status by the time of the run, with the headers of that answer", async () => {
    const window = { limit: 5, current: 1, reset: 3, resetAtMs: 124_000, enforced: true };
    const body = JSON.stringify(statusBody({ rest: window, graphql: window }));
    const deployment = new Answering(
      { status: 200, headers: shown, body },
      { status: 200, headers: {}, body: "{}" },
    );
    const limiter = limiterOf(deployment, 100_000).create();
    expect(await limiter.status("ac me", 1_000, "ann")).toEqual({ rest: { ...window, resetAtMs: 4_000 } });
    expect(limiter.answer()).toMatchObject({ status: 200, headers: { "RateLimit-Limit": 5 } });
    expect(await limiter.status("ac me", 2_000, "ann")).toEqual({});
    expect(limiter.answer()?.headers["RateLimit-Limit"]).toBeUndefined();
    expect(deployment.asked.map(({ headers }) => headers?.["x-now"])).toEqual(["121000", "122000"]);
  });
});
