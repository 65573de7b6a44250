// Checks that the parts of a policy fit together (POLICY.md §6), which the form of a single member cannot do. Every
// mistake is reported, with its path, what was got and what is allowed.
import { closest } from "../rules/closest.ts";
import { type Problem, quote } from "../rules/errors.ts";
import { windowSecondsMost } from "../rules/parse.ts";
import { pointedPlace } from "../rules/pointer.ts";
import { calendarSeconds } from "./calendar.ts";
import type { Operation, Override, Policy, Quota, QuotaAlgorithm, Route, TokenBucket } from "./policy.ts";
import { presets } from "./presets.ts";
import { attributesOfPath, attributesOfRoute, hides, isSame } from "./routes.ts";
import { usesMost } from "./schema.ts";
import type { WireOutcome } from "./wire-data.ts";

const most = Number.MAX_SAFE_INTEGER;

/** Returns all mistakes in how the parts of a policy fit together. */
export function misfits(policy: Policy): Problem[] {
  return [
    ...Object.entries(policy.quotas).flatMap(([name, quota]) => quotaMisfits(policy, name, quota)),
    ...Object.entries(policy.operations).flatMap(([name, one]) => operationMisfits(policy, name, one)),
    ...policy.routes.flatMap((route, index) => routeMisfits(policy, route, index)),
    ...policy.overrides.flatMap((override, index) => overrideMisfits(policy, override, index)),
    ...wireMisfits(policy),
  ];
}

/** Returns the problem of an unknown name, with the known name that was probably meant. */
function unknown(path: string, name: string, known: readonly string[], kind: string): Problem {
  const meant = closest(name, known);
  const names = known.length === 0 ? `${kind}, and there is none` : `${kind}: ${known.join(", ")}`;
  return { path, got: quote(name), allowed: meant === null ? names : `${names} (did you mean ${meant}?)` };
}

function wireMisfits({ wire, quotas }: Policy): Problem[] {
  if (typeof wire === "string")
    return Object.hasOwn(presets, wire) ? [] : [unknown("wire", wire, Object.keys(presets), "a wire format")];
  const shown = wire.readings.flatMap(({ quotas: names = [] }, index) =>
    names.flatMap((name, place) =>
      Object.hasOwn(quotas, name)
        ? []
        : [unknown(`wire.readings.${index}.quotas.${place}`, name, Object.keys(quotas), "a quota")],
    ),
  );
  return [...shown, ...wire.outcomes.flatMap(outcomeMisfits)];
}

/** Checks that an outcome tells refusals from admitted calls, and the quota where it says that the answer does. */
function outcomeMisfits(
  { outcome, by, status, headers, lacks, body }: WireOutcome,
  index: number,
): Problem[] {
  if (outcome !== "refused") return [];
  const path = `wire.outcomes.${index}`;
  const problems: Problem[] = [];
  const conditions = Object.keys(headers).length + lacks.length + Object.keys(body).length;
  if (conditions === 0 && (status === undefined || status.some((one) => one >= 200 && one < 300)))
    problems.push({
      path: `${path}.status`,
      got: quote(status),
      allowed: "statuses of refusals alone, or headers or a body that tell them from admitted calls",
    });
  if (by === "{quota}" && !JSON.stringify([headers, body]).includes("{quota}"))
    problems.push({
      path: `${path}.by`,
      got: quote(by),
      allowed: "the name of a quota, or {quota} in a text of headers or body, too",
    });
  return problems;
}

function quotaMisfits({ quotas }: Policy, name: string, { algorithm, key, enforced }: Quota): Problem[] {
  const path = `quotas.${name}`;
  const problems = algorithmMisfits(`${path}.algorithm`, algorithm);
  if (typeof enforced !== "object") return problems;
  const at = `${path}.enforced.with`;
  const other = Object.hasOwn(quotas, enforced.with) ? quotas[enforced.with] : undefined;
  if (other === undefined) return [...problems, unknown(at, enforced.with, Object.keys(quotas), "a quota")];
  if (typeof other.enforced === "object" || other.key.some((attribute) => !key.includes(attribute)))
    problems.push({
      path: at,
      got: quote(enforced.with),
      allowed: `a quota with an "enforced" of its own, whose key has attributes of [${key.join(", ")}] alone`,
    });
  return problems;
}

