// A policy in plain sentences: what it allows, for people who have not read its file.
import { count, counted, countOf, listText, nounOf } from "../rules/words.ts";
import { unenforceable } from "./as-window.ts";
import { calendarWindow } from "./calendar.ts";
import { quotaFor } from "./effective.ts";
import { envelopeOf } from "./envelope.ts";
import { routeOf } from "./match.ts";
import type { CallSample, Charge, FixedWindow, Operation, Policy, Quota, QuotaAlgorithm } from "./policy.ts";
import { mayShow, type ResetMeaning, type WireData } from "./wire-data.ts";

const spans = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"],
] as const;

/** Returns a duration as `1 minute`, `5 minutes`, `90 seconds`. */
function lengthText(seconds: number): string {
  const [length, name] = spans.find(([each]) => seconds % each === 0) ?? [1, "second"];
  return counted(seconds / length, name);
}

/** Returns a duration behind "each" or "any": `minute`, `5 minutes`. */
const spanOf = (seconds: number): string => lengthText(seconds).replace(/^1 /, "");

/** Returns `50 requests in each minute`. @param unit unit of the quota, plural */
export function allowance(algorithm: QuotaAlgorithm, unit: string): string {
  const units = (number: number): string => countOf(number, unit);
  switch (algorithm.kind) {
    case "fixed-window":
      return `${units(algorithm.limit)} in each ${windowWord(algorithm)}`;
    case "token-bucket": {
      const { amount, everyMs } = algorithm.refill;
      const every = everyMs % 1000 === 0 ? spanOf(everyMs / 1000) : `${count(everyMs)} ms`;
      return `${units(algorithm.capacity)} at once, of which ${count(amount)} ${nounOf(amount, "comes", "come")} back in each ${every}`;
    }
    case "sliding-log":
      return `${units(algorithm.limit)} in any ${spanOf(algorithm.windowSeconds)}`;
    case "sliding-counter":
      return `about ${units(algorithm.limit)} in any ${spanOf(algorithm.windowSeconds)}`;
    case "concurrency":
      return `${counted(algorithm.limit, "call")} at a time`;
  }
}

function windowWord({ anchor, windowSeconds }: FixedWindow): string {
  if (typeof anchor === "object" && "calendar" in anchor) return `${anchor.calendar} of ${anchor.zone}`;
  return spanOf(windowSeconds);
}

/** Sentences on a quota without windows, and where its windows lie. */
function windowSentences(quota: Quota): string[] {
  const { algorithm } = quota;
  if (algorithm.kind !== "fixed-window")
    return [
      ...(algorithm.kind === "token-bucket" ? [] : ["Spillway does not enforce it."]),
      envelopeOf(quota, null) === null
        ? "The judge of traces does not judge it."
        : "The judge of traces judges what it lets through, and not its level.",
    ];
  const { anchor, opens } = algorithm;
  if (anchor === "first-request")
    return [`A window opens with its first call${opens === "exact" ? "" : ", at the whole second"}.`];
  if (typeof anchor === "object" && "calendar" in anchor) return [calendarSentence(anchor)];
  const offsetMs = anchor === "epoch" ? 0 : anchor.offsetMs;
  const moved =
    offsetMs === 0
      ? ""
      : `, moved by ${offsetMs % 1000 === 0 ? lengthText(offsetMs / 1000) : `${count(offsetMs)} ms`}`;
  const reset = algorithm.windowSeconds === 86_400 ? `: they reset at ${hourOf(offsetMs)} UTC` : "";
  return [`Windows lie on the grid of Unix time${moved}${reset}.`];
}

type Calendar = Extract<FixedWindow["anchor"], { readonly calendar: unknown }>;

const resetDays: Readonly<Record<Calendar["calendar"], string>> = {
  day: "every day",
  week: "on Mondays",
  month: "on the first of the month",
};

/** Two days of a year between which a zone's clocks may change, ms since the epoch. */
const winterAndSummer = [Date.UTC(2026, 0, 15), Date.UTC(2026, 6, 15)] as const;

/** Returns when windows of a calendar end, by its zone's clocks and by UTC. */
function calendarSentence({ calendar, zone }: Calendar): string {
  const [winter, summer] = winterAndSummer.map((atMs) => hourOf(calendarWindow("day", zone, atMs).endsAt));
  const hours = winter === summer ? winter : `${winter} in January and ${summer} in July`;
  return `Windows reset ${resetDays[calendar]} at 00:00 in ${zone}${zone === "UTC" ? "" : `: by UTC at ${hours}`}.`;
}

