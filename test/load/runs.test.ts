// Whole runs: what must hold whoever drives.
// @module-tag real-time
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { simulate } from "../../sim/simulate.ts";
import { loadScenarioFile } from "../../src/load/scenario-file.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { judge } from "../../src/verify/judge.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { testFolder } from "./folder.ts";
import {
  counted,
  drivers,
  fakeTarget,
  plainHeaders,
  readTraceFile,
  scenarioFile,
  shortRules,
  tokensOf,
  wideRules,
} from "./support.ts";

/** Every kind of client: one call at a time, several, pages, GraphQL, status, retries, arrivals. */
const mixed = `duration: "3s", populations: {
  workers: { clients: 4, startWithin: "300ms", behaviour: worker({ calls: [{ call: user }, { call: pipelinesQuery(50) }], think: "40ms" }), onRefused: waitReset({ of: "both", jitter: "20ms" }) },
  crowds: { clients: 2, behaviour: burst({ call: user, size: 30, every: "500ms" }) },
  pagers: { clients: 1, behaviour: pager({ call: rest("/v2/organizations/:org/pipelines"), pages: 4, perPage: 3, parallel: 2, every: "700ms" }) },
  watchers: { clients: 2, user: "shared", behaviour: poller({ every: "400ms", call: status() }) },
  visitors: { arrivals: { executor: "constant-arrival-rate", rate: 5, preAllocatedVUs: 20 }, behaviour: worker({ calls: [{ call: user }], jobs: 2 }) },
}`;

