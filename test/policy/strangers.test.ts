// Policies that were written from an API's public documentation alone, and from POLICY.md: answers in the forms that the
// documentation shows are read, every verb is ready, and a stand-in answers in the same forms.
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { wireOf } from "../../src/policy/presets.ts";
import { servePolicy } from "../../src/service/serve.ts";
import type { HttpAnswer } from "../../src/wire/answer.ts";
import { readAnswer } from "../../src/wire/read-answer.ts";
import { spillwayHere } from "../support/command.ts";

const folder = join(import.meta.dirname, "strangers");
const names = readdirSync(folder).map((file) => file.replace(".json", ""));
const policyNamed = (name: string) =>
  parsePolicy(JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")));

const read = (
  name: string,
  operation: string,
  headers: HttpAnswer["headers"],
  status = 200,
  body?: unknown,
) => {
  const policy = policyNamed(name);
  const quotas = Object.keys(policy.operations[operation]?.uses ?? {});
  return readAnswer(wireOf(policy), { status, headers, body }, { quotas, isStatus: false });
};

describe.each(names)("%s", (name) => {
  test("is a policy that all verbs take", async () => {
    const { code, stdout } = await spillwayHere(["policy", "check", join(folder, `${name}.json`)]);
    expect(code).toBe(0);
    for (const verb of "serve load simulate plan replay fit verify check audit bundle demo".split(" "))
      expect(stdout).toMatch(new RegExp(`^ +${verb} +ready$`, "m"));
  });

  test("its stand-in answers what its own wire reads, at an address of its own", async () => {
    const policy = policyNamed(name);
    const service = await servePolicy({
      policy,
      tokens: [
        {
          token: "secret",
          attributes: Object.fromEntries(policy.auth.attributes.map((each) => [each, "one"])),
        },
      ],
      port: 0,
    });
    try {
      for (const [operation, { uses, samples }] of Object.entries(policy.operations)) {
        const [{ method = "GET", path = "/", body } = {}] = samples;
        const [form = ""] = [policy.auth.form].flat();
        const answer = await fetch(service.url + path, {
          method,
          headers: { [policy.auth.header]: form.replace("{token}", "secret") },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        expect(answer.status, operation).toBe(200);
        const quotas = Object.keys(uses);
        const { readings, unread } = readAnswer(
          wireOf(policy),
          { status: 200, headers: Object.fromEntries(answer.headers), body: await answer.json() },
          { quotas, isStatus: false },
        );
        expect(unread).toEqual([]);
        const shown = new Set(readings.map(({ quota }) => quota));
        expect(shown).toEqual(new Set(wireOf(policy).readings.length === 0 ? [] : quotas));
      }
    } finally {
      await service.close();
    }
  });
});

test("headers as the documentation of each shows them", () => {
  const zendesk = read("zendesk", "tickets", {
    "x-rate-limit": "700",
    "ratelimit-limit": "700",
    "x-rate-limit-remaining": "699",
    "ratelimit-remaining": "699",
    "ratelimit-reset": "41",
    "zendesk-ratelimit-tickets-index": "total=100; remaining=99; resets=41",
  });
  expect(zendesk.readings).toMatchObject([
    { quota: "account", limit: 700, remaining: 699, reset: { afterMs: 41_000 } },
    { quota: "tickets-index", limit: 100, remaining: 99, reset: { afterMs: 41_000 } },
  ]);
  const reddit = read("reddit", "call", {
    "x-ratelimit-used": "4",
    "x-ratelimit-remaining": "996.0",
    "x-ratelimit-reset": "373",
  });
  expect(reddit.readings).toMatchObject([
    { quota: "requests", used: 4, remaining: 996, reset: { afterMs: 373_000 } },
  ]);
  const datadog = read("datadog", "query", {
    "x-ratelimit-name": "query",
    "x-ratelimit-limit": "1600",
    "x-ratelimit-period": "3600",
    "x-ratelimit-remaining": "1599",
    "x-ratelimit-reset": "1200",
  });
  expect(datadog.readings).toMatchObject([
    { quota: "query", limit: 1600, windowSeconds: 3600, remaining: 1599 },
  ]);
  const rachio = read("rachio", "call", {
    "x-ratelimit-limit": "1700",
    "x-ratelimit-remaining": "4",
    "x-ratelimit-reset": "2018-03-13T00:00:00Z",
  });
  expect(rachio.readings).toMatchObject([{ quota: "daily", reset: { atMs: Date.UTC(2018, 2, 13) } }]);
  const bigcommerce = read("bigcommerce", "call", {
    "x-rate-limit-time-window-ms": "30000",
    "x-rate-limit-time-reset-ms": "3000",
    "x-rate-limit-requests-quota": "150",
    "x-rate-limit-requests-left": "6",
  });
  expect(bigcommerce.readings).toMatchObject([
    { limit: 150, remaining: 6, windowSeconds: 30, reset: { afterMs: 3_000 } },
  ]);
  const twitch = read("twitch", "call", {
    "ratelimit-limit": "800",
    "ratelimit-remaining": "799",
    "ratelimit-reset": "1511282710",
  });
  expect(twitch.readings).toMatchObject([{ limit: 800, reset: { atMs: 1_511_282_710_000, means: "full" } }]);
  const jira = read("jira-cloud", "call", {
    "ratelimit-policy": '"tenant-app-quota";q=100100;w=3600',
    ratelimit: '"tenant-app-quota";r=17842;t=2107',
    "x-ratelimit-limit": "350",
    "x-ratelimit-remaining": "349",
  });
  expect(jira.readings).toMatchObject([
    { quota: "tenant-app-quota", limit: 100_100, remaining: 17_842, reset: { afterMs: 2_107_000 } },
    { quota: "burst", limit: 350, remaining: 349, reset: null },
  ]);
});

test("refusals that only a body or a status tells", () => {
  const body = {
    status: "error",
    errorType: "RATE_LIMIT",
    policyName: "DAILY",
    message: "You have reached your daily limit.",
  };
  expect(read("hubspot", "call", {}, 429, body)).toMatchObject({ outcome: "refused", by: "daily" });
  expect(read("hubspot", "call", {}, 429, { ...body, policyName: "SECONDLY" })).toMatchObject({
    by: "secondly",
  });
  const limited = { object: "error", status: 429, code: "rate_limited" };
  const notion = read("notion", "call", { "retry-after": "2" }, 429, limited);
  expect(notion).toMatchObject({ outcome: "refused", by: "average", retryAfter: { afterMs: 2000 } });
});

test("counts that no reset places in a window are named as not judged", async () => {
  const folder = await mkdtemp(join(tmpdir(), "spillway-strangers-"));
  const run = (...words: string[]) => spillwayHere(words, { cwd: folder });
  const file = join(import.meta.dirname, "strangers", "jira-cloud.json");
  await run(
    "simulate",
    "steady",
    "--policy",
    file,
    "--duration",
    "5s",
    "--fault",
    "double-count",
    "--out",
    "run",
  );
  const { stdout } = await run("verify", "run");
  await rm(folder, { recursive: true });
  expect(stdout).toContain(
    "not judged tenant-app-quota: no reset tells which window a count is of: what is let through is judged, and counts are not.",
  );
  expect(stdout).toContain("not judged burst: a token bucket's resets are not judged.");
});
