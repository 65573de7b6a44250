// Pages of a list: reads `page` and `per_page` of queries, and writes the `Link` header (RFC 8288).

const PER_PAGE_DEFAULT = 30;
const PER_PAGE_MOST = 100;

/** The part of a list that a query requests. */
export interface PageRequest {
  /** Number of the page, from 1. */
  readonly page: number;
  readonly perPage: number;
}

const wholeFrom1 = (text: string | null): number | null =>
  text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;

/** Reads the requested page. Anything but a whole number from 1 counts as absent; more than 100 a page become 100. */
export function pageRequest(query: URLSearchParams): PageRequest {
  return {
    page: wholeFrom1(query.get("page")) ?? 1,
    perPage: Math.min(wholeFrom1(query.get("per_page")) ?? PER_PAGE_DEFAULT, PER_PAGE_MOST),
  };
}

/**
 * Returns the `Link` header of a page, with those of `first`, `prev`, `next` and `last` that exist. It keeps the
 * query's other parameters. Returns `null` if one page holds everything.
 * @param url URL of the list, without a query
 */
export function linkHeader(
  url: string,
  query: URLSearchParams,
  { page, perPage }: PageRequest,
  total: number,
): string | null {
  const last = Math.max(1, Math.ceil(total / perPage));
  const link = (relation: string, to: number): string => {
    const parameters = new URLSearchParams(query);
    parameters.set("page", String(to));
    parameters.set("per_page", String(perPage));
    return `<${url}?${parameters}>; rel="${relation}"`;
  };
  const links: string[] = [];
  if (page > 1) links.push(link("first", 1), link("prev", Math.min(page - 1, last)));
  if (page < last) links.push(link("next", page + 1), link("last", last));
  return links.length > 0 ? links.join(", ") : null;
}
