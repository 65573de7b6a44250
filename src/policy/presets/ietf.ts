// RateLimit headers of the IETF's drafts: three fields (06), a dictionary (07), lists of named policies (08 to 11).
import type { KnownAnswer, Preset, Source } from "../preset.ts";

const minute = {
  algorithm: { kind: "fixed-window", limit: 100, windowSeconds: 60 },
  key: ["client"],
} as const;
const day = {
  algorithm: { kind: "fixed-window", limit: 1000, windowSeconds: 86_400 },
  key: ["client"],
} as const;

const policy = (name: string, quotas: Preset["policy"]["quotas"]): Preset["policy"] => ({
  version: 2,
  name,
  quotas,
  operations: {
    call: {
      uses: Object.fromEntries(Object.keys(quotas).map((quota) => [quota, 1])),
      samples: [{ path: "/items/123" }],
    },
  },
  routes: [{ path: "/**", operation: "call" }],
  wire: name,
});

const reset = { form: "delta-s", means: "estimate", round: "ceil" } as const;
const retryAfter = [
  { header: "Retry-After", form: "delta-s" },
  { header: "Retry-After", form: "http-date" },
] as const;
const cached = ["Age"];

const notes = [
  "The limits are the draft's examples; an API that follows it has its own, and names its quotas itself.",
  "A draft names no algorithm; windows of Unix time stand in.",
  "A reset promises nothing: a server may change it, or serve a call although nothing remains.",
];

const sources = (draft: string, dated: string): Source[] => [
  {
    at: `ietf-wg-httpapi/ratelimit-headers draft-ietf-httpapi-ratelimit-headers-${draft} (${dated})`,
    kind: "documented",
    seen: "2026-11-22",
  },
];

const answered = (
  title: string,
  status: number,
  answer: Omit<KnownAnswer["answer"], "status">,
  shows: KnownAnswer["shows"],
): KnownAnswer => ({
  title,
  seen: "2026-11-22",
  operation: "call",
  answer: { status, ...answer },
  shows,
});

const inSeconds = (seconds: number) => ({ afterMs: seconds * 1000, gridMs: 1000, means: "estimate" });
const date = "Mon, 05 Aug 2019 09:27:00 GMT";
/** `Retry-After` of the draft's refusals. */
const back = { "Retry-After": "Mon, 05 Aug 2019 09:27:05 GMT" };
const comesBack = { afterMs: null, atMs: 1_564_997_225_000 };
const fourPolicies = "10;w=1, 50;w=60, 1000;w=3600, 5000;w=86400";
const fourRead = [
  { quota: null, limit: 10, windowSeconds: 1 },
  { quota: null, limit: 50, windowSeconds: 60 },
  { quota: null, limit: 1000, windowSeconds: 3600 },
  { quota: null, limit: 5000, windowSeconds: 86_400 },
];
const problem = { title: "Too Many Requests", status: 429, detail: "You have exceeded your quota" };

/** Limits and windows of every policy, without names. */
const policies = { headers: { "RateLimit-Policy": { list: { ".": "{limit}", w: "{window}" } } } };
const unnamed = [
  ...notes,
  "Several policies of one list have no names: nobody knows which quotas they are. The limit and that of the policy may differ.",
];

