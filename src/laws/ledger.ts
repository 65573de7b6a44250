// The property's own ledger: the book of every window of a history, and each operation seen as sights, one
// window as it stood just before and just after it. Laws read sights; they know no other model.
import type { PartialDecision } from "../engine/adapter.ts";
import {
  type Owner,
  organizationLimit,
  type Rules,
  type Scope,
  type Semantics,
  semanticsOf,
  userLimit,
} from "../rules/rules.ts";
import { type History, type HistoryEvent, type PartialReading, statusReadings } from "./history.ts";
import type { CallOp, LedgerTerms } from "./script.ts";
import { type CountSpan, exactly, type Held, WindowBook } from "./window-book.ts";

/** Which window: an organization's (`user` null) or one user's, of one scope. */
export interface WindowKey {
  readonly organization: string;
  readonly user: string | null;
  readonly scope: Scope;
}

/** One window at one operation. */
export interface Sight extends WindowKey {
  /** Index of the operation in the history. */
  readonly at: number;
  readonly event: HistoryEvent;
  readonly owner: Owner;
  /** Reading that the limiter showed. `{}` if it showed none. */
  readonly reading: PartialReading;
  /** The count that it showed: `current`, or what `remaining` says of it. */
  readonly current: number | null;
  readonly semantics: Semantics;
  /** The rules' limit. */
  readonly limit: number;
  readonly lengthMs: number;
  /** 1 where the instant at which a window ends still belongs to it, else 0. */
  readonly lateMs: number;
  /** The time that counts for this window: never earlier than one its calls have seen (SPEC.md §2.8). */
  readonly clockMs: number;
  /** The operation's own time was earlier than that. */
  readonly steppedBack: boolean;
  /** Charges of the window before this operation, and after it. */
  readonly before: CountSpan;
  readonly after: CountSpan;
  /** Charge of this operation itself. `null` if it counts nothing. */
  readonly charge: CountSpan | null;
  /** Points that this operation gave back. */
  readonly givenBack: number;
  /** Nothing had been charged in this window before. */
  readonly fresh: boolean;
  /** Number of earlier windows of this key that have ended. */
  readonly ended: number;
  /** The window that the reading belongs to, `null` where it belongs to none (SPEC.md §3). */
  readonly window: number | null;
  /** When that window ends. */
  readonly untilMs: number | null;
  /** False where the rules leave open whether a window is open at all. */
  readonly sure: boolean;
  /** True if this window may refuse, now and at every call that it has decided. */
  readonly enforced: boolean;
  readonly enforcedThroughout: boolean;
  /** `current` as it was shown at the operation before, in this window. */
  readonly shown: number | null;
}

type CallEvent = Extract<HistoryEvent, { decision: unknown }>;
type SettleEvent = Extract<HistoryEvent, { readings: unknown }>;
type StatusEvent = Extract<HistoryEvent, { status: unknown }>;

/** Keeps the books of one history; `look` takes its events in order. */
export class HistoryLedger {
  readonly #rules: Rules;
  readonly #opensToMs: number;
  readonly #endsLate: boolean;
  readonly #isKeyed: boolean;
  readonly #owners: readonly Owner[];
  readonly #semantics: Readonly<Record<Scope, Semantics>>;
  readonly #books = new Map<string, WindowBook>();
  readonly #enforced = new Map<string, boolean>();
  readonly #held = new Map<number, Readonly<Record<Owner, Held>>>();
  #floorMs = 0;
  #at = -1;

  constructor({ rules, opensToMs = 1000, endsLate = false, keyed = false }: LedgerTerms) {
    this.#rules = rules;
    this.#opensToMs = opensToMs;
    this.#endsLate = endsLate;
    this.#isKeyed = keyed;
    this.#owners = keyed ? ["user"] : ["organization", "user"];
    this.#semantics = { rest: semanticsOf(rules, "rest"), graphql: semanticsOf(rules, "graphql") };
  }

  /** The windows that an event touches or shows, the organization's first. */
  look(event: HistoryEvent): readonly Sight[] {
    this.#at += 1;
    const { op } = event;
    if ("decision" in event) return this.#call(event);
    if ("readings" in event) return event.call === null ? [] : this.#completion(event, event.call);
    if ("status" in event) return this.#status(event);
    if (op.do === "enforce") this.#enforced.set(`${op.scope} ${op.organization}`, op.enforced);
    if (op.do === "sweep") this.#floorMs = Math.max(this.#floorMs, op.atMs);
    return [];
  }

