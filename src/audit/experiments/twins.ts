// The same call in another shape: each is charged as its plain twin, or is free by the policy (SPEC.md §2.6).
import { seenIn } from "../book.ts";
import {
  type Answer,
  type Broken,
  broken,
  type Experiment,
  kept,
  type Shot,
  unexercised,
} from "../experiment.ts";
import type { Lab } from "../lab.ts";
import { isRefused, type Trial, trial, usedWords } from "../trials.ts";

interface Twin {
  readonly name: string;
  readonly promise: string;
  readonly law?: Experiment["law"];
  readonly needs?: string;
  readonly lacks?: (lab: Lab, plain: Shot) => string | null;
  /** The twins of a plain call. */
  make(plain: Shot, lab: Lab): readonly Shot[];
  readonly together?: boolean;
  /** True if it may be charged or not, but in no other way. */
  readonly isVague?: boolean;
  /** True if it is surely not charged. */
  readonly isFree?: boolean;
}

const withHeader = (plain: Shot, headers: Record<string, string>): Shot => ({
  ...plain,
  headers: { ...plain.headers, ...headers },
});
const isGet = (_lab: Lab, plain: Shot): string | null =>
  plain.method === "GET" ? null : "the sample is no GET";
const isPlainHttp = (lab: Lab): string | null => (lab.isTls ? null : "the target is no https");

const twins: readonly Twin[] = [
  {
    name: "twin-head",
    promise: "HEAD is charged as GET",
    lacks: isGet,
    make: (plain) => [{ ...plain, method: "HEAD" }],
  },
  {
    name: "twin-query-string",
    promise: "a query string changes no charge",
    make: (plain) => [
      { ...plain, path: `${plain.path}${plain.path.includes("?") ? "&" : "?"}spillway=${plain.path.length}` },
    ],
  },
  {
    name: "twin-trailing-slash",
    promise: "a slash at the end changes no charge",
    make: (plain) => [{ ...plain, path: plain.path.replace(/\/?(?=\?|$)/, "/") }],
  },
  {
    name: "twin-letter-case-of-path",
    promise: "capital letters in the path give no fresh quota",
    make: (plain) => [{ ...plain, path: plain.path.replace(/[^/?]+(?=\?|$)/, (text) => text.toUpperCase()) }],
  },
  {
    name: "twin-letter-case-of-name",
    promise: "capital letters in a name of the path give no fresh quota",
    lacks: (lab, plain) => (named(lab, plain) === null ? "no name stands in the path" : null),
    make: (plain, lab) => {
      const name = named(lab, plain) ?? "";
      return [{ ...plain, path: plain.path.replace(name, name.toUpperCase()) }];
    },
  },
  {
    name: "twin-letter-case-of-scheme",
    promise: "the credential's scheme in other letters gives no fresh quota",
    lacks: (lab) => (/^[A-Za-z]+ \{token\}$/.test(formOf(lab)) ? null : "the credential has no scheme"),
    make: (plain, lab) => [
      withHeader(plain, { [lab.policy.auth.header]: formOf(lab).toLowerCase().replace("{token}", "$TOKEN") }),
      withHeader(plain, { [lab.policy.auth.header]: formOf(lab).toUpperCase().replace("{TOKEN}", "$TOKEN") }),
    ],
  },
  {
    name: "twin-percent-encoded",
    promise: "a letter of the path in percent-encoding changes no charge",
    make: (plain) => [
      {
        ...plain,
        path: plain.path.replace(/[a-z](?=[^/?]*(?:\?|$))/, (text) => `%${text.charCodeAt(0).toString(16)}`),
      },
    ],
  },
  {
    name: "twin-gzip",
    promise: "Accept-Encoding changes no charge",
    make: (plain) => [withHeader(plain, { "Accept-Encoding": "gzip, br" })],
  },
  {
    name: "twin-if-none-match",
    promise: "If-None-Match is charged as its plain twin; a 304 as the policy says",
    lacks: isGet,
    make: (plain) => [withHeader(plain, { "If-None-Match": "*" })],
  },
  {
    name: "twin-with-a-body",
    promise: "a GET with a body is charged as one without",
    lacks: isGet,
    make: (plain) => [
      { ...plain, body: "{}", headers: { ...plain.headers, "Content-Type": "application/json" } },
    ],
  },
  {
    name: "twin-forwarded-for",
    promise: "a header that names another address or user gives no fresh quota",
    law: "isolated",
    make: (plain) => [
      withHeader(plain, { "X-Forwarded-For": "203.0.113.7" }),
      withHeader(plain, { Forwarded: "for=203.0.113.8" }),
      withHeader(plain, { "X-Real-IP": "203.0.113.9" }),
      withHeader(plain, { "X-User-Id": "somebody-else" }),
      withHeader(plain, {
        "X-Client-IP": "203.0.113.10",
        "True-Client-IP": "203.0.113.10",
        "CF-Connecting-IP": "203.0.113.10",
      }),
    ],
  },
  {
    name: "twin-method-override",
    promise: "X-HTTP-Method-Override changes no charge",
    make: (plain) => [
      withHeader(plain, { "X-HTTP-Method-Override": plain.method === "GET" ? "HEAD" : "GET" }),
      withHeader(plain, { "X-HTTP-Method-Override": "OPTIONS" }),
    ],
  },
  {
    name: "twin-on-a-connection-of-its-own",
    promise: "a call on a fresh connection is charged as one on a kept connection",
    make: (plain) => [
      { ...plain, way: "lone" },
      { ...plain, way: "lone" },
    ],
  },
  {
    name: "twin-pipelined",
    promise: "pipelined calls are each charged",
    make: (plain) => [0, 1, 2].map(() => ({ ...plain, way: "pipelined" as const })),
    together: true,
  },
  {
    name: "twin-http-1.0",
    promise: "a call by HTTP/1.0 is charged as any other",
    make: (plain) => [{ ...plain, way: "http/1.0" }],
  },
  {
    name: "twin-http-2",
    promise: "a call by HTTP/2 is charged as any other",
    needs: "a target of https",
    lacks: isPlainHttp,
    make: (plain) => [{ ...plain, way: "http/2" }],
  },
  {
    name: "cut-off-while-sending",
    promise: "a request whose head is not whole is not charged",
    make: (plain) => [{ ...plain, way: "cut-sending" }],
    isFree: true,
  },
  {
    name: "cut-off-while-waiting",
    promise: "a call whose client leaves before the answer is charged once, or not at all",
    make: (plain) => [{ ...plain, way: "cut-waiting" }],
    isVague: true,
  },
  {
    name: "cut-off-while-reading",
    promise: "a call whose client leaves after the answer's head is charged once",
    make: (plain) => [{ ...plain, way: "cut-reading" }],
  },
];

