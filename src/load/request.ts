// A call template as an HTTP request, with all that does not change from call to call.
import { callPath, callQuery } from "../scenario/calls.ts";
import type { CallTemplate } from "../scenario/client.ts";
import type { Caller } from "./callers.ts";

/** Addresses of a run's calls. */
export interface Addresses {
  /** URL that paths are appended to, without a slash at its end. */
  readonly base: string;
  readonly graphqlUrl: string;
}

/** Parts that all calls of one template by one caller share. */
export interface RequestParts {
  readonly method: CallTemplate["method"];
  /** `null` where it depends on the page (`pageUrl`). */
  readonly url: string | null;
  readonly body: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** The token stands in `headers`: never write them down. */
export function requestParts(template: CallTemplate, caller: Caller, addresses: Addresses): RequestParts {
  const isQuery = template.scope === "graphql";
  return {
    method: template.method,
    url: isQuery ? addresses.graphqlUrl : fixedUrl(template, caller, addresses),
    body: isQuery ? JSON.stringify({ query: callQuery(template, caller.organization) }) : null,
    headers: {
      Authorization: `Bearer ${caller.token}`,
      ...(isQuery ? { "Content-Type": "application/json" } : {}),
      ...template.headers,
    },
  };
}

function fixedUrl(template: CallTemplate, caller: Caller, addresses: Addresses): string | null {
  const url = pageUrl(template, caller, addresses, 1);
  return url === pageUrl(template, caller, addresses, 2) ? url : null;
}

/** The URL of a REST call for one page. */
export function pageUrl(
  template: CallTemplate,
  { organization }: Caller,
  { base }: Addresses,
  page: number,
): string {
  return base + callPath(template, organization, page);
}
