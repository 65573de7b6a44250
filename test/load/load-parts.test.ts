// A load run whose clients are the test's own: what they are given, and what is made of what they tell.
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { Account } from "../../src/load/account.ts";
import { type LoadOptions, load } from "../../src/load/load.ts";
import type { NodePart, NodeTask } from "../../src/load/node/run.ts";
import { type LoadedScenario, loadScenarioFile } from "../../src/load/scenario-file.ts";
import { TraceFile } from "../../src/load/trace-file.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { testFolder } from "./folder.ts";
import { fakeTarget, lineByPolicy, readTraceFile, scenarioFile, tokensOf } from "./support.ts";

const folder = testFolder();
const url = "http://127.0.0.1:1";
const github = parsePolicy(presets["github"]?.policy);
const users = [{ token: "a-secret", attributes: { user: "ann" } }];
let scenario: LoadedScenario;
beforeAll(async () => {
  const body = `duration: "2s", seed: 7, network: { timeout: "4s", loss: 0.01 }, populations: { agents: { clients: 1, behaviour: poller({ every: "1s", call: user }) } }`;
  scenario = await loadScenarioFile(await scenarioFile(folder.path, "some", body));
});

const lateness = { calls: 2, p50Ms: 1, p99Ms: 3, maxMs: 4 };
/** Parts as a thread tells them, of `calls` calls, one in each. */
function partsOf(calls: number, tell: (account: Account) => void = () => {}): NodePart[] {
  const account = new Account(500);
  account.begin("agents/0", 700);
  return Array.from({ length: calls + 1 }, (_, at) => {
    if (at > 0) account.call({ status: 200, sent: 1000 * at, received: 1000 * at + 5 });
    if (at === calls) {
      account.end("agents/0");
      tell(account);
    }
    return {
      lines: at === 0 ? "" : lineByPolicy(at - 1, 1000 * at),
      count: at === 0 ? 0 : 1,
      account: account.finish(0),
      checks: [],
      lateness,
      elapsedMs: 300 * at,
      tightest: null,
    };
  });
}

let count = 0;
/** Runs parts; after them, `end` is thrown. */
async function ran(parts: readonly NodePart[], options: Partial<LoadOptions> = {}, end?: Error) {
  count += 1;
  const tasks: NodeTask[] = [];
  const told: unknown[] = [];
  const place = join(folder.path, `run${count}`);
  const result = load({
    scenario,
    folder: place,
    adjustments: { policy: github },
    target: { url, tokens: users },
    by: { driver: "node", because: null },
    async *drive(task) {
      tasks.push(task);
      yield* parts;
      if (end !== undefined) throw end;
    },
    onProgress: (progress) => told.push(progress),
    ...options,
  });
  return { result, tasks, told, place };
}

test("clients get the run's settings, and what they tell is the run's account and trace", async () => {
  const { result, tasks, told, place } = await ran(partsOf(3));
  const { account, header, ...rest } = await result;
  expect(rest).toMatchObject({
    driver: "node",
    lateness,
    complete: true,
    checks: [],
    crossed: [],
    interrupted: false,
    failure: null,
    trace: join(place, "trace.ndjson"),
    notes: ["the scenario's loss: in virtual time only, the target is as it is"],
  });
  expect(account).toMatchObject({ calls: 3, clients: 1, cutOff: 0, lost: 0 });
  const { startAtMs, ...changes } = tasks[0]?.changes ?? { startAtMs: 0 };
  expect(startAtMs).toBeGreaterThan(1_700_000_000_000);
  expect(changes).toEqual({ seed: 7, durationMs: 2000, rules: null, policy: github });
  expect(tasks[0]).toMatchObject({
    settings: {
      shared: false,
      base: url,
      graphqlUrl: `${url}/graphql`,
      callers: [[{ organization: "acme", user: "ann", token: "a-secret", attributes: { user: "ann" } }]],
    },
    timeoutMs: 4000,
  });
  expect(header).toMatchObject({
    version: 2,
    source: "node",
    scenario: "some",
    seed: 7,
    target: url,
    startedAt: 700,
    policy: github,
    complete: true,
  });
  const written = await readTraceFile(join(place, "trace.ndjson"));
  expect(written.header).toMatchObject({ startedAt: 700, lost: 0, complete: true });
  expect(written.text.trimEnd().split("\n").slice(1)).toEqual([
    lineByPolicy(0, 1000),
    lineByPolicy(1, 2000),
    lineByPolicy(2, 3000),
  ]);
  // Every 500 ms at most: the parts come every 300.
  const progress = { refused: 0, tightest: null, lateMs: 3, durationMs: 2000 };
  expect(told).toEqual([
    { elapsedMs: 0, calls: 0, ...progress },
    { elapsedMs: 600, calls: 2, ...progress },
  ]);
});

test("queries go where they are sent to, a slash at its end included", async () => {
  const target = { url, tokens: users, graphqlUrl: `${url}/g/` };
  const { result, tasks } = await ran(partsOf(1), { target });
  await result;
  expect(tasks[0]?.settings.graphqlUrl).toBe(`${url}/g/`);
});