  #call(event: CallEvent): readonly Sight[] {
    const { op, decision } = event;
    const held: Record<Owner, Held> = { organization: nowhere, user: nowhere };
    const sights = this.#owners.map((owner) => {
      const key = keyOf(op, owner);
      const reading = decision[owner] ?? {};
      return this.#sight(event, key, reading, (book) => {
        const charge =
          chargeOf(owner, op, decision, this.#semantics[op.scope]) ?? this.#openingOf(key, op, decision);
        if (!this.#mayRefuse(key)) book.unenforced = true;
        book.count(charge, reading.resetAtMs ?? null);
        held[owner] = book.held;
        return { charge, givenBack: 0 };
      });
    });
    this.#held.set(op.id, held);
    return sights;
  }

  /** A limiter by key may open a window, in which nothing is counted, for a call that can never fit. */
  #openingOf(key: WindowKey, { cost }: CallOp, { admitted }: PartialDecision): CountSpan | null {
    return this.#isKeyed && !admitted && cost > limitOf(this.#rules, key).limit ? exactly(0) : null;
  }

  #completion(event: SettleEvent, call: CallOp): readonly Sight[] {
    const held = this.#held.get(call.id) ?? { organization: nowhere, user: nowhere };
    const { graphqlCharge } = this.#semantics.graphql;
    return this.#owners.map((owner) => {
      const reading = event.readings[owner] ?? {};
      return this.#sight(event, keyOf(call, owner), reading, (book) => {
        if (graphqlCharge === "postpaid") {
          const charge = book.late(event.op.actual, held[owner]);
          book.count(charge, reading.resetAtMs ?? null);
          return { charge, givenBack: 0 };
        }
        const unused = graphqlCharge === "reserved" ? call.cost - event.op.actual : 0;
        const givenBack = book.giveBack(unused, held[owner]);
        book.count(null, reading.resetAtMs ?? null);
        return { charge: null, givenBack };
      });
    });
  }

  /** A status reading moves no window's clock (SPEC.md §2.8): it is looked up in a copy of the book. */
  #status(event: StatusEvent): readonly Sight[] {
    const { organization } = event.op;
    const user = this.#owners.includes("organization") ? null : event.op.user;
    return statusReadings(event.status).map(([scope, reading]) => {
      const key = { organization, user, scope };
      const book = this.#book(key);
      const sight = this.#sight(event, key, reading, () => ({ charge: null, givenBack: 0 }), book.copy());
      if (sight.window !== null && sight.window === book.window) book.shown = sight.current ?? book.shown;
      return sight;
    });
  }

  #sight(
    event: HistoryEvent,
    key: WindowKey,
    reading: PartialReading,
    happen: (book: WindowBook) => { charge: CountSpan | null; givenBack: number },
    book: WindowBook = this.#book(key),
  ): Sight {
    const clockMs = book.advance(event.op.atMs, this.#floorMs);
    const { span: before, charged, shown, ended } = book;
    const { charge, givenBack } = happen(book);
    const { limit } = limitOf(this.#rules, key);
    const current = countShown(reading, limit, this.#semantics[key.scope]);
    book.shown = current;
    const enforced = this.#mayRefuse(key);
    return {
      organization: key.organization,
      user: key.user,
      scope: key.scope,
      owner: key.user === null ? "organization" : "user",
      at: this.#at,
      event,
      reading,
      current,
      semantics: this.#semantics[key.scope],
      limit,
      lengthMs: book.lengthMs,
      lateMs: book.lateMs,
      clockMs,
      steppedBack: event.op.atMs < clockMs,
      before,
      after: book.span,
      charge,
      givenBack,
      fresh: !charged,
      ended,
      window: book.window,
      untilMs: book.untilMs,
      sure: book.doubtUntilMs === 0,
      enforced,
      enforcedThroughout: enforced && !book.unenforced,
      shown,
    };
  }

  #mayRefuse({ organization, user, scope }: WindowKey): boolean {
    if (user !== null && this.#semantics[scope].userEnforced === "always") return true;
    const set = this.#enforced.get(`${scope} ${organization}`);
    return set ?? organizationLimit(this.#rules, organization, scope).enforced;
  }

  #book(key: WindowKey): WindowBook {
    const name = nameOf(key);
    let book = this.#books.get(name);
    if (book === undefined) {
      const epoch = this.#semantics[key.scope].anchor === "epoch";
      const lengthMs = limitOf(this.#rules, key).windowSeconds * 1000;
      book = new WindowBook(lengthMs, epoch, this.#opensToMs, this.#endsLate);
      this.#books.set(name, book);
    }
    return book;
  }
}

const nowhere: Held = { window: null, sure: true };

/** A window's name, for maps. The length keeps `a` of user `b` apart from an organization named `a/b`. */
export const nameOf = ({ organization, user, scope }: WindowKey): string =>
  `${scope} ${organization.length} ${organization}${user === null ? "" : `/${user}`}`;

const keyOf = ({ organization, user, scope }: CallOp, owner: Owner): WindowKey => ({
  organization,
  user: owner === "user" ? user : null,
  scope,
});

const limitOf = (rules: Rules, { organization, user, scope }: WindowKey) =>
  user === null ? organizationLimit(rules, organization, scope) : userLimit(rules, organization, user, scope);

/** Returns the charge of a decision to one of its windows (SPEC.md §2.2, §2.3, §8); `null` if it counts nothing. */
function chargeOf(
  owner: Owner,
  op: CallOp,
  decision: PartialDecision,
  semantics: Semantics,
): CountSpan | null {
  if (decision.admitted)
    return op.scope === "graphql" && semantics.graphqlCharge === "postpaid" ? null : exactly(op.cost);
  const named = semantics.refused === "counted";
  const broad = owner === "organization" && semantics.refusedByUser === "charges-organization";
  const refusedBy = decision.refusedBy ?? null;
  if (refusedBy === null) return named || broad ? { least: 0, most: op.cost } : null;
  return (named && refusedBy === owner) || (broad && refusedBy === "user") ? exactly(op.cost) : null;
}

/**
 * The count that a reading shows. `remaining` shows it too, by SPEC.md §1, as long as it is not clamped: above 0.
 */
function countShown(reading: PartialReading, rulesLimit: number, { remaining }: Semantics): number | null {
  const left = reading.remaining ?? null;
  if ((reading.current ?? null) !== null || left === null) return reading.current ?? null;
  return left > 0 || remaining === "signed" ? (reading.limit ?? rulesLimit) - left : null;
}

/** Every sight of a history, in order. */
export function* sightsOf(terms: LedgerTerms, history: History): Generator<Sight> {
  const ledger = new HistoryLedger(terms);
  for (const event of history) yield* ledger.look(event);
}
