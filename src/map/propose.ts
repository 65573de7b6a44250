// Answers of an API → a policy of it, with questions on what the answers do not settle (POLICY.md).
import { parsePolicy } from "../policy/parse.ts";
import type { Policy, Quota } from "../policy/policy.ts";
import { presets, wireOf } from "../policy/presets.ts";
import type { PolicyInput } from "../policy/schema.ts";
import type { WireData, WireReading } from "../policy/wire-data.ts";
import { SpillwayError } from "../rules/errors.ts";
import { counted } from "../rules/words.ts";
import { isRefusal } from "../wire/outcome.ts";
import { type AnswerReading, readAnswer } from "../wire/read-answer.ts";
import { anchorOf, isRoundedUp, windowEnds } from "./ends.ts";
import { isLimitLike } from "./header-names.ts";
import { operationsOf } from "./operations.ts";
import type { MapQuestion } from "./question.ts";
import { type QuotaSeen, quotasOf, quotasSeen, secondsSeen } from "./quotas.ts";
import type { SeenAnswers } from "./seen.ts";
import { type BuiltWire, buildWire } from "./wire-of.ts";

export interface Proposal {
  readonly policy: PolicyInput;
  /** Name of the preset whose format the answers have; `null` if there is none. */
  readonly format: string | null;
  readonly answers: number;
  readonly questions: readonly MapQuestion[];
  /** Quotas whose limit or windows the answers leave open. */
  readonly open: readonly string[];
  /** Last end of a window that was shown, by quota, ms since the epoch. */
  readonly endsMs: Readonly<Record<string, number>>;
}

/**
 * Proposes a policy.
 * @param secrets texts that must not be written
 * @throws SpillwayError `LOG_INVALID` if no answer shows a limit or a refusal
 */
export function propose(
  answers: readonly SeenAnswers[],
  secrets: ReadonlySet<string>,
  name: string,
): Proposal {
  const questions: MapQuestion[] = [];
  const seen = withCaller(answers);
  const known = knownFormat(seen);
  const built: BuiltWire =
    known === null
      ? buildWire(seen, secrets, questions)
      : { wire: known.name, readings: known.readings, resets: new Map() };
  const quotas = quotasSeen(built, seen);
  const isRefused = seen.some(({ status }) => isRefusal(status));
  if (quotas.size === 0 && !isRefused) throw nothingShown(seen.length);
  const isPreset =
    known !== null &&
    !isFormatAlone(known.policy) &&
    [...quotas.keys()].every((each) => Object.hasOwn(known.policy.quotas, each));
  const policy = isPreset
    ? withLimitsSeen(known.policy, name, quotas, questions)
    : newPolicy(seen, secrets, name, built, quotas, questions);
  if (!isRefused && (policy.wire === undefined || typeof policy.wire === "object"))
    questions.push({
      path: "wire.outcomes",
      seen: "No refusal was seen; the usual status of one is assumed.",
      settle: "Call until you are refused, and give that answer to map, too.",
    });
  const open = Object.entries(parsePolicy(policy).quotas).flatMap(([quota, { algorithm }]) =>
    isOpen(algorithm, quotas.get(quota)) ? [quota] : [],
  );
  return {
    policy,
    format: known?.name ?? null,
    answers: seen.length,
    questions,
    open,
    endsMs: lastEnds(quotas),
  };
}

const lastEnds = (quotas: ReadonlyMap<string, QuotaSeen>): Record<string, number> =>
  Object.fromEntries(
    [...quotas].flatMap(([quota, { ends }]) => {
      const last = windowEnds(ends).at(-1);
      return last === undefined ? [] : [[quota, last]];
    }),
  );

function isOpen(algorithm: Quota["algorithm"], seen: QuotaSeen | undefined): boolean {
  if (seen === undefined || seen.limits.size !== 1) return true;
  if (algorithm.kind !== "fixed-window") return true;
  if (secondsSeen(seen) === null || !isRoundedUp(seen.ends)) return true;
  return anchorOf(windowEnds(seen.ends), algorithm.windowSeconds) === null;
}

/** Tells whether a preset is a draft's, a library's or a gateway's: its windows, keys and one route are no API's. */
const isFormatAlone = ({ routes, quotas }: Policy): boolean =>
  routes.length === 1 &&
  routes[0]?.path === "/**" &&
  Object.values(quotas).every(({ algorithm: { kind } }) => kind === "fixed-window");

