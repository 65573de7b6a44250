// Getting k6: with a Go of the test's own, and from a mirror on loopback that has archives of the test's own.
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { strToU8, zipSync } from "fflate";
import { createTar } from "nanotar";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { type GetK6Options, getK6 } from "../../src/load/get-k6.ts";
import { usableGo } from "../../src/load/go-build.ts";
import { lookUpK6 } from "../../src/load/k6-binary.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { bareEnv, cached, program, says } from "./k6-programs.ts";
import { fakeTarget, newFolder, removed } from "./support.ts";

let folder = "";
const folders: string[] = [];
beforeEach(async () => {
  folder = await newFolder();
  folders.push(folder);
});
afterAll(() => Promise.all(folders.map(removed)));

/** Returns the files in the cache: none, or k6 alone. */
const inCache = (): Promise<string[]> => readdir(dirname(join(folder, cached)));
const installed = (version: string) => ({
  k6: { path: join(folder, cached), version, origin: "cache" },
  wasThere: false,
});

describe("with Go", () => {
  /** A Go 1.26 that answers for its version; `install` is what its other words do. */
  const go = (install: string): Promise<string> =>
    program(folder, "bin/go", `if [ "$1" = env ]; then echo go1.26.8; exit; fi\n${install}`);
  /** Shell that writes a program to where `go install` would leave k6. */
  const leaves = (script: string): string =>
    `printf '#!/bin/sh\\n${script}\\n' > "$GOBIN/k6"; /bin/chmod 755 "$GOBIN/k6"`;

  test("k6 is built into the cache, and says how far it is", async () => {
    const words = `[ "$*" = "install -v go.k6.io/k6@v1.8.1" ] || exit 9\necho net >&2\necho net/http >&2`;
    await go(`${words}\n${leaves(says("1.8.1"))}`);
    const env = bareEnv(folder);
    const progress: string[] = [];
    expect(await getK6({ env, onProgress: (text) => progress.push(text) })).toEqual(installed("1.8.1"));
    expect(progress[0]).toBe("building k6 v1.8.1 with Go, one to four minutes, once");
    expect(progress.at(-1)).toMatch(/^building k6 v1\.8\.1 with Go, once: [12] steps done$/);
    expect(await lookUpK6({ env })).toEqual(installed("1.8.1").k6);
    expect(await inCache()).toEqual(["k6"]);
  });

  test.each([
    ["fails", `echo "go: no network" >&2; exit 1`, /building k6 with Go failed:\n {2}go: no network/],
    ["builds something else", leaves("echo hello"), /is no k6/],
  ])("a build that %s leaves nothing behind", async (_, install, message) => {
    await go(install);
    const error = await codedErrorOf(getK6({ env: bareEnv(folder) }));
    expect(error.code).toBe("K6_MISSING");
    expect(error.message).toMatch(message);
    expect(await inCache()).toEqual([]);
  });

  test("a build can be interrupted", async () => {
    await go("exec /bin/sleep 60");
    const control = new AbortController();
    const building = getK6({
      env: bareEnv(folder),
      signal: control.signal,
      onProgress: () => control.abort(),
    });
    await expect(building).rejects.toMatchObject({ name: "AbortError" });
    expect(await inCache()).toEqual([]);
  });

  test("an old Go is none", async () => {
    await program(folder, "bin/go", "echo go1.24.9");
    expect(await usableGo(bareEnv(folder))).toBeNull();
    const machine = { platform: "linux", arch: "s390x" } as const;
    const error = await codedErrorOf(getK6({ env: bareEnv(folder), machine }));
    expect(error).toMatchObject({ code: "K6_MISSING" });
    expect(error.message).toBe("there is no Go 1.25 or newer, and k6 publishes no archive for linux s390x");
  });
});

const script = (version: string): Uint8Array => strToU8(`#!/bin/sh\n${says(version)}\n`);
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
type Members = Readonly<Record<string, Uint8Array>>;
const tarGz = (members: Members): Uint8Array =>
  gzipSync(createTar(Object.entries(members).map(([name, data]) => ({ name, data }))));
const zip = (members: Members): Uint8Array => zipSync({ ...members });

