// Whole runs with a real k6: every call accounted for, whatever the run's end.
// @module-tag k6
// @module-tag real-time
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { simulate } from "../../sim/simulate.ts";
import type { StartService } from "../../src/load/load.ts";
import { loadScenarioFile } from "../../src/load/scenario-file.ts";
import { summarize } from "../../src/summary/summarizer.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { judge } from "../../src/verify/judge.ts";
import {
  countingService,
  failure,
  fakeTarget,
  newFolder,
  plainHeaders,
  readTraceFile,
  removed,
  run,
  scenarioFile,
  shortRules,
  tokensOf,
  wideRules,
  wrapper,
} from "./support.ts";

let folder = "";
beforeAll(async () => {
  folder = await newFolder();
});
afterAll(() => removed(folder));

/** Every kind of client: one call at a time, several, pages, GraphQL, status, retries, arrivals. */
const mixed = `duration: "3s", populations: {
  workers: { clients: 4, startWithin: "300ms", behaviour: worker({ calls: [{ call: user }, { call: pipelinesQuery(50) }], think: "40ms" }), onRefused: waitReset({ of: "both", jitter: "20ms" }) },
  crowds: { clients: 2, behaviour: burst({ call: user, size: 12, every: "500ms" }) },
  pagers: { clients: 1, behaviour: pager({ call: rest("/v2/organizations/:org/pipelines"), pages: 4, perPage: 3, parallel: 2, every: "700ms" }) },
  watchers: { clients: 2, user: "shared", behaviour: poller({ every: "400ms", call: status() }) },
  visitors: { arrivals: { executor: "constant-arrival-rate", rate: 5, preAllocatedVUs: 5 }, behaviour: worker({ calls: [{ call: user }], jobs: 2 }) },
}`;