const formOf = ({ policy }: Lab): string => [policy.auth.form].flat()[0] ?? "{token}";

/** A name of the caller's that stands in the path and has a letter that can be another. */
function named({ policy }: Lab, { caller, path }: Shot): string | null {
  const values = policy.auth.attributes.flatMap((name) => caller?.attributes[name] ?? []);
  return values.find((value) => value !== value.toUpperCase() && path.split("/").includes(value)) ?? null;
}

const experimentOf = (twin: Twin): Experiment => ({
  name: twin.name,
  law: twin.law ?? "conserved",
  section: "SPEC.md §2.6",
  promise: twin.promise,
  needs: twin.needs ?? "a window whose count answers show",
  calls: 8,
  empties: 0,
  waits: 0,
  lacks(lab, subject) {
    const [caller] = subject.callers;
    if (caller === undefined) return "nobody can call it";
    if (lab.windows(subject, caller).length === 0) return "answers show no count of a window";
    return twin.lacks?.(lab, lab.shot(caller, subject.operation)) ?? null;
  },
  *run(lab, subject) {
    const caller = yield* lab.pick(subject, 8, 700);
    const plain = lab.shot(caller, subject.operation);
    const shots = twin.make(plain, lab).map((shot) => lab.routed(shot));
    const made = yield* trial(lab, subject, caller, shots, { together: twin.together === true });
    return (
      judgeTwin(twin, made) ?? (made.answers.some(isRefused) ? unexercised("the twin was refused") : kept)
    );
  },
});

/** Charges that each answer allows, in plain calls: at least, and at most. */
function allowed({ isFree, isVague }: Twin, { call, shot }: Answer): readonly [least: number, most: number] {
  if (isFree) return [0, 0];
  if (isVague || call.outcome === "unknown" || shot.isVague === true) return [0, 1];
  if (call.outcome === "exempt" || call.outcome === "refused") return [0, 0];
  return call.status >= 400 || call.status === 304 ? [0, 1] : [1, 1];
}

