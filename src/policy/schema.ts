// The form of a policy file: what may stand where, and what stands there where nothing is said. The JSON Schema for
// editors is made of it (`policy.schema.json`); how the parts fit together is `checks.ts`.
import * as v from "valibot";
import { switchValues } from "../rules/switches.ts";
import { byName, members, name, nearest, object, oneOf, text, whole } from "./forms.ts";
import { provokedStatuses } from "./policy.ts";
import { wireSchema } from "./wire-schema.ts";

/** A window of a century is a mistake in units; the bound keeps every time in ms a safe integer. */
export const windowSecondsMost = 3_155_760_000;
/** More quotas on one call are a mistake, too. */
export const usesMost = 32;

const windowSeconds = whole("seconds", 1, windowSecondsMost);
const windowMs = whole("ms", 1, windowSecondsMost * 1000);
const units = "units";

const calendar = object({
  calendar: oneOf(["day", "week", "month"]),
  zone: v.pipe(text("the name of a time zone"), v.check(isZone, "the name of a time zone, as Europe/Paris")),
});
const anchorWords =
  'one of "epoch", "first-request", {"offsetMs": ...}, {"calendar": "day" | "week" | "month", "zone": ...}';
const anchor = v.union(
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
const algorithm = v.variant(
  "kind",
  [
    members({
      kind: v.literal("fixed-window"),
      limit: whole(units),
      windowSeconds: v.optional(windowSeconds),
      anchor: v.optional(anchor, "epoch"),
      opens: v.optional(oneOf(["exact", "whole-second"]), "exact"),
    }),
    members({ kind: v.literal("token-bucket"), capacity: whole(units), refill }),
    members({ kind: v.literal("sliding-log"), limit: whole(units), windowSeconds }),
    members({ kind: v.literal("sliding-counter"), limit: whole(units), windowSeconds }),
    members({ kind: v.literal("concurrency"), limit: whole("calls") }),
  ],
  ({ input }) => (typeof input === "string" ? nearest(algorithmKinds, input) : kindWords),
);

const charge = object({
  when: v.optional(oneOf(["admission", "completion", "reserve-settle"]), "admission"),
  fits: v.optional(oneOf(["whole", "any-left"]), "whole"),
  refused: v.optional(oneOf(["nothing", "counted"]), "nothing"),
  refusedByOther: v.optional(oneOf(["nothing", "charged"]), "nothing"),
});

const shown = object({
  remaining: v.optional(oneOf(switchValues.remaining), "clamped"),
  reset: v.optional(oneOf(switchValues.reset), "ceil"),
  retryAfter: v.optional(v.boolean("true or false"), true),
});

const quota = object({
  algorithm,
  key: v.optional(v.array(name, "a list of the caller's attributes"), []),
  unit: v.optional(text("a word, as requests, points or tokens"), "requests"),
  charge: v.optional(charge, {}),
  enforced: v.optional(
    v.union(
      [v.boolean(), v.literal("unknown"), object({ with: name })],
      'true, false, "unknown" or {"with": QUOTA}',
    ),
    true,
  ),
  shown: v.optional(shown, {}),
});

const cost = v.union(
  [whole(units, 0), v.literal("declared"), object({ atMost: whole(units) })],
  'a whole number from 0, "declared", or {"atMost": ...} where only the answer tells',
);

const request = {
  method: v.optional(text("an HTTP method"), "GET"),
  path: v.pipe(text("a path"), v.startsWith("/", "a path that begins with /")),
  headers: v.optional(v.record(v.string(), v.string("text")), {}),
  body: v.optional(v.unknown()),
};

const operation = object({
  uses: byName("costs", cost),
  relation: v.optional(oneOf(["all-or-nothing", "each-alone", "first-refusal-stops"]), "all-or-nothing"),
  samples: v.optional(
    v.array(
      object({
        ...request,
        cost: v.optional(whole(units, 0), 1),
        dearer: v.optional(
          object({ pointer: text("a JSON pointer into the body, as /max_tokens"), costEach: whole(units) }),
        ),
      }),
      "a list of requests",
    ),
    [],
  ),
});

const attribute = v.union(
  [
    object({ header: text("a header's name") }),
    object({ pointer: text("a JSON pointer") }),
    object({ text: v.string() }),
  ],
  'one of {"header": ...}, {"pointer": ...} into the body, {"text": ...}',
);

const route = object({
  methods: v.optional(v.pipe(v.array(text("an HTTP method")), v.minLength(1, "at least one method"))),
  host: v.optional(text("a host's name")),
  path: v.pipe(
    text("a path, as /v2/organizations/{organization}/**"),
    v.regex(
      /^(\/(\{[A-Za-z_]\w*\}|[^{}*/]*))*(\/\*\*)?$/,
      "a path of segments, {name} for one of them, ** at its end",
    ),
    v.startsWith("/", "a path that begins with /"),
  ),
  graphql: v.optional(oneOf(["query", "mutation"])),
  operation: text('the name of an operation, "status" or "other"'),
  attributes: v.optional(byName("sources", attribute), {}),
});

const formWords = "text with {token} in it, as Bearer {token}, or a list of such";
const form = v.pipe(v.string(formWords), v.includes("{token}", formWords));

const auth = object({
  header: v.optional(text("a header's name"), "Authorization"),
  form: v.optional(
    v.union([form, v.pipe(v.array(form), v.minLength(1, formWords))], formWords),
    "Bearer {token}",
  ),
  /** Every attribute that a key names and no request fills, where it is left out. */
  attributes: v.optional(v.array(name, "a list of attributes")),
});

const override = object({
  match: v.pipe(
    byName("values", v.string("text")),
    v.check((match) => Object.keys(match).length > 0, "at least one attribute of the caller"),
  ),
  quotas: byName(
    "limits",
    object({
      limit: v.optional(whole(units)),
      windowSeconds: v.optional(windowSeconds),
      capacity: v.optional(whole(units)),
      refill: v.optional(refill),
      enforced: v.optional(v.boolean("true or false")),
    }),
  ),
});

const wireWords = "the name of a wire format, or one as data";

/** A policy as people write it. */
export const policySchema = object({
  $schema: v.optional(v.string()),
  version: v.literal(2, "2"),
  name: text("a name"),
  quotas: byName("quotas", quota),
  operations: byName("operations", operation),
  routes: v.optional(v.array(route, "a list of routes"), []),
  wire: v.optional(v.union([text(wireWords), wireSchema], wireWords), "buildkite"),
  auth: v.optional(auth, {}),
  overrides: v.optional(v.array(override, "a list of overrides"), []),
  provoke: v.optional(
    object(Object.fromEntries(provokedStatuses.map((status) => [status, v.optional(object(request))]))),
    {},
  ),
});

export type PolicyInput = v.InferInput<typeof policySchema>;
export type ReadPolicy = v.InferOutput<typeof policySchema>;
