// express-rate-limit 8 with its default limit: its older headers (`legacyHeaders`, on by default) and, by
// `standardHeaders`, those of three IETF drafts.
import type { KnownAnswer, Preset, Source } from "../preset.ts";

const policy = (wire: string): Preset["policy"] => ({
  version: 2,
  name: wire,
  quotas: {
    requests: {
      algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 60, anchor: "first-request" },
      key: ["client"],
      charge: { refused: "counted" },
    },
  },
  operations: { call: { uses: { requests: 1 }, samples: [{ path: "/" }] } },
  routes: [{ path: "/**", operation: "call" }],
  wire,
});

const notes = [
  "The limit and window are the package's defaults: 5 requests in 60 seconds.",
  "A key is an IP address unless `keyGenerator` says otherwise; here a token stands for a client.",
  "A window opens with its first call in the memory store; other stores may do otherwise.",
];

const sources: readonly Source[] = [
  {
    at: "express-rate-limit/express-rate-limit source/headers.ts, source/memory-store.ts",
    kind: "source",
    seen: "2026-11-22",
  },
  { at: "express-rate-limit 8.7.4 of npm, run with express 5.3.0", kind: "observed", seen: "2026-11-23" },
];

const retryAfter = [{ header: "Retry-After", form: "delta-s" }] as const;
/** Reset in seconds to the window's end, rounded up. */
const reset = { form: "delta-s", means: "window-end", round: "ceil" } as const;

const text = "Too many requests, please try again later.";

const answered = (
  title: string,
  status: number,
  headers: KnownAnswer["answer"]["headers"],
  shows: KnownAnswer["shows"],
): KnownAnswer => ({
  title,
  seen: "2026-11-23",
  operation: "call",
  answer: { status, headers, body: status === 200 ? "ok" : text },
  shows,
});

const minute = { afterMs: 60_000, gridMs: 1000, means: "window-end" };
const refused = { outcome: "refused", by: "requests", retryAfter: { afterMs: 60_000 } };

export const expressRateLimit: Preset = {
  title: "express-rate-limit 8 for Express, its X-RateLimit headers",
  wire: {
    revision: "8.7",
    readings: [
      {
        headers: {
          "X-RateLimit-Limit": "{limit}",
          "X-RateLimit-Remaining": "{remaining}",
          "X-RateLimit-Reset": "{reset}",
        },
        reset: { form: "epoch-s", means: "window-end", round: "ceil" },
      },
    ],
    retryAfter,
  },
  policy: policy("express-rate-limit"),
  notes: [...notes, "A reset has whole seconds of Unix time, rounded up."],
  sources,
  answers: [
    answered(
      "The first of five calls",
      200,
      {
        "X-RateLimit-Limit": "5",
        "X-RateLimit-Remaining": "4",
        date: "Mon, 23 Nov 2026 15:08:09 GMT",
        "X-RateLimit-Reset": "1795446550",
      },
      {
        outcome: "admitted",
        readings: [
          {
            quota: "requests",
            limit: 5,
            remaining: 4,
            reset: { atMs: 1_795_446_550_000, gridMs: 1000, means: "window-end" },
          },
        ],
      },
    ),
    answered(
      "The sixth call",
      429,
      {
        "X-RateLimit-Limit": "5",
        "X-RateLimit-Remaining": "0",
        date: "Mon, 23 Nov 2026 15:08:09 GMT",
        "X-RateLimit-Reset": "1795446550",
        "Retry-After": "60",
      },
      { ...refused, readings: [{ quota: "requests", limit: 5, remaining: 0 }] },
    ),
  ],
};

/** Second reading of drafts 6 and 7: limits and windows of every quota, without names. */
const policies = { headers: { "RateLimit-Policy": { list: { ".": "{limit}", w: "{window}" } } } };

export const expressRateLimit6: Preset = {
  title: "express-rate-limit 8 for Express, RateLimit headers of draft 6",
  wire: {
    revision: "8.7",
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
  },
  policy: policy("express-rate-limit-6"),
  notes: [
    ...notes,
    "`standardHeaders` is true, or draft-6. A reset means the window's end, whatever the draft promises.",
    "Versions 6 and 7 of the package leave a reset out where it is 0, or where the store tells none: a reset that is missing is unknown.",
  ],
  sources: [
    ...sources,
    { at: "express-rate-limit 6.11.2 and 7.5.1 of npm, run", kind: "observed", seen: "2026-11-23" },
  ],
  answers: [
    answered(
      "The first of five calls",
      200,
      {
        "RateLimit-Policy": "5;w=60",
        "RateLimit-Limit": "5",
        "RateLimit-Remaining": "4",
        "RateLimit-Reset": "60",
      },
      {
        outcome: "admitted",
        readings: [
          { quota: "requests", limit: 5, remaining: 4, windowSeconds: null, reset: minute },
          { quota: "requests", limit: 5, remaining: null, windowSeconds: 60 },
        ],
      },
    ),
    answered(
      "The sixth call",
      429,
      {
        "RateLimit-Policy": "5;w=60",
        "RateLimit-Limit": "5",
        "RateLimit-Remaining": "0",
        "RateLimit-Reset": "60",
        "Retry-After": "60",
      },
      {
        ...refused,
        readings: [{ quota: "requests", remaining: 0, reset: minute }, { windowSeconds: 60 }],
      },
    ),
    answered(
      "A call at the window's end, to version 7: no reset",
      200,
      { "RateLimit-Policy": "5;w=60", "RateLimit-Limit": "5", "RateLimit-Remaining": "4" },
      {
        outcome: "admitted",
        readings: [{ quota: "requests", remaining: 4, reset: null }, { windowSeconds: 60 }],
      },
    ),
    answered(
      "A call at the window's end, to version 8",
      200,
      {
        "RateLimit-Policy": "5;w=60",
        "RateLimit-Limit": "5",
        "RateLimit-Remaining": "4",
        "RateLimit-Reset": "0",
      },
      {
        outcome: "admitted",
        readings: [{ quota: "requests", remaining: 4, reset: { afterMs: 0 } }, { windowSeconds: 60 }],
      },
    ),
  ],
};

