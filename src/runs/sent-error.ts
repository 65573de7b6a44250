// Errors on their way between threads, where objects lose their class.
import { type ErrorCode, type Problem, quote, SpillwayError } from "../rules/errors.ts";

/** An error as plain data. */
export interface SentError {
  /** `null` if it is no coded error. */
  readonly code: ErrorCode | null;
  /** First line of the message. */
  readonly message: string;
  readonly stack: string | undefined;
  readonly problems: readonly Problem[];
  readonly hint: string | undefined;
  readonly cause: SentError | null;
  /** Refusal of the operating system, if it is one. */
  readonly system: Pick<NodeJS.ErrnoException, "code" | "syscall" | "path"> | null;
}

/** Returns anything thrown as an error: code may throw any value. */
export const errorOf = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(`${quote(thrown)} was thrown`);

export function sent(thrown: unknown): SentError {
  const error = errorOf(thrown);
  const coded = error instanceof SpillwayError ? error : null;
  const { message, stack, cause } = error;
  return {
    code: coded?.code ?? null,
    message: coded === null ? message : (message.split("\n")[0] ?? ""),
    stack,
    problems: coded?.problems ?? [],
    hint: coded?.hint,
    cause: cause instanceof Error ? sent(cause) : null,
    system: systemOf(error),
  };
}

function systemOf({ code, syscall, path }: NodeJS.ErrnoException): SentError["system"] {
  if (syscall === undefined) return null;
  return { ...(code !== undefined && { code }), syscall, ...(path !== undefined && { path }) };
}

export function received({ code, message, stack, problems, hint, cause, system }: SentError): Error {
  const from = cause === null ? {} : { cause: received(cause) };
  const error =
    code === null
      ? Object.assign(new Error(message, from), system)
      : new SpillwayError(code, message, { problems, hint, ...from });
  if (stack !== undefined) error.stack = stack;
  return error;
}
