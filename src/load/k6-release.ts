// The archives that k6 is published in: their names, their checksum list, and the program inside.
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { unzipSync } from "fflate";
import { parseTar } from "nanotar";
import { downloadFailed } from "./download.ts";

/** URL of k6's published versions. Each version has a folder below it. */
export const k6Releases = "https://github.com/grafana/k6/releases/download";

/** Ending of the archive's name (k6's `build-release.sh`), by Node's names of platform and processor. */
const published: Readonly<Record<string, string>> = {
  "linux x64": "linux-amd64.tar.gz",
  "linux arm64": "linux-arm64.tar.gz",
  "darwin x64": "macos-amd64.zip",
  "darwin arm64": "macos-arm64.zip",
  "win32 x64": "windows-amd64.zip",
};

/** Returns the name of the archive for a machine; `null` if k6 publishes none for it. */
export function archiveName(version: string, platform: NodeJS.Platform, arch: string): string | null {
  const ending = published[`${platform} ${arch}`];
  return ending === undefined ? null : `k6-${version}-${ending}`;
}

/** Returns the name of the list of a version's checksums, as `sha256sum` writes them. */
export const checksumListName = (version: string): string => `k6-${version}-checksums.txt`;

/**
 * Looks a file's SHA-256 up in a checksum list.
 * @throws SpillwayError `DOWNLOAD_FAILED` if the list does not have it
 */
export function listedChecksum(url: string, list: string, name: string): string {
  for (const line of list.split("\n")) {
    const [, hex, file] = /^([0-9a-f]{64}) [ *](.+?)\r?$/i.exec(line) ?? [];
    if (hex !== undefined && file === name) return hex.toLowerCase();
  }
  throw downloadFailed(url, "a list without it", `a line with the SHA-256 of ${name}`);
}

/** @throws SpillwayError `DOWNLOAD_FAILED` if the bytes have another SHA-256 */
export function requireChecksum(url: string, bytes: Uint8Array, sha256: string): void {
  const got = createHash("sha256").update(bytes).digest("hex");
  if (got !== sha256.toLowerCase())
    throw downloadFailed(url, `SHA-256 ${got}`, `SHA-256 ${sha256.toLowerCase()}`);
}

/** Greatest size of the program, bytes. k6 has some 70 million. */
const programMost = 1024 * 1024 * 1024;

/**
 * Takes the program out of an archive (tar.gz or zip, known by its first bytes). It uses the bytes of that one member
 * and never its path, so no archive can write anywhere.
 * @param program its name, `k6` or `k6.exe`
 * @throws SpillwayError `DOWNLOAD_FAILED` if it is no such archive, or has not exactly one such member
 */
export function unpackProgram(url: string, archive: Uint8Array, program: string): Uint8Array {
  const isProgram = (name: string): boolean => name.replace(/^.*[\\/]/s, "") === program;
  let found: readonly Uint8Array[];
  try {
    found = isZip(archive) ? fromZip(archive, isProgram) : fromTarGz(archive, isProgram);
  } catch (cause) {
    throw downloadFailed(url, `no archive (${(cause as Error).message})`, "a .tar.gz or .zip", cause);
  }
  const [only] = found;
  if (only !== undefined && found.length === 1 && only.length > 0) return only;
  throw downloadFailed(url, `an archive with ${found.length} of them`, `an archive with one ${program}`);
}

const isZip = (archive: Uint8Array): boolean => archive[0] === 0x50 && archive[1] === 0x4b;

function fromZip(archive: Uint8Array, isProgram: (name: string) => boolean): Uint8Array[] {
  const filter = ({ name, originalSize }: { name: string; originalSize: number }): boolean =>
    isProgram(name) && originalSize <= programMost;
  return Object.values(unzipSync(archive, { filter }));
}

function fromTarGz(archive: Uint8Array, isProgram: (name: string) => boolean): Uint8Array[] {
  // nanotar reads the whole buffer below a view, so this view gets a buffer of its own.
  const tar = new Uint8Array(gunzipSync(archive, { maxOutputLength: 2 * programMost }));
  const members = parseTar(tar, { filter: ({ name, type }) => type === "file" && isProgram(name) });
  return members.map(({ data }) => data ?? new Uint8Array());
}
