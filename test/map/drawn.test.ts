// Policies proposed from drawn answers, word for word: names of headers and members, forms of resets, windows, callers,
// refusals and oddities in all mixtures. A line each, with a digest of the whole proposal. `npm test --
// test/map/drawn.test.ts -u` writes `pinned/drawn.txt` anew; read the difference.
import { expect, test } from "vitest";
import { seededRandom } from "../../src/faults/random.ts";
import { propose } from "../../src/map/propose.ts";
import { readTranscript } from "../../src/map/transcripts.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { presets, wireOf } from "../../src/policy/presets.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { writeTime } from "../../src/wire/times.ts";
import { digestOf } from "../support/digest.ts";

const start = Date.UTC(2026, 10, 23, 10, 0, 7);

interface Shown {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: string | null;
  readonly seconds: number;
  readonly nowMs: number;
}
type Fields = Readonly<Record<string, string | number>>;

const split =
  (name: (part: string) => string) =>
  (shown: Shown, oddity: string | null): Fields => ({
    [name("limit")]: oddity === "twice" ? `${shown.limit}, 5` : shown.limit,
    [name("remaining")]: oddity === "words" ? "plenty" : shown.remaining,
    ...(shown.reset !== null && { [name("reset")]: shown.reset }),
  });

/** Headers by the way in which an API names them. */
const dialects: Readonly<Record<string, (shown: Shown, oddity: string | null) => Fields>> = {
  plain: split((part) => `x-ratelimit-${part}`),
  draft: split((part) => `ratelimit-${part}`),
  dashed: split((part) => `x-rate-limit-${part}`),
  quota: split((part) => `x-quota-${part}`),
  minute: split((part) => `x-ratelimit-${part}-minute`),
  daily: split((part) => `x-ratelimit-${part}-daily`),
  app: split((part) => `x-app-${part}`),
  twoQuotas: (shown, oddity) => ({
    ...split((part) => `x-ratelimit-${part}-requests`)(shown, oddity),
    ...split((part) => `x-ratelimit-${part}-tokens`)({ ...shown, remaining: 7 * shown.remaining }, null),
  }),
  used: ({ limit, remaining, reset }) => ({
    "x-ratelimit-limit": limit,
    "x-ratelimit-used": limit - remaining,
    ...(reset !== null && { "x-ratelimit-reset": reset }),
  }),
  named: (shown, oddity) => ({
    ...split((part) => `x-ratelimit-${part}`)(shown, oddity),
    "x-ratelimit-resource": "core",
  }),
  slashed: ({ limit, remaining }) => ({ "x-rate-limit": `${limit - remaining}/${limit}` }),
  listed: ({ limit, remaining, seconds }) => ({
    ratelimit: `limit=${limit}, remaining=${remaining}, reset=${seconds}`,
  }),
  structured: ({ limit, remaining, seconds }) => ({
    "ratelimit-policy": `"default";q=${limit};w=60`,
    ratelimit: `"default";r=${remaining};t=${seconds}`,
  }),
  none: () => ({}),
  ...Object.fromEntries(
    Object.entries(presets).map(([name, { policy }]) => [`as ${name}`, byPreset(parsePolicy(policy))]),
  ),
};

/** Writes the headers of a preset's readings. */
function byPreset(policy: Policy) {
  const { readings } = wireOf(policy);
  const rows = readings.flatMap(({ headers }) => Object.entries(headers));
  const form = readings[0]?.reset?.form ?? "delta-s";
  return ({ limit, remaining, seconds, nowMs }: Shown): Fields => {
    const values: Fields = {
      ...{ limit, remaining, used: limit - remaining, window: 60 },
      ...{
        reset: writeTime({ form }, nowMs + 1000 * seconds, nowMs, "ceil"),
        quota: Object.keys(policy.quotas)[0] ?? "",
      },
    };
    const written = rows.flatMap(([name, template]) =>
      [template].flat().flatMap((form) => {
        if (typeof form !== "string") return [];
        return [[name, form.replace(/\{(\w+)\}/g, (_, part: string) => `${values[part] ?? 1}`)]];
      }),
    );
    return Object.fromEntries(written);
  };
}

/** A reset as an answer writes it. */
const forms: Readonly<Record<string, (restMs: number, endMs: number) => string | null>> = {
  seconds: (restMs) => `${Math.ceil(restMs / 1000)}`,
  "seconds with parts": (restMs) => (restMs / 1000).toFixed(1),
  ms: (restMs) => `${restMs}`,
  instant: (_, endMs) => `${Math.ceil(endMs / 1000)}`,
  "instant in ms": (_, endMs) => `${endMs}`,
  date: (_, endMs) => new Date(endMs).toUTCString(),
  iso: (_, endMs) => new Date(endMs).toISOString(),
  go: (restMs) => `${Math.floor(restMs / 60_000)}m${Math.ceil((restMs % 60_000) / 1000)}s`,
  past: (_, endMs) => `${Math.floor(endMs / 1000) - 86_400}`,
  none: () => null,
};

