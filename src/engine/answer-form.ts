// The form of a limiter's answers: finds mistakes in an answer, and copies it as it is now.
const numberFields = ["limit", "current", "remaining", "reset", "resetAtMs"] as const;
const readingFields = [...numberFields, "enforced"];
const plainFields = ["admitted", "refusedBy", "retryAfterMs", "reservation", "status", "body"];
const readingNames = ["organization", "user", "rest", "graphql"];

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Returns the first mistake in a reading's form, or `null`. Absent and null members are not judged. */
function readingMistake(path: string, reading: unknown): [string, unknown, string] | null {
  if (reading === undefined || reading === null) return null;
  if (!isObject(reading)) return [path, reading, "an object, or nothing"];
  for (const field of numberFields) {
    const value = reading[field];
    if (value !== undefined && value !== null && !Number.isSafeInteger(value))
      return [`${path}.${field}`, value, "a safe integer, or nothing"];
  }
  const { enforced } = reading;
  if (enforced !== undefined && enforced !== null && typeof enforced !== "boolean")
    return [`${path}.enforced`, enforced, "true, false or nothing"];
  return null;
}

export function decisionMistake(value: unknown): [string, unknown, string] | null {
  if (!isObject(value)) return ["the decision", value, "an object with `admitted`"];
  if (typeof value["admitted"] !== "boolean") return ["admitted", value["admitted"], "true or false"];
  const refusedBy = value["refusedBy"] ?? null;
  if (refusedBy !== null && refusedBy !== "organization" && refusedBy !== "user")
    return ["refusedBy", refusedBy, '"organization", "user", null or nothing'];
  const wait = value["retryAfterMs"] ?? null;
  if (wait !== null && !Number.isFinite(wait)) return ["retryAfterMs", wait, "a number of ms, or nothing"];
  return readingsMistake(value);
}

export function readingsMistake(value: unknown): [string, unknown, string] | null {
  if (!isObject(value)) return ["the readings", value, "an object"];
  return readingMistake("organization", value["organization"]) ?? readingMistake("user", value["user"]);
}

export function statusMistake(value: unknown): [string, unknown, string] | null {
  if (!isObject(value)) return ["the status", value, "an object"];
  return readingMistake("rest", value["rest"]) ?? readingMistake("graphql", value["graphql"]);
}

export function httpMistake(value: unknown): [string, unknown, string] | null {
  if (value === null) return null;
  if (!isObject(value)) return ["the answer", value, "an object, or null"];
  if (!Number.isSafeInteger(value["status"])) return ["status", value["status"], "an HTTP status"];
  return isObject(value["headers"]) ? null : ["headers", value["headers"], "an object by header name"];
}

/** Finds a mistake in an answer: its path, the value there, and the allowed values. */
export type Mistake = (value: unknown) => [string, unknown, string] | null;

/** Copies an answer's members by name, inherited ones too: an answer may be an object of a class. */
export function copyOf(answer: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  pick(copy, answer, plainFields);
  for (const name of readingNames) {
    const reading = answer[name];
    if (reading !== undefined) copy[name] = isObject(reading) ? pick({}, reading, readingFields) : reading;
  }
  const { headers } = answer;
  if (headers !== undefined) copy["headers"] = isObject(headers) ? { ...headers } : headers;
  return copy;
}

function pick(
  into: Record<string, unknown>,
  from: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  for (const name of names) {
    const value = from[name];
    if (value !== undefined) into[name] = value;
  }
  return into;
}
