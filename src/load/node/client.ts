// One client in Node: its calls as flights, and a line and a check for each answer.
import type { CallTemplate, ClientEvent, PlannedCall } from "../../scenario/client.ts";
import type { Population } from "../../scenario/scenario.ts";
import { REFUSED } from "../../wire/outcome.ts";
import type { RawAnswer } from "../answer.ts";
import type { Caller } from "../callers.ts";
import type { ClientWorld, ToldOutcome } from "../drive.ts";
import { type AnswerLedger, Ledger, type LedgerPage, type LedgerSettings } from "../ledger.ts";
import { type PolicyBook, PolicyLedger } from "../policy-ledger.ts";
import { type Addresses, pageUrl, type RequestParts, requestParts } from "../request.ts";
import type { TightestWindow, WindowPair } from "../tightest-window.ts";
import type { Flights, ReadyRequest } from "./flights.ts";

/** Parts that all calls of one template share. */
interface Prepared {
  readonly page: LedgerPage;
  readonly parts: RequestParts;
  /** `null` under a policy, where a client is told of any two quotas. */
  readonly windows: WindowPair | null;
  readonly route: ReadyRequest;
}

/** Run that a client belongs to. */
export interface ClientRun {
  readonly settings: LedgerSettings & Addresses;
  /** `null` under rules. */
  readonly book: PolicyBook | null;
  readonly flights: Flights;
  readonly tightest: TightestWindow;
  now(): number;
  /** Does something at a time, ms of `now`. */
  at(atMs: number, action: () => void): void;
  /** Returns the way of a template's calls to their target. If `url` is `null`, the caller fills in the path. */
  route(template: CallTemplate, parts: RequestParts): ReadyRequest;
  path(template: CallTemplate, url: string): string;
  /** Writes an answer down. */
  wrote(line: string, fault: string | null, status: number, sent: number, received: number): void;
}

export class NodeClient implements ClientWorld {
  readonly #run: ClientRun;
  readonly #caller: Caller;
  readonly #ledger: AnswerLedger;
  readonly #prepared: readonly Prepared[];
  /** End of the client's stay, ms since the epoch. */
  endMs = Number.POSITIVE_INFINITY;
  #calls = 0;

  constructor(run: ClientRun, population: Population, name: string, caller: Caller) {
    this.#run = run;
    this.#caller = caller;
    this.#ledger =
      run.book === null
        ? new Ledger(run.settings, population, name, caller)
        : new PolicyLedger(run.book, name, caller);
    this.#prepared = population.behaviour.calls.map((template) => this.#prepare(template));
  }

  #prepare(template: CallTemplate): Prepared {
    const { organization, user } = this.#caller;
    const { settings, book } = this.#run;
    const parts = requestParts(template, this.#caller, settings, book?.policy);
    return {
      page: this.#ledger.page(template),
      parts,
      windows: book === null ? this.#run.tightest.pair(organization, user, template.scope) : null,
      route: this.#run.route(template, parts),
    };
  }

  now(): number {
    return this.#run.now();
  }

  at(atMs: number, action: () => void): void {
    this.#run.at(atMs, action);
  }

  send(planned: Readonly<PlannedCall>, event: ClientEvent, told: ToldOutcome): void {
    const prepared = this.#prepared[planned.template];
    if (prepared === undefined) throw new RangeError(`there is no call ${planned.template}`);
    const call = this.#calls;
    this.#calls = call + 1;
    const route = prepared.parts.url === null ? this.#pageRoute(prepared, planned) : prepared.route;
    this.#run.flights.send(route, {
      dueMs: planned.atMs,
      endMs: this.endMs,
      landed: (answer, sentMs, receivedMs) => {
        try {
          this.#take(prepared, call, planned, answer, sentMs, receivedMs, event);
        } catch (thrown) {
          told.failed(thrown);
          return;
        }
        told.answered();
      },
      dropped: () => told.dropped(),
    });
  }

  #pageRoute({ page: { template }, route }: Prepared, { page }: Readonly<PlannedCall>): ReadyRequest {
    const url = pageUrl(template, this.#caller, this.#run.settings, page);
    return { ...route, options: { ...route.options, path: this.#run.path(template, url) } };
  }

  #take(
    { page, windows }: Prepared,
    call: number,
    planned: Readonly<PlannedCall>,
    answer: RawAnswer,
    sentMs: number,
    receivedMs: number,
    event: ClientEvent,
  ): void {
    const ledger = this.#ledger;
    const line = page.take(call, planned, answer, sentMs, receivedMs, event);
    windows?.organization.see(event.limit, event.remaining, event.reset, receivedMs);
    windows?.user.see(event.userLimit, event.userRemaining, event.userReset, receivedMs);
    const status = ledger.isRefusal ? REFUSED : answer.status;
    this.#run.wrote(line, ledger.fault, status, sentMs, receivedMs);
  }
}