/** Gives an answer without its request to the caller, if there is only one. */
function withCaller(seen: readonly SeenAnswers[]): readonly SeenAnswers[] {
  const [caller, ...others] = new Set(seen.map((each) => each.caller).filter((each) => each !== ""));
  return caller === undefined || others.length > 0 ? seen : seen.map((each) => ({ ...each, caller }));
}

const nothingShown = (answers: number): SpillwayError =>
  new SpillwayError("LOG_INVALID", "these answers show no limit", {
    problem: {
      path: "--from",
      got: `${counted(answers, "answer")} without a header or member of a limit, and without a refusal`,
      allowed: "answers with headers of limits, or a refusal",
    },
    hint: "curl -i URL keeps the headers; an access log has none",
  });

/** Returns the policy of a preset, with the limits that were shown. */
function withLimitsSeen(
  { quotas, ...policy }: Policy,
  name: string,
  seen: ReadonlyMap<string, QuotaSeen>,
  questions: MapQuestion[],
): PolicyInput {
  const changed = Object.entries(quotas).map(([quota, { algorithm, ...rest }]) => {
    const known = seen.get(quota);
    const limit = Math.max(...(known?.limits ?? []));
    if (known === undefined || !(limit >= 1)) return [quota, { ...rest, algorithm }] as const;
    if (algorithm.kind === "token-bucket")
      return [quota, { ...rest, algorithm: { ...algorithm, capacity: limit } }] as const;
    return [quota, { ...rest, algorithm: withWindowSeen({ ...algorithm, limit }, known) }] as const;
  });
  questions.push({
    path: "quotas",
    seen: `Windows, keys, routes and what no answer showed are those of the preset ${policy.name}.`,
    settle: `npx spillway policy show ${policy.name} says them in words, with their sources.`,
  });
  return { ...policy, name, quotas: Object.fromEntries(changed) } as unknown as PolicyInput;
}

/** Returns an algorithm with the window length and the anchor that answers settle. */
function withWindowSeen(algorithm: Quota["algorithm"], known: QuotaSeen): Quota["algorithm"] {
  const seconds = secondsSeen(known);
  if (algorithm.kind !== "fixed-window" || algorithm.windowSeconds === undefined || seconds === null)
    return algorithm;
  const anchor = anchorOf(windowEnds(known.ends), seconds) ?? algorithm.anchor;
  return { ...algorithm, windowSeconds: seconds, anchor };
}

function newPolicy(
  seen: readonly SeenAnswers[],
  secrets: ReadonlySet<string>,
  name: string,
  built: BuiltWire,
  shown: ReadonlyMap<string, QuotaSeen>,
  questions: MapQuestion[],
): PolicyInput {
  const auth = seen.find((each) => each.auth !== null)?.auth ?? null;
  const callers = new Set(seen.map(({ caller }) => caller).filter((caller) => caller !== "")).size;
  questions.push({
    path: "quotas",
    seen: `Each quota is taken to be a user's; the answers are those of ${counted(Math.max(1, callers), "caller")}.`,
    settle: "Call with two tokens of one organization: a quota that both use up is the organization's.",
  });
  if (auth === null)
    questions.push({
      path: "auth",
      seen: "No request with a credential was seen; Authorization: Bearer is assumed.",
      settle: "Give output of curl -v, or a HAR: both show the request's headers. No token is kept.",
    });
  return {
    version: 2,
    name,
    quotas: quotasOf(shown, built.resets, questions),
    ...operationsOf(seen, secrets, built.readings, [...shown.keys()], questions),
    ...(auth === null ? {} : { auth: { header: auth.header, form: auth.form } }),
    wire: built.wire,
  };
}

/** Names that many APIs share, each with its own forms: they tell no format. */
const shared = /^(?:x-)?rate-?limit(?:-(?:limit|remaining|reset|used))?$|^retry-after$/;

interface KnownFormat {
  readonly name: string;
  readonly policy: Policy;
  readonly wire: WireData;
  /** Readings of each answer. */
  readonly readings: readonly (readonly AnswerReading[])[];
}

