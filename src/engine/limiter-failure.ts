// A foreign limiter's failure, in words: one form for all that call it.
import { quote } from "../rules/errors.ts";

/** A limiter that threw, rejected, never answered or answered nonsense. */
export class LimiterFailure extends Error {
  /** Call as one would write it in code. */
  readonly call: string;
  readonly got: string;
  readonly allowed: string;

  constructor(call: string, got: string, allowed: string, cause?: unknown) {
    super(`${call}: got ${got}, allowed: ${allowed}`, cause === undefined ? {} : { cause });
    this.name = "LimiterFailure";
    this.call = call;
    this.got = got;
    this.allowed = allowed;
  }

  /** True if the limiter threw an `AbortError`, which ends the check: it may not be asked again. */
  get ended(): boolean {
    return (this.cause as { name?: unknown } | undefined)?.name === "AbortError";
  }

  /** True if the limiter gave no answer in time. To ask again would only wait again. */
  get hung(): boolean {
    return (this.cause as { name?: unknown } | undefined)?.name === "TimeoutError";
  }
}

/** Returns what is thrown as a failure, if it is one: an adapter's bundle has a copy of this class of its own. */
export function innerFailure(thrown: unknown): LimiterFailure | null {
  if (thrown instanceof LimiterFailure) return thrown;
  if (!(thrown instanceof Error) || thrown.name !== "LimiterFailure") return null;
  const { call, got, allowed, cause } = thrown as LimiterFailure;
  return new LimiterFailure(call, got, allowed, cause);
}

/** Finds `FILE:LINE` of a stack in the limiter's own code; `null` if there is none. */
export type PlaceOf = (stack: string) => string | null;

/** Position at the end of a stack frame: `file:///x/y.test.js:5:1` or `/x/y.test.js:5:1`, perhaps in parentheses. */
export const framePosition = /\(?((?:file:\/\/)?(?:\/|[A-Za-z]:)[^()\n]*):(\d+):(\d+)\)?$/;

const ownFolder = new URL("..", import.meta.url).pathname;

/** Returns the innermost place of a stack that is neither spillway's nor a package's. */
const placeOutside: PlaceOf = (stack) => {
  for (const frame of stack.split("\n").filter((line) => /^\s+at /.test(line))) {
    const [, file = "", line] = framePosition.exec(frame.replace(/^\s+at (async )?/, "")) ?? [];
    const path = file.replace("file://", "");
    if (path !== "" && !path.startsWith(ownFolder) && !path.includes("/node_modules/"))
      return `${path}:${line}`;
  }
  return null;
};

/** Returns the place in the limiter's code at which it threw; `null` if it did not, or none is known. */
export function placeOfThrow(
  { cause, hung }: LimiterFailure,
  placeOf: PlaceOf = placeOutside,
): string | null {
  return hung || !(cause instanceof Error) || cause.stack === undefined ? null : placeOf(cause.stack);
}

/** Returns what a limiter gave, with the place at which it threw, if that is known. */
export const gotAt = (got: string, place: string | null | undefined): string =>
  place === null || place === undefined ? got : `${got} at ${place}`;

/** Returns an error that is a limiter's failure. @throws any other error, as it is */
export function failureIn(error: unknown): LimiterFailure {
  if (error instanceof LimiterFailure) return error;
  throw error;
}

/** Returns what was thrown, in words. `fetch` says in the cause of its error why it failed. */
export function thrown(cause: unknown): string {
  if (!(cause instanceof Error)) return `a throw of ${quote(cause)}`;
  const why = cause.cause instanceof Error && cause.cause.message !== "" ? ` (${cause.cause.message})` : "";
  return `${cause.name}: ${cause.message}${why}`;
}

/** Number of characters of arguments above which only their beginning is shown. */
const argumentsMost = 120;

/** Returns a call of a limiter as one would write it in code. */
export function callText(name: string, args: readonly unknown[]): string {
  const text = args.map((arg) => JSON.stringify(arg)).join(", ");
  return `${name}(${text.length > argumentsMost ? `${text.slice(0, 24)}...` : text})`;
}
