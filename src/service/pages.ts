// Pages of a list: `page` and `per_page` as clients write them, `Link` as they follow it (RFC 8288).

const PER_PAGE_DEFAULT = 30;
const PER_PAGE_MOST = 100;

/** Which part of a list is asked for. */
export interface PageRequest {
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
}

const wholeFrom1 = (text: string | null): number | null =>
  text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;

/** Reads the page that is asked for. No whole number from 1 counts as not given; more than 100 a page are 100. */
export function pageRequest(query: URLSearchParams): PageRequest {
  return {
    page: wholeFrom1(query.get("page")) ?? 1,
    perPage: Math.min(wholeFrom1(query.get("per_page")) ?? PER_PAGE_DEFAULT, PER_PAGE_MOST),
  };
}

/**
 * The `Link` header of a page: `first`, `prev`, `next` and `last`, each where there is one; the other query
 * parameters stay. `null` where one page holds everything.
 * @param url the list's URL, without a query
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
