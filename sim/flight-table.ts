// Calls on their way, from sending to receipt: two lines of the processor's cache each, the call in the first one and its
// answer in the second. Few calls of many clients are on their way at once, so that all flights stay in the cache; those
// that are planned wait elsewhere (`planned-table.ts`).
//
//   as doubles   |    0    |    1    |    2    |    3    |   4    |   5   |  6   |     7      | 8 to 15: the answer
//                |         |         |         |         | wanted | delay | sent | retryAfter |
//   as integers  |  0 | 1  |  2 | 3  |  4 | 5  |  6 | 7  |
//                client    number    status    page
//                 template  attempt   shown     back

import { RowTable } from "./row-table.ts";

/** Doubles a flight, and where each of its numbers is. */
export const DOUBLES = 16;
/** Ms since the epoch, as the event of `src/scenario/client.ts` has them. */
export const WANTED = 4;
export const DELAY = 5;
export const SENT = 6;
/** Seconds, requests and points as the headers show them, `ABSENT` where they do not. */
export const RETRY_AFTER = 7;
export const LIMIT = 8;
export const REMAINING = 9;
export const RESET = 10;
export const USER_LIMIT = 11;
export const USER_REMAINING = 12;
export const USER_RESET = 13;
/** While a query runs, the windows that it was charged to: `PolicyCore.windowOf`. */
export const ORGANIZATION_WINDOW = 14;
export const USER_WINDOW = 15;
/** In their place, of a status call's answer: the seconds that its body shows, NaN where it shows none. */
export const REST_RESET = 14;
export const GRAPHQL_RESET = 15;

/** In its place, of an answer by a policy: the place of the quota that refused, below 0 where none did. */
export const REFUSING = 14;

/** Integers a flight, and where each is. */
export const INTS = 32;
/** Who calls: its place in the client table. */
export const CLIENT = 0;
/** Which of its behaviour's calls. */
export const TEMPLATE = 1;
/** The client's running number, given when it is sent. */
export const NUMBER = 2;
export const ATTEMPT = 3;
/** HTTP status; 0 where no answer came. */
export const STATUS = 4;
/** Who refused, and what else the answer shows: flags, 0 where there is no answer. */
export const SHOWN = 5;
/** The bits of `SHOWN` that are one of these: nobody refused, or whose window a refusal names. */
export const REFUSER = 3;
export const ADMITTED = 0;
export const REFUSED_BY_ORGANIZATION = 1;
export const REFUSED_BY_USER = 2;
export type Refuser = typeof ADMITTED | typeof REFUSED_BY_ORGANIZATION | typeof REFUSED_BY_USER;
/** The headers show a reset of the organization's, of the user's window of the scope that was called. */
export const SHOWS_ORGANIZATION = 4;
export const SHOWS_USER = 8;
/** One of the eight headers came. */
export const SHOWS_HEADERS = 16;
export const SHOWS_ALL = SHOWS_ORGANIZATION | SHOWS_USER | SHOWS_HEADERS;
/** No quota counts this answer (`other` in traces). */
export const UNCOUNTED = 32;
/** The limiter has no part in this answer, if it is one: 0, or a 503 of what stands around the limiter. */
export const UNDECIDED = 64;
/** True if the deployment decided a call; a 5xx without any of the eight headers came from before it. */
export const isAnswered = (status: number, shown: number): boolean =>
  status !== 0 && (status < 500 || (shown & SHOWS_HEADERS) !== 0);
/** As the behaviour gave it; 0 where pages make no sense. */
export const PAGE = 6;
/** Ms that the answer will travel, where that is drawn together with the way there. */
export const BACK = 7;

export class FlightTable extends RowTable {
  constructor() {
    super(DOUBLES);
  }
}
