// Errors of the system while a file is written, as coded errors: what the system said, and what it needs.
import { SpillwayError } from "../rules/errors.ts";

/** Resources that the system refused, by its error code. */
export const systemNeeds: Readonly<Record<string, string>> = {
  EDQUOT: "room within the disk quota",
  EFBIG: "room for a file of this size (ulimit -f)",
  EIO: "a disk that works",
  EMFILE: "fewer open files, or a higher limit (ulimit -n)",
  ENFILE: "fewer open files on this machine",
  ENOSPC: "free space on the disk",
  EROFS: "a disk that can be written",
};

/**
 * Returns the coded error for a file or folder that cannot be written.
 * @param subject the file, as the user knows it
 * @param cause the system's error
 * @param hint another place that has the data, or what to do
 */
export function unwritable(subject: string, path: string, cause: unknown, hint?: string): SpillwayError {
  const { code, message } = cause as NodeJS.ErrnoException;
  return new SpillwayError("FILE_UNWRITABLE", `${subject} cannot be written`, {
    problem: {
      path,
      got: code ?? message,
      allowed: systemNeeds[code ?? ""] ?? "a place that can be written",
    },
    hint,
    cause,
  });
}
