// The form of a policy file: the allowed members and values, and their defaults. The types of a policy (`policy.ts`)
// and the JSON Schema for editors (`policy.schema.json`) are made of it. `checks.ts` checks how the parts fit together.
import * as v from "valibot";
import { windowSecondsMost } from "../rules/parse.ts";
import { switchValues } from "../rules/switches.ts";
import { isZone } from "./calendar.ts";
import { byName, listOf, members, name, nearest, object, oneOf, text, whole } from "./forms.ts";
import { wireSchema } from "./wire-schema.ts";

/** Greatest number of quotas of one call: more are a mistake, too. */
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
/** Beginning of windows: on a grid of Unix time, with their first charge, or by a calendar. */
export const anchor = v.union(
  [v.literal("epoch"), v.literal("first-request"), object({ offsetMs: whole("ms", 0) }), calendar],
  anchorWords,
);

const refill = object({ amount: whole(units), everyMs: windowMs });

const algorithmKinds = ["fixed-window", "token-bucket", "sliding-log", "sliding-counter", "concurrency"];
const kindWords = `an object with a kind: ${algorithmKinds.map((kind) => JSON.stringify(kind)).join(", ")}`;

/** At most `limit` from each opening to the window's end. */
export const fixedWindow = members({
  kind: v.literal("fixed-window"),
  limit: whole(units),
  /** Length of a window, s. A calendar's windows have their own. */
  windowSeconds: v.optional(windowSeconds),
  anchor: v.optional(anchor, "epoch"),
  /** Beginning of a window that opens with its first charge. */
  opens: v.optional(oneOf(["exact", "whole-second"]), "exact"),
});

/** Room for `capacity`, which comes back continuously, `refill.amount` in each `refill.everyMs`. */
export const tokenBucket = members({ kind: v.literal("token-bucket"), capacity: whole(units), refill });

/**
 * Kinds that the engine does not enforce: at most `limit` in any span of the window's length; in the window and the
 * part of the previous one that such a span covers; and at one time.
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
  /** Time of an admitted call's charge; `reserve-settle` holds its cost, and gives back what it did not use. */
  when: v.optional(oneOf(["admission", "completion", "reserve-settle"]), "admission"),
  /** Room that a call needs: for its whole cost, or any room at all. */
  fits: v.optional(oneOf(["whole", "any-left"]), "whole"),
  /** Charge of a call that this quota refuses. */
  refused: v.optional(oneOf(["nothing", "counted"]), "nothing"),
  /** Charge of a call that another quota refuses, if all are charged or none (`all-or-nothing`). */
  refusedByOther: v.optional(oneOf(["nothing", "charged"]), "nothing"),
});

/** Form in which answers show a quota. */
export const shown = object({
  /** Form of a remaining below 0: 0, or the number itself. */
  remaining: v.optional(oneOf(switchValues.remaining), "clamped"),
  /** Rounding of seconds. */
  reset: v.optional(oneOf(switchValues.reset), "ceil"),
  retryAfter: v.optional(v.boolean("true or false"), true),
});

