// The form of a policy file: what may stand where, and what stands there where nothing is said. The types of a policy
// (`policy.ts`) and the JSON Schema for editors (`policy.schema.json`) are made of it; how the parts fit together is
// `checks.ts`.
import * as v from "valibot";
import { switchValues } from "../rules/switches.ts";
import { byName, members, name, nearest, object, oneOf, text, whole } from "./forms.ts";
import { wireSchema } from "./wire-schema.ts";

/** A window of a century is a mistake in units; the bound keeps every time in ms a safe integer. */
export const windowSecondsMost = 3_155_760_000;
/** More quotas on one call are a mistake, too. */
export const usesMost = 32;

const windowSeconds = whole("seconds", 1, windowSecondsMost);
const windowMs = whole("ms", 1, windowSecondsMost * 1000);
const units = "units";

/** Windows that begin with a day, a week (Monday) or a month. */
const calendar = object({
  calendar: oneOf(["day", "week", "month"]),
  zone: v.pipe(text("the name of a time zone"), v.check(isZone, "the name of a time zone, as Europe/Paris")),
});
const anchorWords =
  'one of "epoch", "first-request", {"offsetMs": ...}, {"calendar": "day" | "week" | "month", "zone": ...}';
/** The beginning of windows: on a grid of Unix time, with their first charge, or by a calendar. */
export const anchor = v.union(
  [v.literal("epoch"), v.literal("first-request"), object({ offsetMs: whole("ms", 0) }), calendar],
  anchorWords,
);

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

const refill = object({ amount: whole(units), everyMs: windowMs });

const algorithmKinds = ["fixed-window", "token-bucket", "sliding-log", "sliding-counter", "concurrency"];
const kindWords = `an object with a kind: ${algorithmKinds.map((kind) => JSON.stringify(kind)).join(", ")}`;

/** At most `limit` from each opening to the window's end. */
export const fixedWindow = members({
  kind: v.literal("fixed-window"),
  limit: whole(units),
  /** A calendar's windows have their own. */
  windowSeconds: v.optional(windowSeconds),
  anchor: v.optional(anchor, "epoch"),
  /** The beginning of a window that opens with its first charge. */
  opens: v.optional(oneOf(["exact", "whole-second"]), "exact"),
});

/** Room for `capacity`, which comes back by `refill.amount` in each `refill.everyMs`, continuously. */
export const tokenBucket = members({ kind: v.literal("token-bucket"), capacity: whole(units), refill });

/**
 * The others are described alone: at most `limit` in any span of the window's length; in the window and the part of the
 * one before that a span of its length covers; and at a time.
 */
export const described = [
  members({ kind: v.literal("sliding-log"), limit: whole(units), windowSeconds }),
  members({ kind: v.literal("sliding-counter"), limit: whole(units), windowSeconds }),
  members({ kind: v.literal("concurrency"), limit: whole("calls") }),
] as const;

const algorithm = v.variant("kind", [fixedWindow, tokenBucket, ...described], ({ input }) =>
  typeof input === "string" ? nearest(algorithmKinds, input) : kindWords,
);

export const charge = object({
  /** When an admitted call is charged; `reserve-settle` holds its cost, and gives back what it did not use. */
  when: v.optional(oneOf(["admission", "completion", "reserve-settle"]), "admission"),
  /** A call needs room for its whole cost, or any room at all. */
  fits: v.optional(oneOf(["whole", "any-left"]), "whole"),
  /** Cost of a call that this quota refuses. */
  refused: v.optional(oneOf(["nothing", "counted"]), "nothing"),
  /** Cost of a call that another quota refuses, where all are charged or none (`all-or-nothing`). */
  refusedByOther: v.optional(oneOf(["nothing", "charged"]), "nothing"),
});

/** The form in which answers show a quota. */
export const shown = object({
  /** A remaining that goes below 0 is shown as 0, or as it is. */
  remaining: v.optional(oneOf(switchValues.remaining), "clamped"),
  /** The rounding of seconds. */
  reset: v.optional(oneOf(switchValues.reset), "ceil"),
  retryAfter: v.optional(v.boolean("true or false"), true),
});

/** One limit: how it counts, whose calls share a count, and what a call charges. */
export const quota = object({
  algorithm,
  /** Attributes of the caller whose values share one count; none: all callers share one. */
  key: v.optional(v.array(name, "a list of the caller's attributes"), []),
  unit: v.optional(text("a word, as requests, points or tokens"), "requests"),
  charge: v.optional(charge, {}),
  /**
   * True if it refuses. `{with}` refuses only while the named quota does; who judges an `unknown` one accuses neither
   * refusals nor their absence, and who decides takes it for enforced.
   */
  enforced: v.optional(
    v.union(
      [v.boolean(), v.literal("unknown"), object({ with: name })],
      'true, false, "unknown" or {"with": QUOTA}',
    ),
    true,
  ),
  shown: v.optional(shown, {}),
});

/** Cost of a call: a number; what the call declares; or what only its answer tells, at most so much. */
export const cost = v.union(
  [whole(units, 0), v.literal("declared"), object({ atMost: whole(units) })],
  'a whole number from 0, "declared", or {"atMost": ...} where only the answer tells',
);

