// The laws on what goes over the wire: headers-present, limit-agrees and refusal-agrees. A limiter without
// HTTP answers is judged as far as its decisions show the same thing, and on headers not at all.

import { quotaNames } from "../policy/names.ts";
import { quote } from "../rules/errors.ts";
import { type Owner, organizationLimit, owners, type Rules, type Scope, userLimit } from "../rules/rules.ts";
import type { HttpAnswer } from "../wire/answer.ts";
import { messageIn, readRefusal, readSentence } from "../wire/bodies.ts";
import {
  type HeaderValue,
  headerNames,
  headersOf,
  namesOtherQuota,
  ownerNamed,
  readHeader,
  readHeaders,
  type WindowHeaders,
} from "../wire/fields.ts";
import { isRefusal, REFUSED } from "../wire/outcome.ts";
import { readLimit } from "./counts.ts";
import { lacksRoom } from "./decisions.ts";
import type { HistoryEvent } from "./history.ts";
import { type Breach, type Judge, type Opinion, OpinionTally } from "./law.ts";
import { HistoryLedger, type Sight } from "./ledger.ts";
import { without } from "./script.ts";

/** Numbers that an answer shows of an owner's window. */
const sentOf = ({ headers }: HttpAnswer, owner: Owner): WindowHeaders =>
  headersOf(readHeaders(headers), owner);

/** Tells whether an owner's headers speak of another quota than the four of SPEC.md §1: reported, not judged. */
const isOther = ({ scopeName }: WindowHeaders): boolean => scopeName !== null && namesOtherQuota(scopeName);

/** Whose windows an answer shows. */
interface Shown {
  readonly scope: Scope;
  readonly organization: string;
  readonly user: string;
}

function shownBy(event: HistoryEvent): Shown | null {
  if ("decision" in event) return event.op;
  if ("readings" in event) return event.call;
  return "status" in event ? { ...event.op, scope: "rest" } : null;
}

/** A law over what each operation sent: `http` is `null` where the limiter shows nothing or sent nothing. */
function overAnswers(
  judge: (answer: {
    event: HistoryEvent;
    http: HttpAnswer | null;
    shown: Shown;
    sights: readonly Sight[];
    rules: Rules;
  }) => readonly Opinion[],
): Judge {
  return async ({ script, play }) => {
    const history = await play(without(script.ops, "snapshot"));
    const ledger = new HistoryLedger(script);
    const tally = new OpinionTally();
    for (const [at, event] of history.entries()) {
      const sights = ledger.look(event);
      const shown = shownBy(event);
      if (shown === null) continue;
      const http = ("http" in event ? event.http : null) ?? null;
      for (const opinion of judge({ event, http, shown, sights, rules: script.rules }))
        tally.add(opinion, at, null);
    }
    return { history, judged: tally.judged, violation: tally.violation };
  };
}

/** The eight headers are there, as integers, and the scope names are right (SPEC.md §5). */
export const headersPresent: Judge = overAnswers(({ http, shown }) =>
  http === null ? [] : owners.map((owner) => presence(http, owner, quotaNames[shown.scope][owner])),
);

function presence(http: HttpAnswer, owner: Owner, expectedName: string): Opinion {
  const names = headersOf(headerNames, owner);
  const sent = sentOf(http, owner);
  const breach = (expected: string, got: unknown): Breach => ({
    expected,
    got: got === null ? "no such header" : quote(got),
    arithmetic: `the answer has status ${http.status}`,
  });
  if (sent.scopeName !== expectedName)
    return isOther(sent) ? null : breach(`${names.scopeName}: ${expectedName}`, sent.scopeName);
  for (const field of ["remaining", "limit", "reset"] as const)
    if (typeof sent[field] !== "number") return breach(`${names[field]}: an integer`, sent[field]);
  return "kept";
}

/** `limit` is the rules', in readings and in headers. */
export const limitAgrees: Judge = overAnswers(({ http, shown, sights, rules }) => {
  const readings = sights.map(readLimit);
  if (http === null) return readings;
  const { organization, user, scope } = shown;
  const limits = {
    organization: organizationLimit(rules, organization, scope).limit,
    user: userLimit(rules, organization, user, scope).limit,
  };
  return [...readings, ...owners.map((owner) => sentLimit(http, owner, limits[owner]))];
});

