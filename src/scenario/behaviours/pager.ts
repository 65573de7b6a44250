// Reads a list to its end, page after page, as exporters and synchronizers do.
import { type Behaviour, type CallTemplate, type ClientOut, STARTED } from "../client.ts";
import { type Duration, Mistakes } from "../mistakes.ts";
import { nextTick } from "../ticks.ts";

export interface PagerOptions {
  /** Its path gets `page` and `per_page`. */
  readonly call: CallTemplate;
  /** The most pages to read, from 1. */
  readonly pages: number;
  /** Entries on a page, 1 to 100; 30 where it is left out. */
  readonly perPage?: number;
  /** Number of pages to ask for at once, when the first one has shown that there are more; 1 where it is left out. */
  readonly parallel?: number;
  /** Reads the list again every so long, counted from the client's start; once where it is left out. */
  readonly every?: Duration;
  /** Number of entries that the simulator lets there be; without it no page is ever the last. */
  readonly entries?: number;
}

type PagerRecord = {
  /** The page to ask for next, from 1. */
  page: number;
  /** Pages asked for and not answered yet. */
  open: number;
  /** 1 when no further page is to be asked for. */
  ended: number;
  /** When the current reading was due. */
  dueMs: number;
};

/**
 * Asks for page 1; while an answer says that there is a next page, and up to `pages`, for the pages after it,
 * `parallel` of them at a time. A page that comes without a next one (the last, or a refusal given up, or no
 * answer) ends the reading; pages on the way then are still read. With `every` the list is read again at the
 * first tick after that, else the client is over. Page 1 is wanted at its tick, a later page when it is asked for.
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
