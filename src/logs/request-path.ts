// Reads a request's path: the organization that it names, and whether it is the status endpoint or GraphQL's.

import { defaultGraphqlPath, defaultStatusPath } from "./choices.ts";

/** Placeholder of the organization in a template. */
const wildcard = ":organization";

const organizationPrefix = "/v2/organizations/";

const [slash, question, hash, colon] = [0x2f, 0x3f, 0x23, 0x3a] as const;
const encoder = new TextEncoder();

const PLAIN_PATH = 0;
export const GRAPHQL_PATH = 1;
export const STATUS_PATH = 2;

/** Reads paths and URLs; query, fragment and a trailing slash change nothing (SPEC.md §1). */
export class RequestPath {
  /** Place of the path read last, without scheme, host, query, fragment and final slash. */
  pathFrom = 0;
  pathTo = 0;
  /** Place of the organization's slug in the path read last; empty if the path names none. */
  organizationFrom = 0;
  organizationTo = 0;
  readonly #graphql: Uint8Array;
  readonly #statusHead: Uint8Array;
  /** Text that follows the organization; `null` if the status path names none. */
  readonly #statusTail: Uint8Array | null;
  readonly #prefix = encoder.encode(organizationPrefix);

  constructor(statusPath: string = defaultStatusPath, graphqlPath: string = defaultGraphqlPath) {
    const [head = "", tail] = trimmed(statusPath).split(wildcard);
    this.#graphql = encoder.encode(trimmed(graphqlPath));
    this.#statusHead = encoder.encode(head);
    this.#statusTail = tail === undefined ? null : encoder.encode(tail);
  }

  /** @returns `GRAPHQL_PATH`, `STATUS_PATH`, or another number for any other path */
  read(view: DataView, start: number, end: number): number {
    const from = view.getUint8(start) === slash ? start : pathOf(view, start, end);
    const to = endOf(view, from, end);
    this.pathFrom = from;
    this.pathTo = to;
    this.organizationFrom = this.organizationTo = 0;
    if (isAt(this.#graphql, view, from, to)) return GRAPHQL_PATH;
    if (begins(this.#prefix, view, from, to)) {
      this.organizationFrom = from + this.#prefix.length;
      this.organizationTo = segmentEnd(view, this.organizationFrom, to);
    }
    return this.#isStatus(view, from, to) ? STATUS_PATH : PLAIN_PATH;
  }

  #isStatus(view: DataView, from: number, to: number): boolean {
    if (this.#statusTail === null) return isAt(this.#statusHead, view, from, to);
    if (!begins(this.#statusHead, view, from, to)) return false;
    const slug = from + this.#statusHead.length;
    const after = segmentEnd(view, slug, to);
    if (after === slug || !isAt(this.#statusTail, view, after, to)) return false;
    this.organizationFrom = slug;
    this.organizationTo = after;
    return true;
  }
}

/** Returns a path, or a pattern of paths, without slashes at its end; the root stays. */
export const trimmed = (path: string): string => path.replace(/(?<=.)\/+$/, "");

/** Returns the place behind `https://host`, if the text begins so. */
function pathOf(view: DataView, from: number, to: number): number {
  for (let at = from; at + 2 < to && at < from + 12; at++)
    if (view.getUint8(at) === colon && view.getUint8(at + 1) === slash && view.getUint8(at + 2) === slash)
      return segmentEnd(view, at + 3, to);
  return from;
}

function endOf(view: DataView, from: number, to: number): number {
  let end = from;
  for (; end < to; end++) {
    const byte = view.getUint8(end);
    if (byte === question || byte === hash) break;
  }
  while (end > from + 1 && view.getUint8(end - 1) === slash) end -= 1;
  return end;
}

function segmentEnd(view: DataView, from: number, to: number): number {
  let at = from;
  while (at < to && view.getUint8(at) !== slash) at += 1;
  return at;
}

function begins(bytes: Uint8Array, view: DataView, from: number, to: number): boolean {
  if (to - from < bytes.length) return false;
  for (let index = 0; index < bytes.length; index++)
    if (view.getUint8(from + index) !== bytes[index]) return false;
  return true;
}

const isAt = (bytes: Uint8Array, view: DataView, from: number, to: number): boolean =>
  to - from === bytes.length && begins(bytes, view, from, to);
