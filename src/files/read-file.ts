// Files that users name, read with errors that say what is wrong with the path.
import { stat } from "node:fs/promises";
import { SpillwayError } from "../rules/errors.ts";
import { textCoding } from "../rules/text-coding.ts";
import { openBytes } from "./byte-source.ts";

/**
 * @param isRegular true to refuse pipes and devices, too, because the reader of the file sets no bound
 * @throws SpillwayError `FILE_UNREADABLE` if there is no such file, or it is a directory
 */
export async function requireFile(path: string, what: string, isRegular = false): Promise<void> {
  const unreadable = (got: string, cause?: unknown): SpillwayError =>
    new SpillwayError("FILE_UNREADABLE", `the ${what} cannot be read`, {
      problem: { path, got, allowed: "a readable file" },
      cause,
    });
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    throw unreadable(cause.code === "ENOENT" ? "no such file" : String(cause.code), cause);
  });
  if (found.isDirectory()) throw unreadable("a directory");
  if (isRegular && !found.isFile()) throw unreadable("no regular file");
}

/** @throws SpillwayError `FILE_UNWRITABLE` if something is there already */
export async function requireFree(path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found === null) return;
  throw new SpillwayError("FILE_UNWRITABLE", "nothing is overwritten", {
    problem: {
      path,
      got: found.isDirectory() ? "a folder" : "a file that is already there",
      allowed: "a new file",
    },
    ...(found.isDirectory() ? {} : { hint: "--force overwrites it" }),
  });
}

/** Greatest size of a file of rules, tokens or certificates, bytes. */
const bytesMost = 64 * 2 ** 20;

/**
 * Returns the text of a file in UTF-8 or UTF-16, without its byte order mark.
 * @throws SpillwayError `FILE_UNREADABLE`, also if it is larger than any such file: `/dev/zero`
 */
export async function readText(path: string, what: string): Promise<string> {
  await requireFile(path, what);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (await openBytes(path)) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMost)
      throw new SpillwayError("FILE_UNREADABLE", `the ${what} is too large`, {
        problem: { path, got: "more than 64 MiB", allowed: "at most 64 MiB" },
      });
  }
  const whole = Buffer.concat(chunks);
  return new TextDecoder(textCoding(whole)).decode(whole);
}
