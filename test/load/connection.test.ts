// Targets of https, by both drivers: whom they trust, who trusts them, and the proxy between.
// @module-tag real-time
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readConnection } from "../../src/cli/connection-options.ts";
import type { ConnectionOptions } from "../../src/connect/connection.ts";
import { connectionVariables } from "../../src/load/by-k6.ts";
import { pem, pemPath, secureService as served, tunnelProxy } from "../connect/tls.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { testFolder } from "./folder.ts";
import { drivers, readTraceFile, scenarioFile, textsBelow, tokensOf, wideRules } from "./support.ts";

const folder = testFolder();
let runs = 0;

const tokens = tokensOf(2);
const body = `duration: "900ms", populations: { one: { clients: 1, behaviour: worker({ calls: [{ call: user }], think: "20ms" }) }, other: { clients: 1, behaviour: worker({ calls: [{ call: pipelinesQuery(3) }], think: "20ms" }) } }`;

const secureService = (options: { readonly asksForClients: boolean }) =>
  served({ rules: wideRules, tokens }, options);

describe.concurrent.each(drivers)("by $driver", ({ needs, run }) => {
  async function loaded(url: string, connection: ConnectionOptions, allowHost?: string) {
    runs += 1;
    const name = `secure-${runs}`;
    const path = await scenarioFile(folder.path, name, body);
    const out = join(folder.path, name);
    return { out, ...(await run(path, out, { target: { url, tokens, allowHost }, ...connection })) };
  }

  describe("a target of https", needs, () => {
    test("is loaded by the word of an authority of one's own", async () => {
      const service = await secureService({ asksForClients: false });
      const result = await loaded(service.url, { tls: { ca: pem("ca") } });
      const { header, calls } = await readTraceFile(result.trace);
      expect(header.target).toBe(service.url);
      expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200]));
      expect(new Set(calls.map(({ scope }) => scope))).toEqual(new Set(["rest", "graphql"]));
      await service.close();
    });

    test("is none that an authority unknown here vouches for", async () => {
      const service = await secureService({ asksForClients: false });
      const error = await codedErrorOf(loaded(service.url, {}));
      expect(error.code).toBe("TARGET_UNREACHABLE");
      expect(error.problems[0]?.got).toBe("a certificate that nobody known here vouches for");
      expect(error.hint).toContain("--ca FILE");
      await service.close();
    });

    test("that asks for certificates lets in who has one, and nobody else", async () => {
      const service = await secureService({ asksForClients: true });
      const ca = pem("ca");
      const error = await codedErrorOf(loaded(service.url, { tls: { ca } }));
      expect(error.code).toBe("TARGET_UNREACHABLE");
      const result = await loaded(service.url, { tls: { ca, cert: pem("client"), key: pem("client-key") } });
      expect(result.account).toMatchObject({ unanswered: 0 });
      expect(result.account.calls).toBeGreaterThan(2);
      for (const text of (await textsBelow(result.out)).values())
        expect(text).not.toContain(pem("client-key").split("\n")[1]);
      await service.close();
    });
  });

  describe("a proxy", needs, () => {
    test("leads to targets of https elsewhere, and its password is in no file or result", async () => {
      const service = await secureService({ asksForClients: true });
      const proxy = await tunnelProxy(service.port);
      const tls = { ca: pem("ca"), cert: pem("client"), key: pem("client-key") };
      const url = "https://staging.test";
      const result = await loaded(url, { tls, proxy: { url: proxy.url, except: "" } }, "staging.test");
      const { text, calls } = await readTraceFile(result.trace);
      expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200]));
      expect(new Set(proxy.asked)).toEqual(new Set(["staging.test:443"]));
      expect(text + JSON.stringify(result)).not.toContain("secret@");
      await proxy.close();
      await service.close();
    });

    test("is never used for loopback, nor for hosts that it is not for", async () => {
      const service = await secureService({ asksForClients: false });
      const proxy = await tunnelProxy(service.port);
      const tls = { ca: pem("ca") };
      await loaded(service.url, { tls, proxy: { url: proxy.url, except: "" } });
      const away = { tls, proxy: { url: proxy.url, except: "staging.test" } };
      const error = await codedErrorOf(loaded("https://staging.test", away, "staging.test"));
      expect(error.problems[0]?.got).toBe("no such host");
      expect(proxy.asked).toEqual([]);
      await proxy.close();
      await service.close();
    });

    test("that refuses is said", async () => {
      const proxy = await tunnelProxy(1);
      const wrong = proxy.url.replace("secret", "wrong");
      const options = { proxy: { url: wrong, except: "" } };
      const error = await codedErrorOf(loaded("https://staging.test", options, "staging.test"));
      expect(error.code).toBe("TARGET_UNREACHABLE");
      expect(error.message).toContain("407");
      expect(error.message).not.toContain("wrong");
      await proxy.close();
    });
  });
});

test.each(["darwin", "win32"] as const)("k6 cannot be told of an authority on %s", async (platform) => {
  const error = await codedErrorOf(connectionVariables(folder.path, { tls: { ca: pem("ca") } }, platform));
  expect(error.code).toBe("USAGE");
  expect(error.problems[0]?.allowed).toContain("--driver node");
});

describe("the options of a connection", () => {
  const url = "https://staging.test";
  const [cert, key] = [pemPath("client"), pemPath("client-key")];

  test("are read from files; the proxy is the environment's", async () => {
    const env = { HTTPS_PROXY: "http://proxy:3128", no_proxy: "a.test" };
    expect(await readConnection({ ca: pemPath("ca"), cert, key }, url, env)).toEqual({
      tls: { ca: pem("ca"), cert: pem("client"), key: pem("client-key") },
      proxy: { url: "http://proxy:3128", except: "a.test" },
    });
    expect(await readConnection({}, undefined, {})).toEqual({ tls: {} });
  });

  test.each([
    ["a certificate without its key", { cert }, url, "USAGE", /--cert and --key go together/],
    [
      "one for a target of http",
      { ca: cert },
      "http://127.0.0.1:1",
      "USAGE",
      /--ca needs a --target of https/,
    ],
    ["one without a target", { cert, key }, undefined, "USAGE", /--cert needs a --target of https/],
    ["a file that is none", { ca: "nosuch.pem" }, url, "FILE_UNREADABLE", /nosuch\.pem: got no such file/],
    ["a key in place of a certificate", { ca: key }, url, "FILE_UNREADABLE", /allowed: a certificate in PEM/],
    [
      "a certificate in place of a key",
      { cert, key: cert },
      url,
      "FILE_UNREADABLE",
      /allowed: a private key in PEM/,
    ],
    ["another's key", { cert, key: pemPath("server-key") }, url, "FILE_UNREADABLE", /its own private key/],
    [
      "a key under a passphrase",
      { cert, key: pemPath("locked-key") },
      url,
      "FILE_UNREADABLE",
      /no passphrase/,
    ],
  ])("%s is refused", async (_, args, target, code, message) => {
    const error = await codedErrorOf(readConnection(args, target, {}));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain("BEGIN");
  });
});
