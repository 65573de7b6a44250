// Windows as callers meet them (SPEC.md §2, §3): they roll without waiting, charge all or nothing, keep others out.
import { describe, expect, test } from "vitest";
import { Deployment, eight, START_MS } from "./deployment.ts";

const user = "/v2/user";
const statuses = (answers: readonly { statusCode: number }[]) => answers.map(({ statusCode }) => statusCode);
const count = (answers: readonly { statusCode: number }[], status: number) =>
  statuses(answers).filter((one) => one === status).length;

async function times<T>(many: number, call: (index: number) => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  for (let index = 0; index < many; index++) answers.push(await call(index));
  return answers;
}

describe("windows", () => {
  test("admit up to the limit, then refuse until the reset", async () => {
    const service = new Deployment();
    const answers = await times(52, () => service.call(user));
    expect([count(answers, 200), count(answers, 429)]).toEqual([50, 2]);
    service.nowMs = START_MS + 57_999;
    const last = await service.call(user);
    expect([last.statusCode, last.json().reset]).toEqual([429, 1]);
    service.nowMs = START_MS + 58_000;
    const first = await service.call(user);
    expect([first.statusCode, eight(first)["user-remaining"], eight(first)["user-reset"]]).toEqual([
      200, 49, 60,
    ]);
  });

  test("of the first request open with it, and each by itself", async () => {
    const service = new Deployment({ semantics: { anchor: "first-request" } });
    service.nowMs += 250;
    await service.call(user);
    service.nowMs += 10_000;
    const bob = await service.call(user, { as: "bob@acme" });
    expect(eight(bob)).toMatchObject({ reset: 50, "user-reset": 60 });
    service.nowMs = START_MS + 60_000;
    expect(eight(await service.call(user))).toMatchObject({ reset: 60, remaining: 199, "user-reset": 60 });
  });

  test("a clock that steps back reopens nothing", async () => {
    const service = new Deployment({ user: { rest: { limit: 1 } } });
    service.nowMs += 60_000;
    await service.call(user);
    service.nowMs -= 3_600_000;
    const answer = await service.call(user);
    expect([answer.statusCode, answer.json().reset]).toEqual([429, 58]);
  });

  test("a refused call is counted nowhere", async () => {
    const service = new Deployment({ user: { rest: { limit: 2 } } });
    await times(9, () => service.call(user));
    expect((await service.counted()).rest).toBe(2);
  });

  test("`counted` and `charges-organization` count refusals where they say", async () => {
    const service = new Deployment({
      user: { rest: { limit: 2 } },
      semantics: { refused: "counted", refusedByUser: "charges-organization" },
    });
    await times(2, () => service.call(user));
    const answer = await service.call(user);
    expect(answer.json()).toMatchObject({ scope: "rest_user", current: 3, limit: 2 });
    expect((await service.counted()).rest).toBe(3);
  });

  test("unenforced: nobody is refused, counting goes on", async () => {
    const service = new Deployment({ organization: { rest: { limit: 2, enforced: false } } });
    const answers = await times(60, () => service.call(user));
    expect(count(answers, 200)).toBe(60);
    expect((await service.counted()).rest).toBe(60);
    expect(eight(await service.call(user))).toMatchObject({ remaining: 0, "user-remaining": 0 });
  });
});

describe("isolation", () => {
  test("of users, organizations and scopes", async () => {
    const service = new Deployment({ user: { rest: { limit: 2 } } });
    await times(3, () => service.call(user));
    expect((await service.call(user)).statusCode).toBe(429);
    expect(eight(await service.call(user, { as: "bob@acme" }))).toMatchObject({
      remaining: 197,
      "user-remaining": 1,
    });
    expect(eight(await service.call(user, { as: "alice@globex" }))).toMatchObject({ remaining: 199 });
    expect((await service.graphql("{ viewer { user { name } } }")).statusCode).toBe(200);
    expect(await service.counted()).toEqual({ rest: 3, graphql: 2 });
  });

  test("two tokens of one user share the user's window", async () => {
    const service = new Deployment({ user: { rest: { limit: 1 } } });
    const all = "only@acme:read_user";
    const pipelines = { as: "only@acme:read_pipelines" };
    expect((await service.call(user, { as: all })).statusCode).toBe(200);
    expect((await service.call("/v2/organizations/acme/pipelines", pipelines)).statusCode).toBe(429);
  });
});

describe("all or nothing, over both windows, whatever runs at once", () => {
  test("no point is lost and none is invented", async () => {
    // Three users of 50 each want 80 calls at once.
    const service = new Deployment();
    const users = ["alice@acme", "bob@acme", "only@acme:read_user"];
    const wanted = users.flatMap((as) => Array.from({ length: 80 }, () => as));
    const answers = await Promise.all(wanted.map((as) => service.call(user, { as })));
    const admitted = answers.filter(({ statusCode }) => statusCode === 200);
    expect([admitted.length, count(answers, 429)]).toEqual([150, 90]);
    const places = admitted.map((answer) => Number(eight(answer)["remaining"])).sort((a, b) => b - a);
    expect(places).toEqual(Array.from({ length: 150 }, (_, index) => 199 - index));
    expect((await service.counted()).rest).toBe(150);
  });

  test("calls that the organization's window refuses leave the users' windows alone", async () => {
    const service = new Deployment({ organization: { rest: { limit: 60 } } });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        service.call(user, { as: index % 2 === 0 ? "alice@acme" : "bob@acme" }),
      ),
    );
    expect([count(answers, 200), count(answers, 429)]).toEqual([60, 40]);
    const left = await times(2, async (index) => {
      const as = index === 0 ? "alice@acme" : "bob@acme";
      const answer = await service.call("/v2/organizations/acme/rate_limit", { as });
      return Number(eight(answer)["user-remaining"]);
    });
    expect(left.reduce((sum, one) => sum + one)).toBe(2 * 50 - 60);
  });
});
