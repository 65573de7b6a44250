// Draws findings about limits, windows and clocks from all calls, whatever they were made for.

import { type Owner, owners, type Scope, scopes } from "../rules/rules.ts";
import { counted } from "../rules/words.ts";
import { headersOf } from "../wire/fields.ts";
import { quiet, statusCounting } from "./counting.ts";
import { about, callAt, type Finding, type FindingName } from "./finding.ts";
import { dateOffset, edgeOffset, type Offset, windowClock } from "./offsets.ts";
import { refusalOf, type SeenCall } from "./seen.ts";
import { STATUS } from "./session.ts";
import { headerSights, statusSights } from "./sight.ts";
import { anchorOf, type Conclusion, organizationWindow, roundingOf, userWindow } from "./windows.ts";

/**
 * Returns the findings that the calls show, whatever they were made for.
 * @param waitedMs time that was spent on windows' ends, ms
 */
export function conclude(calls: readonly SeenCall[], waitedMs: number): Finding[] {
  return [
    ...scopes.flatMap((scope) => ofScope(calls, scope, waitedMs)),
    agreement(calls),
    dateClock(calls),
    windowsClock(calls),
  ];
}

function ofScope(calls: readonly SeenCall[], scope: Scope, waitedMs: number): Finding[] {
  const status = statusSights(calls, scope);
  if (status.length === 0)
    return (["organizationLimit", "organizationWindow", "enforced", "anchor", "reset"] as const).map((name) =>
      about({ name, scope }).unseen(
        "the status shows no such scope",
        "a status endpoint as SPEC.md §4 has it",
      ),
    );
  return [
    limitFinding(calls, scope, "organization"),
    limitFinding(calls, scope, "user"),
    enforcedFinding(calls, scope),
    ...windowFindings(calls, scope, waitedMs),
    remainingFinding(calls, scope),
    statusCounting(calls, scope),
  ];
}

function limitFinding(calls: readonly SeenCall[], scope: Scope, owner: Owner): Finding {
  const of = about({ name: `${owner}Limit`, scope });
  const sights = [
    ...(owner === "organization" ? statusSights(calls, scope) : []),
    ...headerSights(calls, scope, owner),
  ];
  const shown = sights.filter(({ limit }) => limit !== null && limit >= 1);
  const last = shown.at(-1);
  if (last?.limit == null)
    return of.unseen("no answer showed it as a whole number", "answers with the eight headers");
  const others = new Set(shown.map((sight) => sight.limit)).size - 1;
  const evidence = `${counted(shown.length, "reading")}, the last at ${callAt(last.call)}${others > 0 ? `; ${counted(others, "other value")} before` : ""}`;
  return of.found(last.limit, others === 0 && shown.length > 1 ? "certain" : "likely", evidence, [last.call]);
}

function enforcedFinding(calls: readonly SeenCall[], scope: Scope): Finding {
  const shown = calls.flatMap((call) => {
    const body = call.statusScopes?.[scope];
    return body == null ? [] : [{ call, enforced: body.enforced }];
  });
  const last = shown.at(-1);
  if (last === undefined)
    return about({ name: "enforced", scope }).unseen("no status showed it", "a status endpoint");
  const isSteady = shown.every(({ enforced }) => enforced === last.enforced);
  const evidence = `${shown.length} status bodies, the last at ${callAt(last.call)}`;
  return about({ name: "enforced", scope }).found(last.enforced, isSteady ? "certain" : "likely", evidence, [
    last.call,
  ]);
}

/** Anchor, rounding and lengths, together because a length may need the anchor, and the anchor a length. */
export interface Windows {
  readonly anchor: Conclusion<"epoch" | "first-request"> | null;
  readonly rounding: Conclusion<"ceil" | "floor" | "round"> | null;
  readonly organization: Conclusion<number> | null;
  readonly user: Conclusion<number> | null;
}

export function windowsOf(calls: readonly SeenCall[], scope: Scope): Windows {
  const clock = windowClock(calls, scope);
  const untilCharged = calls.findIndex((call) => call.scope === scope && call.what !== STATUS);
  const untouched = untilCharged < 0 ? calls : calls.slice(0, untilCharged);
  const byEdge = organizationWindow(calls, scope, null, null);
  const anchor = anchorOf(calls, untouched, scope, byEdge?.value ?? null);
  const organization = byEdge ?? organizationWindow(calls, scope, anchor?.value ?? null, clock);
  const rounding = roundingOf(calls, scope, clock);
  const user = userWindow(calls, scope, anchor?.value ?? null, rounding?.value ?? null, clock);
  const isSure = anchor?.isSure === true && rounding?.isSure === true;
  return { anchor, rounding, organization, user: user === null ? null : { ...user, isSure } };
}

function windowFindings(calls: readonly SeenCall[], scope: Scope, waitedMs: number): Finding[] {
  const { anchor, rounding, organization, user } = windowsOf(calls, scope);
  const longest = Math.max(...statusSights(calls, scope).map(({ reset }) => reset));
  // The waits of this probe come again, and the window may have just begun.
  const wait = `a window's end: --max-wait ${Math.ceil(waitedMs / 1000) + longest + 5}s or more`;
  return [
    concluded(
      "anchor",
      scope,
      anchor,
      organization?.value === 1
        ? "windows of one second are the same under both anchors"
        : "no window was idle long enough, and none was seen to end",
      wait,
    ),
    concluded("reset", scope, rounding, "no reading fits one rounding alone by a clock that is known", wait),
    concluded("organizationWindow", scope, organization, `at least ${longest}: none was seen to end`, wait),
    concluded("userWindow", scope, user, "none was seen to end", wait),
  ];
}