export const ietf06: Preset = {
  title: "RateLimit headers of the IETF, draft 06: three fields",
  wire: {
    revision: "06",
    readings: [
      {
        headers: {
          "RateLimit-Limit": "{limit}",
          "RateLimit-Remaining": "{remaining}",
          "RateLimit-Reset": "{reset}",
        },
        reset,
      },
      policies,
    ],
    retryAfter,
    cached,
  },
  policy: policy("ietf-06", { requests: minute }),
  notes: unnamed,
  sources: sources("06", "2022-12"),
  answers: [
    answered(
      "A limit and its window",
      200,
      {
        headers: {
          "RateLimit-Limit": "100",
          "RateLimit-Policy": "100;w=60",
          "Ratelimit-Remaining": "99",
          "Ratelimit-Reset": "50",
        },
      },
      {
        outcome: "admitted",
        readings: [
          { quota: "requests", limit: 100, remaining: 99, reset: inSeconds(50) },
          { quota: "requests", limit: 100, windowSeconds: 60 },
        ],
      },
    ),
    answered(
      "A limit that is lower than its policy, to slow callers down",
      200,
      {
        headers: {
          "RateLimit-Limit": "10",
          "RateLimit-Policy": "100;w=60",
          "Ratelimit-Remaining": "9",
          "Ratelimit-Reset": "50",
        },
      },
      {
        outcome: "admitted",
        readings: [
          { limit: 10, remaining: 9 },
          { limit: 100, windowSeconds: 60 },
        ],
      },
    ),
    answered(
      "A refusal that tells a date",
      429,
      {
        headers: {
          date,
          ...back,
          "RateLimit-Reset": "5",
          "RateLimit-Limit": "100",
          "Ratelimit-Remaining": "0",
        },
        body: problem,
      },
      {
        outcome: "refused",
        by: "requests",
        retryAfter: comesBack,
        readings: [{ quota: "requests", limit: 100, remaining: 0, reset: inSeconds(5) }],
      },
    ),
    answered(
      "Four policies in one list",
      200,
      {
        headers: {
          "RateLimit-Policy": fourPolicies,
          "RateLimit-Limit": "10",
          "RateLimit-Remaining": "1",
          "RateLimit-Reset": "7",
        },
      },
      { outcome: "admitted", readings: [{ limit: 10, remaining: 1, reset: inSeconds(7) }, ...fourRead] },
    ),
    answered(
      "Without a reset",
      200,
      { headers: { "RateLimit-Limit": "100", "RateLimit-Remaining": "60" } },
      { outcome: "admitted", readings: [{ quota: "requests", limit: 100, remaining: 60, reset: null }] },
    ),
  ],
};

export const ietf07: Preset = {
  title: "RateLimit headers of the IETF, draft 07: one dictionary",
  wire: {
    revision: "07",
    readings: [
      {
        headers: {
          RateLimit: { dictionary: { limit: "{limit}", remaining: "{remaining}", reset: "{reset}" } },
        },
        reset,
      },
      policies,
    ],
    retryAfter,
    cached,
  },
  policy: policy("ietf-07", { requests: minute }),
  notes: unnamed,
  sources: sources("07", "2023-06"),
  answers: [
    answered(
      "A limit and its window",
      200,
      { headers: { RateLimit: "limit=100, remaining=99, reset=50", "RateLimit-Policy": "100;w=60" } },
      {
        outcome: "admitted",
        readings: [
          { quota: "requests", limit: 100, remaining: 99, reset: inSeconds(50) },
          { quota: "requests", limit: 100, windowSeconds: 60 },
        ],
      },
    ),
    answered(
      "A call that is served although nothing remains",
      200,
      { headers: { RateLimit: "limit=100, remaining=0, reset=48" } },
      { outcome: "admitted", by: null, readings: [{ remaining: 0, reset: inSeconds(48) }] },
    ),
    answered(
      "A refusal that tells a date",
      429,
      { headers: { date, ...back, RateLimit: "limit=100, remaining=0, reset=5" }, body: problem },
      {
        outcome: "refused",
        by: "requests",
        retryAfter: comesBack,
        readings: [{ limit: 100, remaining: 0, reset: inSeconds(5) }],
      },
    ),
    answered(
      "A refusal of all calls for a while",
      429,
      { headers: { RateLimit: "limit=0, remaining=0, reset=20", "RateLimit-Policy": "15;w=20" } },
      {
        outcome: "refused",
        by: "requests",
        retryAfter: null,
        readings: [
          { limit: 0, remaining: 0, reset: inSeconds(20) },
          { limit: 15, windowSeconds: 20 },
        ],
      },
    ),
    answered(
      "Four policies in one list",
      200,
      { headers: { "RateLimit-Policy": fourPolicies, RateLimit: "limit=10, remaining=1, reset=7" } },
      { outcome: "admitted", readings: [{ limit: 10, remaining: 1 }, ...fourRead] },
    ),
  ],
};

const problemTypes = "https://iana.org/assignments/http-problem-types";

