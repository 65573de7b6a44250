// A call template as an HTTP request, with all parts that are the same for each call.

import { dearer } from "../policy/dearer.ts";
import { credentialOf, filled, statusRequest } from "../policy/match.ts";
import type { Policy } from "../policy/policy.ts";
import { actualHeader, costHeader } from "../policy/policy.ts";
import { callPath, callQuery } from "../scenario/calls.ts";
import type { CallTemplate } from "../scenario/client.ts";
import { graphqlPath, policyCall, sampleOf } from "../scenario/policy-calls.ts";
import type { Caller } from "./callers.ts";

export interface Addresses {
  /** URL that paths are appended to, without a slash at its end. */
  readonly base: string;
  readonly graphqlUrl: string;
}

/** Returns the URL for queries, unless a run names another. */
export function graphqlUrlAt(base: string, policy: Policy | undefined): string {
  return base + ((policy === undefined ? null : graphqlPath(policy)) ?? "/v1/graphql");
}

/** Parts that all calls of one template by one caller share. */
export interface RequestParts {
  readonly method: CallTemplate["method"];
  /** `null` if it depends on the page (`pageUrl`). */
  readonly url: string | null;
  readonly body: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns the parts. `headers` hold the token: never write them down.
 * @param policy says how a caller authenticates, and what an operation's calls look like. Default: the default API
 */
export function requestParts(
  template: CallTemplate,
  caller: Caller,
  addresses: Addresses,
  policy?: Policy,
): RequestParts {
  const isQuery = template.scope === "graphql";
  const sample = policy === undefined ? null : partsOf(policy, template, caller);
  const body = isQuery ? JSON.stringify({ query: callQuery(template, caller.organization) }) : sample?.body;
  const status =
    policy === undefined || template.kind !== "status"
      ? null
      : statusRequest(policy, caller.attributes ?? {});
  const auth = policy?.auth ?? { header: "Authorization", form: "Bearer {token}" };
  return {
    method: (status?.method as CallTemplate["method"] | undefined) ?? template.method,
    url: isQuery
      ? addresses.graphqlUrl
      : status === null
        ? fixedUrl(template, caller, addresses)
        : addresses.base + status.path,
    body: body ?? null,
    headers: {
      [auth.header]: credentialOf(auth, caller.token),
      ...(body == null ? {} : { "Content-Type": "application/json" }),
      ...sample?.headers,
      ...template.headers,
    },
  };
}

/** Returns headers and body as the operation's sample has them, with the declared cost in both, and the one in the end. */
function partsOf(
  policy: Policy,
  template: CallTemplate,
  caller: Caller,
): { readonly body: string | null; readonly headers: Readonly<Record<string, string>> } {
  const { operation } = policyCall(policy, template, caller);
  const costs = Object.values(policy.operations[operation]?.uses ?? {});
  const isDeclared = costs.includes("declared");
  const isTold =
    costs.some((cost) => typeof cost === "object") || (isDeclared && template.actual !== template.cost);
  const sample = sampleOf(policy, operation, template);
  const asked = sample !== undefined && isDeclared ? dearer(sample, template.cost) : sample;
  const isBodied = template.method !== "GET" && template.method !== "HEAD";
  const body = isBodied ? asked?.body : undefined;
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  return {
    body: text === undefined ? null : filled(text, caller.attributes ?? {}),
    headers: {
      ...sample?.headers,
      ...(isDeclared ? { [costHeader]: String(template.cost) } : {}),
      ...(isTold ? { [actualHeader]: String(template.actual) } : {}),
    },
  };
}

function fixedUrl(template: CallTemplate, caller: Caller, addresses: Addresses): string | null {
  const url = pageUrl(template, caller, addresses, 1);
  return url === pageUrl(template, caller, addresses, 2) ? url : null;
}

/** Returns the URL of a REST call for one page. */
export function pageUrl(
  template: CallTemplate,
  { organization }: Caller,
  { base }: Addresses,
  page: number,
): string {
  return base + callPath(template, organization, page);
}