for (const { driver, needs, run } of drivers)
  describe.concurrent(`by ${driver}`, needs, () => {
    const folder = testFolder();

    test("a run has a line for each request that the deployment counted, and is judged right", async () => {
      const path = await scenarioFile(folder.path, "mixed", mixed);
      const target = counted();
      const result = await run(path, join(folder.path, "mixed"), {
        adjustments: { rules: shortRules },
        target,
      });
      const { header, calls } = await readTraceFile(result.trace);
      expect(result.failure).toBeNull();
      expect(result.crossed).toEqual([]);
      expect(result.notes).toEqual([]);
      expect(calls.length).toBeGreaterThan(150);
      expect(calls.length).toBe(target.requests());
      if (result.driver === "k6")
        expect(calls.length).toBe(result.outcome.summary?.metrics["http_reqs"]?.values["count"]);
      expect(header).toMatchObject({
        source: driver,
        scenario: "mixed",
        complete: true,
        lost: 0,
        rules: shortRules,
      });
      expect(new Set(calls.map(({ client, call }) => `${client} ${call}`)).size).toBe(calls.length);
      expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200, 429]));
      // Clients and users are named as the simulator names them.
      expect(calls.find(({ client }) => client === "workers/3")).toMatchObject({
        org: "acme",
        user: "workers-3",
      });
      expect(calls.find(({ client }) => client === "watchers/1")).toMatchObject({
        user: "watchers-0",
        kind: "status",
        cost: null,
      });
      expect(calls.find(({ client }) => client.startsWith("visitors/"))).toMatchObject({
        user: "visitors-0",
      });
      const lines = calls.map((call, index) => ({ line: index + 2, call }));
      expect(await judge(header, lines)).toMatchObject({ verdict: "ok", violations: [] });
    });

    test("a burst is on the way all at once", async () => {
      const path = await scenarioFile(
        folder.path,
        "thirty",
        `duration: "5s", populations: { one: { clients: 1, behaviour: burst({ call: user, size: 30 }) } }`,
      );
      const waiting: (() => void)[] = [];
      const target = await fakeTarget((request, response) => {
        const answer = () => void response.writeHead(200, plainHeaders).end('{"scopes":{"rest":{}}}');
        if (request.url?.endsWith("/rate_limit") === true) return answer();
        waiting.push(answer);
        // Nobody is answered before all have come.
        if (waiting.length === 30) for (const one of waiting) one();
      });
      const result = await run(path, join(folder.path, "thirty"), {
        target: { url: target.url, tokens: tokensOf(1) },
      });
      await target.close();
      expect(result.account).toMatchObject({ calls: 30, unanswered: 0, lost: 0 });
    });

    test("clients draw what the simulator's draw: the same seed, the same beginnings and choices", async () => {
      const path = await scenarioFile(
        folder.path,
        "drawn",
        `seed: 9007199254740000, duration: "4s", populations: {
        first: { clients: 3, behaviour: poller({ every: "1s", call: user }) },
        second: { clients: 5, startWithin: "900ms", behaviour: worker({ calls: [{ call: user, weight: 2 }, { call: pipelinesQuery(5) }], think: { least: "10ms", most: "30ms" } }) },
      }`,
      );
      const result = await run(path, join(folder.path, "drawn"), {
        adjustments: { rules: wideRules },
        target: counted(),
      });
      const { scenario } = await loadScenarioFile(path);
      const told = (calls: Iterable<TraceCall>) => {
        const clients = new Map<string, { began: number; scopes: string }>();
        for (const { client, wanted = 0, scope } of calls) {
          if (!client.startsWith("second/")) continue;
          const one = clients.get(client) ?? { began: wanted, scopes: "" };
          clients.set(client, { ...one, scopes: one.scopes + scope[0] });
        }
        // From the first one on: when k6 began is not known to the millisecond.
        const firstMs = Math.min(...[...clients.values()].map(({ began }) => began));
        return new Map(
          [...clients].map(([name, { began, scopes }]) => [name, [began - firstMs, scopes.slice(0, 12)]]),
        );
      };
      const { calls } = await readTraceFile(result.trace);
      const inCallOrder = calls.toSorted((a, b) => a.call - b.call);
      expect(told(inCallOrder)).toEqual(told(simulate(scenario, { rules: wideRules }).calls));
    });

    describe("a scenario that is broken is seen", () => {
      test.each([
        [
          "alone",
          `{ ...worker({ calls: [{ call: user }] }), next(record, event, out) { if (event.kind === 1) throw new Error("out of cheese"); out.send(0, event.nowMs); } }`,
        ],
        [
          "crowded",
          `{ ...burst({ call: user, size: 3 }), next(record, event, out) { if (event.kind === 1) throw new Error("out of cheese"); out.send(0, event.nowMs); } }`,
        ],
      ])("a behaviour that throws, %s", async (name, behaviour) => {
        const path = await scenarioFile(
          folder.path,
          `throws-${name}`,
          `duration: "20s", populations: { broken: { clients: 2, behaviour: ${behaviour} } }`,
        );
        const error = await codedErrorOf(
          run(path, join(folder.path, `throws-${name}`), { target: counted() }),
        );
        expect(error.code).toBe("SCENARIO_FAILED");
        expect(error.exitCode).toBe(2);
        expect(error.problems[0]).toMatchObject({ got: "out of cheese" });
        expect(error.problems[0]?.path).toMatch(/^broken\/[01]$/);
        const { calls } = await readTraceFile(join(folder.path, `throws-${name}`, "trace.ndjson"));
        expect(calls.length).toBeGreaterThanOrEqual(1);
      });

      test("one that asks for what cannot be", async () => {
        const behaviour = `{ ...worker({ calls: [{ call: user }] }), next(record, event, out) { out.send(0, Number.NaN); } }`;
        const path = await scenarioFile(
          folder.path,
          "nan",
          `duration: "20s", populations: { broken: { clients: 1, behaviour: ${behaviour} } }`,
        );
        const error = await codedErrorOf(run(path, join(folder.path, "nan"), { target: counted() }));
        expect(error.problems).toEqual([
          {
            path: "broken/0",
            got: "a call at NaN, which is no time since the client began",
            allowed: "no exception, calls that can be sent",
          },
        ]);
      });
    });

    test("what an earlier run left in the folder does not change a run", async () => {
      const body = `duration: "700ms", populations: { two: { clients: 2, behaviour: worker({ calls: [{ call: user }], think: "2ms" }) } }`;
      const path = await scenarioFile(folder.path, "again", body);
      const out = join(folder.path, "again");
      for (const service of [counted(), counted()]) {
        const result = await run(path, out, { adjustments: { rules: wideRules }, target: service });
        expect((await readTraceFile(result.trace)).calls).toHaveLength(service.requests());
      }
    });
  });