/** Returns the time of day by UTC: `08:00`, `08:00:30`, `08:00:30.500`. */
const hourOf = (atMs: number): string =>
  new Date(atMs)
    .toISOString()
    .slice(11, 23)
    .replace(/(?::00)?\.000$/, "");

function chargeSentences({ when, fits, refused, refusedByOther }: Charge): string[] {
  return [
    ...(when === "reserve-settle" ? ["A call's cost is held, and what it did not use comes back."] : []),
    ...(when === "completion" ? ["A call is charged when it has ended."] : []),
    ...(fits === "any-left" ? ["A call needs any room at all, not room for its whole cost."] : []),
    refused === "counted" ? "Calls that it refuses count, too." : "Calls that it refuses cost nothing.",
    ...(refusedByOther === "charged" ? ["Calls that another quota refuses count here, too."] : []),
  ];
}

function enforcedSentence(enforced: Quota["enforced"]): string[] {
  if (enforced === true) return [];
  if (enforced === false) return ["It counts, and refuses nobody."];
  if (enforced === "unknown") return ["Nobody says whether it refuses."];
  return [`It refuses only while ${enforced.with} does.`];
}

/** Returns what a quota allows, and to whom; then how it counts. */
export function quotaSentences(quota: Quota): string[] {
  const { algorithm, key, unit, charge, enforced } = quota;
  const who = key.length === 0 ? "All callers together" : `Each ${listText(key)}`;
  return [
    `${who} may use ${allowance(algorithm, unit)}.`,
    ...windowSentences(quota),
    ...chargeSentences(charge),
    ...enforcedSentence(enforced),
  ];
}

/** Returns what each override allows its callers instead. */
export const overrideSentences = (policy: Policy): string[] =>
  policy.overrides.map(({ match, quotas }) => {
    const who = Object.entries(match).map(([name, value]) => `${name} is ${value}`);
    const limits = Object.keys(quotas).map((name) => {
      const { algorithm, unit, enforced } = quotaFor(policy, name, match);
      return `${name} is ${allowance(algorithm, unit)}${enforced === false ? ", and refuses nobody" : ""}`;
    });
    return `Where ${listText(who)}: ${limits.join("; ")}.`;
  });

const relations: Readonly<Record<Operation["relation"], string>> = {
  "all-or-nothing": "All must have room, or none is charged.",
  "each-alone": "Each that has room is charged, whatever the others say.",
  "first-refusal-stops": "Each is charged in turn, up to the first that refuses.",
};

/** Returns what a call of an operation costs. */
export function operationSentences({ uses, relation }: Operation): string[] {
  const costs = Object.entries(uses).map(([quota, cost]) => {
    if (typeof cost === "number") return `${count(cost)} of ${quota}`;
    return cost === "declared" ? `its cost of ${quota}` : `up to ${count(cost.atMost)} of ${quota}`;
  });
  const together = costs.length > 1 ? [relations[relation]] : [];
  return [`A call uses ${listText(costs)}.`, ...together];
}

const meanings: Readonly<Record<ResetMeaning, string>> = {
  "window-end": "the end of the window",
  full: "the instant at which all is back, if nothing more is sent",
  next: "the instant at which one more unit fits",
  estimate: "an estimate, which promises nothing",
};

/** Returns the meaning of the resets that a format shows. */
export function resetSentence({ readings }: WireData): string {
  const told = [
    ...new Set(readings.flatMap(({ reset }) => (reset === undefined ? [] : [meanings[reset.means]]))),
  ];
  return told.length === 0 ? "Answers tell no reset." : `A reset tells ${listText(told)}.`;
}

/** Returns which statuses refuse. @param statuses statuses of refusals */
export const refusalSentence = (statuses: readonly number[]): string =>
  `Refusals have status ${listText(statuses.map(String))}.`;

const barWidth = 24;
const levels = "▁▂▃▄▅▆▇█";

/** Draws the room of a quota over time, from all spent to all back; returns `null` if time does not matter. */
export function roomDrawn(algorithm: QuotaAlgorithm): string | null {
  if (algorithm.kind === "concurrency") return null;
  const isSudden = algorithm.kind === "fixed-window";
  const cells = Array.from({ length: barWidth }, (_, place) => {
    const share = place / (barWidth - 1);
    return levels[isSudden ? (share < 1 ? 0 : 7) : Math.floor(share * 7)];
  });
  const seconds = secondsToFull(algorithm);
  const time = seconds >= 60 && Number.isInteger(seconds) ? lengthText(seconds) : `${count(seconds)} s`;
  return `${cells.join("")} ${time}`;
}

