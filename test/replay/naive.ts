// A second, slow reading of the rules (SPEC.md §2, §3, §8) over a log: windows are objects in a Map, what happens is a
// sorted list. It shares nothing with the replay but the rules.
import { type Owner, organizationLimit, type Rules, semanticsOf, userLimit } from "../../src/rules/rules.ts";
import type { Row } from "./rows.ts";

interface Window {
  endsAt: number | null;
  count: number;
}

export interface NaiveDecision {
  readonly row: Row;
  readonly refusedBy: Owner | null;
}

/** Decides each call of a log whose rows are in order. */
export function naiveReplay(rows: readonly Row[], rules: Rules): NaiveDecision[] {
  const windows = new Map<string, Window>();
  const decisions: NaiveDecision[] = [];
  const completions: { atMs: number; run(atMs: number): void }[] = [];
  for (const row of rows) {
    const due = completions.filter(({ atMs }) => atMs <= row.atMs).sort((a, b) => a.atMs - b.atMs);
    for (const completion of due) {
      completion.run(completion.atMs);
      completions.splice(completions.indexOf(completion), 1);
    }
    const { kind = "rest" } = row;
    if (kind === "status" || kind === "other") continue;
    const { refusedBy, complete } = decide(row, kind, windows, rules);
    decisions.push({ row, refusedBy });
    if (complete === null) continue;
    const { durationMs = 0 } = row;
    if (durationMs === 0) complete(row.atMs);
    else completions.push({ atMs: row.atMs + durationMs, run: complete });
  }
  return decisions;
}

function decide(row: Row, scope: "rest" | "graphql", windows: Map<string, Window>, rules: Rules) {
  const { org = "acme", user, atMs, cost = 1 } = row;
  const semantics = semanticsOf(rules, scope);
  const broadLimit = organizationLimit(rules, org, scope);
  const narrowLimit = userLimit(rules, org, user, scope);
  const windowAt = (name: string, windowSeconds: number, nowMs: number): Window => {
    const found = windows.get(name);
    if (found !== undefined && found.endsAt !== null && nowMs < found.endsAt) return found;
    const lengthMs = windowSeconds * 1000;
    const endsAt = semantics.anchor === "epoch" ? (Math.floor(nowMs / lengthMs) + 1) * lengthMs : null;
    const fresh = { endsAt, count: 0 };
    windows.set(name, fresh);
    return fresh;
  };
  const charge = (window: Window, amount: number, windowSeconds: number, nowMs: number): void => {
    window.endsAt ??= Math.floor(nowMs / 1000) * 1000 + windowSeconds * 1000;
    window.count += amount;
  };
  const broadName = `${scope} ${org}`;
  const narrowName = `${scope} ${org}/${user}`;
  const broad = windowAt(broadName, broadLimit.windowSeconds, atMs);
  const narrow = windowAt(narrowName, narrowLimit.windowSeconds, atMs);
  const postpaid = scope === "graphql" && semantics.graphqlCharge === "postpaid";
  const lacks = (window: Window, limit: number): boolean =>
    postpaid ? window.count >= limit : window.count + cost > limit;

  if (broadLimit.enforced && lacks(broad, broadLimit.limit)) {
    if (semantics.refused === "counted") charge(broad, cost, broadLimit.windowSeconds, atMs);
    return { refusedBy: "organization" as const, complete: null };
  }
  if ((broadLimit.enforced || semantics.userEnforced === "always") && lacks(narrow, narrowLimit.limit)) {
    if (semantics.refused === "counted") charge(narrow, cost, narrowLimit.windowSeconds, atMs);
    if (semantics.refusedByUser === "charges-organization")
      charge(broad, cost, broadLimit.windowSeconds, atMs);
    return { refusedBy: "user" as const, complete: null };
  }
  const actual = Math.min(row.actual ?? cost, cost);
  if (!postpaid) {
    charge(broad, cost, broadLimit.windowSeconds, atMs);
    charge(narrow, cost, narrowLimit.windowSeconds, atMs);
    if (scope === "rest" || semantics.graphqlCharge === "prepaid") return { refusedBy: null, complete: null };
    return {
      refusedBy: null,
      complete: (nowMs: number) => {
        for (const window of [broad, narrow])
          if (window.endsAt !== null && nowMs < window.endsAt) window.count -= cost - actual;
      },
    };
  }
  const wasOpen = [broad.endsAt !== null, narrow.endsAt !== null];
  return {
    refusedBy: null,
    complete: (nowMs: number) => {
      const targets = [
        { name: broadName, window: broad, seconds: broadLimit.windowSeconds, open: wasOpen[0] },
        { name: narrowName, window: narrow, seconds: narrowLimit.windowSeconds, open: wasOpen[1] },
      ];
      for (const { name, window, seconds, open } of targets) {
        const current = windowAt(name, seconds, nowMs);
        if (current === window || open === false) charge(current, actual, seconds, nowMs);
      }
    },
  };
}
