// GitLab's limits by Rack::Attack, with the default numbers of an instance whose administrator turns them on.
import type { Preset } from "../preset.ts";

const perUser = { key: ["user"], charge: { refused: "counted" } } as const;
const throttles = ["throttle_authenticated_api", "throttle_authenticated_packages_api"];
const onAll = { means: "window-end", round: "ceil" } as const;

export const gitlab: Preset = {
  title: "GitLab's REST and GraphQL APIs, by the default numbers of an instance of one's own",
  wire: {
    revision: "18",
    readings: [
      {
        quotas: throttles,
        headers: {
          "RateLimit-Limit": "{limit}",
          "RateLimit-Name": "{quota}",
          "RateLimit-Observed": "{used}",
          "RateLimit-Remaining": "{remaining}",
          "RateLimit-Reset": "{reset}",
        },
        reset: { form: "epoch-s", ...onAll },
        limitPerSeconds: 60,
      },
      {
        quotas: throttles,
        headers: { "RateLimit-Name": "{quota}", "RateLimit-ResetTime": "{reset}" },
        reset: { form: "http-date", ...onAll },
        on: ["refused"],
      },
    ],
    retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    outcomes: [
      {
        outcome: "refused",
        by: "application",
        status: [429],
        body: { "/message/error": "This endpoint has been requested too many times*" },
      },
      { outcome: "refused", status: [429], body: { "": ["Retry later", "*"] } },
    ],
  },
  policy: {
    version: 2,
    name: "gitlab",
    quotas: {
      throttle_authenticated_api: {
        ...perUser,
        algorithm: { kind: "fixed-window", limit: 7200, windowSeconds: 3600 },
      },
      throttle_authenticated_packages_api: {
        ...perUser,
        algorithm: { kind: "fixed-window", limit: 1000, windowSeconds: 15 },
      },
    },
    operations: {
      api: { uses: { throttle_authenticated_api: 1 }, samples: [{ path: "/api/v4/projects" }] },
      packages: {
        uses: { throttle_authenticated_packages_api: 1 },
        samples: [{ path: "/api/v4/projects/1/packages/npm/app" }],
      },
    },
    routes: [
      { path: "/api/v4/projects/{project}/packages/**", operation: "packages" },
      { path: "/api/v4/groups/{group}/-/packages/**", operation: "packages" },
      { path: "/api/v4/packages/**", operation: "packages" },
      { path: "/api/**", operation: "api" },
    ],
    auth: { header: "PRIVATE-TOKEN", form: "{token}", attributes: ["user"] },
    wire: "gitlab",
  },
  notes: [
    "RateLimit-Limit is scaled to 60 seconds and rounded up; Remaining and Observed are those of the real window.",
    "The limits are off until an administrator turns them on; GitLab.com has others, 2,000 requests a minute among them.",
    "Answers show the most restrictive throttle; limits of the application show nothing, and refuse with a text of their own.",
    "Limits by address, of web pages, protected paths, Git LFS and single endpoints are left out.",
    "A refused call counts, since the count is raised before it is compared.",
  ],
  sources: [
    { at: "gitlabhq/gitlabhq lib/gitlab/rack_attack.rb", kind: "source", seen: "2026-11-22" },
    { at: "gitlabhq/gitlabhq lib/api/helpers/rate_limiter.rb", kind: "source", seen: "2026-11-22" },
    {
      at: "gitlabhq/gitlabhq doc/administration/settings/user_and_ip_rate_limits.md",
      kind: "documented",
      seen: "2026-11-22",
    },
    {
      at: "gitlabhq/gitlabhq doc/administration/settings/package_registry_rate_limits.md",
      kind: "documented",
      seen: "2026-11-22",
    },
  ],
  answers: [
    {
      title: "A call in a window of an hour: the limit is shown for a minute, the rest for the hour",
      seen: "2026-11-22",
      operation: "api",
      answer: {
        status: 200,
        headers: {
          "RateLimit-Limit": "120",
          "RateLimit-Name": "throttle_authenticated_api",
          "RateLimit-Observed": "67",
          "RateLimit-Remaining": "7133",
          "RateLimit-Reset": "1795309200",
        },
      },
      shows: {
        outcome: "admitted",
        readings: [
          {
            quota: "throttle_authenticated_api",
            limit: null,
            used: 67,
            remaining: 7133,
            reset: { atMs: 1_795_309_200_000, means: "window-end" },
          },
        ],
      },
    },
    {
      title: "A refusal, with the reset as a date as well",
      seen: "2026-11-22",
      operation: "api",
      answer: {
        status: 429,
        headers: {
          "RateLimit-Limit": "60",
          "RateLimit-Name": "throttle_authenticated_api",
          "RateLimit-Observed": "67",
          "RateLimit-Remaining": "0",
          "RateLimit-Reset": "1609844400",
          "RateLimit-ResetTime": "Tue, 05 Jan 2021 11:00:00 GMT",
          "Retry-After": "30",
        },
        body: "Retry later\n",
      },
      shows: {
        outcome: "refused",
        by: "throttle_authenticated_api",
        retryAfter: { afterMs: 30_000 },
        readings: [
          {
            quota: "throttle_authenticated_api",
            used: 67,
            remaining: 0,
            reset: { atMs: 1_609_844_400_000 },
          },
          { quota: "throttle_authenticated_api", reset: { atMs: 1_609_844_400_000 } },
        ],
      },
    },
    {
      title: "A refusal by a limit of the application, while the throttle has room",
      seen: "2026-11-22",
      operation: "api",
      answer: {
        status: 429,
        headers: {
          "RateLimit-Limit": "120",
          "RateLimit-Name": "throttle_authenticated_api",
          "RateLimit-Observed": "68",
          "RateLimit-Remaining": "7132",
          "RateLimit-Reset": "1795309200",
        },
        body: { message: { error: "This endpoint has been requested too many times. Try again later." } },
      },
      shows: {
        outcome: "refused",
        by: "application",
        retryAfter: null,
        readings: [{ quota: "throttle_authenticated_api", remaining: 7132 }],
      },
    },
  ],
};