const request = {
  method: v.optional(text("an HTTP method"), "GET"),
  path: v.pipe(text("a path"), v.startsWith("/", "a path that begins with /")),
  headers: v.optional(v.record(v.string(), v.string("text")), {}),
  /** Text as it is sent, or JSON. */
  body: v.optional(v.unknown()),
};
export const requestSample = object(request);
const provoking = v.optional(requestSample);

/** A request that is one call of an operation. */
export const callSample = object({
  ...request,
  /** Its cost where the operation's is declared. */
  cost: v.optional(whole(units, 0), 1),
  /** A number in the request that makes it dearer, and its cost for each unit. */
  dearer: v.optional(
    object({ pointer: text("a JSON pointer into the body, as /max_tokens"), costEach: whole(units) }),
  ),
});

/** A kind of call. */
export const operation = object({
  /** Cost in each quota that it uses. */
  uses: byName("costs", cost),
  /**
   * The quotas of a call decide together: all must have room, and all are charged or none; each charges what it has room
   * for, whatever the others say; each in turn, up to the first that refuses.
   */
  relation: v.optional(oneOf(["all-or-nothing", "each-alone", "first-refusal-stops"]), "all-or-nothing"),
  /** Requests that load and probes may send. */
  samples: v.optional(v.array(callSample, "a list of requests"), []),
});

export const attribute = v.union(
  [
    object({ header: text("a header's name") }),
    object({ pointer: text("a JSON pointer") }),
    object({ text: v.string() }),
  ],
  'one of {"header": ...}, {"pointer": ...} into the body, {"text": ...}',
);

/** Requests of one kind. What is left out matches all. */
export const route = object({
  methods: v.optional(v.pipe(v.array(text("an HTTP method")), v.minLength(1, "at least one method"))),
  host: v.optional(text("a host's name")),
  /** Segments; `{name}` matches one and fills the caller's attribute of that name, a last `**` matches the rest. */
  path: v.pipe(
    text("a path, as /v2/organizations/{organization}/**"),
    v.regex(
      /^(\/(\{[A-Za-z_]\w*\}|[^{}*/]*))*(\/\*\*)?$/,
      "a path of segments, {name} for one of them, ** at its end",
    ),
    v.startsWith("/", "a path that begins with /"),
  ),
  graphql: v.optional(oneOf(["query", "mutation"])),
  /** Name of an operation, `status` (it shows readings and costs nothing) or `other` (it is not limited). */
  operation: text('the name of an operation, "status" or "other"'),
  /** Attributes that the request fills, beside those of its path. */
  attributes: v.optional(byName("sources", attribute), {}),
});

const formWords = "text with {token} in it, as Bearer {token}, or a list of such";
const form = v.pipe(v.string(formWords), v.includes("{token}", formWords));

/** The way in which a caller says who it is. */
export const auth = object({
  header: v.optional(text("a header's name"), "Authorization"),
  /** The header's value. Of several, the first is sent, and all are accepted. */
  form: v.optional(
    v.union([form, v.pipe(v.array(form), v.minLength(1, formWords))], formWords),
    "Bearer {token}",
  ),
  /**
   * Attributes that a token stands for; the tokens file gives their values. Left out: every one that a key names and no
   * request fills.
   */
  attributes: v.optional(v.array(name, "a list of attributes")),
});

export const quotaOverride = object({
  limit: v.optional(whole(units)),
  windowSeconds: v.optional(windowSeconds),
  capacity: v.optional(whole(units)),
  refill: v.optional(refill),
  enforced: v.optional(v.boolean("true or false")),
});

/** Other limits for callers whose attributes have these values. */
export const override = object({
  match: v.pipe(
    byName("values", v.string("text")),
    v.check((match) => Object.keys(match).length > 0, "at least one attribute of the caller"),
  ),
  quotas: byName("limits", quotaOverride),
});

const wireWords = "the name of a wire format, or one as data";

/** A policy as people write it: the promises of an API about its limits, and all that a caller needs. */
export const policySchema = object({
  $schema: v.optional(v.string()),
  version: v.literal(2, "2"),
  name: text("a name"),
  /** Quotas by name. Where several lack room, a refusal names the first of them. */
  quotas: byName("quotas", quota),
  operations: byName("operations", operation),
  /** Requests by operation; the first route that matches decides. */
  routes: v.optional(v.array(route, "a list of routes"), []),
  /** The format in which answers show readings, or the name of the preset that has it. */
  wire: v.optional(v.union([text(wireWords), wireSchema], wireWords), "buildkite"),
  auth: v.optional(auth, {}),
  /** A later one wins. */
  overrides: v.optional(v.array(override, "a list of overrides"), []),
  /** Requests that provoke an answer of that status. */
  provoke: v.optional(object({ 304: provoking, 400: provoking, 404: provoking, 405: provoking }), {}),
});

export type PolicyInput = v.InferInput<typeof policySchema>;
export type ReadPolicy = v.InferOutput<typeof policySchema>;
