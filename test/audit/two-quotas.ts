// Experiments in virtual time on two windows: `all` of everybody's calls, and `own` of each user's. A server counts both,
// and may refuse, name, charge or answer wrongly.
import type { Answer, AuditFinding, Shot } from "../../src/audit/step.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { findingOf, Played, type Sent } from "./played.ts";

export type Units = Readonly<Record<"all" | "own", number>>;
const names = ["all", "own"] as const;
const windowSeconds = 60;

/** A call before it is decided: what it costs, and what its counts have left. */
export interface Asked {
  readonly user: string;
  readonly cost: number;
  readonly left: Units;
  /** The first quota that lacks room. */
  readonly lacking: string | null;
}

export interface TwoQuotas {
  readonly limits?: Units;
  readonly users?: number;
  /** Charge of both, and uses of both by a call: a number, or `declared`. */
  readonly charge?: object;
  readonly uses?: number | string;
  readonly relation?: string;
  /** Other operations, whose paths are their names. */
  readonly operations?: object;
  /** Returns the quota that refuses a call, or `null`. */
  readonly refuses?: (asked: Asked) => string | null;
  /** Returns the name that a refusal tells; `null` for none. */
  readonly named?: (by: string, asked: Asked) => string | null;
  /** Returns the units of a call that is refused, or not. */
  readonly charges?: (by: string | null, asked: Asked) => Partial<Units>;
  /** Returns an answer in place of the right one, or what of it differs. */
  readonly answers?: (by: string | null, asked: Asked) => Partial<Sent>;
}

const policyOf = ({ limits, charge, uses, relation, operations }: TwoQuotas) =>
  parsePolicy({
    ...{ version: 2, name: "two" },
    quotas: Object.fromEntries(
      names.map((name) => {
        const limit = limits?.[name] ?? 0;
        const algorithm = { kind: "fixed-window", limit, windowSeconds, anchor: "epoch" };
        return [name, { algorithm, key: name === "own" ? ["user"] : [], ...(charge && { charge }) }];
      }),
    ),
    operations: {
      call: {
        uses: { all: uses, own: uses },
        samples: [
          {
            ...{ method: "POST", path: "/call", headers: { "content-type": "application/json" } },
            ...{ body: { first: 1 }, cost: 1 },
            ...(uses === "declared" && { dearer: { pointer: "/first", costEach: 1 } }),
          },
        ],
        ...(relation && { relation }),
      },
      ...operations,
    },
    routes: ["call", ...Object.keys(operations ?? {})].map((operation) => ({
      ...{ path: `/${operation}`, operation },
    })),
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
    wire: {
      revision: "1",
      readings: names.map((name) => ({
        quotas: [name],
        headers: { [`X-${name}`]: "{used}/{limit}", [`X-${name}-Reset`]: "{reset}" },
        reset: { form: "delta-s", means: "window-end", round: "ceil" },
        on: ["admitted", "refused"],
      })),
      outcomes: [
        { outcome: "refused", by: "{quota}", status: [429], headers: { "X-By": "{quota}" } },
        { outcome: "refused", status: [429] },
      ],
    },
  } as never);

/** Plays an experiment on calls that use both quotas. */
export function foundWith(name: string, given: TwoQuotas): AuditFinding {
  const { limits = { all: 50, own: 20 }, users = 4, uses = 1 } = given;
  const policy = policyOf({ ...given, limits, uses });
  const counts = new Map<string, number>();
  const usedBy = (path: string): readonly string[] =>
    Object.keys(policy.operations[path.slice(1)]?.uses ?? {});
  const server = ({ caller, path, body }: Shot, nowMs: number): Sent => {
    const user = caller?.name ?? "";
    const window = Math.floor(nowMs / 1000 / windowSeconds);
    const keys = { all: `all ${window}`, own: `${user} ${window}` };
    const usedOf = (quota: "all" | "own"): number => counts.get(keys[quota]) ?? 0;
    const cost = uses === "declared" ? (JSON.parse(body ?? "{}") as { first: number }).first : 1;
    const left = { all: limits.all - usedOf("all"), own: limits.own - usedOf("own") };
    const used = names.filter((quota) => usedBy(path).includes(quota));
    const lacking = used.find((quota) => left[quota] < cost) ?? null;
    const asked = { user, cost, left, lacking };
    const by = given.refuses === undefined ? lacking : given.refuses(asked);
    const units = given.charges?.(by, asked) ?? (by === null ? { all: cost, own: cost } : {});
    for (const quota of used) counts.set(keys[quota], usedOf(quota) + (units[quota] ?? 0));
    const told = by === null ? null : given.named === undefined ? by : given.named(by, asked);
    const reset = String(windowSeconds - Math.floor((nowMs / 1000) % windowSeconds));
    const shown = used.flatMap((quota) => [
      [`x-${quota}`, `${usedOf(quota)}/${limits[quota]}`],
      [`x-${quota}-reset`, reset],
    ]);
    const headers = { ...Object.fromEntries(shown), ...(told !== null && { "x-by": told }) };
    return { status: by === null ? 200 : 429, headers, ...given.answers?.(by, asked) };
  };
  const played = new Played(server, users, "epoch", { policy, untilMs: 600_000 });
  return findingOf(name, played, "call");
}

/** Returns the statuses of a finding's answers. */
export const statusesOf = (finding: AuditFinding): number[] =>
  finding.state === "broken" ? finding.answers.map(({ call }: Answer) => call.status) : [];
