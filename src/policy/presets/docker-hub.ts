// Docker Hub's limit of pulls, and its limit against abuse, which no answer shows.
import type { Preset } from "../preset.ts";

const tooManyPulls =
  "You have reached your pull rate limit. You may increase the limit by authenticating and upgrading: https://www.docker.com/increase-rate-limit";
const manifests = "/v2/{namespace}/{repository}/manifests/{reference}";

export const dockerHub: Preset = {
  title: "Docker Hub's registry, for a Personal account",
  wire: {
    revision: "2026-11",
    readings: [
      {
        quotas: ["pulls"],
        headers: {
          "ratelimit-limit": ["{limit};w={window}", "{limit}"],
          "ratelimit-remaining": ["{remaining};w={window}", "{remaining}"],
        },
        on: ["admitted", "refused", "status"],
      },
    ],
    outcomes: [
      { outcome: "refused", by: "abuse", status: [429], body: { "": "Too Many Requests*" } },
      {
        outcome: "refused",
        by: "pulls",
        status: [429],
        body: { "/errors/*/code": "TOOMANYREQUESTS", "/errors/*/message": [tooManyPulls, "*"] },
      },
    ],
  },
  policy: {
    version: 2,
    name: "docker-hub",
    quotas: {
      pulls: {
        key: ["user"],
        algorithm: { kind: "fixed-window", limit: 200, windowSeconds: 21_600, anchor: "first-request" },
        unit: "pulls",
      },
    },
    operations: {
      pull: { uses: { pulls: 1 }, samples: [{ path: "/v2/library/alpine/manifests/latest" }] },
    },
    routes: [
      { methods: ["HEAD"], path: manifests, operation: "status" },
      { methods: ["GET"], path: manifests, operation: "pull" },
      { path: "/v2/**", operation: "other" },
    ],
    auth: { attributes: ["user"] },
    wire: "docker-hub",
  },
  notes: [
    "A Personal account has 200 pulls in 6 hours; without an account, an IPv4 address or an IPv6 /64 has 100.",
    "Paid accounts and some images have no limit: their answers have none of these headers.",
    "The documentation does not say how the 6 hours count: a window stands in.",
    "A HEAD of a manifest shows the limit and costs nothing; a GET is a pull. An image of several architectures is several.",
    "The limit against abuse is some thousands of requests a minute by address, with a plain text as refusal; it is left out.",
    "The header docker-ratelimit-source, an address or a user, is neither read nor written.",
  ],
  sources: [
    {
      at: "docker/docs content/manuals/docker-hub/usage/pulls.md",
      kind: "documented",
      seen: "2026-11-22",
    },
    {
      at: "docker/docs content/manuals/docker-hub/usage/_index.md",
      kind: "documented",
      seen: "2026-11-22",
    },
    { at: "docker/docs#21908", kind: "observed", seen: "2026-11-22" },
  ],
  answers: [
    {
      title: "A look at the limit by HEAD: numbers, each with its window",
      seen: "2026-11-22",
      operation: "status",
      answer: {
        status: 200,
        headers: {
          "ratelimit-limit": "100;w=21600",
          "ratelimit-remaining": "20;w=21600",
          "docker-ratelimit-source": "192.0.2.1",
        },
      },
      shows: {
        outcome: "admitted",
        readings: [{ quota: "pulls", limit: 100, remaining: 20, windowSeconds: 21_600, reset: null }],
      },
    },
    {
      title: "A pull of an image without a limit",
      seen: "2026-11-22",
      operation: "pull",
      answer: { status: 200, headers: { "docker-distribution-api-version": "registry/2.0" } },
      shows: { outcome: "admitted", by: null, readings: [] },
    },
    {
      title: "A pull that is refused",
      seen: "2026-11-22",
      operation: "pull",
      answer: {
        status: 429,
        headers: { "ratelimit-limit": "100;w=21600", "ratelimit-remaining": "0;w=21600" },
        body: { errors: [{ code: "TOOMANYREQUESTS", message: tooManyPulls }] },
      },
      shows: {
        outcome: "refused",
        by: "pulls",
        readings: [{ quota: "pulls", limit: 100, remaining: 0, windowSeconds: 21_600 }],
      },
    },
    {
      title: "A refusal by the limit against abuse",
      seen: "2026-11-22",
      operation: "pull",
      answer: { status: 429, headers: {}, body: "Too Many Requests" },
      shows: { outcome: "refused", by: "abuse", readings: [] },
    },
  ],
};