/** Returns the greatest time, s, until a spent quota has all its room again. */
function secondsToFull(algorithm: Exclude<QuotaAlgorithm, { kind: "concurrency" }>): number {
  if (algorithm.kind === "token-bucket")
    return (algorithm.capacity / algorithm.refill.amount) * (algorithm.refill.everyMs / 1000);
  return algorithm.windowSeconds;
}

/** Returns a warning for each quota that no answer shows, if a row of the wire names quotas that the policy lacks. */
export function unshownQuotas({ quotas, wire }: Policy, { readings }: WireData): string[] {
  const format = typeof wire === "string" ? `the wire ${wire}` : "the wire";
  const names = Object.keys(quotas);
  const strange = readings.find(
    ({ quotas: of }) => of !== undefined && !of.some((each) => names.includes(each)),
  );
  if (strange?.quotas === undefined) return [];
  return names
    .filter((name) => !readings.some((row) => mayShow(row, name)))
    .map((name) => `quotas.${name}: no answer shows it; ${format} shows ${strange.quotas?.join(", ")}.`);
}

/** Returns a warning for each operation without requests, if a policy has routes. */
export const unroutedOperations = ({ operations, routes }: Policy): string[] =>
  Object.keys(operations).flatMap((name) =>
    routes.length === 0 || routes.some(({ operation }) => operation === name)
      ? []
      : [`operations.${name}: no route leads to it, so that no request is one.`],
  );

/** Returns a warning for each sample that the routes take for no call of its operation, if a policy has routes. */
export const strayedSamples = (policy: Policy): string[] =>
  Object.entries(policy.operations).flatMap(([name, { samples }]) =>
    samples.flatMap((sample, index) => {
      const led = policy.routes.length === 0 ? null : whyStrayed(policy, name, sample);
      if (led === null) return [];
      return [
        `operations.${name}.samples.${index}: ${sample.method} ${sample.path} is no call of ${name}: ${led}.`,
      ];
    }),
  );

/** Returns the reason why a sample is no call of its operation; `null` if it is one. */
function whyStrayed(
  policy: Policy,
  name: string,
  { method, path, headers, body }: CallSample,
): string | null {
  const host = policy.routes.find((route) => route.host !== undefined)?.host ?? "";
  // The body tells which kind of GraphQL operation it holds.
  const routes = ([null, "query", "mutation"] as const).flatMap((graphql) => {
    const found = routeOf(policy, { method: method.toUpperCase(), target: path, host, graphql });
    return found === null ? [] : [found.route];
  });
  const own = routes.find(({ operation }) => operation === name);
  if (own === undefined)
    return routes[0] === undefined
      ? "no route leads it anywhere"
      : `its route leads to ${routes[0].operation}`;
  const given = Object.keys(headers).map((header) => header.toLowerCase());
  for (const [attribute, source] of Object.entries(own.attributes)) {
    const isThere = "header" in source ? given.includes(source.header.toLowerCase()) : body !== undefined;
    if (!("text" in source) && !isThere)
      return `it lacks the ${"header" in source ? `header ${source.header}` : "body"}, which tells ${attribute}`;
  }
  return null;
}

/** Returns a warning if requests of a status show nothing. */
export const emptyStatus = ({ routes }: Policy, { readings }: WireData): string[] =>
  routes.some(({ operation }) => operation === "status") && readings.every(({ on }) => !on.includes("status"))
    ? ['routes lead to a status, which shows nothing: no reading of the wire is "on": ["status"].']
    : [];

/** Returns what each verb still needs of a policy; an empty list if nothing. */
export function needsByVerb(policy: Policy): Readonly<Record<string, readonly string[]>> {
  const { operations, routes, quotas } = policy;
  const samples = Object.entries(operations).flatMap(([name, one]) =>
    one.samples.length === 0 ? [`operations.${name}.samples`] : [],
  );
  const unkept = unenforceable(policy).map((name) => `quotas.${name} is a ${quotas[name]?.algorithm.kind}`);
  const needsOf = (words: string): string[] =>
    unkept.length === 0 ? [] : [`${words}: ${unkept.join(", ")}`];
  const asWindow = needsOf("--as-window");
  const enforced = [...(routes.length === 0 ? ["routes"] : []), ...asWindow];
  const hasStatus = routes.some(({ operation }) => operation === "status");
  return {
    serve: enforced,
    load: [...samples, ...needsOf("--target, or --as-window")],
    simulate: enforced,
    plan: enforced,
    replay: enforced,
    fit: enforced,
    verify: [],
    check: asWindow,
    probe: samples,
    audit: samples,
    bundle: samples,
    demo: [...samples, ...enforced],
    status: hasStatus ? [] : ['a route whose operation is "status"'],
  };
}
