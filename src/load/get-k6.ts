// Gets k6 into the tool's own cache, on demand only: from an address with a checksum, built by Go, or from k6's
// published archive.

import { mkdtempSync, rmSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { unwritable } from "../files/unwritable.ts";
import { makeFolder } from "../files/whole-file.ts";
import { SpillwayError } from "../rules/errors.ts";
import { download } from "./download.ts";
import { buildK6, goLeast, usableGo } from "./go-build.ts";
import { cacheFolder, foundK6, type K6Binary, k6Missing, k6Version, placeOfK6 } from "./k6-binary.ts";
import {
  archiveName,
  checksumListName,
  k6Releases,
  listedChecksum,
  requireChecksum,
  unpackProgram,
} from "./k6-release.ts";
import { type Environment, programName } from "./program.ts";

/** Version that is built or fetched if the user names no address. */
const k6Wanted = "v1.8.1";

export interface GetK6Options {
  /** Address of an archive of k6 (tar.gz or zip), and its required SHA-256 in hexadecimal digits. */
  readonly from?: { readonly url: string; readonly sha256: string } | undefined;
  readonly env?: Environment | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Takes a line that people must see. */
  readonly onSay?: ((text: string) => void) | undefined;
  /** Takes a line about the progress, some times a second. */
  readonly onProgress?: ((text: string) => void) | undefined;
  /** URL of k6's published versions, without a slash at the end. Default: k6's releases at GitHub. */
  readonly releases?: string | undefined;
  /** Default: this machine's. */
  readonly machine?: { readonly platform: NodeJS.Platform; readonly arch: string } | undefined;
  /** Longest time of a download without a byte, ms. Default: 30,000. */
  readonly stallMs?: number | undefined;
}

export interface GotK6 {
  readonly k6: K6Binary;
  /** True if it was there before, so that nothing was built or fetched. */
  readonly wasThere: boolean;
}

/**
 * Gets k6 if none is installed. k6 is checked and run once in a folder of its own, then moved to its place whole. A
 * second process, an interruption or a kill therefore leaves no half program there.
 * @throws SpillwayError `K6_MISSING`, `DOWNLOAD_FAILED`, `FILE_UNWRITABLE`
 */
export async function getK6(options: GetK6Options = {}): Promise<GotK6> {
  const { env = process.env, signal } = options;
  const there = await usableK6(env, signal);
  if (there !== null) return { k6: there, wasThere: true };
  const { folder, workshop } = await openWorkshop(env);
  const clear = (): void => rmSync(workshop, { recursive: true, force: true });
  process.once("exit", clear);
  try {
    const { path: made, from } = await make(workshop, env, options);
    const version = await k6Version(made, from, { env, signal });
    const path = join(folder, programName("k6"));
    await rename(made, path).catch((cause: unknown) => {
      throw cacheUnwritable(path, cause);
    });
    return { k6: { path, version, origin: "cache" }, wasThere: false };
  } finally {
    clear();
    process.off("exit", clear);
  }
}

/** Returns an installed k6. An unusable one in the cache counts as none; an unusable one elsewhere is an error. */
async function usableK6(env: Environment, signal: AbortSignal | undefined): Promise<K6Binary | null> {
  const place = await placeOfK6(env);
  if (place === null) return null;
  return foundK6(place, { env, signal }).catch((error: unknown) => {
    if (place.origin === "cache" && error instanceof SpillwayError) return null;
    throw error;
  });
}

/** Makes the cache, and a folder of its own in it. A rename then stays within one file system. */
async function openWorkshop(env: Environment): Promise<{ folder: string; workshop: string }> {
  const folder = cacheFolder(env);
  await makeFolder(folder);
  try {
    return { folder, workshop: mkdtempSync(join(folder, ".get-")) };
  } catch (cause) {
    throw cacheUnwritable(folder, cause);
  }
}

const cacheUnwritable = (path: string, cause: unknown): SpillwayError =>
  unwritable("the cache for k6", path, cause, "XDG_CACHE_HOME names the folder of caches");

/** Puts a k6 into the workshop. Returns its path, and where it comes from. */
async function make(
  workshop: string,
  env: Environment,
  options: GetK6Options,
): Promise<{ readonly path: string; readonly from: string }> {
  const { from, signal, onProgress } = options;
  if (from !== undefined) {
    const archive = await fetchBytes(from.url, true, env, options);
    requireChecksum(from.url, archive, from.sha256);
    return { path: await place(workshop, from.url, archive, options), from: "the archive" };
  }
  const go = await usableGo(env);
  if (go === null) return official(workshop, env, options);
  const path = await buildK6(go, { version: k6Wanted, folder: workshop, env, signal, onProgress });
  return { path, from: "Go" };
}

/** Gets k6 from its published archive, checked against the checksum list beside it. */
async function official(
  workshop: string,
  env: Environment,
  options: GetK6Options,
): Promise<{ readonly path: string; readonly from: string }> {
  const { releases = k6Releases, onSay } = options;
  const { platform, arch } = options.machine ?? process;
  const name = archiveName(k6Wanted, platform, arch);
  if (name === null)
    throw k6Missing(
      `there is no Go ${goLeast} or newer, and k6 publishes no archive for ${platform} ${arch}`,
    );
  const folder = `${releases}/${k6Wanted}`;
  onSay?.(
    `There is no Go ${goLeast} or newer to build k6 with, so the archive of k6 ${k6Wanted} and its checksum list are\n` +
      `fetched from ${folder}.\n` +
      "Both come from one origin: the list shows a damaged archive, but not one that was forged together with it.\n" +
      "A checksum from elsewhere: --from URL --sha256 HEX.",
  );
  const listUrl = `${folder}/${checksumListName(k6Wanted)}`;
  const list = await fetchBytes(listUrl, false, env, options);
  const sha256 = listedChecksum(listUrl, list.toString("utf8"), name);
  const url = `${folder}/${name}`;
  const archive = await fetchBytes(url, false, env, options);
  requireChecksum(url, archive, sha256);
  return { path: await place(workshop, url, archive, options), from: "the archive" };
}

/** Unpacks the program of an archive that has been checked. */
async function place(
  workshop: string,
  url: string,
  archive: Uint8Array,
  { machine }: GetK6Options,
): Promise<string> {
  const path = join(workshop, programName("k6"));
  const bytes = unpackProgram(url, archive, programName("k6", machine?.platform));
  await writeFile(path, bytes, { mode: 0o755 }).catch((cause: unknown) => {
    throw cacheUnwritable(path, cause);
  });
  return path;
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

function fetchBytes(
  url: string,
  isPlainAllowed: boolean,
  env: Environment,
  { signal, onProgress, stallMs = 30_000 }: GetK6Options,
): Promise<Buffer> {
  const name = url.replace(/[?#].*$/s, "").replace(/^.*\//s, "");
  const onBytes = (done: number, all: number | null): void =>
    onProgress?.(`fetching ${name}: ${megabytes(done)}${all === null ? "" : ` of ${megabytes(all)}`} MB`);
  return download(url, { env, isPlainAllowed, signal, stallMs, onBytes });
}