/** A member of a tar that is a link to another file. */
const linkNamed = (name: string): Uint8Array => {
  const tar = createTar([{ name, data: new Uint8Array() }]);
  tar[156] = "2".charCodeAt(0);
  tar.set(strToU8("/bin/sh\0"), 157);
  tar.set(strToU8("        "), 148);
  const sum = tar.subarray(0, 512).reduce((all, byte) => all + byte, 0);
  tar.set(strToU8(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
  return gzipSync(tar);
};

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A server on loopback: a path's file, or what answers it; 404 for all else. Names each path that was asked for. */
async function mirror(files: Readonly<Record<string, Uint8Array | Answer>>) {
  const asked: string[] = [];
  const { url, close } = await fakeTarget((request, response) => {
    asked.push(request.url ?? "");
    const file = files[(request.url ?? "").replace(/\?.*/, "")];
    if (typeof file === "function") return file(request, response);
    response.writeHead(file === undefined ? 404 : 200, { "content-length": file?.length ?? 0 }).end(file);
  });
  closers.push(close);
  return { url, asked };
}

const get = (options: GetK6Options) => getK6({ env: bareEnv(folder), stallMs: 5_000, ...options });
/** Returns the error of a failing `get` about an address: path, got, allowed. */
const problemOf = async (options: GetK6Options) => {
  const error = await codedErrorOf(get(options));
  expect(error.code).toBe("DOWNLOAD_FAILED");
  expect(error.exitCode).toBe(3);
  expect(await inCache()).toEqual([]);
  return error.problems[0];
};

describe("from an address, with its checksum", () => {
  const good = tarGz({ "k6-v1.9.0-linux-amd64/k6": script("1.9.0") });

  test("k6 is fetched, checked, unpacked and run once, and says how far it is", async () => {
    const { url } = await mirror({ "/k6.tar.gz": good });
    const progress: string[] = [];
    const from = { url: `${url}/k6.tar.gz?secret`, sha256: sha256(good).toUpperCase() };
    expect(await get({ from, onProgress: (text) => progress.push(text) })).toEqual(installed("1.9.0"));
    expect(progress.at(-1)).toBe("fetching k6.tar.gz: 0.0 of 0.0 MB");
    expect((await stat(join(folder, cached))).mode & 0o777).toBe(0o755);
    expect(await inCache()).toEqual(["k6"]);
  });

  test("a redirect is followed", async () => {
    const { url } = await mirror({
      "/a": (_, response) => response.writeHead(302, { location: "/b" }).end("moved"),
      "/b": good,
    });
    expect(await get({ from: { url: `${url}/a`, sha256: sha256(good) } })).toEqual(installed("1.9.0"));
  });

  test("redirects without end are not", async () => {
    const { url, asked } = await mirror({
      "/a": (_, response) => response.writeHead(307, { location: "/a" }).end(),
    });
    const problem = await problemOf({ from: { url: `${url}/a`, sha256: sha256(good) } });
    expect(problem?.got).toBe("more than 5 redirects");
    expect(asked).toHaveLength(6);
  });

  test("a wrong checksum: nothing is unpacked or run", async () => {
    const bad = tarGz({ k6: strToU8(`#!/bin/sh\necho run > '${folder}/was-run'\n`) });
    const { url } = await mirror({ "/k6.tar.gz": bad });
    const problem = await problemOf({ from: { url: `${url}/k6.tar.gz`, sha256: sha256(good) } });
    expect(problem).toEqual({
      path: `${url}/k6.tar.gz`,
      got: `SHA-256 ${sha256(bad)}`,
      allowed: `SHA-256 ${sha256(good)}`,
    });
    expect(await readdir(folder)).toEqual(["cache"]);
  });

  test("a file that is not there, and secrets of an address are not shown", async () => {
    const { url } = await mirror({});
    const secret = url.replace("//", "//user:password@");
    const problem = await problemOf({ from: { url: `${secret}/k6.tar.gz?token=1`, sha256: sha256(good) } });
    expect(problem).toEqual({ path: `${url}/k6.tar.gz`, got: "404", allowed: "200 and the file" });
  });

  test("a connection that is cut", async () => {
    const { url } = await mirror({
      "/k6.tar.gz": (_, response) => {
        response.writeHead(200, { "content-length": good.length });
        response.write(good.subarray(0, 10), () => response.destroy());
      },
    });
    const problem = await problemOf({ from: { url: `${url}/k6.tar.gz`, sha256: sha256(good) } });
    expect(problem?.got).toBe("the connection was cut");
  });

  test("nobody at the address", async () => {
    const { url, close } = await fakeTarget(() => {});
    await close();
    const problem = await problemOf({ from: { url, sha256: sha256(good) } });
    expect(problem?.got).toBe("connection refused");
  });

  test("a server that says nothing for too long", async () => {
    const { url } = await mirror({ "/k6.tar.gz": (_, response) => response.writeHead(200).flushHeaders() });
    const from = { url: `${url}/k6.tar.gz`, sha256: sha256(good) };
    expect((await problemOf({ from, stallMs: 100 }))?.got).toBe("no byte for 100 ms");
  });

  test("Ctrl-C leaves nothing behind", async () => {
    const control = new AbortController();
    const { url } = await mirror({
      "/k6.tar.gz": (_, response) => {
        response.writeHead(200, { "content-length": good.length });
        response.write(good.subarray(0, 10));
      },
    });
    const from = { url: `${url}/k6.tar.gz`, sha256: sha256(good) };
    const getting = get({ from, signal: control.signal, onProgress: () => control.abort() });
    await expect(getting).rejects.toMatchObject({ name: "AbortError" });
    expect(await inCache()).toEqual([]);
  });

  test.each<[string, Uint8Array, string]>([
    ["without k6", tarGz({ "README.md": script("1.9.0") }), "an archive with 0 of them"],
    ["with two", tarGz({ "a/k6": script("1.9.0"), "b/k6": script("1.9.0") }), "an archive with 2 of them"],
    ["with a link of that name", linkNamed("k6"), "an archive with 0 of them"],
    ["a zip without k6", zip({ "README.md": script("1.9.0") }), "an archive with 0 of them"],
    [
      "a tar that is cut off",
      gzipSync(createTar([{ name: "k6", data: good }]).subarray(0, 600)),
      "no archive",
    ],
    ["no archive at all", strToU8("<html>"), "no archive"],
  ])("an archive %s", async (_, archive, got) => {
    const { url } = await mirror({ "/k6": archive });
    const problem = await problemOf({ from: { url: `${url}/k6`, sha256: sha256(archive) } });
    expect(problem?.got).toContain(got);
  });

  test.each<[string, (members: Members) => Uint8Array]>([
    ["tar.gz", tarGz],
    ["zip", zip],
  ])("a %s whose member would lie elsewhere writes nowhere else", async (_, pack) => {
    const archive = pack({ "../../../../k6": script("1.9.0"), "../../outside": strToU8("outside") });
    const { url } = await mirror({ "/k6": archive });
    const from = { url: `${url}/k6`, sha256: sha256(archive) };
    expect(await get({ from })).toEqual(installed("1.9.0"));
    expect(await readdir(folder, { recursive: true })).toEqual([
      "cache",
      join("cache", "spillway"),
      join("cache", "spillway", "bin"),
      cached,
    ]);
  });

  test("a program that is no k6 is not kept", async () => {
    const archive = tarGz({ k6: strToU8("#!/bin/sh\necho hello\n") });
    const { url } = await mirror({ "/k6": archive });
    const error = await codedErrorOf(get({ from: { url: `${url}/k6`, sha256: sha256(archive) } }));
    expect(error.code).toBe("K6_MISSING");
    expect(error.message).toMatch(/\(from the archive\) is no k6/);
    expect(await inCache()).toEqual([]);
  });

  test("plain HTTP that is not loopback's may be used, for the checksum protects", async () => {
    const { url } = await mirror({ "/k6.tar.gz": good });
    // Another name of this machine.
    const from = { url: `${url.replace("127.0.0.1", "0.0.0.0")}/k6.tar.gz`, sha256: sha256(good) };
    expect(await get({ from })).toEqual(installed("1.9.0"));
  });
});

describe("with neither Go nor an address", () => {
  const archives = [
    ["linux", "x64", "k6-v1.8.1-linux-amd64", "tar.gz", "k6"],
    ["linux", "arm64", "k6-v1.8.1-linux-arm64", "tar.gz", "k6"],
    ["darwin", "x64", "k6-v1.8.1-macos-amd64", "zip", "k6"],
    ["darwin", "arm64", "k6-v1.8.1-macos-arm64", "zip", "k6"],
    ["win32", "x64", "k6-v1.8.1-windows-amd64", "zip", "k6.exe"],
  ] as const;
  const all = archives.map(([platform, arch, name, ending, file]) => {
    const member = { [`${name}/${file}`]: strToU8(`#!/bin/sh\n${says("1.8.1")}\n# ${platform} ${arch}\n`) };
    return { name: `${name}.${ending}`, bytes: ending === "zip" ? zip(member) : tarGz(member) };
  });
  const list = all.map(({ name, bytes }) => `${sha256(bytes)}  ${name}\n`).join("");
  const listPath = "/v1.8.1/k6-v1.8.1-checksums.txt";
  const release = {
    [listPath]: strToU8(list),
    ...Object.fromEntries(all.map(({ name, bytes }) => [`/v1.8.1/${name}`, bytes])),
  };

  test.each(archives)("%s %s: %s.%s", async (platform, arch, name, ending) => {
    const { url, asked } = await mirror(release);
    const said: string[] = [];
    const machine = { platform, arch };
    expect(await get({ releases: url, machine, onSay: (text) => said.push(text) })).toEqual(
      installed("1.8.1"),
    );
    expect(asked).toEqual([listPath, `/v1.8.1/${name}.${ending}`]);
    expect(await readFile(join(folder, cached), "utf8")).toContain(`# ${platform} ${arch}`);
    expect(said.join("\n")).toContain("Both come from one origin");
    expect(said.join("\n")).toContain(url);
  });

  const machine = { platform: "linux", arch: "x64" } as const;

  test("an archive other than the list says", async () => {
    const [first] = archives;
    const path = `/v1.8.1/${first[2]}.tar.gz`;
    const { url } = await mirror({ ...release, [path]: tarGz({ k6: script("1.8.1") }) });
    const problem = await problemOf({ releases: url, machine });
    expect(problem).toMatchObject({ path: url + path, allowed: `SHA-256 ${list.slice(0, 64)}` });
  });

  test("a list without the archive", async () => {
    const { url, asked } = await mirror({ ...release, [listPath]: strToU8("nothing here\n") });
    const problem = await problemOf({ releases: url, machine });
    expect(problem?.allowed).toBe("a line with the SHA-256 of k6-v1.8.1-linux-amd64.tar.gz");
    expect(asked).toEqual([listPath]);
  });

  test("no list, no archive", async () => {
    const { url, asked } = await mirror({});
    expect((await problemOf({ releases: url, machine }))?.got).toBe("404");
    expect(asked).toEqual([listPath]);
  });

  test.each(["http://k6.invalid", "ftp://k6.invalid", "nowhere"])("not from %s", async (releases) => {
    const problem = await problemOf({ releases, machine });
    expect(problem?.allowed).toBe("an address that begins with https://");
  });

  test("nor by a redirect to plain HTTP elsewhere", async () => {
    const { url } = await mirror({
      [listPath]: (_, response) => response.writeHead(302, { location: "http://k6.invalid/" }).end(),
    });
    expect(await problemOf({ releases: url, machine })).toEqual({
      path: "http://k6.invalid/",
      got: '"http:"',
      allowed: "an address that begins with https://",
    });
  });
});

describe("a k6 that is there", () => {
  test.each([
    ["in PATH", "bin/k6", "PATH"],
    ["in the cache", cached, "cache"],
  ])("%s is kept, and nothing is asked for", async (_, path, origin) => {
    const there = await program(folder, path, says("1.7.0"));
    const { url, asked } = await mirror({});
    const from = { url: `${url}/k6.tar.gz`, sha256: "0".repeat(64) };
    expect(await get({ from })).toEqual({ k6: { path: there, version: "1.7.0", origin }, wasThere: true });
    expect(asked).toEqual([]);
  });

  test("in the cache, but broken, is replaced", async () => {
    await program(folder, cached, "echo hello");
    const archive = zip({ k6: script("1.8.1") });
    const { url } = await mirror({ "/k6": archive });
    const from = { url: `${url}/k6`, sha256: sha256(archive) };
    expect(await get({ from })).toEqual(installed("1.8.1"));
    expect(await inCache()).toEqual(["k6"]);
  });

  test("in PATH, but broken, is an error: one in the cache would not be used", async () => {
    await program(folder, "bin/k6", "echo hello");
    const error = await codedErrorOf(get({}));
    expect(error.code).toBe("K6_MISSING");
    expect(error.message).toMatch(/bin\/k6 \(from PATH\) is no k6/);
  });
});

test("a cache that cannot be written", async () => {
  await program(folder, "cache", "a file in the way");
  const error = await codedErrorOf(get({}));
  expect(error.code).toBe("FILE_UNWRITABLE");
  expect(error.problems[0]?.path).toBe(dirname(join(folder, cached)));
});

describe("HTTPS_PROXY", () => {
  /** A proxy that notes whom it is asked to connect to, and refuses. */
  async function proxy() {
    const connects: string[] = [];
    const { url, server, close } = await fakeTarget((_, response) => response.writeHead(500).end());
    server.on("connect", (request, socket) => {
      connects.push(request.url ?? "");
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    closers.push(close);
    return { url, connects };
  }

  test("is used for addresses elsewhere, never for loopback", async () => {
    const { url, connects } = await proxy();
    const env = bareEnv(folder, { HTTPS_PROXY: url });
    const from = { url: "https://k6.invalid/k6.tar.gz", sha256: "0".repeat(64) };
    await problemOf({ env, from });
    expect(connects).toEqual(["k6.invalid:443"]);
    await problemOf({ env, from: { ...from, url: "https://127.0.0.1:1/k6.tar.gz" } });
    await problemOf({
      env: { ...env, NO_PROXY: "0.0.0.0" },
      from: { ...from, url: "https://0.0.0.0:1/k6.tar.gz" },
    });
    expect(connects).toHaveLength(1);
  });
});