function algorithmMisfits(path: string, algorithm: QuotaAlgorithm): Problem[] {
  if (algorithm.kind === "token-bucket") return bucketMisfits(path, algorithm);
  if (algorithm.kind !== "fixed-window") return [];
  const { anchor, windowSeconds } = algorithm;
  if (typeof anchor === "string") return [];
  if ("offsetMs" in anchor)
    return anchor.offsetMs < windowSeconds * 1000
      ? []
      : [{ path: `${path}.anchor.offsetMs`, got: String(anchor.offsetMs), allowed: "less than the window" }];
  const length = calendarSeconds[anchor.calendar];
  if (windowSeconds === length) return [];
  const allowed = `nothing, or ${length}: windows of a ${anchor.calendar} have its length`;
  return [{ path: `${path}.windowSeconds`, got: String(windowSeconds), allowed }];
}

/** Checks that a bucket's level, in parts of `1 / everyMs`, fits exact integers. */
function bucketMisfits(
  path: string,
  { capacity, refill }: Pick<TokenBucket, "capacity" | "refill">,
): Problem[] {
  const { amount, everyMs } = lowestTerms(refill);
  if (capacity > most / everyMs)
    return [
      {
        path: `${path}.capacity`,
        got: String(capacity),
        allowed: `at most ${Math.floor(most / everyMs)} with a refill of ${amount} in ${everyMs} ms: more is not exact`,
      },
    ];
  if ((capacity * everyMs) / amount <= windowSecondsMost * 1000) return [];
  return [
    { path: `${path}.refill`, got: quote(refill), allowed: "one that fills the bucket within 100 years" },
  ];
}

/** Returns the same rate in the smallest integers. */
export function lowestTerms({ amount, everyMs }: TokenBucket["refill"]): TokenBucket["refill"] {
  let [a, b] = [amount, everyMs];
  while (b > 0) [a, b] = [b, a % b];
  return { amount: amount / a, everyMs: everyMs / a };
}

/** Headers that no client sends because it is told to. */
const ofConnection = /^(?:expect|keep-alive|transfer-encoding|upgrade)$/i;

function operationMisfits(policy: Policy, name: string, { uses, samples }: Operation): Problem[] {
  const path = `operations.${name}`;
  const names = Object.keys(uses);
  const problems: Problem[] = [];
  if (["status", "other"].includes(name))
    problems.push({ path, got: quote(name), allowed: "another name: routes use this one" });
  if (names.length < 1 || names.length > usesMost)
    problems.push({
      path: `${path}.uses`,
      got: `${names.length} quotas`,
      allowed: `from 1 to ${usesMost} quotas on one call; routes of calls without limits go to "other"`,
    });
  for (const used of names) {
    const quota = Object.hasOwn(policy.quotas, used) ? policy.quotas[used] : undefined;
    if (quota === undefined)
      problems.push(unknown(`${path}.uses.${used}`, used, Object.keys(policy.quotas), "a quota"));
    else problems.push(...useMisfits(policy, name, used, quota));
  }
  const attributes = knownAttributes(policy);
  for (const [index, sample] of samples.entries()) {
    for (const attribute of attributesOfPath(sample.path))
      if (!attributes.includes(attribute))
        problems.push(unknown(`${path}.samples.${index}.path`, attribute, attributes, "an attribute"));
    for (const header of Object.keys(sample.headers).filter((each) => ofConnection.test(each)))
      problems.push({
        path: `${path}.samples.${index}.headers.${header}`,
        got: quote(header),
        allowed: "no header of the connection: the client that sends the sample sets these",
      });
    if (sample.dearer !== undefined && !isNumberIn(sample.body, sample.dearer.pointer))
      problems.push({
        path: `${path}.samples.${index}.dearer.pointer`,
        got: quote(sample.dearer.pointer),
        allowed: "a pointer to a number in the sample's body, as /max_tokens",
      });
  }
  return problems;
}

/** Tells whether a JSON pointer leads to a number, or to a place in an object where one may be added. */
function isNumberIn(body: unknown, pointer: string): boolean {
  const place = pointedPlace(body, pointer);
  if (place === null) return false;
  const value = place.holder[place.name];
  return value === undefined || typeof value === "number";
}

