// Calls on their way, from sending to receipt. Each has two lines of the processor's cache: the call in the first, its
// answer in the second. Few calls of many clients are on their way at once, so that all flights stay in the cache;
// planned calls wait elsewhere (`planned-table.ts`).
//
//   as doubles   |    0    |    1    |    2    |    3    |   4    |   5   |  6   |     7      | 8 to 15: the answer
//                |         |         |         |         | wanted | delay | sent | retryAfter |
//   as integers  |  0 | 1  |  2 | 3  |  4 | 5  |  6 | 7  |
//                client    number    status    page
//                 template  attempt   shown     back

import { RowTable } from "./row-table.ts";

/** Number of doubles per flight; the constants below are their places. */
export const DOUBLES = 16;
/** Times and delay, as in the events of `src/scenario/client.ts`: `WANTED` and `SENT` are ms since the epoch. */
export const WANTED = 4;
export const DELAY = 5;
export const SENT = 6;
/** Values of headers: seconds, requests or points; `ABSENT` if a header is missing. */
export const RETRY_AFTER = 7;
export const LIMIT = 8;
export const REMAINING = 9;
export const RESET = 10;
export const USER_LIMIT = 11;
export const USER_REMAINING = 12;
export const USER_RESET = 13;
/** Windows that a running query was charged to (`PolicyCore.windowOf`). */
export const ORGANIZATION_WINDOW = 14;
export const USER_WINDOW = 15;
/** Resets in the body of a status answer, s, in the same place; NaN if the body shows none. */
export const REST_RESET = 14;
export const GRAPHQL_RESET = 15;

/** Under a policy, units that a decided call asks of the quotas in `LIMIT` and `USER_LIMIT`, in the same place. */
export const COST = 14;
export const USER_COST = 15;

/** Number of integers per flight; the constants below are their places. */
export const INTS = 32;
export const CLIENT = 0;
/** Place of the call among its behaviour's calls. */
export const TEMPLATE = 1;
/** Number of the call among its client's calls, given at sending. */
export const NUMBER = 2;
export const ATTEMPT = 3;
/** HTTP status; 0 without an answer. */
export const STATUS = 4;
/** Flags of the answer: the refuser (`REFUSER`), and the flags from `SHOWS_ORGANIZATION` on. */
export const SHOWN = 5;
/** Mask of the bits of `SHOWN` that hold one of these: nobody refused, or the owner that a refusal names. */
export const REFUSER = 3;
export const ADMITTED = 0;
export const REFUSED_BY_ORGANIZATION = 1;
export const REFUSED_BY_USER = 2;
export type Refuser = typeof ADMITTED | typeof REFUSED_BY_ORGANIZATION | typeof REFUSED_BY_USER;
/** The headers show a reset of the organization's window, or of the user's window, of the call's scope. */
export const SHOWS_ORGANIZATION = 4;
export const SHOWS_USER = 8;
/** One of the eight headers came. */
export const SHOWS_HEADERS = 16;
export const SHOWS_ALL = SHOWS_ORGANIZATION | SHOWS_USER | SHOWS_HEADERS;
/** No quota counts this answer (`other` in traces). */
export const UNCOUNTED = 32;
/** No limiter made this answer: there is none (status 0), or it is a 503 of the limiter's surroundings. */
export const UNDECIDED = 64;
/** Under a policy, the bits from here on are the place of the quota that refused, plus 1; 0 if none did. */
const REFUSING_BITS = 8;
/** Returns the flags that name a quota that refused, or none (negative). */
export const refusedByQuota = (quota: number): number => (quota + 1) << REFUSING_BITS;
/** Returns the place of the quota that refused under a policy; negative if none did. */
export const refusingQuota = (shown: number): number => (shown >> REFUSING_BITS) - 1;
/** Tells whether the deployment decided a call; a 5xx without any of the eight headers comes from in front of it. */
export const isAnswered = (status: number, shown: number): boolean =>
  status !== 0 && (status < 500 || (shown & SHOWS_HEADERS) !== 0);
/** Page that the behaviour gave; 0 if the call has no pages. */
export const PAGE = 6;
/** Time of the answer's way back, ms, if drawn together with the way there. */
export const BACK = 7;

export class FlightTable extends RowTable {
  constructor() {
    super(DOUBLES);
  }
}
