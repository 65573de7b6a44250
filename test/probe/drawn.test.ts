// Conclusions of a probe from calls that are drawn, some of which are spoilt: of each finding, how often it is sure,
// likely and not seen, and a digest of all that is said. `npm test -- test/probe/drawn.test.ts -u` writes `pinned/drawn.txt`
// anew; read the difference.
import { expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { seededRandom } from "../../src/faults/random.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { conclude } from "../../src/probe/conclude.ts";
import type { Sighting } from "../../src/probe/finding.ts";
import { conclude as concludeQuotas } from "../../src/probe/policy-conclude.ts";
import type { PolicySession } from "../../src/probe/policy-session.ts";
import { readAnswer, type SeenCall } from "../../src/probe/seen.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { QuotaCall, QuotaReading } from "../../src/trace/quota-record.ts";
import { refusalBody, statusBody } from "../../src/wire/bodies.ts";
import { nodeHeaders, type ShownHeaders } from "../../src/wire/fields.ts";
import { digestOf } from "../support/digest.ts";

const worlds = 80;
const startMs = Date.UTC(2026, 0, 2, 3, 2, 17, 300);

/** Draws of one world. */
class Draws {
  readonly random: () => number;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  of<T>(...values: readonly T[]): T {
    return values[Math.floor(this.random() * values.length)] as T;
  }

  /** True in one of so many cases. */
  once(of: number): boolean {
    return this.random() * of < 1;
  }
}

/** Calls of a probe: readings of the status, requests and queries of its own, and of others in between. */
function drawnCalls(seed: number): SeenCall[] {
  const draws = new Draws(seed);
  const window = (limits: readonly number[]) => ({
    limit: draws.of(...limits),
    windowSeconds: draws.of(1, 2, 5, 8, 20, 60),
  });
  const isOff = draws.once(6);
  const rules = parseRules({
    organization: {
      rest: { ...window([3, 12, 100]), enforced: !isOff },
      graphql: { ...window([30, 60]), enforced: !isOff },
    },
    user: { rest: window([2, 7, 50]), graphql: window([20, 50]) },
    semantics: {
      anchor: draws.of("epoch", "first-request"),
      reset: draws.of("ceil", "floor", "round"),
      remaining: draws.of("clamped", "signed"),
      refused: draws.of("uncounted", "counted"),
      graphqlCharge: draws.of("reserved", "prepaid", "postpaid"),
    },
  });
  const limiter = new Limiter(rules);
  const isBusy = draws.once(4);
  const hasDate = !draws.once(4);
  const dateSkewMs = draws.of(0, 0, 0, 2_000);
  const skewMs = draws.of(0, 0, 450, -3_700);
  const spoils = draws.of(0, 0, 0.05, 0.3);
  const calls: SeenCall[] = [];
  let nowMs = startMs;
  const asks = 12 + Math.floor(draws.random() * 40);
  for (let number = 1; number <= asks; number++) {
    nowMs += draws.of(1, 40, 180, 330, 330, 700, 1_300, 4_000);
    const atMs = nowMs + skewMs + draws.of(1, 4, 30);
    if (isBusy && draws.once(2))
      limiter.decide(
        { organization: "acme", user: draws.of("prober", "other"), scope: "rest", cost: 1 },
        atMs,
      );
    const what = draws.of("GET status", "GET status", "GET status", "GET /v2/user", "query");
    const scope = what === "query" ? "graphql" : "rest";
    const cost = scope === "rest" ? 1 : draws.of(4, 13, 40);
    const isStatus = what === "GET status";
    let [status, requested, actual]: [number, number | null, number | null] = [200, null, null];
    let body: unknown = {};
    let readings = limiter.readings("acme", "prober", scope, atMs);
    if (isStatus) body = statusBody(limiter.status("acme", atMs));
    else {
      const decision = limiter.decide({ organization: "acme", user: "prober", scope, cost }, atMs);
      readings = decision;
      if (decision.refusedBy !== null) {
        status = 429;
        body = refusalBody(scope, decision.refusedBy, decision);
      } else if (decision.reservation !== null) {
        [requested, actual] = [cost, Math.ceil(cost / 2)];
        readings = limiter.settle(decision.reservation, actual, atMs);
      }
    }
    const { organization, user } = readings;
    const shown: ShownHeaders = {
      scopeName: scope,
      limit: organization.limit,
      remaining: organization.remaining,
      reset: organization.reset,
      userScopeName: `${scope}_user`,
      userLimit: user.limit,
      userRemaining: user.remaining,
      userReset: user.reset,
    };
    if (draws.random() < spoils) spoil(draws, shown as never);
    if (isStatus && draws.random() < spoils)
      spoil(
        draws,
        (body as { scopes: Record<string, Record<string, unknown>> }).scopes[draws.of("rest", "graphql")] ??
          {},
      );
    if (draws.random() < spoils / 3) status = draws.of(0, 401, 503);
    const headers = Object.fromEntries(
      Object.entries({ ...shown, requested, actual }).flatMap(([field, value]) =>
        value === null ? [] : [[nodeHeaders[field as keyof ShownHeaders], String(value)]],
      ),
    );
    if (hasDate) headers["date"] = new Date(atMs + dateSkewMs).toUTCString();
    const sent = {
      ...({ number, what, user: "prober", scope, isStatus, isExempt: isStatus, sentMs: nowMs } as const),
      points: scope === "graphql" ? cost : null,
    };
    nowMs = atMs - skewMs + draws.of(1, 4, 30);
    const got = status === 0 ? null : { status, headers, body: JSON.stringify(body) };
    calls.push(readAnswer(sent, got, nowMs, status === 0 ? "late" : null, "secret"));
  }
  return calls;
}

/** Makes one value another one, or none. */
function spoil(draws: Draws, values: Record<string, unknown>): void {
  const name = draws.of(...Object.keys(values));
  const value = values[name];
  values[name] = draws.of<unknown>(
    null,
    "no number",
    typeof value === "number" ? value + draws.of(-1, 1, 5) : false,
  );
}

type Said = Sighting<unknown> & { readonly name: string; readonly of: string | null };

/** One row for each kind of finding. */
function rowsOf(findings: readonly Said[]): string[] {
  const kinds = new Map<string, Said[]>();
  for (const finding of findings) {
    const kind = `${finding.of ?? "all"} ${finding.name}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), finding]);
  }
  return [...kinds].map(([kind, all]) => {
    const times = (wanted: string): number => all.filter(({ confidence }) => confidence === wanted).length;
    const values = new Set(all.map(({ value }) => JSON.stringify(value))).size;
    const digest = digestOf(all, 8);
    return `${kind}: ${times("certain")} certain, ${times("likely")} likely, ${times("not seen")} not seen; ${values} values; ${digest}`;
  });
}

const seeds = Array.from({ length: worlds }, (_, seed) => seed);

test("by rules", async () => {
  const findings = seeds.flatMap((seed) =>
    conclude(drawnCalls(seed), 0).map(({ scope, ...finding }) => ({ ...finding, of: scope })),
  );
  await expect(`${rowsOf(findings).join("\n")}\n`).toMatchFileSnapshot("./pinned/drawn.txt");
});

const policyOf = (draws: Draws, round: "ceil" | "floor" | "round", form: "delta-s" | "epoch-s") =>
  parsePolicy({
    version: 2,
    name: "drawn",
    quotas: Object.fromEntries(
      ["one", "two"].map((quota) => [
        quota,
        {
          algorithm: {
            kind: "fixed-window",
            limit: draws.of(3, 6, 20),
            windowSeconds: draws.of(2, 5, 8, 60),
            anchor: draws.of("epoch", "first-request"),
          },
          key: ["user"],
          charge: { refused: draws.of("nothing", "counted") },
        },
      ]),
    ),
    operations: {
      read: { uses: { one: 1 }, samples: [{ path: "/r" }] },
      write: { uses: { one: 2, two: "declared" }, samples: [{ path: "/w", cost: 3 }] },
    },
    routes: [
      { path: "/limits", operation: "status" },
      { path: "/r", operation: "read" },
      { path: "/w", operation: "write" },
    ],
    auth: { attributes: ["user"] },
    wire: {
      revision: "1",
      readings: ["one", "two"].map((quota) => ({
        quotas: [quota],
        headers: { [`X-${quota}-Left`]: "{remaining}", [`X-${quota}-Reset`]: "{reset}" },
        reset: { form, means: "window-end", round },
      })),
      ...(draws.once(2) ? { retryAfter: [{ header: "Retry-After", form: "delta-s" as const }] } : {}),
    },
  });

const costs = { status: {}, read: { one: 1 }, write: { one: 2, two: 3 } } as const;

/** Calls of a probe by a policy, whose windows are of a length and a grid that may be others than the policy's. */
function drawnSession(seed: number): PolicySession {
  const draws = new Draws(1_000 + seed);
  const round = draws.of("ceil", "floor", "round");
  const form = draws.of("delta-s", "epoch-s");
  const policy = policyOf(draws, round, form);
  const skewMs = draws.of(0, 700, -5_200);
  const windows = Object.keys(policy.quotas).map((name) => ({
    name,
    limit: draws.of(3, 6, 20),
    ms: 1000 * draws.of(2, 5, 8, 60),
    opens: draws.of(0, 1, 1_000),
    endMs: 0,
    used: 0,
  }));
  const isCounted = draws.once(2);
  const shows = draws.of("remaining", "used", "both");
  const spoils = draws.of(0, 0, 0.1);
  const hasDate = draws.once(2);
  const calls: QuotaCall[] = [];
  let nowMs = startMs;
  for (let call = 0; call < 24; call++) {
    nowMs += draws.of(1, 150, 600, 1_200, 2_500);
    const sent = nowMs;
    nowMs += draws.of(2, 9, 60);
    const atMs = nowMs + skewMs;
    const operation = draws.of("status", "read", "read", "write");
    const uses: Readonly<Record<string, number>> = costs[operation];
    for (const one of windows) {
      if (one.endMs > atMs) continue;
      one.used = 0;
      one.endMs =
        one.opens === 0 ? atMs - (atMs % one.ms) + one.ms : Math.floor(atMs / one.opens) * one.opens + one.ms;
    }
    const by = windows.find(({ name, used, limit }) => used + (uses[name] ?? 0) > limit && uses[name]);
    for (const one of windows)
      if (by === undefined || (isCounted && by === one)) one.used += uses[one.name] ?? 0;
    const readings = windows.map((one): QuotaReading => {
      const end = Math[round]((form === "delta-s" ? one.endMs - atMs : one.endMs) / 1000) * 1000;
      const shown = draws.random() < spoils ? draws.of(null, one.used + 1) : one.used;
      return {
        quota: one.name,
        limit: draws.once(20) ? null : one.limit,
        remaining: shows === "used" || shown === null ? null : one.limit - shown,
        used: shows === "remaining" ? null : shown,
        reset: {
          afterMs: form === "delta-s" ? end : null,
          atMs: form === "delta-s" ? null : end,
          gridMs: 1000,
        },
      };
    });
    nowMs += draws.of(2, 9, 60);
    calls.push({
      ...{ sent, received: nowMs, client: "probe/0", call, caller: { user: "ann" }, operation, cost: null },
      ...{ status: by === undefined ? 200 : 429, outcome: by === undefined ? "admitted" : "refused" },
      readings: readings.filter(() => !draws.once(15)),
      ...(by === undefined ? {} : { by: by.name }),
      ...(by !== undefined && draws.once(2) ? { retryAfterMs: by.endMs - atMs } : {}),
      ...(hasDate ? { date: Math.floor(atMs / 1000) * 1000 } : {}),
    } as QuotaCall);
  }
  return { calls, options: { policy, caller: { attributes: { user: "ann" } } } } as unknown as PolicySession;
}

test("by a policy", async () => {
  const findings = seeds.flatMap((seed) =>
    concludeQuotas(drawnSession(seed)).map(({ quota, operation, ...finding }) => ({
      ...finding,
      of: operation === undefined ? quota : `${quota} ${operation}`,
    })),
  );
  await expect(`${rowsOf(findings).join("\n")}\n`).toMatchFileSnapshot("./pinned/drawn-quotas.txt");
});