const headersOf = ({ readings, retryAfter, outcomes }: WireData): Set<string> =>
  new Set(
    [
      ...readings.flatMap(({ headers }) => Object.keys(headers)),
      ...retryAfter.flatMap((place) => ("header" in place ? [place.header] : [])),
      ...outcomes.flatMap(({ headers, lacks }) => [...Object.keys(headers), ...lacks]),
    ].map((name) => name.toLowerCase()),
  );

/** A preset, with the headers that its answers may have, and the headers of its readings, repeats included. */
interface ReadPreset extends Omit<KnownFormat, "readings"> {
  readonly headers: ReadonlySet<string>;
  readonly own: readonly string[];
}

let read: readonly ReadPreset[] | undefined;

/** Returns all presets, read once. */
function readPresets(): readonly ReadPreset[] {
  read ??= Object.entries(presets).map(([name, preset]) => {
    const policy = parsePolicy(preset.policy);
    const wire = wireOf(policy);
    const own = wire.readings.flatMap(({ headers }) =>
      Object.keys(headers).map((each) => each.toLowerCase()),
    );
    return { name, policy, wire, headers: headersOf(wire), own };
  });
  return read;
}

/** Returns the preset whose format all answers have; `null` if there is none, or the names alone do not tell. */
function knownFormat(seen: readonly SeenAnswers[]): KnownFormat | null {
  const names = new Set(seen.flatMap(({ headers }) => Object.keys(headers)).filter(isLimitLike));
  const found = readPresets().flatMap(({ name, policy, wire, headers: known, own }) => {
    const format = { name, policy, wire, readings: readingsBy(wire, policy, seen) };
    const told = isTold(wire, seen, [...names]);
    const isKnown =
      [...names].every((each) => known.has(each)) &&
      format.readings.some((each) => each.length > 0) &&
      format.readings.flat().every((each) => isOf(format, each));
    const unseen = own.filter((each) => !names.has(each)).length;
    return told && isKnown ? [{ format, rank: unseen + (name.startsWith("ietf") ? 0 : 0.5) }] : [];
  });
  return found.toSorted((one, other) => one.rank - other.rank)[0]?.format ?? null;
}

/** Tells whether a reading fits a format, which either names its quotas or shows those of any user. */
const isOf = ({ policy, wire }: KnownFormat, { quota }: AnswerReading): boolean =>
  quota === null ||
  Object.hasOwn(policy.quotas, quota) ||
  wire.readings.every(({ quotas }) => quotas === undefined);

/** Tells whether something was seen that few formats have: such a header, a structured field, or members of a body. */
function isTold(wire: WireData, seen: readonly SeenAnswers[], names: readonly string[]): boolean {
  if (wire.readings.some((row) => isOwnRow(row, names))) return isRead(wire, seen);
  const isStructured = wire.readings.some(({ headers }) =>
    Object.entries(headers).some(
      ([name, form]) =>
        typeof form === "object" && !Array.isArray(form) && names.includes(name.toLowerCase()),
    ),
  );
  const deep = wire.readings.some(({ body }) => Object.keys(body).some((at) => at.split("/").length > 2));
  return (isStructured || (names.length === 0 && deep)) && isRead(wire, seen);
}

/** Tells whether a row's headers were seen (all, or all but one of many), and one of them is not shared. */
function isOwnRow({ headers }: WireReading, seen: readonly string[]): boolean {
  const names = Object.keys(headers).map((each) => each.toLowerCase());
  const found = names.filter((each) => seen.includes(each));
  const isWhole = found.length >= names.length - (names.length >= 4 ? 1 : 0);
  const hasNumber = /\{(?:limit|remaining|used)\}/.test(JSON.stringify(headers));
  return isWhole && hasNumber && found.some((each) => !shared.test(each));
}

/** Tells whether every value that the format names could be read. */
const isRead = (wire: WireData, seen: readonly SeenAnswers[]): boolean =>
  seen.every((each) => readAnswer(wire, each, { quotas: [], isStatus: false }).unread.length === 0);

/** Returns the readings of each answer. A body that shows several quotas is a status's. */
const readingsBy = (wire: WireData, { quotas }: Policy, seen: readonly SeenAnswers[]): AnswerReading[][] =>
  seen.map((each) => {
    const asked = { quotas: Object.keys(quotas), isStatus: false };
    const read = readAnswer(wire, each, asked).readings;
    const status = readAnswer(wire, each, { ...asked, isStatus: true }).readings;
    return [...(status.length > read.length ? status : read)];
  });