function judgeTwin(twin: Twin, { answers, charged, all }: Trial): Broken | null {
  const bounds = answers.map((answer) => allowed(twin, answer));
  const least = bounds.reduce((sum, [each]) => sum + each, 0);
  const most = bounds.reduce((sum, [, each]) => sum + each, 0);
  const wrong = charged.filter(({ units, plain }) => units < least * plain || units > most * plain);
  const words = least === most ? `${least}` : `${least} to ${most}`;
  const [first] = wrong;
  if (first !== undefined)
    return broken(
      all,
      `charged as ${words} plain calls in ${first.quota} (${first.plain} each)`,
      usedWords(wrong),
    );
  // All quotas of a call are charged, or none.
  const shares = new Set(charged.filter(({ plain }) => plain > 0).map(({ units, plain }) => units / plain));
  if (shares.size > 1)
    return broken(all, "all quotas of a call are charged alike", usedWords(charged), "all-or-nothing");
  // The answer to a twin that was admitted shows its own charge.
  for (const answer of answers)
    for (const { quota, plain } of charged) {
      const [seen, before] = [seenIn(answer, quota), seenIn(all[0] as Answer, quota)];
      if (seen === null || before === null || answer.call.status >= 400 || answers.length > 1) continue;
      if (least === 1 && (seen.used < before.used + plain || seen.limit !== before.limit))
        return broken(
          [all[0] as Answer, answer],
          `${quota} shows ${before.used + plain} used of ${before.limit}`,
          `${seen.used} of ${seen.limit}`,
        );
    }
  return null;
}

/** The answers that a policy says how to provoke: charged once, or free. */
const provoked = (status: "304" | "400" | "404" | "405"): Experiment => ({
  name: `answered-${status}`,
  law: "conserved",
  section: "SPEC.md §2.6",
  promise: `an answer of ${status} is charged once, or not at all, in all quotas alike`,
  needs: `a request of the policy that provokes ${status}`,
  calls: 6,
  empties: 0,
  waits: 0,
  lacks(lab, subject) {
    const sample = lab.policy.provoke[status];
    if (sample === undefined) return `the policy has no request that provokes ${status}`;
    const [caller] = subject.callers;
    if (caller === undefined || lab.windows(subject, caller).length === 0)
      return "answers show no count of a window";
    return lab.route(lab.request(caller, sample, "other", null))?.route.operation === subject.operation
      ? null
      : "the request is another operation's";
  },
  *run(lab, subject) {
    const sample = lab.policy.provoke[status];
    if (sample === undefined) return unexercised(`no request that provokes ${status}`);
    const caller = yield* lab.pick(subject, 8, 700);
    const shot = lab.request(caller, sample, subject.operation, null);
    const twin = { name: "", promise: "", make: () => [], isVague: true };
    const made = yield* trial(lab, subject, caller, [shot, shot]);
    const isCharged = made.charged.some(({ units, plain }) => plain > 0 && units === 2 * plain);
    const isBare = made.charged.every(({ quota }) =>
      made.answers.every((answer) => seenIn(answer, quota) === null),
    );
    if (isCharged && isBare && made.answers.every(({ call }) => String(call.status) === status))
      return broken(
        made.all,
        `an answer of ${status} that is charged shows its quotas`,
        "it shows none",
        "headers-present",
      );
    return judgeTwin(twin, made) ?? kept;
  },
});

const keptConnection: Experiment = {
  name: "users-in-turn-on-one-connection",
  law: "isolated",
  section: "SPEC.md §7",
  promise: "calls of several users in turn are each charged to their own",
  needs: "two callers",
  calls: 12,
  empties: 0,
  waits: 0,
  lacks: (lab, subject) => {
    const [first, second] = subject.callers;
    if (first === undefined || second === undefined) return "no second caller";
    return lab.windows(subject, first).length > 0 ? null : "answers show no count of a window";
  },
  *run(lab, subject) {
    const caller = yield* lab.pick(subject, 10, 700);
    const other = subject.callers.find((each) => each.index !== caller.index);
    if (other === undefined) return unexercised("no second caller");
    const own = lab.windows(subject, caller).filter((name) => {
      const key = lab.policy.quotas[name]?.key ?? [];
      return key.some((part) => other.attributes[part] !== caller.attributes[part]);
    });
    if (own.length === 0) return unexercised("the callers share all quotas");
    const [mine, theirs] = [lab.shot(caller, subject.operation), lab.shot(other, subject.operation)];
    const made = yield* trial(lab, subject, caller, [theirs, mine, theirs, mine, theirs], { quotas: own });
    const wrong = made.charged.filter(({ units, plain }) => units !== 2 * plain);
    const isRight = wrong.length === 0 || made.answers.some(isRefused);
    return isRight ? kept : broken(made.all, "charged for the two calls of its own alone", usedWords(wrong));
  },
};

export const twinExperiments: readonly Experiment[] = [
  ...twins.map(experimentOf),
  keptConnection,
  ...(["304", "400", "404", "405"] as const).map(provoked),
];
