// Answers of an API → a policy of it, with questions on what the answers do not settle (POLICY.md).
import { parsePolicy } from "../policy/parse.ts";
import type { Policy, Quota } from "../policy/policy.ts";
import type { PolicyInput } from "../policy/schema.ts";
import { SpillwayError } from "../rules/errors.ts";
import { mostOf } from "../rules/extremes.ts";
import { counted } from "../rules/words.ts";
import { isRefusal } from "../wire/outcome.ts";
import { anchorOf, isRoundedUp, windowEnds } from "./ends.ts";
import { knownFormat } from "./known-format.ts";
import { operationsOf } from "./operations.ts";
import type { MapQuestion } from "./question.ts";
import { presetWindow, type QuotaSeen, quotasOf, quotasSeen, secondsSeen } from "./quotas.ts";
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
    const limit = mostOf([...(known?.limits ?? [])]);
    if (known === undefined || !(limit >= 1)) return [quota, { ...rest, algorithm }] as const;
    if (algorithm.kind === "token-bucket")
      return [quota, { ...rest, algorithm: { ...algorithm, capacity: limit } }] as const;
    return [
      quota,
      { ...rest, algorithm: presetWindow(quota, { ...algorithm, limit }, known, questions) },
    ] as const;
  });
  questions.push({
    path: "quotas",
    seen: `Windows, keys, routes and what no answer showed are those of the preset ${policy.name}.`,
    settle: `npx spillway policy show ${policy.name} says them in words, with their sources. Another API that has these headers needs quotas, operations and routes of its own: samples of ${policy.name} would be sent to it.`,
  });
  return { ...policy, name, quotas: Object.fromEntries(changed) } as unknown as PolicyInput;
}

/** Returns the most calls of one caller that were let through before its first refusal. */
function letThrough(seen: readonly SeenAnswers[]): number {
  const admitted = new Map<string, number>();
  const refused = new Set<string>();
  for (const { caller, status } of seen)
    if (isRefusal(status)) refused.add(caller);
    else if (status < 400 && !refused.has(caller)) admitted.set(caller, (admitted.get(caller) ?? 0) + 1);
  return mostOf(
    [...refused].map((caller) => admitted.get(caller) ?? 0),
    0,
  );
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
    quotas: quotasOf(shown, built.resets, questions, letThrough(seen)),
    ...operationsOf(seen, secrets, built.readings, [...shown.keys()], questions),
    ...(auth === null ? {} : { auth: { header: auth.header, form: auth.form } }),
    wire: built.wire,
  };
}
