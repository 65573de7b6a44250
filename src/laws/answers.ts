// The laws on HTTP answers: headers-present, limit-agrees and refusal-agrees. Without HTTP answers, headers-present
// judges nothing, and the others judge what decisions and readings show.

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
import { decided, lacksRoom } from "./decisions.ts";
import { type Breach, type Opinion, spanText } from "./law.ts";
import { firstOf, overLooks } from "./looks.ts";
import type { CallerAttributes, QuotaCallEvent, QuotaEvent, QuotaScript } from "./quotas/script.ts";
import type { Look, ShownCount, Sight } from "./sight.ts";

/** Returns the numbers that an answer's headers show of an owner's window. */
const sentOf = ({ headers }: HttpAnswer, owner: Owner): WindowHeaders =>
  headersOf(readHeaders(headers), owner);

/** Tells whether an owner's headers name a quota other than the four of SPEC.md §1; these are not judged. */
const isOther = ({ scopeName }: WindowHeaders): boolean => scopeName !== null && namesOtherQuota(scopeName);

/** An HTTP answer of the default API, with the rules and the caller by which its fields are judged. */
interface Sent {
  readonly event: QuotaEvent;
  readonly http: HttpAnswer;
  readonly scope: Scope;
  readonly rules: Rules;
  readonly caller: CallerAttributes;
}

/** Returns the HTTP answer to an operation by rules; `null` under a policy, or if none was sent. */
function sentBy({ event }: Look, { terms }: QuotaScript): Sent | null {
  const http = ("said" in event ? event.said.http : null) ?? null;
  const op = event.op.do === "settle" && "call" in event ? event.call : event.op;
  if (terms === undefined || http === null || op === null || !("caller" in op)) return null;
  const scope = op.do === "call" ? (op.operation as Scope) : "rest";
  return { event, http, scope, rules: terms.rules, caller: op.caller };
}

const alone = (opinions: readonly Opinion[]) => opinions.map((opinion) => [opinion, null] as const);

/** Judges that an answer is complete: by rules the eight headers (SPEC.md §5), by a policy what its wire promises. */
export const headersPresent = overLooks((script) => (look) => {
  const sent = sentBy(look, script);
  if (sent === null) return alone(promised(look));
  return alone(owners.map((owner) => presence(sent.http, owner, quotaNames[sent.scope][owner])));
});

/** Judges that an answer has every reading that the policy's format promises, in a documented form. */
function promised({ event, answer }: Look): readonly Opinion[] {
  const read = "read" in event ? event.read : null;
  if (read === null || answer === null) return [];
  const breach = (expected: string, got: string): Breach => ({
    expected,
    got,
    arithmetic: "the policy's wire says so",
  });
  const [unread] = read.unread;
  if (unread !== undefined) return [breach(`a documented form of ${unread.at}`, quote(unread.text))];
  return answer.readings.map((right) => {
    const theirs = read.readings.filter(({ quota }) => quota === right.quota);
    const seen = theirs.length > 0 ? theirs : read.readings.filter(({ quota }) => quota !== null);
    const lacking = (["limit", "remaining", "used", "reset"] as const).find(
      (member) => right[member] !== null && !seen.some((one) => one[member] !== null),
    );
    const name = right.quota === null ? "" : ` of ${right.quota}`;
    return lacking === undefined ? "kept" : breach(`${lacking}${name}`, "an answer without it");
  });
}

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

/** Judges that each `limit`, in readings and in answers, is the policy's. */
export const limitAgrees = overLooks((script) => (look) => {
  const sent = sentBy(look, script);
  const isByRules = script.terms !== undefined;
  const readings = look.sights.map((sight) =>
    firstOf(sight.shown.map((shown) => limitOfReading(shown, isByRules))),
  );
  if (sent === null) return readings.map((opinion, place) => [opinion, look.sights[place] ?? null]);
  const { rules, scope, http } = sent;
  const { organization = "", user = "" } = sent.caller;
  const limits = {
    organization: organizationLimit(rules, organization, scope).limit,
    user: userLimit(rules, organization, user, scope).limit,
  };
  return alone([...readings, ...owners.map((owner) => sentLimit(http, owner, limits[owner]))]);
});

function limitOfReading({ limit, right, by }: ShownCount, isByRules: boolean): Opinion {
  if (limit === null || right.limit === null) return null;
  if (limit === right.limit) return "kept";
  const why = `the ${isByRules ? "rules say" : "policy says"} so${by === "said" ? "" : " (its answer shows it)"}`;
  return { expected: `limit ${right.limit}`, got: `limit ${limit}`, arithmetic: why };
}

