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