function concluded(
  name: FindingName,
  scope: Scope,
  conclusion: Conclusion<string | number> | null,
  why: string,
  needs: string,
): Finding {
  if (conclusion === null) return about({ name, scope }).unseen(why, needs);
  const { value, isSure, calls } = conclusion;
  return about({ name, scope }).found(value, isSure ? "certain" : "likely", conclusion.why, calls);
}

function remainingFinding(calls: readonly SeenCall[], scope: Scope): Finding {
  const of = about({ name: "remaining", scope });
  for (const owner of owners)
    for (const { call, remaining } of headerSights(calls, scope, owner))
      if (remaining !== null && remaining < 0)
        return of.certain(
          "signed",
          `${callAt(call)} showed remaining ${remaining} of the ${owner}'s window`,
          [call],
        );
  const clamped = clampedSight(calls, scope);
  if (clamped !== null)
    return of.certain("clamped", `${callAt(clamped.call)} ${clamped.why}`, [clamped.call]);
  return of.unseen(
    "no count was seen above its limit",
    "refused calls that are counted, or a scope that is not enforced, and a larger --budget",
  );
}

/** Returns an answer with remaining 0 of a window whose count is surely above its limit; `null` if there is none. */
function clampedSight(calls: readonly SeenCall[], scope: Scope): { call: SeenCall; why: string } | null {
  for (const [index, call] of calls.entries()) {
    if (call.scope !== scope) continue;
    const { by, limit, current } = refusalOf(call);
    if (
      limit !== null &&
      current !== null &&
      current > limit &&
      headersOf(call.headers, by ?? "organization").remaining === 0
    )
      return { call, why: `showed remaining 0 with current ${current} of ${limit}` };
    const above = abovePrior(calls, index, scope);
    if (above !== null) return { call, why: above };
  }
  return null;
}

/** Returns why a count passed its limit: an admitted call's charge exceeded what was left, and remaining is 0. */
function abovePrior(calls: readonly SeenCall[], index: number, scope: Scope): string | null {
  const call = calls[index];
  if (call === undefined || call.kind !== "call" || call.status !== 200) return null;
  const charged = scope === "rest" ? 1 : (call.actual ?? 0);
  for (const owner of owners) {
    const prior = headerSights(calls.slice(0, index), scope, owner).at(-1);
    const reset = prior?.reset ?? null;
    const left = prior?.remaining ?? null;
    if (prior === undefined || reset === null || left === null || charged <= left) continue;
    const isSame = call.receivedMs - prior.call.sentMs < (reset - 1) * 1000;
    if (isSame && headersOf(call.headers, owner).remaining === 0)
      return `was charged ${charged} after call ${prior.call.number} had shown remaining ${left} of the ${owner}'s window, and showed 0`;
  }
  return null;
}

/** Tells whether the headers of a status answer agree with its body. */
function agreement(calls: readonly SeenCall[]): Finding {
  const of = about({ name: "agreement", scope: null });
  const pairs = calls.flatMap((call) => {
    const body = call.statusScopes?.rest;
    const { limit, remaining, reset } = call.headers;
    if (body == null || ![limit, remaining, reset].every(Number.isSafeInteger)) return [];
    return [{ call, body, limit, remaining, reset: Number(reset) }];
  });
  const [first] = pairs;
  if (first === undefined)
    return of.unseen(
      "no status answer carried the headers of the organization's window as whole numbers",
      "a target that sends them",
    );
  const agreeing = pairs.filter(({ body, limit, remaining, reset }) => {
    const left = body.limit - body.current;
    return (
      limit === body.limit &&
      (remaining === Math.max(0, left) || remaining === left) &&
      Math.abs(reset - body.reset) <= 1
    );
  });
  const evidence = `${agreeing.length} of ${pairs.length} status answers have headers that say what their bodies say`;
  const others = quiet(calls, "rest").organization > 0;
  if (agreeing.length === pairs.length) return of.certain(true, evidence);
  const odd = pairs.find((pair) => !agreeing.includes(pair));
  const shown = `${evidence}; ${callAt(odd?.call ?? first.call)} does not`;
  return agreeing.length * 2 > pairs.length && others
    ? of.likely(true, `${shown}, while others called`)
    : of.found(false, others ? "likely" : "certain", shown);
}

function clockFinding(name: FindingName, offset: Offset | null, why: string, needs: string): Finding {
  if (offset === null) return about({ name, scope: null }).unseen(why, needs);
  const middle = Math.round((offset.loMs + offset.hiMs) / 2);
  const evidence = `ahead by ${Math.floor(offset.loMs)} to ${Math.ceil(offset.hiMs)} ms, by ${counted(offset.calls.length, "call")}`;
  return about({ name, scope: null }).certain(middle, evidence, offset.calls);
}

const dateClock = (calls: readonly SeenCall[]): Finding =>
  clockFinding(
    "dateClock",
    dateOffset(calls),
    calls.some(({ dateMs }) => dateMs !== null)
      ? "the Date headers contradict each other"
      : "no answer had a Date header",
    "one clock behind all answers",
  );

const windowsClock = (calls: readonly SeenCall[]): Finding =>
  clockFinding(
    "windowClock",
    edgeOffset(calls, "rest") ?? edgeOffset(calls, "graphql"),
    "no window was seen to end, or they contradict each other",
    "a longer --max-wait",
  );
