// Limiters of others behind HTTP, and the runs by which they are judged: each is described by a policy alone.
import { createReadStream } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import fastifyRateLimit from "@fastify/rate-limit";
// @ts-expect-error express has no types of its own
import express from "express";
import { rateLimit } from "express-rate-limit";
import fastify from "fastify";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { presets } from "../../src/policy/presets.ts";
import type { QuotaVerdict } from "../../src/verify/verdict.ts";
import { verify } from "../../src/verify/verify.ts";
import { type drivers, runNode } from "./support.ts";

export const limit = 12;
export const windowMs = 5000;

export const tokensOf = (names: string) =>
  Array.from({ length: 24 }, (_, index) => ({
    token: `secret-${names}-${index}`,
    attributes: { client: `${names}-${index}` },
  }));

/**
 * Clients that call side by side, alone and in bursts, above and below the limit. Rare calls open windows alone, surely after
 * the last one ended: what such a call was charged tells a higher limit, where resets are whole seconds.
 * @param times how many times longer than windows of 5 s it all takes
 * @param method of the calls
 */
export const clients = (times = 1, method = "GET", path = ""): string => {
  const call = (end: string): string => `rest("${path || `/${end}`}", { method: "${method}" })`;
  const ms = (each: number): string => `"${each * times}ms"`;
  return `duration: "${16 * times}s", seed: 5, populations: {
  steady: { clients: 3, user: "each", behaviour: worker({ calls: [{ call: ${call("")} }], think: { least: ${ms(50)}, most: ${ms(600)} } }), onRefused: none() },
  together: { clients: 4, user: "shared", behaviour: burst({ call: ${call("a")}, size: 4, every: "${2 * times}s" }), onRefused: none() },
  slow: { clients: 1, user: "each", behaviour: worker({ calls: [{ call: ${call("b")} }], think: ${ms(700)} }), onRefused: none() },
  rare: { clients: 16, user: "each", behaviour: worker({ calls: [{ call: ${call("c")} }], think: { least: ${ms(900)}, most: ${ms(2900)} } }), onRefused: none() },
}`;
};

export interface Started {
  readonly url: string;
  close(): Promise<void>;
}

export type Start = (limit: number) => Promise<Started>;

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

export const withExpress =
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

export const withFastify: Start = async (most) => {
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
export function described(name: string): Policy {
  const policy = parsePolicy(presets[name]?.policy);
  const [[quota, rules] = []] = Object.entries(policy.quotas);
  if (quota === undefined || rules === undefined) throw new RangeError(`${name} has no quota`);
  const algorithm = { ...rules.algorithm, limit, windowSeconds: windowMs / 1000 } as typeof rules.algorithm;
  return { ...policy, quotas: { [quota]: { ...rules, algorithm } } };
}

/** A proxy that shows clients the limit that is described, and not the one that is kept, in headers and bodies. */
export async function disguised(start: Start, most: number): Promise<Started> {
  const behind = await start(most);
  const rewritten = (text: string): string => text.replace(new RegExp(`\\b${most}\\b`, "g"), String(limit));
  const passed = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { authorization = "" } = request.headers;
    const { method = "GET", url = "/" } = request;
    const sent: Buffer[] = [];
    for await (const part of request) sent.push(part as Buffer);
    const body = sent.length === 0 ? null : Buffer.concat(sent);
    const answer = await fetch(behind.url + url, { method, headers: { authorization }, body });
    for (const [name, value] of answer.headers)
      if (/rate-?limit/i.test(name)) response.setHeader(name, rewritten(value));
      else if (/retry-after|date/i.test(name)) response.setHeader(name, value);
    response.statusCode = answer.status;
    response.end(rewritten(await answer.text()));
  };
  const proxy = await listening((request, response) => {
    // A connection that breaks on one side is cut on the other, as without a proxy.
    passed(request, response).catch(() => response.destroy());
  });
  return { url: proxy.url, close: async () => void (await Promise.all([proxy.close(), behind.close()])) };
}

export interface JudgedRun {
  readonly policy: Policy;
  readonly scenario: string;
  /** Folder of the run. */
  readonly place: string;
  readonly tokens: readonly {
    readonly token: string;
    readonly attributes: Readonly<Record<string, string>>;
  }[];
  readonly run?: (typeof drivers)[number]["run"];
}

/** Number of windows that the verdict of a run has to rest on. */
export const leastWindows = 6;

/**
 * Loads a server, and judges what came back. A run whose answers came too late to tell their windows says nothing of the
 * server: on a machine that was that busy, it is done anew, twice at most.
 */
export async function judged(run: JudgedRun, start: () => Promise<Started>): Promise<QuotaVerdict> {
  for (let attempt = 1; ; attempt += 1) {
    const verdict = await judgedOnce({ ...run, place: join(run.place, String(attempt)) }, start);
    if (verdict.windows >= leastWindows || attempt === 3) return verdict;
  }
}

async function judgedOnce(
  { policy, scenario, place, tokens, run = runNode }: JudgedRun,
  start: () => Promise<Started>,
): Promise<QuotaVerdict> {
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

export const placeOf = (folder: string, count: number): string => join(folder, String(count));
