// Limiters of others, each described by a policy alone: loaded for real, and judged by its quotas. A correct one is never
// accused; one whose limit is one higher than described is, and so is one behind a proxy that hides that.
//   JUDGED_RUNS=20 npx vitest run --config test/vitest.config.ts test/load/policies.test.ts
// @module-tag long
// @module-tag real-time
// @module-tag paced
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { presets } from "../../src/policy/presets.ts";
import { servePolicy } from "../../src/service/serve.ts";
import type { QuotaVerdict } from "../../src/verify/verdict.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import {
  clients,
  described,
  disguised,
  judged as judgedAt,
  leastWindows,
  limit,
  placeOf,
  type Start,
  type Started,
  tokensOf,
  withExpress,
  withFastify,
} from "./strangers.ts";
import { drivers, newFolder, removed, run as runByK6, scenarioFile } from "./support.ts";

const runs = Number(process.env["JUDGED_RUNS"] ?? 1);
const times = Array.from({ length: runs }, (_, run) => run);
const tokens = tokensOf("client");

let folder = "";
let scenario = "";
beforeAll(async () => {
  folder = await newFolder();
  scenario = await scenarioFile(folder, "others", clients());
});
afterAll(() => removed(folder));

/** The members of a line that tests look at. */
interface QuotaLine {
  readonly operation: string;
  readonly readings: readonly (readonly [quota: string, limit: number, remaining: number, used: number])[];
}

async function linesOf(trace: string): Promise<readonly QuotaLine[]> {
  const [, ...lines] = (await readFile(trace, "utf8")).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as QuotaLine);
}

let count = 0;
function judged(
  policy: Policy,
  start: () => Promise<Started>,
  run?: (typeof drivers)[number]["run"],
): Promise<QuotaVerdict> {
  count += 1;
  return judgedAt({ policy, scenario, place: placeOf(folder, count), tokens, ...(run && { run }) }, start);
}

describe.concurrent.each<[string, Start]>([
  ["express-rate-limit", withExpress(false)],
  ["express-rate-limit-6", withExpress("draft-6")],
  ["express-rate-limit-7", withExpress("draft-7")],
  ["express-rate-limit-8", withExpress("draft-8")],
  ["fastify", withFastify],
])("%s", (name, start) => {
  const policy = described(name);

  test.concurrent("is judged clean, and not for want of windows", async ({ expect }) => {
    for (const verdict of await Promise.all(times.map(() => judged(policy, () => start(limit))))) {
      expect(verdict.violations).toEqual([]);
      expect(verdict.verdict).toBe("ok");
      expect(verdict.windows).toBeGreaterThanOrEqual(leastWindows);
      expect(verdict.amounts?.refused).toBeGreaterThan(0);
      for (const law of ["conserved", "monotone", "limit-agrees"] as const)
        expect(verdict.laws[law], law).toBe("held");
    }
  });
});

// Whatever the headers, their limit is compared by one law. Fields of several shapes are passed on by the proxy.
describe.concurrent.each<[string, Start]>([
  ["express-rate-limit", withExpress(false)],
  ["fastify", withFastify],
])("%s", (name, start) => {
  const policy = described(name);

  test.concurrent("is accused with a limit one higher", async ({ expect }) => {
    for (const verdict of await Promise.all(times.map(() => judged(policy, () => start(limit + 1)))))
      expect(verdict.violations.map(({ law }) => law)).toContain("limit-agrees");
  });
});

describe.concurrent.each<[string, Start]>([
  ["express-rate-limit-6", withExpress("draft-6")],
  ["express-rate-limit-7", withExpress("draft-7")],
  ["fastify", withFastify],
])("%s", (name, start) => {
  const policy = described(name);

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

const queries = `duration: "4s", populations: {
  readers: { clients: 1, behaviour: poller({ every: "250ms", call: graphql("{ viewer { login } }", { cost: 7 }) }) },
}`;
const github = parsePolicy(presets["github"]?.policy);
const users = ["ann", "bob"].map((user) => ({ token: `secret-${user}`, attributes: { user } }));

describe.concurrent.each(drivers)("a query by $driver", ({ needs, run }) => {
  test.concurrent("declares its cost to a stand-in, which charges just that", needs, async ({ expect }) => {
    count += 1;
    const place = `queries${count}`;
    const server = await servePolicy({ policy: github, tokens: users, port: 0 });
    const { trace } = await run(await scenarioFile(folder, place, queries), join(folder, `${place}-run`), {
      adjustments: { policy: github },
      target: { url: server.url, tokens: users },
    }).finally(() => server.close());
    const used = (await linesOf(trace)).flatMap(({ readings }) => readings.map(([, , , each]) => each));
    expect(used.length).toBeGreaterThan(2);
    expect(used.toSorted((one, other) => one - other)).toEqual(used.map((_, index) => 7 * (index + 1)));
  });
});

describe.concurrent.each(drivers)("a status by $driver", ({ needs, run }) => {
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
    const statuses = (await linesOf(trace)).filter(({ operation }) => operation === "status");
    // The second shows that the first was charged to nobody.
    expect(statuses.length).toBeGreaterThan(1);
    for (const { readings } of statuses)
      expect(Object.fromEntries(readings.map(([quota, , , used]) => [quota, used]))).toEqual({
        core: 0,
        search: 0,
        code_search: 0,
        graphql: 0,
      });
  });

  test.concurrent("is no call of an API without one", needs, async ({ expect }) => {
    const thrown = await codedErrorOf(
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
    expect(verdict.windows).toBeGreaterThanOrEqual(leastWindows);
  });

  test.concurrent("it is accused behind a proxy that shows the described limit", async ({ expect }) => {
    const verdict = await judged(policy, () => disguised(start, limit + 1), runByK6);
    expect(verdict.verdict).toBe("violated");
  });
});