function useMisfits(policy: Policy, operation: string, name: string, { key, charge }: Quota): Problem[] {
  const path = `operations.${operation}.uses.${name}`;
  const problems: Problem[] = [];
  const cost = policy.operations[operation]?.uses[name];
  if (typeof cost === "object") {
    const isLate = charge.when === "completion" && charge.fits === "any-left";
    if (charge.when !== "reserve-settle" && !isLate)
      problems.push({
        path,
        got: quote(cost),
        allowed:
          `a number or "declared", since quotas.${name}.charge must know the cost beforehand ` +
          '("reserve-settle" and "completion" with "any-left" need not)',
      });
  }
  const filled = filledBy(policy, operation);
  for (const attribute of key)
    if (!filled.includes(attribute))
      problems.push({
        path,
        got: `a quota by ${quote(attribute)}, which calls of ${operation} do not fill`,
        allowed: `quotas by ${filled.length === 0 ? "no attribute" : filled.join(", ")}`,
      });
  return problems;
}

/** Returns the attributes of every call of an operation: its token's, and those that all its routes fill. */
function filledBy({ auth, routes }: Policy, operation: string): string[] {
  const own = routes.filter((route) => route.operation === operation).map(attributesOfRoute);
  const [first = [], ...others] = own;
  const byAll = first.filter((attribute) => others.every((attributes) => attributes.includes(attribute)));
  return [...new Set([...auth.attributes, ...byAll])];
}

/** Returns every attribute of a caller that a policy knows. */
function knownAttributes({ auth, quotas, routes }: Policy): string[] {
  const keys = Object.values(quotas).flatMap(({ key }) => key);
  return [...new Set([...auth.attributes, ...routes.flatMap(attributesOfRoute), ...keys])];
}

function routeMisfits({ routes, operations }: Policy, route: Route, index: number): Problem[] {
  const path = `routes.${index}`;
  const names = [...Object.keys(operations), "status", "other"];
  const problems = names.includes(route.operation)
    ? []
    : [unknown(`${path}.operation`, route.operation, names, "an operation")];
  const before = routes.slice(0, index);
  const twin = before.findIndex((other) => isSame(other, route));
  const hider = twin === -1 ? before.findIndex((other) => hides(other, route)) : twin;
  if (hider === -1) return problems;
  const got =
    twin === -1 ? `a route that matches nothing: routes.${hider} comes first` : `routes.${hider} again`;
  return [...problems, { path, got, allowed: "a route that matches requests of its own" }];
}

function overrideMisfits(policy: Policy, { match, quotas }: Override, index: number): Problem[] {
  const path = `overrides.${index}`;
  const known = knownAttributes(policy);
  const problems = Object.keys(match)
    .filter((attribute) => !known.includes(attribute))
    .map((attribute) =>
      unknown(`${path}.match.${attribute}`, attribute, known, "an attribute of the caller"),
    );
  for (const [name, changed] of Object.entries(quotas)) {
    const at = `${path}.quotas.${name}`;
    const quota = Object.hasOwn(policy.quotas, name) ? policy.quotas[name] : undefined;
    if (quota === undefined) {
      problems.push(unknown(at, name, Object.keys(policy.quotas), "a quota"));
      continue;
    }
    const beyond = Object.keys(match).filter((one) => known.includes(one) && !quota.key.includes(one));
    if (beyond.length > 0)
      problems.push({
        path: at,
        got: `a quota whose key has no ${beyond.join(", ")}`,
        allowed: "quotas whose key has every attribute that is matched: others are shared",
      });
    problems.push(...changeMisfits(at, quota, changed));
  }
  return problems;
}

/** Members of an algorithm that are no limits: all callers share them. */
const shapes = ["kind", "anchor", "opens"];

function changeMisfits(
  path: string,
  { algorithm, enforced: own }: Quota,
  changed: Override["quotas"][string],
): Problem[] {
  const allowed = [
    ...(typeof own === "object" ? [] : ["enforced"]),
    ...Object.keys(algorithm).filter((name) => !shapes.includes(name)),
  ];
  const problems = Object.keys(changed)
    .filter((name) => !allowed.includes(name))
    .map((name) => ({
      path: `${path}.${name}`,
      got: `it, of a ${algorithm.kind}`,
      allowed: allowed.join(", "),
    }));
  if (problems.length > 0) return problems;
  const { enforced, ...limits } = changed;
  return algorithmMisfits(path, { ...algorithm, ...limits } as QuotaAlgorithm);
}
