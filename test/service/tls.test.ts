// The reference deployment by TLS: a certificate of its own, HTTP/2 and HTTP/1.1 on one port, and a gentle end.
import { X509Certificate } from "node:crypto";
import { connect } from "node:http2";
import { get } from "node:https";
import { afterEach, expect, test } from "vitest";
import { parseRules } from "../../src/rules/parse.ts";
import { type Token, tokenScopes } from "../../src/rules/tokens.ts";
import { selfSigned } from "../../src/service/self-signed.ts";
import { type Serving, serve } from "../../src/service/serve.ts";
import { spillwayHere } from "../support/command.ts";

const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const tokens: Token[] = [{ token: "t", user: "ann", organization: "acme", scopes: tokenScopes }];
const path = "/v2/organizations/acme/pipelines";
const authorization = "Bearer t";
let serving: Serving | null = null;
afterEach(() => serving?.close());

async function start() {
  const own = selfSigned([], Date.now());
  serving = await serve({ rules: parseRules({}), tokens, port: 0, tls: own, now: () => nowMs });
  return { ca: own.cert, serving };
}

test("a certificate is its own authority, for names and addresses of this machine and others", () => {
  const { cert, key } = selfSigned(["api.test", "10.1.2.3", "fe80::1"], nowMs);
  const read = new X509Certificate(cert);
  expect(read.verify(read.publicKey)).toBe(true);
  expect(read.ca).toBe(true);
  // Version 3, which has extensions, is written as 2 (RFC 5280 §4.1.2.1).
  expect(read.raw.includes(Buffer.from("a003020102", "hex"))).toBe(true);
  expect(key).toContain("BEGIN PRIVATE KEY");
  for (const host of ["localhost", "api.test"]) expect(read.checkHost(host)).toBe(host);
  for (const address of ["127.0.0.1", "::1", "10.1.2.3", "fe80::1"])
    expect(read.checkIP(address), address).toBe(address);
  expect(read.checkHost("elsewhere.test")).toBeUndefined();
  expect(Date.parse(read.validFrom)).toBe(nowMs - 86_400_000);
  expect(Date.parse(read.validTo)).toBe(nowMs + 30 * 86_400_000);
});

test.each([
  ["10.1.2.3", "10.1.2.3"],
  ["1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"],
  ["2001:DB8::", "2001:db8::"],
  ["1::7:8", "1::7:8"],
  ["::ffff:10.1.2.3", "::ffff:a01:203"],
  ["fe80::1%eth0", "fe80::1"],
])("a certificate for %s is for the address %s", (host, address) => {
  const read = new X509Certificate(selfSigned([host], nowMs).cert);
  expect(read.checkIP(address)).toBe(address);
  expect(read.subjectAltName?.match(/IP Address/g)).toHaveLength(3);
});

test("a certificate can be read, however long its parts are", () => {
  const near = (least: number) => Array.from({ length: 80 }, (_, at) => least + at);
  for (const length of [1, ...near(30), ...near(160), 900]) {
    const host = "a".repeat(length);
    const { subjectAltName, serialNumber } = new X509Certificate(selfSigned([host], nowMs).cert);
    expect(subjectAltName).toContain(
      `DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:${host}`,
    );
    expect(serialNumber).toMatch(/^[4-7][\dA-F]{31}$/);
  }
});

test("no two certificates are alike", () => {
  const [one, other] = [selfSigned([], nowMs), selfSigned([], nowMs)];
  expect(new X509Certificate(one.cert).serialNumber).not.toBe(new X509Certificate(other.cert).serialNumber);
});

test("HTTP/1.1 and HTTP/2 are answered alike, and counted together", async () => {
  const {
    ca,
    serving: { url },
  } = await start();
  expect(url).toMatch(/^https:/);
  const first = await new Promise<string | string[] | undefined>((resolve, reject) =>
    get(url + path, { ca, headers: { authorization } }, (answer) => {
      answer.resume();
      resolve(answer.headers["ratelimit-user-remaining"]);
    }).on("error", reject),
  );
  const session = connect(url, { ca });
  const stream = session.request({ ":path": path, authorization });
  const [second, status] = await new Promise<[unknown, unknown]>((resolve, reject) => {
    stream.on("error", reject);
    stream.on("response", (headers) => {
      stream.resume();
      resolve([headers["ratelimit-user-remaining"], headers[":status"]]);
    });
  });
  expect([first, second, status]).toEqual(["49", "48", 200]);
  // An open session does not hold it up.
  await serving?.close();
  session.destroy();
}, 5000);

test("who does not trust the certificate gets no answer", async () => {
  const {
    serving: { url },
  } = await start();
  const code = await new Promise((resolve) =>
    get(url, () => resolve("an answer")).on("error", (error) =>
      resolve((error as NodeJS.ErrnoException).code),
    ),
  );
  expect(code).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
});

test("a certificate without its key is a mistake", async () => {
  const { code, stderr } = await spillwayHere(["serve", "--port", "0", "--tls-cert", "nowhere.pem"]);
  expect(code).toBe(2);
  expect(stderr).toContain("nowhere.pem");
});