function sentLimit(http: HttpAnswer, owner: Owner, limit: number): Opinion {
  const header = headersOf(headerNames, owner).limit;
  const sent = sentOf(http, owner);
  if (typeof sent.limit !== "number" || isOther(sent)) return null;
  if (sent.limit === limit) return "kept";
  return { expected: `${header}: ${limit}`, got: `${header}: ${sent.limit}`, arithmetic: "the rules say so" };
}

/** A refusal names a window that lacks room, and its body agrees with the headers (SPEC.md §6). */
export const refusalAgrees: Judge = overAnswers(({ event, http, shown, sights }) => {
  if (!("decision" in event) || event.decision.admitted) return [];
  const { refusedBy } = event.decision;
  const opinions: Opinion[] = [];
  if (refusedBy) opinions.push(lacking(sights, refusedBy, event.op.cost));
  if (http === null) return opinions;
  if (!isRefusal(http.status))
    opinions.push({
      expected: `status ${REFUSED}`,
      got: `status ${http.status}`,
      arithmetic: "the call was refused",
    });
  const told = refusalOf(http.body, shown.scope);
  if (told === null) return opinions;
  if ("expected" in told) return [...opinions, told];
  opinions.push(lacking(sights, told.owner, event.op.cost), bodyAgrees(http, told, sights));
  if (refusedBy && refusedBy !== told.owner)
    opinions.push({
      expected: `a body that names the ${refusedBy}'s window`,
      got: `the ${told.owner}'s`,
      arithmetic: `the ${refusedBy}'s window refused the call`,
    });
  return opinions;
});

function lacking(sights: readonly Sight[], owner: Owner, cost: number): Opinion {
  const sight = sights.find((candidate) => candidate.owner === owner);
  const lacks = sight === undefined ? null : lacksRoom(sight, cost);
  if (sight === undefined || lacks === null) return null;
  if (lacks) return "kept";
  const { before } = sight;
  return {
    expected: "a refusal that names a window without room",
    got: `the ${owner}'s window`,
    arithmetic: `it had ${before.least} of ${sight.limit}, and the call costs ${cost}`,
  };
}

/** Content of a 429 body. */
interface Told {
  readonly owner: Owner;
  readonly limit: number;
  readonly reset: number;
  readonly current: number | null;
}

/** Reads a 429 body; a breach where it is not of its form, `null` where there is none or it is not ours. */
function refusalOf(body: unknown, scope: Scope): Told | Breach | null {
  if (body === undefined || body === null) return null;
  const message = messageIn(body);
  if (scope === "graphql") {
    const told = readSentence(message);
    if (told !== null) return { ...told, current: null };
    return misformed('{"errors":[{"message"}]} with one of the two sentences', message ?? body);
  }
  const { scope: name, limit, current, reset } = readRefusal(body);
  const isWhole = [limit, current, reset].every(Number.isSafeInteger);
  if (typeof (body as { message?: unknown }).message !== "string" || !isWhole)
    return misformed('{"message","scope","limit","current","reset"}', body);
  const owner = ownerNamed(name);
  if (owner === null) return null;
  if (quotaNames[scope][owner] !== name)
    return misformed(`scope ${owners.map((each) => quotaNames[scope][each]).join(" or ")}`, name);
  return { owner, limit: Number(limit), reset: Number(reset), current };
}

const misformed = (expected: string, got: unknown): Breach => ({
  expected,
  got: quote(got),
  arithmetic: "the body of a refusal",
});

/** Each number of the body against the header of the window that it names, where that header is there. */
function bodyAgrees(http: HttpAnswer, told: Told, sights: readonly Sight[]): Opinion {
  const sent = sentOf(http, told.owner);
  if (isOther(sent)) return null;
  const signed = sights[0]?.semantics.remaining === "signed";
  const left = told.current === null ? null : told.limit - told.current;
  const pairs: readonly [string, number | null, HeaderValue][] = [
    ["limit", told.limit, sent.limit],
    ["reset", told.reset, sent.reset],
    ["limit - current", left === null || signed ? left : Math.max(0, left), sent.remaining],
    ["reset", told.reset, readHeader(http.headers, headerNames.retryAfter)],
  ];
  for (const [name, inBody, inHeader] of pairs)
    if (inBody !== null && typeof inHeader === "number" && inBody !== inHeader)
      return {
        expected: `headers of the ${told.owner}'s window that agree with the body`,
        got: `${name} ${inBody} in the body, ${inHeader} in the headers`,
        arithmetic: "the body and the headers of a refusal show one window at one instant",
      };
  return "kept";
}
