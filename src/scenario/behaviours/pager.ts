// Reads a list to its end, page after page, as exporters and synchronizers do.
import { type Behaviour, type CallTemplate, type ClientOut, STARTED } from "../client.ts";
import { type Duration, Mistakes } from "../mistakes.ts";
import { nextTick } from "../ticks.ts";

export interface PagerOptions {
  /** Call for one page. Its path gets `page` and `per_page`. */
  readonly call: CallTemplate;
  /** Greatest number of pages to read, at least 1. */
  readonly pages: number;
  /** Number of entries on a page, 1 to 100. Default: 30. */
  readonly perPage?: number;
  /** Number of pages to ask for at once, once the first page shows that there are more. Default: 1. */
  readonly parallel?: number;
  /** Time between readings of the list, counted from the client's start. Default: one reading only. */
  readonly every?: Duration;
  /** Number of entries that the simulator's list has. Default: no end, so no page is the last. */
  readonly entries?: number;
}

type PagerRecord = {
  /** Next page to ask for, from 1. */
  page: number;
  /** Number of pages asked for and not answered yet. */
  open: number;
  /** 1 if no further page is to be asked for. */
  ended: number;
  /** Time at which the current reading was due, ms since the epoch. */
  dueMs: number;
};

/**
 * Asks for page 1. While answers show a next page, it asks for those up to `pages`, `parallel` at a time. A page
 * without a next one ends the reading: the last page, a refusal given up, or no answer. Pages on the way are still
 * read. With `every` the list is read again at the first tick after the end; without it the client ends. Page 1 is
 * wanted at its tick, a later page when it is asked for.
 */
export function pager(options: PagerOptions): Behaviour<PagerRecord> {
  const { call, pages, parallel, everyMs } = checked(options);
  const ask = (record: PagerRecord, out: ClientOut, most: number, atMs: number): void => {
    while (record.open < most && record.page <= pages) {
      out.send(0, atMs, record.page);
      record.page += 1;
      record.open += 1;
    }
  };
  return {
    name: "pager",
    calls: [call],
    inFlightMost: parallel,
    start: () => ({ page: 1, open: 0, ended: 0, dueMs: 0 }),
    next(record, event, out) {
      if (event.kind === STARTED) {
        record.dueMs = event.nowMs;
        return ask(record, out, 1, event.nowMs);
      }
      record.open -= 1;
      if (!event.hasNextPage) record.ended = 1;
      if (record.ended === 0) ask(record, out, parallel, event.nowMs);
      if (record.open > 0) return;
      if (everyMs === null) return out.stop();
      record.page = 1;
      record.ended = 0;
      record.dueMs = nextTick(record.dueMs, everyMs, event.nowMs);
      ask(record, out, 1, record.dueMs);
    },
  };
}

function checked(options: PagerOptions): {
  call: CallTemplate;
  pages: number;
  parallel: number;
  everyMs: number | null;
} {
  const mistakes = new Mistakes();
  mistakes.options("pager", options, ["call", "pages", "perPage", "parallel", "every", "entries"]);
  const { call, every, entries } = options;
  mistakes.call("pager.call", call);
  const perPage = mistakes.whole("pager.perPage", options.perPage ?? 30, 1, 100);
  const pages = mistakes.whole("pager.pages", options.pages, 1, 1_000_000);
  const parallel = mistakes.whole("pager.parallel", options.parallel ?? 1, 1, 100);
  const everyMs = every === undefined ? null : mistakes.duration("pager.every", every, 1);
  if (entries !== undefined) mistakes.whole("pager.entries", entries, 0, Number.MAX_SAFE_INTEGER);
  mistakes.finish("this pager cannot be made");
  const separator = call.path.includes("?") ? "&" : "?";
  const paged = { ...call, path: `${call.path}${separator}page=:page&per_page=${perPage}` };
  return {
    call: entries === undefined ? paged : { ...paged, lastPage: Math.max(1, Math.ceil(entries / perPage)) },
    pages,
    parallel,
    everyMs,
  };
}