test.each<[string, Partial<LoadOptions>, boolean]>([
  ["others use the quotas", { shared: true }, false],
  ["connections are kept, by Node", { keepAlive: true }, true],
  ["nobody else calls", { timeoutMs: 70 }, true],
])("the trace is complete as far as that can be: %s", async (_, options, complete) => {
  const { result, tasks } = await ran(partsOf(1), options);
  expect((await result).complete).toBe(complete);
  expect(tasks[0]?.settings.shared).toBe(!complete);
  expect(tasks[0]?.timeoutMs).toBe(options.timeoutMs ?? 4000);
});

describe("a service of the run's own", () => {
  test.each([
    ["by rules", { rules: parseRules({ user: { rest: { limit: 7 } } }) }, 7],
    ["by the default ones", {}, 50],
  ] as const)("%s", async (_, adjustments, limit) => {
    let isClosed = false;
    const { result } = await ran(partsOf(0), {
      adjustments,
      shared: true,
      target: {
        start: async ({ rules, tokens, policy }) => {
          expect([rules.user.rest.limit, tokens.length, policy]).toEqual([limit, 1, undefined]);
          return {
            url,
            close: async () => {
              isClosed = true;
            },
          };
        },
      },
    });
    expect(await result).toMatchObject({
      complete: true,
      header: { version: 1, rules: { user: { rest: { limit } } } },
    });
    expect(isClosed).toBe(true);
  });

  test("or a stand-in by a policy", async () => {
    const { result } = await ran(partsOf(0), {
      target: {
        start: async ({ tokens, policy }) => {
          expect(tokens).toEqual([]);
          expect(policy).toMatchObject({ policy: github, tokens: [{ attributes: { user: "agents-0" } }] });
          return { url, close: async () => {} };
        },
      },
    });
    await result;
  });
});

test("a target of the default API is asked for its status first, and one by a policy is not", async () => {
  const { url: there, close } = await fakeTarget((_request, response) =>
    response.writeHead(200).end('{"scopes": {"rest": {}}}'),
  );
  const { result, told } = await ran(partsOf(0), {
    adjustments: {},
    target: { url: there, tokens: tokensOf(1) },
  });
  await result;
  await close();
  expect(told[0]).toEqual({ doing: `asking ${there} for its status` });
  expect(told).toHaveLength(2);
  const unreachable = await ran(partsOf(0), { adjustments: {}, target: { url: there, tokens: tokensOf(1) } });
  expect(await codedErrorOf(unreachable.result)).toMatchObject({ code: "TARGET_UNREACHABLE" });
  expect(unreachable.tasks).toEqual([]);
});

describe("a run that does not end well", () => {
  test("of a client that failed names it, and what it said first", async () => {
    const { result } = await ran(partsOf(1, (account) => account.fail("agents/0", "no call\nat step")));
    expect(await codedErrorOf(result)).toMatchObject({
      code: "SCENARIO_FAILED",
      problems: [{ path: "agents/0", got: "no call", allowed: "no exception, calls that can be sent" }],
    });
  });

  const interrupted = new SpillwayError("INTERRUPTED", "the clients were ended\nby a signal");

  test("after a signal keeps what was told, and says what is missing", async () => {
    const control = new AbortController();
    const { result } = await ran(
      partsOf(2),
      {
        signal: control.signal,
        onProgress: () => control.abort(),
      },
      interrupted,
    );
    expect(await result).toMatchObject({
      complete: false,
      interrupted: true,
      failure: null,
      account: { calls: 2 },
      notes: [expect.any(String), "the clients were ended: the last calls are missing"],
    });
  });

  test("by itself is that error, beside the trace of what was told", async () => {
    const { result, place } = await ran(partsOf(2), {}, interrupted);
    expect(await codedErrorOf(result)).toMatchObject({ code: "INTERRUPTED" });
    expect((await readTraceFile(join(place, "trace.ndjson"))).header).toMatchObject({ complete: false });
  });

  test.each([
    ["that told nothing", [], interrupted, { code: "INTERRUPTED" }],
    ["by an error that is no coded one", partsOf(1), new TypeError("oops"), { message: "oops" }],
  ])("%s leaves no trace", async (_, parts, end, expected) => {
    const { result, place } = await ran(parts, {}, end);
    await expect(result).rejects.toMatchObject(expected);
    await expect(readTraceFile(join(place, "trace.ndjson"))).rejects.toThrow("ENOENT");
  });

  test("for want of room counts the lines that are missing, and says why", async () => {
    const create = TraceFile.create.bind(TraceFile);
    vi.spyOn(TraceFile, "create").mockImplementation(async (path, head) =>
      Object.assign(await create(path, head), { failure: new Error("no space left") }),
    );
    const parts = partsOf(3).map((part) => ({ ...part, account: { ...part.account, lost: 5 } }));
    const { result, place } = await ran(parts);
    expect(await result.finally(() => vi.restoreAllMocks())).toMatchObject({
      failure: "3 lines of the trace could not be written: no space left",
      account: { calls: 0, lost: 8 },
    });
    const { header, calls } = await readTraceFile(join(place, "trace.ndjson"));
    expect([header.lost, calls]).toEqual([8, []]);
  });

  test("of a target that fell silent says so", async () => {
    const { result } = await ran(
      partsOf(1, (account) => {
        for (const sent of [2000, 2001]) account.call({ status: 0, sent, received: sent });
      }),
    );
    expect(await result).toMatchObject({
      failure: "the target stopped answering at 00:00:01 UTC: none of the 2 calls since then has an answer",
    });
  });
});
