// Limits of a target for which the user names none. Map proposes a policy from answers of the target's own URL. Some
// answers come just before and after a window's end. The audit judges nothing that the answers leave open.
import { setTimeout as sleep } from "node:timers/promises";
import type { AuditOptions } from "../audit/run.ts";
import type { ConnectionOptions } from "../connect/connection.ts";
import { hintFor, inWords, NoAnswer } from "../connect/no-answer.ts";
import { openSender, type Send } from "../connect/send.ts";
import { parseTarget, type Target } from "../connect/target.ts";
import { wayMs } from "../map/ends.ts";
import { type Proposal, propose } from "../map/propose.ts";
import { type SeenAnswers, seenOf } from "../map/seen.ts";
import { routeOf } from "../policy/match.ts";
import { parsePolicy } from "../policy/parse.ts";
import type { Policy } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import type { PolicyToken } from "../policy/tokens.ts";
import { SpillwayError } from "../rules/errors.ts";
import { counted } from "../rules/words.ts";
import { readAnswer } from "../wire/read-answer.ts";
import { sayProposal } from "./map.ts";
import type { Terminal } from "./terminal.ts";

export interface Given extends ConnectionOptions {
  readonly target: Target;
  readonly tokensFile: string;
}

export interface AuditLimits extends Pick<AuditOptions, "policy" | "rules" | "tokens" | "unsettled"> {
  readonly target: Target;
  readonly assumptions: readonly string[];
}

/** Answers that map reads, and the pause between them, ms: resets move, and the part of a second differs. */
const answersMost = 3;
const apartMs = 2350;
/** Looks at a window's end: time from the first look to the end, time between two looks, ms, and most looks. */
const beforeEndMs = 350;
const lookMs = 200;
const looksMost = 12;
/** Most tries of one look, and most windows whose end is looked at. */
const callsMost = 3;
const windowsMost = 2;
/** Share of a window by which the next call comes later than one whole window. */
const offGrid = 0.37;
const pauseMostMs = 90_000;
/** Longest pause without a word, ms. */
const toldMs = 1_000;
const name = "my-api";
const ownPolicy =
  "give the URL of a call that shows its limits, or a policy: spillway map answers.txt -o my-api.json";

const ownAuth =
  "the token went as 'Authorization: Bearer ...': if this API takes it otherwise, a policy says so by its member auth";

/** Way to the target, and the time. */
export interface MapSurroundings {
  readonly send: Send;
  now(): number;
  /** Waits for a time. @throws if the signal is aborted */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Calls the target's URL, and keeps the answers as map reads them. */
class Looks {
  readonly seen: SeenAnswers[] = [];
  readonly secrets: Set<string>;
  readonly #url: string;
  readonly #terminal: Terminal;
  readonly #around: MapSurroundings;
  readonly #signal: AbortSignal;

  constructor(
    { target }: Given,
    tokens: readonly PolicyToken[],
    terminal: Terminal,
    signal: AbortSignal,
    around: MapSurroundings,
  ) {
    this.#url = target.url;
    this.#terminal = terminal;
    this.#signal = signal;
    this.secrets = new Set(tokens.map(({ token }) => token));
    this.#around = around;
  }

  now(): number {
    return this.#around.now();
  }

  /** Makes a call. Repeats one that took long, because the time of its answer is uncertain. */
  async call(caller: PolicyToken): Promise<SeenAnswers> {
    for (let attempt = 1; ; attempt++) {
      const beganMs = this.now();
      const answer = await this.#ask(caller);
      if (this.now() - beganMs > wayMs && attempt < callsMost) continue;
      this.seen.push(answer);
      return answer;
    }
  }

  async #ask({ token }: PolicyToken): Promise<SeenAnswers> {
    this.#terminal.progress(`map: call ${this.seen.length + 1}`);
    const url = this.#url;
    const sentMs = this.now();
    const { status, headers, body } = await this.#around.send({ method: "GET", url, token }, this.#signal);
    const fields = Object.entries(headers).map(([header, value]) => [header, value ?? ""] as const);
    const requestHeaders = [["Authorization", `Bearer ${token}`]] as const;
    const atMs = timeOf(sentMs, this.now(), headers["date"]);
    const raw = { method: "GET", url, requestHeaders, requestBody: "", status, headers: fields, body, atMs };
    return seenOf(raw, this.secrets);
  }