const oddities = [null, null, null, "twice", "words", "undated", "changing"] as const;
const statuses = [429, 429, 403, 503] as const;
const retries: readonly ((restMs: number, endMs: number) => Fields)[] = [
  (restMs) => ({ "retry-after": Math.ceil(restMs / 1000) }),
  (_, endMs) => ({ "retry-after": new Date(endMs).toUTCString() }),
  (restMs) => ({ "retry-after-ms": restMs }),
  () => ({ "retry-after": "later" }),
  () => ({}),
];
const paths = ["/v1/things", "/v1/things/81723", "/rate_limit", "/graphql", "/v1/things?page=2"] as const;

const names = Object.keys(dialects);

function drawn(seed: number): { name: string; text: string } {
  const random = seededRandom(seed);
  const one = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const [dialect, form, oddity] = [one(names), one(Object.keys(forms)), one(oddities)];
  const [windowMs, limit] = [1000 * one([10, 60, 60, 3_600, 86_400]), one([5, 60, 100, 5_000])];
  const [isGrid, inBody, callers] = [random() < 0.5, random() < 0.2, one([1, 1, 2])];
  const [status, retry, knowsPaths] = [one(statuses), one(retries), random() < 0.7];
  let [nowMs, endsMs, used] = [start, 0, 0];
  const answers = Array.from({ length: one([1, 3, 8, 14]) }, (_, at) => {
    nowMs += one([1, 1_000, 3_000, windowMs / 4, windowMs]) + 1000 * Math.floor(random() * 2);
    if (nowMs >= endsMs) {
      endsMs = isGrid ? (Math.floor(nowMs / windowMs) + 1) * windowMs : nowMs + windowMs;
      used = 0;
    }
    used = Math.min(limit, used + one([0, 1, 1, 1, 2, limit]));
    const restMs = endsMs - nowMs;
    const most = oddity === "changing" ? limit + (at % 2) : limit;
    const reset = (forms[form] as (typeof forms)[string])(restMs, endsMs);
    const shown = { limit: most, remaining: most - used, reset, seconds: Math.ceil(restMs / 1000), nowMs };
    const isRefused = used >= limit;
    const path = one(paths);
    const fields = inBody ? {} : dialects[dialect]?.(shown, oddity);
    const body =
      path === "/rate_limit" || inBody
        ? { rate: { ...shown, reset: reset === null ? undefined : reset } }
        : {};
    return [
      ...(knowsPaths
        ? [`$ curl -i 'https://x.example${path}' -H 'Authorization: Bearer token-${at % callers}'`]
        : []),
      `HTTP/1.1 ${isRefused ? status : 200} x`,
      ...(oddity === "undated" ? [] : [`date: ${new Date(nowMs).toUTCString()}`]),
      ...Object.entries({ ...fields, ...(isRefused ? retry(restMs, endsMs) : {}) }).map(
        ([name, value]) => `${name}: ${value}`,
      ),
      "",
      JSON.stringify(body),
    ].join("\n");
  });
  const where = inBody ? "a body" : dialect;
  return { name: `${where}, ${form}, ${windowMs / 1000} s, ${oddity ?? "even"}`, text: answers.join("\n") };
}

function told(text: string): string {
  const secrets = new Set<string>();
  try {
    const made = propose(readTranscript(text, "answers.txt", secrets), secrets, "my-api");
    const quotas = Object.entries(made.policy.quotas).map(([name, { algorithm }]) => {
      const { kind, ...numbers } = algorithm as { readonly kind: string };
      return [name, ...(kind === "fixed-window" ? [] : [kind]), ...Object.values(numbers).map(String)].join(
        " ",
      );
    });
    const asked = made.questions.map(({ path }) => path.replace(/^quotas\.|^wire\./, ""));
    const digest = digestOf(made);
    return `${made.format ?? "no preset"}; ${quotas.join(", ")}; asks ${asked.join(" ")}; ${digest}`;
  } catch (error) {
    if (error instanceof SpillwayError) return error.message.replace("\n", " ");
    throw error;
  }
}

test("proposals of drawn answers say what they said", async () => {
  const lines = Array.from({ length: 160 }, (_, seed) => {
    const { name, text } = drawn(seed);
    return `${seed} ${name}: ${told(text)}`;
  });
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./pinned/drawn.txt");
});
