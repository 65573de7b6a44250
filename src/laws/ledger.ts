// The ledger by rules: it keeps a book of every window of a history. If the rules leave something open, it believes
// the limiter.
import { limitOf, quotaFor, windowMsOf } from "../policy/effective.ts";
import { quotaNames, scopeOf } from "../policy/names.ts";
import type { FixedWindow, Policy, Quota } from "../policy/policy.ts";
import type {
  CallerAttributes,
  QuotaCallEvent,
  QuotaCallOp,
  QuotaEvent,
  QuotaScript,
  SaidReading,
} from "./quotas/script.ts";
import type { LedgerTerms } from "./script.ts";
import {
  countShown,
  gridOf,
  type Look,
  nameOfCount,
  type QuotaKey,
  type ShownCount,
  type Sight,
} from "./sight.ts";
import { type CountSpan, exactly, type Held, WindowBook } from "./window-book.ts";

interface Book extends QuotaKey {
  readonly name: string;
  readonly rule: Quota;
  readonly limit: number;
  readonly window: WindowBook;
}

/** Effect of an operation on a count. */
interface Charged {
  readonly charge: CountSpan | null;
  readonly givenBack: number;
}

const nothing: Charged = { charge: null, givenBack: 0 };

/** Keeps the books of one history; `look` takes its events in order. */
export class RulesLedger {
  readonly #policy: Policy;
  readonly #terms: LedgerTerms;
  /** Time of the first operation, at which the limiter is made, ms. */
  readonly #madeMs: number;
  readonly #books = new Map<string, Book>();
  /** Books that a call uses, by operation and caller. */
  readonly #booksOfCalls = new Map<string, readonly Book[]>();
  readonly #enforced = new Map<string, boolean>();
  readonly #held = new Map<number, ReadonlyMap<string, Held>>();
  #floorMs = 0;
  #at = -1;

  constructor({ policy, ops }: Pick<QuotaScript, "policy" | "ops">, terms: LedgerTerms) {
    this.#policy = policy;
    this.#terms = terms;
    this.#madeMs = ops[0]?.atMs ?? 0;
  }

  /** Returns the windows that an event touches or shows, the organization's first. */
  look(event: QuotaEvent): Look {
    this.#at += 1;
    return { at: this.#at, event, sights: this.#sights(event), answer: null };
  }

  #sights(event: QuotaEvent): readonly Sight[] {
    const { op } = event;
    if ("admitted" in event) return this.#call(event);
    if (op.do === "settle" && "call" in event)
      return event.call === null ? [] : this.#completion(event, event.call, op.actual);
    if (op.do === "status" && "said" in event)
      return (event.said.readings ?? []).map((reading) => this.#status(event, reading, op.caller));
    if (op.do === "enforce") this.#enforced.set(this.#book(op.quota, op.caller).name, op.enforced);
    if (op.do === "sweep") this.#floorMs = Math.max(this.#floorMs, op.atMs);
    return [];
  }

  #booksOf({ caller, operation }: QuotaCallOp): readonly Book[] {
    const { organization = "", user } = caller;
    const name = `${operation} ${organization.length} ${organization}/${user}`;
    const known = this.#booksOfCalls.get(name);
    if (known !== undefined) return known;
    const books = Object.keys(this.#policy.operations[operation]?.uses ?? {}).map((quota) =>
      this.#book(quota, caller),
    );
    const own = this.#terms.keyed === true ? books.filter(isUsers) : books;
    this.#booksOfCalls.set(name, own);
    return own;
  }