describe("a run", () => {
  test("has a line for each request that k6 and the deployment counted, and is judged right", async () => {
    const path = await scenarioFile(folder, "mixed", mixed);
    let requests = () => 0;
    const result = await run(path, join(folder, "mixed"), {
      adjustments: { rules: shortRules },
      target: {
        start: async ({ rules, tokens }) => {
          const service = await countingService(rules, tokens);
          requests = service.requests;
          return service;
        },
      },
    });
    const { header, calls } = await readTraceFile(result.trace);
    expect(result.failure).toBeNull();
    expect(result.crossed).toEqual([]);
    expect(result.notes).toEqual([]);
    expect(calls.length).toBeGreaterThan(150);
    expect(calls.length).toBe(result.outcome.summary?.metrics["http_reqs"]?.values["count"]);
    expect(calls.length).toBe(requests());
    expect(header).toMatchObject({
      source: "k6",
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
    expect(calls.find(({ client }) => client.startsWith("visitors/"))).toMatchObject({ user: "visitors-0" });
    const lines = calls.map((call, index) => ({ line: index + 2, call }));
    expect(await judge(header, lines)).toMatchObject({ verdict: "ok", violations: [] });
  });
});

test("a burst is on the way all at once: k6's own batches would be six to a host", async () => {
  const path = await scenarioFile(
    folder,
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
  const result = await run(path, join(folder, "thirty"), {
    target: { url: target.url, tokens: tokensOf(1) },
  });
  await target.close();
  expect(result.account).toMatchObject({ calls: 30, unanswered: 0, lost: 0 });
});

test("clients draw what the simulator's draw: the same seed, the same beginnings and choices", async () => {
  const path = await scenarioFile(
    folder,
    "drawn",
    `seed: 9007199254740000, duration: "4s", populations: {
      first: { clients: 3, behaviour: poller({ every: "1s", call: user }) },
      second: { clients: 5, startWithin: "900ms", behaviour: worker({ calls: [{ call: user, weight: 2 }, { call: pipelinesQuery(5) }], think: { least: "10ms", most: "30ms" } }) },
    }`,
  );
  const result = await run(path, join(folder, "drawn"), {
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

test("k6's own measure of an expectation is the summary's", async () => {
  const path = await scenarioFile(
    folder,
    "measured",
    `duration: "3s", populations: {
      eager: { clients: 4, behaviour: worker({ calls: [{ call: user }], think: "20ms" }), onRefused: waitReset({ of: "both" }) },
      watchers: { clients: 1, behaviour: poller({ every: "100ms", call: status() }) },
    }, expect: { refusedShare: "<90%", "eager.refusedShare": ">0%", waitMaxMs: "<3s" }`,
  );
  const result = await run(path, join(folder, "measured"), {
    adjustments: { rules: shortRules },
    target: counted(),
  });
  const { header, calls } = await readTraceFile(result.trace);
  const { figures } = summarize(header, calls);
  const metrics = result.outcome.summary?.metrics;
  expect(metrics?.["spillway_refused"]?.values["rate"]).toBeCloseTo(Number(figures.refusedShare), 9);
  expect(metrics?.["spillway_wait"]?.values["max"]).toBe(figures.waitMaxMs);
  expect(metrics?.["spillway_refused{scenario:eager}"]?.thresholds).toEqual({ "rate>0": { ok: true } });
  expect(result.crossed).toEqual([]);
});

/** Clients that never stop asking, one call at a time. */
const busy = (duration: string, clients = 6): string =>
  `duration: "${duration}", populations: { busy: { clients: ${clients}, behaviour: worker({ calls: [{ call: user }], think: "2ms" }) } }`;

/** A deployment of the test's own that counts, for one run. */
function counted(): { start: StartService; requests(): number } {
  let requests = () => 0;
  return {
    requests: () => requests(),
    start: async ({ rules, tokens }) => {
      const service = await countingService(rules, tokens);
      requests = service.requests;
      return service;
    },
  };
}

describe("a run that is cut short keeps what it has, and bounds what it lost", () => {
  test("by kill -9", async () => {
    const path = await scenarioFile(folder, "killed", busy("60s"));
    const out = join(folder, "killed");
    const k6Path = await wrapper(folder, "k6-with-pid", `echo $$ > '${folder}/pid'; exec "$REAL" "$@"`);
    const service = counted();
    const running = run(path, out, { k6Path, adjustments: { rules: wideRules }, target: service });
    await untilLines(join(out, "k6", "raw.ndjson"), 200);
    process.kill(Number(await readFile(join(folder, "pid"), "utf8")), "SIGKILL");
    const result = await running;
    const { header, calls } = await readTraceFile(result.trace);
    expect(result.failure).toBe("k6 was killed (SIGKILL)");
    expect(result.interrupted).toBe(false);
    expect(header).toMatchObject({ complete: true, lost: 6 });
    expect(calls.length).toBe(result.account.calls);
    expect(service.requests()).toBeGreaterThanOrEqual(calls.length);
    expect(service.requests()).toBeLessThanOrEqual(calls.length + 6);
    expect(result.notes).toContain("up to 6 calls may have been sent that the trace has no line of");
  });

  test("by Ctrl-C, with k6's own summary", async () => {
    const path = await scenarioFile(folder, "stopped", busy("60s"));
    const out = join(folder, "stopped");
    const control = new AbortController();
    const service = counted();
    const running = run(path, out, {
      adjustments: { rules: wideRules },
      target: service,
      signal: control.signal,
    });
    await untilLines(join(out, "k6", "raw.ndjson"), 200);
    control.abort();
    const result = await running;
    const { header, calls } = await readTraceFile(result.trace);
    expect(result).toMatchObject({ interrupted: true, failure: null });
    expect(result.outcome.exitCode).toBe(105);
    // It counts what it had before the signal.
    expect(result.outcome.summary?.metrics["http_reqs"]?.values["count"]).toBeGreaterThan(100);
    expect(header.lost).toBe(6);
    expect(service.requests()).toBeGreaterThanOrEqual(calls.length);
    expect(service.requests()).toBeLessThanOrEqual(calls.length + 6);
  });

  // k6 ends with 0 where its lines cannot be written, and says so once a line on standard error.
  test("by a disk that was full from the start", async () => {
    const path = await scenarioFile(folder, "full", busy("1s", 2));
    const k6Path = await wrapper(
      folder,
      "k6-on-full-disk",
      `for word in "$@"; do case "$word" in */raw.ndjson) word=/dev/full;; esac; set -- "$@" "$word"; shift; done; exec "$REAL" "$@"`,
    );
    const service = counted();
    const result = await run(path, join(folder, "full"), {
      k6Path,
      adjustments: { rules: wideRules },
      target: service,
    });
    const { header, calls } = await readTraceFile(result.trace);
    expect(result.outcome.exitCode).toBe(0);
    expect(result.failure).toMatch(/^k6 could not write \d+ lines/);
    expect(calls).toEqual([]);
    expect(header.lost).toBeGreaterThanOrEqual(service.requests());
  });

  test("by a disk that becomes full: the trace ends with the last whole line", async () => {
    const path = await scenarioFile(folder, "filling", busy("2s"));
    // 64 blocks of 512 bytes: the line that reaches them is cut off, all later ones are refused, k6 goes on.
    const k6Path = await wrapper(folder, "k6-on-small-disk", `ulimit -f 64; exec "$REAL" "$@"`);
    const service = counted();
    const result = await run(path, join(folder, "filling"), {
      k6Path,
      adjustments: { rules: wideRules },
      target: service,
    });
    const { header, calls, text } = await readTraceFile(result.trace);
    expect(result.failure).toMatch(/^k6 could not write \d+ lines/);
    expect(calls.length).toBeGreaterThan(50);
    expect(text.endsWith("}\n")).toBe(true);
    expect(result.account.torn).toBe(1);
    expect(service.requests()).toBeGreaterThanOrEqual(calls.length);
    expect(service.requests()).toBeLessThanOrEqual(calls.length + Number(header.lost));
  });
});

describe("a scenario that is broken is seen", () => {
  // k6 itself ends with 0 where a script throws.
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
      folder,
      `throws-${name}`,
      `duration: "20s", populations: { broken: { clients: 2, behaviour: ${behaviour} } }`,
    );
    const error = await failure(run(path, join(folder, `throws-${name}`), { target: counted() }));
    expect(error.code).toBe("SCENARIO_FAILED");
    expect(error.exitCode).toBe(2);
    expect(error.problems[0]).toMatchObject({ got: "out of cheese" });
    expect(error.problems[0]?.path).toMatch(/^broken\/[01]$/);
    const { calls } = await readTraceFile(join(folder, `throws-${name}`, "trace.ndjson"));
    expect(calls.length).toBeGreaterThanOrEqual(1);
  });

  test("one that asks for what cannot be", async () => {
    const behaviour = `{ ...worker({ calls: [{ call: user }] }), next(record, event, out) { out.send(0, Number.NaN); } }`;
    const path = await scenarioFile(
      folder,
      "nan",
      `duration: "20s", populations: { broken: { clients: 1, behaviour: ${behaviour} } }`,
    );
    const error = await failure(run(path, join(folder, "nan"), { target: counted() }));
    expect(error.problems).toEqual([
      {
        path: "broken/0",
        got: "a call at NaN, which is no time",
        allowed: "no exception, calls that can be sent",
      },
    ]);
  });
});

describe("what stands around a run does not change it", () => {
  // k6 appends to what it finds.
  test("what an earlier run left in the folder", async () => {
    const path = await scenarioFile(folder, "again", busy("700ms", 2));
    const out = join(folder, "again");
    for (const service of [counted(), counted()]) {
      const result = await run(path, out, { adjustments: { rules: wideRules }, target: service });
      expect((await readTraceFile(result.trace)).calls).toHaveLength(service.requests());
    }
  });

  // One variable of more than 128 KiB, and no program can be started.
  test("a tokens file of half a megabyte", async () => {
    const path = await scenarioFile(folder, "rich", busy("500ms", 2));
    const tokens = tokensOf(2_000).map((token) => ({ ...token, token: token.token.padEnd(250, "x") }));
    const service = await countingService(wideRules, tokens);
    const result = await run(path, join(folder, "rich"), { target: { url: service.url, tokens } });
    await service.close();
    expect(result.account.failures.size).toBe(0);
    expect(result.account.calls).toBeGreaterThan(2);
  });

  test("K6_* variables of the shell, and a scenario's own words in the log", async () => {
    vi.stubEnv("K6_ITERATIONS", "2");
    vi.stubEnv("K6_DURATION", "1s");
    vi.stubEnv("K6_NO_CONNECTION_REUSE", "true");
    vi.stubEnv("TARGET", "http://192.0.2.1");
    try {
      const path = await scenarioFile(
        folder,
        "stubbed",
        `duration: "1500ms", populations: { four: { clients: 4, behaviour: { ...poller({ every: "500ms", call: user }), start() { console.log("hello", 5); return {}; } } } }`,
      );
      const service = counted();
      const result = await run(path, join(folder, "stubbed"), {
        adjustments: { rules: wideRules },
        target: service,
      });
      expect(result.account).toMatchObject({ clients: 4, calls: service.requests(), lost: 0 });
      expect(service.requests()).toBeGreaterThan(4);
      expect(result.notes).toEqual(Array.from({ length: 4 }, () => "the scenario printed: hello 5"));
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("another k6 at the same time", async () => {
    const path = await scenarioFile(folder, "twin", busy("2s", 2));
    const results = await Promise.all(
      ["a", "b"].map((name) =>
        run(path, join(folder, `twin-${name}`), { adjustments: { rules: wideRules }, target: counted() }),
      ),
    );
    for (const result of results) {
      expect(result.failure).toBeNull();
      expect(result.account.calls).toBe(result.outcome.summary?.metrics["http_reqs"]?.values["count"]);
    }
  });
});

describe("what cannot even begin is a coded error", () => {
  test("a folder that is a file", async () => {
    const path = await scenarioFile(folder, "begun", busy("1s"));
    const error = await failure(run(path, path, { target: counted() }));
    expect(error).toMatchObject({ code: "FILE_UNWRITABLE", exitCode: 2 });
    expect(error.problems[0]?.path).toContain("begun.ts");
  });

  test("a k6 that is gone", async () => {
    const path = await scenarioFile(folder, "begun", busy("1s"));
    const error = await failure(
      run(path, join(folder, "begun"), { k6Path: join(folder, "gone"), target: counted() }),
    );
    expect(error).toMatchObject({ code: "K6_FAILED", exitCode: 3 });
    expect(error.message).toContain("cannot be started");
  });

  test("a k6 that ends at once", async () => {
    const path = await scenarioFile(folder, "begun", busy("1s"));
    const k6Path = await wrapper(folder, "k6-broken", `echo "no such flag" >&2; exit 104`);
    const error = await failure(run(path, join(folder, "begun"), { k6Path, target: counted() }));
    expect(error).toMatchObject({ code: "K6_FAILED", hint: "k6's exit status was 104" });
    expect(error.message).toContain("no such flag");
  });
});

/** Waits until k6's raw file has so many lines. */
async function untilLines(path: string, lines: number): Promise<void> {
  for (;;) {
    const text = await readFile(path, "utf8").catch(() => "");
    if (text.split("\n").length > lines) return;
    await wait(50);
  }
}