export const expressRateLimit7: Preset = {
  title: "express-rate-limit 8 for Express, RateLimit header of draft 7",
  wire: {
    revision: "8.7",
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
  },
  policy: policy("express-rate-limit-7"),
  notes: [
    ...notes,
    "`standardHeaders` is draft-7. A reset means the window's end, whatever the draft promises.",
  ],
  sources,
  answers: [
    answered(
      "The first of five calls",
      200,
      { "RateLimit-Policy": "5;w=60", RateLimit: "limit=5, remaining=4, reset=60" },
      {
        outcome: "admitted",
        readings: [
          { quota: "requests", limit: 5, remaining: 4, reset: minute },
          { quota: "requests", limit: 5, windowSeconds: 60 },
        ],
      },
    ),
    answered(
      "The sixth call",
      429,
      { "RateLimit-Policy": "5;w=60", RateLimit: "limit=5, remaining=0, reset=60", "Retry-After": "60" },
      {
        ...refused,
        readings: [{ quota: "requests", remaining: 0, reset: minute }, { windowSeconds: 60 }],
      },
    ),
  ],
};

const second = { afterMs: 1000, means: "window-end" };
const day = { afterMs: 86_399_000, means: "window-end" };

export const expressRateLimit8: Preset = {
  title: "express-rate-limit 8 for Express, RateLimit headers of draft 8",
  wire: {
    revision: "8.7",
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
  },
  policy: policy("express-rate-limit-8"),
  notes: [
    ...notes,
    "`standardHeaders` is draft-8. A reset means the window's end, whatever the draft promises.",
    "`identifier` names a quota; here it is `requests`. Its default is made of the limit and window, as `5-in-1min`, which is no name of a quota here.",
    "`pk`, a hash of the key, is neither read nor written.",
    "Several limiters of one app add their members to both headers, each in a line of its own; one that refuses keeps those after it from the answer.",
  ],
  sources,
  answers: [
    answered(
      "The first of five calls",
      200,
      {
        RateLimit: '"requests"; r=4; t=60',
        "RateLimit-Policy": '"requests"; q=5; w=60; pk=:MTJjYTE3YjQ5YWYy:',
      },
      {
        outcome: "admitted",
        readings: [{ quota: "requests", limit: 5, remaining: 4, windowSeconds: 60, reset: minute }],
      },
    ),
    answered(
      "The sixth call",
      429,
      {
        RateLimit: '"requests"; r=0; t=60',
        "RateLimit-Policy": '"requests"; q=5; w=60; pk=:MTJjYTE3YjQ5YWYy:',
        "Retry-After": "60",
      },
      { ...refused, readings: [{ quota: "requests", limit: 5, remaining: 0, reset: minute }] },
    ),
    answered(
      "A call under the default `identifier`",
      200,
      {
        RateLimit: '"5-in-1min"; r=4; t=60',
        "RateLimit-Policy": '"5-in-1min"; q=5; w=60; pk=:MTJjYTE3YjQ5YWYy:',
      },
      {
        outcome: "admitted",
        readings: [{ quota: "5-in-1min", limit: 5, remaining: 4, windowSeconds: 60, reset: minute }],
      },
    ),
    answered(
      "A refusal by the second of two limiters, whose headers came in two lines each",
      429,
      {
        RateLimit: '"burst"; r=0; t=1, "daily"; r=0; t=86399',
        "RateLimit-Policy":
          '"burst"; q=2; w=1; pk=:MTJjYTE3YjQ5YWYy:, "daily"; q=3; w=86400; pk=:MTJjYTE3YjQ5YWYy:',
        "Retry-After": "86399",
      },
      {
        outcome: "refused",
        retryAfter: { afterMs: 86_399_000 },
        readings: [
          { quota: "burst", limit: 2, remaining: 0, windowSeconds: 1, reset: second },
          { quota: "daily", limit: 3, remaining: 0, windowSeconds: 86_400, reset: day },
        ],
      },
    ),
  ],
};
