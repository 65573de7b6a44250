// A stranger's limiter that does wrong as it is asked, in words: one form for all that ask.
import { quote } from "../rules/errors.ts";

/** A limiter that threw, rejected, never answered or answered nonsense. */
export class LimiterFailure extends Error {
  /** The call as one would write it. */
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
}

/** A thing that was thrown, in words. */
export const thrown = (cause: unknown): string =>
  cause instanceof Error ? `${cause.name}: ${cause.message}` : `a throw of ${quote(cause)}`;

/** Arguments that take more characters than this, as rules do, are shown by their beginning. */
const argumentsMost = 120;

/** A call of a limiter as one would write it. */
export function callText(name: string, args: readonly unknown[]): string {
  const text = args.map((arg) => JSON.stringify(arg)).join(", ");
  return `${name}(${text.length > argumentsMost ? `${text.slice(0, 24)}...` : text})`;
}
