// The laws by name (SPEC.md §7), for the property run and the oracle, and the switches that make one void. A void law
// is skipped by name and the report says so; none is silently weakened.
import { type Rules, type Scope, scopes, semanticsOf } from "./rules.ts";
import type { SwitchName, SwitchValue } from "./switches.ts";

/** Statement of each law in one sentence, in the order of SPEC.md §7. */
export const lawStatements = {
  bounded: "while enforced, 0 <= current <= limit",
  conserved: "current is the sum of the costs admitted in this window",
  "remaining-agrees": "remaining = max(0, limit - current)",
  "reset-agrees":
    "reset = ceil((reset_at - now) / 1 s), 1 <= reset <= W, and reset_at is constant within a window, where its anchor puts it",
  "status-free": "inserting status calls anywhere changes no later answer",
  "all-or-nothing": "a refused call changes no window",
  "refusal-justified": "a call is refused if and only if some enforced window lacks room for its cost",
  isolated: "calls of other organizations, users or scopes change nothing here",
  monotone: "within a window current never falls, and at its end it is 0",
  recovers: "after resetAt the first call whose cost fits the limits is admitted",
  "unenforced-never-refuses": "while enforced is false nothing is refused, and counting continues",
  "time-translates": "shifting all times by a common multiple of the window lengths shifts all answers alike",
  "never-rolls-back": "a clock that steps back reopens nothing and admits nothing extra",
  "twice-at-most": "any span of length W holds at most 2 x limit admitted",
  "snapshot-equals": "restoring a snapshot and going on equals never having stopped",
  "headers-present":
    "the eight headers are on every answer that owes them, as integers, the scope names right",
  "limit-agrees": "limit is the rules', and constant within a window",
  "refusal-agrees":
    "a refusal names a window that lacks room, the organization's where both do, and its body agrees with the headers",
} as const;

export type LawName = keyof typeof lawStatements;
export const lawNames = Object.keys(lawStatements) as readonly LawName[];

/**
 * Laws of limiters that can be asked again: each compares with calls that nobody made. They need no fixed window. The
 * oracle does not know them.
 */
const promiseStatements = {
  "honest-wait": "a caller who waits alone as long as the refusal said is admitted",
  "rate-bound": "no span of time admits more than the capacity and the rate times the span",
  "give-back": "where refused calls are free, a refused call leaves no trace",
} as const;

/** Statement of each law of a limiter; the property kit checks all of them. */
export const limiterLawStatements = { ...lawStatements, ...promiseStatements } as const;
export type LimiterLawName = keyof typeof limiterLawStatements;
export const limiterLawNames = Object.keys(limiterLawStatements) as readonly LimiterLawName[];

/** Returns why a law says nothing about this scope under these semantics; `null` if it holds (SPEC.md §7). */
export function voidReason(law: LimiterLawName, rules: Rules, scope: Scope): string | null {
  const { refused, graphqlCharge } = semanticsOf(rules, scope);
  const isPostpaid = scope === "graphql" && graphqlCharge === "postpaid";
  if ((law === "bounded" || law === "give-back") && refused === "counted") return "refused calls are counted";
  if ((law === "bounded" || law === "rate-bound") && isPostpaid) return "postpaid may overshoot";
  return null;
}

/** Returns why a law says nothing about any scope under these rules; `null` if it holds for one of them. */
export function voidEverywhere(law: LimiterLawName, rules: Rules): string | null {
  const reasons = scopes.map((scope) => voidReason(law, rules, scope));
  return reasons.includes(null) ? null : (reasons[0] ?? null);
}

/** A switch that changes the form of a law: a row of the column "changed by" in SPEC.md §7. */
interface Change<S extends SwitchName = SwitchName> {
  readonly law: LimiterLawName;
  readonly name: S;
  readonly value: SwitchValue<S>;
  /** Changed form of the law, as the report states it. */
  readonly form: string;
}

const change = <S extends SwitchName>(
  law: LimiterLawName,
  name: S,
  value: SwitchValue<S>,
  form: string,
): Change<S> => ({ law, name, value, form });

const changes: readonly Change[] = [
  change("conserved", "graphqlCharge", "reserved", "completed calls count their actual cost"),
  change("conserved", "graphqlCharge", "postpaid", "calls count their actual cost, once completed"),
  change("conserved", "refused", "counted", "refusals count in the window that they name"),
  change("conserved", "refusedByUser", "charges-organization", "users' refusals count in the organization's"),
  change("remaining-agrees", "remaining", "signed", "remaining = limit - current"),
  change("reset-agrees", "reset", "floor", "reset is rounded down, 0..W-1, W at the opening instant"),
  change("reset-agrees", "reset", "round", "reset is rounded to the nearest second, 0..W"),
  change("all-or-nothing", "refused", "counted", "the refusing window is not judged"),
  change(
    "all-or-nothing",
    "refusedByUser",
    "charges-organization",
    "where a user's window refuses, the organization's is not judged",
  ),
  change("refusal-justified", "graphqlCharge", "postpaid", "refused if and only if a window has none left"),
  change("monotone", "graphqlCharge", "reserved", "current falls only by what completed calls give back"),
  change("unenforced-never-refuses", "userEnforced", "always", "the user's window may refuse"),
  change("twice-at-most", "graphqlCharge", "postpaid", "2 x limit and the overshoots"),
  change("twice-at-most", "graphqlCharge", "reserved", "by the final charges"),
  change("honest-wait", "reset", "floor", "a wait of whole seconds is a second longer"),
  change("honest-wait", "reset", "round", "a wait of whole seconds is half a second longer"),
  change("rate-bound", "graphqlCharge", "reserved", "by the final charges"),
  change("give-back", "refusedByUser", "charges-organization", "users' refusals are not judged"),
];

/** Returns the changed forms of a law under the switches, in words; empty if it holds as stated. */
export function changedForms(law: LimiterLawName, rules: Rules, scope: Scope): string[] {
  if (voidReason(law, rules, scope) !== null) return [];
  const semantics = semanticsOf(rules, scope);
  return changes.flatMap((row) => {
    const applies = row.law === law && semantics[row.name] === row.value;
    return applies && (scope === "graphql" || row.name !== "graphqlCharge") ? [row.form] : [];
  });
}
