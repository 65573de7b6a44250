// The laws on what goes over the wire: headers-present, limit-agrees and refusal-agrees. A limiter without
// HTTP answers is judged as far as its decisions show the same thing, and on headers not at all.
import type { HttpAnswer } from "../engine/adapter.ts";
import { windowName } from "../engine/answers.ts";
import { quote } from "../rules/errors.ts";
import { type Owner, organizationLimit, type Rules, type Scope, userLimit } from "../rules/rules.ts";
import { namesOtherQuota } from "../rules/window-names.ts";
import { readLimit } from "./counts.ts";
import { lacksRoom } from "./decisions.ts";
import type { HistoryEvent } from "./history.ts";
import { type Breach, type Judge, type Opinion, Tally } from "./law.ts";
import { Ledger, type Sight } from "./ledger.ts";
import { without } from "./script.ts";

const owners: readonly Owner[] = ["organization", "user"];
const windowNames: readonly unknown[] = ["rest", "graphql", "rest_user", "graphql_user"];

/** `RateLimit-Reset` or `RateLimit-User-Reset`. */
const headerName = (owner: Owner, field: string): string =>
  `RateLimit-${owner === "user" ? "User-" : ""}${field}`;

/** A header's value, whatever the case of its name; `undefined` where it was not sent. */
function headerOf({ headers }: HttpAnswer, name: string): string | number | undefined {
  const wanted = name.toLowerCase();
  for (const [key, value] of Object.entries(headers)) if (key.toLowerCase() === wanted) return value;
  return undefined;
}

/** A header's integer; `null` where it is absent or no integer (`5, 5` is none). */
function integerOf(http: HttpAnswer, name: string): number | null {
  const value = headerOf(http, name);
  if (typeof value === "string" && !/^-?\d+$/.test(value)) return null;
  const number = Number(value ?? Number.NaN);
  return Number.isSafeInteger(number) ? number : null;
}

/** Tells whether an owner's headers speak of another quota than the four of SPEC.md §1: reported, not judged. */
const otherQuota = (http: HttpAnswer, owner: Owner): boolean => {
  const name = headerOf(http, headerName(owner, "Scope"));
  return name !== undefined && namesOtherQuota(name);
};

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
    const ledger = new Ledger(script);
    const tally = new Tally();
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
  http === null ? [] : owners.map((owner) => presence(http, owner, windowName(shown.scope, owner))),
);

function presence(http: HttpAnswer, owner: Owner, expectedName: string): Opinion {
  const scopeHeader = headerName(owner, "Scope");
  const name = headerOf(http, scopeHeader);
  const breach = (expected: string, got: unknown): Breach => ({
    expected,
    got: got === undefined ? "no such header" : quote(got),
    arithmetic: `the answer has status ${http.status}`,
  });
  if (name !== expectedName && (name === undefined || !namesOtherQuota(name)))
    return breach(`${scopeHeader}: ${expectedName}`, name);
  if (name !== expectedName) return null;
  for (const field of ["Remaining", "Limit", "Reset"]) {
    const header = headerName(owner, field);
    if (integerOf(http, header) === null) return breach(`${header}: an integer`, headerOf(http, header));
  }
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
  const header = headerName(owner, "Limit");
  const sent = integerOf(http, header);
  if (sent === null || otherQuota(http, owner)) return null;
  if (sent === limit) return "kept";
  return { expected: `${header}: ${limit}`, got: `${header}: ${sent}`, arithmetic: "the rules say so" };
}

/** A refusal names a window that lacks room, and its body agrees with the headers (SPEC.md §6). */
export const refusalAgrees: Judge = overAnswers(({ event, http, shown, sights }) => {
  if (!("decision" in event) || event.decision.admitted) return [];
  const { refusedBy } = event.decision;
  const opinions: Opinion[] = [];
  if (refusedBy) opinions.push(lacking(sights, refusedBy, event.op.cost));
  if (http === null) return opinions;
  if (http.status !== 429)
    opinions.push({
      expected: "status 429",
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

const sentences: readonly [Owner, RegExp][] = [
  ["organization", /^Your organization has exceeded the limit of (\d+) complexity points\. .*in (-?\d+) sec/],
  ["user", /^You have exceeded your per-user limit of (\d+) complexity points\. .*in (-?\d+) sec/],
];

/** Reads a 429 body; a breach where it is not of its form, `null` where there is none or it is not ours. */
function refusalOf(body: unknown, scope: Scope): Told | Breach | null {
  if (body === undefined || body === null) return null;
  if (scope === "graphql") {
    const text: unknown = (body as { errors?: readonly { message?: unknown }[] }).errors?.[0]?.message;
    for (const [owner, sentence] of sentences) {
      const [, limit, reset] = sentence.exec(String(text)) ?? [];
      if (limit !== undefined && reset !== undefined)
        return { owner, limit: Number(limit), reset: Number(reset), current: null };
    }
    return misformed('{"errors":[{"message"}]} with one of the two sentences', text ?? body);
  }
  const { message, scope: name, limit, current, reset } = body as Record<string, unknown>;
  const numbers = [limit, current, reset].every(Number.isSafeInteger);
  if (typeof message !== "string" || !numbers)
    return misformed('{"message","scope","limit","current","reset"}', body);
  if (!windowNames.includes(name)) return null;
  const owner = owners.find((candidate) => windowName(scope, candidate) === name);
  if (owner === undefined)
    return misformed(`scope ${owners.map((o) => windowName(scope, o)).join(" or ")}`, name);
  return { owner, limit: Number(limit), reset: Number(reset), current: Number(current) };
}

const misformed = (expected: string, got: unknown): Breach => ({
  expected,
  got: quote(got),
  arithmetic: "the body of a refusal",
});

/** Each number of the body against the header of the window that it names, where that header is there. */
function bodyAgrees(http: HttpAnswer, told: Told, sights: readonly Sight[]): Opinion {
  if (otherQuota(http, told.owner)) return null;
  const header = (field: string): number | null => integerOf(http, headerName(told.owner, field));
  const signed = sights[0]?.semantics.remaining === "signed";
  const left = told.current === null ? null : told.limit - told.current;
  const pairs: readonly [string, number | null, number | null][] = [
    ["limit", told.limit, header("Limit")],
    ["reset", told.reset, header("Reset")],
    ["limit - current", left === null || signed ? left : Math.max(0, left), header("Remaining")],
    ["reset", told.reset, integerOf(http, "Retry-After")],
  ];
  for (const [name, inBody, inHeader] of pairs)
    if (inBody !== null && inHeader !== null && inBody !== inHeader)
      return {
        expected: `headers of the ${told.owner}'s window that agree with the body`,
        got: `${name} ${inBody} in the body, ${inHeader} in the headers`,
        arithmetic: "the body and the headers of a refusal show one window at one instant",
      };
  return "kept";
}
