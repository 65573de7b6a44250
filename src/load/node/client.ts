// One client in Node: its calls as flights, a line and a check for each answer.
import type { CallTemplate, ClientEvent, PlannedCall } from "../../scenario/client.ts";
import type { Population } from "../../scenario/scenario.ts";
import type { RawAnswer } from "../answer.ts";
import type { Caller } from "../callers.ts";
import type { Told, World } from "../drive.ts";
import { Ledger, type LedgerEntry } from "../ledger.ts";
import { pageUrl, type RequestParts, requestParts } from "../request.ts";
import type { WindowPair } from "../tightest-window.ts";
import type { Route } from "./flights.ts";
import type { NodeRun } from "./run.ts";

/** The parts that all calls of one template share. */
interface Prepared {
  readonly entry: LedgerEntry;
  readonly parts: RequestParts;
  readonly windows: WindowPair;
  readonly route: Route;
}

/** The world of one client. */
export class NodeClient implements World {
  readonly #run: NodeRun;
  readonly #caller: Caller;
  readonly #ledger: Ledger;
  readonly #prepared: readonly Prepared[];
  /** When its stay ends, ms since the epoch. */
  endMs = Number.POSITIVE_INFINITY;
  #calls = 0;

  constructor(run: NodeRun, population: Population, name: string, caller: Caller) {
    this.#run = run;
    this.#caller = caller;
    this.#ledger = new Ledger(run.settings, population, name, caller);
    this.#prepared = population.behaviour.calls.map((template) => this.#prepare(template));
  }

  #prepare(template: CallTemplate): Prepared {
    const { organization, user } = this.#caller;
    const parts = requestParts(template, this.#caller, this.#run.settings);
    return {
      entry: this.#ledger.entry(template),
      parts,
      windows: this.#run.tightest.pair(organization, user, template.scope),
      route: this.#run.route(template, parts),
    };
  }

  now(): number {
    return this.#run.now();
  }

  at(atMs: number, action: () => void): void {
    this.#run.at(atMs, action);
  }

  send(planned: Readonly<PlannedCall>, event: ClientEvent, told: Told): void {
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

  #pageRoute({ entry, route }: Prepared, { page }: Readonly<PlannedCall>): Route {
    const { template } = entry;
    const url = pageUrl(template, this.#caller, this.#run.settings, page);
    return { ...route, options: { ...route.options, path: this.#run.path(template, url) } };
  }

  #take(
    { entry, windows }: Prepared,
    call: number,
    planned: Readonly<PlannedCall>,
    answer: RawAnswer,
    sentMs: number,
    receivedMs: number,
    event: ClientEvent,
  ): void {
    const ledger = this.#ledger;
    const line = ledger.take(entry, call, planned, answer, sentMs, receivedMs, event);
    windows.organization.see(event.limit, event.remaining, event.reset, receivedMs);
    windows.user.see(event.userLimit, event.userRemaining, event.userReset, receivedMs);
    this.#run.wrote(line, ledger.fault, answer.status, sentMs, receivedMs);
  }
}
