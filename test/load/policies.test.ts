// Limiters of others, each described by a policy alone: loaded for real, and judged by its quotas. A correct one is never
// accused; one whose limit is one higher than described is, and so is one behind a proxy that hides that.
//   JUDGED_RUNS=20 npx vitest run --config test/vitest.config.ts test/load/policies.test.ts
// @module-tag real-time
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import fastifyRateLimit from "@fastify/rate-limit";
// @ts-expect-error express has no types of its own
import express from "express";
import { rateLimit } from "express-rate-limit";
import fastify from "fastify";
import { afterAll, beforeAll, describe, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { presets } from "../../src/policy/presets.ts";
import { servePolicy } from "../../src/service/serve.ts";
import type { QuotaVerdict } from "../../src/verify/verdict.ts";
import { verify } from "../../src/verify/verify.ts";
import { drivers, failure, newFolder, removed, run as runByK6, runNode, scenarioFile } from "./support.ts";

const runs = Number(process.env["JUDGED_RUNS"] ?? 1);

const limit = 12;
const windowMs = 5000;
const tokens = Array.from({ length: 8 }, (_, index) => ({
  token: `secret-${index}`,
  attributes: { client: `client-${index}` },
}));

/** Clients that call side by side, alone and in bursts, above and below the limit. */
const clients = `duration: "16s", seed: 5, populations: {
  steady: { clients: 3, user: "each", behaviour: worker({ calls: [{ call: rest("/") }], think: { least: "50ms", most: "600ms" } }), onRefused: none() },
  together: { clients: 4, user: "shared", behaviour: burst({ call: rest("/a"), size: 4, every: "2s" }), onRefused: none() },
  slow: { clients: 1, user: "each", behaviour: worker({ calls: [{ call: rest("/b") }], think: "700ms" }), onRefused: none() },
}`;

interface Started {
  readonly url: string;
  close(): Promise<void>;
}

async function listening(listener: RequestListener): Promise<Started> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Start = (limit: number) => Promise<Started>;

const withExpress =
  (standardHeaders: false | "draft-6" | "draft-7" | "draft-8"): Start =>
  (most) => {
    const app = express();
    app.use(
      rateLimit({
        limit: most,
        windowMs,
        standardHeaders,
        // A quota's name; by itself it would be made of the limit and the window.
        identifier: "requests",
        legacyHeaders: standardHeaders === false,
        keyGenerator: ({ headers }) => String(headers.authorization),
      }),
    );
    app.use((_request: unknown, response: { send(text: string): void }) => response.send("ok"));
    return listening(app);
  };

const withFastify: Start = async (most) => {
  const app = fastify();
  await app.register(fastifyRateLimit, {
    max: most,
    timeWindow: windowMs,
    keyGenerator: ({ headers }) => String(headers.authorization),
  });
  app.get("/*", () => "ok");
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  return { url, close: () => app.close() };
};

/** A preset with the limit and window of these tests, nothing else. */
function described(name: string): Policy {
  const policy = parsePolicy(presets[name]?.policy);
  const [[quota, rules] = []] = Object.entries(policy.quotas);
  if (quota === undefined || rules === undefined) throw new RangeError(`${name} has no quota`);
  const algorithm = { ...rules.algorithm, limit, windowSeconds: windowMs / 1000 } as typeof rules.algorithm;
  return { ...policy, quotas: { [quota]: { ...rules, algorithm } } };
}

/** A proxy that shows clients the limit that is described, and not the one that is kept. */
async function disguised(start: Start, most: number): Promise<Started> {
  const behind = await start(most);
  const rewritten = (text: string): string => text.replace(new RegExp(`\\b${most}\\b`, "g"), String(limit));
  const proxy = await listening(async (request, response) => {
    const { authorization = "" } = request.headers;
    const answer = await fetch(behind.url + request.url, { headers: { authorization } });
    for (const [name, value] of answer.headers)
      if (/rate-?limit/i.test(name)) response.setHeader(name, rewritten(value));
      else if (/retry-after|date/i.test(name)) response.setHeader(name, value);
    response.statusCode = answer.status;
    response.end(await answer.text());
  });
  return { url: proxy.url, close: async () => void (await Promise.all([proxy.close(), behind.close()])) };
}

let folder = "";
let scenario = "";
beforeAll(async () => {
  folder = await newFolder();
  scenario = await scenarioFile(folder, "others", clients);
});
afterAll(() => removed(folder));

/** The members of a line that tests look at. */
interface QuotaLine {
  readonly operation: string;
  readonly readings: readonly (readonly [quota: string, limit: number, remaining: number, used: number])[];
}

let count = 0;
async function judged(
  policy: Policy,
  start: () => Promise<Started>,
  run: (typeof drivers)[number]["run"] = runNode,
): Promise<QuotaVerdict> {
  count += 1;
  const place = join(folder, String(count));
  const server = await start();
  try {
    const { trace } = await run(scenario, place, {
      adjustments: { policy },
      target: { url: server.url, tokens },
    });
    return (await verify(createReadStream(trace))) as QuotaVerdict;
  } finally {
    await server.close();
  }
}

describe.concurrent.each<[string, Start]>([
  ["express-rate-limit", withExpress(false)],
  ["express-rate-limit-6", withExpress("draft-6")],
  ["express-rate-limit-7", withExpress("draft-7")],
  ["express-rate-limit-8", withExpress("draft-8")],
  ["fastify", withFastify],
])("%s", (name, start) => {
  const policy = described(name);
  const times = Array.from({ length: runs }, (_, run) => run);

  test.concurrent("is judged clean, and not for want of windows", async ({ expect }) => {
    for (const verdict of await Promise.all(times.map(() => judged(policy, () => start(limit))))) {
      expect(verdict.violations).toEqual([]);
      expect(verdict.verdict).toBe("ok");
      expect(verdict.windows).toBeGreaterThanOrEqual(6);
      expect(verdict.amounts?.refused).toBeGreaterThan(0);
      for (const law of ["conserved", "monotone", "limit-agrees"] as const)
        expect(verdict.laws[law], law).toBe("held");
    }
  });

  test.concurrent("is accused with a limit one higher", async ({ expect }) => {
    for (const verdict of await Promise.all(times.map(() => judged(policy, () => start(limit + 1)))))
      expect(verdict.violations.map(({ law }) => law)).toContain("limit-agrees");
  });

  test.concurrent("is accused behind a proxy that shows the described limit", async ({ expect }) => {
    const hidden = times.map(() => judged(policy, () => disguised(start, limit + 1)));
    for (const verdict of await Promise.all(hidden)) expect(verdict.verdict).toBe("violated");
  });
});

describe.concurrent.each(drivers)("by $driver", ({ needs, run }) => {
  test.concurrent("a stand-in of this project is judged clean", needs, async ({ expect }) => {
    const policy = described("express-rate-limit-8");
    const verdict = await judged(policy, () => servePolicy({ policy, tokens, port: 0 }), run);
    expect(verdict.violations).toEqual([]);
    expect(verdict.laws.conserved).toBe("held");
  });
});

const githubClients = `duration: "2s", populations: {
  watchers: { clients: 1, behaviour: poller({ every: "300ms", call: status() }) },
  readers: { clients: 1, behaviour: poller({ every: "300ms", call: rest("/repos/acme/app") }) },
}`;

describe.concurrent.each(drivers)("a status by $driver", ({ needs, run }) => {
  const github = parsePolicy(presets["github"]?.policy);
  const users = ["ann", "bob"].map((user) => ({ token: `secret-${user}`, attributes: { user } }));

  test.concurrent("is asked for where the API shows it, and charged to nobody", needs, async ({ expect }) => {
    count += 1;
    const place = `github${count}`;
    const server = await servePolicy({ policy: github, tokens: users, port: 0 });
    const { trace } = await run(
      await scenarioFile(folder, place, githubClients),
      join(folder, `${place}-run`),
      {
        adjustments: { policy: github },
        target: { url: server.url, tokens: users },
      },
    ).finally(() => server.close());
    const [, ...lines] = (await readFile(trace, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as QuotaLine);
    const statuses = lines.filter(({ operation }) => operation === "status");
    expect(statuses.length).toBeGreaterThan(2);
    for (const { readings } of statuses)
      expect(Object.fromEntries(readings.map(([quota, , , used]) => [quota, used]))).toEqual({
        core: 0,
        search: 0,
        code_search: 0,
        graphql: 0,
      });
  });

  test.concurrent("is no call of an API without one", needs, async ({ expect }) => {
    const thrown = await failure(
      run(await scenarioFile(folder, "bare", githubClients), join(folder, "bare-run"), {
        adjustments: { policy: described("fastify") },
        target: { url: "http://127.0.0.1:1", tokens },
      }),
    );
    expect(thrown).toMatchObject({ code: "SCENARIO_INVALID", problems: [{ path: "populations.watchers" }] });
  });
});

describe.concurrent("by k6", { tags: ["k6"] }, () => {
  const start = withExpress("draft-8");
  const policy = described("express-rate-limit-8");

  test.concurrent("express-rate-limit-8 is judged clean, and not for want of windows", async ({ expect }) => {
    const verdict = await judged(policy, () => start(limit), runByK6);
    expect(verdict.violations).toEqual([]);
    expect(verdict.laws).toMatchObject({ conserved: "held", monotone: "held", "limit-agrees": "held" });
    expect(verdict.windows).toBeGreaterThanOrEqual(6);
  });

  test.concurrent("it is accused behind a proxy that shows the described limit", async ({ expect }) => {
    const verdict = await judged(policy, () => disguised(start, limit + 1), runByK6);
    expect(verdict.verdict).toBe("violated");
  });
});
