// The status of a caller's quotas under any policy, for people: one free call a reading.
import { hintFor, NoAnswer } from "../connect/no-answer.ts";
import { type Ask, type Got, openSender } from "../connect/send.ts";
import { statusRequest } from "../policy/match.ts";
import type { Policy } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { readBody } from "../wire/bodies.ts";
import { type AnswerReading, readAnswer } from "../wire/read-answer.ts";
import { askOf, type PolicySessionOptions } from "./policy-session.ts";

export type PolicyStatusOptions = Omit<PolicySessionOptions, "allowance" | "onProgress">;

/** A quota as it stood when it was read. */
export interface QuotaStatus {
  readonly quota: string;
  readonly limit: number;
  readonly used: number;
  /** Time at which the quota is full again, ms since the epoch by this machine's clock; `null` if not told. */
  readonly endsAtMs: number | null;
}

/** Result of one status call, as plain JSON. */
export interface PolicyStatus {
  readonly policy: string;
  readonly caller: Readonly<Record<string, string>>;
  /** Time of the reading, ms since the epoch by this machine's clock. */
  readonly atMs: number;
  /** The target's `Date` minus this machine's clock, to the second, ms; `null` if there was no `Date`. */
  readonly skewMs: number | null;
  readonly quotas: readonly QuotaStatus[];
}

/** Reads the status repeatedly, over the same connection. */
export class PolicyStatusReader {
  readonly #options: PolicyStatusOptions;
  readonly #ask: Ask;
  readonly #send: ReturnType<typeof openSender>["send"];

  /** @throws SpillwayError `POLICY_UNSUPPORTED` if no route of the policy shows a status */
  constructor(options: PolicyStatusOptions) {
    const { policy, caller } = options;
    const request = statusRequest(policy, caller.attributes);
    if (request === null)
      throw new SpillwayError("POLICY_UNSUPPORTED", `the policy ${quote(policy.name)} shows no status`, {
        problem: { path: "routes", got: "none of a status", allowed: 'a route whose operation is "status"' },
        hint: "answers show the quotas of their own calls: npx spillway load",
      });
    this.#options = options;
    this.#ask = askOf(options, request);
    this.#send = options.send ?? openSender(options).send;
  }

  /** Reads the status once. @throws SpillwayError `TARGET_UNREACHABLE`, with what was seen instead of a status */
  async read(): Promise<PolicyStatus> {
    const { policy, caller, signal, now = Date.now } = this.#options;
    const sent = now();
    const got = await this.#send(this.#ask, signal).catch((error: unknown) => {
      if (error instanceof NoAnswer) throw notShown(error.message, hintFor(error.reason));
      throw error;
    });
    const atMs = now();
    const date = Date.parse(got.headers["date"] ?? "");
    const skewMs = Number.isFinite(date) ? date + 500 - (sent + atMs) / 2 : null;
    const quotas = quotasIn(policy, got, atMs, skewMs ?? 0);
    if (quotas.length === 0) throw notShown(`an answer of ${got.status} that shows no quota`);
    return { policy: policy.name, caller: caller.attributes, atMs, skewMs, quotas };
  }
}

const notShown = (got: string, hint?: string): SpillwayError =>
  new SpillwayError("TARGET_UNREACHABLE", "the target shows no status", {
    problem: { path: "--target", got, allowed: "an answer that shows quotas as the policy's wire says" },
    hint,
  });

function quotasIn(
  policy: Policy,
  { status, headers, body }: Got,
  atMs: number,
  skewMs: number,
): QuotaStatus[] {
  const names = Object.keys(policy.quotas);
  const { readings } = readAnswer(
    wireOf(policy),
    { status, headers, body: readBody(body) },
    { quotas: names, isStatus: true },
  );
  const shown = new Map<string, QuotaStatus>();
  for (const reading of readings) {
    const one = statusOf(reading, policy, atMs, skewMs);
    if (one !== null && !shown.has(one.quota)) shown.set(one.quota, one);
  }
  return names.flatMap((name) => shown.get(name) ?? []);
}

function statusOf(
  { quota, limit, remaining, used, reset }: AnswerReading,
  policy: Policy,
  atMs: number,
  skewMs: number,
): QuotaStatus | null {
  const spent = used ?? (limit === null || remaining === null ? null : limit - remaining);
  if (quota === null || limit === null || spent === null) return null;
  const algorithm = policy.quotas[quota]?.algorithm;
  const isWindow = algorithm?.kind === "fixed-window" && algorithm.windowSeconds !== undefined;
  // A reset that is rounded up, or a clock that is known to the second, may point beyond the window.
  const latestMs = isWindow ? atMs + algorithm.windowSeconds * 1000 : Number.POSITIVE_INFINITY;
  const instant = reset?.atMs == null ? null : reset.atMs - skewMs;
  const endsAtMs = reset?.afterMs == null ? instant : atMs + reset.afterMs;
  return { quota, limit, used: spent, endsAtMs: endsAtMs === null ? null : Math.min(endsAtMs, latestMs) };
}