  async pause(ms: number): Promise<void> {
    if (ms > toldMs) this.#terminal.progress(`map: waits ${Math.ceil(ms / 1000)} s for the next window`);
    await this.#around.sleep(Math.max(0, ms), this.#signal);
  }

  propose(): Proposal {
    return propose(this.seen, this.secrets, name);
  }
}

/** Returns an answer's time by this machine's clock; `null` (use its `Date`) if it took long or the clocks differ. */
export function timeOf(sentMs: number, nowMs: number, date: string | undefined): number | null {
  return nowMs - sentMs > wayMs || Math.abs(Date.parse(date ?? "") + 500 - nowMs) > 1500 ? null : nowMs;
}

/**
 * Proposes a policy from answers of the target's own URL.
 * @throws SpillwayError `TARGET_UNREACHABLE`, with what was seen, if no answer shows a limit; `TOKENS_INVALID`
 */
export async function mapped(
  terminal: Terminal,
  given: Given,
  tokens: readonly PolicyToken[],
  signal: AbortSignal,
): Promise<AuditLimits> {
  const { tls, proxy } = given;
  const { send, close } = openSender({ tls, proxy });
  const wait = (ms: number) => sleep(ms, undefined, { signal });
  return mappedBy({ send, now: Date.now, sleep: wait }, terminal, given, tokens, signal).finally(close);
}

/** Proposes a policy as `mapped` does, by any way to the target. */
export async function mappedBy(
  around: MapSurroundings,
  terminal: Terminal,
  given: Given,
  tokens: readonly PolicyToken[],
  signal: AbortSignal,
): Promise<AuditLimits> {
  const { target } = given;
  const path = target.url.slice(target.origin.length) || "/";
  const looks = new Looks(given, tokens, terminal, signal, around);
  const unreachable = (got: string, hint: string): SpillwayError =>
    new SpillwayError("TARGET_UNREACHABLE", "neither probe nor map sees a limit there", {
      problem: { path: `GET ${target.url}`, got, allowed: "an answer that shows limits" },
      hint,
    });
  try {
    const { proposal, ended } = await watched(looks, tokens);
    const { policy, called } = sampled(proposal, path);
    const uses = Object.keys(policy.operations[called]?.uses ?? {});
    if (uses.length === 0)
      throw unreachable(
        `an answer that no quota of map's proposal counts (${called || "no operation"})`,
        ownPolicy,
      );
    const shared = await sharedQuotas(looks, tokens, policy, called);
    await sayProposal(proposal, undefined, terminal);
    const open = uses.filter((quota) => proposal.open.includes(quota) || !ended.has(quota));
    return {
      target: parseTarget("--target", target.origin),
      policy: { ...policy, quotas: withoutKey(policy, shared) },
      rules: null,
      tokens: ofAttributes(tokens, policy.auth.attributes),
      assumptions: [
        `limits are as map proposes them by ${counted(looks.seen.length, "answer")} of ${path}`,
        ...proposal.questions.map(({ path: at, seen }) => `${at}: ${seen.replace(/\.$/, "")}`),
        ...shared.map((quota) => `quotas.${quota}.key: two tokens use up one count, so all callers share it`),
      ],
      unsettled:
        open.length === 0
          ? undefined
          : `answers do not settle the limit and the windows of ${open.join(", ")}: give a policy that says them`,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof NoAnswer) throw unreachable(inWords(error.reason), hintFor(error.reason));
    if (!(error instanceof SpillwayError) || error.code !== "LOG_INVALID") throw error;
    const status = looks.seen.at(-1)?.status;
    const hint = status === 401 || status === 403 ? ownAuth : ownPolicy;
    throw unreachable(`${status} without a header or member of a limit`, hint);
  }
}

