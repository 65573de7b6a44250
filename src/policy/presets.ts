// The policies that come with the package, and the wire formats that policies may name.
import * as v from "valibot";
import { parseRules } from "../rules/parse.ts";
import type { Policy } from "./policy.ts";
import type { Preset } from "./preset.ts";
import { anthropic } from "./presets/anthropic.ts";
import { buildkiteAnswers } from "./presets/buildkite.ts";
import { discord } from "./presets/discord.ts";
import { dockerHub } from "./presets/docker-hub.ts";
import { envoyFilter, envoyJson } from "./presets/envoy.ts";
import {
  expressRateLimit,
  expressRateLimit6,
  expressRateLimit7,
  expressRateLimit8,
} from "./presets/express-rate-limit.ts";
import { fastify } from "./presets/fastify.ts";
import { github } from "./presets/github.ts";
import { gitlab } from "./presets/gitlab.ts";
import { ietf06, ietf07, ietf11 } from "./presets/ietf.ts";
import { kong } from "./presets/kong.ts";
import { linear } from "./presets/linear.ts";
import { nginx } from "./presets/nginx.ts";
import { okta } from "./presets/okta.ts";
import { openai } from "./presets/openai.ts";
import { shopifyGraphql } from "./presets/shopify-graphql.ts";
import { shopifyRest } from "./presets/shopify-rest.ts";
import { slack } from "./presets/slack.ts";
import { springCloudGateway } from "./presets/spring-cloud-gateway.ts";
import { stripe } from "./presets/stripe.ts";
import { traefik } from "./presets/traefik.ts";
import { x } from "./presets/x.ts";
import { policyOf } from "./shorthand.ts";
import type { WireData } from "./wire-data.ts";
import { wireSchema } from "./wire-schema.ts";

export const presets: Readonly<Record<string, Preset>> = {
  anthropic,
  buildkite: { ...buildkiteAnswers, policy: policyOf(parseRules({})) },
  discord,
  "docker-hub": dockerHub,
  "envoy-filter": envoyFilter,
  "envoy-json": envoyJson,
  "express-rate-limit": expressRateLimit,
  "express-rate-limit-6": expressRateLimit6,
  "express-rate-limit-7": expressRateLimit7,
  "express-rate-limit-8": expressRateLimit8,
  fastify,
  github,
  gitlab,
  "ietf-06": ietf06,
  "ietf-07": ietf07,
  "ietf-11": ietf11,
  kong,
  linear,
  nginx,
  okta,
  openai,
  "shopify-graphql": shopifyGraphql,
  "shopify-rest": shopifyRest,
  slack,
  "spring-cloud-gateway": springCloudGateway,
  stripe,
  traefik,
  x,
};

const read = new Map<string, WireData>();

/** Returns a policy's wire format, with every default filled in. */
export function wireOf({ wire }: Pick<Policy, "wire">): WireData {
  if (typeof wire !== "string") return wire;
  const known = read.get(wire);
  if (known !== undefined) return known;
  const data = v.parse(wireSchema, presets[wire]?.wire) as WireData;
  read.set(wire, data);
  return data;
}