  #call(event: QuotaCallEvent): readonly Sight[] {
    const { op } = event;
    const held = new Map<string, Held>();
    const sights = this.#booksOf(op).map((book) => {
      const reading = readingOf(event, book.quota);
      return this.#sight(event, book, reading, (window) => {
        const charge = chargeOf(book, event) ?? this.#openingOf(book, event);
        if (!this.#mayRefuse(book)) window.unenforced = true;
        window.count(charge, reading.resetAtMs ?? null);
        held.set(book.name, window.held);
        return { charge, givenBack: 0 };
      });
    });
    this.#held.set(op.id, held);
    return sights;
  }

  /** Returns a charge of 0 for a call that can never fit: a limiter by key may open a window for it. Else `null`. */
  #openingOf({ limit }: Book, { op, admitted }: QuotaCallEvent): CountSpan | null {
    return this.#terms.keyed === true && !admitted && op.cost > limit ? exactly(0) : null;
  }

  #completion(event: QuotaEvent, call: QuotaCallOp, actual: number): readonly Sight[] {
    return this.#booksOf(call).map((book) => {
      const reading = readingOf(event, book.quota);
      const held = this.#held.get(call.id)?.get(book.name) ?? { window: null, sure: true };
      const { when } = book.rule.charge;
      return this.#sight(event, book, reading, (window) => {
        const charge = when === "completion" ? window.late(actual, held) : null;
        const givenBack = when === "reserve-settle" ? window.giveBack(call.cost - actual, held) : 0;
        window.count(charge, reading.resetAtMs ?? null);
        return { charge, givenBack };
      });
    });
  }

  /** Reads a copy of the book, since a status reading moves no window's clock (SPEC.md §2.8). */
  #status(event: QuotaEvent, reading: SaidReading, caller: CallerAttributes): Sight {
    const { keyed = false } = this.#terms;
    const book = this.#book(keyed ? quotaNames[scopeOf(reading.quota)].user : reading.quota, caller);
    const { window } = book;
    const sight = this.#sight(event, { ...book, window: window.copy() }, reading, () => nothing);
    if (sight.window !== null && sight.window === window.window) window.shown = sight.current ?? window.shown;
    return sight;
  }

  #sight(
    event: QuotaEvent,
    book: Book,
    reading: SaidReading,
    happen: (window: WindowBook) => Charged,
  ): Sight {
    const { quota, key, name, rule, limit, window } = book;
    const clockMs = window.advance(event.op.atMs, this.#floorMs);
    const { span: before, charged, shown: last, ended } = window;
    const wasOpen = window.untilMs !== null || window.doubtUntilMs > 0;
    const { charge, givenBack } = happen(window);
    const current = countShown(reading, rule);
    window.shown = current;
    const { span: after, lengthMs, lateMs, untilMs } = window;
    const sure = window.doubtUntilMs === 0;
    const isEnforced = this.#mayRefuse(book);
    return {
      quota,
      key,
      name,
      at: this.#at,
      event,
      rule,
      limit,
      lengthMs,
      lateMs,
      clockMs,
      found:
        "admitted" in event ? foundBy(reading, book, event, current, charge, sure ? before : null) : null,
      before,
      after,
      charge,
      givenBack,
      sure,
      fresh: !charged,
      isRenewed: !charged && ended > 0,
      opened: !wasOpen && untilMs !== null,
      window: window.window,
      untilMs,
      isEnforced,
      mayPass: !isEnforced || window.unenforced,
      current,
      last: last === null ? null : last - givenBack,
      shown: shownBy(reading, limit, sure ? after : null),
    };
  }

  #mayRefuse({ name, rule, key }: Book): boolean {
    const { enforced } = rule;
    if (typeof enforced === "object") return this.#mayRefuse(this.#book(enforced.with, key));
    return this.#enforced.get(name) ?? enforced !== false;
  }

  #book(quota: string, caller: CallerAttributes): Book {
    const own = this.#policy.quotas[quota]?.key ?? [];
    const key = Object.fromEntries(own.map((name) => [name, caller[name] ?? ""]));
    const name = nameOfCount({ quota, key });
    const known = this.#books.get(name);
    if (known !== undefined) return known;
    const { opensToMs = 1000, endsLate = false, fromStart = false } = this.#terms;
    const given = quotaFor(this.#policy, quota, key);
    const { algorithm } = given;
    const lengthMs = windowMsOf(given);
    const anchor = { offsetMs: this.#madeMs % lengthMs };
    const rule = fromStart ? { ...given, algorithm: { ...(algorithm as FixedWindow), anchor } } : given;
    const window = new WindowBook(lengthMs, gridOf(rule), opensToMs, endsLate ? 1 : 0);
    const book = { quota, key, name, rule, limit: limitOf(algorithm), window };
    this.#books.set(name, book);
    return book;
  }
}

const isUsers = ({ key }: Book): boolean => key["user"] !== undefined;

function readingOf(event: QuotaEvent, quota: string): SaidReading {
  const readings = "said" in event ? event.said.readings : undefined;
  return readings?.find((reading) => reading.quota === quota) ?? { quota };
}

/** Returns what a decision charges to one of its windows (SPEC.md §2.2, §2.3, §8); `null` if it counts nothing. */
function chargeOf({ quota, rule }: Book, { op, admitted, refusedBy }: QuotaCallEvent): CountSpan | null {
  const { when, refused, refusedByOther } = rule.charge;
  if (admitted) return when === "completion" ? null : exactly(op.cost);
  const [own, other] = [refused === "counted", refusedByOther === "charged"];
  if ((refusedBy ?? null) === null) return own || other ? { least: 0, most: op.cost } : null;
  return (refusedBy === quota ? own : other) ? exactly(op.cost) : null;
}

/** Returns the count before a call: from the call's own reading if that shows the count, else from the book. */
function foundBy(
  reading: SaidReading,
  { rule, limit }: Book,
  { op }: QuotaCallEvent,
  current: number | null,
  charge: CountSpan | null,
  before: CountSpan | null,
): Sight["found"] {
  const { least, most } = charge ?? exactly(0);
  const used = current === null ? before : { least: current - most, most: current - least };
  const needed = rule.charge.fits === "whole" ? op.cost : 1;
  return { used, limit: reading.limit ?? limit, needed, roomAtMs: null };
}

/** Returns the numbers that a reading shows of a window; none if it shows nothing. */
function shownBy(reading: SaidReading, limit: number, used: CountSpan | null): ShownCount[] {
  if (Object.values(reading).every((member, at) => at === 0 || member === undefined)) return [];
  const right = { limit, remaining: null, used, reset: null };
  return [
    {
      by: "said",
      name: "current",
      limit: reading.limit ?? null,
      remaining: reading.remaining ?? null,
      used: reading.used ?? null,
      reset: reading.resetAtMs ?? null,
      seconds: reading.reset ?? null,
      right,
    },
  ];
}