/** Proposes a policy from answers in three windows, and names the quotas that had a window end. */
async function watched(
  looks: Looks,
  [caller = { token: "", attributes: {} }]: readonly PolicyToken[],
): Promise<{ readonly proposal: Proposal; readonly ended: ReadonlySet<string> }> {
  for (let at = 0; at < answersMost; at++) {
    if (at > 0) await looks.pause(apartMs);
    await looks.call(caller);
  }
  let proposal = looks.propose();
  const ended = new Set<string>();
  for (const quota of Object.keys(proposal.endsMs))
    for (
      let window = 0;
      window < windowsMost && (proposal.open.includes(quota) || !ended.has(quota));
      window++
    ) {
      const endMs = proposal.endsMs[quota] ?? 0;
      if (endMs - looks.now() > pauseMostMs) break;
      await looks.pause(endMs - beforeEndMs - looks.now());
      for (let look = 0; look < looksMost; look++) {
        if (look > 0) await looks.pause(lookMs);
        await looks.call(caller);
        proposal = looks.propose();
        // The window has not ended while its end stays the same.
        if ((proposal.endsMs[quota] ?? 0) <= endMs + apartMs) continue;
        ended.add(quota);
        break;
      }
    }
  // The next window ends off the grid if it opens with its first call.
  const pauseMs = (1 + offGrid) * windowMsOf(proposal);
  if (pauseMs > 0 && pauseMs <= pauseMostMs) {
    await looks.pause(pauseMs);
    await looks.call(caller);
    proposal = looks.propose();
  }
  return { proposal, ended };
}

/** Returns the proposed policy, with the target's path as its only sample. */
function sampled({ policy }: Proposal, path: string): { readonly policy: Policy; readonly called: string } {
  const asked = { method: "GET", target: path, host: "", graphql: null };
  const called = routeOf(parsePolicy(policy), asked)?.route.operation ?? "";
  const operations = Object.entries(policy.operations).map(
    ([each, operation]) => [each, { ...operation, samples: each === called ? [{ path }] : [] }] as const,
  );
  return { policy: parsePolicy({ ...policy, operations: Object.fromEntries(operations) }), called };
}

/** Returns the quotas whose count also includes calls by another token. */
async function sharedQuotas(
  looks: Looks,
  [caller, other]: readonly PolicyToken[],
  policy: Policy,
  called: string,
): Promise<string[]> {
  if (caller === undefined || other === undefined) return [];
  const uses = policy.operations[called]?.uses ?? {};
  const quotas = Object.keys(uses);
  const usedBy = async (token: PolicyToken): Promise<Map<string, number>> => {
    const { readings } = readAnswer(wireOf(policy), await looks.call(token), { quotas, isStatus: false });
    return new Map(
      readings.flatMap(({ quota, used, limit, remaining }) => {
        const count = used ?? (limit === null || remaining === null ? null : limit - remaining);
        return quota === null || count === null ? [] : [[quota, count] as const];
      }),
    );
  };
  const before = await usedBy(caller);
  await usedBy(other);
  const after = await usedBy(caller);
  return quotas.filter((quota) => {
    const [one, two, each] = [before.get(quota), after.get(quota), uses[quota]];
    return one !== undefined && two !== undefined && typeof each === "number" && two - one >= 2 * each;
  });
}

const withoutKey = ({ quotas }: Policy, shared: readonly string[]): Policy["quotas"] =>
  Object.fromEntries(
    Object.entries(quotas).map(([quota, each]) => [
      quota,
      shared.includes(quota) ? { ...each, key: [] } : each,
    ]),
  );

/**
 * Returns callers by the attributes that the policy keys its quotas by. A policy's only attribute may be called `user`.
 * @throws SpillwayError `TOKENS_INVALID` if a token lacks one of these attributes
 */
function ofAttributes(tokens: readonly PolicyToken[], names: readonly string[]): PolicyToken[] {
  const named = ({ attributes }: PolicyToken, each: string): string | undefined =>
    attributes[each] ?? (names.length === 1 ? attributes["user"] : undefined);
  if (tokens.some((token) => names.some((each) => named(token, each) === undefined)))
    throw new SpillwayError(
      "TOKENS_INVALID",
      "the proposed policy tells callers apart by what these tokens do not say",
      {
        problem: {
          path: "tokens",
          got: Object.keys(tokens[0]?.attributes ?? {}).join(", "),
          allowed: names.join(", "),
        },
        hint: "spillway map answers.txt -o my-api.json, then --policy my-api.json and a tokens file of its attributes",
      },
    );
  return tokens.map((token) => ({
    token: token.token,
    attributes: Object.fromEntries(names.map((each) => [each, named(token, each) ?? ""])),
  }));
}

/** Returns the length of the longest window in the proposal, ms. */
function windowMsOf({ policy }: Proposal): number {
  const quotas = Object.values(parsePolicy(policy).quotas);
  const lengths = quotas.flatMap(({ algorithm }) =>
    "windowSeconds" in algorithm ? (algorithm.windowSeconds ?? []) : [],
  );
  return 1000 * Math.max(0, ...lengths);
}