function sentLimit(http: HttpAnswer, owner: Owner, limit: number): Opinion {
  const header = headersOf(headerNames, owner).limit;
  const sent = sentOf(http, owner);
  if (typeof sent.limit !== "number" || isOther(sent)) return null;
  if (sent.limit === limit) return "kept";
  return { expected: `${header}: ${limit}`, got: `${header}: ${sent.limit}`, arithmetic: "the rules say so" };
}

/** Judges that a refusal names the first quota that lacks room, and that its answer says the same. */
export const refusalAgrees = overLooks((script) => (look) => {
  const call = decided(look);
  if (call === null) return [];
  const sent = sentBy(look, script);
  const [other] = atOdds(call, look);
  if (other !== undefined) return [[other, null]];
  if (call.admitted) return [];
  const named = nameOpinion(look, call.refusedBy, script.isExact);
  return sent === null ? named : [...named, ...alone(bodyOpinions(sent, call, look))];
});

/** Returns how an answer, read by the policy's wire, contradicts the decision's outcome or the refusing quota. */
function atOdds({ isAtOdds, admitted, read }: QuotaCallEvent, { answer }: Look): readonly Breach[] {
  if (isAtOdds) {
    const arithmetic = "the answer is read by the policy's wire";
    const expected = `an answer that says ${admitted ? "admitted" : "refused"}`;
    return [{ expected, got: `${read?.outcome}`, arithmetic }];
  }
  if (admitted || read?.by == null || answer?.by == null || read.by === answer.by) return [];
  return [
    { expected: `an answer that names ${answer.by}`, got: read.by, arithmetic: `${answer.by} refused` },
  ];
}

/** Judges that the quota that a refusal names lacks room, and that no enforced quota before it does. */
function nameOpinion(
  { sights }: Look,
  refusedBy: string | null | undefined,
  isExact: boolean,
): readonly (readonly [Opinion, Sight | null])[] {
  const named = sights.find(({ quota }) => quota === refusedBy);
  const lacks = named === undefined ? null : lacksRoom(named, isExact);
  if (named === undefined || lacks === null) return [];
  if (!lacks) {
    const { before, limit, found, quota } = named;
    const arithmetic = `it had ${spanText(before)} of ${limit}, and the call takes ${found?.needed}`;
    return [[{ expected: "a refusal that names a quota without room", got: quota, arithmetic }, named]];
  }
  const others = sights.slice(0, sights.indexOf(named)).filter(({ isEnforced }) => isEnforced);
  const first = others.find((sight) => lacksRoom(sight, isExact) === true);
  if (first === undefined) return [["kept", named]];
  const arithmetic = `${first.quota} and ${named.quota} lack room, in this order`;
  return [[{ expected: `a refusal that names ${first.quota}`, got: named.quota, arithmetic }, named]];
}

/** Judges a refusal's status and body, by rules, against the decision and the headers (SPEC.md §6). */
function bodyOpinions({ http, scope }: Sent, { refusedBy }: QuotaCallEvent, look: Look): readonly Opinion[] {
  const opinions: Opinion[] = isRefusal(http.status)
    ? []
    : [
        {
          expected: `status ${REFUSED}`,
          got: `status ${http.status}`,
          arithmetic: "the call was refused",
        },
      ];
  const told = refusalOf(http.body, scope);
  if (told === null) return opinions;
  if ("expected" in told) return [...opinions, told];
  const quota = quotaNames[scope][told.owner];
  opinions.push(
    ...nameOpinion(look, quota, true).map(([opinion]) => opinion),
    bodyAgrees(http, told, look.sights),
  );
  if (refusedBy && refusedBy !== quota)
    opinions.push({
      expected: `a body that names ${refusedBy}`,
      got: quota,
      arithmetic: `${refusedBy} refused the call`,
    });
  return opinions;
}

/** Content of a 429 body: the window's owner and numbers. */
interface Told {
  readonly owner: Owner;
  readonly limit: number;
  readonly reset: number;
  readonly current: number | null;
}

/** Reads a 429 body. Returns a breach if its form is wrong; `null` if there is none, or if it names another quota. */
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

/** Judges each number of the body against its header of the same window, if the answer has that header. */
function bodyAgrees(http: HttpAnswer, told: Told, [sight]: readonly Sight[]): Opinion {
  const sent = sentOf(http, told.owner);
  if (isOther(sent)) return null;
  const signed = sight?.rule.shown.remaining === "signed";
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
