// A certificate that a server signs for itself (RFC 5280), for TLS on this machine: an elliptic key, the machine's
// names and addresses, a short life. Node makes keys and signatures, but no certificates.
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import { dayMs } from "../rules/duration.ts";

/** PEM texts. */
export interface Certified {
  readonly cert: string;
  readonly key: string;
}

const daysMost = 30;

/** Returns a DER value: its tag, its length, and its content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const object = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const text = (tag: number, value: string): Buffer => der(tag, Buffer.from(value, "latin1"));
const bits = (bytes: Uint8Array): Buffer => der(0x03, Buffer.from([0]), bytes);

const ecdsaWithSha256 = sequence(object("2a8648ce3d040302"));
const commonName = object("550403");
const names = { subjectAlternative: object("551d11"), basicConstraints: object("551d13") };

/** Returns a time as `260102030405Z`. */
const instant = (ms: number): Buffer =>
  text(0x17, `${new Date(ms).toISOString().slice(2, 19).replace(/[-:T]/g, "")}Z`);

/** Returns the 4 or 16 bytes of an address; its zone, as in `fe80::1%eth0`, is this machine's alone. */
function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  // A URL has groups of hexadecimal digits alone, with one `::` at most: `::ffff:10.1.2.3` is `::ffff:a01:203`.
  const { hostname } = new URL(`http://[${address.replace(/%.*/, "")}]`);
  const [first = [], last = []] = hostname.slice(1, -1).split("::").map(groupsOf);
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => "0");
  return Buffer.from([...first, ...zeros, ...last].map((group) => group.padStart(4, "0")).join(""), "hex");
}

const groupsOf = (part: string): string[] => part.split(":").filter((group) => group !== "");

const isAddress = (host: string): boolean => isIPv4(host) || isIPv6(host);

/**
 * Makes a key and a certificate for it.
 * @param hosts names and addresses that it certifies, besides those of this machine
 * @param nowMs ms since the epoch; the certificate is valid from a day before for 30 days
 */
export function selfSigned(hosts: readonly string[], nowMs: number): Certified {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const all = new Set(["localhost", "127.0.0.1", "::1", ...hosts]);
  const subject = sequence(der(0x31, sequence(commonName, text(0x0c, "spillway serve --tls"))));
  const alternatives = [...all].map((host) =>
    isAddress(host) ? der(0x87, addressBytes(host)) : text(0x82, host),
  );
  const isAuthority = sequence(der(0x01, Buffer.from([0xff])));
  const extensions = sequence(
    sequence(names.subjectAlternative, der(0x04, sequence(...alternatives))),
    sequence(names.basicConstraints, der(0x04, isAuthority)),
  );
  // Positive, as X.509 asks, and random, so that no two certificates share it.
  const serial = randomBytes(16);
  serial[0] = ((serial[0] as number) & 0x7f) | 0x40;
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ecdsaWithSha256,
    subject,
    sequence(instant(nowMs - dayMs), instant(nowMs + daysMost * dayMs)),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, extensions),
  );
  const whole = sequence(body, ecdsaWithSha256, bits(sign("sha256", body, privateKey)));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}