export const ietf11: Preset = {
  title: "RateLimit headers of the IETF, drafts 08 to 11: lists of named policies",
  wire: {
    revision: "11",
    readings: [
      {
        headers: {
          RateLimit: { list: { ".": "{quota}", r: "{remaining}", t: "{reset}" } },
          "RateLimit-Policy": { list: { ".": "{quota}", q: "{limit}", w: "{window}" } },
        },
        reset,
      },
    ],
    retryAfter,
    outcomes: [
      {
        outcome: "refused",
        by: "{quota}",
        status: [429],
        body: { "/type": `${problemTypes}#quota-exceeded`, "/violated-policies/0": "{quota}" },
      },
      {
        outcome: "refused",
        by: "temporary-reduced-capacity",
        status: [503],
        body: { "/type": `${problemTypes}#temporary-reduced-capacity` },
      },
      {
        outcome: "refused",
        by: "abnormal-usage-detected",
        status: [429],
        body: { "/type": `${problemTypes}#abnormal-usage-detected` },
      },
    ],
    cached,
  },
  policy: policy("ietf-11", { burst: minute, daily: day }),
  notes: [
    ...notes,
    "Of several policies that a refusal names, the first counts.",
    "`qu`, the unit, and `pk`, the key of a partition, are neither read nor written.",
    "Drafts 08 to 11 have one syntax; a proposal of 2026-04 renames its parameters.",
  ],
  sources: sources("11", "2026-05"),
  answers: [
    answered(
      "Two policies in one list, and what remains of one",
      200,
      {
        headers: {
          "RateLimit-Policy": '"burst";q=100;w=60,"daily";q=1000;w=86400',
          RateLimit: '"burst";r=50;t=30',
        },
      },
      {
        outcome: "admitted",
        readings: [
          { quota: "burst", limit: 100, remaining: 50, windowSeconds: 60, reset: inSeconds(30) },
          { quota: "daily", limit: 1000, remaining: null, windowSeconds: 86_400, reset: null },
        ],
      },
    ),
    answered(
      "Both fields in two lines each",
      200,
      {
        headers: {
          "RateLimit-Policy": '"permin";q=50;w=60, "perhr";q=1000;w=3600',
          RateLimit: '"permin";r=20;t=11, "perhr";r=400;t=900',
        },
      },
      {
        outcome: "admitted",
        readings: [
          { quota: "permin", limit: 50, remaining: 20 },
          { quota: "perhr", limit: 1000, remaining: 400 },
        ],
      },
    ),
    answered(
      "A partition's key, and no window",
      200,
      { headers: { RateLimit: '"default";r=999;pk=:dHJpYWwxMjEzMjM=:' } },
      { outcome: "admitted", readings: [{ quota: "default", remaining: 999, reset: null }] },
    ),
    answered(
      "A call that is served although nothing remains",
      200,
      { headers: { RateLimit: '"default";r=0;t=48' } },
      { outcome: "admitted", by: null, readings: [{ quota: "default", remaining: 0 }] },
    ),
    answered(
      "A refusal that names its policy and tells a date",
      429,
      {
        headers: { date, ...back, RateLimit: '"default";r=0;t=5' },
        body: {
          type: `${problemTypes}#quota-exceeded`,
          title: "Too Many Requests",
          status: 429,
          "violated-policies": ["default"],
        },
      },
      {
        outcome: "refused",
        by: "default",
        retryAfter: comesBack,
        readings: [{ quota: "default", remaining: 0, reset: inSeconds(5) }],
      },
    ),
    answered(
      "A refusal since the server has less capacity, with 503",
      503,
      {
        headers: {},
        body: {
          type: `${problemTypes}#temporary-reduced-capacity`,
          title: "Request cannot be satisfied due to temporary server capacity constraints",
          "violated-policies": ["hourly"],
        },
      },
      { outcome: "refused", by: "temporary-reduced-capacity", readings: [] },
    ),
    answered(
      "An answer of a cache, which shows nothing of now",
      200,
      { headers: { Age: "12", RateLimit: '"default";r=50;t=30' } },
      { outcome: "admitted", readings: [] },
    ),
  ],
};
