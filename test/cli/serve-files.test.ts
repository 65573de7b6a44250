// The files that `serve` keeps while it runs: what is in them, who may read them, and that they go with the process.
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { keepCertificate, keepTokens, tlsOf } from "../../src/cli/serve-files.ts";
import { selfSigned } from "../../src/service/self-signed.ts";

/** What a process does at its end beside what it did before the work. */
function endOf<T>(work: () => T): { readonly made: T; readonly end: () => void } {
  const before = process.listeners("exit");
  const made = work();
  const added = process.listeners("exit").filter((listener) => !before.includes(listener));
  for (const listener of added) process.off("exit", listener);
  const end = (): void => {
    for (const listener of added) listener.call(process, 0);
  };
  return { made, end };
}

const without = { tls: false, host: "127.0.0.1" };

test("sample tokens lie in a file of the user's own, until the end", () => {
  const tokens = [{ token: "a", organization: "acme" }, { token: "b" }];
  const { made: file, end } = endOf(() => keepTokens(tokens));
  expect(basename(file)).toBe("tokens.json");
  expect(readFileSync(file, "utf8")).toBe(
    '[\n  {\n    "token": "a",\n    "organization": "acme"\n  },\n  {\n    "token": "b"\n  }\n]\n',
  );
  if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
  end();
  expect(existsSync(dirname(file))).toBe(false);
  // Somebody else may have removed it before.
  expect(end).not.toThrow();
});

test("a certificate that the server made is kept, one of the user's is not", async () => {
  expect([await tlsOf(without), keepCertificate(null)]).toEqual([null, null]);
  const own = await tlsOf({ ...without, tls: true });
  const { made: file, end } = endOf(() => keepCertificate(own));
  expect(own?.isOwn).toBe(true);
  expect(readFileSync(file ?? "", "utf8")).toBe(own?.cert);
  end();
  const folder = await mkdtemp(join(tmpdir(), "spillway-serve-files-"));
  const [tlsCert, tlsKey] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const made = selfSigned(["127.0.0.1"], Date.now());
  await Promise.all([writeFile(tlsCert, made.cert), writeFile(tlsKey, made.key)]);
  const given = await tlsOf({ ...without, tls: true, tlsCert, tlsKey });
  rmSync(folder, { recursive: true });
  expect(given).toMatchObject({ cert: made.cert, key: made.key, isOwn: false });
  expect(keepCertificate(given)).toBeNull();
});
