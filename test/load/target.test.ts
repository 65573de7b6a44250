// Checks of a target before a run begins, and targets that fail while it runs.
// @module-tag real-time
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseTarget } from "../../src/connect/target.ts";
import { preflight } from "../../src/load/preflight.ts";
import type { Token } from "../../src/rules/tokens.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { testFolder } from "./folder.ts";
import {
  countingService,
  drivers,
  fakeTarget,
  plainHeaders,
  readTraceFile,
  run,
  runNode,
  scenarioFile,
  textsBelow,
  tokensOf,
  wideRules,
  wrapper,
} from "./support.ts";

const folder = testFolder();

test("neither target nor GraphQL may be elsewhere without leave", async () => {
  const path = await scenarioFile(folder.path, "small", small("1s"));
  const [url, tokens] = ["http://127.0.0.1:1", tokensOf(3)];
  for (const target of [
    { url: "http://192.0.2.1", tokens },
    { url: "http://192.0.2.1", tokens, allowHost: "192.0.2.2" },
    { url, tokens, graphqlUrl: "http://192.0.2.1/graphql" },
  ]) {
    const error = await codedErrorOf(runNode(path, join(folder.path, "elsewhere"), { target }));
    expect(error.code).toBe("TARGET_NOT_ALLOWED");
    expect(error.problems[0]?.allowed).toBe("this machine, or --allow-host 192.0.2.1");
  }
});

test("too few tokens are said before anything is sent", async () => {
  const path = await scenarioFile(folder.path, "small", small("1s"));
  const target = { url: "http://127.0.0.1:1", tokens: tokensOf(2) };
  const error = await codedErrorOf(runNode(path, join(folder.path, "few"), { target }));
  expect(error.code).toBe("TOKENS_INVALID");
  expect(error.problems[0]?.allowed).toContain("tokens of 3 users or more");
});

