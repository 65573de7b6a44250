// The end of a thread that had not done its work, in words. The user's code ended it, so its file is named.
import { type PlacedModule, placeIn, shortName } from "../load/user-module.ts";
import { duration } from "../rules/duration.ts";
import { SpillwayError } from "../rules/errors.ts";

export type ThreadEnd =
  /** Ctrl-C came, and the code did not return in time. */
  | { readonly kind: "stopped"; readonly isNative: boolean }
  | { readonly kind: "late"; readonly importMs: number }
  /** Nothing was left that could happen. */
  | { readonly kind: "idle" }
  | { readonly kind: "exit"; readonly code: string; readonly stack: string }
  /** The thread could not start: none of the user's code has run. */
  | { readonly kind: "unstarted"; readonly error: Error }
  | { readonly kind: "uncaught"; readonly error: Error };

/** Time that code may go on after Ctrl-C, ms. */
export const graceMs = 2_000;

/**
 * @param all the modules of this thread
 * @param importing the module that was being imported; `null` once all are
 */
export function endedBy(end: ThreadEnd, all: readonly PlacedModule[], importing: PlacedModule | null): Error {
  if (end.kind === "unstarted") return end.error;
  if (end.kind === "uncaught" && isOutOfMemory(end.error)) return tooLarge(end.error);
  const modules = all.filter(({ isBuiltIn }) => !isBuiltIn);
  if (end.kind === "stopped") return interrupted(end.isNative, modules, importing);
  const stack = end.kind === "exit" ? end.stack : end.kind === "uncaught" ? (end.error.stack ?? "") : "";
  const where = modules.map((module) => placeIn(stack, module));
  const culprit = importing ?? modules[where.findIndex((place) => place !== null)] ?? modules[0];
  // Without code of the user's, our own code failed.
  if (culprit === undefined)
    return end.kind === "uncaught" ? end.error : new Error(`a thread ended: ${end.kind}`);
  const place = where.find((found) => found !== null);
  const path = place ?? (importing === null ? namesOf(modules) : shortName(importing.path));
  const { name, invalid, failed } = culprit.kind;
  const [code, summary] =
    importing === null
      ? [failed, `the code of the ${name} file ended the run`]
      : [invalid, `the ${name} file cannot be loaded`];
  const { hint, ...problem } = wordsOf(end, importing !== null);
  return new SpillwayError(code, summary, { problem: { path, ...problem }, ...(hint && { hint }) });
}

const isOutOfMemory = (error: Error): boolean =>
  (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY";

/** Returns an error: work that is too large for the memory is no mistake in anybody's code. */
const tooLarge = (cause: Error): SpillwayError =>
  new SpillwayError("SYSTEM_REFUSED", "this takes more memory than there is", {
    problem: {
      path: "a thread",
      got: "no more memory",
      allowed: "fewer clients or less time, or NODE_OPTIONS=--max-old-space-size=8192 (in MB)",
    },
    cause,
  });

interface Words {
  readonly got: string;
  readonly allowed: string;
  readonly hint?: string;
}

function wordsOf(end: Exclude<ThreadEnd, { kind: "stopped" | "unstarted" }>, isImport: boolean): Words {
  switch (end.kind) {
    case "late":
      return {
        got: `no end of its loading within ${duration(end.importMs)}`,
        allowed: "a module that loads in time",
        hint: "is there a loop or an await without end at its top level? --import-timeout 2m waits longer",
      };
    case "idle":
      return isImport
        ? { got: "an await at its top level that never ends", allowed: "a module that loads" }
        : { got: "a promise that never settles", allowed: "an answer to each call" };
    case "exit":
      return { got: `process.exit(${end.code})`, allowed: "code that returns or throws" };
    case "uncaught":
      return {
        got: `${end.error.name}: ${end.error.message}`,
        allowed: "no uncaught error, no unhandled rejection",
      };
  }
}

function interrupted(
  isNative: boolean,
  modules: readonly PlacedModule[],
  importing: PlacedModule | null,
): SpillwayError {
  if (importing !== null)
    return new SpillwayError("INTERRUPTED", `interrupted while ${shortName(importing.path)} was loaded`);
  const whose = modules.length === 0 ? "the work" : `the code of ${namesOf(modules)}`;
  const how = isNative ? "and cannot be stopped: it is native, so the whole process ends" : "and was ended";
  return new SpillwayError(
    "INTERRUPTED",
    `interrupted: ${whose} did not return within ${duration(graceMs)}, ${how}`,
  );
}

const namesOf = (modules: readonly PlacedModule[]): string =>
  modules.map(({ path }) => shortName(path)).join(" or ");
