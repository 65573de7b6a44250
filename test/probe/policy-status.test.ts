// The status of a caller's quotas by a policy: from a stand-in, as a user types it, and from what is no status.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NoAnswer } from "../../src/connect/no-answer.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { PolicyStatusReader } from "../../src/probe/policy-status.ts";
import { servePolicy } from "../../src/service/serve.ts";
import { spillwayHere } from "../support/command.ts";

const policy = parsePolicy(presets["github"]?.policy);
const caller = { token: "ghp_planted", attributes: { user: "ann" } };
let folder = "";
let service: Awaited<ReturnType<typeof servePolicy>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-status-test-"));
  await writeFile(join(folder, "tokens.json"), JSON.stringify([{ token: caller.token, user: "ann" }]));
  service = await servePolicy({ policy, tokens: [caller], port: 0 });
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

describe("spillway status --policy github", () => {
  const typed = (...words: string[]) =>
    spillwayHere(
      ["status", "--policy", "github", "--target", service.url, "--tokens", "tokens.json", ...words],
      {
        cwd: folder,
      },
    );

  test("shows each quota that the status names, costs nothing, and keeps the token to itself", async () => {
    const ask = () => fetch(`${service.url}/user`, { headers: { authorization: `token ${caller.token}` } });
    for (let call = 0; call < 3; call += 1) await ask();
    const { stdout, code } = await typed();
    expect(stdout).toMatch(/^github, ann at \d\d:\d\d:\d\d UTC/);
    expect(stdout).toMatch(/^core +\[#\.+\] +3 \/ 5,000 {2}.* left$/m);
    expect(stdout).toMatch(/^search +\[\.+\] +0 \/ 30/m);
    expect(stdout).not.toContain(caller.token);
    expect(code).toBe(0);
    const { stdout: json } = await typed("--json");
    expect(JSON.parse(json)).toMatchObject({
      policy: "github",
      caller: { user: "ann" },
      quotas: [
        { quota: "core", limit: 5000, used: 3 },
        { quota: "search" },
        { quota: "code_search" },
        { quota: "graphql" },
      ],
    });
    expect(json).not.toContain(caller.token);
  });

  test("says what a target shows that has no such status", async () => {
    const { stderr, code } = await spillwayHere(
      ["status", "--policy", "openai", "--target", service.url, "--tokens", "tokens.json"],
      { cwd: folder },
    );
    expect(stderr).toContain("error");
    expect(code).toBe(2);
    expect(await readFile(join(folder, "tokens.json"), "utf8")).toContain(caller.token);
  });
});

describe("a reading", () => {
  const readBy = (
    send: ConstructorParameters<typeof PolicyStatusReader>[0]["send"],
    now = 1_800_000_000_000,
  ) => new PolicyStatusReader({ policy, target: "http://127.0.0.1:1", caller, send, now: () => now }).read();

  test("puts instants of the target's clock on this machine's", async () => {
    const resources = { core: { limit: 5000, remaining: 4990, used: 10, reset: 1_800_000_160 } };
    const { quotas, skewMs } = await readBy(async (ask) => {
      expect(ask).toMatchObject({ method: "GET", url: "http://127.0.0.1:1/rate_limit", token: null });
      const headers = { date: new Date(1_800_000_060_000).toUTCString() };
      return { status: 200, headers, body: JSON.stringify({ resources }) };
    });
    expect(skewMs).toBe(60_500);
    expect(quotas).toEqual([{ quota: "core", limit: 5000, used: 10, endsAtMs: 1_800_000_099_500 }]);
  });

  test("ends no window later than one window from now, however its reset was rounded", async () => {
    const now = 1_800_000_000_000;
    const headers = { date: new Date(now).toUTCString() };
    const endOf = async (reset: number) => {
      const resources = { core: { limit: 5000, remaining: 5000, used: 0, reset } };
      const answer = { status: 200, headers, body: JSON.stringify({ resources }) };
      return (await readBy(async () => answer, now + 999)).quotas[0]?.endsAtMs;
    };
    expect(await endOf(now / 1000 + 3_602)).toBe(now + 999 + 3_600_000);
    expect(await endOf(now / 1000 + 3_599)).toBe(now + 3_599_499);
  });

  test("of a calendar's window, or of a log, ends when the answer says", async () => {
    const now = 1_800_000_000_000;
    const [reset, resetMs] = [now / 1000 + 86_000, now + 86_000_000];
    const resources = { core: { limit: 10, remaining: 4, used: 6, reset } };
    const endOf = async (algorithm: unknown) => {
      const core = { ...policy.quotas["core"], algorithm };
      const other = { ...policy, quotas: { ...policy.quotas, core } } as typeof policy;
      const send = async () => ({ status: 200, headers: {}, body: JSON.stringify({ resources }) });
      const target = "http://127.0.0.1:1";
      const read = await new PolicyStatusReader({
        ...{ policy: other, target, caller, send },
        now: () => now,
      }).read();
      return read.quotas;
    };
    const shown = [{ quota: "core", limit: 10, used: 6, endsAtMs: resetMs }];
    const calendar = { kind: "fixed-window", limit: 10, anchor: { calendar: "day", zone: "UTC" } };
    expect(await endOf(calendar)).toEqual(shown);
    expect(await endOf({ kind: "sliding-log", limit: 10, windowSeconds: 60 })).toEqual(shown);
    expect(await endOf({ ...calendar, windowSeconds: 60 })).toEqual([
      { ...shown[0], endsAtMs: now + 60_000 },
    ]);
  });

  test.each([
    ["untrusted", "--ca FILE"],
    ["refused", "is it running"],
  ])("that has no answer, as the target is %s, says what to do", async (reason, words) => {
    const read = readBy(async () => {
      throw new NoAnswer(reason);
    });
    await expect(read).rejects.toMatchObject({
      code: "TARGET_UNREACHABLE",
      hint: expect.stringContaining(words),
    });
  });

  test.each([
    ["a page", 200, "<html>"],
    ["a refusal to tell", 401, '{"message":"Bad credentials"}'],
  ])("of %s is none", async (_, status, body) => {
    await expect(readBy(async () => ({ status, headers: {}, body }))).rejects.toMatchObject({
      code: "TARGET_UNREACHABLE",
      problems: [{ got: `an answer of ${status} that shows no quota` }],
    });
  });

  test("is not asked of a policy without a status", () => {
    const bare = { ...policy, routes: policy.routes.filter(({ operation }) => operation !== "status") };
    expect(() => new PolicyStatusReader({ policy: bare, target: "http://127.0.0.1:1", caller })).toThrow(
      expect.objectContaining({ code: "POLICY_UNSUPPORTED" }),
    );
  });
});