/** One limit: how it counts, whose calls share a count, and what a call is charged. */
export const quota = object({
  algorithm,
  /** Attributes of the caller whose values share one count; none: all callers share one count. */
  key: v.optional(
    v.pipe(
      v.array(name, "a list of the caller's attributes"),
      v.checkItems((each, place, all) => all.indexOf(each) === place, "each attribute once"),
    ),
    [],
  ),
  unit: v.optional(text("a word, as requests, points or tokens"), "requests"),
  charge: v.optional(charge, {}),
  /**
   * True if it refuses. `{with}` refuses only while the named quota does. With `unknown`, a judge accuses neither
   * refusals nor their absence; the engine enforces it.
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

/** Cost of a call: a number; what the call declares; or what only its answer tells, at most `atMost`. */
export const cost = v.union(
  [whole(units, 0), v.literal("declared"), object({ atMost: whole(units) })],
  'a whole number from 0, "declared", or {"atMost": ...} where only the answer tells',
);

const request = {
  method: v.optional(text("an HTTP method"), "GET"),
  path: v.pipe(text("a path"), v.startsWith("/", "a path that begins with /")),
  headers: v.optional(byName("headers' texts", v.string("text"), v.string()), {}),
  /** Text as it is sent, or JSON. */
  body: v.optional(v.unknown()),
};
export const requestSample = object(request);
const provoking = v.optional(requestSample);

export const callSample = object({
  ...request,
  /** Cost of the sample, if its operation's cost is declared. */
  cost: v.optional(whole(units, 0), 1),
  /** A number in the body that raises the cost, and the cost of each unit of it. */
  dearer: v.optional(
    object({ pointer: text("a JSON pointer into the body, as /max_tokens"), costEach: whole(units) }),
  ),
});

/** A kind of call. */
export const operation = object({
  /** Cost in each quota that it uses. */
  uses: byName("costs", cost),
  /**
   * Way in which the quotas of a call decide. All must have room, and all are charged or none. Or each charges what it
   * has room for, whatever the others say. Or each in turn, up to the first that refuses.
   */
  relation: v.optional(oneOf(["all-or-nothing", "each-alone", "first-refusal-stops"]), "all-or-nothing"),
  /** Requests that load and probes may send. */
  samples: v.optional(v.array(callSample, "a list of requests"), []),
});

export const attribute = v.union(
  [
    object({ header: text("a header's name") }),
    object({ pointer: text("a JSON pointer") }),
    object({ text: v.string("text") }),
  ],
  'one of {"header": ...}, {"pointer": ...} into the body, {"text": ...}',
);

/** Requests of one kind. Absent members match all requests. */
export const route = object({
  methods: v.optional(listOf(text("an HTTP method"), "a list of HTTP methods")),
  host: v.optional(text("a host's name")),
  /** Segments: `{name}` matches one and fills the caller's attribute of that name; a final `**` matches the rest. */
  path: v.pipe(
    text("a path, as /v2/organizations/{organization}/**"),
    v.regex(
      /^(\/(\{[A-Za-z_]\w*\}|(?!:)[^{}*/?#]*))*(\/\*\*)?$/,
      "a path of segments, {name} for one of them, ** at its end",
    ),
    v.startsWith("/", "a path that begins with /"),
  ),
  graphql: v.optional(oneOf(["query", "mutation"])),
  /** Name of an operation, or `status` (shows readings and costs nothing), or `other` (is not limited). */
  operation: text('the name of an operation, "status" or "other"'),
  /** Attributes that the request fills, besides those of its path. */
  attributes: v.optional(byName("sources", attribute), {}),
});

const formWords = "text with {token} in it, as Bearer {token}, or a list of such";
const form = v.pipe(v.string(formWords), v.includes("{token}", formWords));

/** Way in which a caller authenticates. */
export const auth = object({
  header: v.optional(text("a header's name"), "Authorization"),
  /** Value of the header. If there are several, the first is sent, and all are accepted. */
  form: v.optional(v.union([form, listOf(form, formWords)], formWords), "Bearer {token}"),
  /**
   * Attributes that a token means; the tokens file gives their values. Default: every attribute that a key names and no
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

/** A policy as people write it: an API's promises about its limits, and all that a caller needs. */
export const policySchema = object({
  $schema: v.optional(v.string("text")),
  version: v.literal(2, "2"),
  name: text("a name"),
  /** Quotas by name. If several lack room, a refusal names the first of them. */
  quotas: byName("quotas", quota),
  operations: byName("operations", operation),
  /** Routes of requests; the first that matches decides. */
  routes: v.optional(v.array(route, "a list of routes"), []),
  /** Format in which answers show readings, or the name of a preset that has it. */
  wire: v.optional(v.union([text(wireWords), wireSchema], wireWords), "buildkite"),
  auth: v.optional(auth, {}),
  /** Overrides of limits; later ones win. */
  overrides: v.optional(v.array(override, "a list of overrides"), []),
  /** Requests that provoke an answer of a status. */
  provoke: v.optional(object({ 304: provoking, 400: provoking, 404: provoking, 405: provoking }), {}),
});

export type PolicyInput = v.InferInput<typeof policySchema>;
export type ReadPolicy = v.InferOutput<typeof policySchema>;
