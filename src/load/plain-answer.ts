// The plain answer, as nearly all are: a 200 to a REST call with eight headers within their bounds, and nothing else to
// keep. k6's interpreter is three times as fast in this one function over local variables as in answer.ts, call-line.ts
// and response-checks.ts. A test holds the two to the same result. An answer that is not plain takes the long way.
import type { CallTemplate, ClientEvent, PlannedCall } from "../scenario/client.ts";
import { ABSENT } from "../scenario/client.ts";
import { goHeaders } from "../wire/fields.ts";
import type { RawAnswer } from "./answer.ts";
import type { LineParts } from "./call-line.ts";
import type { HeaderBounds } from "./response-checks.ts";

const { scopeName, limit: limitName, remaining: remainingName, reset: resetName } = goHeaders;
const {
  userScopeName,
  userLimit: userLimitName,
  userRemaining: userRemainingName,
  userReset: userResetName,
} = goHeaders;

/** Whole numbers by the text that servers write, so that a known text is only looked up. */
const numbers = new Map<string | undefined, number>();
const numbersMost = 20_000;

/** Returns the number; `NaN` if the text is no whole number, which then fails every comparison. */
function newNumber(text: string | undefined): number {
  if (text === undefined || !/^(?:0|[1-9]\d{0,14})$/.test(text)) return Number.NaN;
  const number = Number(text);
  if (numbers.size < numbersMost) numbers.set(text, number);
  return number;
}

/** Tells whether answers to these calls may be plain at all. */
export function mayBePlain({ scope, kind, path }: CallTemplate): boolean {
  return scope === "rest" && kind === "call" && !path.includes(":page");
}

/**
 * Reads a plain answer: fills in what the client is told, and returns its line. If a window has nothing left, the
 * answer may carry a warning, so it is not plain.
 * @returns `null` if the answer is not plain; `event` is then untouched
 */
export function readPlain(
  response: RawAnswer,
  parts: LineParts,
  bounds: HeaderBounds,
  call: number,
  planned: Readonly<PlannedCall>,
  sentMs: number,
  receivedMs: number,
  event: ClientEvent,
): string | null {
  if (response.status !== 200) return null;
  const { headers } = response;
  const { organization, user } = bounds;
  if (headers[scopeName] !== organization.scopeName) return null;
  if (headers[userScopeName] !== user.scopeName) return null;
  let text = headers[limitName];
  const limit = numbers.get(text) ?? newNumber(text);
  text = headers[remainingName];
  const remaining = numbers.get(text) ?? newNumber(text);
  text = headers[resetName];
  const reset = numbers.get(text) ?? newNumber(text);
  text = headers[userLimitName];
  const userLimit = numbers.get(text) ?? newNumber(text);
  text = headers[userRemainingName];
  const userRemaining = numbers.get(text) ?? newNumber(text);
  text = headers[userResetName];
  const userReset = numbers.get(text) ?? newNumber(text);
  if (!(remaining >= 1 && remaining <= limit && userRemaining >= 1 && userRemaining <= userLimit))
    return null;
  if (limit !== (organization.limit || limit) || userLimit !== (user.limit || userLimit)) return null;
  if (!(reset >= organization.resetLeast && reset <= organization.resetMost)) return null;
  if (!(userReset >= user.resetLeast && userReset <= user.resetMost)) return null;
  event.nowMs = receivedMs;
  event.status = 200;
  event.hasNextPage = false;
  event.limit = limit;
  event.remaining = remaining;
  event.reset = reset;
  event.userLimit = userLimit;
  event.userRemaining = userRemaining;
  event.userReset = userReset;
  event.retryAfter = ABSENT;
  return (
    `{"sent":${sentMs},"received":${receivedMs},${parts.client}${call}${parts.scope}${parts.kind},"status":200` +
    `,"scopeName":"rest","limit":${limit},"remaining":${remaining},"reset":${reset}` +
    `,"userScopeName":${parts.nameTexts[1]},"userLimit":${userLimit},"userRemaining":${userRemaining}` +
    `,"userReset":${userReset},"wanted":${planned.wantedMs},"attempt":${planned.attempt}}`
  );
}