describe.concurrent("before the run, a target is seen to be", () => {
  const asked = async (url: string, tokens: readonly Token[] = tokensOf(1)) =>
    (await codedErrorOf(preflight(parseTarget("--target", url), tokens, { timeoutMs: 1_000 }))).problems[0]
      ?.got;

  test("closed", async () => {
    const closed = await fakeTarget(() => {});
    await closed.close();
    expect(await asked(closed.url)).toBe("connection refused");
  });

  test("silent", async () => {
    const target = await fakeTarget(() => {});
    expect(await asked(target.url)).toBe("no answer within 1000 ms");
    await target.close();
  });

  test("silent for as long as the run waits for an answer", async () => {
    const path = await scenarioFile(
      folder.path,
      "patient",
      `duration: "1s", populations: { one: { clients: 1, behaviour: poller({ every: "1s", call: user }) } }`,
    );
    const silent = await fakeTarget(() => {});
    const options = { target: { url: silent.url, tokens: tokensOf(1) }, timeoutMs: 300 };
    const error = await codedErrorOf(runNode(path, join(folder.path, "patient"), options));
    expect(error.problems[0]?.got).toBe("no answer within 300 ms");
    await silent.close();
  });

  test("silent in the middle of its answer", async () => {
    const target = await fakeTarget((_request, response) => void response.writeHead(200).write("{"));
    expect(await asked(target.url)).toBe("no answer within 1000 ms");
    await target.close();
  });

  test("hanging up", async () => {
    const server = createServer((socket) => void socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    expect(await asked(`http://127.0.0.1:${port}`)).toBe("the connection was closed without an answer");
    await new Promise((resolve) => server.close(resolve));
  });

  test.each([
    [200, "text/html", "<!doctype html><title>hello</title>", "200 and HTML"],
    [502, "text/html", "<h1>Bad gateway</h1>", "502 and HTML"],
    [200, "application/json", "{}", '200 and "{}"'],
    [500, "application/json", '{"message":"no"}', '500 and "{\\"message\\":\\"no\\"}"'],
    [401, "application/json", "{}", "401: the token of user-0 is not known there"],
    [403, "application/json", "{}", "403: the token of user-0 may not read the status"],
    [404, "application/json", "{}", '404: no organization "acme" there, or the token of user-0 is not of it'],
  ])("answering %i %s %s", async (status, type, body, got) => {
    const target = await fakeTarget((_request, response) => {
      response.writeHead(status, { "Content-Type": type }).end(body);
    });
    expect(await asked(target.url)).toBe(got);
    await target.close();
  });

  test("a redirect, which is not followed", async () => {
    let requests = 0;
    const target = await fakeTarget((_request, response) => {
      requests += 1;
      response.writeHead(302, { Location: "http://192.0.2.1/" }).end();
    });
    expect(await asked(target.url)).toBe('302, a redirect to "http://192.0.2.1/"');
    expect(requests).toBe(1);
    await target.close();
  });

  test("right, by a token that may read the status, or with none that may", async () => {
    const readers = [{ ...tokensOf(1)[0], scopes: ["read_user"] as const }, tokensOf(2)[1]] as Token[];
    const service = await countingService(wideRules, readers);
    const target = parseTarget("--target", service.url);
    await preflight(target, readers);
    await preflight(target, readers.slice(0, 1));
    expect(service.requests()).toBe(2);
    await service.close();
  });
});

const small = (duration: string): string =>
  `duration: "${duration}", populations: { three: { clients: 3, behaviour: worker({ calls: [{ call: user }], think: "20ms" }) } }`;

for (const { driver, needs, run } of drivers)
  describe.concurrent(`while the run is on, by ${driver}`, needs, () => {
    const own = testFolder();

    test("a target that dies half-way: the run goes on, and says so", async () => {
      const path = await scenarioFile(own.path, "dying", small("3s"));
      let left = 60;
      const target = await fakeTarget((request, response) => {
        response.writeHead(200, plainHeaders);
        response.end(
          request.url?.endsWith("/rate_limit") === true ? '{"scopes":{"rest":{},"graphql":{}}}' : "{}",
        );
        left -= 1;
        if (left === 0) void target.close();
      });
      const out = join(own.path, "dying");
      const result = await run(path, out, { target: { url: target.url, tokens: tokensOf(3) } });
      const { header, calls } = await readTraceFile(result.trace);
      expect(result.failure).toMatch(
        /^the target stopped answering at \S+ UTC: none of the [\d,]+ calls since then/,
      );
      expect(calls.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(55);
      expect(calls.at(-1)).toMatchObject({ status: 0, error: "refused", limit: null });
      if (result.driver === "k6")
        expect(calls.length).toBe(result.outcome.summary?.metrics["http_reqs"]?.values["count"]);
      expect(header).toMatchObject({ complete: true, lost: 0 });
    });

    test("a target that answers nothing in time", async () => {
      const path = await scenarioFile(own.path, "hanging", small("1s"));
      const target = await fakeTarget((request, response) => {
        if (request.url?.endsWith("/rate_limit") === true)
          response.end('{"scopes":{"rest":{},"graphql":{}}}');
      });
      const options = { target: { url: target.url, tokens: tokensOf(3) }, timeoutMs: 1_200 };
      const result = await run(path, join(own.path, "hanging"), options);
      await target.close();
      const { calls } = await readTraceFile(result.trace);
      expect(result.failure).toBe("the target answered none of 3 calls");
      expect(calls.map(({ status, error }) => [status, error])).toEqual(
        Array.from({ length: 3 }, () => [0, "timeout"]),
      );
    });

    test("a redirect is an answer like any other, and leads nowhere", async () => {
      const path = await scenarioFile(own.path, "led", small("500ms"));
      const elsewhere = await countingService(wideRules, tokensOf(3));
      const target = await fakeTarget((request, response) => {
        if (request.url?.endsWith("/rate_limit") === true)
          response.end('{"scopes":{"rest":{},"graphql":{}}}');
        else response.writeHead(302, { ...plainHeaders, Location: `${elsewhere.url}/v2/user` }).end();
      });
      const result = await run(path, join(own.path, "led"), {
        target: { url: target.url, tokens: tokensOf(3) },
      });
      const { calls } = await readTraceFile(result.trace);
      expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([302]));
      expect(elsewhere.requests()).toBe(0);
      await Promise.all([target.close(), elsewhere.close()]);
    });
  });

test.concurrent("by k6, each call has a connection of its own, unless it is told otherwise", {
  tags: ["k6"],
}, async () => {
  const path = await scenarioFile(folder.path, "connected", small("700ms"));
  for (const keepAlive of [false, true]) {
    const target = await fakeTarget((request, response) => {
      const isStatus = request.url?.endsWith("/rate_limit") === true;
      response.writeHead(200, plainHeaders).end(isStatus ? '{"scopes":{"rest":{},"graphql":{}}}' : "{}");
    });
    let connections = 0;
    target.server.on("connection", () => {
      connections += 1;
    });
    const options = { target: { url: target.url, tokens: tokensOf(3) }, keepAlive };
    const result = await run(path, join(folder.path, "connected"), options);
    await target.close();
    const { header, calls } = await readTraceFile(result.trace);
    // One more for the status that was asked for before the run.
    expect(connections).toBe(keepAlive ? 4 : calls.length + 1);
    // k6's transport may have repeated a call on a connection that broke.
    expect(header.complete).toBe(!keepAlive);
  }
});

test.concurrent("no token is in any file, in what k6 says, or on a command line", {
  tags: ["k6"],
}, async () => {
  const path = await scenarioFile(folder.path, "secret", small("4s"));
  const tokens = tokensOf(3);
  // A target that gives back what it was given.
  const target = await fakeTarget((request, response) => {
    if (request.url?.endsWith("/rate_limit") === true)
      return void response.end('{"scopes":{"rest":{},"graphql":{}}}');
    const body = JSON.stringify({ message: `${request.headers.authorization} has exceeded the limit` });
    response.writeHead(429, plainHeaders).end(body);
  });
  const k6Path = await wrapper(
    folder.path,
    "k6-watched",
    `echo "$@" > '${folder.path}/argv'; exec "$REAL" "$@"`,
  );
  const out = join(folder.path, "secret");
  const result = await run(path, out, { k6Path, target: { url: target.url, tokens } });
  await target.close();
  const texts = await textsBelow(out);
  expect([...texts.keys()].map((name) => name.slice(out.length + 1)).sort()).toEqual(
    expect.arrayContaining(["k6/dashboard.html", "k6/summary.json", "trace.ndjson"]),
  );
  expect(texts.get(result.trace)).toContain('"refusal":{"message":"Bearer <token> has exceeded the limit"}');
  const argv = await readFile(join(folder.path, "argv"), "utf8");
  expect(argv).toContain("--console-output");
  for (const text of [...texts.values(), argv, JSON.stringify(result)])
    expect(text).not.toContain("secret-token");
});
